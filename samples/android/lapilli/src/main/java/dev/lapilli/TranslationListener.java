package dev.lapilli;

/** Told how a translation goes, by the executor that it was attached with. */
public interface TranslationListener {
  /** There is more text, which is never taken back: all of it so far. Steps may be left out where the executor is slow. */
  void onText(Translation translation, String text);

  /** Last of all: done, failed or cancelled. */
  void onEnd(Translation translation);
}
