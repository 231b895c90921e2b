package dev.lapilli;

/**
 * Translates on a thread of its own. It belongs to something that outlives the screens of an app, such as its Application:
 * making one loads a model, which is worth doing once. All methods are for any thread; none waits for a translation.
 *
 * <pre>
 *   Translator translator = new Translator(source, options);
 *   Translation translation = translator.translate("Where is the station?");
 *   translation.attach(listener, mainExecutor);
 * </pre>
 */
public final class Translator implements AutoCloseable {
  private final DeviceGate gate = new DeviceGate();
  private final Worker worker;
  private final Thread thread;

  /** Begins to load at once, and returns. What goes wrong with it is told by the translations, each of which tries again. */
  public Translator(ModelSource source, TranslatorOptions options) {
    worker = new Worker(gate, source, options.copy());
    thread = new Thread(worker, "lapilli");
    thread.setDaemon(true);
    thread.start();
  }

  /** Texts follow one another in the order given. */
  public Translation translate(String text) {
    Translation translation =
        new Translation(
            text,
            new Runnable() {
              @Override
              public void run() {
                gate.wake();
              }
            });
    if (!worker.add(translation))
      translation.end(
          Translation.State.FAILED,
          new TranslatorException(
              TranslatorException.INVALID_ARGUMENT, "This translator was closed: make another one."));
    return translation;
  }

  /**
   * To the background: when this returns nothing runs on the device. Translations stand still until resume() and then go on as
   * if nothing had been. Waits for what is on the device, some milliseconds.
   */
  public void pause() {
    gate.pause();
  }

  public void resume() {
    gate.resume();
  }

  /** Gives back memory that is only kept for later. Waits as pause() does. */
  public void trim() {
    gate.trim();
  }

  /** Gives back the model's memory too, as soon as there is nothing to translate; the next text loads it again. */
  public void unload() {
    worker.unload();
  }

  public DeviceUsage usage() {
    return gate.usage();
  }

  /** Cancels what is running, and waits until all is freed. */
  @Override
  public void close() {
    worker.close();
    boolean interrupted = false;
    while (thread.isAlive() && Thread.currentThread() != thread) {
      try {
        thread.join();
      } catch (InterruptedException again) {
        interrupted = true;
      }
    }
    if (interrupted) Thread.currentThread().interrupt();
  }

  /** The library's version. */
  public static String version() {
    return Native.version();
  }
}
