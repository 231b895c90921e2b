package dev.lapilli;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * One text on its way. It outlives whoever looks at it: a listener is attached and detached at will, and who comes later is told
 * all that there is. All methods are for any thread.
 */
public final class Translation {
  public enum State { RUNNING, DONE, FAILED, CANCELLED }

  private final String source;
  private final Runnable wake;
  private final StringBuilder text = new StringBuilder();
  private State state = State.RUNNING;
  private TranslatorException error;
  private boolean begun;
  private volatile boolean cancelAsked;
  private Attachment attachment;

  /** `wake` is run when it is cancelled, for who waits while the device is paused. */
  Translation(String source, Runnable wake) {
    this.source = source;
    this.wake = wake;
  }

  public String source() {
    return source;
  }

  public synchronized String text() {
    return text.toString();
  }

  public synchronized State state() {
    return state;
  }

  /** Why it failed; null otherwise. */
  public synchronized TranslatorException error() {
    return error;
  }

  /** It ends soon, with the text that it has; also while the translator is paused. */
  public void cancel() {
    cancelAsked = true;
    boolean waiting;
    synchronized (this) {
      waiting = !begun;
    }
    if (waiting) end(State.CANCELLED, null);
    wake.run();
  }

  /** The listener is told what there is, and what comes. It takes the place of the one before. */
  public void attach(TranslationListener listener, Executor executor) {
    Attachment to = new Attachment(this, listener, executor);
    boolean late;
    synchronized (this) {
      detach();
      attachment = to;
      late = text.length() > 0 || state != State.RUNNING;
    }
    if (late) to.post();
  }

  /** On the executor's own thread: after this the listener is not called any more, and nothing holds it. */
  public synchronized void detach() {
    if (attachment != null) attachment.listener = null;
    attachment = null;
  }

  boolean cancelAsked() {
    return cancelAsked;
  }

  /** False: it was cancelled before. */
  synchronized boolean begin() {
    begun = state == State.RUNNING && !cancelAsked;
    return begun;
  }

  void append(String more) {
    Attachment to;
    synchronized (this) {
      text.append(more);
      to = attachment;
    }
    if (to != null && !more.isEmpty()) to.post();
  }

  /** The first end counts. */
  void end(State how, TranslatorException why) {
    Attachment to;
    synchronized (this) {
      if (state != State.RUNNING) return;
      state = how;
      error = why;
      to = attachment;
    }
    if (to != null) to.post();
  }

  /** A listener, and at most one message to it under way, however slow its executor. Its fields are the translation's to lock. */
  private static final class Attachment implements Runnable {
    private final Translation translation;
    private final Executor executor;
    private TranslationListener listener; // null: detached, or told the end
    private boolean posted;
    private int told; // characters

    Attachment(Translation translation, TranslationListener listener, Executor executor) {
      this.translation = translation;
      this.listener = listener;
      this.executor = executor;
    }

    /** Without the lock, as an executor may run it here and now. */
    void post() {
      synchronized (translation) {
        if (posted || listener == null) return;
        posted = true;
      }
      try {
        executor.execute(this);
      } catch (RejectedExecutionException closed) {
        synchronized (translation) {
          listener = null;
        }
      }
    }

    @Override
    public void run() {
      TranslationListener to;
      String all;
      boolean more, ended;
      synchronized (translation) {
        posted = false;
        to = listener;
        all = translation.text.toString();
        more = all.length() > told;
        ended = translation.state != State.RUNNING;
        told = all.length();
        if (ended) listener = null;
      }
      if (to != null && more) to.onText(translation, all);
      if (to != null && ended) to.onEnd(translation);
    }
  }
}
