/* clang-format off: it would fill the paragraphs of this manual together. */
/* Lapilli runs Transformer encoder-decoder models (translation first) on any Vulkan 1.1 device. This is its C
 * interface.
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
 * The sections come in the order in which a program needs them: errors, loading a model, inputs, options, generation,
 * results, tokens, jobs, attention; then devices, the host's files, stores, workers, and the host's own device.
 *
 * Errors     Functions that can fail return a lapilli_status. lapilli_last_error() then tells the reason, the place and
 *            the remedy. Nothing throws, and nothing aborts. A null pointer where a pointer is required is
 *            LAPILLI_INVALID_ARGUMENT.
 *
 * Structs    Later versions may add fields at the end of a struct, so each struct begins with struct_size: the sizeof
 *            of the struct as the program was compiled. lapilli_default_options() and the other helpers set it. Begin
 *            an options struct with its helper, because the default of a field need not be zero. Set struct_size
 *            yourself in structs without a helper. A struct_size of 0 is an error that names the helper.
 *
 *            Null for a const options struct means the defaults. Programs and libraries of different versions
 *            understand each other: a field that the program lacks has its default. The library refuses a field that it
 *            does not know, unless that field is zero. Structs in callbacks have the library's size.
 *
 *            All elements of an array argument have the same struct_size. lapilli_ids never grows: it is a field of
 *            other structs, never an argument or an element.
 *
 * Strings    Strings and paths are UTF-8, on Windows as well, and zero-terminated where no length is given.
 *
 * Ownership  Each kind of handle has a function that frees it, and this function accepts null. After an error an out
 *            handle is null. Pointers inside an out struct belong to the handle that filled it. The library reads the
 *            pointers in arguments until the call returns, and not later, unless a comment says otherwise.
 *
 * Threads    Any number of threads may use a device, a model or a cancel token at once. One thread at a time may use a
 *            result, a job or a load. Do not free a handle while another thread begins a call with it.
 *
 *            Models keep their device after lapilli_device_close. Running calls keep their model and their cancel
 *            token after these are freed.
 */
/* clang-format on */
#ifndef LAPILLI_LAPILLI_H
#define LAPILLI_LAPILLI_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* The version of this header. */
#define LAPILLI_VERSION_MAJOR 0
#define LAPILLI_VERSION_MINOR 3
#define LAPILLI_VERSION_PATCH 0
/* A version as a number that grows with it. */
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

/* Later sections define these structs. */
typedef struct lapilli_device_options lapilli_device_options;
typedef struct lapilli_files lapilli_files;
typedef struct lapilli_file_part lapilli_file_part;
typedef struct lapilli_store lapilli_store;
typedef struct lapilli_workers lapilli_workers;

/* ---- errors, version, messages ---------------------------------------------------------------------------------- */

typedef int32_t lapilli_status;
enum {
  LAPILLI_OK = 0,
  LAPILLI_INVALID_ARGUMENT = 1, /* the caller's options, ids or pointers are wrong */
  LAPILLI_NOT_FOUND = 2,        /* a file or directory does not exist or cannot be opened */
  LAPILLI_INVALID_DATA = 3,     /* a file or text contradicts its format */
  LAPILLI_UNSUPPORTED = 4,      /* the request is valid, but this version does not support it */
  LAPILLI_OUT_OF_MEMORY = 5,    /* the host or the device has too little memory */
  LAPILLI_NO_DEVICE = 6,        /* there is no Vulkan loader, driver or suitable device */
  LAPILLI_DEVICE_LOST = 7,      /* the device is lost and could not be replaced: see "a lost device" */
  LAPILLI_TIMEOUT = 8,          /* the device makes no progress */
  LAPILLI_CANCELLED = 9,        /* the program cancelled the work */
  LAPILLI_INTERNAL = 10         /* Lapilli has a bug */
};

/* Returns the version of the library that runs, such as "0.3.0". LAPILLI_VERSION_... is the version of the header. */
LAPILLI_API const char* lapilli_version(void);
/* Returns the same version as a number, to compare with LAPILLI_MAKE_VERSION(0, 3, 0). */
LAPILLI_API int32_t lapilli_version_number(void);

/* Returns a name such as "not found"; never null. */
LAPILLI_API const char* lapilli_status_name(lapilli_status status);

/* Returns the message of this thread's last failed call, or "" if none has failed. The string is valid until this
 * thread's next call. Never null. */
LAPILLI_API const char* lapilli_last_error(void);

enum { LAPILLI_LOG_ERROR = 0, LAPILLI_LOG_WARNING = 1, LAPILLI_LOG_NOTE = 2, LAPILLI_LOG_VERBOSE = 3 };
typedef void (*lapilli_log_function)(void* user, int32_t level, const char* message);

/* Sends the process's messages up to `level` to `function`, or to stderr if it is null. Any thread may call the
 * function, one call at a time. The default is stderr at LAPILLI_LOG_NOTE. */
LAPILLI_API void lapilli_set_log(int32_t level, lapilli_log_function function, void* user);

/* ---- loading a model --------------------------------------------------------------------------------------------- */

/* An opened device. Models on one lapilli_device share its memory blocks, its pipelines and the results of its
 * self-test, so a second model of a kind compiles and tests nothing again; their work takes turns on one queue. Each
 * lapilli_device_open makes a separate device that shares nothing, even on the same GPU. */
typedef struct lapilli_device lapilli_device;

/* Opens a device; null options choose the best one. See "devices" for the options. */
LAPILLI_API lapilli_status lapilli_device_open(const lapilli_device_options* options, lapilli_device** device);
LAPILLI_API void lapilli_device_close(lapilli_device* device);

typedef struct lapilli_model lapilli_model;

/* Loads a model onto a device, which may hold other models. The program may close the device afterwards.
 *
 * `name` is the directory of a published model (config.json, weights, tokenizer), or OWNER/NAME or OWNER/NAME@REVISION
 * of a model that "lapilli fetch" has fetched or that is complete in the cache of Hugging Face, which is only read. The
 * library itself fetches nothing. A directory takes precedence over a fetched model.
 *
 * Null or "" means the model that LAPILLI_MODEL names, or else the bundled English-French model, which lies relative to
 * the program or the library. */
LAPILLI_API lapilli_status lapilli_model_load(lapilli_device* device, const char* name, lapilli_model** model);
LAPILLI_API void lapilli_model_free(lapilli_model* model);

/* The format in which a device holds a model's matrices. Sums are always in fp32, and so is everything that is not a
 * matrix. 16 bits need about half of the memory, 8 bits a bit over a quarter, 4 bits a bit over a seventh. Smaller
 * formats are faster where reading the weights takes the time. Results differ slightly from those in fp32. */
enum {
  LAPILLI_DTYPE_FP32 = 0, /* as the reference computes */
  LAPILLI_DTYPE_AUTO = 1, /* by the class of the device: bf16 on CPU drivers, fp16 on GPUs */
  LAPILLI_DTYPE_BF16 = 2, /* the upper half of a float, rounded */
  LAPILLI_DTYPE_FP16 = 3, /* half precision; matrices with numbers out of its range stay in fp32 */
  LAPILLI_DTYPE_INT8 = 4, /* integers from -127 to 127 with a scale for each 32 of a column: 9 bits a number */
  LAPILLI_DTYPE_INT4 = 5  /* 0 to 15 with a scale and a minimum for each 32: 5 bits; read docs/use/quality.md first */
};

/* Begin with lapilli_default_model_options(). */
typedef struct lapilli_model_options {
  uint32_t struct_size;
  int32_t dtype;      /* LAPILLI_DTYPE_...; default: FP32. Files of "lapilli pack" have their own format: the defaults,
                         AUTO and that format load them, another one is an error */
  int32_t kv_dtype;   /* format of keys and values: LAPILLI_DTYPE_FP32, _FP16, or _AUTO (fp32 so far); default: FP32.
                         FP16 halves the memory that running sentences take and the bytes that a step reads of it, which
                         matters for long inputs and outputs, many sentences and many beams. Numbers beyond 65,504 are
                         clamped. vLLM calls this kv_cache_dtype */
  int32_t files_stay; /* not 0: `files` or `parts` stay readable as long as the model and its jobs exist, so that a lost
                         device can be replaced (see "a lost device"); any thread that uses the model may then call the
                         functions, one call at a time; default: 0. The files of a directory always stay */
  uint64_t memory_limit; /* limit in bytes of device memory for weights and all that runs on them together; default: 0,
                            the memory of the device. A model whose weights exceed it is refused; batches that exceed it
                            run in parts */
  /* The source of the files, if they are not in a directory: functions, or an array of parts. `name` is then only a
   * name for messages and may be null. Default: null. Giving both is an error. */
  const lapilli_files* files;
  const lapilli_file_part* parts;
  size_t part_count;
  size_t no_prefix_cache; /* not 0: prompts of a decoder alone that begin alike are each computed from their first id;
                             default: 0. Otherwise keys and values of prompts stay, in at most an eighth of the device
                             memory, and later prompts that begin with the same ids (at least 16) take them */
} lapilli_model_options;

/* Loads a model with options; null means the defaults. */
LAPILLI_API lapilli_status lapilli_model_load_with(lapilli_device* device, const char* name,
                                                   const lapilli_model_options* options, lapilli_model** model);

/* The languages of a multilingual model, as its files write them ("fr_XX", "fra_Latn"): their number, and the one at
 * `index`. The string lives as long as the model; it is null beyond the last. lapilli_options also takes other usual
 * codes of a language ("fr", "fra"). */
LAPILLI_API size_t lapilli_model_language_count(const lapilli_model* model);
LAPILLI_API const char* lapilli_model_language(const lapilli_model* model, size_t index);

enum {
  LAPILLI_INPUT_TEXT = 1,
  LAPILLI_INPUT_IDS = 2,
  LAPILLI_INPUT_SAMPLES = 3,
  LAPILLI_INPUT_PIXELS = 4,
  LAPILLI_INPUT_PICTURE_FILE = 5
};

typedef struct lapilli_model_info {
  uint32_t struct_size;
  int32_t input_kind;         /* LAPILLI_INPUT_TEXT, _SAMPLES or _PIXELS: the kind of input that its network reads */
  int32_t has_tokenizer;      /* 0: the model takes only ids */
  int32_t writes_text;        /* not 0: the model has a decoder */
  int32_t reads_pictures;     /* not 0: the model takes pixels (LAPILLI_INPUT_PIXELS) */
  uint32_t sample_rate;       /* not 0: the model takes sound with this many samples a second (LAPILLI_INPUT_SAMPLES) */
  uint32_t window_samples;    /* not 0: the model transcribes a recording in windows of this many samples each, and its
                                 segments have times. 0: it takes a recording as a whole, up to a length that an error
                                 states, and gives one segment */
  uint32_t classes;           /* not 0: the model assigns an input to one of this many classes and writes no text */
  uint32_t dimensions;        /* not 0: the model makes a vector of this many numbers of a text (lapilli_vector) */
  uint32_t source_vocabulary; /* number of ids */
  uint32_t target_vocabulary;
  uint32_t max_source_tokens; /* longest input, end token included; 0: no limit */
  uint32_t max_target_tokens; /* longest output */
  uint32_t decoder_layers;    /* the layers and heads that a lapilli_attention_choice may name, from 0 */
  uint32_t decoder_heads;
  int32_t dtype;          /* LAPILLI_DTYPE_... on the device; never LAPILLI_DTYPE_AUTO */
  int32_t kv_dtype;       /* LAPILLI_DTYPE_FP32 or _FP16. A model whose heads are odd in number and width holds keys and
                             values in fp32 always */
  uint32_t fp32_matrices; /* number of matrices that stay in fp32 because the dtype cannot hold their numbers */
  double load_ms;
  uint64_t parameters;   /* numbers in the checkpoint; shared ones count once */
  uint64_t weight_bytes; /* device memory of the weights */
  const char* directory;
  const char* family; /* for example "marian" */
  const char* device;
  const char* commands;        /* the commands of the program for this model: "lapilli caption or lapilli read" */
  const char* tokenizer_error; /* the reason why there is no tokenizer; null: there is one */
} lapilli_model_info;

/* Fills `info`; its strings live as long as the model. */
LAPILLI_API lapilli_status lapilli_model_get_info(const lapilli_model* model, lapilli_model_info* info);

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* Token ids, as a field of structs. A null pointer means not given; a pointer with count 0 means given and empty. */
typedef struct lapilli_ids {
  const int32_t* ids;
  size_t count;
} lapilli_ids;

