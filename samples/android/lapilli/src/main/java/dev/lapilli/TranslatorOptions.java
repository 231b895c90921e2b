package dev.lapilli;

/** How a Translator is to be; read when it is made. */
public final class TranslatorOptions {
  /** The folder for kernels that the driver compiled, so that the second start is quick: the app's cache directory. Null: none. */
  public String cacheDirectory;
  /** Index, part of the name or UUID of a device; null: the best. */
  public String device;
  /** A driver that computes on the CPU is no device: better no translation than one that drains the battery. */
  public boolean refuseCpu;
  /** LAPILLI_... of the environment are not heeded. */
  public boolean ignoreEnvironment;
  /** The queue comes behind other programs', where the driver has that. */
  public boolean lowPriority;
  /** No submission is to take longer on the device, in microseconds; 0: as the library does it. */
  public int maxSubmitMicros;
  /** Bytes of device memory for weights and all that runs; 0: what the device has. */
  public long memoryLimit;
  /** "fr", "fra_Latn"; null: the model's own, or not needed. */
  public String sourceLanguage, targetLanguage;
  /** 1: greedy; -1: as the model says. */
  public int beams = -1;
  /** -1: as the model says. */
  public int maxNewTokens = -1;

  int flags() {
    return (refuseCpu ? Native.REFUSE_CPU : 0)
        | (ignoreEnvironment ? Native.IGNORE_ENVIRONMENT : 0)
        | (lowPriority ? Native.LOW_PRIORITY : 0);
  }

  /** A copy, which later changes do not affect. */
  TranslatorOptions copy() {
    TranslatorOptions to = new TranslatorOptions();
    to.cacheDirectory = cacheDirectory;
    to.device = device;
    to.refuseCpu = refuseCpu;
    to.ignoreEnvironment = ignoreEnvironment;
    to.lowPriority = lowPriority;
    to.maxSubmitMicros = maxSubmitMicros;
    to.memoryLimit = memoryLimit;
    to.sourceLanguage = sourceLanguage;
    to.targetLanguage = targetLanguage;
    to.beams = beams;
    to.maxNewTokens = maxNewTokens;
    return to;
  }
}
