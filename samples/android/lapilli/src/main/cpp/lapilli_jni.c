/* dev.lapilli.Native over the C interface. Texts cross as UTF-8 in byte arrays: what JNI calls UTF is a dialect of its
 * own, in which an emoji is six bytes. Errors become a TranslatorException with the library's message. No thread is
 * made here and no reference is kept beyond a call. */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

#include "handles.h"
#include "lapilli/lapilli.h"

/* ---- errors ----------------------------------------------------------------------------------------------------- */

static void throw_message(JNIEnv* env, lapilli_status status, const char* message) {
  const jsize bytes = (jsize)strlen(message);
  jclass type = (*env)->FindClass(env, "dev/lapilli/TranslatorException");
  jmethodID constructor = type ? (*env)->GetMethodID(env, type, "<init>", "(I[B)V") : NULL;
  jbyteArray text = constructor ? (*env)->NewByteArray(env, bytes) : NULL;
  jobject error;
  if (!text) return; /* the virtual machine's own error is pending */
  (*env)->SetByteArrayRegion(env, text, 0, bytes, (const jbyte*)message);
  error = (*env)->NewObject(env, type, constructor, (jint)status, text);
  if (error) (*env)->Throw(env, (jthrowable)error);
}

/* Not 0: it went well. Otherwise an exception is pending. */
static int check(JNIEnv* env, lapilli_status status) {
  if (status != LAPILLI_OK) throw_message(env, status, lapilli_last_error());
  return status == LAPILLI_OK;
}

static void throw_no_memory(JNIEnv* env) {
  throw_message(env, LAPILLI_OUT_OF_MEMORY, "There is no memory for what was to be handed to the library.");
}

static jlong put(JNIEnv* env, int kind, void* thing) {
  const int64_t number = handle_put(kind, thing);
  if (!number)
    throw_message(env, LAPILLI_OUT_OF_MEMORY,
                  "Too many devices, models and jobs are open: close those that are not used.");
  return (jlong)number;
}

static handle_slot* use(JNIEnv* env, jlong number, int kind) {
  handle_slot* slot = handle_use(number, kind);
  if (!slot)
    throw_message(env, LAPILLI_INVALID_ARGUMENT, "This was closed before, or never opened: open another translator.");
  return slot;
}

/* ---- arguments -------------------------------------------------------------------------------------------------- */

/* A copy with a zero at the end, which the caller frees. Null for null, and with an exception where memory is short. */
static char* copy_text(JNIEnv* env, jbyteArray text, size_t* bytes) {
  const jsize count = text ? (*env)->GetArrayLength(env, text) : 0;
  char* copy = text ? malloc((size_t)count + 1) : NULL;
  *bytes = (size_t)count;
  if (!copy) {
    if (text) throw_no_memory(env);
    return NULL;
  }
  (*env)->GetByteArrayRegion(env, text, 0, count, (jbyte*)copy);
  copy[count] = '\0';
  return copy;
}

/* Texts of an array, null ones too; nothing is left behind by one that failed. */
typedef struct texts {
  char** items;
  jsize count;
} texts;

static void free_texts(texts* t) {
  jsize i;
  for (i = 0; t->items && i < t->count; ++i) free(t->items[i]);
  free(t->items);
}

/* 0: an exception is pending. free_texts in any case. */
static int copy_texts(JNIEnv* env, jobjectArray array, texts* to) {
  jsize i;
  to->count = array ? (*env)->GetArrayLength(env, array) : 0;
  to->items = calloc((size_t)to->count + 1, sizeof *to->items);
  if (!to->items) {
    throw_no_memory(env);
    return 0;
  }
  for (i = 0; i < to->count; ++i) {
    size_t bytes;
    jbyteArray item = (jbyteArray)(*env)->GetObjectArrayElement(env, array, i);
    if ((*env)->ExceptionCheck(env)) return 0;
    to->items[i] = copy_text(env, item, &bytes);
    (*env)->DeleteLocalRef(env, item); /* a model has more files than a frame is sure to have room for */
    if ((*env)->ExceptionCheck(env)) return 0;
  }
  return 1;
}