/* A function that supplies the samples of a recording while the library works on it, so that a recording of hours need
 * not be in memory. Begin with lapilli_default_sample_source(); lapilli_pulled_samples() makes an input of it. The
 * struct is copied. `user` and its data must live until the call returns or the job has ended.
 *
 * The thread that generates or pumps calls `read`, one call at a time for each input. `read` may call only functions
 * that any thread may call. A model with windows reads a recording twice, because the loudest moment scales all
 * features, and once more with lapilli_speech_options.chunks. */
typedef struct lapilli_sample_source {
  uint32_t struct_size;
  uint64_t count; /* number of samples; at least 1 */
  void* user;
  /* Writes samples from number `first` on to `to`, which has room for `room` samples (never 0, never beyond `count`),
   * and sets `got`, which is 0, to their number. Fewer samples mean that the recording ends early; silence follows.
   *
   * `first` most often continues the last call. It may also be up to half a second earlier, or 0, or anything after a
   * device was lost. A status other than LAPILLI_OK fails this input with that status; a status that concerns whole
   * calls (LAPILLI_DEVICE_LOST, _TIMEOUT, _CANCELLED, _INTERNAL) becomes LAPILLI_INVALID_DATA. */
  lapilli_status (*read)(void* user, uint64_t first, float* to, uint64_t room, uint64_t* got);
} lapilli_sample_source;

/* One input. lapilli_text(), lapilli_text_of(), lapilli_pair(), lapilli_tokens(), lapilli_samples(),
 * lapilli_sample_stream(), lapilli_pulled_samples(), lapilli_pixels() and lapilli_picture_file() make one. The library
 * ignores the fields of other kinds. lapilli_model_info lists the kinds that a model takes; others are
 * LAPILLI_UNSUPPORTED.
 *
 * Wrong fields fail the call: null pointers, no samples, a wrong rate, no pixels, a row longer than row_stride. An
 * error in the sound, the picture or its file fails only this input. */
typedef struct lapilli_input {
  uint32_t struct_size;
  int32_t kind;      /* LAPILLI_INPUT_...; an unknown kind is LAPILLI_UNSUPPORTED, 0 is invalid */
  const char* text;  /* LAPILLI_INPUT_TEXT: the text; LAPILLI_INPUT_PICTURE_FILE: the path of the file, which is read
                        when its turn comes */
  size_t text_bytes; /* LAPILLI_ZERO_TERMINATED: up to the first zero byte */
  lapilli_ids ids;   /* LAPILLI_INPUT_IDS: end token included, no padding */
  /* LAPILLI_INPUT_SAMPLES: one channel of sound from -1 to 1, at most 2^31 samples at a time. Resample other rates
   * first (libsamplerate, "ffmpeg -ar"). */
  const float* samples;
  size_t sample_count;
  const lapilli_sample_source* source; /* supplies the samples instead of `samples`; null: `samples` holds them */
  uint32_t sample_rate;                /* samples a second: lapilli_model_info.sample_rate */
  int32_t more_samples;                /* not 0: the recording continues: lapilli_job_append_samples adds samples until
                                          lapilli_job_end_samples; it may begin empty; only in jobs */
  /* LAPILLI_INPUT_PIXELS: 8 bits a channel, rows from the top, at most 65,535 pixels a side and 2^26 pixels. */
  uint32_t width, height; /* in pixels */
  uint32_t channels;      /* bytes of a pixel: 1 (grey), 3 (red, green, blue) or 4 (the last is ignored); 0: 3 */
  const uint8_t* pixels;
  size_t row_stride; /* bytes from row to row; 0: width * channels */
  /* LAPILLI_INPUT_TEXT: a second text, for models that read pairs; null: none. */
  const char* pair;
  size_t pair_bytes; /* as text_bytes */
} lapilli_input;
#define LAPILLI_ZERO_TERMINATED ((size_t)-1)

/* ---- options ----------------------------------------------------------------------------------------------------- */

#define LAPILLI_MODEL_DEFAULT (-1) /* integer option: the value of the model's generation_config */
#define LAPILLI_NO_TOKEN (-2)      /* token option: no token, even if the model names one */

enum { LAPILLI_EARLY_STOPPING_FALSE = 0, LAPILLI_EARLY_STOPPING_TRUE = 1, LAPILLI_EARLY_STOPPING_NEVER = 2 };

/* Consecutive ids; lapilli_phrase_of() makes one. */
typedef struct lapilli_phrase {
  uint32_t struct_size;
  lapilli_ids ids; /* at least one */
} lapilli_phrase;

/* A token that cancels the calls of lapilli_generate and the jobs whose options name it, and no others. It stays
 * cancelled: a call that gets it later ends at once. */
typedef struct lapilli_cancel_token lapilli_cancel_token;

LAPILLI_API lapilli_status lapilli_cancel_token_create(lapilli_cancel_token** token);
/* Cancels from any thread or signal handler and returns at once. The calls end after the work that is on the device,
 * with LAPILLI_CANCELLED and the finished inputs. */
LAPILLI_API void lapilli_cancel_token_cancel(lapilli_cancel_token* token);
/* Returns not 0 if the token is cancelled; 0 for null. */
LAPILLI_API int32_t lapilli_cancel_token_cancelled(const lapilli_cancel_token* token);
/* Frees the handle. Running calls continue, and this token can no longer cancel them. */
LAPILLI_API void lapilli_cancel_token_free(lapilli_cancel_token* token);

/* The generating thread calls this after each unit of work; a result other than 0 cancels. `done` of `total` counts
 * finished inputs; an input that runs sentence by sentence counts once for each sentence. For recordings that run
 * window by window they are hundredths of a second. */
typedef int32_t (*lapilli_progress_function)(void* user, uint64_t done, uint64_t total);

/* New text of an input, valid during the call of the function only. */
typedef struct lapilli_stream_event {
  uint32_t struct_size; /* set by the library */
  size_t input;         /* its index */
  const char* text;     /* zero-terminated, never null; may be "" */
  size_t text_bytes;
  lapilli_ids ids;
} lapilli_stream_event;

/* The generating thread calls this as text comes; a result other than 0 cancels. Joined, the texts and ids are those of
 * the input's best sequence: they are never revised, and no character is split, so ids may precede their text. Inputs
 * take turns; within one input everything is in order. With one beam each step gives an id; with more, the ids that all
 * hypotheses share which can still win. */
typedef int32_t (*lapilli_stream_function)(void* user, const lapilli_stream_event* event);

/* Options for models that transcribe sound in windows (lapilli_model_info.window_samples). For other models a field
 * that differs from its default is LAPILLI_INVALID_ARGUMENT. Begin with lapilli_default_speech_options(). */
typedef struct lapilli_speech_options {
  uint32_t struct_size;
  int32_t word_times;            /* not 0: segments have words with times (lapilli_result_get_word); this runs each
                                    window once more; default: 0 */
  int32_t condition_on_previous; /* not 0: a window reads the text of the windows before it; default: 0 */
  /* Thresholds for an attempt at a window; default: NaN, no threshold. An attempt fails if zlib compresses its ids to
   * less than one part in compression_ratio_threshold, because they repeat, or if the mean log-probability of the ids
   * is below logprob_threshold. If the probability of silence exceeds no_speech_threshold and logprob_threshold fails,
   * the window is silent and has no further attempt. Whisper publishes 2.4, -1 and 0.6. */
  float compression_ratio_threshold, logprob_threshold, no_speech_threshold;
  uint32_t interim_samples; /* not 0: interim results of recordings that continue, in jobs: each time this many samples
                               are new and nothing else is to do, the incomplete window runs as if it ended there, and
                               LAPILLI_EVENT_INTERIM reports it. Final results stay the same. Each costs an encoder run
                               over a whole window; default: 0 */
  uint32_t chunks;          /* not 0: complete recordings are cut where they are quiet, in the second half of each
                               window, and this many chunks run at a time, all in the language of the first window. No
                               window waits for the one before it, which takes less time and may give another text; not
                               with condition_on_previous; default: 0, windows run one after the other */
  /* Temperatures of the attempts at a window: 0 searches, higher ones draw ids at random. A failed attempt is repeated
   * at the next temperature. Default: null, one attempt. Whisper publishes 0, 0.2, 0.4, 0.6, 0.8, 1. */
  const float* temperatures;
  size_t temperature_count;
} lapilli_speech_options;

/* Options for models that read pictures. For other models a field that differs from its default is
 * LAPILLI_INVALID_ARGUMENT. Begin with lapilli_default_picture_options(). */
typedef struct lapilli_picture_options {
  uint32_t struct_size;
  uint32_t classes; /* most classes in the result of a classifier, the likeliest first; at least 1; default: 5 */
} lapilli_picture_options;

/* Options for encoders of texts, which make vectors (lapilli_model_info.dimensions), classes
 * (lapilli_model_info.classes) or spans (lapilli_span). For other models, and for tasks that do not read it, a field
 * that differs from its default is LAPILLI_INVALID_ARGUMENT. Begin with lapilli_default_encoder_options(). */
typedef struct lapilli_encoder_options {
  uint32_t struct_size;
  uint32_t dimensions;     /* the first numbers of each vector alone, which some models are trained for (Matryoshka);
                              default: 0, all */
  int32_t normalize;       /* not 0: vectors have length 1, also if the steps of the directory do not make it so, and
                              after `dimensions`; default: 0, as the directory says */
  uint32_t top_classes;    /* most classes in the result of a classifier, the highest score first; at least 1; default:
                              5 */
  const char* prompt_name; /* name of a prompt among those of config_sentence_transformers.json; it stands before each
                              text. lapilli_options.prompt is a prompt itself, and "" is none. Default: null, by
                              lapilli_options.task, else the directory's default_prompt_name */

  /* Classes that the model was not trained for (zero-shot; Yin, Hay, Roth 2019): a model that tells whether a text
   * entails a sentence gets the text with a sentence for each label. Default: none, the model's own classes. */
  const char* const* labels;
  size_t label_count;
  const char* hypothesis; /* this sentence, with {} for the label; default: null, "This example is {}." */
  const char* entailment; /* the model's label that says so; default: null, the first that begins with "entail" */
  int32_t multi_label;    /* not 0: several labels may hold, and each has a probability of its own; default: 0 */

  uint32_t top_spans;         /* most answers to a question, or words for a mask; default: 0, 1 answer or 5 words */
  const char* aggregation;    /* tags: "none" gives each token, "simple", "first", "average" and "max" join those of a
                                 name, as transformers does; default: null, "simple" */
  int32_t allow_empty;        /* not 0: "no answer" may be an answer, an empty span; default: 0 */
  uint32_t max_answer_tokens; /* longest answer; default: 15 */
  /* Tags and answers: a text that is longer than the model reads runs in windows of this many tokens, of which
   * neighbours share `stride`. Default: 0, as long as the model reads (answers: at most 384), and a fourth of the
   * window (answers: half of it), at most 128. Scores (lapilli_options.task "score", of models that are no encoders):
   * windows of this many tokens, which move on by `stride`; default: 0, as long as the model reads, at most 2048, and
   * half of the window. */
  uint32_t window, stride;
  int32_t cut_texts;  /* not 0: no windows; the end of a long text is left out (lapilli_reading.cut); default: 0 */
  int32_t part_words; /* not 0: answers may begin and end within a word; default: 0 */
  /* Tags: spans with these labels are left out; joined names have theirs without "B-" and "I-". A list that is not null
   * and has no label leaves out none. Default: null, "O" alone. */
  const char* const* ignored_labels;
  size_t ignored_label_count;
} lapilli_encoder_options;

/* Options for decoders alone (GPT-2, Llama, Qwen and the like), which continue texts. With `use` each text is what a
 * user says in a chat, and the output is the answer: the chat template of the model's directory writes the prompt,
 * special tokens included, and the answer ends at any end token of generation_config.json, of the tokenizer or of the
 * template.
 *
 * An answer has at most 512 new tokens unless max_new_tokens, max_length or the model's files say otherwise. Where
 * the template refuses ("System role not supported"), its words are the error. Begin with
 * lapilli_default_chat_options(). */
typedef struct lapilli_chat_options {
  uint32_t struct_size;
  int32_t use;                /* not 0: a chat; default: 0, the texts are continued */
  int32_t leave_out_thoughts; /* not 0: <think>...</think> at the beginning of an output is left out; default: 0 */
  const char* system;         /* a message of the role "system" before all others; default: null, none */
  const char* messages;       /* JSON, a list of messages before each text: [{"role": "user", "content": "Hello"},
                                 {"role": "assistant", "content": "Hello!"}]; an empty text answers the last of them; default:
                                 null, none */
  const char* tools;          /* JSON, a list of tools as the template takes them; default: null, none */
  const char* arguments; /* JSON, an object of further variables of the template: {"enable_thinking": false}; default:
                            null, none */
  /* Without `use` as well: an output ends before the first of these texts that is complete in it, however its tokens
   * are cut. What is streamed equals the text of the result. Default: none. */
  const char* const* stops;
  size_t stop_count;
} lapilli_chat_options;

