/* clang-format off: it would fill the paragraphs of this manual together. */
/* Lapilli: Transformer encoder-decoder models (translation first) on any Vulkan 1.1 device. The C interface.
 *
 * EXPERIMENTAL: until version 1.0 names and layouts may change between minor versions.
 *
 *   lapilli_device* device = NULL;
 *   lapilli_model* model = NULL;
 *   lapilli_result* result = NULL;
 *   lapilli_input input = lapilli_text("Where is the station?");
 *   if (lapilli_device_open(NULL, &device) == LAPILLI_OK &&
 *       lapilli_model_load(device, NULL, &model) == LAPILLI_OK &&
 *       lapilli_generate(model, &input, 1, NULL, &result) == LAPILLI_OK) {
 *     lapilli_sequence best;
 *     best.struct_size = sizeof best;
 *     if (lapilli_result_get(result, 0, 0, &best) == LAPILLI_OK) puts(best.text);
 *   } else {
 *     fprintf(stderr, "%s\n", lapilli_last_error());
 *   }
 *   lapilli_result_free(result);
 *   lapilli_model_free(model);
 *   lapilli_device_close(device);
 *
 * Errors     Functions that can fail return a lapilli_status; lapilli_last_error() then says what failed, where, and
 *            what to do. Nothing throws, nothing aborts. Null where a pointer is required is LAPILLI_INVALID_ARGUMENT.
 *
 * Structs    All may get further fields at their end, so each begins with struct_size: sizeof the struct as the program
 *            was compiled. The helpers (lapilli_text() and the like, lapilli_default_options()) set it; where there is
 *            none, set it before passing a struct, in or out. A struct_size of 0 is an error. Null for a const options
 *            struct means the defaults.
 *
 *            Programs and libraries of different versions then understand each other: fields that a program lacks have
 *            their defaults, and a field that the library does not know is refused unless it is zero. Structs that a
 *            callback gets have the library's size: a field that came later is there if struct_size reaches it.
 *
 *            In an array that is passed in, all elements have one size, by which the library walks; what comes out in
 *            numbers is asked for one by one. lapilli_ids alone never grows: it is a field of other structs, never an
 *            argument or an element.
 *
 * Strings    UTF-8, zero-terminated where no length is given. So are paths, on Windows as well.
 *
 * Ownership  What a function hands out through a handle (lapilli_device**, ...) is freed by its own function, which
 *            accepts null. Out handles are null after an error. Pointers inside out structs belong to the handle they
 *            were asked from. Pointers that a call is given are read until it returns, and not after it.
 *
 * Threads    A device, a model and a cancel token may be used by any number of threads at once; a result, a job and a
 *            loading by one at a time. A handle must not be freed while another thread begins a call with it.
 *
 *            A device outlives its closing as long as a model uses it, a model and a cancel token their freeing as long
 *            as a call is running with them.
 */
/* clang-format on */
#ifndef LAPILLI_LAPILLI_H
#define LAPILLI_LAPILLI_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define LAPILLI_VERSION_MAJOR 0
#define LAPILLI_VERSION_MINOR 2
#define LAPILLI_VERSION_PATCH 0
/* Of any version, as a number that grows with it; of the header. */
#define LAPILLI_MAKE_VERSION(major, minor, patch) ((major)*1000000 + (minor)*1000 + (patch))
#define LAPILLI_VERSION_NUMBER LAPILLI_MAKE_VERSION(LAPILLI_VERSION_MAJOR, LAPILLI_VERSION_MINOR, LAPILLI_VERSION_PATCH)

#if defined(_WIN32) && defined(LAPILLI_SHARED)
#if defined(LAPILLI_BUILDING)
#define LAPILLI_API __declspec(dllexport)
#else
#define LAPILLI_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define LAPILLI_API __attribute__((visibility("default")))
#else
#define LAPILLI_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- errors, version, messages ---------------------------------------------------------------------------------- */

typedef int32_t lapilli_status;
enum {
  LAPILLI_OK = 0,
  LAPILLI_INVALID_ARGUMENT = 1, /* the caller's options, ids or pointers are wrong */
  LAPILLI_NOT_FOUND = 2,        /* a file or directory does not exist or cannot be opened */
  LAPILLI_INVALID_DATA = 3,     /* a file or text contradicts its format */
  LAPILLI_UNSUPPORTED = 4,      /* valid, but not something this version does */
  LAPILLI_OUT_OF_MEMORY = 5,    /* of the host or of the device */
  LAPILLI_NO_DEVICE = 6,        /* no Vulkan loader, driver or suitable device */
  LAPILLI_DEVICE_LOST = 7,      /* and could not be replaced: see "a lost device" */
  LAPILLI_TIMEOUT = 8,          /* the device makes no progress; another device may */
  LAPILLI_CANCELLED = 9,
  LAPILLI_INTERNAL = 10 /* a bug in Lapilli */
};

/* "0.2.0", of the library that runs; LAPILLI_VERSION_... are those of the header. */
LAPILLI_API const char* lapilli_version(void);
/* The same as a number, to be compared with LAPILLI_MAKE_VERSION(0, 3, 0) and the like. */
LAPILLI_API int32_t lapilli_version_number(void);

/* "not found" and so on; never null. */
LAPILLI_API const char* lapilli_status_name(lapilli_status status);

/* Message of this thread's last call that failed, "" if none has. Valid until this thread's next call. Never null. */
LAPILLI_API const char* lapilli_last_error(void);

enum { LAPILLI_LOG_ERROR = 0, LAPILLI_LOG_WARNING = 1, LAPILLI_LOG_NOTE = 2, LAPILLI_LOG_VERBOSE = 3 };
typedef void (*lapilli_log_function)(void* user, int32_t level, const char* message);

/* Messages up to `level` go to `function`, which is called from any thread, one call at a time; null: to stderr. For
 * the whole process. The default is stderr at LAPILLI_LOG_NOTE. */
LAPILLI_API void lapilli_set_log(int32_t level, lapilli_log_function function, void* user);

/* ---- devices ---------------------------------------------------------------------------------------------------- */

/* One device as opened. Models on one lapilli_device share its memory blocks, its pipelines and the verdicts of its
 * self-test, so the second model of a kind compiles and tests nothing anew, and their work takes turns on one queue.
 * Each lapilli_device_open makes another one, also of the same GPU, that shares nothing with the first. */
typedef struct lapilli_device lapilli_device;

typedef struct lapilli_store lapilli_store;     /* see "what is kept between runs" */
typedef struct lapilli_workers lapilli_workers; /* see "threads that are lent" */

typedef struct lapilli_device_options {
  uint32_t struct_size;
  int32_t validation;    /* not 0: Vulkan's validation layer, where it is installed */
  const char* select;    /* null or "": the best device; else an index (a whole number), part of the name, or UUID */
  const char* caps;      /* null or "": LAPILLI_CAPS of the environment; else a mask such as "floor" or "no-subgroup" */
  double wait_timeout_s; /* a wait without progress fails after this time; 0: 30 s, on CPU drivers 600 s; INFINITY is
                            taken for a few years */
  /* Added later: */

  int32_t refuse_cpu;         /* not 0: a driver that computes on the CPU is no device */
  int32_t ignore_environment; /* not 0: LAPILLI_CAPS and LAPILLI_VULKAN_LIBRARY are not heeded. What the Vulkan loader
                                 itself reads of the environment is */
  int32_t low_priority;       /* not 0: the queue comes after other programs' (VK_KHR_global_priority or
                                 VK_EXT_global_priority), where the driver offers and grants that. Not of a host's device */
  int32_t debug_names;        /* not 0: buffers and recordings have names for debuggers and profilers
                                 (VK_EXT_debug_utils); so they have with `validation` */
  /* Where messages of this device and of its models go, up to log_level (LAPILLI_LOG_...; the default of
   * lapilli_default_device_options() is LAPILLI_LOG_NOTE), instead of to lapilli_set_log's: what is said while this
   * device is opened, while a function runs that has this device or one of its models among its arguments, and when it
   * is destroyed. Called from the thread that called such a function, one call at a time; it must live as long as the
   * device, which models keep. Null: as for the whole process. */
  lapilli_log_function log;
  void* log_user;
  int32_t log_level;
  uint32_t max_submit_us;      /* no submission is to take longer on the device, in microseconds: how much goes
                                  into one is learnt from how long those before it took. What cannot be cut further takes
                                  what it takes. 0: 50,000; 16,000 on phones; 200,000 on CPU drivers, which nothing kills */
  const lapilli_store* store;  /* what is kept between runs, by callbacks; null: nothing */
  const char* cache_directory; /* the same in files of this folder, which is made; null or "": none. Not with store */
  const lapilli_workers* workers; /* threads that make pipelines; null: the thread that calls does */
  const char* trace_file; /* where the device's time goes, and the host's for it, is written to this file when the
                             device and its models are gone, for viewers of the Trace Event Format (Perfetto, Chrome):
                             each dispatch with the bytes that its bindings cover and its operations. Searches then
                             submit a step at a time and wait for it, so that a traced run is slower. At most a million
                             slices. Null or "": none */
  uint32_t gap_us;    /* so long the device is left to others, such as a phone's compositor, behind each submission of
                         loading, of the self-test and of searches: the next one is made when the last one was seen to be
                         done, and so many microseconds later. What is pumped returns without submitting until then, what
                         waits waits. At most 1,000,000; 0: submissions follow one another. Of no effect where the host
                         appends, as its frames say when work runs */
  uint32_t reserved1; /* 0 */
  uint64_t memory_limit; /* bytes of device memory for the weights of all models of this device and everything that
                            runs on them together; 0: what there is. What is beyond it fails with LAPILLI_OUT_OF_MEMORY;
                            batches that can are split first. Models may have limits of their own besides
                            (lapilli_model_options.memory_limit) */
} lapilli_device_options;

LAPILLI_API lapilli_status lapilli_device_open(const lapilli_device_options* options, lapilli_device** device);
LAPILLI_API void lapilli_device_close(lapilli_device* device);

/* Every device of this machine as a JSON array (what `lapilli devices --json` prints), usable or refused with the
 * reason, and which one these options would choose. The string is valid until this thread asks again. */
LAPILLI_API lapilli_status lapilli_devices_json(const lapilli_device_options* options, const char** json);

/* ---- the host's device ------------------------------------------------------------------------------------------ */

/* A game or an app has a VkDevice already, and lends it: docs/embed/embedding-device.md goes through it. vulkan.h is
 * not needed here: handles such as VkDevice and pointers to functions are void*, a VkFence is a uint64_t.
 *
 * Nothing of the host's is ever destroyed. It must outlive the lapilli_device and the models on it, which make buffers,
 * pipelines, command pools, and a timeline semaphore or fences of their own.
 *
 * Locks      Callbacks are called from any thread that works with the device or its models, one at a time for each
 *            device, and while locks of Lapilli's are held: these come first, the host's behind them. So no call of
 *            Lapilli's but those of the next paragraph is made from a callback, or under a lock that one takes.
 *
 *            lapilli_submission_done, lapilli_device_append, lapilli_device_completed and lapilli_device_dropped call
 *            nothing of the host's besides Vulkan, and wait for no lock that a callback is called under: they may be
 *            called from anywhere, also from a callback. */

/* What to make a device with that Lapilli shall run on. Strings and the array are valid until this thread asks again.
 */