/* 0: the array is null or has another length, and an exception is pending. */
static int has_length(JNIEnv* env, jarray array, jsize length) {
  if (array && (*env)->GetArrayLength(env, array) == length) return 1;
  throw_message(env, LAPILLI_INVALID_ARGUMENT, "An array of dev.lapilli.Native has the wrong length.");
  return 0;
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

enum { FLAG_REFUSE_CPU = 1, FLAG_IGNORE_ENVIRONMENT = 2, FLAG_LOW_PRIORITY = 4 };

JNIEXPORT jlong JNICALL Java_dev_lapilli_Native_openDevice(JNIEnv* env, jclass type, jbyteArray cache_directory,
                                                           jbyteArray select, jint flags, jint max_submit_us) {
  size_t bytes;
  lapilli_device* device = NULL;
  lapilli_device_options options = lapilli_default_device_options();
  char* cache = copy_text(env, cache_directory, &bytes);
  char* selected = (*env)->ExceptionCheck(env) ? NULL : copy_text(env, select, &bytes);
  jlong number = 0;
  (void)type;
  options.cache_directory = cache;
  options.select = selected;
  options.refuse_cpu = (flags & FLAG_REFUSE_CPU) != 0;
  options.ignore_environment = (flags & FLAG_IGNORE_ENVIRONMENT) != 0;
  options.low_priority = (flags & FLAG_LOW_PRIORITY) != 0;
  options.max_submit_us = max_submit_us > 0 ? (uint32_t)max_submit_us : 0;
  if (!(*env)->ExceptionCheck(env) && check(env, lapilli_device_open(&options, &device)))
    number = put(env, HANDLE_DEVICE, device);
  free(cache);
  free(selected);
  return number;
}

typedef lapilli_status (*device_function)(lapilli_device* device);

static void call_device(JNIEnv* env, jlong number, device_function function) {
  handle_slot* slot = use(env, number, HANDLE_DEVICE);
  lapilli_status status;
  if (!slot) return;
  status = function((lapilli_device*)handle_thing(slot));
  check(env, status);
  handle_give_back(slot);
}

JNIEXPORT void JNICALL Java_dev_lapilli_Native_pauseDevice(JNIEnv* env, jclass type, jlong device) {
  (void)type;
  call_device(env, device, lapilli_device_pause);
}

JNIEXPORT void JNICALL Java_dev_lapilli_Native_resumeDevice(JNIEnv* env, jclass type, jlong device) {
  (void)type;
  call_device(env, device, lapilli_device_resume);
}

JNIEXPORT void JNICALL Java_dev_lapilli_Native_trimDevice(JNIEnv* env, jclass type, jlong device) {
  (void)type;
  call_device(env, device, lapilli_device_trim);
}

JNIEXPORT void JNICALL Java_dev_lapilli_Native_storeCache(JNIEnv* env, jclass type, jlong device) {
  (void)type;
  call_device(env, device, lapilli_device_store_cache);
}

enum { USAGE_NUMBERS = 7 };

JNIEXPORT void JNICALL Java_dev_lapilli_Native_deviceUsage(JNIEnv* env, jclass type, jlong device, jlongArray numbers) {
  lapilli_device_usage usage;
  handle_slot* slot = has_length(env, numbers, USAGE_NUMBERS) ? use(env, device, HANDLE_DEVICE) : NULL;
  (void)type;
  if (!slot) return;
  usage.struct_size = sizeof usage;
  if (check(env, lapilli_device_get_usage((const lapilli_device*)handle_thing(slot), &usage))) {
    const jlong out[USAGE_NUMBERS] = {usage.paused,
                                      (jlong)usage.held_bytes,
                                      (jlong)usage.weight_bytes,
                                      (jlong)usage.session_bytes,
                                      (jlong)usage.transfer_bytes,
                                      (jlong)usage.peak_bytes,
                                      (jlong)usage.left_bytes};
    (*env)->SetLongArrayRegion(env, numbers, 0, USAGE_NUMBERS, out);
  }
  handle_give_back(slot);
}

/* ---- models ----------------------------------------------------------------------------------------------------- */

enum { RANGE_NUMBERS = 3 }; /* descriptor, offset, bytes */

/* Parts of the named files; null where an exception is pending. */
static lapilli_file_part* make_parts(JNIEnv* env, const texts* names, jlongArray ranges) {
  lapilli_file_part* parts;
  jsize i;
  if (!has_length(env, ranges, names->count * RANGE_NUMBERS)) return NULL;
  parts = calloc((size_t)names->count + 1, sizeof *parts);
  if (!parts) throw_no_memory(env);
  for (i = 0; parts && i < names->count; ++i) {
    jlong range[RANGE_NUMBERS];
    (*env)->GetLongArrayRegion(env, ranges, i * RANGE_NUMBERS, RANGE_NUMBERS, range);
    parts[i] = lapilli_file_in_descriptor(names->items[i], range[0], (uint64_t)range[1], (uint64_t)range[2]);
  }
  return parts;
}

/* Begins to load the directory names[0] (null: the bundled model), or the named files in these ranges. */
static lapilli_load* start_load(JNIEnv* env, lapilli_device* device, const texts* names, jlongArray ranges,
                                jlong memory_limit) {
  lapilli_load* load = NULL;
  lapilli_model_options options = lapilli_default_model_options();
  lapilli_file_part* parts = ranges ? make_parts(env, names, ranges) : NULL;
  if (ranges && !parts) return NULL;
  options.memory_limit = memory_limit > 0 ? (uint64_t)memory_limit : 0;
  options.parts = parts;
  options.part_count = parts ? (uint64_t)names->count : 0;
  check(env, lapilli_load_start(device, parts ? NULL : names->items[0], &options, &load));
  free(parts);
  return load;
}

JNIEXPORT jlong JNICALL Java_dev_lapilli_Native_startLoad(JNIEnv* env, jclass type, jlong device, jobjectArray names,
                                                          jlongArray ranges, jlong memory_limit) {
  texts copies;
  lapilli_load* load = NULL;
  handle_slot* slot = use(env, device, HANDLE_DEVICE);
  (void)type;
  if (!slot) return 0;
  if (copy_texts(env, names, &copies))
    load = start_load(env, (lapilli_device*)handle_thing(slot), &copies, ranges, memory_limit);
  free_texts(&copies);
  handle_give_back(slot);
  return load ? put(env, HANDLE_LOAD, load) : 0;
}

JNIEXPORT jboolean JNICALL Java_dev_lapilli_Native_pumpLoad(JNIEnv* env, jclass type, jlong load, jlong budget_us) {
  int32_t finished = 0;
  handle_slot* slot = use(env, load, HANDLE_LOAD);
  (void)type;
  if (!slot) return JNI_FALSE;
  check(env, lapilli_load_pump((lapilli_load*)handle_thing(slot), (uint64_t)budget_us, &finished));
  handle_give_back(slot);
  return finished ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT jlong JNICALL Java_dev_lapilli_Native_takeModel(JNIEnv* env, jclass type, jlong load) {
  lapilli_model* model = NULL;
  handle_slot* slot = use(env, load, HANDLE_LOAD);
  (void)type;
  if (!slot) return 0;
  check(env, lapilli_load_take((lapilli_load*)handle_thing(slot), &model));
  handle_give_back(slot);
  return model ? put(env, HANDLE_MODEL, model) : 0;
}

/* ---- jobs ------------------------------------------------------------------------------------------------------- */

enum { SETTING_TASK, SETTING_SOURCE, SETTING_TARGET, SETTINGS };
enum { NUMBER_BEAMS, NUMBER_MAX_NEW_TOKENS, NUMBERS };

/* 0: an exception is pending. The options point into `settings`. */
static int read_options(JNIEnv* env, const texts* settings, jintArray numbers, lapilli_options* options) {
  jint values[NUMBERS];
  if (settings->count != SETTINGS) {
    throw_message(env, LAPILLI_INVALID_ARGUMENT, "dev.lapilli.Native.startJob wants task, source and target language.");
    return 0;
  }
  if (!has_length(env, numbers, NUMBERS)) return 0;
  (*env)->GetIntArrayRegion(env, numbers, 0, NUMBERS, values);
  options->task = settings->items[SETTING_TASK];
  options->source_language = settings->items[SETTING_SOURCE];
  options->target_language = settings->items[SETTING_TARGET];
  options->num_beams = values[NUMBER_BEAMS];
  options->max_new_tokens = values[NUMBER_MAX_NEW_TOKENS];
  return 1;
}

static lapilli_job* start_job(JNIEnv* env, lapilli_model* model, jbyteArray text, const lapilli_options* options) {
  size_t bytes;
  lapilli_job* job = NULL;
  char* copy = copy_text(env, text, &bytes);
  lapilli_input input = lapilli_text_of(copy, bytes);
  if ((*env)->ExceptionCheck(env)) return NULL;
  check(env, lapilli_job_start(model, &input, 1, options, &job));
  free(copy);
  return job;
}

JNIEXPORT jlong JNICALL Java_dev_lapilli_Native_startJob(JNIEnv* env, jclass type, jlong model, jbyteArray text,
                                                         jobjectArray settings, jintArray numbers) {
  texts copies;
  lapilli_job* job = NULL;
  lapilli_options options = lapilli_default_options();
  handle_slot* slot = use(env, model, HANDLE_MODEL);
  (void)type;
  if (!slot) return 0;
  if (copy_texts(env, settings, &copies) && read_options(env, &copies, numbers, &options))
    job = start_job(env, (lapilli_model*)handle_thing(slot), text, &options);
  free_texts(&copies);
  handle_give_back(slot);
  return job ? put(env, HANDLE_JOB, job) : 0;
}

JNIEXPORT jboolean JNICALL Java_dev_lapilli_Native_waitJob(JNIEnv* env, jclass type, jlong job, jlong timeout_us) {
  int32_t finished = 0;
  handle_slot* slot = use(env, job, HANDLE_JOB);
  (void)type;
  if (!slot) return JNI_FALSE;
  check(env, lapilli_job_wait((lapilli_job*)handle_thing(slot), (uint64_t)timeout_us, &finished));
  handle_give_back(slot);
  return finished ? JNI_TRUE : JNI_FALSE;
}

JNIEXPORT void JNICALL Java_dev_lapilli_Native_cancelJob(JNIEnv* env, jclass type, jlong job) {
  handle_slot* slot = use(env, job, HANDLE_JOB);
  (void)type;
  if (!slot) return;
  lapilli_job_cancel((lapilli_job*)handle_thing(slot));
  handle_give_back(slot);
}

/* An event as Java reads it: text or message, and a status or a count. */
typedef struct told {
  const char* text;
  size_t bytes;
  jlong numbers[3]; /* kind; status, or how much is done; of how much */
} told;

static told tell(const lapilli_event* event) {
  told t = {NULL, 0, {0, 0, 0}};
  t.numbers[0] = event->kind;
  switch (event->kind) {
    case LAPILLI_EVENT_TEXT:
      t.text = event->of.text.text;
      t.bytes = event->of.text.text_bytes;
      break;
    case LAPILLI_EVENT_PROGRESS:
      t.numbers[1] = (jlong)event->of.progress.done;
      t.numbers[2] = (jlong)event->of.progress.total;
      break;
    case LAPILLI_EVENT_INPUT:
      t.text = event->of.input.message;
      t.numbers[1] = event->of.input.status;
      break;
    case LAPILLI_EVENT_ERROR:
      t.text = event->of.error.message;
      t.numbers[1] = event->of.error.status;
      break;
    case LAPILLI_EVENT_END: t.numbers[1] = event->of.end.status; break;
    default: break;
  }
  if (t.text && !t.bytes) t.bytes = strlen(t.text);
  return t;
}

/* The numbers go to the array, whose first stays 0 if there is no event; the text, or null, is given back. */
JNIEXPORT jbyteArray JNICALL Java_dev_lapilli_Native_nextEvent(JNIEnv* env, jclass type, jlong job,
                                                               jlongArray numbers) {
  told t = {NULL, 0, {0, 0, 0}};
  int32_t has = 0;
  lapilli_event event;
  jbyteArray text = NULL;
  handle_slot* slot = has_length(env, numbers, 3) ? use(env, job, HANDLE_JOB) : NULL;
  (void)type;
  if (!slot) return NULL;
  event.struct_size = sizeof event;
  if (check(env, lapilli_job_next_event((lapilli_job*)handle_thing(slot), &event, &has))) {
    if (has) t = tell(&event);
    (*env)->SetLongArrayRegion(env, numbers, 0, 3, t.numbers);
    text = t.text ? (*env)->NewByteArray(env, (jsize)t.bytes) : NULL;
    if (text) (*env)->SetByteArrayRegion(env, text, 0, (jsize)t.bytes, (const jbyte*)t.text);
  }
  handle_give_back(slot);
  return text;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

JNIEXPORT void JNICALL Java_dev_lapilli_Native_close(JNIEnv* env, jclass type, jlong number) {
  int kind;
  (void)env;
  (void)type;
  for (kind = HANDLE_DEVICE; kind <= HANDLE_JOB; ++kind) handle_close(number, kind);
}

JNIEXPORT jint JNICALL Java_dev_lapilli_Native_liveHandles(JNIEnv* env, jclass type) {
  (void)env;
  (void)type;
  return handle_count();
}

JNIEXPORT jstring JNICALL Java_dev_lapilli_Native_version(JNIEnv* env, jclass type) {
  (void)type;
  return (*env)->NewStringUTF(env, lapilli_version()); /* digits and dots */
}
