package dev.lapilli;

/** Shows a translation for a while: a screen, called on its own thread only while it is attached to a holder. */
public interface TranslationView {
  /** Text so far, whether more is to come, and the error's message or null. All of it each time: a new screen needs no more. */
  void show(String text, boolean running, String error);
}