typedef struct lapilli_requirements {
  uint32_t struct_size;
  int32_t usable;       /* 0: `refusal` says why not; what follows then means nothing */
  uint32_t api_version; /* apiVersion of VkApplicationInfo: at least this (VK_API_VERSION_1_1) */
  uint32_t
      queue_family; /* to be used: one with compute that does not draw, if there is one. Any with compute will do */
  /* Features that make Lapilli faster, if the device offers them; each is to be enabled with the extensions below. */
  int32_t timeline_semaphore;    /* timelineSemaphore */
  int32_t storage_16bit;         /* storageBuffer16BitAccess */
  int32_t shader_float16;        /* shaderFloat16 */
  int32_t storage_8bit;          /* storageBuffer8BitAccess */
  int32_t shader_int8;           /* shaderInt8 */
  int32_t integer_dot_product;   /* shaderIntegerDotProduct */
  int32_t subgroup_size_control; /* subgroupSizeControl */
  int32_t reserved;
  const char* refusal; /* null: usable */
  /* Device extensions that the device offers and Lapilli makes use of. None is needed but VK_KHR_portability_subset,
   * which must be enabled where it is offered. Those that are core of the instance's version may be left out. */
  const char* const* extensions;
  size_t extension_count;
} lapilli_requirements;

/* Asked before the host makes its device. `get_instance_proc_addr` is a PFN_vkGetInstanceProcAddr, `instance` a
 * VkInstance for Vulkan 1.1 or later, `physical_device` a VkPhysicalDevice of it. A device that cannot be used is no
 * error: it is not `usable`. */
LAPILLI_API lapilli_status lapilli_device_requirements(void* get_instance_proc_addr, void* instance,
                                                       void* physical_device, lapilli_requirements* requirements);

/* A submission on its way through the host. */
typedef struct lapilli_submission lapilli_submission;

typedef struct lapilli_submit_info {
  uint32_t struct_size; /* the library's */
  uint32_t reserved;
  uint64_t fence;                 /* VkFence to submit it with, or 0 */
  const void* submit_info;        /* const VkSubmitInfo*: as it is, alone or among others. Lives until
                                     lapilli_submission_done */
  lapilli_submission* submission; /* for lapilli_submission_done */
} lapilli_submit_info;

/* Hands over a submission: to be submitted to the queue whose family was named, now or later, on any thread, behind all
 * that were handed over before. `info` itself is valid during the call only. */
typedef void (*lapilli_submit_function)(void* user, const lapilli_submit_info* info);

/* vkQueueSubmit returned `vk_result` for this submission (not: the device has done it). Exactly once for each, after
 * which it is gone; null is ignored. With an error, or if the host will not submit it (any negative number), the jobs
 * end with LAPILLI_DEVICE_LOST and a message that names it, and nothing more runs on this lapilli_device. */
LAPILLI_API void lapilli_submission_done(lapilli_submission* submission, int32_t vk_result);

typedef void (*lapilli_queue_function)(void* user);

/* Start from lapilli_default_host_device(), which sets all to 0. How work reaches the device is one of these:
 *
 *   the queue alone                    it is Lapilli's, nobody else uses it
 *   the queue with lock and unlock     shared: Lapilli submits between the two calls
 *   submit                             the host submits; the queue may be null
 *   append                             nothing is submitted, see lapilli_device_append; the queue may be null */
typedef struct lapilli_host_device {
  uint32_t struct_size;
  uint32_t api_version;          /* apiVersion that the instance was made with: VK_API_VERSION_1_1 or later */
  void* get_instance_proc_addr;  /* PFN_vkGetInstanceProcAddr */
  void* instance;                /* VkInstance */
  void* physical_device;         /* VkPhysicalDevice */
  void* device;                  /* VkDevice */
  void* queue;                   /* VkQueue */
  uint32_t queue_family;         /* of the queue that the work reaches; it has compute */
  int32_t append;                /* not 0: by lapilli_device_append */
  const char* const* extensions; /* device extensions that are enabled; others than Lapilli's do no harm */
  size_t extension_count;
  /* Not 0: the feature is enabled. What is not, Lapilli does without. */
  int32_t timeline_semaphore;
  int32_t storage_16bit;
  int32_t shader_float16;
  int32_t storage_8bit;
  int32_t shader_int8;
  int32_t integer_dot_product;
  int32_t subgroup_size_control;
  int32_t reserved;
  void* user;                          /* for the callbacks */
  lapilli_queue_function lock_queue;   /* or null */
  lapilli_queue_function unlock_queue; /* or null */
  lapilli_submit_function submit;      /* or null */
} lapilli_host_device;

/* Makes a lapilli_device of the host's. Refused with LAPILLI_NO_DEVICE, or LAPILLI_INVALID_ARGUMENT where the
 * description itself is wrong, and a message that names all that is missing. Of the options `select`, `low_priority`
 * and `validation` (but for its names) are the host's own affair. What `host` points to is not read after the call.
 *
 * With a submit callback, all submissions must have been told to be done before the last of lapilli_device and its
 * models is freed, or that waits for them, at most for wait_timeout_s, and then keeps what they use for ever. */
LAPILLI_API lapilli_status lapilli_device_adopt(const lapilli_host_device* host, const lapilli_device_options* options,
                                                lapilli_device** device);

#define LAPILLI_APPEND_ALL UINT64_MAX /* a budget without limit, for loading screens */

typedef struct lapilli_appended {
  uint32_t struct_size;
  uint32_t pieces;  /* that were put into the command buffer */
  uint32_t waiting; /* that were left for the next one */
  uint32_t reserved;
  uint64_t serial;      /* for lapilli_device_completed; 0: nothing was appended, there is nothing to tell */
  uint64_t expected_us; /* how long they should take, as far as that is known */
} lapilli_appended;

/* Puts work that waits into `command_buffer`: a VkCommandBuffer in the recording state, primary, outside of a render
 * pass, of a pool for the device's queue family. In order, while it is expected to take no more than `budget_us`
 * microseconds together: at least one piece, if any waits and the budget is not 0, and nothing behind a piece whose
 * time is not known yet. A piece is as small as submissions are elsewhere.
 *
 * Behind the call the command buffer has no pipeline, descriptor set or push constant bound. The host submits it once,
 * all such to one queue and in the order of their serials. It needs no barriers for Lapilli's sake.
 *
 * Everything that Lapilli does on the device comes this way, loading a model and the test of its kernels too. Functions
 * that wait for the device (lapilli_model_load, lapilli_generate) therefore belong on another thread than the frames:
 * on theirs, they end with LAPILLI_TIMEOUT and a message that says so. */
LAPILLI_API lapilli_status lapilli_device_append(lapilli_device* device, void* command_buffer, uint64_t budget_us,
                                                 lapilli_appended* appended);

/* The device has finished the command buffer that got this serial, and all before it (a fence, or a timeline, has told
 * the host). Before lapilli_device_close all of them must have been told: what they use is kept for ever otherwise. */
LAPILLI_API lapilli_status lapilli_device_completed(lapilli_device* device, uint64_t serial);

/* The command buffers that got this serial and later ones will never be submitted: their work waits for others. */
LAPILLI_API lapilli_status lapilli_device_dropped(lapilli_device* device, uint64_t serial);

/* ---- what is kept between runs ---------------------------------------------------------------------------------- */

/* Without it every start makes all pipelines and proves all kernels again. What a driver compiled and what the
 * self-test found (that a kernel is right, or wrong and why) is kept as a few blobs of some kilobytes to megabytes,
 * each under a key. Each says which driver, device and version of Lapilli it is for, and is whole or ignored: a blob
 * that is missing, cut, changed or another's makes a start slower and never an error, and no driver sees it.
 *
 * Keys       Lower-case letters, digits, '-' and '.', at most 64: names for files. A program has up to three for each
 *            device and mask that it uses.
 *
 * When       load is called in lapilli_device_open. store is called there too, and at the end of lapilli_generate if
 *            there is anything new, in lapilli_model_free and lapilli_device_close: never while something is polled.
 *            Until the device and all its models are freed, the callbacks and what `user` points to must live; the
 *            struct itself is copied.
 *
 * Threads    The callbacks are called by the threads that call Lapilli, maybe by several at once. They call nothing of
 *            Lapilli but the function that load is given.
 *
 * Crashes    Before a driver is given what is stored, a mark is stored, and removed when the first lapilli_generate is
 *            done, or the device is freed. Where a later start finds the mark, the process ended in between: the
 *            driver's blob is removed and made anew. So a driver that crashes on it does so once, and a process that
 *            is killed in between costs its next start the time to make the pipelines.
 *
 *            In a folder, processes that live are told from those that ended. Of several with one store of callbacks,
 *            some may start without the driver's blob; all are right.
 *
 * Errors     What cannot be loaded or stored is a note in the log. */

/* Takes `bytes` of a blob during a call of load; any number of times, one piece behind the other. */
typedef void (*lapilli_receive_function)(void* context, const void* data, size_t bytes);

struct lapilli_store {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  void* user;
  /* Gives the blob that was stored last under `key` to receive(context, ...); gives nothing if there is none. Not 0: it
   * cannot be read, and what was given is ignored. */
  int32_t (*load)(void* user, const char* key, lapilli_receive_function receive, void* context);
  /* Keeps `bytes` at `data`, instead of what was kept under this key: all of it, or what was there before stays. 0
   * bytes, at null: removes the blob. Not 0: this could not be done. */
  int32_t (*store)(void* user, const char* key, const void* data, size_t bytes);
};

/* ---- threads that are lent -------------------------------------------------------------------------------------- */

/* Lapilli makes no threads. Where several pipelines are to be made, which can take seconds, it asks for some: when a
 * job needs them, and beside a load that waits, which is a task itself then, the one that is called on its own thread.
 */
typedef void (*lapilli_task_function)(void* context, uint32_t index);

struct lapilli_workers {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  void* user;
  /* Calls task(context, index) for each index from 0 to count - 1, once, on any threads, and returns when all these
   * calls have returned; best if it works itself, too. What was not called is done by the thread that asked, or left if
   * it is not needed yet. May last as long as a load, in which functions of lapilli_files and of the log are called.
   * Called by threads that call Lapilli, never by a task, maybe by several at once, but by none beside a load's, until
   * the device and all its models are freed; the struct itself is copied. */
  void (*run)(void* user, uint32_t count, lapilli_task_function task, void* context);
};

/* ---- files of the host ------------------------------------------------------------------------------------------ */

/* A model is a few files (config.json, weights, those of the tokenizer) that go by their names in the directory of a
 * published model. Where they do not lie in a directory, lapilli_model_options gives them in one of two ways: parts,
 * which say where each file lies in memory or in something that is open, or functions.
 *
 * Files are read while a model is loaded, by the thread that loads, one call at a time, and never after that (but see
 * lapilli_model_options.files_stay): weights piece by piece, the other files as a whole. What the structs point to
 * (memory, descriptors, `user`) stays the caller's and must stay as it is until the load has ended; the structs
 * themselves are copied by the call that they are given to.
 *
 * A file that cannot be read, ends early or is not as long as it says is an error of the load, which names the file. */

/* What a file part lies in. */
enum { LAPILLI_FILE_MEMORY = 1, LAPILLI_FILE_DESCRIPTOR = 2 };

/* One file: `bytes` from `offset` on, in memory or in a file that is open (an asset of an APK, a pak file).
 * lapilli_file_in_memory() and lapilli_file_in_descriptor() make them. */
