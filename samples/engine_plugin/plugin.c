/* The plugin: Lapilli on a device whose queue belongs to another thread. */
#include <stdlib.h>
#include <string.h>

#include "lapilli/lapilli.h"
#include "translator_plugin.h"

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

enum { MOST_REQUESTS = 8, MOST_BYTES = 2048, MOST_MESSAGE = 512 };

typedef struct request {
  int32_t number; /* 0: free */
  int32_t state;  /* TRANSLATOR_... */
  lapilli_job* job;
  char text[MOST_BYTES];
} request;

static struct {
  host_interface host;
  host_vulkan vulkan;
  PFN_vkQueueSubmit queue_submit;
  lapilli_device* device;
  lapilli_load* loading;
  lapilli_model* model;
  int32_t state, last_number;
  request requests[MOST_REQUESTS];
  char error[MOST_MESSAGE];
} plugin;

/* ---- texts */

/* Where a copy of at most `room` bytes ends, so that no letter of UTF-8 is cut. */
static size_t whole_letters(const char* text, size_t bytes, size_t room) {
  if (bytes <= room) return bytes;
  while (room > 0 && ((unsigned char)text[room] & 0xc0) == 0x80) --room;
  return room;
}

static void copy_text(char* to, size_t capacity, const char* text, size_t bytes) {
  const size_t copied = whole_letters(text, bytes, capacity - 1);
  memcpy(to, text, copied);
  to[copied] = '\0';
}

static int32_t fail(const char* message) {
  copy_text(plugin.error, sizeof plugin.error, message, strlen(message));
  return TRANSLATOR_FAILED;
}

const char* translator_error(void) { return plugin.error; }

/* ---- submissions that come late */

typedef struct submission {
  lapilli_submit_info info;
  VkQueue queue;
  PFN_vkQueueSubmit submit;
} submission;

/* On the render thread. What `info` points to lives until lapilli_submission_done(). */
static void submit_now(void* data) {
  submission* s = (submission*)data;
  VkFence fence;
  memcpy(&fence, &s->info.fence, sizeof fence);
  lapilli_submission_done(s->info.submission, s->submit(s->queue, 1, (const VkSubmitInfo*)s->info.submit_info, fence));
  free(s);
}

/* On whatever thread Lapilli is called by: the game's. `info` itself is gone when this returns. */
static void submit_later(void* user, const lapilli_submit_info* info) {
  submission* s = (submission*)malloc(sizeof *s);
  (void)user;
  if (!s) {
    lapilli_submission_done(info->submission, VK_ERROR_OUT_OF_HOST_MEMORY);
    return;
  }
  s->info = *info;
  s->queue = (VkQueue)plugin.vulkan.queue;
  s->submit = plugin.queue_submit;
  plugin.host.on_render_thread(plugin.host.engine, submit_now, s);
}

/* ---- the engine's device */

/* The engine does not say which extensions and features it has enabled: Lapilli does without all of them. */
static int adopt(void) {
  lapilli_host_device described = lapilli_default_host_device();
  described.api_version = plugin.vulkan.api_version;
  described.get_instance_proc_addr = plugin.vulkan.get_instance_proc_addr;
  described.instance = plugin.vulkan.instance;
  described.physical_device = plugin.vulkan.physical_device;
  described.device = plugin.vulkan.device;
  described.queue_family = plugin.vulkan.queue_family;
  described.submit = submit_later;
  return lapilli_device_adopt(&described, NULL, &plugin.device) == LAPILLI_OK;
}

static int find_queue_submit(void) {
  const PFN_vkGetInstanceProcAddr find = (PFN_vkGetInstanceProcAddr)plugin.vulkan.get_instance_proc_addr;
  if (find) plugin.queue_submit = (PFN_vkQueueSubmit)find((VkInstance)plugin.vulkan.instance, "vkQueueSubmit");
  return plugin.queue_submit && plugin.vulkan.queue;
}

int32_t translator_load(const host_interface* host, const char* directory) {
  translator_unload();
  if (!host || !host->get_vulkan || !host->on_render_thread || !directory) {
    fail("the engine hands over less than host_interface.h says, or there is no directory");
    return 0;
  }
  plugin.host = *host;
  plugin.host.get_vulkan(plugin.host.engine, &plugin.vulkan);
  if (!find_queue_submit()) {
    fail("the engine has no Vulkan device: is it set to another graphics interface?");
    return 0;
  }
  if (!adopt() || lapilli_load_start(plugin.device, directory, NULL, &plugin.loading) != LAPILLI_OK) {
    fail(lapilli_last_error());
    return 0;
  }
  plugin.state = TRANSLATOR_WORKING;
  return 1;
}

