package dev.lapilli;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Does to an app's screens what Android does, on a thread that stands for the main one. */
final class MockHost implements AutoCloseable {
  /** One screen: what it was shown, in order. */
  static final class Screen implements TranslationView {
    final List<String> texts = new ArrayList<>();
    boolean running;
    String error;

    @Override
    public synchronized void show(String text, boolean isRunning, String message) {
      texts.add(text);
      running = isRunning;
      error = message;
      notifyAll();
    }

    synchronized String last() {
      return texts.isEmpty() ? "" : texts.get(texts.size() - 1);
    }

    synchronized void awaitText() throws InterruptedException {
      while (last().isEmpty()) wait();
    }

    synchronized String awaitEnd() throws InterruptedException {
      while (texts.isEmpty() || running) wait();
      return last();
    }
  }

  final ExecutorService main = Executors.newSingleThreadExecutor();
  TranslationHolder holder;
  Screen screen;

  <T> T onMain(Callable<T> what) throws Exception {
    return main.submit(what).get();
  }

  /** A process begins, with what an earlier one left or null. */
  void begin(Translator translator, SavedTranslation saved) throws Exception {
    onMain(
        () -> {
          holder = new TranslationHolder(translator, main);
          holder.restore(saved);
          return null;
        });
    open();
  }

  void open() throws Exception {
    onMain(
        () -> {
          screen = new Screen();
          holder.attach(screen);
          holder.start();
          return null;
        });
  }

  void translate(String text) throws Exception {
    onMain(
        () -> {
          holder.translate(text);
          return null;
        });
  }

  /** As Android does it: the old screen stops and goes, the new one comes. */
  void rotate() throws Exception {
    onMain(
        () -> {
          holder.stop(true);
          holder.detach(screen);
          return null;
        });
    open();
  }

  /** The last screen is gone, and no other comes. */
  WeakReference<Screen> leave() throws Exception {
    WeakReference<Screen> gone = new WeakReference<>(screen);
    toBackground();
    onMain(
        () -> {
          holder.detach(screen);
          screen = null;
          return null;
        });
    return gone;
  }

  void toBackground() throws Exception {
    onMain(
        () -> {
          holder.stop(false);
          return null;
        });
  }

  void toForeground() throws Exception {
    onMain(
        () -> {
          holder.start();
          return null;
        });
  }

  void trimMemory(int level) throws Exception {
    onMain(
        () -> {
          holder.trimMemory(level);
          return null;
        });
  }

  SavedTranslation save() throws Exception {
    return onMain(() -> holder.save());
  }

  /** The process is killed, or ends. */
  @Override
  public void close() throws Exception {
    onMain(
        () -> {
          holder.close();
          return null;
        });
    main.shutdown();
  }
}