typedef struct lapilli_file_part {
  uint32_t struct_size;
  int32_t kind;       /* LAPILLI_FILE_...; one that the library does not know is LAPILLI_UNSUPPORTED, 0 is invalid */
  const char* name;   /* "config.json"; each once */
  const void* memory; /* LAPILLI_FILE_MEMORY: null only if there are no bytes */
  int64_t descriptor; /* LAPILLI_FILE_DESCRIPTOR: of a regular file, open for reading: of open(), on Windows a HANDLE
                         (there _get_osfhandle(fd) makes one of a C descriptor). Its position does not matter and,
                         except on Windows, does not move, so many parts may share it. A range that is not in the file
                         is an error before anything is read */
  uint64_t offset, bytes;
} lapilli_file_part;

/* A file that lapilli_files.open has opened. */
typedef struct lapilli_file {
  uint32_t struct_size; /* the library's */
  uint32_t reserved;
  void* handle;  /* whatever the other functions are to get; may be null */
  uint64_t size; /* in bytes */
} lapilli_file;

/* Functions of the host. Each gets `user`. They must not call functions of Lapilli. */
typedef struct lapilli_files {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  void* user;
  /* Fills handle and size of `file`, which is zero, and returns LAPILLI_OK; LAPILLI_NOT_FOUND if there is no file of
   * that name, which is no error where a model can do without; another status ends the load with it. Called at most
   * once for each name in one load. */
  lapilli_status (*open)(void* user, const char* name, lapilli_file* file);
  /* Reads `bytes` bytes (never 0) at `offset`, which are within the size, to `to`, and says in `done`, which is 0, how
   * many they were. Anything but LAPILLI_OK ends the load with that status, fewer bytes than asked for with
   * LAPILLI_INVALID_DATA, more with LAPILLI_INVALID_ARGUMENT. Not called where `map` gave the file. */
  lapilli_status (*read)(void* user, void* handle, uint64_t offset, void* to, uint64_t bytes, uint64_t* done);
  /* Null, or: the whole file in memory, valid until it is closed; null for a file that has to be read. Called once,
   * behind open. */
  const void* (*map)(void* user, void* handle);
  /* Called once for each file that was opened, before the load ends, also with an error. */
  void (*close)(void* user, void* handle);
} lapilli_files;

/* ---- models ----------------------------------------------------------------------------------------------------- */

typedef struct lapilli_model lapilli_model;

/* Loads a model onto a device, which may have others, and which the model keeps: it may be closed afterwards.
 * `directory` is as published (config.json, weights, tokenizer). Null or "": the directory that LAPILLI_MODEL names,
 * or else the bundled English-French model, found relative to the program or the library. */
LAPILLI_API lapilli_status lapilli_model_load(lapilli_device* device, const char* directory, lapilli_model** model);
LAPILLI_API void lapilli_model_free(lapilli_model* model);

/* How a device holds a model's matrices. Sums are made in fp32 whatever they are, and what is no matrix stays in fp32.
 * In 16 bits a model takes about half of the memory, in 8 bits a bit over a quarter, in 4 a bit over a seventh, and
 * runs faster where reading weights is what takes its time; results differ a little from those in fp32. */
enum {
  LAPILLI_DTYPE_FP32 = 0, /* as computed by the reference */
  LAPILLI_DTYPE_AUTO = 1, /* by the class of the device alone: bf16 on CPU drivers, fp16 on GPUs */
  LAPILLI_DTYPE_BF16 = 2, /* the upper half of a float, rounded */
  LAPILLI_DTYPE_FP16 = 3, /* half precision; matrices with numbers that it does not hold stay in fp32 */
  LAPILLI_DTYPE_INT8 =
      4, /* whole numbers from -127 to 127, each 32 of a column with a scale of their own: 9 bits a number */
  LAPILLI_DTYPE_INT4 = 5 /* from 0 to 15, each 32 with a scale and a minimum: 5 bits; see docs/use/quality.md first */
};

typedef struct lapilli_model_options {
  uint32_t struct_size;
  uint64_t memory_limit; /* bytes of device memory for weights and everything that runs on them together; 0: what the
                            device has. A model whose weights exceed it is refused, batches that do are run in parts */
  /* Added later: */

  /* Where the files are, if they do not lie in `directory`, which then is only what messages call them and may be null:
   * functions, or an array of parts. Null: not given. Both are an error. */
  const lapilli_files* files;
  const lapilli_file_part* parts;
  uint64_t part_count;
  /* Not 0: these files can be read as long as the model and its jobs are there, so that a device that is lost can be
   * replaced (see "a lost device"). What the structs point to stays as it is for so long, and the functions
   * may be called by any thread that uses the model, one call at a time. Of a directory this always holds. */
  int32_t files_stay;
  int32_t dtype; /* LAPILLI_DTYPE_...; 0: fp32. Files that "lapilli pack" wrote have their own: 0, AUTO and the same one
                    give that, another one is an error */

  /* How the keys and values of what is being written are held: LAPILLI_DTYPE_FP32 (0), LAPILLI_DTYPE_FP16, or
   * LAPILLI_DTYPE_AUTO, which is fp32 so far. FP16 halves the memory that running sentences take and what a step reads
   * of it, which counts for long inputs and outputs, many sentences and many beams; results differ a little. Numbers
   * beyond 65,504 become that. (vLLM calls it kv_cache_dtype.) */
  int32_t kv_dtype;
  int32_t reserved; /* 0 */
} lapilli_model_options;

/* The same with options; null: the defaults. */
LAPILLI_API lapilli_status lapilli_model_load_with(lapilli_device* device, const char* directory,
                                                   const lapilli_model_options* options, lapilli_model** model);

/* Languages that a multilingual model names, as its files write them ("fr_XX", "fra_Latn"): how many, and number
 * `index`. The string lives as long as the model; null beyond the last. Where lapilli_options takes a language, other
 * usual codes of it ("fr", "fra") will do, too. */
LAPILLI_API size_t lapilli_model_language_count(const lapilli_model* model);
LAPILLI_API const char* lapilli_model_language(const lapilli_model* model, size_t index);

typedef struct lapilli_model_info {
  uint32_t struct_size;
  int32_t has_tokenizer; /* 0: only ids can be given */
  const char* directory;
  const char* family; /* "marian" */
  const char* device;
  uint64_t parameters;   /* numbers in the checkpoint, shared ones counted once */
  uint64_t weight_bytes; /* of device memory */
  uint32_t source_vocabulary, target_vocabulary;
  uint32_t max_source_tokens; /* longest input, end token included; 0: no limit */
  uint32_t max_target_tokens;
  double load_ms;
  /* Added later: */
  int32_t dtype;          /* LAPILLI_DTYPE_... that the device holds; never LAPILLI_DTYPE_AUTO */
  uint32_t fp32_matrices; /* that stay in fp32, since the dtype does not hold their numbers */

  /* What the model takes. Where both of the next are 0, it reads text. */
  uint32_t sample_rate;    /* not 0: it hears, and takes samples of so many a second (LAPILLI_INPUT_SAMPLES) */
  int32_t reads_pictures;  /* not 0: it takes pixels (LAPILLI_INPUT_PIXELS) */
  uint32_t window_samples; /* of a model that hears: it goes through a recording window by window, each of so many
                              samples, and says what it hears in segments with times. 0: it takes a recording as a
                              whole, up to a length that an error tells, and gives one segment */
  uint32_t classes;        /* not 0: it writes nothing, but tells which of so many classes an input belongs to */
  int32_t input_kind;      /* LAPILLI_INPUT_TEXT, _SAMPLES or _PIXELS: what its network reads, also where the directory
                              does not say how that is made of sound or pictures */
  int32_t writes_text;     /* not 0: it has a decoder */
  uint32_t decoder_layers, decoder_heads; /* that a lapilli_attention_choice or lapilli_drawing may name, from 0 */
  int32_t kv_dtype; /* LAPILLI_DTYPE_FP32 or LAPILLI_DTYPE_FP16, of keys and values. A model whose heads are odd in
                       number and width holds them in fp32 whatever it was asked */
  uint32_t reserved;
  const char* commands;        /* which of the program's commands it serves: "lapilli caption or lapilli read" */
  const char* tokenizer_error; /* why there is none; null: there is one */
} lapilli_model_info;

LAPILLI_API lapilli_status lapilli_model_get_info(const lapilli_model* model, lapilli_model_info* info);

/* ---- memory and pauses ------------------------------------------------------------------------------------------ */

/* What a device holds of its memory, in bytes. Memory is held in blocks, so that what is in use (weight_bytes,
 * session_bytes and transfer_bytes together) is less. */
typedef struct lapilli_device_usage {
  uint32_t struct_size;
  int32_t paused;          /* not 0: between lapilli_device_pause and lapilli_device_resume */
  uint64_t held_bytes;     /* taken from the driver */
  uint64_t weight_bytes;   /* of models */
  uint64_t session_bytes;  /* of calls that run, and of sessions that are kept for the next call: caches, activations */
  uint64_t transfer_bytes; /* areas by which host and device hand each other bytes; each session has some */
  uint64_t peak_bytes;     /* the most that was held since the device was opened */
  uint64_t left_bytes;     /* that the driver would still give, as far as it says */
} lapilli_device_usage;

/* Never waits for the device. */
LAPILLI_API lapilli_status lapilli_device_get_usage(const lapilli_device* device, lapilli_device_usage* usage);

/* Stores what is new of what is kept between runs (lapilli_device_options.store, cache_directory), as lapilli_generate,
 * lapilli_model_prepare and the freeing of models and devices do at their end. Jobs do not, for it takes some
 * milliseconds of files: programs that have nothing but jobs and may be killed at any time call it when they have the
 * time, behind a preparation for one. Does nothing without a store; what cannot be stored is a warning in the log. */
LAPILLI_API lapilli_status lapilli_device_store_cache(lapilli_device* device);

/* Writes trace_file (lapilli_device_options) at once with what is known so far, so that a program learns whether it can
 * be written: LAPILLI_NOT_FOUND says why not, such as a full disk. What comes later is written when the device and its
 * models are gone, where all that is left of an error is a message in the log. LAPILLI_INVALID_ARGUMENT without a
 * trace_file. */
LAPILLI_API lapilli_status lapilli_device_write_trace(lapilli_device* device);

/* Gives back what is only kept for later: sessions of its models that no call uses, prepared ones too, areas for
 * transfers, blocks that are empty then. Calls that run go on. A call that comes later makes what it needs again, in
 * some milliseconds, and gives the same. Waits until the device is done with what was submitted before, at most
 * wait_timeout_s. */
LAPILLI_API lapilli_status lapilli_device_trim(lapilli_device* device);
/* The same for the sessions of one model. */
LAPILLI_API lapilli_status lapilli_model_trim(lapilli_model* model);

/* For programs that are sent to the background: from now on nothing is submitted for the device's calls, and what was
 * submitted is waited for, at most wait_timeout_s (then LAPILLI_TIMEOUT; it is paused all the same). A piece of work
 * that another thread is about to submit at that moment still is.
 *
 * Calls of lapilli_generate that are running in other threads stand still until lapilli_device_resume and then go on as
 * if nothing had been: their time-outs do not count the pause, their progress function is asked every 10 ms, and
 * cancelling ends them. So do jobs and loadings that are pumped, which do nothing meanwhile. What is begun while the
 * device is paused and needs it (lapilli_generate, lapilli_job_start, loading a model, lapilli_attention_run) fails
 * with LAPILLI_INVALID_ARGUMENT at once, as a thread that waited there could not resume.
 *
 * From any thread, also from the functions that lapilli_generate calls. To pause twice is to pause once. Memory stays:
 * see lapilli_device_trim, which may be called during a pause. */