/* Options of a generation. Begin with lapilli_default_options(), which sets the defaults named here. "The model's"
 * means the value of its generation_config: LAPILLI_MODEL_DEFAULT for integers, NaN for floats, a null pointer for
 * lists. Lengths count tokens; max_length and min_length include the start token, max_new_tokens and min_new_tokens do
 * not. */
typedef struct lapilli_options {
  uint32_t struct_size;
  int32_t num_beams;           /* 1: greedy; default: the model's */
  const char* task;            /* "translate" or "summarize": the conventions of the model family, such as words before
                                  the input, language tokens and settings; "generate": none. For sound "transcribe" or
                                  "translate", to English. Default: null, none, and for sound "transcribe".
           
                                  "score" writes nothing: of a text, or of the `pair` of a source and its target where
                                  the model has an encoder, lapilli_sequence.token_scores has the logarithm of the
                                  probability of each id behind those before it, and `score` their sum
           
                                  For encoders of texts "classify", "tag", "answer", "fill", "embed", "query" or
                                  "document": the last two make vectors with the prompt of that name, or none if the
                                  directory has none. Default: the one that the model's head is for */
  const char* source_language; /* language of the inputs; default: null, the model's, or for sound the language that the
                                  first window of each recording detects */
  const char* target_language; /* language of the output; default: null, the model's */
  const char* prompt;          /* text before the output. Sound: in front of every window, or with condition_on_previous
                                  of the first; the end of a long prompt counts (Whisper: 223 ids). Pictures: the
                                  beginning of the answer, with tokens spelled out ("<s_cord-v2>"). Vectors of texts:
                                  before each text. Other texts: not supported. Default: null, none */
  int32_t num_return_sequences; /* at most num_beams; with sampling and one beam up to 256; default: the model's */
  int32_t max_length, max_new_tokens, min_length, min_new_tokens; /* default: the model's */
  int32_t early_stopping;                                         /* LAPILLI_EARLY_STOPPING_...; default: the model's */
  int32_t no_repeat_ngram_size;                                   /* default: the model's */
  int32_t decoder_start_token, forced_bos_token, forced_eos_token; /* default: the model's */
  float length_penalty, repetition_penalty;                        /* default: the model's */
  /* Not 0: texts of several sentences run sentence by sentence, and the results are joined with the white space of the
   * input. 0: never; a text that exceeds the model's positions is then an error. LAPILLI_MODEL_DEFAULT, the default:
   * for the task "translate", if the text has more than two sentences (Marian, FSMT: more than one) or 96 tokens.
   *
   * Where texts may be split, a sentence of more than 128 tokens or half of the model's positions is cut as well: at
   * semicolons and colons, else at commas, else before conjunctions, else between words. No text is lost. */
  int32_t split_sentences;
  uint32_t batch;           /* most inputs that run together; default: 0, chosen */
  uint32_t steps_in_flight; /* decoder steps of a submission; default: 0, chosen */
  /* Not 0: every sum has one order, so that ids and scores of an input do not depend on the other inputs of this call
   * or of others. Single inputs are somewhat slower. Without it results may differ where the two best continuations are
   * about equal (1e-4). Default: 0. */
  int32_t deterministic;
  /* Not 0: the attention of each word is kept for drawing. lapilli_job_draw_attention draws it over the segments of a
   * recording, lapilli_result_draw_attention over pictures. For texts see lapilli_attention_run. Default: 0. */
  int32_t keep_attention;
  const char* json; /* further options, as generation_config.json writes them; the fields here win; default: null */
  lapilli_ids end_tokens, suppress_tokens, begin_suppress_tokens; /* default: the model's */
  const lapilli_phrase* bad_words; /* phrases that must not appear; default: null, the model's */
  size_t bad_word_count;
  lapilli_ids decoder_prompt; /* ids that begin the output of every input; only for texts; default: none */
  /* A number for each input, or null, the default: 0, 1, 2, ... Sampling (do_sample) draws by the seed and this number.
   * A caller that spreads its inputs over several calls numbers them consecutively: then no two inputs draw alike, and
   * no result depends on the calls. */
  const uint64_t* input_numbers;
  const lapilli_cancel_token* cancel_token; /* default: null, none */
  lapilli_progress_function progress;       /* default: null, none; not in jobs, which have events */
  void* progress_user;
  lapilli_stream_function stream; /* default: null, none; not in jobs, which have events */
  void* stream_user;
  const lapilli_speech_options* speech;   /* default: null, the defaults of each field */
  const lapilli_picture_options* picture; /* default: null, the defaults of each field */
  const lapilli_encoder_options* encoder; /* default: null, the defaults of each field */
  const lapilli_chat_options* chat;       /* default: null, the defaults of each field */
} lapilli_options;

/* ---- generation -------------------------------------------------------------------------------------------------- */

/* The results of lapilli_generate or of a job. */
typedef struct lapilli_result lapilli_result;

/* Runs `count` inputs through the model and waits. It sorts them into batches by length; the results keep the given
 * order. An input that cannot be used (invalid UTF-8, too long, ids outside the vocabulary, too large for the memory)
 * does not stop the others: lapilli_result_get returns its error.
 *
 * After a cancellation the status is LAPILLI_CANCELLED, and *result holds the finished inputs. After another error
 * *result is null. */
LAPILLI_API lapilli_status lapilli_generate(lapilli_model* model, const lapilli_input* inputs, size_t count,
                                            const lapilli_options* options, lapilli_result** result);

/* Cancels all running calls of lapilli_generate and all running jobs of this model, and none that begins later. Any
 * thread or signal handler may call it. lapilli_cancel_token and lapilli_job_cancel end a single one. */
LAPILLI_API void lapilli_cancel(lapilli_model* model);

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* The reason why a sequence ends; other programs call it finish_reason. */
enum {
  LAPILLI_FINISH_STOP = 1,   /* the model wrote an end token, or one of lapilli_chat_options.stops */
  LAPILLI_FINISH_LENGTH = 2, /* it reached max_length, max_new_tokens or the model's positions: the end may be missing.
                                A forced end token (forced_eos_token) counts as this */
  LAPILLI_FINISH_KEPT = 3 /* the text is the input's: with the task "translate" and without a decoder_prompt, the model
                             does not get texts that consist of URLs, e-mail addresses, numbers and signs. The score
                             is 0, and there are no ids. With the task "score" every text is kept, with its ids */
};

typedef struct lapilli_sequence {
  uint32_t struct_size;
  uint32_t sequences; /* number of sequences of this input */
  const char* text;   /* zero-terminated; "" if the model has no tokenizer */
  size_t text_bytes;
  lapilli_ids ids;           /* without the start token, with the end token */
  const float* token_scores; /* ids.count: the logarithm of each id's probability, as the search uses it behind all
                                processors (forced ids: 0); NaN for ids of the decoder prompt, and with the task "score"
                                for the first id of a text, which has none before it. Greedy search normalizes
                                the probabilities that processors leave, beam search does not, so they need not add up
                                to 1. NaN where a stop text ends the output */
  float score;     /* sum of log-probabilities / generated tokens ^ length_penalty, over the tokens of all parts; with
                      the task "score" the sum. NaN where a stop text ends the output: the search ends early there */
  int32_t finish;  /* LAPILLI_FINISH_...; of several parts: LENGTH if one has it, KEPT if all have it */
  int32_t repeats; /* not 0: the text ends in a phrase of up to 64 ids that occurs four times or more and spans 12 ids
                      or more, and the input does not. The text is unusable then, and its end is mostly missing. For
                      recordings: lapilli_segment.repeats of one of its segments */
  /* The number of tokens of the input that hold letters, and of those that are unknown to the model. If most are
   * unknown, the model hardly knows the language and script of the text. 0 for inputs of ids. */
  uint32_t word_tokens, unknown_tokens;
  size_t parts;             /* runs of the model, and kept texts, that make up this sequence; 1 unless it was split */
  const char* lost_address; /* with the task "translate": the first URL, e-mail address or placeholder ({name}, %1$s) of
                               the input that `text` lacks; null if it has them all */
} lapilli_sequence;

/* Fills in sequence `sequence` (0: the best) of input `input`. If that input failed, this returns its status, and
 * lapilli_last_error() has its message. */
LAPILLI_API lapilli_status lapilli_result_get(const lapilli_result* result, size_t input, size_t sequence,
                                              lapilli_sequence* out);

/* A part of a sequence: a run of the model, or a kept text. */
typedef struct lapilli_part {
  uint32_t struct_size;
  float score;
  const char* text;
  size_t text_bytes;
  lapilli_ids ids;
  int32_t finish;                  /* as in lapilli_sequence */
  int32_t repeats;                 /* as in lapilli_sequence */
  size_t source_begin, source_end; /* bytes of the input's text */
  size_t target_begin, target_end; /* bytes of the sequence's text */
} lapilli_part;

/* Returns the number of parts of sequence `sequence` of input `input`: 1, or more if a long input was split. */
LAPILLI_API lapilli_status lapilli_result_parts(const lapilli_result* result, size_t input, size_t sequence,
                                                size_t* parts);
/* Fills in part `part` of a sequence. If an input that was split has several sequences, the k-th one consists of the
 * k-th of each part. */
LAPILLI_API lapilli_status lapilli_result_get_part(const lapilli_result* result, size_t input, size_t sequence,
                                                   size_t part, lapilli_part* out);

/* The transcript of some seconds of a recording, about a sentence. Joined, the texts and ids of a recording's segments
 * are those of its sequence. */
typedef struct lapilli_segment {
  uint32_t struct_size;
  int32_t repeats; /* not 0: up to this segment the text ends in a phrase that repeats (see lapilli_sequence.repeats); 0
                      in interim results */
  int32_t doubtful; /* not 0: the window failed compression_ratio_threshold or logprob_threshold at the last temperature
                     */
  float log_probability;       /* mean over its ids; NaN: unknown */
  float no_speech_probability; /* probability that its window begins with silence; NaN: no threshold needs it */
  double begin, end;           /* seconds from the start of the recording; the end may exceed the recording's */
  double window_begin;         /* start of its window in seconds; 0 for models without windows */
  const char* text;            /* zero-terminated, most often with a space in front; "" without a tokenizer */
  size_t text_bytes;
  lapilli_ids ids;      /* timestamps included, without an end token */
  const char* language; /* a code ("en"); null: the model knows no languages */
  size_t words;         /* number of words; 0 without lapilli_speech_options.word_times */
} lapilli_segment;

/* A word of a segment with its time: the text between spaces, with adjacent signs. In a language without spaces it is a
 * character. */
typedef struct lapilli_word {
  uint32_t struct_size;
  float probability; /* mean over its ids, among all text ids, before the processors of the search */
  double begin, end; /* seconds from the start of the recording */
  const char* text;  /* zero-terminated, with the space in front; "" without a tokenizer: each id is a word then */
  size_t text_bytes;
  lapilli_ids ids;
} lapilli_word;

/* Returns the number of segments of a recording; 0 for other inputs. A recording that failed or was cancelled keeps the
 * segments before that. */
LAPILLI_API lapilli_status lapilli_result_segments(const lapilli_result* result, size_t input, size_t* segments);
LAPILLI_API lapilli_status lapilli_result_get_segment(const lapilli_result* result, size_t input, size_t segment,
                                                      lapilli_segment* out);
/* Fills in word `word` of a segment, below lapilli_segment.words. */
LAPILLI_API lapilli_status lapilli_result_get_word(const lapilli_result* result, size_t input, size_t segment,
                                                   size_t word, lapilli_word* out);

/* A class of a picture or a text. */
typedef struct lapilli_class {
  uint32_t struct_size;
  uint32_t index;     /* among the model's classes */
  const char* label;  /* from the model's config.json; of a picture "" if it has none, of a text LABEL_0 and so on */
  double score;       /* the logit; of the caller's labels the logarithm of the probability */
  double probability; /* among all classes; of labels that hold together (problem_type), of this one alone; of a
                         regression the number itself */
  double published_score; /* of a text: the number that the model's publisher calls its score, which for one label is
                             the logit behind the activation that the directory names, a sigmoid if it names none */
} lapilli_class;

/* Returns the number of classes in an input's result. */
LAPILLI_API lapilli_status lapilli_result_classes(const lapilli_result* result, size_t input, size_t* classes);
/* Fills in the class at `rank`; 0 is the likeliest. Its label is the text of the input's sequence, and the logarithm of
 * its probability the score. */
LAPILLI_API lapilli_status lapilli_result_get_class(const lapilli_result* result, size_t input, size_t rank,
                                                    lapilli_class* out);

/* The vector of a text. */
typedef struct lapilli_vector {
  uint32_t struct_size;
  uint32_t dimensions; /* numbers of the vector; all are finite */
  const float* values; /* live as long as the result */
} lapilli_vector;

