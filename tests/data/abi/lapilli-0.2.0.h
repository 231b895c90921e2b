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
 * Threads    A device, a model and a cancel token may be used by any number of threads at once, a result by one at a
 *            time. A handle must not be freed while another thread begins a call with it.
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
  LAPILLI_DEVICE_LOST = 7,
  LAPILLI_TIMEOUT = 8,
  LAPILLI_CANCELLED = 9,
  LAPILLI_INTERNAL = 10 /* a bug in Lapilli */
};

/* "0.2.0", of the library that runs; LAPILLI_VERSION_... are those of the header. */
LAPILLI_API const char* lapilli_version(void);

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

typedef struct lapilli_device_options {
  uint32_t struct_size;
  int32_t validation;    /* not 0: Vulkan's validation layer, where it is installed */
  const char* select;    /* null or "": the best device; else an index (a whole number), part of the name, or UUID */
  const char* caps;      /* null or "": LAPILLI_CAPS of the environment; else a mask such as "floor" or "no-subgroup" */
  double wait_timeout_s; /* a wait without progress fails after this time; 0: 30 s, on CPU drivers 600 s; INFINITY is
                            taken for a few years */
} lapilli_device_options;

LAPILLI_API lapilli_status lapilli_device_open(const lapilli_device_options* options, lapilli_device** device);
LAPILLI_API void lapilli_device_close(lapilli_device* device);

/* Every device of this machine as a JSON array (what `lapilli devices --json` prints), usable or refused with the
 * reason, and which one these options would choose. The string is valid until this thread asks again. */
LAPILLI_API lapilli_status lapilli_devices_json(const lapilli_device_options* options, const char** json);

/* ---- models ----------------------------------------------------------------------------------------------------- */

typedef struct lapilli_model lapilli_model;

/* Loads a model onto a device, which may have others, and which the model keeps: it may be closed afterwards.
 * `directory` is as published (config.json, weights, tokenizer). Null or "": the directory that LAPILLI_MODEL names,
 * or else the bundled English-French model, found relative to the program or the library. */
LAPILLI_API lapilli_status lapilli_model_load(lapilli_device* device, const char* directory, lapilli_model** model);
LAPILLI_API void lapilli_model_free(lapilli_model* model);

typedef struct lapilli_model_options {
  uint32_t struct_size;
  uint64_t memory_limit; /* bytes of device memory for weights and everything that runs on them together; 0: what the
                            device has. A model whose weights exceed it is refused, batches that do are run in parts */
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
} lapilli_model_info;

LAPILLI_API lapilli_status lapilli_model_get_info(const lapilli_model* model, lapilli_model_info* info);

/* ---- generation ------------------------------------------------------------------------------------------------- */

/* Token ids, as a field of structs. With a null pointer: not given. With a pointer and count 0: given, and empty. */
typedef struct lapilli_ids {
  const int32_t* ids;
  size_t count;
} lapilli_ids;

/* What an input is. The numbers 3 (audio) and 4 (image) are kept for later. */
enum { LAPILLI_INPUT_TEXT = 1, LAPILLI_INPUT_IDS = 2 };

/* One input; lapilli_text(), lapilli_text_of() and lapilli_tokens() make them. Fields of other kinds are not read. */
typedef struct lapilli_input {
  uint32_t struct_size;
  int32_t kind;      /* LAPILLI_INPUT_...; one that the library does not know is LAPILLI_UNSUPPORTED, 0 is invalid */
  const char* text;  /* LAPILLI_INPUT_TEXT */
  size_t text_bytes; /* LAPILLI_ZERO_TERMINATED: up to the first zero byte */
  lapilli_ids ids;   /* LAPILLI_INPUT_IDS: end token included, no padding */
} lapilli_input;
#define LAPILLI_ZERO_TERMINATED ((size_t)-1)

/* Ids that follow each other; lapilli_phrase_of() makes them. */
typedef struct lapilli_phrase {
  uint32_t struct_size;
  lapilli_ids ids; /* at least one */
} lapilli_phrase;

/* Ends the calls of lapilli_generate that were given it in lapilli_options, and no others. Once cancelled it stays so:
 * a call that is given it later ends at once. */
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
 * inputs, of which one that is run sentence by sentence counts as often as it has sentences. */
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
} lapilli_options;

/* Results of one lapilli_generate. */
typedef struct lapilli_result lapilli_result;

/* Runs `count` inputs through the model; they are sorted into batches by length, the results keep the order given.
 * An input that cannot be used (invalid UTF-8, too long, ids outside the vocabulary, alone too much for the memory)
 * does not stop the others: its own lapilli_result_get fails. After a cancellation the status is LAPILLI_CANCELLED and
 * *result still holds the finished inputs; after any other error *result is null. */
LAPILLI_API lapilli_status lapilli_generate(lapilli_model* model, const lapilli_input* inputs, size_t count,
                                            const lapilli_options* options, lapilli_result** result);

/* Cancels all calls of lapilli_generate that are running on this model, whoever made them, and none that begins later;
 * for one of them see lapilli_cancel_token. From any thread, also from a signal handler. */
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
                      or more, and what it was made from does not. It is no good then, and its end is mostly missing */
  /* Of the input: how many tokens hold letters, and how many of these the model does not know (its unknown token). If
   * most are unknown, the text is hardly in a language and script of the model's. 0 where ids came in. */
  uint32_t word_tokens, unknown_tokens;
  /* With the task "translate": the first URL or e-mail address of the input that is not in `text` as it stood there;
   * null if they all are. */
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
} lapilli_stats;

LAPILLI_API lapilli_status lapilli_result_get_stats(const lapilli_result* result, lapilli_stats* stats);
LAPILLI_API void lapilli_result_free(lapilli_result* result);

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

/* ---- the package ------------------------------------------------------------------------------------------------- */

/* find_package(lapilli) and pkg-config define where the package that a program is compiled with has its models. A
 * static library is within the program, wherever that lies, and finds the bundled model by this, if nowhere nearer. */
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

static inline lapilli_phrase lapilli_phrase_of(const int32_t* ids, size_t count) {
  lapilli_phrase phrase;
  phrase.struct_size = (uint32_t)sizeof(lapilli_phrase);
  phrase.ids.ids = ids;
  phrase.ids.count = count;
  return phrase;
}

static inline lapilli_device_options lapilli_default_device_options(void) {
  lapilli_device_options o;
  o.struct_size = (uint32_t)sizeof(lapilli_device_options);
  o.validation = 0;
  o.select = o.caps = NULL;
  o.wait_timeout_s = 0;
  return o;
}

static inline lapilli_model_options lapilli_default_model_options(void) {
  lapilli_model_options o;
  o.struct_size = (uint32_t)sizeof(lapilli_model_options);
  o.memory_limit = 0;
  return o;
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
  return o;
}

#ifdef __cplusplus
}
#endif

#endif /* LAPILLI_LAPILLI_H */