LAPILLI_API lapilli_status lapilli_device_pause(lapilli_device* device);
LAPILLI_API lapilli_status lapilli_device_resume(lapilli_device* device);

/* ---- loading in steps ------------------------------------------------------------------------------------------- */

/* A model on its way onto the device, for programs that must not block: pump it in your loop, then take the model. Used
 * by one thread at a time, but for lapilli_load_cancel. */
typedef struct lapilli_load lapilli_load;

/* No limit: of time to work, or to wait. */
#define LAPILLI_UNLIMITED UINT64_MAX

/* As lapilli_model_load_with, but reads nothing yet. What the arguments point to is copied, the device may be closed.
 */
LAPILLI_API lapilli_status lapilli_load_start(lapilli_device* device, const char* directory,
                                              const lapilli_model_options* options, lapilli_load** load);

/* Goes on for about `budget_us` microseconds, and sets *finished (not 0) once the loading has ended, well or not; what
 * it came to lapilli_load_take says. Never waits for the device. The smallest step takes as long as it takes: reading
 * the configuration, one tensor of the weights, the tokenizer's files. */
LAPILLI_API lapilli_status lapilli_load_pump(lapilli_load* load, uint64_t budget_us, int32_t* finished);

/* Pumps until the loading has ended or `timeout_us` microseconds have passed; the thread sleeps where the device is
 * waited for. 0 pumps once, LAPILLI_UNLIMITED waits for the end. For programs without a loop of their own that show how
 * far it is. */
LAPILLI_API lapilli_status lapilli_load_wait(lapilli_load* load, uint64_t timeout_us, int32_t* finished);

/* Bytes of weights that were handed to the device, of all; both 0 until the configuration was read. */
LAPILLI_API lapilli_status lapilli_load_progress(const lapilli_load* load, uint64_t* done_bytes, uint64_t* all_bytes);

/* From any thread. The loading ends at the next pump, that of a lapilli_load_wait too, with LAPILLI_CANCELLED. */
LAPILLI_API void lapilli_load_cancel(lapilli_load* load);

/* After the end: the model, once, or the error. Before it LAPILLI_INVALID_ARGUMENT. */
LAPILLI_API lapilli_status lapilli_load_take(lapilli_load* load, lapilli_model** model);

/* At any time, also before the end; waits for nothing but to close a device that nobody else has. */
LAPILLI_API void lapilli_load_free(lapilli_load* load);

/* ---- generation ------------------------------------------------------------------------------------------------- */

/* Token ids, as a field of structs. With a null pointer: not given. With a pointer and count 0: given, and empty. */
typedef struct lapilli_ids {
  const int32_t* ids;
  size_t count;
} lapilli_ids;

/* What an input is. Which kinds a model takes, lapilli_model_info tells; the others are LAPILLI_UNSUPPORTED. */
enum {
  LAPILLI_INPUT_TEXT = 1,
  LAPILLI_INPUT_IDS = 2,
  LAPILLI_INPUT_SAMPLES = 3,
  LAPILLI_INPUT_PIXELS = 4,
  LAPILLI_INPUT_PICTURE_FILE = 5
};

/* Samples that are asked for while they are worked on, so that a recording of hours need not lie in memory;
 * lapilli_pulled_samples() makes an input of them. The struct is copied; `user` and what it points to must live until
 * the call returns, or the job has ended.
 *
 * `read` is called by the thread that generates or pumps, one call at a time for each input, and calls nothing of
 * Lapilli's but what may be called from any thread. A model of windows reads a recording twice from its beginning to
 * its end, as the loudest moment counts for all features; with `pieces` once more before. */
typedef struct lapilli_sample_source {
  uint32_t struct_size;
  uint32_t reserved; /* 0 */
  uint64_t count;    /* samples in all; at least one */
  void* user;
  /* Writes samples from number `first` on to `to`, which has room for `room` of them (never 0, and never beyond
   * `count`), and says in `got`, which is 0, how many they were: fewer where the recording has ended before its time,
   * and silence follows.
   *
   * `first` is most often where the last call began or behind that, at most half a second before it, or 0; it may be
   * anything after a device was lost. Anything but LAPILLI_OK ends the input: with that status, but for those of whole
   * calls (a lost device, a time-out, a cancellation, a bug), in whose place there is LAPILLI_INVALID_DATA. */
  lapilli_status (*read)(void* user, uint64_t first, float* to, uint64_t room, uint64_t* got);
} lapilli_sample_source;

/* One input; lapilli_text(), lapilli_text_of(), lapilli_tokens(), lapilli_samples(), lapilli_sample_stream(),
 * lapilli_pulled_samples(), lapilli_pixels() and lapilli_picture_file() make them. Fields of other kinds are not read.
 *
 * What is wrong with these fields themselves (null pointers, no samples, another rate than the model's, no pixels, a
 * row that is longer than row_stride) is the call's error; what is wrong with the sound, the picture or its file is the
 * input's own. */
typedef struct lapilli_input {
  uint32_t struct_size;
  int32_t kind;      /* LAPILLI_INPUT_...; one that the library does not know is LAPILLI_UNSUPPORTED, 0 is invalid */
  const char* text;  /* LAPILLI_INPUT_TEXT; LAPILLI_INPUT_PICTURE_FILE: the path of a picture's file, which is read
                        when its turn comes */
  size_t text_bytes; /* LAPILLI_ZERO_TERMINATED: up to the first zero byte */
  lapilli_ids ids;   /* LAPILLI_INPUT_IDS: end token included, no padding */
  /* Added later: */

  /* LAPILLI_INPUT_SAMPLES: one channel of sound, from -1 to 1. What is not of the model's rate is to be resampled
   * before (libsamplerate, "ffmpeg -ar"); at most 2^31 samples are taken at a time. */
  const float* samples;
  size_t sample_count;
  uint32_t sample_rate; /* samples a second: lapilli_model_info.sample_rate */
  int32_t more_samples; /* not 0: the recording goes on: lapilli_job_append_samples brings more of it, until
                           lapilli_job_end_samples. There may be none yet. Of jobs only */
  /* LAPILLI_INPUT_PIXELS: 8 bits a channel, rows from the top, at most 65,535 pixels a side and 2^26 in all. */
  const uint8_t* pixels;
  size_t row_stride;      /* bytes from row to row; 0: width * channels */
  uint32_t width, height; /* in pixels */
  uint32_t channels;      /* bytes of a pixel: 1 (grey), 3 (red, green, blue), 4 (and one that is not read); 0: 3 */
  uint32_t reserved;      /* 0 */
  /* LAPILLI_INPUT_SAMPLES: where they come from, instead of `samples`; null: from there. */
  const lapilli_sample_source* source;
} lapilli_input;
#define LAPILLI_ZERO_TERMINATED ((size_t)-1)

/* Ids that follow each other; lapilli_phrase_of() makes them. */
typedef struct lapilli_phrase {
  uint32_t struct_size;
  lapilli_ids ids; /* at least one */
} lapilli_phrase;

/* Ends the calls of lapilli_generate and the jobs that were given it in lapilli_options, and no others. Once cancelled
 * it stays so: a call that is given it later ends at once. */
typedef struct lapilli_cancel_token lapilli_cancel_token;

LAPILLI_API lapilli_status lapilli_cancel_token_create(lapilli_cancel_token** token);
/* From any thread, also from a signal handler. Returns at once; the calls end after the piece of work that is on the
 * device, with LAPILLI_CANCELLED and the inputs that were finished. */
LAPILLI_API void lapilli_cancel_token_cancel(lapilli_cancel_token* token);
/* Not 0: was cancelled. Null never was. */
LAPILLI_API int32_t lapilli_cancel_token_cancelled(const lapilli_cancel_token* token);
/* Calls that run with it go on, and cannot be cancelled by it any more. */
LAPILLI_API void lapilli_cancel_token_free(lapilli_cancel_token* token);

#define LAPILLI_MODEL_DEFAULT (-1) /* integer option: what the model's generation_config says */
#define LAPILLI_NO_TOKEN (-2)      /* token option: none, even if the model names one */

enum { LAPILLI_EARLY_STOPPING_FALSE = 0, LAPILLI_EARLY_STOPPING_TRUE = 1, LAPILLI_EARLY_STOPPING_NEVER = 2 };

/* Called after each piece of work, from the thread that generates; not 0 cancels. `done` of `total` are finished:
 * inputs, of which one that is run sentence by sentence counts as often as it has sentences. Of recordings that are
 * heard window by window it is hundredths of a second. */
typedef int32_t (*lapilli_progress_function)(void* user, uint64_t done, uint64_t total);

/* What is new of an input. Everything in it is valid during the call of the function only. */
typedef struct lapilli_stream_event {
  uint32_t struct_size; /* the library's */
  size_t input;         /* its index */
  const char* text;     /* zero-terminated, never null; may be "" */
  size_t text_bytes;
  lapilli_ids ids;
} lapilli_stream_event;

/* Called as text comes, from the thread that generates; not 0 cancels. Joined, the texts are the text of that input's
 * best sequence and the ids are its ids: nothing is taken back, no character is given in half (so ids may run ahead of
 * the text). Inputs take turns; within one input everything comes in order. With one beam each step gives an id, with
 * more the ids that all hypotheses share which can still win. */
typedef int32_t (*lapilli_stream_function)(void* user, const lapilli_stream_event* event);

/* Start from lapilli_default_options(). Integers: LAPILLI_MODEL_DEFAULT, floats: NaN, lists: not given leave the
 * decision to the model. Lengths count tokens; max_length and min_length include the start token, the two _new_ ones do
 * not. */