/* Fills in the vector of input `input`, of a model with lapilli_model_info.dimensions. If that input failed, this
 * returns its status, and lapilli_last_error() has its message. */
LAPILLI_API lapilli_status lapilli_result_get_vector(const lapilli_result* result, size_t input, lapilli_vector* out);

/* A stretch of a text: a name or a word with its tag, an answer, or a mask with a word for it. Texts are
 * zero-terminated and live as long as the result. */
typedef struct lapilli_span {
  uint32_t struct_size;
  int32_t token;     /* id of the word for a mask, or of a tagged token (aggregation "none"); else -1 */
  const char* label; /* of a tag, without B- and I- unless aggregation is "none"; else "" */
  const char* text;  /* the stretch as it stands in the input; for a mask the word */
  size_t text_bytes;
  const char* filled; /* for a mask: the whole text with this word; else "" */
  size_t filled_bytes;
  size_t begin, end;                     /* bytes of the input's text; for an answer of its `pair` */
  size_t first_character, end_character; /* the same in characters (code points) */
  double score;                          /* probability; sums of equal answers may exceed 1 */
} lapilli_span;

/* Returns the number of spans in an input's result: tags and masks in their order, answers the best first, of each
 * mask the likeliest word first. For an answer the input is a pair of the question and the text that may have it. */
LAPILLI_API lapilli_status lapilli_result_spans(const lapilli_result* result, size_t input, size_t* spans);
/* Fills in span `number`. */
LAPILLI_API lapilli_status lapilli_result_get_span(const lapilli_result* result, size_t input, size_t number,
                                                   lapilli_span* out);

/* How an encoder, or a model with the task "score", has read a text or a pair. */
typedef struct lapilli_reading {
  uint32_t struct_size;
  uint32_t tokens;  /* ids of the text and its prompt that the model has read, with those that the tokenizer adds */
  uint32_t windows; /* passes of the model over the text: windows, or pairs with labels; else 1 */
  int32_t cut;      /* not 0: the text was longer than the model reads, and its end is left out */
} lapilli_reading;

/* Fills in how input `input` was read. If that input failed, this returns its status. */
LAPILLI_API lapilli_status lapilli_result_get_reading(const lapilli_result* result, size_t input, lapilli_reading* out);

/* Times and counts of a call. Times are wall clock in milliseconds. */
typedef struct lapilli_stats {
  uint32_t struct_size;
  uint32_t batches;
  double load_ms;   /* loading the model */
  double read_ms;   /* part of total_ms: reading and preparing pictures */
  double encode_ms; /* the encoder */
  double decode_ms; /* the decoder with its search */
  double total_ms;  /* the call, tokenizer included */
  uint64_t source_tokens;
  uint64_t generated_tokens; /* of the best sequences */
  uint64_t decoder_steps;
  uint64_t submissions;
  uint64_t pipelines;            /* created since the device was opened */
  uint64_t self_test_cases;      /* run since the device was opened */
  uint64_t device_bytes_peak;    /* since the device was opened */
  uint64_t host_bytes_peak;      /* of the process; 0: unknown */
  uint64_t pipeline_cache_bytes; /* size of the stored pipeline cache that the driver got when the device was opened */
  uint64_t tuned_nodes;          /* nodes of a decoder step and an encode pass that ran by a tuning
                                    (lapilli_model_tune), in the search that had the most */
  uint64_t prompt_rows;          /* positions of prompt ids that were computed */
  uint64_t saved_prompt_rows;    /* those of which an earlier prompt that begins alike had kept the keys and values */
} lapilli_stats;

LAPILLI_API lapilli_status lapilli_result_get_stats(const lapilli_result* result, lapilli_stats* stats);
LAPILLI_API void lapilli_result_free(lapilli_result* result);

/* ---- tokens ----------------------------------------------------------------------------------------------------- */

/* Encodes a text as lapilli_generate does for the same task and languages, with the words and tokens of the task and
 * the end token. Other options do not matter; null means none. The text is never split and may exceed the model's
 * positions. LAPILLI_UNSUPPORTED if the model has no tokenizer.
 *
 * `ids` has room for `capacity` ids, and *count becomes their number. If there is too little room, this writes nothing
 * and returns LAPILLI_INVALID_ARGUMENT. A null pointer with capacity 0 only counts.
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

/* Counts these ids, to compare with max_source_tokens. */
LAPILLI_API lapilli_status lapilli_model_count_tokens(const lapilli_model* model, const lapilli_input* text,
                                                      const lapilli_options* options, size_t* count);

/* Decodes ids of the decoder (lapilli_tokens()) to text, without special tokens unless `keep_special` is not 0.
 *
 * `text` has room for `capacity` bytes, the final zero included, and *bytes becomes the length without it. Too little
 * room, and a null pointer with capacity 0, are as in lapilli_model_encode. */
LAPILLI_API lapilli_status lapilli_model_decode(const lapilli_model* model, const lapilli_input* ids,
                                                int32_t keep_special, char* text, size_t capacity, size_t* bytes);

/* Writes the prompt of a chat without loading the model: what the template of `directory` makes of `user` (null: of the
 * messages of `options` alone) and of `options`, of which `use` does not count. A template that cannot run, or that
 * refuses, is an error, so a program can tell before it loads the weights. `text`, `capacity` and `bytes` are as in
 * lapilli_model_decode. */
LAPILLI_API lapilli_status lapilli_chat_prompt(const char* directory, const char* user,
                                               const lapilli_chat_options* options, char* text, size_t capacity,
                                               size_t* bytes);

/* ---- jobs ------------------------------------------------------------------------------------------------------- */

/* Programs with a loop of their own must not block in it. They load models and generate step by step:
 *
 *   lapilli_job_start(model, &input, 1, &options, &job);
 *   in each frame:
 *     lapilli_job_pump(job, 1000, &finished);
 *     while (lapilli_job_next_event(job, &event, &has) == LAPILLI_OK && has) show(&event);
 *   once it is finished:
 *     lapilli_job_take(job, &result);
 *     lapilli_job_free(job);
 *
 * One thread at a time uses a job, except that any thread may call lapilli_job_cancel, and lapilli_model_pump may run
 * beside it. Any number of jobs of one model run at once, in several threads as well: they share its memory, and a pump
 * advances all of them. Only lapilli_job_wait and lapilli_model_prepare wait for the device. A job keeps the model that
 * it needs: the program may free its handle.
 *
 * These functions fail only for wrong arguments. Events and lapilli_job_take report the outcome of the job. */
typedef struct lapilli_job lapilli_job;

/* A budget or a time without limit. */
#define LAPILLI_UNLIMITED UINT64_MAX

/* Starts a job. It checks the inputs and options as lapilli_generate does, and copies them.
 * lapilli_options.progress and .stream must be null. Inputs begin in the given order. A cancel token and
 * lapilli_cancel end jobs too. */
LAPILLI_API lapilli_status lapilli_job_start(lapilli_model* model, const lapilli_input* inputs, size_t count,
                                             const lapilli_options* options, lapilli_job** job);

/* Advances the job: submits work that should take the device `budget_us` microseconds, reads the results that are
 * ready, and reads and writes texts for about the same time, at least one input or part. *finished (may be null)
 * becomes not 0 when the job has ended, with success or not. Never waits for the device. */
LAPILLI_API lapilli_status lapilli_job_pump(lapilli_job* job, uint64_t budget_us, int32_t* finished);

/* Pumps until the job has ended or `timeout_us` microseconds have passed, and sleeps in between. 0 pumps once;
 * LAPILLI_UNLIMITED waits for the end, or until the device has made no progress for the device's wait_timeout_s.
 *
 * Returns earlier, with *finished 0, if the job can do nothing before more samples come. */
LAPILLI_API lapilli_status lapilli_job_wait(lapilli_job* job, uint64_t timeout_us, int32_t* finished);

/* Appends samples to input `input`, a recording that continues (lapilli_input.more_samples), at its rate and in blocks
 * of any size, which does not affect the result. The samples are copied. A model with windows discards them once they
 * are transcribed; a model that takes recordings as a whole keeps all.
 *
 * Fails and takes no sample if one is not a number, if the recording would become longer than the model takes, or if it
 * or the job has ended: LAPILLI_INVALID_DATA or LAPILLI_INVALID_ARGUMENT. */
LAPILLI_API lapilli_status lapilli_job_append_samples(lapilli_job* job, size_t input, const float* samples,
                                                      size_t count);
/* Ends the recording. A job ends once all of its recordings have ended and are transcribed. */
LAPILLI_API lapilli_status lapilli_job_end_samples(lapilli_job* job, size_t input);
/* Sets *wants to not 0 if the job can do nothing before more samples come. */
LAPILLI_API lapilli_status lapilli_job_wants_samples(const lapilli_job* job, int32_t* wants);

/* Continues a job that ended with LAPILLI_DEVICE_LOST, on any device: `model` is loaded from the same files as the
 * job's first model. Finished inputs stay; the others run again, and their events neither repeat nor contradict earlier
 * ones (see "a lost device"). Pending ERROR and END events disappear, and the job ends anew.
 *
 * LAPILLI_INVALID_ARGUMENT if the job did not end in this way or the model differs; the job is unchanged then. Never
 * waits. */
LAPILLI_API lapilli_status lapilli_job_resume(lapilli_job* job, lapilli_model* model);

/* Ends this job at its next pump, with the finished inputs. Any thread may call it. */
LAPILLI_API void lapilli_job_cancel(lapilli_job* job);

/* Gives the result after the end, once, as lapilli_generate does: LAPILLI_CANCELLED comes with the finished inputs,
 * another error with none. LAPILLI_INVALID_ARGUMENT before the end and the second time. */
LAPILLI_API lapilli_status lapilli_job_take(lapilli_job* job, lapilli_result** result);

/* Frees a job at any time; a job that has not ended is cancelled. It waits only if it closes the device. */
LAPILLI_API void lapilli_job_free(lapilli_job* job);

/* Ignore kinds that your program does not know: later versions may add some. */
enum {
  LAPILLI_EVENT_TEXT = 1,     /* of.text: new text of an input's best sequence */
  LAPILLI_EVENT_PROGRESS = 2, /* of.progress */
  LAPILLI_EVENT_INPUT = 3,    /* of.input: an input has ended; one for each, unless the job fails as a whole */
  LAPILLI_EVENT_ERROR = 4,    /* of.error: the job failed as a whole or was cancelled */
  LAPILLI_EVENT_END = 5,      /* of.end: the last event, always */
  LAPILLI_EVENT_SEGMENT = 6,  /* of.segment: a final segment of a recording; LAPILLI_EVENT_TEXT has reported its text */
  LAPILLI_EVENT_INTERIM = 7   /* of.interim: a result that may still change (lapilli_speech_options.interim_samples) */
};

/* New text, as in lapilli_stream_event: joined, an input's texts and ids are those of its best sequence. */
typedef struct lapilli_event_text {
  uint64_t input;   /* its index */
  const char* text; /* zero-terminated, never null; may be "" */
  size_t text_bytes;
  lapilli_ids ids;
} lapilli_event_text;

/* Segment `segment` of input `input`, as in lapilli_segment. lapilli_job_get_word gives its words. */
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

/* The segments of a recording that are not final; lapilli_job_get_interim gives them. They replace those of the last
 * interim event, and become void with the next final segment of the recording or with its end. */
typedef struct lapilli_event_interim {
  uint64_t input;
  size_t segments; /* may be 0 */
} lapilli_event_interim;

/* `done` of `total` as in lapilli_progress_function; `tokens` have been written. */
typedef struct lapilli_event_progress {
  uint64_t done, total, tokens;
} lapilli_event_progress;

typedef struct lapilli_event_input {
  uint64_t input;
  const char* message; /* never null; "" with LAPILLI_OK */
  lapilli_status status;
} lapilli_event_input;

typedef struct lapilli_event_error {
  const char* message;
  lapilli_status status;
} lapilli_event_error;

typedef struct lapilli_event_end {
  lapilli_status status; /* the status that lapilli_job_take returns */
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
    lapilli_event_interim interim;
    uint64_t size[16]; /* the size of every kind, also in later versions */
  } of;
} lapilli_event;

/* Gives the job's next event, if there is one: *has becomes not 0. Its pointers are valid until the next call of this
 * function for this job, or until the job is freed. Pending events are merged: the texts of an input are joined, and
 * only the latest progress and each input's latest valid interim result remain. */
LAPILLI_API lapilli_status lapilli_job_next_event(lapilli_job* job, lapilli_event* event, int32_t* has);

/* Fills in word `word` of the LAPILLI_EVENT_SEGMENT that was given last; valid as long as that event. */
LAPILLI_API lapilli_status lapilli_job_get_word(const lapilli_job* job, size_t word, lapilli_word* out);

