// Lapilli for C++17 and later: RAII over lapilli.h, header only, EXPERIMENTAL like it.
//
//   auto model = lapilli::Model::load().value();                         // the bundled English-French model
//   auto results = model.translate({"Where is the station?"}).value();
//   std::puts(results[0].text().c_str());
//
// Every function that can fail returns a Result: test it, then take value() or error(). value() of a failure throws the
// Error, or ends the program where exceptions are off, so code that tests first works with both.
//
// Device, Model, Job, Loading and Attention can be empty: default-constructed or moved from. They convert to bool, and
// their functions then return an error with Status::invalid_argument.
//
// Comments here name the counterpart in lapilli.h, which is the manual.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "lapilli/lapilli.h"

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#include <exception>
#define LAPILLI_HPP_EXCEPTIONS 1
#endif

namespace lapilli {
inline namespace v0 {  // separates these names from the library's own

// ---- errors ----

// See lapilli_status.
enum class Status : lapilli_status {
  ok = LAPILLI_OK,
  invalid_argument = LAPILLI_INVALID_ARGUMENT,
  not_found = LAPILLI_NOT_FOUND,
  invalid_data = LAPILLI_INVALID_DATA,
  unsupported = LAPILLI_UNSUPPORTED,
  out_of_memory = LAPILLI_OUT_OF_MEMORY,
  no_device = LAPILLI_NO_DEVICE,
  device_lost = LAPILLI_DEVICE_LOST,
  timeout = LAPILLI_TIMEOUT,
  cancelled = LAPILLI_CANCELLED,
  internal = LAPILLI_INTERNAL
};

// Returns a name such as "not found".
inline const char* name_of(Status status) { return lapilli_status_name(static_cast<lapilli_status>(status)); }

enum class LogLevel : int32_t {
  error = LAPILLI_LOG_ERROR,
  warning = LAPILLI_LOG_WARNING,
  note = LAPILLI_LOG_NOTE,
  verbose = LAPILLI_LOG_VERBOSE
};

// The reason for a failure, its place and the remedy.
class Error
#ifdef LAPILLI_HPP_EXCEPTIONS
    : public std::exception
#endif
{
 public:
  Error(Status status, std::string message) : status_(status), message_(std::move(message)) {}
  Status status() const noexcept { return status_; }
  const std::string& message() const noexcept { return message_; }
  const char* what() const noexcept
#ifdef LAPILLI_HPP_EXCEPTIONS
      override
#endif
  {
    return message_.c_str();
  }

 private:
  Status status_;
  std::string message_;
};

namespace detail {
[[noreturn]] inline void raise(const Error& error) {
#ifdef LAPILLI_HPP_EXCEPTIONS
  throw Error(error);
#else
  std::fprintf(stderr, "lapilli: %s\n", error.what());
  std::abort();
#endif
}
}  // namespace detail

// A value or an Error. A Result<bool> does not convert to bool: ask ok() and value().
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : v_(std::in_place_index<1>, std::move(error)) {}
  bool ok() const noexcept { return v_.index() == 0; }
  template <class U = T, std::enable_if_t<!std::is_same_v<U, bool>, int> = 0>
  explicit operator bool() const noexcept {
    return ok();
  }
  const Error& error() const { return std::get<1>(v_); }  // only after !ok()
  T& value() & { return check(), std::get<0>(v_); }
  const T& value() const& { return check(), std::get<0>(v_); }
  T&& value() && { return check(), std::get<0>(std::move(v_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  void check() const {
    if (!ok()) detail::raise(error());
  }
  std::variant<T, Error> v_;
};

// Success or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}
  bool ok() const noexcept { return !error_; }
  explicit operator bool() const noexcept { return ok(); }
  const Error& error() const { return error_.value(); }  // only after !ok()
  void value() const {
    if (error_) detail::raise(*error_);
  }

 private:
  std::optional<Error> error_;
};

namespace detail {

// The error of this thread's last call.
inline Error last_error(lapilli_status status) { return Error(static_cast<Status>(status), lapilli_last_error()); }

inline Result<void> outcome(lapilli_status status) {
  if (status != LAPILLI_OK) return last_error(status);
  return {};
}

// An out struct.
template <class S>
S sized() {
  S s{};
  s.struct_size = sizeof s;
  return s;
}

// The out struct that `call` fills.
template <class S, class Call>
Result<S> filled(Call&& call) {
  S s = sized<S>();
  if (const lapilli_status status = call(&s)) return last_error(status);
  return s;
}

// The flag that `call` sets.
template <class Call>
Result<bool> flag(Call&& call) {
  int32_t set = 0;
  if (const lapilli_status status = call(&set)) return last_error(status);
  return set != 0;
}

#ifdef LAPILLI_HPP_EXCEPTIONS
// Carries an exception of the program's functions over the C interface.
class Carried {
 public:
  // `f` gives a T; the result is `failed` if it throws.
  template <class T, class F>
  T call(F&& f, T failed) {
    try {
      return f();
    } catch (...) {
      thrown_ = std::current_exception();
      return failed;
    }
  }
  void rethrow() {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  std::exception_ptr thrown_;
};
#else
class Carried {
 public:
  template <class T, class F>
  T call(F&& f, T) {
    return f();
  }
  void rethrow() {}
};
#endif

}  // namespace detail

using Ids = std::vector<int32_t>;

// ---- options of devices and models ----

// See lapilli_device_options. The caller owns the pointers, which live as long as the device and its models.
struct DeviceOptions {
  std::string select;          // index (a whole number), part of the name, UUID, PCI address, or "assigned" (lapilli.h)
  std::string caps;            // a mask of capabilities; empty: LAPILLI_CAPS
  double wait_timeout_s = 0;   // 0: 30 s, and 600 s on CPU drivers
  uint32_t max_submit_us = 0;  // 0: chosen by the class of the device
  uint32_t gap_us = 0;         // pause after each submission; 0: none
  uint64_t memory_limit = 0;   // bytes of all models of the device together; 0: no limit
  bool refuse_cpu = false;     // drivers that compute on the CPU do not count
  bool ignore_environment = false, low_priority = false, validation = false, debug_names = false;
  std::string cache_directory;         // folder of the data between runs; empty: none
  std::string trace_file;              // empty: none
  lapilli_log_function log = nullptr;  // null: the function of lapilli_set_log
  void* log_user = nullptr;
  LogLevel log_level = LogLevel::note;
  const lapilli_store* store = nullptr;
  const lapilli_workers* workers = nullptr;
};

// A model file that the program reads itself; its destructor closes it. Only the loading thread uses it.
class FileReader {
 public:
  virtual ~FileReader() = default;
  virtual uint64_t size() const = 0;
  // Reads `bytes` bytes at `offset`, within size(), to `to` and sets `done`, which is 0, to their number. A status
  // other than ok, or fewer bytes, fail the load.
  virtual Status read(uint64_t offset, void* to, uint64_t bytes, uint64_t& done) = 0;
  // Gives all of it in memory, valid as long as this object, or null if it must be read.
  virtual const void* map() { return nullptr; }
};

// A file in memory, or a range of an open file; see lapilli_file_part. The memory or descriptor stays the caller's.
struct FilePart {
  static FilePart in_memory(std::string name, const void* memory, uint64_t bytes) {
    return {std::move(name), lapilli_file_in_memory(nullptr, memory, bytes)};
  }
  static FilePart in_descriptor(std::string name, int64_t descriptor, uint64_t offset, uint64_t bytes) {
    return {std::move(name), lapilli_file_in_descriptor(nullptr, descriptor, offset, bytes)};
  }
  std::string name;
  lapilli_file_part part;  // without the name
};

// The format in which a device holds a model's matrices; see LAPILLI_DTYPE_FP32.
enum class Dtype : int32_t {
  fp32 = LAPILLI_DTYPE_FP32,
  automatic = LAPILLI_DTYPE_AUTO,
  bf16 = LAPILLI_DTYPE_BF16,
  fp16 = LAPILLI_DTYPE_FP16,
  int8 = LAPILLI_DTYPE_INT8,
  int4 = LAPILLI_DTYPE_INT4
};

// See lapilli_model_options.
struct ModelOptions {
  Dtype dtype = Dtype::fp32;
  Dtype kv_dtype = Dtype::fp32;  // of keys and values: fp32, fp16 or automatic
  uint64_t memory_limit = 0;     // bytes of device memory; 0: the memory of the device
  // The source of the files, if they are not in a directory: parts, or a function that opens a file by name and returns
  // Status::not_found if there is none.
  std::vector<FilePart> parts;
  bool prefix_cache = true;  // prompts that begin alike share what was computed
  bool parts_stay = false;   // memory and descriptors of the parts stay as long as the model and its jobs
  std::function<Result<std::unique_ptr<FileReader>>(const std::string& name)> open_file;
};

namespace detail {

// ModelOptions::open_file as C functions.
struct FileCalls {
  const ModelOptions* options = nullptr;
  Carried carried{};
  lapilli_status open(const char* name, lapilli_file* file) {
    auto reader = options->open_file(name);
    if (!reader) return static_cast<lapilli_status>(reader.error().status());
    if (!*reader) return LAPILLI_NOT_FOUND;
    file->size = (*reader)->size();
    file->handle = (*reader).release();
    return LAPILLI_OK;
  }
  static FileCalls& of(void* user) { return *static_cast<FileCalls*>(user); }
  static FileReader& reader_of(void* handle) { return *static_cast<FileReader*>(handle); }
  lapilli_files functions() {
    lapilli_files f = lapilli_default_files();
    f.user = this;
    f.open = [](void* user, const char* name, lapilli_file* file) {
      return of(user).carried.call([&] { return of(user).open(name, file); }, lapilli_status{LAPILLI_INTERNAL});
    };
    f.read = [](void* user, void* handle, uint64_t offset, void* to, uint64_t bytes, uint64_t* done) {
      const auto read = [&] { return static_cast<lapilli_status>(reader_of(handle).read(offset, to, bytes, *done)); };
      return of(user).carried.call(read, lapilli_status{LAPILLI_INTERNAL});
    };
    f.map = [](void* user, void* handle) {
      return of(user).carried.call([&] { return reader_of(handle).map(); }, static_cast<const void*>(nullptr));
    };
    f.close = [](void*, void* handle) { delete static_cast<FileReader*>(handle); };
    return f;
  }
};

// ModelOptions as C options, which point into this object.
class ModelSource {
 public:
  explicit ModelSource(const ModelOptions& options) : options_(options) {
    with_.memory_limit = options_.memory_limit;
    with_.dtype = static_cast<int32_t>(options_.dtype);
    with_.kv_dtype = static_cast<int32_t>(options_.kv_dtype);
    with_.no_prefix_cache = options_.prefix_cache ? 0 : 1;
    for (const FilePart& file : options_.parts) parts_.push_back(file.part), parts_.back().name = file.name.c_str();
    with_.parts = parts_.empty() ? nullptr : parts_.data();
    with_.part_count = parts_.size();
    with_.files_stay = options_.parts_stay && !options_.open_file;
    if (options_.open_file) with_.files = &files_;
  }
  ModelSource(const ModelSource&) = delete;
  ModelSource& operator=(const ModelSource&) = delete;
  const lapilli_model_options& c_options() const noexcept { return with_; }
  // Throws the exception of open_file or of a reader, if there was one.
  void rethrow() { calls_.carried.rethrow(); }

 private:
  const ModelOptions options_;
  FileCalls calls_{&options_};
  const lapilli_files files_ = calls_.functions();
  std::vector<lapilli_file_part> parts_;
  lapilli_model_options with_ = lapilli_default_model_options();
};

}  // namespace detail

// ---- options of generation ----

// Cancels the calls whose options hold it (Options::cancel_token), and no others; see lapilli_cancel_token. Copies are
// the same token. Any thread or signal handler may call cancel().
class CancelToken {
 public:
  // Fails like any allocation if there is no memory.
  CancelToken() : token_(make().value(), [](lapilli_cancel_token* t) { lapilli_cancel_token_free(t); }) {}
  void cancel() const noexcept { lapilli_cancel_token_cancel(token_.get()); }
  bool cancelled() const noexcept { return lapilli_cancel_token_cancelled(token_.get()) != 0; }
  const lapilli_cancel_token* handle() const noexcept { return token_.get(); }

 private:
  static Result<lapilli_cancel_token*> make() {
    lapilli_cancel_token* token = nullptr;
    if (const lapilli_status status = lapilli_cancel_token_create(&token)) return detail::last_error(status);
    return token;
  }
  std::shared_ptr<lapilli_cancel_token> token_;
};

enum class EarlyStopping : int32_t {
  no = LAPILLI_EARLY_STOPPING_FALSE,
  yes = LAPILLI_EARLY_STOPPING_TRUE,
  never = LAPILLI_EARLY_STOPPING_NEVER
};

// For models that transcribe sound in windows; see lapilli_speech_options.
struct SpeechOptions {
  bool word_times = false;             // Segment::words
  bool condition_on_previous = false;  // a window reads the text of those before it
  std::optional<float> compression_ratio_threshold, logprob_threshold, no_speech_threshold;  // empty: no threshold
  std::vector<float> temperatures;  // of the attempts at a window; empty: one attempt
  uint32_t interim_samples = 0;     // interim results each time this many samples are new; 0: none
  uint32_t chunks = 0;              // complete recordings are cut, and this many chunks run at a time; 0: not cut
};

// For models that read pictures; see lapilli_picture_options.
struct PictureOptions {
  uint32_t classes = 5;  // most classes in Output::classes
};

// For encoders of texts; see lapilli_encoder_options.
struct EncoderOptions {
  uint32_t dimensions = 0;            // the first numbers of each vector alone; 0: all
  bool normalize = false;             // vectors have length 1
  uint32_t top_classes = 5;           // most classes in Output::classes
  std::string prompt_name;            // among the directory's prompts; empty: by Options::task, or the default
  std::optional<std::string> prompt;  // before each text; "": none
  std::vector<std::string> labels;    // classes that the model was not trained for
  std::string hypothesis, entailment;
  bool multi_label = false;
  uint32_t top_spans = 0;   // most answers, or words for a mask; 0: 1 answer or 5 words
  std::string aggregation;  // of tags; empty: "simple"
  bool allow_empty = false;
  uint32_t max_answer_tokens = 15;
  uint32_t window = 0, stride = 0;  // tokens; 0: chosen
  bool cut_texts = false;           // no windows
  bool part_words = false;          // answers may begin and end within a word
  // Labels of spans that are left out; none: "O" alone, and with an empty list no label.
  std::optional<std::vector<std::string>> ignored_labels;
};

// For decoders alone; see lapilli_chat_options. JSON is text here; empty: none.
struct ChatOptions {
  bool use = false;  // texts are said in a chat, outputs are answers
  std::string system, messages, tools, arguments;
  std::vector<std::string> stops;
  bool leave_out_thoughts = false;
};

// See lapilli_options. The model's generation_config decides empty fields. LAPILLI_NO_TOKEN switches a token off.
struct Options {
  // "translate", "summarize" or "generate"; for sound "transcribe" or "translate"; for vectors "query" or "document".
  // Empty: translate() translates, summarize() summarizes, generate() has no conventions.
  std::string task;
  std::string source_language, target_language;
  std::string prompt;  // text before the output, for sound and pictures
  std::optional<int32_t> num_beams, num_return_sequences;
  std::optional<int32_t> max_length, max_new_tokens, min_length, min_new_tokens;  // tokens
  std::optional<EarlyStopping> early_stopping;
  std::optional<int32_t> no_repeat_ngram_size;
  std::optional<int32_t> decoder_start_token, forced_bos_token, forced_eos_token;
  std::optional<float> length_penalty, repetition_penalty;
  std::optional<bool> split_sentences;      // empty: long texts, if the task is to translate
  uint32_t batch = 0, steps_in_flight = 0;  // 0: chosen
  bool deterministic = false;               // results do not depend on other inputs
  bool keep_attention = false;              // for draw_attention()
  std::string json;                         // further options, as generation_config.json writes them
  std::optional<Ids> end_tokens, suppress_tokens, begin_suppress_tokens, decoder_prompt;
  std::optional<std::vector<Ids>> bad_words;
  std::vector<uint64_t> input_numbers;  // sampling: a number for each input; empty: 0, 1, 2, ...
  std::optional<CancelToken> cancel_token;
  // The generating thread calls these two; false cancels. Not in jobs, which have events.
  std::function<bool(uint64_t done, uint64_t total)> progress;
  std::function<bool(size_t input, std::string_view text, const Ids& ids)> stream;
  SpeechOptions speech;
  PictureOptions picture;
  EncoderOptions encoder;
  ChatOptions chat;
};

// ---- inputs ----

// Inputs of recordings and pictures; see lapilli_samples() and the others. They point to the caller's memory until the
// call that gets them returns.
inline lapilli_input samples(const std::vector<float>& recording, uint32_t rate) {
  return lapilli_samples(recording.data(), recording.size(), rate);
}
inline lapilli_input sample_stream(uint32_t rate) { return lapilli_sample_stream(rate); }
// The data of `source` must live until the job has ended.
inline lapilli_input pulled_samples(const lapilli_sample_source& source, uint32_t rate) {
  return lapilli_pulled_samples(&source, rate);
}
inline lapilli_input pixels(const uint8_t* rgb, uint32_t width, uint32_t height) {
  return lapilli_pixels(rgb, width, height);
}
inline lapilli_input picture_file(const std::string& path) { return lapilli_picture_file(path.c_str()); }

// ---- results ----

// See LAPILLI_FINISH_STOP.
enum class Finish : int32_t { stop = LAPILLI_FINISH_STOP, length = LAPILLI_FINISH_LENGTH, kept = LAPILLI_FINISH_KEPT };

// See lapilli_word.
struct Word {
  std::string text;
  double begin = 0, end = 0;  // seconds
  float probability = 0;
  Ids ids;
};

// See lapilli_segment. Events leave repeats, window_begin and doubtful at their defaults.
struct Segment {
  std::string text;
  double begin = 0, end = 0;  // seconds
  Ids ids;
  std::string language;  // "": the model knows none
  std::vector<Word> words;
  float log_probability = 0, no_speech_probability = 0;
  bool repeats = false;
  double window_begin = 0;
  bool doubtful = false;
};

// See lapilli_class.
struct Class {
  uint32_t index = 0;
  std::string label;
  double score = 0, probability = 0;
  double published_score = 0;  // of texts
};

// See lapilli_span.
struct Span {
  std::string label, text, filled;
  double score = 0;
  size_t begin = 0, end = 0;                      // bytes
  size_t first_character = 0, end_character = 0;  // code points
  int32_t token = -1;
};

// A run of the model that is a part of a sequence, or a kept text; see lapilli_part.
struct Part {
  std::string text;
  Ids ids;
  float score = 0;
  size_t source_begin = 0, source_end = 0;  // bytes of the input's text
  size_t target_begin = 0, target_end = 0;  // bytes of the sequence's text
  Finish finish = Finish::stop;
  bool repeats = false;
};

// See lapilli_sequence.
struct Sequence {
  std::string text;
  Ids ids;  // without the start token, with the end token
  float score = 0;
  std::vector<float> token_scores;  // logarithm of each id's probability; NaN for ids of the decoder prompt
  std::vector<Part> parts;          // one, unless the text was split
  Finish finish = Finish::stop;
  bool repeats = false;
  uint32_t word_tokens = 0, unknown_tokens = 0;
  std::string lost_address;  // a URL, an e-mail address or a placeholder; "": none
};

// The output of one input: sequences, best first, or an error.
struct Output {
  std::vector<Sequence> sequences;
  std::vector<Segment> segments;  // of a recording, also of one that failed later
  std::vector<Class> classes;     // of a picture or a text, the likeliest first
  std::vector<float> vector;      // of a text, from a model that makes vectors
  std::vector<Span> spans;        // of a text: tags, answers or words for masks
  // The reading of a text by an encoder; see lapilli_reading.
  uint32_t tokens = 0, windows = 0;
  bool cut = false;
  std::optional<Error> error;
  bool ok() const noexcept { return !error.has_value(); }
  // The best text; empty if this input failed.
  const std::string& text() const noexcept {
    static const std::string none;
    return sequences.empty() ? none : sequences.front().text;
  }
};

namespace detail {

struct FreeResult {
  void operator()(lapilli_result* r) const noexcept { lapilli_result_free(r); }
};
using ResultHandle = std::unique_ptr<lapilli_result, FreeResult>;

inline Ids to_ids(const lapilli_ids& ids) { return ids.count == 0 ? Ids() : Ids(ids.ids, ids.ids + ids.count); }

inline Word to_word(const lapilli_word& from) {
  return {std::string(from.text, from.text_bytes), from.begin, from.end, from.probability, to_ids(from.ids)};
}

// Converts a lapilli_segment or a lapilli_event_segment. get_word(number, &word) gives its words.
template <class S, class GetWord>
Segment to_segment(const S& from, GetWord&& get_word) {
  Segment to;
  to.text.assign(from.text, from.text_bytes);
  to.begin = from.begin;
  to.end = from.end;
  to.ids = to_ids(from.ids);
  if (from.language) to.language = from.language;
  to.log_probability = from.log_probability;
  to.no_speech_probability = from.no_speech_probability;
  for (size_t w = 0; w < from.words; ++w) {
    lapilli_word word = sized<lapilli_word>();
    if (get_word(w, &word) == LAPILLI_OK) to.words.push_back(to_word(word));
  }
  return to;
}

inline std::vector<Segment> segments_of(const lapilli_result* result, size_t input) {
  std::vector<Segment> all;
  size_t count = 0;
  lapilli_result_segments(result, input, &count);
  for (size_t i = 0; i < count; ++i) {
    lapilli_segment segment = sized<lapilli_segment>();
    if (lapilli_result_get_segment(result, input, i, &segment) != LAPILLI_OK) break;
    const auto get_word = [&](size_t w, lapilli_word* to) { return lapilli_result_get_word(result, input, i, w, to); };
    all.push_back(to_segment(segment, get_word));
    all.back().repeats = segment.repeats != 0;
    all.back().window_begin = segment.window_begin;
    all.back().doubtful = segment.doubtful != 0;
  }
  return all;
}

inline std::vector<Class> classes_of(const lapilli_result* result, size_t input) {
  std::vector<Class> all;
  size_t count = 0;
  lapilli_result_classes(result, input, &count);
  for (size_t i = 0; i < count; ++i) {
    lapilli_class found = sized<lapilli_class>();
    if (lapilli_result_get_class(result, input, i, &found) == LAPILLI_OK)
      all.push_back({found.index, found.label, found.score, found.probability, found.published_score});
  }
  return all;
}

inline void read_vector(const lapilli_result* result, size_t input, Output& to) {
  lapilli_vector found = sized<lapilli_vector>();
  if (lapilli_result_get_vector(result, input, &found) != LAPILLI_OK) return;
  to.vector.assign(found.values, found.values + found.dimensions);
}

inline void read_reading(const lapilli_result* result, size_t input, Output& to) {
  lapilli_reading found = sized<lapilli_reading>();
  if (lapilli_result_get_reading(result, input, &found) != LAPILLI_OK) return;
  to.tokens = found.tokens;
  to.windows = found.windows;
  to.cut = found.cut != 0;
}

inline Span to_span(const lapilli_span& from) {
  return {from.label,
          std::string(from.text, from.text_bytes),
          std::string(from.filled, from.filled_bytes),
          from.score,
          from.begin,
          from.end,
          from.first_character,
          from.end_character,
          from.token};
}

inline std::vector<Span> spans_of(const lapilli_result* result, size_t input) {
  std::vector<Span> all;
  size_t count = 0;
  lapilli_result_spans(result, input, &count);
  for (size_t i = 0; i < count; ++i) {
    lapilli_span found = sized<lapilli_span>();
    if (lapilli_result_get_span(result, input, i, &found) == LAPILLI_OK) all.push_back(to_span(found));
  }
  return all;
}

inline Part to_part(const lapilli_part& from) {
  return {std::string(from.text, from.text_bytes),
          to_ids(from.ids),
          from.score,
          from.source_begin,
          from.source_end,
          from.target_begin,
          from.target_end,
          static_cast<Finish>(from.finish),
          from.repeats != 0};
}

inline Sequence to_sequence(const lapilli_sequence& from) {
  Sequence to;
  to.text.assign(from.text, from.text_bytes);
  to.ids = to_ids(from.ids);
  to.score = from.score;
  if (from.token_scores) to.token_scores.assign(from.token_scores, from.token_scores + from.ids.count);
  to.finish = static_cast<Finish>(from.finish);
  to.repeats = from.repeats != 0;
  to.word_tokens = from.word_tokens;
  to.unknown_tokens = from.unknown_tokens;
  if (from.lost_address) to.lost_address = from.lost_address;
  return to;
}

// Reads sequence `index` to `to`; gives the number of sequences.
inline Result<size_t> read_sequence(const lapilli_result* result, size_t input, size_t index, Output& to) {
  lapilli_sequence sequence = sized<lapilli_sequence>();
  if (const lapilli_status status = lapilli_result_get(result, input, index, &sequence)) return last_error(status);
  Sequence made = to_sequence(sequence);
  for (size_t p = 0; p < sequence.parts; ++p) {
    lapilli_part part = sized<lapilli_part>();
    if (const lapilli_status status = lapilli_result_get_part(result, input, index, p, &part))
      return last_error(status);
    made.parts.push_back(to_part(part));
  }
  to.sequences.push_back(std::move(made));
  return size_t{sequence.sequences};
}

inline Output output_of(const lapilli_result* result, size_t input) {
  Output out;
  out.segments = segments_of(result, input);
  out.classes = classes_of(result, input);
  out.spans = spans_of(result, input);
  read_vector(result, input, out);
  read_reading(result, input, out);
  for (size_t i = 0, count = 1; i < count; ++i) {
    auto read = read_sequence(result, input, i, out);
    if (!read) {
      out.error = read.error();
      break;
    }
    count = *read;
  }
  return out;
}

}  // namespace detail

// The outputs in the order of the inputs.
class Results {
 public:
  Results() = default;
  size_t size() const noexcept { return outputs_.size(); }
  const Output& operator[](size_t i) const { return outputs_[i]; }
  auto begin() const noexcept { return outputs_.begin(); }
  auto end() const noexcept { return outputs_.end(); }
  // True if the call was cancelled; unfinished inputs have an error of Status::cancelled.
  bool cancelled() const noexcept { return cancelled_; }
  const lapilli_stats& stats() const noexcept { return stats_; }
  lapilli_result* handle() const noexcept { return handle_.get(); }

 private:
  friend class Model;
  friend class Job;
  Results(detail::ResultHandle result, size_t inputs, bool cancelled) : cancelled_(cancelled) {
    stats_.struct_size = sizeof stats_;
    lapilli_result_get_stats(result.get(), &stats_);
    outputs_.reserve(inputs);
    for (size_t i = 0; i < inputs; ++i) outputs_.push_back(detail::output_of(result.get(), i));
    handle_ = std::move(result);
  }
  std::shared_ptr<lapilli_result> handle_;
  std::vector<Output> outputs_;
  lapilli_stats stats_{};
  bool cancelled_ = false;
};

// ---- devices ----

namespace detail {

// The fields point into `options`.
inline lapilli_device_options c_options(const DeviceOptions& options) {
  lapilli_device_options o = lapilli_default_device_options();
  o.refuse_cpu = options.refuse_cpu;
  o.select = options.select.c_str();
  o.caps = options.caps.c_str();
  o.wait_timeout_s = options.wait_timeout_s;
  o.ignore_environment = options.ignore_environment;
  o.low_priority = options.low_priority;
  o.validation = options.validation;
  o.debug_names = options.debug_names;
  o.max_submit_us = options.max_submit_us;
  o.gap_us = options.gap_us;
  o.memory_limit = options.memory_limit;
  o.log_level = static_cast<int32_t>(options.log_level);
  o.log = options.log;
  o.log_user = options.log_user;
  o.store = options.store;
  o.cache_directory = options.cache_directory.c_str();
  o.workers = options.workers;
  o.trace_file = options.trace_file.c_str();
  return o;
}

}  // namespace detail

// Lists every device of this machine as a JSON array.
inline Result<std::string> devices_json(const DeviceOptions& options = {}) {
  const lapilli_device_options o = detail::c_options(options);
  const char* json = nullptr;
  if (const lapilli_status status = lapilli_devices_json(&o, &json)) return detail::last_error(status);
  return std::string(json);
}

// Gives the requirements for a device that the host makes. Its strings are valid until this thread calls again.
inline Result<lapilli_requirements> device_requirements(void* get_instance_proc_addr, void* instance,
                                                        void* physical_device) {
  return detail::filled<lapilli_requirements>([&](lapilli_requirements* to) {
    return lapilli_device_requirements(get_instance_proc_addr, instance, physical_device, to);
  });
}

enum class Similarity : int32_t { cosine = LAPILLI_COSINE, dot = LAPILLI_DOT, euclidean = LAPILLI_EUCLIDEAN };

// See lapilli_nearest_options.
struct NearestOptions {
  Similarity similarity = Similarity::cosine;
  size_t top = 10;  // for each query
  std::optional<CancelToken> cancel_token;
  std::function<bool(uint64_t done, uint64_t total)> progress;  // false cancels
};

// A vector among those that were searched.
struct Neighbour {
  size_t index = 0;
  double score = 0;
};

namespace detail {

// Options of lapilli_nearest, which point into this object.
class NearestCall {
 public:
  explicit NearestCall(const NearestOptions& options) : options_(options) {
    c_.similarity = static_cast<int32_t>(options.similarity);
    c_.top = options.top;
    if (options.cancel_token) c_.cancel_token = options.cancel_token->handle();
    if (options.progress) c_.progress = on_progress;
    c_.progress_user = this;
  }
  NearestCall(const NearestCall&) = delete;
  NearestCall& operator=(const NearestCall&) = delete;

  Result<std::vector<std::vector<Neighbour>>> run(lapilli_device* device, const lapilli_vectors& vectors,
                                                  const lapilli_vectors& queries) {
    const size_t each = std::min(options_.top, vectors.count), all = each * queries.count;
    std::vector<size_t> indices(std::max<size_t>(all, 1));
    std::vector<double> scores(indices.size());
    const lapilli_status status = lapilli_nearest(device, &vectors, &queries, &c_, indices.data(), scores.data());
    carried_.rethrow();
    if (status) return last_error(status);
    std::vector<std::vector<Neighbour>> found(queries.count);
    for (size_t i = 0; i < all; ++i) found[i / each].push_back({indices[i], scores[i]});
    return found;
  }

 private:
  static int32_t on_progress(void* user, uint64_t done, uint64_t total) {
    auto* self = static_cast<NearestCall*>(user);
    return self->carried_.call([&] { return self->options_.progress(done, total) ? 0 : 1; }, 1);
  }
  const NearestOptions& options_;
  lapilli_nearest_options c_ = lapilli_default_nearest_options();
  Carried carried_{};
};

}  // namespace detail

// A device for any number of models, which share its memory blocks, pipelines and self-test. Copies are the same
// device; models keep it. Any number of threads may use it.
class Device {
 public:
  Device() = default;
  explicit operator bool() const noexcept { return device_ != nullptr; }

  static Result<Device> open(const DeviceOptions& options = {}) {
    const lapilli_device_options o = detail::c_options(options);
    lapilli_device* opened = nullptr;
    if (const lapilli_status status = lapilli_device_open(&o, &opened)) return detail::last_error(status);
    return Device(opened);
  }
  // Adopts a device of the host; see lapilli_host_device.
  static Result<Device> adopt(const lapilli_host_device& host, const DeviceOptions& options = {}) {
    const lapilli_device_options o = detail::c_options(options);
    lapilli_device* adopted = nullptr;
    if (const lapilli_status status = lapilli_device_adopt(&host, &o, &adopted)) return detail::last_error(status);
    return Device(adopted);
  }

  // For each query the vectors that are most similar to it, the best first; see lapilli_nearest.
  Result<std::vector<std::vector<Neighbour>>> nearest(const lapilli_vectors& vectors, const lapilli_vectors& queries,
                                                      const NearestOptions& options = {}) const {
    return detail::NearestCall(options).run(handle(), vectors, queries);
  }

  // For a device that was adopted with `append`; see lapilli_device_append, _completed and _dropped.
  Result<lapilli_appended> append(void* command_buffer, uint64_t budget_us) const {
    return detail::filled<lapilli_appended>(
        [&](lapilli_appended* to) { return lapilli_device_append(handle(), command_buffer, budget_us, to); });
  }
  Result<void> completed(uint64_t serial) const { return detail::outcome(lapilli_device_completed(handle(), serial)); }
  Result<void> dropped(uint64_t serial) const { return detail::outcome(lapilli_device_dropped(handle(), serial)); }

  // Gives the bytes of device memory; see lapilli_device_usage.
  Result<lapilli_device_usage> usage() const {
    return detail::filled<lapilli_device_usage>(
        [&](lapilli_device_usage* to) { return lapilli_device_get_usage(handle(), to); });
  }
  // Frees what is only kept for later.
  Result<void> trim() const { return detail::outcome(lapilli_device_trim(handle())); }
  // Between these two the device submits nothing, and running calls stop.
  Result<void> pause() const { return detail::outcome(lapilli_device_pause(handle())); }
  Result<void> resume() const { return detail::outcome(lapilli_device_resume(handle())); }
  // Stores new data for the next start.
  Result<void> store_cache() const { return detail::outcome(lapilli_device_store_cache(handle())); }
  // Writes DeviceOptions::trace_file now; see lapilli_device_write_trace.
  Result<void> write_trace() const { return detail::outcome(lapilli_device_write_trace(handle())); }

  lapilli_device* handle() const noexcept { return device_.get(); }

 private:
  explicit Device(lapilli_device* opened) : device_(opened, [](lapilli_device* d) { lapilli_device_close(d); }) {}
  std::shared_ptr<lapilli_device> device_;
};

// ---- models ----

class Job;

// The size of future jobs; 0: chosen. See lapilli_shape.
struct Shape {
  uint32_t inputs = 0, source_tokens = 0, target_tokens = 0;
};

namespace detail {

// An empty list is given as well: its pointer is not null.
inline lapilli_ids view(const Ids& ids) {
  static const int32_t nothing = 0;
  return {ids.empty() ? &nothing : ids.data(), ids.size()};
}

// Chat options as C options, which point into both arguments.
inline lapilli_chat_options c_chat(const ChatOptions& from, const std::vector<const char*>& stops) {
  const auto given = [](const std::string& text) { return text.empty() ? nullptr : text.c_str(); };
  lapilli_chat_options to = lapilli_default_chat_options();
  to.use = from.use;
  to.system = given(from.system);
  to.messages = given(from.messages);
  to.tools = given(from.tools);
  to.arguments = given(from.arguments);
  to.stops = stops.data();
  to.stop_count = stops.size();
  to.leave_out_thoughts = from.leave_out_thoughts;
  return to;
}

// Options as C options, which point into this object and into the options.
class CallOptions {
 public:
  CallOptions(const Options& options, const char* default_task) : options_(options) {
    set_texts(default_task);
    set_search();
    set_lists();
    set_speech();
    c_.split_sentences = options.split_sentences ? int32_t{*options.split_sentences} : LAPILLI_MODEL_DEFAULT;
    c_.batch = options.batch;
    c_.steps_in_flight = options.steps_in_flight;
    c_.deterministic = options.deterministic;
    c_.keep_attention = options.keep_attention;
    if (options.cancel_token) c_.cancel_token = options.cancel_token->handle();
    picture_.classes = options.picture.classes;
    c_.picture = &picture_;
    set_encoder();
    for (const std::string& stop : options.chat.stops) stops_.push_back(stop.c_str());
    chat_ = c_chat(options.chat, stops_);
    c_.chat = &chat_;
  }
  CallOptions(const CallOptions&) = delete;
  CallOptions& operator=(const CallOptions&) = delete;

  const lapilli_options& c_options() const noexcept { return c_; }
  Result<void> number(size_t inputs) {
    const auto& numbers = options_.input_numbers;
    if (numbers.empty()) return {};
    if (numbers.size() != inputs)
      return Error(Status::invalid_argument, "Options::input_numbers: give one for each input, or none");
    c_.input_numbers = numbers.data();
    return {};
  }
  void set_functions() {
    c_.progress_user = c_.stream_user = this;
    if (options_.progress) c_.progress = &on_progress;
    if (options_.stream) c_.stream = &on_stream;
  }
  // Throws the exception of such a function, if there was one.
  void rethrow() { carried_.rethrow(); }

 private:
  template <class To, class From>
  static void set(To& to, const std::optional<From>& from) {
    if (from) to = static_cast<To>(*from);
  }
  static void set(lapilli_ids& to, const std::optional<Ids>& from) {
    if (from) to = view(*from);
  }
  void set_texts(const char* default_task) {
    c_.task = options_.task.empty() ? default_task : options_.task.c_str();
    c_.source_language = options_.source_language.c_str();
    c_.target_language = options_.target_language.c_str();
    if (!options_.prompt.empty()) c_.prompt = options_.prompt.c_str();
    c_.json = options_.json.c_str();
  }
  void set_search() {
    set(c_.num_beams, options_.num_beams);
    set(c_.num_return_sequences, options_.num_return_sequences);
    set(c_.max_length, options_.max_length);
    set(c_.max_new_tokens, options_.max_new_tokens);
    set(c_.min_length, options_.min_length);
    set(c_.min_new_tokens, options_.min_new_tokens);
    set(c_.early_stopping, options_.early_stopping);
    set(c_.no_repeat_ngram_size, options_.no_repeat_ngram_size);
    set(c_.decoder_start_token, options_.decoder_start_token);
    set(c_.forced_bos_token, options_.forced_bos_token);
    set(c_.forced_eos_token, options_.forced_eos_token);
    set(c_.length_penalty, options_.length_penalty);
    set(c_.repetition_penalty, options_.repetition_penalty);
  }
  void set_lists() {
    set(c_.end_tokens, options_.end_tokens);
    set(c_.suppress_tokens, options_.suppress_tokens);
    set(c_.begin_suppress_tokens, options_.begin_suppress_tokens);
    set(c_.decoder_prompt, options_.decoder_prompt);
    if (!options_.bad_words) return;
    for (const Ids& ids : *options_.bad_words) bad_words_.push_back(lapilli_phrase_of(ids.data(), ids.size()));
    c_.bad_word_count = bad_words_.size();
    if (bad_words_.empty()) bad_words_.push_back(lapilli_phrase_of(nullptr, 0));  // given and empty
    c_.bad_words = bad_words_.data();
  }
  void set_speech() {
    const SpeechOptions& from = options_.speech;
    speech_.word_times = from.word_times;
    speech_.condition_on_previous = from.condition_on_previous;
    set(speech_.compression_ratio_threshold, from.compression_ratio_threshold);
    set(speech_.logprob_threshold, from.logprob_threshold);
    set(speech_.no_speech_threshold, from.no_speech_threshold);
    speech_.temperatures = from.temperatures.empty() ? nullptr : from.temperatures.data();
    speech_.temperature_count = from.temperatures.size();
    speech_.interim_samples = from.interim_samples;
    speech_.chunks = from.chunks;
    c_.speech = &speech_;
  }
  void set_encoder() {
    const EncoderOptions& from = options_.encoder;
    encoder_.dimensions = from.dimensions;
    encoder_.normalize = from.normalize;
    encoder_.top_classes = from.top_classes;
    encoder_.prompt_name = from.prompt_name.c_str();
    encoder_.top_spans = from.top_spans;
    encoder_.aggregation = from.aggregation.empty() ? nullptr : from.aggregation.c_str();
    encoder_.allow_empty = from.allow_empty;
    encoder_.max_answer_tokens = from.max_answer_tokens;
    encoder_.window = from.window;
    encoder_.stride = from.stride;
    encoder_.cut_texts = from.cut_texts;
    encoder_.part_words = from.part_words;
    set_labels(from);
    if (from.prompt) c_.prompt = from.prompt->c_str();
    c_.encoder = &encoder_;
  }
  void set_labels(const EncoderOptions& from) {
    for (const std::string& label : from.labels) labels_.push_back(label.c_str());
    encoder_.labels = labels_.data();
    encoder_.label_count = labels_.size();
    encoder_.hypothesis = from.hypothesis.empty() ? nullptr : from.hypothesis.c_str();
    encoder_.entailment = from.entailment.empty() ? nullptr : from.entailment.c_str();
    encoder_.multi_label = from.multi_label;
    if (from.ignored_labels) set_ignored(*from.ignored_labels);
  }
  void set_ignored(const std::vector<std::string>& labels) {
    for (const std::string& label : labels) ignored_.push_back(label.c_str());
    ignored_.push_back(nullptr);  // the list of no labels is not null
    encoder_.ignored_labels = ignored_.data();
    encoder_.ignored_label_count = labels.size();
  }
  static int32_t on_progress(void* user, uint64_t done, uint64_t total) {
    auto* self = static_cast<CallOptions*>(user);
    return self->carried_.call([&] { return self->options_.progress(done, total) ? 0 : 1; }, 1);
  }
  static int32_t on_stream(void* user, const lapilli_stream_event* event) {
    auto* self = static_cast<CallOptions*>(user);
    const std::string_view text(event->text, event->text_bytes);
    return self->carried_.call([&] { return self->options_.stream(event->input, text, to_ids(event->ids)) ? 0 : 1; },
                               1);
  }

  const Options& options_;
  lapilli_options c_ = lapilli_default_options();
  lapilli_speech_options speech_ = lapilli_default_speech_options();
  lapilli_picture_options picture_ = lapilli_default_picture_options();
  lapilli_encoder_options encoder_ = lapilli_default_encoder_options();
  lapilli_chat_options chat_ = lapilli_default_chat_options();
  std::vector<const char*> stops_;
  std::vector<lapilli_phrase> bad_words_;
  std::vector<const char*> labels_, ignored_;
  Carried carried_{};
};

inline std::vector<lapilli_input> inputs_of(const std::vector<std::string>& texts) {
  std::vector<lapilli_input> inputs;
  inputs.reserve(texts.size());
  for (const std::string& text : texts) inputs.push_back(lapilli_text_of(text.data(), text.size()));
  return inputs;
}

inline std::vector<lapilli_input> inputs_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<lapilli_input> inputs;
  inputs.reserve(pairs.size());
  for (const auto& [text, pair] : pairs) {
    inputs.push_back(lapilli_text_of(text.data(), text.size()));
    inputs.back().pair = pair.data();
    inputs.back().pair_bytes = pair.size();
  }
  return inputs;
}

inline std::vector<lapilli_input> inputs_of(const std::vector<Ids>& sources) {
  std::vector<lapilli_input> inputs;
  inputs.reserve(sources.size());
  for (const Ids& ids : sources) inputs.push_back(lapilli_tokens(ids.data(), ids.size()));
  return inputs;
}

// Points to the options.
inline lapilli_shape c_shape(const Shape& shape, const CallOptions& options) {
  lapilli_shape s = lapilli_default_shape();
  s.inputs = shape.inputs;
  s.source_tokens = shape.source_tokens;
  s.target_tokens = shape.target_tokens;
  s.options = &options.c_options();
  return s;
}

}  // namespace detail

// The prompt of a chat, without loading the model; see lapilli_chat_prompt. Without `user`, the messages alone.
inline Result<std::string> chat_prompt(const std::string& directory, const std::optional<std::string>& user,
                                       const ChatOptions& options = {}) {
  std::vector<const char*> stops;
  for (const std::string& stop : options.stops) stops.push_back(stop.c_str());
  const lapilli_chat_options o = detail::c_chat(options, stops);
  const char* said = user ? user->c_str() : nullptr;
  size_t bytes = 0;
  if (const auto status = lapilli_chat_prompt(directory.c_str(), said, &o, nullptr, 0, &bytes))
    return detail::last_error(status);
  std::string text(bytes + 1, '\0');
  if (const auto status = lapilli_chat_prompt(directory.c_str(), said, &o, text.data(), text.size(), &bytes))
    return detail::last_error(status);
  text.resize(bytes);
  return text;
}

// A model on a device, ready to generate. Any number of threads may use it.
class Model {
 public:
  Model() = default;
  explicit operator bool() const noexcept { return model_ != nullptr; }

  // Loads a model onto a device: a directory, or OWNER/NAME of a fetched model; empty: the model that LAPILLI_MODEL
  // names, or else the bundled one. See lapilli_model_load. Throws the exception of open_file, if there was one.
  static Result<Model> load(const Device& device, const std::string& name = {}, const ModelOptions& options = {}) {
    detail::ModelSource source(options);
    lapilli_model* loaded = nullptr;
    const lapilli_status status = lapilli_model_load_with(device.handle(), name.c_str(), &source.c_options(), &loaded);
    source.rethrow();
    if (status != LAPILLI_OK) return detail::last_error(status);
    return Model(loaded);
  }

  // Loads a model onto a device of its own.
  static Result<Model> load(const std::string& name = {}, const DeviceOptions& options = {},
                            const ModelOptions& model_options = {}) {
    auto device = Device::open(options);
    if (!device) return device.error();
    return load(*device, name, model_options);
  }

  // These wait for the results. Options::task takes precedence over the task of the function.
  Result<Results> translate(const std::vector<std::string>& texts, const Options& options = {}) const {
    return run(detail::inputs_of(texts), options, "translate");
  }
  Result<Results> summarize(const std::vector<std::string>& texts, const Options& options = {}) const {
    return run(detail::inputs_of(texts), options, "summarize");
  }
  Result<Results> generate(const std::vector<std::string>& texts, const Options& options = {}) const {
    return run(detail::inputs_of(texts), options, "generate");
  }
  // Runs inputs of token ids, end token included.
  Result<Results> generate_ids(const std::vector<Ids>& sources, const Options& options = {}) const {
    return run(detail::inputs_of(sources), options, "generate");
  }
  // Runs recordings, which samples() and pulled_samples() make; Output::segments has the text with times.
  Result<Results> transcribe(const std::vector<lapilli_input>& recordings, const Options& options = {}) const {
    return run(recordings, options, "");
  }
  // Runs pictures, which pixels() and picture_file() make; the model gives texts or Output::classes.
  Result<Results> describe(const std::vector<lapilli_input>& pictures, const Options& options = {}) const {
    return run(pictures, options, "");
  }

  // Scores texts, or pairs of them, with a classifier or a reranker: Output::classes.
  Result<Results> classify(const std::vector<std::string>& texts, const Options& options = {}) const {
    return run(detail::inputs_of(texts), options, "classify");
  }
  Result<Results> classify_pairs(const std::vector<std::pair<std::string, std::string>>& pairs,
                                 const Options& options = {}) const {
    return run(detail::inputs_of(pairs), options, "classify");
  }
  // Finds names and words with tags: Output::spans.
  Result<Results> tag(const std::vector<std::string>& texts, const Options& options = {}) const {
    return run(detail::inputs_of(texts), options, "tag");
  }
  // Finds answers in texts, each behind its question: Output::spans, the best first.
  Result<Results> answer(const std::vector<std::pair<std::string, std::string>>& questions_and_texts,
                         const Options& options = {}) const {
    return run(detail::inputs_of(questions_and_texts), options, "answer");
  }
  // Finds words for the masks of texts, which are the tokenizer's own ("[MASK]" or "<mask>"): Output::spans.
  Result<Results> fill(const std::vector<std::string>& texts, const Options& options = {}) const {
    return run(detail::inputs_of(texts), options, "fill");
  }
  // Scores given texts with a model that writes, or targets behind their sources if it has an encoder:
  // Sequence::token_scores, and Sequence::score has their sum.
  Result<Results> score(const std::vector<std::string>& texts, const Options& options = {}) const {
    return run(detail::inputs_of(texts), options, "score");
  }
  Result<Results> score_pairs(const std::vector<std::pair<std::string, std::string>>& sources_and_targets,
                              const Options& options = {}) const {
    return run(detail::inputs_of(sources_and_targets), options, "score");
  }
  // Makes a vector of each text: Output::vector.
  Result<Results> embed(const std::vector<std::string>& texts, const Options& options = {}) const {
    return run(detail::inputs_of(texts), options, "embed");
  }

  // The same as jobs, which are pumped and do not wait. start() translates, start_ids() generates, and start_inputs()
  // takes recordings, also those that continue (sample_stream()), and pictures.
  Result<Job> start(const std::vector<std::string>& texts, const Options& options = {}) const;
  Result<Job> start_ids(const std::vector<Ids>& sources, const Options& options = {}) const;
  Result<Job> start_inputs(const std::vector<lapilli_input>& inputs, const Options& options = {}) const;
  // Starts a job without inputs; jobs of this shape and with these options then create nothing. See
  // lapilli_model_prepare.
  Result<Job> prepare(const Shape& shape, const Options& options = {}) const;
  // Pumps all jobs of the model, and gives the number of those that have not ended. See lapilli_model_pump.
  Result<size_t> pump(uint64_t budget_us = LAPILLI_UNLIMITED) const {
    size_t running = 0;
    if (const lapilli_status status = lapilli_model_pump(handle(), budget_us, &running))
      return detail::last_error(status);
    return running;
  }
  // Sleeps until pump() can continue. See lapilli_model_wait.
  Result<void> wait(uint64_t timeout_us = LAPILLI_UNLIMITED) const {
    return detail::outcome(lapilli_model_wait(handle(), timeout_us));
  }
  // Finds the fastest kernels for such jobs, and stores them for devices that are opened later. See lapilli_model_tune.
  Result<lapilli_tuning> tune(const Shape& shape, double seconds, const Options& options = {}) const {
    const detail::CallOptions call(options, "");
    const lapilli_shape s = detail::c_shape(shape, call);
    return detail::filled<lapilli_tuning>(
        [&](lapilli_tuning* to) { return lapilli_model_tune(handle(), &s, seconds, to); });
  }

  // Cancels all that runs on this model. Any thread or signal handler may call it; a CancelToken ends one call.
  void cancel() const noexcept { lapilli_cancel(handle()); }

  // Gives facts about the model; the strings live as long as the model.
  Result<lapilli_model_info> info() const {
    return detail::filled<lapilli_model_info>(
        [&](lapilli_model_info* to) { return lapilli_model_get_info(handle(), to); });
  }
  // Gives the languages of a multilingual model, as its files write them.
  Result<std::vector<std::string>> languages() const {
    if (auto known = info(); !known) return known.error();
    std::vector<std::string> all(lapilli_model_language_count(handle()));
    for (size_t i = 0; i < all.size(); ++i) all[i] = lapilli_model_language(handle(), i);
    return all;
  }

  // Encodes a text with the task and the languages of the options; see lapilli_model_encode.
  Result<Ids> encode(std::string_view text, const Options& options = {}) const {
    const lapilli_input input = lapilli_text_of(text.data() ? text.data() : "", text.size());
    const detail::CallOptions call(options, "");
    auto count = count_tokens(text, options);
    if (!count) return count.error();
    Ids ids(*count);
    if (const lapilli_status status =
            lapilli_model_encode(handle(), &input, &call.c_options(), ids.data(), ids.size(), &*count))
      return detail::last_error(status);
    return ids;
  }
  // Counts the ids that encode() gives.
  Result<size_t> count_tokens(std::string_view text, const Options& options = {}) const {
    const lapilli_input input = lapilli_text_of(text.data() ? text.data() : "", text.size());
    const detail::CallOptions call(options, "");
    size_t count = 0;
    if (const lapilli_status status = lapilli_model_count_tokens(handle(), &input, &call.c_options(), &count))
      return detail::last_error(status);
    return count;
  }
  // Decodes ids of the decoder to text.
  Result<std::string> decode(const Ids& ids, bool keep_special = false) const {
    const lapilli_input input = lapilli_tokens(detail::view(ids).ids, ids.size());
    size_t bytes = 0;
    if (const lapilli_status status = lapilli_model_decode(handle(), &input, keep_special, nullptr, 0, &bytes))
      return detail::last_error(status);
    std::string text(bytes, '\0');
    if (const lapilli_status status =
            lapilli_model_decode(handle(), &input, keep_special, text.data(), bytes + 1, &bytes))
      return detail::last_error(status);
    return text;
  }

  // Frees the unused sessions.
  Result<void> trim() const { return detail::outcome(lapilli_model_trim(handle())); }

  lapilli_model* handle() const noexcept { return model_.get(); }

 private:
  friend class Loading;
  struct FreeModel {
    void operator()(lapilli_model* m) const noexcept { lapilli_model_free(m); }
  };
  explicit Model(lapilli_model* model) : model_(model) {}

  Result<Results> run(const std::vector<lapilli_input>& inputs, const Options& options, const char* task) const {
    detail::CallOptions call(options, task);
    if (auto numbered = call.number(inputs.size()); !numbered) return numbered.error();
    call.set_functions();
    lapilli_result* made = nullptr;
    const lapilli_status status = lapilli_generate(handle(), inputs.data(), inputs.size(), &call.c_options(), &made);
    detail::ResultHandle result(made);
    call.rethrow();
    if (!result) return detail::last_error(status);
    return Results(std::move(result), inputs.size(), status == LAPILLI_CANCELLED);
  }
  Result<Job> begin(const std::vector<lapilli_input>& inputs, const Options& options, const char* task) const;

  std::unique_ptr<lapilli_model, FreeModel> model_;
};

// ---- jobs ----

// See LAPILLI_EVENT_TEXT and the others. A later library may give values that are not listed here.
enum class EventKind : int32_t {
  text = LAPILLI_EVENT_TEXT,
  progress = LAPILLI_EVENT_PROGRESS,
  input = LAPILLI_EVENT_INPUT,
  error = LAPILLI_EVENT_ERROR,
  end = LAPILLI_EVENT_END,
  segment = LAPILLI_EVENT_SEGMENT,
  interim = LAPILLI_EVENT_INTERIM
};

// An event of a job. The comments name the kinds that set a field.
struct Event {
  EventKind kind{};
  size_t input = 0;                          // text, input, segment, interim
  std::string text;                          // text
  Ids ids;                                   // text
  uint64_t done = 0, total = 0, tokens = 0;  // progress
  Status status = Status::ok;                // input, error, end
  std::string message;                       // input, error
  Segment segment;                           // segment
  size_t segment_number = 0;                 // segment: its number among those of the input
  std::vector<Segment> interim;              // interim: segments that may still change
};

enum class DrawingFormat : int32_t { svg = LAPILLI_DRAWING_SVG, png = LAPILLI_DRAWING_PNG };

// See lapilli_attention_drawing.
struct AttentionDrawing {
  DrawingFormat format = DrawingFormat::svg;
  int32_t layer = LAPILLI_ATTENTION_MEAN, head = LAPILLI_ATTENTION_MEAN;
  std::optional<CancelToken> cancel_token;
};

namespace detail {

inline lapilli_attention_drawing c_drawing(const AttentionDrawing& from) {
  lapilli_attention_drawing to = lapilli_default_attention_drawing();
  to.format = static_cast<int32_t>(from.format);
  to.layer = from.layer;
  to.head = from.head;
  if (from.cancel_token) to.cancel_token = from.cancel_token->handle();
  return to;
}

// The bytes of the file that `draw` gives.
template <class Draw>
Result<std::string> drawn(const AttentionDrawing& drawing, Draw&& draw) {
  const lapilli_attention_drawing how = c_drawing(drawing);
  const uint8_t* file = nullptr;
  size_t bytes = 0;
  if (const lapilli_status status = draw(&how, &file, &bytes)) return last_error(status);
  return std::string(reinterpret_cast<const char*>(file), bytes);
}

}  // namespace detail

// Draws the attention of each word over the picture that is input `input`, as the bytes of a file. The results need
// Options::keep_attention. See lapilli_result_draw_attention.
inline Result<std::string> draw_attention(const Model& model, const Results& results, size_t input,
                                          const AttentionDrawing& drawing = {}) {
  const auto draw = [&](const auto* how, const uint8_t** file, size_t* bytes) {
    return lapilli_result_draw_attention(model.handle(), results.handle(), input, how, file, bytes);
  };
  return detail::drawn(drawing, draw);
}

// Inputs on their way through a model. One thread at a time uses a job, except for cancel().
class Job {
 public:
  Job() = default;
  explicit operator bool() const noexcept { return job_ != nullptr; }

  // Advances the job; true once it has ended. See lapilli_job_pump.
  Result<bool> pump(uint64_t budget_us = LAPILLI_UNLIMITED) {
    return detail::flag([&](int32_t* finished) { return lapilli_job_pump(handle(), budget_us, finished); });
  }
  // Pumps until the job has ended (true), the time is up, or the job needs more samples. See lapilli_job_wait.
  Result<bool> wait(uint64_t timeout_us = LAPILLI_UNLIMITED) {
    return detail::flag([&](int32_t* finished) { return lapilli_job_wait(handle(), timeout_us, finished); });
  }
  // Gives the next event; std::nullopt if there is none.
  Result<std::optional<Event>> next_event() {
    lapilli_event event = detail::sized<lapilli_event>();
    int32_t has = 0;
    if (const lapilli_status status = lapilli_job_next_event(handle(), &event, &has)) return detail::last_error(status);
    return has ? std::optional<Event>(convert(event)) : std::optional<Event>();
  }
  // Appends samples to a recording that continues, and ends it. See lapilli_job_append_samples.
  Result<void> append_samples(size_t input, const float* samples, size_t count) {
    return detail::outcome(lapilli_job_append_samples(handle(), input, samples, count));
  }
  Result<void> end_samples(size_t input) { return detail::outcome(lapilli_job_end_samples(handle(), input)); }
  // Gives true if the job can do nothing before more samples come.
  Result<bool> wants_samples() const {
    return detail::flag([&](int32_t* wants) { return lapilli_job_wants_samples(handle(), wants); });
  }
  // Draws the attention of each word over the spectrogram of the last segment event, as the bytes of a file. See
  // lapilli_job_draw_attention.
  Result<std::string> draw_attention(const AttentionDrawing& drawing = {}) const {
    const auto draw = [&](const auto* how, const uint8_t** file, size_t* bytes) {
      return lapilli_job_draw_attention(handle(), how, file, bytes);
    };
    return detail::drawn(drawing, draw);
  }
  // Ends the job at its next pump. Any thread may call it.
  void cancel() const noexcept { lapilli_job_cancel(handle()); }
  // Continues after an end with Status::device_lost, with a model of the same files.
  Result<void> resume(const Model& model) { return detail::outcome(lapilli_job_resume(handle(), model.handle())); }
  // Gives the results after the end, once. A cancelled job has the finished inputs.
  Result<Results> take() {
    lapilli_result* made = nullptr;
    const lapilli_status status = lapilli_job_take(handle(), &made);
    detail::ResultHandle result(made);
    if (!result) return detail::last_error(status);
    return Results(std::move(result), inputs_, status == LAPILLI_CANCELLED);
  }
  lapilli_job* handle() const noexcept { return job_.get(); }

 private:
  friend class Model;
  struct FreeJob {
    void operator()(lapilli_job* j) const noexcept { lapilli_job_free(j); }
  };
  Job(lapilli_job* job, size_t inputs) : job_(job), inputs_(inputs) {}

  Event convert(const lapilli_event& from) const {
    Event to;
    to.kind = static_cast<EventKind>(from.kind);
    switch (from.kind) {
      case LAPILLI_EVENT_TEXT: set(to, from.of.text); break;
      case LAPILLI_EVENT_PROGRESS: set(to, from.of.progress); break;
      case LAPILLI_EVENT_INPUT:
        to.input = static_cast<size_t>(from.of.input.input);
        set_status(to, from.of.input.status, from.of.input.message);
        break;
      case LAPILLI_EVENT_ERROR: set_status(to, from.of.error.status, from.of.error.message); break;
      case LAPILLI_EVENT_END: set_status(to, from.of.end.status, ""); break;
      case LAPILLI_EVENT_SEGMENT: set(to, from.of.segment); break;
      case LAPILLI_EVENT_INTERIM: set(to, from.of.interim); break;
      default: break;
    }
    return to;
  }
  static void set(Event& to, const lapilli_event_text& from) {
    to.input = static_cast<size_t>(from.input);
    to.text.assign(from.text, from.text_bytes);
    to.ids = detail::to_ids(from.ids);
  }
  static void set(Event& to, const lapilli_event_progress& from) {
    to.done = from.done;
    to.total = from.total;
    to.tokens = from.tokens;
  }
  static void set_status(Event& to, lapilli_status status, const char* message) {
    to.status = static_cast<Status>(status);
    to.message = message;
  }
  void set(Event& to, const lapilli_event_segment& from) const {
    to.input = static_cast<size_t>(from.input);
    to.segment_number = static_cast<size_t>(from.segment);
    to.segment = detail::to_segment(
        from, [this](size_t w, lapilli_word* word) { return lapilli_job_get_word(handle(), w, word); });
  }
  void set(Event& to, const lapilli_event_interim& from) const {
    to.input = static_cast<size_t>(from.input);
    for (size_t i = 0; i < from.segments; ++i) {
      lapilli_segment segment = detail::sized<lapilli_segment>();
      if (lapilli_job_get_interim(handle(), i, &segment) != LAPILLI_OK) return;
      const auto get_word = [&](size_t w, lapilli_word* word) {
        return lapilli_job_get_interim_word(handle(), i, w, word);
      };
      to.interim.push_back(detail::to_segment(segment, get_word));
    }
  }

  std::unique_ptr<lapilli_job, FreeJob> job_;
  size_t inputs_ = 0;
};

inline Result<Job> Model::begin(const std::vector<lapilli_input>& inputs, const Options& options,
                                const char* task) const {
  if (options.progress || options.stream)
    return Error(Status::invalid_argument,
                 "Options::progress and stream: a job calls no functions; read its events instead");
  detail::CallOptions call(options, task);
  if (auto numbered = call.number(inputs.size()); !numbered) return numbered.error();
  lapilli_job* job = nullptr;
  if (const lapilli_status status = lapilli_job_start(handle(), inputs.data(), inputs.size(), &call.c_options(), &job))
    return detail::last_error(status);
  return Job(job, inputs.size());
}

inline Result<Job> Model::start(const std::vector<std::string>& texts, const Options& options) const {
  return begin(detail::inputs_of(texts), options, "translate");
}

inline Result<Job> Model::start_ids(const std::vector<Ids>& sources, const Options& options) const {
  return begin(detail::inputs_of(sources), options, "generate");
}

inline Result<Job> Model::start_inputs(const std::vector<lapilli_input>& inputs, const Options& options) const {
  return begin(inputs, options, "");
}

inline Result<Job> Model::prepare(const Shape& shape, const Options& options) const {
  const detail::CallOptions call(options, "translate");
  const lapilli_shape s = detail::c_shape(shape, call);
  lapilli_job* job = nullptr;
  if (const lapilli_status status = lapilli_job_prepare(handle(), &s, &job)) return detail::last_error(status);
  return Job(job, 0);
}

// ---- loading in steps ----

// Bytes of weights.
struct LoadProgress {
  uint64_t done_bytes = 0, all_bytes = 0;
};

// A model that is loaded step by step. One thread at a time uses it, except for cancel().
class Loading {
 public:
  Loading() = default;
  explicit operator bool() const noexcept { return load_ != nullptr; }

  // Starts a load with the arguments of Model::load().
  static Result<Loading> start(const Device& device, const std::string& name = {}, const ModelOptions& options = {}) {
    auto source = std::make_unique<detail::ModelSource>(options);
    lapilli_load* load = nullptr;
    if (const lapilli_status status = lapilli_load_start(device.handle(), name.c_str(), &source->c_options(), &load))
      return detail::last_error(status);
    return Loading(load, std::move(source));
  }
  // Advances the load; true once it has ended.
  Result<bool> pump(uint64_t budget_us = LAPILLI_UNLIMITED) {
    return detail::flag([&](int32_t* finished) { return lapilli_load_pump(handle(), budget_us, finished); });
  }
  // Pumps until the load has ended (true) or the time is up.
  Result<bool> wait(uint64_t timeout_us = LAPILLI_UNLIMITED) {
    return detail::flag([&](int32_t* finished) { return lapilli_load_wait(handle(), timeout_us, finished); });
  }
  Result<LoadProgress> progress() const {
    LoadProgress bytes;
    if (const lapilli_status status = lapilli_load_progress(handle(), &bytes.done_bytes, &bytes.all_bytes))
      return detail::last_error(status);
    return bytes;
  }
  // Ends the load at its next pump. Any thread may call it.
  void cancel() const noexcept { lapilli_load_cancel(handle()); }
  // Gives the model after the end, once. Throws the exception of open_file, if there was one.
  Result<Model> take() {
    lapilli_model* model = nullptr;
    const lapilli_status status = lapilli_load_take(handle(), &model);
    if (source_) source_->rethrow();
    if (status != LAPILLI_OK) return detail::last_error(status);
    return Model(model);
  }
  lapilli_load* handle() const noexcept { return load_.get(); }

 private:
  struct FreeLoad {
    void operator()(lapilli_load* l) const noexcept { lapilli_load_free(l); }
  };
  Loading(lapilli_load* load, std::unique_ptr<detail::ModelSource> source) : source_(std::move(source)), load_(load) {}
  std::unique_ptr<detail::ModelSource> source_;  // outlives the load, which closes its files
  std::unique_ptr<lapilli_load, FreeLoad> load_;
};

// ---- attention and alignment ----

enum class AttentionKind : int32_t {
  cross = LAPILLI_ATTENTION_CROSS,
  encoder = LAPILLI_ATTENTION_ENCODER,
  decoder = LAPILLI_ATTENTION_DECODER
};

// See lapilli_attention_choice.
struct AttentionChoice {
  AttentionKind kind = AttentionKind::cross;
  int32_t layer = LAPILLI_ATTENTION_MEAN, head = LAPILLI_ATTENTION_MEAN;
};

// The attention of one part of a sequence; see lapilli_attention. One thread at a time uses it.
class Attention {
 public:
  Attention() = default;
  explicit operator bool() const noexcept { return attention_ != nullptr; }

  // Computes the attention and waits.
  static Result<Attention> run(const Model& model, const Results& results, size_t input, size_t sequence = 0,
                               size_t part = 0) {
    lapilli_attention* made = nullptr;
    if (const lapilli_status status =
            lapilli_attention_run(model.handle(), results.handle(), input, sequence, part, &made))
      return detail::last_error(status);
    return Attention(made);
  }

  // Gives the weights, which live as long as this object.
  Result<lapilli_attention_map> map(AttentionKind kind = AttentionKind::cross) const {
    return detail::filled<lapilli_attention_map>(
        [&](lapilli_attention_map* to) { return lapilli_attention_get_map(handle(), static_cast<int32_t>(kind), to); });
  }
  Result<lapilli_attention_token> token(bool target, size_t index) const {
    return detail::filled<lapilli_attention_token>(
        [&](lapilli_attention_token* to) { return lapilli_attention_get_token(handle(), target, index, to); });
  }
  Result<std::string> json(const AttentionChoice& choice = {}) const { return text(&lapilli_attention_json, choice); }
  Result<std::string> svg(const AttentionChoice& choice = {}) const { return text(&lapilli_attention_svg, choice); }
  Result<std::vector<uint8_t>> png(const AttentionChoice& choice = {}) const {
    const lapilli_attention_choice c = convert(choice);
    const uint8_t* bytes = nullptr;
    size_t count = 0;
    if (const lapilli_status status = lapilli_attention_png(handle(), &c, &bytes, &count))
      return detail::last_error(status);
    return std::vector<uint8_t>(bytes, bytes + count);
  }
  // Finds word pairs; see lapilli_attention_align.
  Result<std::vector<lapilli_word_link>> align(int32_t layer = LAPILLI_ATTENTION_MEAN) const {
    size_t count = 0;
    if (const lapilli_status status = lapilli_attention_align(handle(), layer, &count))
      return detail::last_error(status);
    std::vector<lapilli_word_link> links(count, detail::sized<lapilli_word_link>());
    for (size_t i = 0; i < count; ++i)
      if (const lapilli_status status = lapilli_attention_get_link(handle(), i, &links[i]))
        return detail::last_error(status);
    return links;
  }
  lapilli_attention* handle() const noexcept { return attention_.get(); }

 private:
  struct Free {
    void operator()(lapilli_attention* a) const noexcept { lapilli_attention_free(a); }
  };
  explicit Attention(lapilli_attention* attention) : attention_(attention) {}
  static lapilli_attention_choice convert(const AttentionChoice& choice) {
    lapilli_attention_choice c = lapilli_default_attention_choice();
    c.kind = static_cast<int32_t>(choice.kind);
    c.layer = choice.layer;
    c.head = choice.head;
    return c;
  }
  template <class Write>
  Result<std::string> text(Write write, const AttentionChoice& choice) const {
    const lapilli_attention_choice c = convert(choice);
    const char* made = nullptr;
    if (const lapilli_status status = write(handle(), &c, &made)) return detail::last_error(status);
    return std::string(made);
  }
  std::unique_ptr<lapilli_attention, Free> attention_;
};

}  // namespace v0
}  // namespace lapilli