typedef struct lapilli_options {
  uint32_t struct_size;
  int32_t num_beams;            /* 1: greedy */
  int32_t num_return_sequences; /* at most num_beams; where tokens are drawn with one beam, up to 256 */
  int32_t max_length, max_new_tokens, min_length, min_new_tokens;
  int32_t early_stopping; /* LAPILLI_EARLY_STOPPING_... */
  int32_t no_repeat_ngram_size;
  int32_t decoder_start_token, forced_bos_token, forced_eos_token;
  float length_penalty;
  float repetition_penalty;
  lapilli_ids end_tokens;
  lapilli_ids suppress_tokens, begin_suppress_tokens;
  const lapilli_phrase* bad_words; /* must not appear; null: the model's */
  size_t bad_word_count;
  lapilli_ids decoder_prompt; /* the output of every input begins with these */
  const char* json;         /* further options, as generation_config.json writes them; the fields above win. Or null */
  uint32_t batch;           /* inputs worked on together at most; 0: chosen */
  uint32_t steps_in_flight; /* decoder steps a submission; 0: chosen */
  lapilli_progress_function progress;
  void* progress_user;
  /* Added later: */

  /* "translate" or "summarize": the model family's conventions for it, such as words before the input, language tokens
   * and settings; null, "" or "generate": none. */
  const char* task;
  const char* source_language; /* of the inputs; null or "": the model's default, or not needed */
  const char* target_language;
  /* Not 0: texts of several sentences are run sentence by sentence, and put together between the white space of the
   * input; 0: never, and a text that exceeds the model's positions is an error; LAPILLI_MODEL_DEFAULT: if the task is
   * to translate and the text has more than two sentences (Marian, FSMT: more than one) or more than 96 tokens. Where
   * texts may be split, a sentence of more than 128 tokens, or than half of the model's positions, is cut as well: at
   * semicolons and colons, else at commas, else before conjunctions, else between words. Nothing is ever cut off. */
  int32_t split_sentences;
  lapilli_stream_function stream;
  void* stream_user;
  /* One per input, or null: 0, 1, 2, ... What is drawn (do_sample) for an input goes by seed and number: a caller that
   * gives its inputs in several calls numbers them through, so that no two draw alike and none depends on where the
   * calls are cut. */
  const uint64_t* input_numbers;
  const lapilli_cancel_token* cancel_token; /* or null */
  /* Not 0: every sum is made in one order, so that an input's ids and scores do not depend on what runs beside it, in
   * this call or in others. Somewhat slower for single inputs; without it they may differ where the two best
   * continuations are as good as equal (1e-4). */
  int32_t deterministic;
  int32_t reserved; /* 0 */
  /* For samples and pixels; set with others, they are LAPILLI_INVALID_ARGUMENT. Of models that hear, `task` is
   * "transcribe" (what "" means) or "translate", to English; source_language is what is spoken, and where it is not
   * given the first window of each recording decides. Only models of windows know languages, tasks and what follows
   * here. */

  /* Text that comes before: of models that hear, in front of every window, or with condition_on_previous of the first
   * (of a long one its end, as many ids as half of max_target_tokens less one; Whisper: 223);
   * of models that see, what the answer goes on from, with tokens spelled out ("<s_cord-v2>"). Null or "": none. */
  const char* prompt;
  /* A window that came out badly is tried again, each time at the next of these temperatures: 0 searches, above that
   * ids are drawn. Null: it is tried once. Published with Whisper: 0, 0.2, 0.4, 0.6, 0.8, 1; thresholds 2.4, -1, 0.6.
   */
  const float* temperatures;
  size_t temperature_count;
  /* Badly is: its ids repeat themselves so much that they can be packed to less than one part in
   * compression_ratio_threshold (with zlib), or the mean logarithm of their probabilities is below logprob_threshold.
   * One for whose first moment silence is likelier than no_speech_threshold says nothing if the latter holds, and is
   * not tried again. NaN: not looked at. */
  float compression_ratio_threshold, logprob_threshold, no_speech_threshold;
  int32_t condition_on_previous; /* not 0: a window reads what was written in those before it */
  int32_t word_times; /* not 0: words with times (lapilli_result_get_word); takes a further run of each window */
  uint32_t classes;   /* of a picture, so many of the likeliest are told; 0: 5 */
  /* Of recordings that go on, in jobs: whenever so many samples are new, and there is nothing else to do, the window
   * that is not full yet is heard as if it ended there, and LAPILLI_EVENT_DRAFT tells what came of it, beside what is
   * settled, which stays the same. Each takes a run of the encoder over a whole window. 0: no drafts. */
  uint32_t draft_samples;
  /* Not 0: recordings that are there as a whole are cut where they are quiet, in the second half of each window, and so
   * many of the pieces are heard at a time, all in the language of the first window. No window waits for the one before
   * it: it takes less time, and may say something else. Not with condition_on_previous. */
  uint32_t pieces;
  int32_t looks;     /* not 0: what each word looks at is kept, to be drawn: over a recording's segments by
                        lapilli_job_draw_looks, over pictures by lapilli_result_draw_looks */
  int32_t reserved2; /* 0 */
} lapilli_options;

/* Results of one lapilli_generate, or of a job. */
typedef struct lapilli_result lapilli_result;

/* Runs `count` inputs through the model; they are sorted into batches by length, the results keep the order given.
 * An input that cannot be used (invalid UTF-8, too long, ids outside the vocabulary, alone too much for the memory)
 * does not stop the others: its own lapilli_result_get fails. After a cancellation the status is LAPILLI_CANCELLED and
 * *result still holds the finished inputs; after any other error *result is null. */
LAPILLI_API lapilli_status lapilli_generate(lapilli_model* model, const lapilli_input* inputs, size_t count,
                                            const lapilli_options* options, lapilli_result** result);

/* Cancels all calls of lapilli_generate and all jobs that are running on this model, whoever made them, and none that
 * begins later; for one of them see lapilli_cancel_token and lapilli_job_cancel. From any thread, also from a signal
 * handler. */
LAPILLI_API void lapilli_cancel(lapilli_model* model);

/* Why a sequence ends where it does; others call it finish_reason: "stop" (or "eos_token"), and "length". */
enum {
  LAPILLI_FINISH_END = 1,    /* the model wrote an end token */
  LAPILLI_FINISH_LENGTH = 2, /* it was cut at max_length (max_new_tokens), which the model's positions bound: its end
                                may be missing. So is one whose last id is an end token that was forced there
                                (forced_eos_token), for the model had no say in it */
  LAPILLI_FINISH_KEPT = 3    /* the text is the input's: of texts that are to be translated (task "translate"), those
                                that are nothing but URLs, e-mail addresses, numbers and signs are not given to the
                                model, unless there is a decoder_prompt. Score 0, no ids */
};

typedef struct lapilli_sequence {
  uint32_t struct_size;
  uint32_t sequences; /* how many this input has */
  const char* text;   /* zero-terminated; "" if the model has no tokenizer */
  size_t text_bytes;
  lapilli_ids ids; /* without the start token, with the end token */
  float score; /* sum of log-probabilities / generated tokens ^ length_penalty; of several pieces: over all tokens */
  /* Added later: */

  /* ids.count: logarithm of each id's probability as the search saw it, behind all processors (forced ids: 0); NaN for
   * ids of the decoder prompt. Greedy search normalizes what processors leave over, beam search what they are given, so
   * there it need not sum up to 1 over all ids. */
  const float* token_scores;
  size_t pieces; /* runs of the model, and parts that were kept, that this is put together from; 1 unless sentences were
                    split */
  int32_t finish;  /* LAPILLI_FINISH_...; of several pieces: LENGTH if one was cut, KEPT if all were kept */
  int32_t repeats; /* not 0: it ends in a phrase of up to 64 ids that repeats itself, four times or more and for 12 ids
                      or more, and what it was made from does not. It is no good then, and its end is mostly missing.
                      Of recordings: one of its segments does, see lapilli_segment.repeats */
  /* Of the input: how many tokens hold letters, and how many of these the model does not know (its unknown token). If
   * most are unknown, the text is hardly in a language and script of the model's. 0 where ids came in. */
  uint32_t word_tokens, unknown_tokens;
  /* With the task "translate": the first URL, e-mail address or placeholder ({name}, %1$s) of the input that is not in
   * `text` as it stood there; null if they all are. */
  const char* lost_address;
} lapilli_sequence;

/* Sequence `sequence` (0: the best) of input `input`. If that input failed: its status, and lapilli_last_error(). */
LAPILLI_API lapilli_status lapilli_result_get(const lapilli_result* result, size_t input, size_t sequence,
                                              lapilli_sequence* out);

typedef struct lapilli_piece {
  uint32_t struct_size;
  float score;
  const char* text;
  size_t text_bytes;
  lapilli_ids ids;
  size_t source_begin, source_end; /* bytes of the input's text */
  size_t target_begin, target_end; /* bytes of the sequence's text */
  /* Added later, see lapilli_sequence: */

  int32_t finish;
  int32_t repeats;
} lapilli_piece;

/* Piece `piece` of a sequence. Several sequences of an input that was split: the k-th is made of the k-th of each
 * piece. */
LAPILLI_API lapilli_status lapilli_result_get_piece(const lapilli_result* result, size_t input, size_t sequence,
                                                    size_t piece, lapilli_piece* out);

/* What was heard in some seconds of a recording: a sentence or so. Joined, the texts and ids of a recording's segments
 * are those of its sequence. */
typedef struct lapilli_segment {
  uint32_t struct_size;
  uint32_t repeats;  /* not 0: with it the recording's text ends in a phrase that repeats itself, within this segment or
                        over several (see lapilli_sequence.repeats); 0 in drafts */
  double begin, end; /* seconds from the recording's beginning; the end may lie behind that of the recording */
  const char* text;  /* zero-terminated; as the model writes it, most often with a space in front. "" if the model has
                        no tokenizer */
  size_t text_bytes;
  lapilli_ids ids;             /* timestamps included, without an end token */
  const char* language;        /* a code ("en"); null: the model knows no languages */
  size_t words;                /* 0 unless lapilli_options.word_times asks for them */
  float log_probability;       /* mean of its ids; NaN: not known */
  float no_speech_probability; /* that its window begins with silence; NaN: no threshold asked for it */
  /* Added later: */

  double window_begin; /* seconds: where the window begins that it was heard in; 0 where recordings are heard whole */
  int32_t doubtful;    /* not 0: its window came out badly by compression_ratio_threshold or logprob_threshold, at the
                          last of the temperatures */
  int32_t reserved;    /* 0 */
} lapilli_segment;

/* A word of a segment, and when it was heard: what stands between spaces, with the signs that it touches; where a
 * language has no spaces, a character. */
typedef struct lapilli_word {
  uint32_t struct_size;
  float probability; /* the mean of its ids, of all ids of text, whatever the search did with them */
  double begin, end; /* seconds from the recording's beginning */
  const char*
      text; /* zero-terminated, with the space in front; "" if the model has no tokenizer: an id is a word then */
  size_t text_bytes;
  lapilli_ids ids;
} lapilli_word;

/* How many segments a recording has: also of one that was cancelled or has failed those that came before; 0 of other
 * inputs. */
LAPILLI_API lapilli_status lapilli_result_segments(const lapilli_result* result, size_t input, size_t* segments);
LAPILLI_API lapilli_status lapilli_result_get_segment(const lapilli_result* result, size_t input, size_t segment,
                                                      lapilli_segment* out);
/* Word `word` of the lapilli_segment.words of a segment. */
LAPILLI_API lapilli_status lapilli_result_get_word(const lapilli_result* result, size_t input, size_t segment,
                                                   size_t word, lapilli_word* out);

/* A class that a picture belongs to. */
typedef struct lapilli_class {
  uint32_t struct_size;
  uint32_t index;    /* among the model's classes */
  const char* label; /* of the model's config.json; "" if it has none */
  double score;      /* as the model says it (logit) */
  double probability;
} lapilli_class;

/* How many classes are told of an input, and the one at `rank`, 0 being the likeliest. That one's label is the text of
 * the input's sequence, and the logarithm of its probability the score. */
LAPILLI_API lapilli_status lapilli_result_classes(const lapilli_result* result, size_t input, size_t* classes);
LAPILLI_API lapilli_status lapilli_result_get_class(const lapilli_result* result, size_t input, size_t rank,
                                                    lapilli_class* out);

typedef struct lapilli_stats {
  uint32_t struct_size;
  uint32_t batches;
  double load_ms;   /* of the model */
  double encode_ms; /* wall clock of the encoder, then of the decoder with its search */
  double decode_ms;
  double total_ms; /* of the call, tokenizer included */
  uint64_t source_tokens;
  uint64_t generated_tokens; /* of the best sequences */
  uint64_t decoder_steps;
  uint64_t submissions;
  uint64_t pipelines;         /* made on the device since it was opened */
  uint64_t device_bytes_peak; /* since the device was opened */
  uint64_t host_bytes_peak;   /* of the process; 0: unknown */
  /* Added later: */

  uint64_t self_test_cases;      /* run on the device since it was opened */
  uint64_t pipeline_cache_bytes; /* that an earlier run kept and the driver was given when the device was opened */
  double read_ms;                /* of total_ms: reading pictures, and making of them what the model takes */
  uint64_t tuned_nodes; /* of a decoder step and an encode pass together, those that ran as lapilli_model_tune or
                           "lapilli tune" found to be fastest; of the search that had the most */
} lapilli_stats;