/* Fill in segment `segment` of the LAPILLI_EVENT_INTERIM that was given last, and word `word` of that segment; valid as
 * long as that event. */
LAPILLI_API lapilli_status lapilli_job_get_interim(const lapilli_job* job, size_t segment, lapilli_segment* out);
LAPILLI_API lapilli_status lapilli_job_get_interim_word(const lapilli_job* job, size_t segment, size_t word,
                                                        lapilli_word* out);

/* Pumps all jobs of a model that have not ended, in the order in which they started. This serves programs with many
 * jobs, such as a server with a thread for each connection:
 *
 *   while (serving) {
 *     lapilli_model_pump(model, LAPILLI_UNLIMITED, NULL);
 *     lapilli_model_wait(model, 100000);
 *   }
 *
 * Meanwhile the other threads start jobs, read their events, cancel, take and free them. While a thread is in one of
 * these two functions, lapilli_job_wait only sleeps.
 *
 * `budget_us` is the budget of all jobs together; each job does at least its smallest unit of work. A job that another
 * thread is using is left to that thread. *running (may be null) becomes the number of jobs that have not ended. Never
 * waits for the device. Any thread may call it, several at once as well.
 *
 * LAPILLI_INVALID_ARGUMENT if `model` is null; LAPILLI_OUT_OF_MEMORY ends one job. */
LAPILLI_API lapilli_status lapilli_model_pump(lapilli_model* model, uint64_t budget_us, size_t* running);

/* Sleeps until lapilli_model_pump can continue, at most `timeout_us` microseconds; it pumps nothing. Starting, resuming
 * or cancelling a job and appending samples wake it, also if that happened after the last lapilli_model_pump began.
 *
 * It returns after about 200 microseconds while jobs work on the device, and after about 10,000 while all jobs wait for
 * samples or for the end of a pause; it then sees lapilli_cancel and cancel tokens, which signal handlers may use.
 * Without jobs it sleeps until one starts. Fails only if `model` is null. Do not free the model meanwhile. */
LAPILLI_API lapilli_status lapilli_model_wait(lapilli_model* model, uint64_t timeout_us);

/* The size of future jobs. Begin with lapilli_default_shape(). */
typedef struct lapilli_shape {
  uint32_t struct_size;
  uint32_t inputs;        /* inputs that run at a time, of all jobs together; sentences of split texts; default: 0, 1 */
  uint32_t source_tokens; /* of the longest input or sentence, end token included; default: 0, 128 or the model's
                             positions */
  uint32_t target_tokens; /* of the longest output; default: 0, more than nearly all translations need */
  const lapilli_options* options; /* of the jobs: beams, sampling, decoder_prompt, deterministic, steps_in_flight and
                                     the number of end tokens matter; default: null, the defaults */
} lapilli_shape;

/* Makes and tests the pipelines that jobs of this shape need, takes their memory, which the model keeps until it is
 * freed or trimmed, and runs an input of two tokens. Jobs within the shape then create and allocate nothing, in
 * lapilli_job_start neither, if they have the shape's options, no more lists of tokens and no longer sources.
 *
 * Inputs beyond the shape's number wait for a place, unless lapilli_options.batch is larger. The memory grows if texts
 * exceed target_tokens. This function waits; lapilli_job_prepare does not. */
LAPILLI_API lapilli_status lapilli_model_prepare(lapilli_model* model, const lapilli_shape* shape);

/* Does the same as a job without inputs, which is pumped like any other; its result is empty. */
LAPILLI_API lapilli_status lapilli_job_prepare(lapilli_model* model, const lapilli_shape* shape, lapilli_job** job);

/* A model that is loaded step by step: pump the load in your loop, then take the model. One thread at a time uses a
 * load, except for lapilli_load_cancel. */
typedef struct lapilli_load lapilli_load;

/* Starts a load with the arguments of lapilli_model_load_with; it reads nothing yet. The structs are copied. The
 * program may close the device. */
LAPILLI_API lapilli_status lapilli_load_start(lapilli_device* device, const char* name,
                                              const lapilli_model_options* options, lapilli_load** load);

/* Advances the load for about `budget_us` microseconds. *finished (may be null) becomes not 0 when it has ended, with
 * success or not. Never waits for the device. Some steps cannot be divided and take their time: reading the
 * configuration, one tensor of the weights, the files of the tokenizer. */
LAPILLI_API lapilli_status lapilli_load_pump(lapilli_load* load, uint64_t budget_us, int32_t* finished);

/* Pumps until the load has ended or `timeout_us` microseconds have passed, and sleeps while the device works. 0 pumps
 * once, LAPILLI_UNLIMITED waits for the end. */
LAPILLI_API lapilli_status lapilli_load_wait(lapilli_load* load, uint64_t timeout_us, int32_t* finished);

/* Gives the bytes of weights that the device has, and those of all weights; both are 0 until the configuration is read.
 */
LAPILLI_API lapilli_status lapilli_load_progress(const lapilli_load* load, uint64_t* done_bytes, uint64_t* all_bytes);

/* Ends the load at its next pump with LAPILLI_CANCELLED. Any thread may call it. */
LAPILLI_API void lapilli_load_cancel(lapilli_load* load);

/* Gives the model after the end, once, or the error. LAPILLI_INVALID_ARGUMENT before the end. */
LAPILLI_API lapilli_status lapilli_load_take(lapilli_load* load, lapilli_model** model);

/* Frees a load at any time. It waits only if it closes the device. */
LAPILLI_API void lapilli_load_free(lapilli_load* load);

/* ---- attention and alignment ------------------------------------------------------------------------------------ */

/* The attention weights of one run of the model, which is one part of a sequence. The library runs the sequence once
 * more for them, so they belong to its own tokens, also after a beam search. One thread at a time uses it. */
typedef struct lapilli_attention lapilli_attention;

enum { LAPILLI_ATTENTION_CROSS = 0, LAPILLI_ATTENTION_ENCODER = 1, LAPILLI_ATTENTION_DECODER = 2 };
#define LAPILLI_ATTENTION_MEAN (-1) /* layer or head: the mean of all */
#define LAPILLI_ATTENTION_ALL (-2)  /* layer or head: each of them; only as JSON */

/* Computes the attention of part `part` and waits. `model` is the model of the result. A part with LAPILLI_FINISH_KEPT
 * has no tokens and no weights (LAPILLI_INVALID_ARGUMENT); its alignment maps each word to itself. */
LAPILLI_API lapilli_status lapilli_attention_run(lapilli_model* model, const lapilli_result* result, size_t input,
                                                 size_t sequence, size_t part, lapilli_attention** attention);
LAPILLI_API void lapilli_attention_free(lapilli_attention* attention);

/* Weights in row-major order, [layers, heads, rows, columns]; each row adds up to 1. In cross attention a row belongs
 * to a target token: its weights are those of the step that reads this token and writes the next. A column belongs to a
 * source token. Encoder attention is source by source, decoder attention target by target. */
typedef struct lapilli_attention_map {
  uint32_t struct_size;
  uint32_t layers, heads, rows, columns;
  const float* values;
} lapilli_attention_map;

/* Fills `map` with the weights of `kind` (LAPILLI_ATTENTION_CROSS, ...). */
LAPILLI_API lapilli_status lapilli_attention_get_map(const lapilli_attention* attention, int32_t kind,
                                                     lapilli_attention_map* map);

/* A token and its bytes in the input's text (source tokens) or the sequence's text (target tokens). */
typedef struct lapilli_attention_token {
  uint32_t struct_size;
  int32_t id;
  int32_t special;   /* not 0: a token without text, such as an end or language token; begin and end are 0 */
  const char* label; /* its text, else its name */
  uint64_t begin, end;
} lapilli_attention_token;

/* Fills in token `index`; `target` is 0 for source tokens and 1 for target tokens, which begin with the start token. */
LAPILLI_API lapilli_status lapilli_attention_get_token(const lapilli_attention* attention, int32_t target, size_t index,
                                                       lapilli_attention_token* token);

/* Begin with lapilli_default_attention_choice(). */
typedef struct lapilli_attention_choice {
  uint32_t struct_size;
  int32_t kind;        /* default: LAPILLI_ATTENTION_CROSS */
  int32_t layer, head; /* from 0, LAPILLI_ATTENTION_MEAN or _ALL; default: MEAN */
} lapilli_attention_choice;

/* Give tokens and weights as JSON or as a picture. The labels of an SVG appear in any script; those of a PNG are
 * simple: left to right, one glyph for each code point, [4F60] for a code point that the system's font lacks. A null
 * choice means the defaults. The bytes are valid until the next call of the same function for this attention. */
LAPILLI_API lapilli_status lapilli_attention_json(lapilli_attention* attention, const lapilli_attention_choice* choice,
                                                  const char** json);
LAPILLI_API lapilli_status lapilli_attention_svg(lapilli_attention* attention, const lapilli_attention_choice* choice,
                                                 const char** svg);
LAPILLI_API lapilli_status lapilli_attention_png(lapilli_attention* attention, const lapilli_attention_choice* choice,
                                                 const uint8_t** png, size_t* bytes);

/* A source word and a target word that correspond, as bytes of the input's text and of the sequence's text. */
typedef struct lapilli_word_link {
  uint32_t struct_size;
  float weight; /* share of the target word's attention, 0 to 1 */
  uint64_t source_begin, source_end, target_begin, target_end;
  uint32_t source_word, target_word; /* counted from 0 within this part */
} lapilli_word_link;

/* Finds word pairs by the cross attention of `layer` (LAPILLI_ATTENTION_MEAN: all) and gives their number. The links
 * are in the order of the target and stay until the next call of this function. There are none if the model wrote no
 * text. LAPILLI_INVALID_ARGUMENT for inputs of ids. */
LAPILLI_API lapilli_status lapilli_attention_align(lapilli_attention* attention, int32_t layer, size_t* links);

/* Fills in link `index` of the last lapilli_attention_align. */
LAPILLI_API lapilli_status lapilli_attention_get_link(const lapilli_attention* attention, size_t index,
                                                      lapilli_word_link* link);

enum { LAPILLI_DRAWING_SVG = 1, LAPILLI_DRAWING_PNG = 2 };

/* Begin with lapilli_default_attention_drawing(). */
typedef struct lapilli_attention_drawing {
  uint32_t struct_size;
  int32_t format;      /* LAPILLI_DRAWING_SVG or _PNG, with labels as in lapilli_attention_svg and _png; default: SVG */
  int32_t layer, head; /* for pictures: of the decoder, from 0, or LAPILLI_ATTENTION_MEAN; for segments MEAN only, the
                          mean of the heads that give the times of words; default: MEAN */
  const lapilli_cancel_token* cancel_token; /* default: null, none */
} lapilli_attention_drawing;

/* Draw the attention of each word, in orange, over the picture or over the segment's spectrogram (low sounds below),
 * and give the bytes of a file. Inputs and segments need lapilli_options.keep_attention. LAPILLI_INVALID_DATA if there
 * are no words. The bytes are valid until the job's next event, the next call with the result, or its freeing.
 *
 * A job draws the segment of the LAPILLI_EVENT_SEGMENT that it gave last. A result draws an input that is a picture,
 * for its best sequence, which runs once more; `model` is the model of the result, and the call waits for the device.
 */
LAPILLI_API lapilli_status lapilli_job_draw_attention(lapilli_job* job, const lapilli_attention_drawing* drawing,
                                                      const uint8_t** file, size_t* bytes);
LAPILLI_API lapilli_status lapilli_result_draw_attention(lapilli_model* model, lapilli_result* result, size_t input,
                                                         const lapilli_attention_drawing* drawing, const uint8_t** file,
                                                         size_t* bytes);

/* ---- devices ---------------------------------------------------------------------------------------------------- */

/* Begin with lapilli_default_device_options().
 *
 * Assigned   A scheduler of a cluster assigns GPUs to a process by environment variables, which Vulkan ignores. They
 *            count only with select "assigned". CUDA_VISIBLE_DEVICES (with CUDA_DEVICE_ORDER), ROCR_VISIBLE_DEVICES,
 *            HIP_VISIBLE_DEVICES and ZE_AFFINITY_MASK name GPUs of their vendor; without them _CONDOR_AssignedGPUs,
 *            SLURM_STEP_GPUS or SLURM_JOB_GPUS do. They hold indices, UUIDs, or names of MIG slices.
 *
 *            Tasks of a step with one list of several GPUs take theirs by SLURM_LOCALID. The log says once which one
 *            was chosen and why. A GPU that is assigned and is not among Vulkan's devices is LAPILLI_NO_DEVICE; nothing
 *            takes its place. Where the variables name none ("", "-1", "NoDevFiles"), a CPU driver is used. Where none
 *            is set, it is the best device. The program lapilli uses "assigned" unless --device is given. */
