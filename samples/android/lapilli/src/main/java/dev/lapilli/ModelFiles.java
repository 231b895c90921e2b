package dev.lapilli;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A model's files, open: a directory as published, or ranges of files that are open, such as assets of an APK. One thread. */
public final class ModelFiles implements Closeable {
  private final List<byte[]> names = new ArrayList<>();
  private final List<Long> ranges = new ArrayList<>();
  private final List<Closeable> owners = new ArrayList<>();
  private final boolean inDirectory;

  /** No files yet: add() them. */
  public ModelFiles() {
    inDirectory = false;
  }

  private ModelFiles(String directory) {
    inDirectory = true;
    names.add(directory == null ? null : directory.getBytes(StandardCharsets.UTF_8));
  }

  /** Null: the model that LAPILLI_MODEL names, or the bundled one where the library finds it. */
  public static ModelFiles directory(String path) {
    return new ModelFiles(path);
  }

  /** To be closed with this: whose descriptors are added. */
  public ModelFiles owns(Closeable owner) {
    owners.add(owner);
    return this;
  }

  /** The file of that name ("config.json") is `bytes` from `offset` on in what `descriptor` is open for. */
  public ModelFiles add(String name, int descriptor, long offset, long bytes) {
    if (inDirectory) throw new IllegalStateException("the files of a directory are found by their names");
    names.add(name.getBytes(StandardCharsets.UTF_8));
    ranges.add((long) descriptor);
    ranges.add(offset);
    ranges.add(bytes);
    return this;
  }

  byte[][] names() {
    return names.toArray(new byte[0][]);
  }

  /** Null: names()[0] is a directory. */
  long[] ranges() {
    if (inDirectory) return null;
    long[] out = new long[ranges.size()];
    for (int i = 0; i < out.length; ++i) out[i] = ranges.get(i);
    return out;
  }

  @Override
  public void close() throws IOException {
    IOException failed = null;
    for (Closeable owner : owners) {
      try {
        owner.close();
      } catch (IOException error) {
        failed = error;
      }
    }
    owners.clear();
    if (failed != null) throw failed;
  }
}