LAPILLI_API lapilli_status lapilli_result_get_stats(const lapilli_result* result, lapilli_stats* stats);
LAPILLI_API void lapilli_result_free(lapilli_result* result);

/* ---- tokens ----------------------------------------------------------------------------------------------------- */

/* Ids that lapilli_generate would give the model for this text with the same task and languages (no other option
 * matters; null: none): the words and tokens that the task brings included, and the end token. The text is one piece,
 * whatever split_sentences says, and may be longer than the model's positions.
 *
 * `ids` has room for `capacity` ids, and *count says how many there are. If there is too little room,
 * LAPILLI_INVALID_ARGUMENT, and nothing is written to `ids`; with a null pointer and capacity 0 they are only counted.
 * LAPILLI_UNSUPPORTED where the model has no tokenizer.
 *
 *   size_t count = 0;
 *   lapilli_input text = lapilli_text("Where is the station?");
 *   if (lapilli_model_encode(model, &text, NULL, NULL, 0, &count) == LAPILLI_OK) {
 *     int32_t* ids = malloc(count * sizeof *ids);
 *     if (ids) lapilli_model_encode(model, &text, NULL, ids, count, &count);
 *   }
 */
LAPILLI_API lapilli_status lapilli_model_encode(const lapilli_model* model, const lapilli_input* text,
                                                const lapilli_options* options, int32_t* ids, size_t capacity,
                                                size_t* count);

/* How many these are, to compare with max_source_tokens. */
LAPILLI_API lapilli_status lapilli_model_count_tokens(const lapilli_model* model, const lapilli_input* text,
                                                      const lapilli_options* options, size_t* count);

/* Text of ids that the decoder writes (lapilli_tokens()), special tokens left out unless `keep_special` is not 0.
 *
 * `text` has room for `capacity` bytes, the zero at the end included, and *bytes says how many there are, without it.
 * If there is too little room, as lapilli_model_encode; with a null pointer and capacity 0 they are only counted. */
LAPILLI_API lapilli_status lapilli_model_decode(const lapilli_model* model, const lapilli_input* ids,
                                                int32_t keep_special, char* text, size_t capacity, size_t* bytes);

/* ---- jobs ------------------------------------------------------------------------------------------------------- */

/* What lapilli_generate does, for programs that have a loop of their own and must not block in it:
 *
 *   lapilli_job_start(model, &input, 1, &options, &job);
 *   in each frame:
 *     lapilli_job_pump(job, 1000, &finished);
 *     while (lapilli_job_next_event(job, &event, &has) == LAPILLI_OK && has) show(&event);
 *   once it is finished:
 *     lapilli_job_take(job, &result);
 *     lapilli_job_free(job);
 *
 * A job is used by one thread at a time, but for lapilli_job_cancel, and for lapilli_model_pump, which may run beside
 * the thread that uses the job. Any number of jobs of one model run at once, also from several threads: they share its
 * memory, and who is pumped pumps for the others. Only lapilli_job_wait and lapilli_model_prepare wait for the device.
 * A job keeps what it needs: the model's handle may be freed.
 *
 * Functions fail for wrong arguments only: what becomes of the job is told by its events and by lapilli_job_take. */
typedef struct lapilli_job lapilli_job;

/* Inputs and options are checked as by lapilli_generate, and copied. lapilli_options.progress and .stream must be null:
 * events tell it. Inputs are begun in the order given. A cancel token and lapilli_cancel end jobs, too. */
LAPILLI_API lapilli_status lapilli_job_start(lapilli_model* model, const lapilli_input* inputs, size_t count,
                                             const lapilli_options* options, lapilli_job** job);

/* Goes on: submits work of about `budget_us` microseconds of the device (estimated), looks at what has come back, and
 * reads and writes texts for about so long, at least one input or piece. *finished (may be null) becomes not 0 once the
 * job has ended, well or not. Never waits for the device. */
LAPILLI_API lapilli_status lapilli_job_pump(lapilli_job* job, uint64_t budget_us, int32_t* finished);

/* Pumps until the job has ended or `timeout_us` microseconds have passed; the thread sleeps in between. 0 pumps once,
 * LAPILLI_UNLIMITED waits for the end, or until the device has made no progress for the device's wait_timeout_s.
 *
 * Returns before that, with *finished 0, if nothing can be done before more samples come. */
LAPILLI_API lapilli_status lapilli_job_wait(lapilli_job* job, uint64_t timeout_us, int32_t* finished);

/* For programs of many jobs, say a server with a thread for each connection: one thread pumps all jobs of a model that
 * lapilli_job_start and lapilli_job_prepare have made and that have not ended, in the order in which they were started.
 *
 *   while (serving) {
 *     lapilli_model_pump(model, LAPILLI_UNLIMITED, NULL);
 *     lapilli_model_wait(model, 100000);
 *   }
 *
 * The other threads start jobs, read their events, cancel, take and free them meanwhile. While a thread is in one of
 * these two functions, lapilli_job_wait leaves the pumping to it, and only sleeps.
 *
 * `budget_us` is as for lapilli_job_pump, but for all jobs together; each goes on by its least piece of work at least.
 * A job that another thread is using at the moment is left to that thread. *running (may be null) becomes the number of
 * jobs that have not ended. Never waits for the device. Any thread may call it, also several at once. Fails with
 * LAPILLI_INVALID_ARGUMENT if `model` is null, and with LAPILLI_OUT_OF_MEMORY, which ends one job. */
LAPILLI_API lapilli_status lapilli_model_pump(lapilli_model* model, uint64_t budget_us, size_t* running);

/* Sleeps until lapilli_model_pump may go on, at most `timeout_us` microseconds; it pumps nothing itself. A job that is
 * started, resumed or cancelled and samples that come end it at once, also if they did after the last
 * lapilli_model_pump began.
 *
 * While jobs are at work on the device it returns after some 200 microseconds, while all of them wait for samples or
 * for the end of a pause after some 10,000; lapilli_cancel and cancel tokens, which signal handlers may use, are seen
 * then. Without jobs it sleeps until one is started. Fails only if `model` is null; the model must not be freed
 * meanwhile. */
LAPILLI_API lapilli_status lapilli_model_wait(lapilli_model* model, uint64_t timeout_us);

/* More samples of input `input`, a recording that is going on (lapilli_input.more_samples): at its rate, in pieces of
 * any size, which do not matter to what comes out. They are copied; a model of windows lets go of what it has heard,
 * one that takes recordings as a whole keeps all.
 *
 * Fails, and takes none of them, if a sample is no sound, if the recording would become longer than the model takes, if
 * it has ended or the job has: LAPILLI_INVALID_DATA or LAPILLI_INVALID_ARGUMENT. */
LAPILLI_API lapilli_status lapilli_job_append_samples(lapilli_job* job, size_t input, const float* samples,
                                                      size_t count);
/* There are no more. A job ends once all of its recordings have, and what was heard is written. */
LAPILLI_API lapilli_status lapilli_job_end_samples(lapilli_job* job, size_t input);
/* *wants becomes not 0 if the job can do nothing before more samples come. */
LAPILLI_API lapilli_status lapilli_job_wants_samples(const lapilli_job* job, int32_t* wants);

/* Goes on with a job that has ended with LAPILLI_DEVICE_LOST, on any device: `model` is loaded from the files of the
 * job's first one. Inputs that had ended stay as they are, the others are run again; of what was told of them nothing
 * is told again or contradicted (see "a lost device"). Events go on: ERROR and END that were not asked for
 * yet are gone, and the job ends anew. LAPILLI_INVALID_ARGUMENT: the job has not ended so, or the model cannot be the
 * same one; nothing has changed then. Waits for nothing. */
LAPILLI_API lapilli_status lapilli_job_resume(lapilli_job* job, lapilli_model* model);

/* Ends this job alone: at its next pump, with the inputs that were finished. From any thread. */
LAPILLI_API void lapilli_job_cancel(lapilli_job* job);

/* After the end, once: the result, as lapilli_generate gives it. LAPILLI_CANCELLED comes with the inputs that were
 * finished, any other error with none. Before the end, and the second time, LAPILLI_INVALID_ARGUMENT. */
LAPILLI_API lapilli_status lapilli_job_take(lapilli_job* job, lapilli_result** result);

/* At any time: a job that has not ended is cancelled. Waits for nothing but to close a device that nobody else has. */
LAPILLI_API void lapilli_job_free(lapilli_job* job);

/* Later versions may bring kinds that a program does not know: it leaves them out. */
enum {
  LAPILLI_EVENT_TEXT = 1,     /* of.text: an input's best sequence has become longer */
  LAPILLI_EVENT_PROGRESS = 2, /* of.progress */
  LAPILLI_EVENT_INPUT = 3,    /* of.input: an input has ended; one for each, unless the job fails as a whole */
  LAPILLI_EVENT_ERROR = 4,    /* of.error: the job failed as a whole, or was cancelled */
  LAPILLI_EVENT_END = 5,      /* of.end: the last event, always */
  LAPILLI_EVENT_SEGMENT = 6,  /* of.segment: a segment of a recording is settled; its text and ids were told before, by
                                 LAPILLI_EVENT_TEXT */
  LAPILLI_EVENT_DRAFT = 7 /* of.draft: what may be said at the end of what has come (lapilli_options.draft_samples) */
};

/* As lapilli_stream_event: joined, an input's texts and ids are those of its best sequence in the result. */
typedef struct lapilli_event_text {
  uint64_t input;   /* its index */
  const char* text; /* zero-terminated, never null; may be "" */
  size_t text_bytes;
  lapilli_ids ids;
} lapilli_event_text;

/* As lapilli_segment, of segment `segment` of input `input`. Words are asked for with lapilli_job_get_word. */
typedef struct lapilli_event_segment {
  uint64_t input, segment;
  double begin, end;
  const char* text;
  size_t text_bytes;
  lapilli_ids ids;
  const char* language;
  size_t words;
  float log_probability, no_speech_probability;
} lapilli_event_segment;

/* A recording's segments that are not settled, which lapilli_job_get_draft gives. They replace those of the draft
 * before, and are void when a segment of the recording is settled, or it has ended. */
typedef struct lapilli_event_draft {
  uint64_t input;
  size_t segments; /* 0: nothing may be said */
} lapilli_event_draft;

/* `done` of `total` as in lapilli_progress_function; `tokens` were written so far. */
typedef struct lapilli_event_progress {
  uint64_t done, total, tokens;
} lapilli_event_progress;

typedef struct lapilli_event_input {
  uint64_t input;
  const char* message; /* never null; "" if it is LAPILLI_OK */
  lapilli_status status;
  int32_t reserved;
} lapilli_event_input;

typedef struct lapilli_event_error {
  const char* message;
  lapilli_status status;
  int32_t reserved;
} lapilli_event_error;

typedef struct lapilli_event_end {
  lapilli_status status; /* what lapilli_job_take will say */
  int32_t reserved;
} lapilli_event_end;