struct lapilli_device_options {
  uint32_t struct_size;
  int32_t refuse_cpu; /* not 0: drivers that compute on the CPU do not count as devices; default: 0 */
  const char* select; /* an index (a whole number), part of the name, a UUID, or a PCI address such as "0000:81:00.0";
                         "assigned": see above; default: null or "", the best device */
  const char* caps;   /* a mask of capabilities such as "floor" or "no-subgroup"; default: null or "", the environment's
                         LAPILLI_CAPS */
  double wait_timeout_s; /* seconds after which a wait without progress fails; INFINITY means some years; default: 0,
                            which is 30 s, and 600 s on CPU drivers */
  int32_t ignore_environment; /* not 0: Lapilli ignores LAPILLI_CAPS and LAPILLI_VULKAN_LIBRARY; the Vulkan loader still
                                 reads its own variables; default: 0 */
  int32_t low_priority;       /* not 0: the queue yields to other programs (VK_KHR_global_priority,
                                 VK_EXT_global_priority), where the driver grants it; not for a host's device;
                                 default: 0 */
  int32_t validation;         /* not 0: use Vulkan's validation layer, if it is installed; default: 0 */
  int32_t debug_names; /* not 0: buffers and recordings have names for debuggers and profilers (VK_EXT_debug_utils), as
                          with `validation`; default: 0 */
  uint32_t max_submit_us; /* limit for a submission in microseconds of the device. The library learns from earlier
                             submissions how much work fits; work that cannot be divided takes its time. Default: 0,
                             which is 50,000, on phones 16,000, and on CPU drivers, which have no time limit, 200,000 */
  uint32_t gap_us;   /* pause in microseconds after each submission of loading, self-test and search, in which other
                        programs, such as a phone's compositor, have the device. It begins when the library notices the
                        end of the submission. A pump returns meanwhile, and a wait waits. At most 1,000,000; no effect
                        where the host appends. Default: 0, none */
  int32_t log_level; /* default: LAPILLI_LOG_NOTE */
  /* Receives the messages of this device and its models up to log_level, instead of lapilli_set_log's function: while
   * it opens, while a function runs that has the device or one of its models as an argument, and while it is destroyed.
   * It is called on the thread of that function, one call at a time, and must live as long as the device, which models
   * keep. Default: null, the process's function. */
  lapilli_log_function log;
  void* log_user;
  const lapilli_store* store;     /* stores data between runs by callbacks; default: null, none */
  const char* cache_directory;    /* stores the same data as files in this folder, which is created; not with `store`;
                                     default: null or "", none */
  const lapilli_workers* workers; /* threads that make pipelines; default: null, the calling thread */
  /* File that gets the times of the device and the host as Trace Events (Perfetto, Chrome) when the device and its
   * models are gone: each dispatch with the bytes of its bindings and its operations, at most a million slices.
   * Searches then submit one step at a time and wait for it, so a traced run is slower. Default: null or "", none. */
  const char* trace_file;
  uint64_t memory_limit; /* limit in bytes of device memory for the weights of all models of this device and all that
                            runs on them together, besides the limits of the models (lapilli_model_options). More fails
                            with LAPILLI_OUT_OF_MEMORY; a batch is split first, if it can be. Default: 0, none */
};

/* Lists every device of this machine as a JSON array, as "lapilli devices --json" does: whether it is usable or the
 * reason for its refusal, and the one that these options select. The string is valid until this thread calls again. */
LAPILLI_API lapilli_status lapilli_devices_json(const lapilli_device_options* options, const char** json);

/* The memory of a device in bytes. Memory is held in blocks, so weight_bytes, session_bytes and transfer_bytes add up
 * to less than held_bytes. */
typedef struct lapilli_device_usage {
  uint32_t struct_size;
  int32_t paused;          /* not 0: between lapilli_device_pause and lapilli_device_resume */
  uint64_t held_bytes;     /* memory from the driver */
  uint64_t weight_bytes;   /* models */
  uint64_t session_bytes;  /* running calls, and sessions kept for later calls: caches, activations */
  uint64_t transfer_bytes; /* transfers between host and device; each session has some */
  uint64_t peak_bytes;     /* maximum of held_bytes since the device was opened */
  uint64_t left_bytes;     /* memory that the driver would still give, as far as it reports this */
} lapilli_device_usage;

/* Never waits for the device. */
LAPILLI_API lapilli_status lapilli_device_get_usage(const lapilli_device* device, lapilli_device_usage* usage);

/* Frees what is only kept for later: unused sessions of its models, prepared ones too, transfer areas, and empty
 * blocks. Running calls continue. A later call makes again what it needs, in some milliseconds, with the same result.
 * Waits for earlier submissions, at most wait_timeout_s. */
LAPILLI_API lapilli_status lapilli_device_trim(lapilli_device* device);
/* Frees the unused sessions of one model in the same way. */
LAPILLI_API lapilli_status lapilli_model_trim(lapilli_model* model);

/* Pauses the device, for programs that go to the background: its calls submit nothing more, and the function waits for
 * earlier submissions, at most wait_timeout_s (then LAPILLI_TIMEOUT; the pause begins all the same). A submission that
 * another thread has just begun still goes out.
 *
 * Calls of lapilli_generate in other threads stop until lapilli_device_resume. Their timeouts exclude the pause, their
 * progress function is called every 10 ms, and they can be cancelled. Jobs and loads do nothing meanwhile. New work
 * that needs the device fails with LAPILLI_INVALID_ARGUMENT: lapilli_generate, lapilli_job_start, loading a model,
 * lapilli_attention_run. A thread that waited there could not resume.
 *
 * Any thread may call these, also the functions that lapilli_generate calls. A second pause has no effect. The memory
 * stays; lapilli_device_trim works during a pause. */
LAPILLI_API lapilli_status lapilli_device_pause(lapilli_device* device);
LAPILLI_API lapilli_status lapilli_device_resume(lapilli_device* device);

/* Stores new data for later runs (lapilli_device_options.store, cache_directory), as lapilli_generate,
 * lapilli_model_prepare and the freeing of models and devices do at their end. Jobs do not, because it takes some
 * milliseconds of file access. Programs that only have jobs and may be killed at any time call it when convenient, for
 * example after a preparation. No effect without a store; a failure to store is a warning in the log. */
LAPILLI_API lapilli_status lapilli_device_store_cache(lapilli_device* device);

/* Writes trace_file (lapilli_device_options) now, with the times so far, so that the program learns of errors:
 * LAPILLI_NOT_FOUND names the reason, such as a full disk. At the end, when the device and its models are gone, an
 * error only appears in the log. LAPILLI_INVALID_ARGUMENT without a trace_file. */
LAPILLI_API lapilli_status lapilli_device_write_trace(lapilli_device* device);

/* The outcome of a tuning. */
typedef struct lapilli_tuning {
  uint32_t struct_size;
  uint32_t choices; /* stored choices for this device, of all models and shapes */
  int32_t complete; /* not 0: all candidates were tried */
  /* The time of the dispatches one by one, with the choices relative to without; 1: nothing changes. */
  double step_ratio, encode_ratio;
} lapilli_tuning;

/* Finds the fastest kernels for jobs of this shape on this device. It compares each candidate with its reference, then
 * times it in turn with the current kernel; a candidate that is 5 % faster, twice, replaces it. The device stores the
 * choices (lapilli_device_options.store or cache_directory; LAPILLI_INVALID_ARGUMENT without either). They take effect
 * on devices that are opened later; results may then differ in the last bits, as they do between devices.
 *
 * It waits, takes about `seconds` (finite, at least 0), and needs memory for a session of its own; call it in loading
 * screens or settings. "lapilli tune" does the same and prints more; its --forget removes the choices.
 *
 * The options num_beams, deterministic (candidates that sum in one order), cancel_token and progress (in milliseconds)
 * of the shape count; source_tokens 0 means 32, target_tokens 0 means 64. A cancellation, also by lapilli_cancel,
 * returns LAPILLI_CANCELLED and keeps the choices so far. `found` may be null and is filled in either case.
 * LAPILLI_UNSUPPORTED if the model has no decoder. */
LAPILLI_API lapilli_status lapilli_model_tune(lapilli_model* model, const lapilli_shape* shape, double seconds,
                                              lapilli_tuning* found);

/* ---- a lost device ---------------------------------------------------------------------------------------------- */

/* Drivers are reset, updated, or time out; GPUs are unplugged. The contents of the device are gone then.
 *
 * Own        The next function that needs a device of lapilli_device_open opens it again: the same GPU, with the same
 *            options. Loads begin again. Models load again when they are next used, once for all their jobs, from their
 *            directory, or from the host's files if these stay (lapilli_model_options.files_stay). Jobs,
 *            lapilli_generate, lapilli_model_prepare and lapilli_attention_run continue. All handles stay valid.
 *
 *            lapilli_load_pump and lapilli_job_pump do this in steps; opening the device is one step and takes its
 * time. The log has a warning.
 *
 * Events     Finished inputs stay. The others run again from their beginning. On the same device the results are equal,
 *            and events and streams continue after the reported text. If the second run differs, on another driver or
 *            device, it runs once more with the reported text as its fixed beginning: lengths count from the same
 *            place, and these ids have no token scores, like those of a decoder_prompt. So no event repeats or
 *            contradicts another.
 *
 * Adopted    Work on a host's device ends with LAPILLI_DEVICE_LOST. The host frees the handles of models and device,
 *            destroys its own device, makes and adopts another one, and loads the model there. lapilli_job_resume then
 *            continues each job in the same way. A job that ended so holds nothing of the device.
 *
 * Errors     The message of LAPILLI_DEVICE_LOST names a remedy. A job survives one loss by itself; a second one ends
 * it, because the work may be too much for the device. A device that is lost again before it has done anything is not
 * opened another time. lapilli_job_resume may follow any of these. */

/* ---- files of the host ------------------------------------------------------------------------------------------ */

/* A model consists of a few files (config.json, weights, tokenizer) with the names that they have in the directory of a
 * published model. If they are not in a directory, lapilli_model_options gives them in one of two ways: as parts, which
 * name a range of memory or of an open file, or as functions.
 *
 * The loading thread reads the files during the load, one call at a time, and never later (except with
 * lapilli_model_options.files_stay): weights in blocks, other files as a whole. The memory, descriptors and `user` that
 * the structs point to stay the caller's and must not change until the load has ended. The structs are copied.
 *
 * A file that cannot be read, ends early or has another length than stated fails the load with an error that names it.
 */

enum { LAPILLI_FILE_MEMORY = 1, LAPILLI_FILE_DESCRIPTOR = 2 };

/* One file: `bytes` from `offset` on, in memory or in an open file (an asset of an APK, a pak file).
 * lapilli_file_in_memory() and lapilli_file_in_descriptor() make one. */
struct lapilli_file_part {
  uint32_t struct_size;
  int32_t kind;       /* LAPILLI_FILE_...; an unknown kind is LAPILLI_UNSUPPORTED, 0 is invalid */
  const char* name;   /* "config.json"; each name once */
  const void* memory; /* LAPILLI_FILE_MEMORY: null only if there are no bytes */
  int64_t descriptor; /* LAPILLI_FILE_DESCRIPTOR: of a regular file that is open for reading: from open(), on Windows a
                         HANDLE (_get_osfhandle(fd) gives it for a C descriptor). Its position does not matter and,
                         except on Windows, does not move, so several parts may share it. A range beyond the file is an
                         error before anything is read */
  uint64_t offset, bytes;
};

/* A file that lapilli_files.open has opened. */
typedef struct lapilli_file {
  uint32_t struct_size; /* set by the library */
  void* handle;         /* the other functions receive it; may be null */
  uint64_t size;        /* in bytes */
} lapilli_file;

/* Functions of the host. Each receives `user`. They must not call functions of Lapilli. Begin with
 * lapilli_default_files(). */
struct lapilli_files {
  uint32_t struct_size;
  void* user;
  /* Fills handle and size of `file`, which is zero, and returns LAPILLI_OK. LAPILLI_NOT_FOUND means that there is no
   * file of that name, which is no error for optional files; another status fails the load. Called at most once for
   * each name in a load. */
  lapilli_status (*open)(void* user, const char* name, lapilli_file* file);
  /* Reads `bytes` bytes (never 0) at `offset`, within the size, to `to`, and sets `done`, which is 0, to their number.
   * A status other than LAPILLI_OK fails the load with it, fewer bytes with LAPILLI_INVALID_DATA, more bytes with
   * LAPILLI_INVALID_ARGUMENT. Not called for a file that `map` gave. */
  lapilli_status (*read)(void* user, void* handle, uint64_t offset, void* to, uint64_t bytes, uint64_t* done);
  /* May be null. Gives the whole file in memory, valid until it is closed, or null for a file that must be read. Called
   * once, after open. */
  const void* (*map)(void* user, void* handle);
  /* Called once for each opened file before the load ends, also after an error. */
  void (*close)(void* user, void* handle);
};

