/* A plugin that translates, for engines whose render thread alone may submit. Plain C with numbers and texts, so that
 * scripts (C#, Lua, Blueprints) call it without more.
 *
 * All functions are called by one thread, the game's. The render thread must go on while translator_unload() runs. */
#ifndef TRANSLATOR_PLUGIN_H
#define TRANSLATOR_PLUGIN_H

#include <stdint.h>

#include "host_interface.h"

#ifdef _WIN32
#define TRANSLATOR_API __declspec(dllexport)
#else
#define TRANSLATOR_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The state of the plugin, or of a request. */
enum {
  TRANSLATOR_FAILED = -1, /* translator_error() says why */
  TRANSLATOR_NOTHING = 0, /* no model; no such request */
  TRANSLATOR_WORKING = 1, /* the model loads; the text is not complete */
  TRANSLATOR_READY = 2    /* for requests; the text is complete */
};

/* Takes the engine's device and begins to load a model: `directory` in UTF-8, "" for the bundled one. `host` and what
 * is behind it must stay until translator_unload() has returned. 1, or 0 after an error. */
TRANSLATOR_API int32_t translator_load(const host_interface* host, const char* directory);
/* Ends all requests, and waits for what is still on its way through the render thread. */
TRANSLATOR_API void translator_unload(void);

/* Once a frame: at most about so many microseconds of the device's time. Says what the plugin is at. */
TRANSLATOR_API int32_t translator_update(uint32_t budget_us);

/* A number for the functions below, or 0 if there is no model, the text is none, or there are too many (8). */
TRANSLATOR_API int32_t translator_request(const char* text);
/* A request's state. `text` gets as much of the translation as is known and fits into `capacity` bytes, with a zero
 * at its end; never a part of a letter. */
TRANSLATOR_API int32_t translator_poll(int32_t request, char* text, int32_t capacity);
/* The request is not needed any more; if it is at work, it is cancelled. */
TRANSLATOR_API void translator_release(int32_t request);

/* The error of the last function that failed; never null. Valid until the next call. */
TRANSLATOR_API const char* translator_error(void);

#ifdef __cplusplus
}
#endif

#endif /* TRANSLATOR_PLUGIN_H */
