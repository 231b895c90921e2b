package dev.lapilli;

import java.io.IOException;

/**
 * Where a model's files are. Asked on the translator's thread, each time that it loads the model: at the start, and again after
 * its memory was given back.
 */
public interface ModelSource {
  /** Closed by who asked, once the model is loaded. */
  ModelFiles open() throws IOException;
}
