package dev.lapilli;

import java.nio.charset.StandardCharsets;

/** A refusal of the library: the message says what failed, where, and what to do. */
public final class TranslatorException extends RuntimeException {
  public static final int INVALID_ARGUMENT = 1;
  public static final int NOT_FOUND = 2;
  public static final int OUT_OF_MEMORY = 5;
  public static final int NO_DEVICE = 6;
  public static final int DEVICE_LOST = 7;
  public static final int CANCELLED = 9;
  public static final int INTERNAL = 10;

  private static final long serialVersionUID = 1;
  private final int status;

  /** Also called by the bridge, with UTF-8. */
  TranslatorException(int status, byte[] message) {
    this(status, new String(message, StandardCharsets.UTF_8));
  }

  TranslatorException(int status, String message) {
    super(message);
    this.status = status;
  }

  /** LAPILLI_... of lapilli.h; the usual ones are the constants here. */
  public int status() {
    return status;
  }
}
