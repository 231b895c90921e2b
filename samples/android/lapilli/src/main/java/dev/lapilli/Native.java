package dev.lapilli;

/**
 * The C interface, as far as a translator needs it (src/main/cpp). Devices, loadings, models and jobs are numbers: 0, one that
 * was closed and one that never was are an exception, never a crash. Texts are UTF-8. Any thread; a loading and a job by one at
 * a time.
 */
final class Native {
  static {
    System.loadLibrary("lapilli_jni");
  }

  static final int REFUSE_CPU = 1, IGNORE_ENVIRONMENT = 2, LOW_PRIORITY = 4;
  static final int EVENT_TEXT = 1, EVENT_INPUT = 3, EVENT_ERROR = 4, EVENT_END = 5;

  private Native() {}

  static native String version();

  /** Null: no folder, and the best device. 0 microseconds: the library chooses. */
  static native long openDevice(byte[] cacheDirectory, byte[] select, int flags, int maxSubmitMicros);

  static native void pauseDevice(long device);

  static native void resumeDevice(long device);

  static native void trimDevice(long device);

  /** Seven numbers, in the order of DeviceUsage. */
  static native void deviceUsage(long device, long[] numbers);

  /**
   * Without ranges the first name is a directory (null: the bundled model); with them descriptor, offset and bytes of each named
   * file follow one another. 0 bytes: no limit.
   */
  static native long startLoad(long device, byte[][] names, long[] ranges, long memoryLimit);

  /** True if the loading has ended. */
  static native boolean pumpLoad(long load, long budgetMicros);

  static native long takeModel(long load);

  /** Stores what the next start can use, if there is anything new. Not while the device is paused. */
  static native void storeCache(long device);

  /** Settings: task, source and target language, or null. Numbers: beams and new tokens at most; -1: as the model says. */
  static native long startJob(long model, byte[] text, byte[][] settings, int[] numbers);

  /** True if the job has ended. */
  static native boolean waitJob(long job, long timeoutMicros);

  static native void cancelJob(long job);

  /** Three numbers: EVENT_... or 0 for none, then a status or a count, then of how many. The text or message, or null. */
  static native byte[] nextEvent(long job, long[] numbers);

  /** Closes any of them; does nothing for 0 and for a closed one. */
  static native void close(long number);

  /** How many of all of them are open. */
  static native int liveHandles();
}
