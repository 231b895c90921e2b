package dev.lapilli;

/** The memory that a device holds, in bytes (lapilli_device_usage). In use are weights, sessions and transfers together. */
public final class DeviceUsage {
  static final int NUMBERS = 7;

  public final boolean paused;
  public final long heldBytes, weightBytes, sessionBytes, transferBytes, peakBytes, leftBytes;

  DeviceUsage(long[] numbers) {
    paused = numbers[0] != 0;
    heldBytes = numbers[1];
    weightBytes = numbers[2];
    sessionBytes = numbers[3];
    transferBytes = numbers[4];
    peakBytes = numbers[5];
    leftBytes = numbers[6];
  }

  public long inUseBytes() {
    return weightBytes + sessionBytes + transferBytes;
  }
}