typedef struct lapilli_event {
  uint32_t struct_size;
  int32_t kind; /* LAPILLI_EVENT_... */
  union {
    lapilli_event_text text;
    lapilli_event_progress progress;
    lapilli_event_input input;
    lapilli_event_error error;
    lapilli_event_end end;
    lapilli_event_segment segment;
    lapilli_event_draft draft;
    uint64_t reserved[16]; /* no kind is larger, also later */
  } of;
} lapilli_event;

/* The next event that the job has not told, if there is one: *has becomes not 0. Its pointers are valid until the next
 * call of this function with this job, or its freeing. Events wait for who asks late: texts of one input are joined,
 * only the latest progress and each input's latest draft are kept, and none that is void. */
LAPILLI_API lapilli_status lapilli_job_next_event(lapilli_job* job, lapilli_event* event, int32_t* has);

/* Word `word` of the LAPILLI_EVENT_SEGMENT that lapilli_job_next_event has told last; valid as long as that. */
LAPILLI_API lapilli_status lapilli_job_get_word(const lapilli_job* job, size_t word, lapilli_word* out);

/* Segment `segment` of the LAPILLI_EVENT_DRAFT that lapilli_job_next_event has told last, and word `word` of it; valid
 * as long as that. */
LAPILLI_API lapilli_status lapilli_job_get_draft(const lapilli_job* job, size_t segment, lapilli_segment* out);
LAPILLI_API lapilli_status lapilli_job_get_draft_word(const lapilli_job* job, size_t segment, size_t word,
                                                      lapilli_word* out);

/* What jobs will be like; lapilli_default_shape() makes one. */
typedef struct lapilli_shape {
  uint32_t struct_size;
  uint32_t inputs;        /* worked on at a time, by all jobs together; of texts that are split, sentences. 0: 1 */
  uint32_t source_tokens; /* of the longest (of a split text: sentence), end token included. 0: 128, or what the model
                             has positions for */
  uint32_t target_tokens; /* that are written of the longest; 0: what hardly any translation of it exceeds */
  const lapilli_options* options; /* of the jobs; null: the defaults. Beams, sampling, decoder_prompt, deterministic,
                                     steps_in_flight and how many end tokens there are make the shape */
} lapilli_shape;

/* Makes the pipelines that jobs of this shape need, tests them, takes the memory for such jobs, which the model then
 * keeps until it is freed or trimmed, and runs one input of two tokens. Jobs within the shape create and allocate
 * nothing then, in lapilli_job_start neither: those with the shape's options, no more lists of tokens than these, and
 * no longer sources.
 *
 * Inputs beyond the shape's number wait for a place, unless lapilli_options.batch asks for more at a time. Where texts
 * come out longer than target_tokens, the room grows. Waits; for a loop see lapilli_job_prepare. */
LAPILLI_API lapilli_status lapilli_model_prepare(lapilli_model* model, const lapilli_shape* shape);

/* The same as a job without inputs, which is pumped like any other; its result is empty. */
LAPILLI_API lapilli_status lapilli_job_prepare(lapilli_model* model, const lapilli_shape* shape, lapilli_job** job);

/* ---- tuning ----------------------------------------------------------------------------------------------------- */

/* What was found. */
typedef struct lapilli_tuning {
  uint32_t struct_size;
  uint32_t choices; /* that are kept for this device now, of all models and shapes */
  /* The time that dispatches take one by one, with what was found over without it; 1: what there was stays. */
  double step_ratio, encode_ratio;
  int32_t complete; /* not 0: everything was tried; 0: what was not may be faster yet */
  int32_t reserved;
} lapilli_tuning;

/* Finds the fastest kernels for jobs of this shape on this device: each candidate is compared with its reference, then
 * timed in turn with what stands, whose place it takes if it is 5 % faster, twice. What is found is kept with the rest
 * that is (lapilli_device_options.store, cache_directory; without either it is LAPILLI_INVALID_ARGUMENT) and takes
 * effect for models on devices that are opened later: results may then differ in the last bits, as they do between
 * devices. "lapilli tune" does the same, and says more; --forget takes it back.
 *
 * For loading screens and settings. Waits; takes no longer than about `seconds` (at least 0, finite), and memory for a
 * session of its own. Of the shape's options num_beams, deterministic (then among ways that sum in one order alone),
 * cancel_token and progress count, which is told milliseconds of all; source_tokens 0 is 32, target_tokens 0 is 64.
 * Cancelled, also by lapilli_cancel, it returns LAPILLI_CANCELLED and keeps what it had found. `found` may be null; it
 * is filled in either case. LAPILLI_UNSUPPORTED: the model has no decoder. */
LAPILLI_API lapilli_status lapilli_model_tune(lapilli_model* model, const lapilli_shape* shape, double seconds,
                                              lapilli_tuning* found);

/* ---- a lost device ---------------------------------------------------------------------------------------------- */

/* Drivers are reset, updated, or time out; GPUs are unplugged. What was on the device is gone then.
 *
 * Own        A device that lapilli_device_open opened is opened anew by whatever needs it first: the same GPU, with the
 *            same options. Loads begin anew; models are loaded again when they are next used, each once for all its
 *            jobs, from their directory, or from the host's files if these stay (lapilli_model_options.files_stay);
 *            jobs, lapilli_generate, lapilli_model_prepare and lapilli_attention_run go on. All handles stay valid.
 *
 *            lapilli_load_pump and lapilli_job_pump do this in their steps; opening the device is one of them and takes
 *            as long as it takes. The log has a warning.
 *
 * Told       Inputs that had ended stay as they are. The others are run again from their beginning, which on the same
 *            device gives what an undisturbed run gives; events and streams go on behind what they have told. Where the
 *            second run comes to something else (another driver or device), it is run once more with what was told as
 *            its given beginning: the result then begins with that, its lengths count from where they did, and these
 *            ids have no token scores, like those of a decoder_prompt. So nothing is told twice, or contradicted.
 *
 * Adopted    What runs on a host's device ends with LAPILLI_DEVICE_LOST. The host frees the handles of models and
 *            device, destroys its own, makes another, adopts it, loads the model there; lapilli_job_resume goes on with
 *            each job, in the same way. A job that has ended so holds nothing of the device.
 *
 * Errors     LAPILLI_DEVICE_LOST says in its message what helps. A job rides out one loss by itself; a second one ends
 *            it, as the work may be what the device does not bear. A device that is lost again before it has done
 *            anything is not opened another time. lapilli_job_resume may be tried after any of these. */

/* ---- attention and alignment ------------------------------------------------------------------------------------ */

/* Attention weights of one run of the model: what its layers looked at while one sequence was written. The sequence is
 * run once more for it, so the weights are those of its own tokens, also after a beam search. */
typedef struct lapilli_attention lapilli_attention;

enum { LAPILLI_ATTENTION_CROSS = 0, LAPILLI_ATTENTION_ENCODER = 1, LAPILLI_ATTENTION_DECODER = 2 };
#define LAPILLI_ATTENTION_MEAN (-1) /* layer or head: the mean of all */
#define LAPILLI_ATTENTION_ALL (-2)  /* layer or head: each of them; only as JSON */

/* How many pieces made sequence `sequence` of input `input`: 1, or more where a long input was split. */
LAPILLI_API lapilli_status lapilli_result_pieces(const lapilli_result* result, size_t input, size_t sequence,
                                                 size_t* pieces);

/* Attention of one of those pieces. `model` is the one that gave the result. Of one that was kept (LAPILLI_FINISH_KEPT)
 * there are no tokens and no weights, and to ask for them is LAPILLI_INVALID_ARGUMENT; in its alignment each word
 * belongs to itself. */
LAPILLI_API lapilli_status lapilli_attention_run(lapilli_model* model, const lapilli_result* result, size_t input,
                                                 size_t sequence, size_t piece, lapilli_attention** attention);
LAPILLI_API void lapilli_attention_free(lapilli_attention* attention);

/* Row-major: [layers, heads, rows, columns], each row with the sum 1. Cross attention: a row per target token, namely
 * the weights of the step that reads this token and writes the next; a column per source token. Encoder: source by
 * source, decoder: target by target. */
typedef struct lapilli_attention_map {
  uint32_t struct_size;
  uint32_t layers, heads, rows, columns;
  const float* values;
} lapilli_attention_map;

LAPILLI_API lapilli_status lapilli_attention_get_map(const lapilli_attention* attention, int32_t kind,
                                                     lapilli_attention_map* map);

/* A token with the bytes that it stands for: of the input's text for source tokens, of the sequence's for others. */
typedef struct lapilli_attention_token {
  uint32_t struct_size;
  int32_t id;
  int32_t special;   /* not 0: stands for no text (end token, language token, ids without text); begin and end are 0 */
  const char* label; /* the text it stands for, else its name */
  uint64_t begin, end;
} lapilli_attention_token;

/* `target` 0: source tokens, 1: target tokens, the start token first. */
LAPILLI_API lapilli_status lapilli_attention_get_token(const lapilli_attention* attention, int32_t target, size_t index,
                                                       lapilli_attention_token* token);

typedef struct lapilli_attention_choice {
  uint32_t struct_size;
  int32_t kind;        /* LAPILLI_ATTENTION_CROSS, ... */
  int32_t layer, head; /* from 0, LAPILLI_ATTENTION_MEAN or _ALL */
} lapilli_attention_choice;

/* Tokens and weights as JSON, or as a picture: as SVG, whose labels a viewer shows in any script, or as PNG, whose
 * labels are simple (left to right, one glyph a code point, [4F60] for what the system's font lacks). Null choice:
 * cross attention, mean of layers and heads. What is given out is valid until the next call of that function with this
 * attention. */
LAPILLI_API lapilli_status lapilli_attention_json(lapilli_attention* attention, const lapilli_attention_choice* choice,
                                                  const char** json);
LAPILLI_API lapilli_status lapilli_attention_svg(lapilli_attention* attention, const lapilli_attention_choice* choice,
                                                 const char** svg);
LAPILLI_API lapilli_status lapilli_attention_png(lapilli_attention* attention, const lapilli_attention_choice* choice,
                                                 const uint8_t** png, size_t* bytes);

/* A source word and a target word that belong together, as bytes of the input's text and of the sequence's. */
typedef struct lapilli_word_link {
  uint32_t struct_size;
  float weight; /* part of the target word's attention, 0 to 1 */
  uint64_t source_begin, source_end, target_begin, target_end;
  uint32_t source_word, target_word; /* counted from 0 within this run */
} lapilli_word_link;

/* Finds word pairs by cross attention of `layer` (LAPILLI_ATTENTION_MEAN: all), in the order of the target, and says
 * how many. They stay with the attention until the next call of this function. Needs texts: LAPILLI_INVALID_ARGUMENT
 * where ids came in. No links where the model said nothing. */
LAPILLI_API lapilli_status lapilli_attention_align(lapilli_attention* attention, int32_t layer, size_t* links);

/* Link `index` of those that lapilli_attention_align found last. */
LAPILLI_API lapilli_status lapilli_attention_get_link(const lapilli_attention* attention, size_t index,
                                                      lapilli_word_link* link);

/* ---- what words looked at, drawn --------------------------------------------------------------------------------- */

enum { LAPILLI_DRAWING_SVG = 1, LAPILLI_DRAWING_PNG = 2 };

