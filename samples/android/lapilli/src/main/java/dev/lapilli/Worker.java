package dev.lapilli;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/** The thread that translates: one text behind the other, on a model that it loads at once and again when it is needed. */
final class Worker implements Runnable {
  private static final long STEP_MICROS = 10_000;

  private final DeviceGate gate;
  private final LoadedModel model;
  private final TranslatorOptions options;
  private final ArrayDeque<Translation> waiting = new ArrayDeque<>(); // this is the lock
  private Translation current;
  private boolean unloadAsked, closing;

  Worker(DeviceGate gate, ModelSource source, TranslatorOptions options) {
    this.gate = gate;
    this.options = options;
    model = new LoadedModel(gate, source, options);
  }

  /** False: it is closed. */
  boolean add(Translation translation) {
    synchronized (waiting) {
      if (closing) return false;
      waiting.add(translation);
      waiting.notifyAll();
      return true;
    }
  }

  /** The model is freed once nothing is to be translated. */
  void unload() {
    synchronized (waiting) {
      unloadAsked = true;
      waiting.notifyAll();
    }
  }

  /** All translations are cancelled, and the thread ends. */
  void close() {
    Translation running;
    synchronized (waiting) {
      closing = true;
      running = current;
      waiting.notifyAll();
    }
    if (running != null) running.cancel();
    gate.shut();
  }

  @Override
  public void run() {
    try {
      loadAhead();
      for (Translation next = next(); next != null; next = next()) translate(next);
    } finally {
      model.close();
    }
  }

  /** An error here comes again, and is reported, when there is something to translate. */
  private void loadAhead() {
    try {
      model.get();
    } catch (RuntimeException later) {
      leave(later);
    }
  }

  /** Null: closed, and all that waited is cancelled. */
  private Translation next() {
    ArrayDeque<Translation> left;
    synchronized (waiting) {
      current = null;
      while (waiting.isEmpty() && !closing) await();
      if (!closing) return current = waiting.remove();
      left = new ArrayDeque<>(waiting);
      waiting.clear();
    }
    for (Translation translation : left) translation.cancel();
    return null;
  }

  /** Under the lock. */
  private void await() {
    if (unloadAsked) {
      unloadAsked = false;
      unloadNow();
      return;
    }
    try {
      waiting.wait();
    } catch (InterruptedException stop) {
      closing = true;
    }
  }

  private void unloadNow() {
    try {
      model.unload();
    } catch (TranslatorException error) {
      leave(error);
    }
  }

  /** A device that is lost stays so: the next text gets another one. */
  private void leave(RuntimeException error) {
    boolean known = error instanceof TranslatorException;
    if (known && ((TranslatorException) error).status() == TranslatorException.DEVICE_LOST) model.close();
  }

  private void translate(Translation translation) {
    try {
      run(translation);
    } catch (TranslatorException error) {
      leave(error);
      translation.end(Translation.State.FAILED, error);
    } catch (RuntimeException error) { // of the app's ModelSource or executor
      translation.end(
          Translation.State.FAILED, new TranslatorException(TranslatorException.INTERNAL, error.toString()));
    }
  }

  private void run(Translation translation) {
    long loaded = model.get();
    if (loaded == 0 || !translation.begin()) {
      translation.end(Translation.State.CANCELLED, null);
      return;
    }
    Outcome outcome = new Outcome(translation);
    long job = start(loaded, translation);
    try {
      if (job != 0) follow(job, translation, outcome);
    } finally {
      Native.close(job); // who is told the end finds its memory free
    }
    outcome.tell();
    storeCache();
  }

  /** Now, as an app is killed without a word. What cannot be stored makes the next start slower, and is no error. */
  private void storeCache() {
    synchronized (gate) {
      if (gate.device() == 0) return;
      try {
        Native.storeCache(gate.device());
      } catch (TranslatorException error) {
        leave(error);
      }
    }
  }

  /** 0: cancelled before it began. */
  private long start(long loaded, Translation translation) {
    byte[] text = LoadedModel.bytes(translation.source());
    byte[][] settings = {
      LoadedModel.bytes("translate"),
      LoadedModel.bytes(options.sourceLanguage),
      LoadedModel.bytes(options.targetLanguage)
    };
    int[] numbers = {options.beams, options.maxNewTokens};
    synchronized (gate) {
      if (!gate.await(translation) || translation.cancelAsked()) return 0;
      return Native.startJob(loaded, text, settings, numbers);
    }
  }

  private void follow(long job, Translation translation, Outcome outcome) {
    while (!outcome.known) {
      boolean go = gate.await(translation);
      if (!go || translation.cancelAsked()) Native.cancelJob(job);
      Native.waitJob(job, STEP_MICROS);
      tell(job, outcome);
    }
  }

  private static void tell(long job, Outcome outcome) {
    long[] numbers = new long[3];
    byte[] text = Native.nextEvent(job, numbers);
    for (; numbers[0] != 0; text = Native.nextEvent(job, numbers)) outcome.event(numbers, text);
  }

  /** The sum of a job's events. */
  private static final class Outcome {
    private final Translation translation;
    private TranslatorException error;
    private int status = TranslatorException.CANCELLED; // of a job that never began
    private boolean known;

    Outcome(Translation translation) {
      this.translation = translation;
    }

    void event(long[] numbers, byte[] bytes) {
      String text = bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
      int kind = (int) numbers[0], said = (int) numbers[1];
      known = kind == Native.EVENT_END;
      if (known) status = said;
      if (kind == Native.EVENT_TEXT) translation.append(text);
      if ((kind == Native.EVENT_INPUT || kind == Native.EVENT_ERROR) && said != 0 && error == null)
        error = new TranslatorException(said, text);
    }

    void tell() {
      if (status == TranslatorException.CANCELLED) translation.end(Translation.State.CANCELLED, null);
      else if (error != null) throw error;
      else if (status == 0) translation.end(Translation.State.DONE, null);
      else throw new TranslatorException(status, "The translation failed with status " + status + ".");
    }
  }
}
