package dev.lapilli

/** Devices, loadings, models and jobs that are open, of which the bridge tells its own package alone. */
internal fun liveHandles(): Int = Native.liveHandles()