/* Start from lapilli_default_drawing(). */
typedef struct lapilli_drawing {
  uint32_t struct_size;
  int32_t format; /* LAPILLI_DRAWING_SVG, whose labels a viewer shows in any script, or _PNG, whose labels are simple */
  int32_t layer, head; /* of pictures: of the decoder from 0, or LAPILLI_ATTENTION_MEAN; of segments always the mean of
                          the heads that tell when words are said */
  const lapilli_cancel_token* cancel_token; /* or null */
} lapilli_drawing;

/* A sheet that has a picture, or a segment's spectrogram with low sounds below, once for each word, and over it in
 * orange what was looked at while the word was written, as the bytes of a file. Of inputs and segments with
 * lapilli_options.looks; LAPILLI_INVALID_DATA where there are no words.
 *
 * The segment is that of the LAPILLI_EVENT_SEGMENT that was told last: so much of each is not kept. A picture is that
 * of an input, looked at by its best sequence, which is run once more; waits for the device. `model` is the one that
 * gave the result. The bytes are valid until the next event of the job, the next call with the result, or the freeing.
 */
LAPILLI_API lapilli_status lapilli_job_draw_looks(lapilli_job* job, const lapilli_drawing* drawing,
                                                  const uint8_t** file, size_t* bytes);
LAPILLI_API lapilli_status lapilli_result_draw_looks(lapilli_model* model, lapilli_result* result, size_t input,
                                                     const lapilli_drawing* drawing, const uint8_t** file,
                                                     size_t* bytes);

/* ---- the package ------------------------------------------------------------------------------------------------- */

/* Where the package that a program is compiled with has its models: find_package(lapilli) defines LAPILLI_MODELS_DIR,
 * pkg-config LAPILLI_PACKAGED (a shell would keep the quotes of a path), by which they lie where this header says. A
 * static library is within the program, wherever that lies, and finds the bundled model by this, if nowhere nearer. */
#if defined(LAPILLI_PACKAGED) && !defined(LAPILLI_MODELS_DIR)
#define LAPILLI_MODELS_DIR __FILE__ "/../../../share/lapilli/models"
#endif
#if defined(LAPILLI_MODELS_DIR) && defined(__GNUC__) && !defined(_WIN32)
extern __attribute__((weak)) const char lapilli_package_models[];
const char lapilli_package_models[] = LAPILLI_MODELS_DIR;
#endif

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

/* They set struct_size as the program is compiled, and copy pointers only: what these point to is the caller's. */

/* `bytes` of UTF-8, which need not end with a zero. */
static inline lapilli_input lapilli_text_of(const char* text, size_t bytes) {
  lapilli_input input;
  input.struct_size = (uint32_t)sizeof(lapilli_input);
  input.kind = LAPILLI_INPUT_TEXT;
  input.text = text;
  input.text_bytes = bytes;
  input.ids.ids = NULL;
  input.ids.count = 0;
  input.samples = NULL;
  input.sample_count = 0;
  input.sample_rate = 0;
  input.more_samples = 0;
  input.pixels = NULL;
  input.row_stride = 0;
  input.width = input.height = input.channels = input.reserved = 0;
  input.source = NULL;
  return input;
}

static inline lapilli_input lapilli_text(const char* text) { return lapilli_text_of(text, LAPILLI_ZERO_TERMINATED); }

/* Token ids, end token included. */
static inline lapilli_input lapilli_tokens(const int32_t* ids, size_t count) {
  lapilli_input input = lapilli_text_of(NULL, 0);
  input.kind = LAPILLI_INPUT_IDS;
  input.ids.ids = ids;
  input.ids.count = count;
  return input;
}

/* A recording of `count` samples, `rate` of them a second, which is the model's. */
static inline lapilli_input lapilli_samples(const float* samples, size_t count, uint32_t rate) {
  lapilli_input input = lapilli_text_of(NULL, 0);
  input.kind = LAPILLI_INPUT_SAMPLES;
  input.samples = samples;
  input.sample_count = count;
  input.sample_rate = rate;
  return input;
}

/* A recording that is going on: lapilli_job_append_samples brings its samples. */
static inline lapilli_input lapilli_sample_stream(uint32_t rate) {
  lapilli_input input = lapilli_samples(NULL, 0, rate);
  input.more_samples = 1;
  return input;
}

/* A recording whose samples are asked for, `rate` of them a second. */
static inline lapilli_input lapilli_pulled_samples(const lapilli_sample_source* source, uint32_t rate) {
  lapilli_input input = lapilli_samples(NULL, 0, rate);
  input.source = source;
  return input;
}

/* A picture: red, green, blue, a byte each, and rows without gaps. */
static inline lapilli_input lapilli_pixels(const uint8_t* pixels, uint32_t width, uint32_t height) {
  lapilli_input input = lapilli_text_of(NULL, 0);
  input.kind = LAPILLI_INPUT_PIXELS;
  input.pixels = pixels;
  input.width = width;
  input.height = height;
  return input;
}

/* A picture of a file: PNG, JPEG, GIF, BMP, and with libwebp and libtiff WebP and TIFF. */
static inline lapilli_input lapilli_picture_file(const char* path) {
  lapilli_input input = lapilli_text(path);
  input.kind = LAPILLI_INPUT_PICTURE_FILE;
  return input;
}

static inline lapilli_phrase lapilli_phrase_of(const int32_t* ids, size_t count) {
  lapilli_phrase phrase;
  phrase.struct_size = (uint32_t)sizeof(lapilli_phrase);
  phrase.ids.ids = ids;
  phrase.ids.count = count;
  return phrase;
}

/* A file of so many bytes in memory. */
static inline lapilli_file_part lapilli_file_in_memory(const char* name, const void* memory, uint64_t bytes) {
  lapilli_file_part part;
  part.struct_size = (uint32_t)sizeof(lapilli_file_part);
  part.kind = LAPILLI_FILE_MEMORY;
  part.name = name;
  part.memory = memory;
  part.descriptor = -1;
  part.offset = 0;
  part.bytes = bytes;
  return part;
}

/* A file that is a range of one that is open. */
static inline lapilli_file_part lapilli_file_in_descriptor(const char* name, int64_t descriptor, uint64_t offset,
                                                           uint64_t bytes) {
  lapilli_file_part part = lapilli_file_in_memory(name, NULL, bytes);
  part.kind = LAPILLI_FILE_DESCRIPTOR;
  part.descriptor = descriptor;
  part.offset = offset;
  return part;
}

static inline lapilli_device_options lapilli_default_device_options(void) {
  lapilli_device_options o;
  o.struct_size = (uint32_t)sizeof(lapilli_device_options);
  o.validation = 0;
  o.select = o.caps = NULL;
  o.wait_timeout_s = 0;
  o.refuse_cpu = o.ignore_environment = o.low_priority = o.debug_names = 0;
  o.log = NULL;
  o.log_user = NULL;
  o.log_level = LAPILLI_LOG_NOTE;
  o.max_submit_us = 0;
  o.store = NULL;
  o.cache_directory = NULL;
  o.workers = NULL;
  o.trace_file = NULL;
  o.gap_us = o.reserved1 = 0;
  o.memory_limit = 0;
  return o;
}

static inline lapilli_host_device lapilli_default_host_device(void) {
  lapilli_host_device h;
  h.struct_size = (uint32_t)sizeof(lapilli_host_device);
  h.api_version = h.queue_family = 0;
  h.get_instance_proc_addr = h.instance = h.physical_device = h.device = h.queue = NULL;
  h.append = 0;
  h.extensions = NULL;
  h.extension_count = 0;
  h.timeline_semaphore = h.storage_16bit = h.shader_float16 = h.storage_8bit = h.shader_int8 = 0;
  h.integer_dot_product = h.subgroup_size_control = h.reserved = 0;
  h.user = NULL;
  h.lock_queue = h.unlock_queue = NULL;
  h.submit = NULL;
  return h;
}

static inline lapilli_store lapilli_default_store(void) {
  lapilli_store s;
  s.struct_size = (uint32_t)sizeof(lapilli_store);
  s.reserved = 0;
  s.user = NULL;
  s.load = NULL;
  s.store = NULL;
  return s;
}

static inline lapilli_workers lapilli_default_workers(void) {
  lapilli_workers w;
  w.struct_size = (uint32_t)sizeof(lapilli_workers);
  w.reserved = 0;
  w.user = NULL;
  w.run = NULL;
  return w;
}

static inline lapilli_model_options lapilli_default_model_options(void) {
  lapilli_model_options o;
  o.struct_size = (uint32_t)sizeof(lapilli_model_options);
  o.memory_limit = 0;
  o.files = NULL;
  o.parts = NULL;
  o.part_count = 0;
  o.files_stay = 0;
  o.dtype = LAPILLI_DTYPE_FP32;
  o.kv_dtype = LAPILLI_DTYPE_FP32;
  o.reserved = 0;
  return o;
}

static inline lapilli_sample_source lapilli_default_sample_source(void) {
  lapilli_sample_source s;
  s.struct_size = (uint32_t)sizeof(lapilli_sample_source);
  s.reserved = 0;
  s.user = NULL;
  s.count = 0;
  s.read = NULL;
  return s;
}

static inline lapilli_drawing lapilli_default_drawing(void) {
  lapilli_drawing d;
  d.struct_size = (uint32_t)sizeof(lapilli_drawing);
  d.format = LAPILLI_DRAWING_SVG;
  d.layer = d.head = LAPILLI_ATTENTION_MEAN;
  d.cancel_token = NULL;
  return d;
}

static inline lapilli_shape lapilli_default_shape(void) {
  lapilli_shape shape;
  shape.struct_size = (uint32_t)sizeof(lapilli_shape);
  shape.inputs = shape.source_tokens = shape.target_tokens = 0;
  shape.options = NULL;
  return shape;
}

static inline lapilli_options lapilli_default_options(void) {
  lapilli_options o;
  const lapilli_ids not_given = {NULL, 0};
  o.struct_size = (uint32_t)sizeof(lapilli_options);
  o.num_beams = o.num_return_sequences = LAPILLI_MODEL_DEFAULT;
  o.max_length = o.max_new_tokens = o.min_length = o.min_new_tokens = LAPILLI_MODEL_DEFAULT;
  o.early_stopping = o.no_repeat_ngram_size = LAPILLI_MODEL_DEFAULT;
  o.decoder_start_token = o.forced_bos_token = o.forced_eos_token = LAPILLI_MODEL_DEFAULT;
  o.length_penalty = o.repetition_penalty = NAN;
  o.end_tokens = o.suppress_tokens = o.begin_suppress_tokens = o.decoder_prompt = not_given;
  o.bad_words = NULL;
  o.bad_word_count = 0;
  o.json = NULL;
  o.batch = o.steps_in_flight = 0;
  o.progress = NULL;
  o.progress_user = NULL;
  o.task = o.source_language = o.target_language = NULL;
  o.split_sentences = LAPILLI_MODEL_DEFAULT;
  o.stream = NULL;
  o.stream_user = NULL;
  o.input_numbers = NULL;
  o.cancel_token = NULL;
  o.deterministic = 0;
  o.reserved = 0;
  o.prompt = NULL;
  o.temperatures = NULL;
  o.temperature_count = 0;
  o.compression_ratio_threshold = o.logprob_threshold = o.no_speech_threshold = NAN;
  o.condition_on_previous = o.word_times = 0;
  o.classes = 0;
  o.draft_samples = o.pieces = 0;
  o.looks = o.reserved2 = 0;
  return o;
}

#ifdef __cplusplus
}
#endif

#endif /* LAPILLI_LAPILLI_H */