/* ---- data between runs ------------------------------------------------------------------------------------------ */

/* Without a store every start makes all pipelines and tests all kernels again. A store keeps the driver's pipelines and
 * the results of the self-test in a few blobs of kilobytes to megabytes, each with a key. A blob names its driver,
 * device and version of Lapilli, and is used only if it is complete and matches. A missing, truncated, changed or
 * foreign blob makes a start slower and is never an error, and no driver sees it.
 *
 * Keys       They have lower-case letters, digits, '-' and '.', at most 64, and can be file names. A program has up to
 *            three for each device and mask that it uses.
 *
 * Calls      lapilli_device_open calls load and may call store. lapilli_generate, if there is new data,
 *            lapilli_model_free and lapilli_device_close call store; polling functions never do. The callbacks and the
 *            data of `user` must live until the device and all its models are freed; the struct is copied.
 *
 * Threads    The threads that call Lapilli call the callbacks, possibly several at once. They may call only the receive
 *            function that load gets.
 *
 * Crashes    Before the driver gets stored data, a mark is stored. It is removed after the first lapilli_generate or
 * when the device is freed. A later start that finds the mark knows that the process ended in between, removes the
 *            driver's blob and makes a new one. So a driver crashes on its data only once, and killing the process in
 *            this phase costs the next start the time for the pipelines.
 *
 *            In a folder, live processes are told from ended ones. If several processes share one store of callbacks,
 *            some may start without the driver's blob; all are correct.
 *
 * Errors     A blob that cannot be loaded or stored is a note in the log. */

/* Receives `bytes` of a blob during a call of load; any number of times, in order. */
typedef void (*lapilli_receive_function)(void* context, const void* data, size_t bytes);

/* Begin with lapilli_default_store(). */
struct lapilli_store {
  uint32_t struct_size;
  void* user;
  /* Gives the blob that was stored last under `key` to receive(context, ...), or nothing if there is none. Not 0: the
   * blob cannot be read, and the library ignores the received bytes. */
  int32_t (*load)(void* user, const char* key, lapilli_receive_function receive, void* context);
  /* Replaces the blob of this key by `bytes` at `data`, completely or not at all. 0 bytes at null remove it. Not 0: it
   * failed. */
  int32_t (*store)(void* user, const char* key, const void* data, size_t bytes);
};

/* ---- workers ---------------------------------------------------------------------------------------------------- */

/* Lapilli makes no threads. It asks the host for some when it makes several pipelines, which can take seconds: when a
 * job needs them, and during a load that waits; that load is then a task itself, which runs on its own thread. */
typedef void (*lapilli_task_function)(void* context, uint32_t index);

/* Begin with lapilli_default_workers(). */
struct lapilli_workers {
  uint32_t struct_size;
  void* user;
  /* Calls task(context, index) once for each index from 0 to count - 1, on any threads, and returns after all these
   * calls; the calling thread should work too. The library does omitted tasks itself, or leaves them until needed. It
   * may last as long as a load, which calls functions of lapilli_files and of the log.
   *
   * Threads that call Lapilli call it, possibly several at once, but never a task, and only the load while one runs. It
   * must live until the device and all its models are freed; the struct is copied. */
  void (*run)(void* user, uint32_t count, lapilli_task_function task, void* context);
};

/* ---- the host's device ------------------------------------------------------------------------------------------ */

/* A game or an app has a VkDevice already and lends it; docs/embed/embedding-device.md explains this in steps. vulkan.h
 * is not needed here: handles such as VkDevice and function pointers are void*, a VkFence is a uint64_t.
 *
 * Lapilli never destroys an object of the host. The host's objects must outlive the lapilli_device and its models,
 * which make buffers, pipelines, command pools, and a timeline semaphore or fences of their own.
 *
 * Locks      Any thread that works with the device or its models calls the callbacks, one at a time for each device,
 *            while it holds locks of Lapilli. So call no function of Lapilli from a callback or under a lock that a
 *            callback takes, except those of the next paragraph.
 *
 *            lapilli_submission_done, lapilli_device_append, lapilli_device_completed and lapilli_device_dropped call
 *            only Vulkan and take no lock that is held during a callback. They may be called anywhere, also in a
 *            callback. */

/* The requirements of Lapilli for a device that the host makes. Strings and the array are valid until this thread calls
 * again. */
typedef struct lapilli_requirements {
  uint32_t struct_size;
  int32_t usable;        /* 0: `refusal` states why; the other fields are meaningless then */
  uint32_t api_version;  /* apiVersion of VkApplicationInfo: at least this (VK_API_VERSION_1_1) */
  uint32_t queue_family; /* the preferred family: compute without graphics, if there is one; any with compute works */
  /* Features that make Lapilli faster and that the device offers. Enable each with its extension. */
  int32_t timeline_semaphore;    /* timelineSemaphore */
  int32_t storage_16bit;         /* storageBuffer16BitAccess */
  int32_t shader_float16;        /* shaderFloat16 */
  int32_t storage_8bit;          /* storageBuffer8BitAccess */
  int32_t shader_int8;           /* shaderInt8 */
  int32_t integer_dot_product;   /* shaderIntegerDotProduct */
  int32_t subgroup_size_control; /* subgroupSizeControl */
  const char* refusal;           /* null: usable */
  /* Device extensions that the device offers and Lapilli uses. Only VK_KHR_portability_subset is required, where it is
   * offered. Extensions that are core in the instance's version may be omitted. */
  const char* const* extensions;
  size_t extension_count;
} lapilli_requirements;

/* Fills in the requirements before the host makes its device. `get_instance_proc_addr` is a PFN_vkGetInstanceProcAddr,
 * `instance` a VkInstance for Vulkan 1.1 or later, `physical_device` one of its VkPhysicalDevices. A device that cannot
 * be used is no error: it is not `usable`. */
LAPILLI_API lapilli_status lapilli_device_requirements(void* get_instance_proc_addr, void* instance,
                                                       void* physical_device, lapilli_requirements* requirements);

/* A submission that the host makes. */
typedef struct lapilli_submission lapilli_submission;

typedef struct lapilli_submit_info {
  uint32_t struct_size;           /* set by the library */
  uint64_t fence;                 /* VkFence for the submission, or 0 */
  const void* submit_info;        /* const VkSubmitInfo*: submit it unchanged, alone or among others; valid until
                                     lapilli_submission_done */
  lapilli_submission* submission; /* for lapilli_submission_done */
} lapilli_submit_info;

/* Receives a submission. The host submits it to a queue of the named family, now or later, on any thread, after all
 * submissions that it received before. `info` itself is valid only during the call. */
typedef void (*lapilli_submit_function)(void* user, const lapilli_submit_info* info);

/* Reports the result of vkQueueSubmit for a submission, exactly once for each; it is invalid afterwards. The device
 * need not have finished. Null is ignored. After an error, or a negative number if the host does not submit it, the
 * jobs end with LAPILLI_DEVICE_LOST and a message that names it, and nothing more runs on this lapilli_device. */
LAPILLI_API void lapilli_submission_done(lapilli_submission* submission, int32_t vk_result);

typedef void (*lapilli_queue_function)(void* user);

/* Begin with lapilli_default_host_device(), which sets everything to 0. Work reaches the device in one of these ways:
 *
 *   the queue alone                    only Lapilli uses the queue
 *   the queue with lock and unlock     the queue is shared: Lapilli submits between the two calls
 *   submit                             the host submits; the queue may be null
 *   append                             the host's command buffers have the work, see lapilli_device_append; the queue
 *                                      may be null */
typedef struct lapilli_host_device {
  uint32_t struct_size;
  uint32_t api_version;          /* apiVersion of the instance: VK_API_VERSION_1_1 or later */
  void* get_instance_proc_addr;  /* PFN_vkGetInstanceProcAddr */
  void* instance;                /* VkInstance */
  void* physical_device;         /* VkPhysicalDevice */
  void* device;                  /* VkDevice */
  void* queue;                   /* VkQueue */
  uint32_t queue_family;         /* family of the queue that gets the work; it has compute */
  int32_t append;                /* not 0: work goes through lapilli_device_append */
  const char* const* extensions; /* the enabled device extensions, also those that Lapilli does not use */
  size_t extension_count;
  /* Not 0: the feature is enabled. Lapilli does without the others. */
  int32_t timeline_semaphore;
  int32_t storage_16bit;
  int32_t shader_float16;
  int32_t storage_8bit;
  int32_t shader_int8;
  int32_t integer_dot_product;
  int32_t subgroup_size_control;
  void* user;                          /* for the callbacks */
  lapilli_queue_function lock_queue;   /* or null */
  lapilli_queue_function unlock_queue; /* or null */
  lapilli_submit_function submit;      /* or null */
} lapilli_host_device;

/* Makes a lapilli_device of the host's device. LAPILLI_NO_DEVICE, or LAPILLI_INVALID_ARGUMENT for a wrong description,
 * comes with a message that names everything that is missing. The options `select`, `low_priority` and `validation`
 * (except for its names) have no effect. The library does not read `host` after the call.
 *
 * With a submit callback, report all submissions as done before the last of the lapilli_device and its models is freed.
 * Otherwise that waits for them, at most wait_timeout_s, and then leaks the objects that they use. */
LAPILLI_API lapilli_status lapilli_device_adopt(const lapilli_host_device* host, const lapilli_device_options* options,
                                                lapilli_device** device);

typedef struct lapilli_appended {
  uint32_t struct_size;
  uint32_t pieces;      /* pieces of work that were appended to the command buffer */
  uint32_t waiting;     /* pieces that remain for the next command buffer */
  uint64_t serial;      /* for lapilli_device_completed; 0: nothing was appended */
  uint64_t expected_us; /* their expected time, as far as it is known */
} lapilli_appended;

/* Appends pending work to `command_buffer`: a primary VkCommandBuffer in the recording state, outside a render pass,
 * from a pool for the device's queue family. It appends pieces in order while they should take no more than `budget_us`
 * microseconds together (LAPILLI_UNLIMITED: no limit): at least one if the budget is not 0, and none behind a piece of
 * unknown time. A piece is as small as a submission elsewhere.
 *
 * Afterwards the command buffer has no pipeline, descriptor set or push constants bound. The host submits it once; all
 * such command buffers go to one queue, in the order of their serials. Lapilli needs no barriers of the host.
 *
 * All work of Lapilli on the device comes this way, loading and the self-test too. So call functions that wait for the
 * device (lapilli_model_load, lapilli_generate) on another thread than the frames': on that one they end with
 * LAPILLI_TIMEOUT and a message that explains it. */
LAPILLI_API lapilli_status lapilli_device_append(lapilli_device* device, void* command_buffer, uint64_t budget_us,
                                                 lapilli_appended* appended);

/* Reports that the device has finished the command buffer with this serial and all before it, as a fence or a timeline
 * has shown. Report all of them before lapilli_device_close; otherwise the objects that they use leak. */
LAPILLI_API lapilli_status lapilli_device_completed(lapilli_device* device, uint64_t serial);

/* Reports that the command buffers with this serial and later ones will never be submitted: their work is pending
 * again. */
LAPILLI_API lapilli_status lapilli_device_dropped(lapilli_device* device, uint64_t serial);

/* ---- nearest vectors --------------------------------------------------------------------------------------------- */

/* How alike two vectors are; the highest score is the best. */
enum {
  LAPILLI_COSINE = 0,   /* the cosine of the angle between them: from -1 to 1; 0 if one has no length */
  LAPILLI_DOT = 1,      /* their product */
  LAPILLI_EUCLIDEAN = 2 /* their distance, negative: 0 and below */
};

/* Vectors in the program's memory, one behind the other without gaps. */
typedef struct lapilli_vectors {
  uint32_t struct_size;
  uint32_t dimensions; /* numbers of each vector: 1 to 65,536 */
  const float* values; /* count * dimensions numbers; they stay the caller's, and are read during the call only */
  size_t count;
} lapilli_vectors;

/* Options of lapilli_nearest. Begin with lapilli_default_nearest_options(). */
typedef struct lapilli_nearest_options {
  uint32_t struct_size;
  int32_t similarity;                       /* LAPILLI_COSINE, ...; default: LAPILLI_COSINE */
  size_t top;                               /* vectors for each query; at least 1; default: 10 */
  const lapilli_cancel_token* cancel_token; /* default: null, none */
  lapilli_progress_function progress; /* `total` is the number of vectors, for each 32 queries once; default: null,
                                         none */
  void* progress_user;
} lapilli_nearest_options;

