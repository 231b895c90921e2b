package dev.lapilli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** A device with a model on it, made when they are needed. All methods but those of the gate are for one thread. */
final class LoadedModel {
  private static final long STEP_MICROS = 10_000;

  private final DeviceGate gate;
  private final ModelSource source;
  private final TranslatorOptions options;
  private long model; // 0: not loaded

  LoadedModel(DeviceGate gate, ModelSource source, TranslatorOptions options) {
    this.gate = gate;
    this.source = source;
    this.options = options;
  }

  /** The model's number; 0 if the gate was shut meanwhile. */
  long get() {
    if (model == 0) {
      openDevice();
      model = load();
    }
    return model;
  }

  /** The weights' memory goes back, and blocks that are empty then. */
  void unload() {
    Native.close(model);
    model = 0;
    gate.trim();
  }

  void close() {
    Native.close(model);
    model = 0;
    gate.close();
  }

  static byte[] bytes(String text) {
    return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
  }

  private void openDevice() {
    if (gate.device() != 0) return;
    gate.opened(
        Native.openDevice(
            bytes(options.cacheDirectory), bytes(options.device), options.flags(), options.maxSubmitMicros));
  }

  private long load() {
    try (ModelFiles files = source.open()) {
      return pump(files);
    } catch (IOException error) {
      throw new TranslatorException(
          TranslatorException.NOT_FOUND, "The model's files cannot be opened: " + error.getMessage());
    }
  }

  private long pump(ModelFiles files) {
    long load;
    synchronized (gate) {
      if (!gate.await(null)) return 0;
      load = Native.startLoad(gate.device(), files.names(), files.ranges(), options.memoryLimit);
    }
    try {
      while (!Native.pumpLoad(load, STEP_MICROS)) if (!gate.await(null)) return 0;
      return Native.takeModel(load);
    } finally {
      Native.close(load);
    }
  }
}
