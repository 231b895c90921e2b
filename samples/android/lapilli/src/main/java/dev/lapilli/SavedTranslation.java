package dev.lapilli;

/** A state that outlives the process: plain values, which the host stores with its own (Android: the Bundle of saved state). */
public final class SavedTranslation {
  public final String source, text;
  /** It had not ended, and is to be begun anew. */
  public final boolean running;

  public SavedTranslation(String source, String text, boolean running) {
    this.source = source;
    this.text = text;
    this.running = running;
  }
}