/* Finds the vectors that are most similar to each query, exactly: the scores are those of a sum in double precision,
 * equal ones come in the order of their vectors, and the result does not depend on the device. The device computes the
 * products in blocks of some MiB, so that the vectors may be many more than its memory holds; they may lie in a mapped
 * file. The call waits. Any number of threads may call it; each call takes memory for its own two blocks, and smaller
 * ones if the device's memory_limit leaves less.
 *
 * `indices` and `scores` (which may be null) have room for queries->count * n elements, where n is the lesser of `top`
 * and vectors->count. Those of query i begin at i * n, the best first. A device of lapilli_device_open that is lost is
 * opened again, and the call begins again; a paused device holds the call.
 *
 * LAPILLI_INVALID_DATA names a vector that is not finite among those that may be among the best; LAPILLI_CANCELLED if
 * the token or the progress function says so. After an error nothing is written. */
LAPILLI_API lapilli_status lapilli_nearest(lapilli_device* device, const lapilli_vectors* vectors,
                                           const lapilli_vectors* queries, const lapilli_nearest_options* options,
                                           size_t* indices, double* scores);

/* ---- the package ------------------------------------------------------------------------------------------------- */

/* The package that a program is compiled with tells it where the models are: find_package(lapilli) defines
 * LAPILLI_MODELS_DIR. pkg-config defines LAPILLI_PACKAGED, because a shell would remove the quotes of a path; the
 * models then lie relative to this header. A program with the static library finds the bundled model in this way if it
 * is nowhere nearer. */
#if defined(LAPILLI_PACKAGED) && !defined(LAPILLI_MODELS_DIR)
#define LAPILLI_MODELS_DIR __FILE__ "/../../../share/lapilli/models"
#endif
#if defined(LAPILLI_MODELS_DIR) && defined(__GNUC__) && !defined(_WIN32)
extern __attribute__((weak)) const char lapilli_package_models[];
const char lapilli_package_models[] = LAPILLI_MODELS_DIR;
#endif

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

/* The helpers set struct_size and all fields. They copy pointers only: the data stays the caller's. */

/* Makes an input of `bytes` bytes of UTF-8, which need not end with a zero. */
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
  input.source = NULL;
  input.sample_rate = 0;
  input.more_samples = 0;
  input.width = input.height = input.channels = 0;
  input.pixels = NULL;
  input.row_stride = 0;
  input.pair = NULL;
  input.pair_bytes = 0;
  return input;
}

/* Makes an input of a zero-terminated text. */
static inline lapilli_input lapilli_text(const char* text) { return lapilli_text_of(text, LAPILLI_ZERO_TERMINATED); }

/* Makes an input of two zero-terminated texts, for models that read pairs. */
static inline lapilli_input lapilli_pair(const char* text, const char* pair) {
  lapilli_input input = lapilli_text(text);
  input.pair = pair;
  input.pair_bytes = LAPILLI_ZERO_TERMINATED;
  return input;
}

/* Makes an input of token ids, end token included. */
static inline lapilli_input lapilli_tokens(const int32_t* ids, size_t count) {
  lapilli_input input = lapilli_text_of(NULL, 0);
  input.kind = LAPILLI_INPUT_IDS;
  input.ids.ids = ids;
  input.ids.count = count;
  return input;
}

/* Makes an input of a recording with `count` samples, `rate` of them a second (lapilli_model_info.sample_rate). */
static inline lapilli_input lapilli_samples(const float* samples, size_t count, uint32_t rate) {
  lapilli_input input = lapilli_text_of(NULL, 0);
  input.kind = LAPILLI_INPUT_SAMPLES;
  input.samples = samples;
  input.sample_count = count;
  input.sample_rate = rate;
  return input;
}

/* Makes an input of a recording that continues: lapilli_job_append_samples adds its samples. */
static inline lapilli_input lapilli_sample_stream(uint32_t rate) {
  lapilli_input input = lapilli_samples(NULL, 0, rate);
  input.more_samples = 1;
  return input;
}

/* Makes an input of a recording whose samples a function supplies, `rate` of them a second. */
static inline lapilli_input lapilli_pulled_samples(const lapilli_sample_source* source, uint32_t rate) {
  lapilli_input input = lapilli_samples(NULL, 0, rate);
  input.source = source;
  return input;
}

/* Makes an input of a picture: red, green and blue, a byte each, in rows without gaps. */
static inline lapilli_input lapilli_pixels(const uint8_t* pixels, uint32_t width, uint32_t height) {
  lapilli_input input = lapilli_text_of(NULL, 0);
  input.kind = LAPILLI_INPUT_PIXELS;
  input.pixels = pixels;
  input.width = width;
  input.height = height;
  return input;
}

/* Makes an input of a picture file: PNG, JPEG, GIF, BMP, and with libwebp and libtiff WebP and TIFF. */
static inline lapilli_input lapilli_picture_file(const char* path) {
  lapilli_input input = lapilli_text(path);
  input.kind = LAPILLI_INPUT_PICTURE_FILE;
  return input;
}

/* Makes a phrase of `count` ids, at least one. */
static inline lapilli_phrase lapilli_phrase_of(const int32_t* ids, size_t count) {
  lapilli_phrase phrase;
  phrase.struct_size = (uint32_t)sizeof(lapilli_phrase);
  phrase.ids.ids = ids;
  phrase.ids.count = count;
  return phrase;
}

/* Makes a file of `bytes` bytes in memory. */
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

/* Makes a file of a range of an open file. */
static inline lapilli_file_part lapilli_file_in_descriptor(const char* name, int64_t descriptor, uint64_t offset,
                                                           uint64_t bytes) {
  lapilli_file_part part = lapilli_file_in_memory(name, NULL, bytes);
  part.kind = LAPILLI_FILE_DESCRIPTOR;
  part.descriptor = descriptor;
  part.offset = offset;
  return part;
}

/* Makes `count` vectors of `dimensions` numbers each, one behind the other. */
static inline lapilli_vectors lapilli_vectors_of(const float* values, size_t count, uint32_t dimensions) {
  lapilli_vectors vectors;
  vectors.struct_size = (uint32_t)sizeof(lapilli_vectors);
  vectors.dimensions = dimensions;
  vectors.values = values;
  vectors.count = count;
  return vectors;
}

static inline lapilli_nearest_options lapilli_default_nearest_options(void) {
  lapilli_nearest_options o;
  o.struct_size = (uint32_t)sizeof(lapilli_nearest_options);
  o.similarity = LAPILLI_COSINE;
  o.top = 10;
  o.cancel_token = NULL;
  o.progress = NULL;
  o.progress_user = NULL;
  return o;
}

static inline lapilli_device_options lapilli_default_device_options(void) {
  lapilli_device_options o;
  o.struct_size = (uint32_t)sizeof(lapilli_device_options);
  o.refuse_cpu = o.ignore_environment = o.low_priority = o.validation = o.debug_names = 0;
  o.select = o.caps = NULL;
  o.wait_timeout_s = 0;
  o.max_submit_us = o.gap_us = 0;
  o.log_level = LAPILLI_LOG_NOTE;
  o.log = NULL;
  o.log_user = NULL;
  o.store = NULL;
  o.cache_directory = NULL;
  o.workers = NULL;
  o.trace_file = NULL;
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
  h.integer_dot_product = h.subgroup_size_control = 0;
  h.user = NULL;
  h.lock_queue = h.unlock_queue = NULL;
  h.submit = NULL;
  return h;
}

static inline lapilli_store lapilli_default_store(void) {
  lapilli_store s;
  s.struct_size = (uint32_t)sizeof(lapilli_store);
  s.user = NULL;
  s.load = NULL;
  s.store = NULL;
  return s;
}

static inline lapilli_workers lapilli_default_workers(void) {
  lapilli_workers w;
  w.struct_size = (uint32_t)sizeof(lapilli_workers);
  w.user = NULL;
  w.run = NULL;
  return w;
}

static inline lapilli_files lapilli_default_files(void) {
  lapilli_files f;
  f.struct_size = (uint32_t)sizeof(lapilli_files);
  f.user = NULL;
  f.open = NULL;
  f.read = NULL;
  f.map = NULL;
  f.close = NULL;
  return f;
}

static inline lapilli_model_options lapilli_default_model_options(void) {
  lapilli_model_options o;
  o.struct_size = (uint32_t)sizeof(lapilli_model_options);
  o.dtype = o.kv_dtype = LAPILLI_DTYPE_FP32;
  o.files_stay = 0;
  o.memory_limit = 0;
  o.files = NULL;
  o.parts = NULL;
  o.part_count = 0;
  o.no_prefix_cache = 0;
  return o;
}

static inline lapilli_sample_source lapilli_default_sample_source(void) {
  lapilli_sample_source s;
  s.struct_size = (uint32_t)sizeof(lapilli_sample_source);
  s.count = 0;
  s.user = NULL;
  s.read = NULL;
  return s;
}

static inline lapilli_attention_choice lapilli_default_attention_choice(void) {
  lapilli_attention_choice c;
  c.struct_size = (uint32_t)sizeof(lapilli_attention_choice);
  c.kind = LAPILLI_ATTENTION_CROSS;
  c.layer = c.head = LAPILLI_ATTENTION_MEAN;
  return c;
}

static inline lapilli_attention_drawing lapilli_default_attention_drawing(void) {
  lapilli_attention_drawing d;
  d.struct_size = (uint32_t)sizeof(lapilli_attention_drawing);
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

static inline lapilli_speech_options lapilli_default_speech_options(void) {
  lapilli_speech_options o;
  o.struct_size = (uint32_t)sizeof(lapilli_speech_options);
  o.word_times = o.condition_on_previous = 0;
  o.compression_ratio_threshold = o.logprob_threshold = o.no_speech_threshold = NAN;
  o.interim_samples = o.chunks = 0;
  o.temperatures = NULL;
  o.temperature_count = 0;
  return o;
}

static inline lapilli_picture_options lapilli_default_picture_options(void) {
  lapilli_picture_options o;
  o.struct_size = (uint32_t)sizeof(lapilli_picture_options);
  o.classes = 5;
  return o;
}

static inline lapilli_encoder_options lapilli_default_encoder_options(void) {
  lapilli_encoder_options o;
  o.struct_size = (uint32_t)sizeof(lapilli_encoder_options);
  o.dimensions = 0;
  o.normalize = 0;
  o.top_classes = 5;
  o.prompt_name = o.hypothesis = o.entailment = o.aggregation = NULL;
  o.labels = o.ignored_labels = NULL;
  o.label_count = o.ignored_label_count = 0;
  o.multi_label = o.allow_empty = o.cut_texts = o.part_words = 0;
  o.top_spans = o.window = o.stride = 0;
  o.max_answer_tokens = 15;
  return o;
}

static inline lapilli_chat_options lapilli_default_chat_options(void) {
  lapilli_chat_options o;
  o.struct_size = (uint32_t)sizeof(lapilli_chat_options);
  o.use = o.leave_out_thoughts = 0;
  o.system = o.messages = o.tools = o.arguments = NULL;
  o.stops = NULL;
  o.stop_count = 0;
  return o;
}

static inline lapilli_options lapilli_default_options(void) {
  lapilli_options o;
  const lapilli_ids not_given = {NULL, 0};
  o.struct_size = (uint32_t)sizeof(lapilli_options);
  o.num_beams = o.num_return_sequences = LAPILLI_MODEL_DEFAULT;
  o.task = o.source_language = o.target_language = o.prompt = NULL;
  o.max_length = o.max_new_tokens = o.min_length = o.min_new_tokens = LAPILLI_MODEL_DEFAULT;
  o.early_stopping = o.no_repeat_ngram_size = LAPILLI_MODEL_DEFAULT;
  o.decoder_start_token = o.forced_bos_token = o.forced_eos_token = LAPILLI_MODEL_DEFAULT;
  o.length_penalty = o.repetition_penalty = NAN;
  o.split_sentences = LAPILLI_MODEL_DEFAULT;
  o.batch = o.steps_in_flight = 0;
  o.deterministic = o.keep_attention = 0;
  o.json = NULL;
  o.end_tokens = o.suppress_tokens = o.begin_suppress_tokens = o.decoder_prompt = not_given;
  o.bad_words = NULL;
  o.bad_word_count = 0;
  o.input_numbers = NULL;
  o.cancel_token = NULL;
  o.progress = NULL;
  o.progress_user = NULL;
  o.stream = NULL;
  o.stream_user = NULL;
  o.speech = NULL;
  o.picture = NULL;
  o.encoder = NULL;
  o.chat = NULL;
  return o;
}

#ifdef __cplusplus
}
#endif

#endif /* LAPILLI_LAPILLI_H */