void translator_unload(void) {
  int i;
  for (i = 0; i < MOST_REQUESTS; ++i) lapilli_job_free(plugin.requests[i].job);
  lapilli_load_free(plugin.loading);
  lapilli_model_free(plugin.model);
  lapilli_device_close(plugin.device); /* waits for submissions that the render thread has not told of */
  memset(&plugin, 0, sizeof plugin);
}

/* ---- frames */

static void update_loading(uint32_t budget_us) {
  int32_t finished = 0;
  int failed = lapilli_load_pump(plugin.loading, budget_us, &finished) != LAPILLI_OK;
  if (!failed && !finished) return;
  failed = failed || lapilli_load_take(plugin.loading, &plugin.model) != LAPILLI_OK;
  plugin.state = failed ? fail(lapilli_last_error()) : TRANSLATOR_READY;
  lapilli_load_free(plugin.loading);
  plugin.loading = NULL;
}

static void add_events(request* r) {
  lapilli_event event;
  int32_t has = 1;
  event.struct_size = sizeof event;
  while (lapilli_job_next_event(r->job, &event, &has) == LAPILLI_OK && has) {
    if (event.kind == LAPILLI_EVENT_TEXT) {
      const size_t used = strlen(r->text);
      copy_text(r->text + used, sizeof r->text - used, event.of.text.text, event.of.text.text_bytes);
    }
  }
}

static void end_job(request* r) {
  lapilli_result* result = NULL;
  lapilli_sequence best;
  best.struct_size = sizeof best;
  if (lapilli_job_take(r->job, &result) == LAPILLI_OK && lapilli_result_get(result, 0, 0, &best) == LAPILLI_OK) {
    copy_text(r->text, sizeof r->text, best.text, best.text_bytes);
    r->state = TRANSLATOR_READY;
  } else {
    r->state = fail(lapilli_last_error());
  }
  lapilli_result_free(result);
  lapilli_job_free(r->job);
  r->job = NULL;
}

static void update_request(request* r, uint32_t budget_us) {
  int32_t finished = 0;
  if (lapilli_job_pump(r->job, budget_us, &finished) != LAPILLI_OK) finished = 1;
  add_events(r);
  if (finished) end_job(r);
}

/* All jobs share one session of the model: who is pumped pumps for the others, and the budget is spent once. */
int32_t translator_update(uint32_t budget_us) {
  int i;
  if (plugin.loading) update_loading(budget_us);
  for (i = 0; i < MOST_REQUESTS; ++i) {
    if (!plugin.requests[i].job) continue;
    update_request(&plugin.requests[i], budget_us);
    budget_us = 0;
  }
  return plugin.state;
}

/* ---- requests */

static request* find(int32_t number) {
  int i;
  for (i = 0; i < MOST_REQUESTS; ++i)
    if (plugin.requests[i].number == number) return &plugin.requests[i];
  return NULL;
}

int32_t translator_request(const char* text) {
  lapilli_options options = lapilli_default_options();
  request* r = find(0);
  lapilli_input input;
  if (!text || !plugin.model || !r) {
    fail(!text           ? "the text is null"
         : !plugin.model ? "the model is not loaded yet"
                         : "too many requests: release some");
    return 0;
  }
  input = lapilli_text(text);
  options.task = "translate";
  options.num_beams = 1; /* each word is known for good once it is written */
  memset(r, 0, sizeof *r);
  if (lapilli_job_start(plugin.model, &input, 1, &options, &r->job) != LAPILLI_OK) {
    fail(lapilli_last_error());
    return 0;
  }
  plugin.last_number = plugin.last_number == INT32_MAX ? 1 : plugin.last_number + 1;
  r->number = plugin.last_number;
  r->state = TRANSLATOR_WORKING;
  return r->number;
}

int32_t translator_poll(int32_t number, char* text, int32_t capacity) {
  const request* r = number > 0 ? find(number) : NULL;
  if (text && capacity > 0) copy_text(text, (size_t)capacity, r ? r->text : "", r ? strlen(r->text) : 0);
  return r ? r->state : TRANSLATOR_NOTHING;
}

void translator_release(int32_t number) {
  request* r = number > 0 ? find(number) : NULL;
  if (!r) return;
  lapilli_job_free(r->job); /* cancels, and waits for nothing */
  memset(r, 0, sizeof *r);
}
