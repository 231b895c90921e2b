package dev.lapilli;

/**
 * The device, and whether anything may run on it now. Whoever begins something on the device does so within this object's
 * monitor, behind await(), so that no pause comes in between.
 */
final class DeviceGate {
  private long device; // 0: not open
  private boolean paused, shut;

  synchronized long device() {
    return device;
  }

  synchronized void opened(long number) {
    device = number;
    if (paused) Native.pauseDevice(device);
  }

  synchronized void close() {
    Native.close(device);
    device = 0;
  }

  synchronized void pause() {
    paused = true;
    if (device != 0) Native.pauseDevice(device);
  }

  synchronized void resume() {
    paused = false;
    notifyAll();
    if (device != 0) Native.resumeDevice(device);
  }

  synchronized void trim() {
    if (device != 0) Native.trimDevice(device);
  }

  /** Zeros while no device is open. */
  synchronized DeviceUsage usage() {
    long[] numbers = new long[DeviceUsage.NUMBERS];
    if (device != 0) Native.deviceUsage(device, numbers);
    else numbers[0] = paused ? 1 : 0;
    return new DeviceUsage(numbers);
  }

  /** Nothing waits here any more. */
  synchronized void shut() {
    shut = true;
    notifyAll();
  }

  synchronized boolean isPaused() {
    return paused;
  }

  synchronized void wake() {
    notifyAll();
  }

  /** Waits until the device may be used, or, with a translation, until that is to be cancelled. False: shut. */
  synchronized boolean await(Translation translation) {
    while (paused && !shut && (translation == null || !translation.cancelAsked())) {
      try {
        wait();
      } catch (InterruptedException stop) {
        shut = true;
      }
    }
    return !shut;
  }
}
