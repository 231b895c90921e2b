package dev.lapilli;

import java.util.concurrent.Executor;

/**
 * The life cycle of an app around one translation, without a word of Android's: a translation belongs to the holder, screens
 * come and go. All methods are for the screens' thread, on which the executor runs what it is given.
 */
public final class TranslationHolder implements TranslationListener, AutoCloseable {
  /** Android's ComponentCallbacks2.TRIM_MEMORY_MODERATE: of what is in the background, this process may be next to be killed. */
  private static final int LEVEL_MODERATE = 60;

  /** The level of onLowMemory(): TRIM_MEMORY_COMPLETE. */
  public static final int LEVEL_COMPLETE = 80;

  private final Translator translator;
  private final Executor screen;
  private TranslationView view;
  private Translation translation;
  private SavedTranslation restored; // ended in an earlier process
  private int started; // screens between start and stop
  private boolean paused;

  public TranslationHolder(Translator translator, Executor screen) {
    this.translator = translator;
    this.screen = screen;
  }

  public Translator translator() {
    return translator;
  }

  /** Instead of the one before, which is cancelled. */
  public void translate(String text) {
    cancel();
    if (translation != null) translation.detach();
    restored = null;
    translation = translator.translate(text);
    translation.attach(this, screen);
    show();
  }

  public void cancel() {
    if (translation != null) translation.cancel();
  }

  /** A screen is there (again), and is shown what there is. It takes the place of the one before. */
  public void attach(TranslationView shown) {
    view = shown;
    show();
  }

  /** The screen is going: nothing holds it any more. Of one that another took the place of, nothing is to be done. */
  public void detach(TranslationView gone) {
    if (view == gone) view = null;
  }

  /** A screen is visible. */
  public void start() {
    if (started++ > 0 || !paused) return;
    paused = false;
    try {
      translator.resume();
    } catch (TranslatorException lost) {
      // The translation tells of a device that was lost; a screen that comes back is no place to crash.
    }
  }

  /** A screen is not visible any more. If it comes back at once, turned, the device need not be stopped for that. */
  public void stop(boolean comesBackAtOnce) {
    if (started > 0) --started;
    if (started > 0 || comesBackAtOnce || paused) return;
    paused = true;
    try {
      translator.pause();
    } catch (TranslatorException lost) {
      // As in start(); it is paused all the same.
    }
  }

  /** Memory is short, by Android's levels. What is being translated goes on. */
  public void trimMemory(int level) {
    try {
      translator.trim();
    } catch (TranslatorException lost) {
      // As in start(); what was not given back now is given back with the device.
    }
    if (level >= LEVEL_MODERATE) translator.unload();
  }

  /** Null: there is nothing to keep. */
  public SavedTranslation save() {
    if (translation == null) return restored;
    return new SavedTranslation(
        translation.source(), translation.text(), translation.state() == Translation.State.RUNNING);
  }

  /** In a new process what was running is begun anew; in one that lives on, what lives counts. */
  public void restore(SavedTranslation saved) {
    if (saved == null || translation != null) return;
    if (saved.running) translate(saved.source);
    else restored = saved;
    show();
  }

  @Override
  public void onText(Translation from, String text) {
    if (from == translation) show();
  }

  @Override
  public void onEnd(Translation from) {
    if (from == translation) show();
  }

  /** The process ends. */
  @Override
  public void close() {
    view = null;
    translator.close();
  }

  private void show() {
    if (view == null) return;
    if (translation == null) {
      if (restored != null) view.show(restored.text, false, null);
      return;
    }
    TranslatorException error = translation.error();
    boolean running = translation.state() == Translation.State.RUNNING;
    view.show(translation.text(), running, error == null ? null : error.getMessage());
  }
}
