// Lapilli for C++17 and later: RAII over lapilli.h, header only, EXPERIMENTAL like it.
//
//   auto model = lapilli::Model::load().value();                         // the bundled English-French model
//   auto results = model.translate({"Where is the station?"}).value();
//   std::puts(results[0].text().c_str());
//
// Functions that can fail return a Result: test it, and take value() or error(). value() of a failure throws the Error,
// or ends the program where exceptions are off, so code that tests first works with both.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lapilli/lapilli.h"

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#include <exception>
#define LAPILLI_HPP_EXCEPTIONS 1
#endif

namespace lapilli {
inline namespace v0 {  // keeps these names apart from the library's own

// What failed, where, and what to do.
class Error
#ifdef LAPILLI_HPP_EXCEPTIONS
    : public std::exception
#endif
{
 public:
  Error(lapilli_status status, std::string message) : status_(status), message_(std::move(message)) {}
  lapilli_status status() const noexcept { return status_; }
  const std::string& message() const noexcept { return message_; }
  const char* what() const noexcept
#ifdef LAPILLI_HPP_EXCEPTIONS
      override
#endif
  {
    return message_.c_str();
  }

 private:
  lapilli_status status_;
  std::string message_;
};

// A value or an Error.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : v_(std::in_place_index<1>, std::move(error)) {}
  bool ok() const noexcept { return v_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  const Error& error() const { return std::get<1>(v_); }  // only after !ok()
  T& value() & { return check(), std::get<0>(v_); }
  const T& value() const& { return check(), std::get<0>(v_); }
  T&& value() && { return check(), std::get<0>(std::move(v_)); }
  T& operator*() { return value(); }
  T* operator->() { return &value(); }

 private:
  void check() const {
    if (ok()) return;
#ifdef LAPILLI_HPP_EXCEPTIONS
    throw Error(error());
#else
    std::fprintf(stderr, "lapilli: %s\n", error().what());
    std::abort();
#endif
  }
  std::variant<T, Error> v_;
};

using Ids = std::vector<int32_t>;

struct DeviceOptions {
  std::string select;          // an index (a whole number), a part of the name or a UUID; empty: the best
  std::string caps;            // capability mask
  bool validation = false;     // Vulkan's validation layer
  double wait_timeout_s = 0;   // 0: the default
  uint32_t max_submit_us = 0;  // 0: the default
  uint32_t gap_us = 0;         // left to others between submissions; 0: none
  uint64_t memory_limit = 0;   // bytes of device memory for all models of the device together; 0: what there is
  // See lapilli_device_options.
  bool refuse_cpu = false, ignore_environment = false, low_priority = false, debug_names = false;
  // Messages of this device and its models, instead of the process's log; must live as long as these. See
  // lapilli_device_options.
  lapilli_log_function log = nullptr;
  void* log_user = nullptr;
  int32_t log_level = LAPILLI_LOG_NOTE;
  // See "what is kept between runs" and "threads that are lent" in lapilli.h; what these point to is the caller's.
  std::string cache_directory;
  std::string trace_file;  // see lapilli_device_options; empty: none
  const lapilli_store* store = nullptr;
  const lapilli_workers* workers = nullptr;
};

// A file of a model that the program reads itself; destroying it closes it. Used by the loading thread only.
class FileReader {
 public:
  virtual ~FileReader() = default;
  virtual uint64_t size() const = 0;
  // Reads so many bytes, which are within size(), to `to`. Fewer, or a status other than LAPILLI_OK: the load fails.
  virtual lapilli_status read(uint64_t offset, void* to, uint64_t bytes, uint64_t& done) = 0;
  // All of it in memory, valid as long as this object; null: it has to be read.
  virtual const void* map() { return nullptr; }
};

// A file in memory, or a range of one that is open: see lapilli_file_part. What it lies in is not owned.
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

// How a device holds a model's matrices: see LAPILLI_DTYPE_FP32 and those behind it.
enum class Dtype {
  fp32 = LAPILLI_DTYPE_FP32,
  automatic = LAPILLI_DTYPE_AUTO,
  bf16 = LAPILLI_DTYPE_BF16,
  fp16 = LAPILLI_DTYPE_FP16,
  int8 = LAPILLI_DTYPE_INT8,
  int4 = LAPILLI_DTYPE_INT4
};

struct ModelOptions {
  uint64_t memory_limit = 0;  // bytes of device memory for weights and all that runs on them; 0: what there is
  Dtype dtype = Dtype::fp32;
  Dtype kv_dtype = Dtype::fp32;  // of keys and values: fp32 or fp16
  // Where the files are, if not in the directory, which then is only what messages call them: parts, or a function that
  // opens a file by name, with LAPILLI_NOT_FOUND if there is none.
  std::vector<FilePart> parts;
  // Memory and descriptors of the parts stay as long as the model and its jobs do (lapilli_model_options.files_stay).
  bool parts_stay = false;
  std::function<Result<std::unique_ptr<FileReader>>(const std::string& name)> open_file;
};

namespace detail {

// ModelOptions::open_file as functions; an exception is carried over the C interface and thrown again behind it.
struct FileCalls {
  const ModelOptions* options = nullptr;
#ifdef LAPILLI_HPP_EXCEPTIONS
  std::exception_ptr thrown{};
#endif
  template <class F>
  lapilli_status call(F&& f) {
#ifdef LAPILLI_HPP_EXCEPTIONS
    try {
      return f();
    } catch (...) {
      thrown = std::current_exception();
      return LAPILLI_INTERNAL;
    }
#else
    return f();
#endif
  }
  lapilli_status open(const char* name, lapilli_file* file) {
    auto reader = options->open_file(name);
    if (!reader) return reader.error().status();
    if (!*reader) return LAPILLI_NOT_FOUND;
    file->size = (*reader)->size();
    file->handle = (*reader).release();
    return LAPILLI_OK;
  }
  lapilli_files functions() {
    lapilli_files f{};
    f.struct_size = sizeof f;
    f.user = this;
    f.open = [](void* user, const char* name, lapilli_file* file) {
      auto* calls = static_cast<FileCalls*>(user);
      return calls->call([&] { return calls->open(name, file); });
    };
    f.read = [](void* user, void* handle, uint64_t offset, void* to, uint64_t bytes, uint64_t* done) {
      auto* calls = static_cast<FileCalls*>(user);
      return calls->call([&] { return static_cast<FileReader*>(handle)->read(offset, to, bytes, *done); });
    };
    f.map = [](void* user, void* handle) -> const void* {
      const void* memory = nullptr;
      static_cast<FileCalls*>(user)->call([&]() -> lapilli_status {
        memory = static_cast<FileReader*>(handle)->map();
        return LAPILLI_OK;
      });
      return memory;
    };
    f.close = [](void*, void* handle) { delete static_cast<FileReader*>(handle); };
    return f;
  }
};

// ModelOptions for the C interface, which points into it: it stays where it is while the model loads.
class ModelSource {
 public:
  explicit ModelSource(const ModelOptions& options) : options_(options) {
    with_.memory_limit = options_.memory_limit;
    with_.dtype = static_cast<int32_t>(options_.dtype);
    with_.kv_dtype = static_cast<int32_t>(options_.kv_dtype);
    for (const FilePart& file : options_.parts) parts_.push_back(file.part), parts_.back().name = file.name.c_str();
    with_.parts = parts_.empty() ? nullptr : parts_.data();
    with_.part_count = parts_.size();
    with_.files_stay = options_.parts_stay && !options_.open_file;
    if (options_.open_file) with_.files = &files_;
  }
  ModelSource(const ModelSource&) = delete;
  ModelSource& operator=(const ModelSource&) = delete;
  const lapilli_model_options& c_options() const noexcept { return with_; }
  // What open_file, or a reader of its, has thrown meanwhile.
  void rethrow() {
#ifdef LAPILLI_HPP_EXCEPTIONS
    if (calls_.thrown) std::rethrow_exception(std::exchange(calls_.thrown, nullptr));
#endif
  }

 private:
  const ModelOptions options_;
  FileCalls calls_{&options_};
  const lapilli_files files_ = calls_.functions();
  std::vector<lapilli_file_part> parts_;
  lapilli_model_options with_ = lapilli_default_model_options();
};

}  // namespace detail

// Ends the calls that were given it (Options::cancel_token), and no others; one that is given it later ends at once.
// Copies are the same token. cancel() may come from any thread or a signal handler.
class CancelToken {
 public:
  CancelToken() : token_(make(), [](lapilli_cancel_token* t) { lapilli_cancel_token_free(t); }) {}
  void cancel() const noexcept { lapilli_cancel_token_cancel(token_.get()); }
  bool cancelled() const noexcept { return lapilli_cancel_token_cancelled(token_.get()) != 0; }
  const lapilli_cancel_token* handle() const noexcept { return token_.get(); }

 private:
  // Fails as all does that needs memory and finds none.
  static lapilli_cancel_token* make() {
    lapilli_cancel_token* token = nullptr;
    if (auto status = lapilli_cancel_token_create(&token)) {
      return Result<lapilli_cancel_token*>(Error(status, lapilli_last_error())).value();
    }
    return token;
  }
  std::shared_ptr<lapilli_cancel_token> token_;
};

enum class EarlyStopping {
  no = LAPILLI_EARLY_STOPPING_FALSE,
  yes = LAPILLI_EARLY_STOPPING_TRUE,
  never = LAPILLI_EARLY_STOPPING_NEVER
};

// What is left empty is decided by the model's generation_config. LAPILLI_NO_TOKEN switches a token of the model off.
struct Options {
  std::optional<int32_t> num_beams, num_return_sequences;
  std::optional<int32_t> max_length, max_new_tokens, min_length, min_new_tokens;  // tokens
  std::optional<EarlyStopping> early_stopping;
  std::optional<int32_t> no_repeat_ngram_size;
  std::optional<int32_t> decoder_start_token, forced_bos_token, forced_eos_token;
  std::optional<float> length_penalty, repetition_penalty;
  std::optional<Ids> end_tokens, suppress_tokens, begin_suppress_tokens, decoder_prompt;
  std::optional<std::vector<Ids>> bad_words;
  std::string json;                         // further options, as generation_config.json writes them
  uint32_t batch = 0, steps_in_flight = 0;  // 0: chosen
  // (finished, all) inputs, or sentences of such; false cancels. Called from the generating thread.
  std::function<bool(uint64_t done, uint64_t total)> progress;
  // "translate", "summarize" or "generate": the family's conventions for it. Empty: translate() translates, summarize()
  // summarizes, generate() knows none.
  std::string task;
  std::string source_language, target_language;  // for models of several languages
  std::optional<bool> split_sentences;           // not given: long texts, if the task is to translate
  // New text and ids of an input's best sequence as they come; false cancels. Called from the generating thread.
  std::function<bool(size_t input, std::string_view text, const Ids& ids)> stream;
  // Sampling: one number per input that its draws go by; empty: 0, 1, 2, ... See lapilli_options.
  std::vector<uint64_t> input_numbers;
  std::optional<CancelToken> cancel_token;
  bool deterministic = false;  // ids do not depend on what runs beside an input; see lapilli_options

  // Of recordings and pictures, see lapilli_options. Languages and the task, "transcribe" or "translate", stand above.
  std::string prompt;
  std::vector<float> temperatures;  // empty: a window is tried once
  std::optional<float> compression_ratio_threshold, logprob_threshold, no_speech_threshold;
  bool condition_on_previous = false;
  bool word_times = false;
  uint32_t classes = 0;  // of a picture; 0: 5
  // See lapilli_options: drafts of recordings that go on, each time so many samples are new; recordings cut where they
  // are quiet, so many pieces at a time; what words looked at is kept, to be drawn.
  uint32_t draft_samples = 0, pieces = 0;
  bool looks = false;
};

// Recordings and pictures as inputs; they point to the caller's memory until the call that is given them returns. See
// lapilli_samples() and those behind it.
inline lapilli_input samples(const std::vector<float>& recording, uint32_t rate) {
  return lapilli_samples(recording.data(), recording.size(), rate);
}
inline lapilli_input sample_stream(uint32_t rate) { return lapilli_sample_stream(rate); }
// What `source` points to must live until the job has ended.
inline lapilli_input pulled_samples(const lapilli_sample_source& source, uint32_t rate) {
  return lapilli_pulled_samples(&source, rate);
}
inline lapilli_input pixels(const uint8_t* rgb, uint32_t width, uint32_t height) {
  return lapilli_pixels(rgb, width, height);
}
// PNG, JPEG and the others of lapilli_picture_file().
inline lapilli_input picture_file(const std::string& path) { return lapilli_picture_file(path.c_str()); }

// See lapilli_word, lapilli_segment and lapilli_class.
struct Word {
  std::string text;
  double begin = 0, end = 0;  // seconds
  float probability = 0;
  Ids ids;
};
struct Segment {
  std::string text;
  double begin = 0, end = 0;  // seconds
  Ids ids;
  std::string language;  // "": the model knows none
  std::vector<Word> words;
  float log_probability = 0, no_speech_probability = 0;
  bool repeats = false;  // in results, as what follows; events do not say it
  double window_begin = 0;
  bool doubtful = false;
};
struct Class {
  uint32_t index = 0;
  std::string label;
  double score = 0, probability = 0;
};

// One run of the model that a sequence is made of, or a part that was kept.
struct Piece {
  std::string text;
  Ids ids;
  float score = 0;
  size_t source_begin = 0, source_end = 0;  // bytes of the input's text
  size_t target_begin = 0, target_end = 0;  // bytes of the sequence's text
  int32_t finish = LAPILLI_FINISH_END;      // as in Sequence
  bool repeats = false;
};

struct Sequence {
  std::string text;
  Ids ids;  // without the start token, with the end token
  float score = 0;
  std::vector<float> token_scores;  // per id: logarithm of its probability; NaN for ids of the decoder prompt
  std::vector<Piece> pieces;        // one, unless sentences were split
  // See lapilli_sequence in lapilli.h.
  int32_t finish = LAPILLI_FINISH_END;  // LAPILLI_FINISH_...
  bool repeats = false;
  uint32_t word_tokens = 0, unknown_tokens = 0;
  std::string lost_address;  // a URL, an e-mail address or a placeholder; "": none
};

// What became of one input: sequences, best first, or an error.
struct Output {
  std::vector<Sequence> sequences;
  std::vector<Segment> segments;  // of a recording, also of one that failed those before
  std::vector<Class> classes;     // of a picture, the likeliest first
  std::optional<Error> error;
  bool ok() const noexcept { return !error.has_value(); }
  // The best text; empty if this input failed.
  const std::string& text() const noexcept {
    static const std::string none;
    return sequences.empty() ? none : sequences.front().text;
  }
};

inline Error last_error(lapilli_status status) { return Error(status, lapilli_last_error()); }

class Job;
class Model;
struct Drawing;

// The outputs in the order of the inputs.
class Results {
 public:
  size_t size() const noexcept { return outputs_.size(); }
  const Output& operator[](size_t i) const { return outputs_[i]; }
  auto begin() const noexcept { return outputs_.begin(); }
  auto end() const noexcept { return outputs_.end(); }
  // The call was cancelled; inputs that were not finished have an error of LAPILLI_CANCELLED.
  bool cancelled() const noexcept { return cancelled_; }
  const lapilli_stats& stats() const noexcept { return stats_; }
  const lapilli_result* handle() const noexcept { return handle_.get(); }

 private:
  friend class Model;
  friend class Job;
  friend Result<std::string> draw_looks(const Model& model, const Results& results, size_t input,
                                        const Drawing& drawing);
  std::shared_ptr<lapilli_result> handle_;
  std::vector<Output> outputs_;
  lapilli_stats stats_{};
  bool cancelled_ = false;
};

// The fields point into `options`.
inline lapilli_device_options c_options(const DeviceOptions& options) {
  lapilli_device_options o = lapilli_default_device_options();
  o.validation = options.validation;
  o.select = options.select.c_str();
  o.caps = options.caps.c_str();
  o.wait_timeout_s = options.wait_timeout_s;
  o.refuse_cpu = options.refuse_cpu;
  o.ignore_environment = options.ignore_environment;
  o.low_priority = options.low_priority;
  o.debug_names = options.debug_names;
  o.log = options.log;
  o.log_user = options.log_user;
  o.log_level = options.log_level;
  o.max_submit_us = options.max_submit_us;
  o.gap_us = options.gap_us;
  o.memory_limit = options.memory_limit;
  o.cache_directory = options.cache_directory.c_str();
  o.trace_file = options.trace_file.c_str();
  o.store = options.store;
  o.workers = options.workers;
  return o;
}

// What a host should make its device with; its strings are valid until this thread asks again.
inline Result<lapilli_requirements> device_requirements(void* get_instance_proc_addr, void* instance,
                                                        void* physical_device) {
  lapilli_requirements requirements{};
  requirements.struct_size = sizeof requirements;
  if (auto status = lapilli_device_requirements(get_instance_proc_addr, instance, physical_device, &requirements))
    return last_error(status);
  return requirements;
}

// A device for any number of models, which then share its memory blocks, pipelines and self-test. Copies are the same
// device; models keep it. Usable from several threads at once.
class Device {
 public:
  static Result<Device> open(const DeviceOptions& options = {}) {
    const lapilli_device_options o = c_options(options);
    lapilli_device* opened = nullptr;
    if (auto status = lapilli_device_open(&o, &opened)) return last_error(status);
    return Device(opened);
  }
  // Of the host's handles, see lapilli_host_device.
  static Result<Device> adopt(const lapilli_host_device& host, const DeviceOptions& options = {}) {
    const lapilli_device_options o = c_options(options);
    lapilli_device* adopted = nullptr;
    if (auto status = lapilli_device_adopt(&host, &o, &adopted)) return last_error(status);
    return Device(adopted);
  }

  // Where the host was adopted with `append`: see lapilli_device_append and those behind it.
  Result<lapilli_appended> append(void* command_buffer, uint64_t budget_us) const {
    lapilli_appended appended{};
    appended.struct_size = sizeof appended;
    if (auto status = lapilli_device_append(handle(), command_buffer, budget_us, &appended)) return last_error(status);
    return appended;
  }
  // Empty: it went well.
  std::optional<Error> completed(uint64_t serial) const { return failed(lapilli_device_completed(handle(), serial)); }
  std::optional<Error> dropped(uint64_t serial) const { return failed(lapilli_device_dropped(handle(), serial)); }

  lapilli_device* handle() const noexcept { return device_.get(); }

  // Bytes of device memory, see lapilli_device_usage.
  lapilli_device_usage usage() const noexcept {
    lapilli_device_usage usage{};
    usage.struct_size = sizeof usage;
    lapilli_device_get_usage(device_.get(), &usage);
    return usage;
  }
  // Stores what is new for the next start. Empty, here and below: it went well.
  std::optional<Error> store_cache() const { return failed(lapilli_device_store_cache(handle())); }
  // Writes DeviceOptions::trace_file at once, and says whether it could be; see lapilli_device_write_trace.
  std::optional<Error> write_trace() const { return failed(lapilli_device_write_trace(handle())); }
  // Gives back what is only kept for later.
  std::optional<Error> trim() const { return failed(lapilli_device_trim(handle())); }
  // Nothing is submitted between these two; calls that run stand still.
  std::optional<Error> pause() const { return failed(lapilli_device_pause(handle())); }
  std::optional<Error> resume() const { return failed(lapilli_device_resume(handle())); }

 private:
  static std::optional<Error> failed(lapilli_status status) {
    return status == LAPILLI_OK ? std::nullopt : std::optional<Error>(last_error(status));
  }
  explicit Device(lapilli_device* opened) : device_(opened, [](lapilli_device* d) { lapilli_device_close(d); }) {}
  std::shared_ptr<lapilli_device> device_;
};

class Loading;

// What jobs will be like; 0: chosen. See lapilli_shape.
struct Shape {
  uint32_t inputs = 0, source_tokens = 0, target_tokens = 0;
};

// A model on a device, ready to generate. Usable from several threads at once.
class Model {
 public:
  // Onto a device that may have other models. An empty directory: LAPILLI_MODEL, or else the bundled model.
  static Result<Model> load(const Device& device, const std::string& directory = {}, const ModelOptions& options = {}) {
    detail::ModelSource source(options);
    lapilli_model* loaded = nullptr;
    const auto status = lapilli_model_load_with(device.handle(), directory.c_str(), &source.c_options(), &loaded);
    source.rethrow();
    if (status) return last_error(status);
    return Model(loaded);
  }

  // The same onto a device of its own.
  static Result<Model> load(const std::string& directory = {}, const DeviceOptions& options = {},
                            const ModelOptions& model_options = {}) {
    auto device = Device::open(options);
    if (!device) return device.error();
    return load(*device, directory, model_options);
  }

  Result<Results> translate(const std::vector<std::string>& texts, const Options& options = {}) const {
    return run_texts(texts, options, "translate");
  }

  Result<Results> summarize(const std::vector<std::string>& texts, const Options& options = {}) const {
    return run_texts(texts, options, "summarize");
  }

  // Inputs as token ids, end token included.
  Result<Results> generate(const std::vector<Ids>& sources, const Options& options = {}) const {
    return run(inputs_of(sources), options, "generate");
  }

  // Recordings to text with times: inputs that samples() makes. Output::segments has them.
  Result<Results> transcribe(const std::vector<lapilli_input>& recordings, const Options& options = {}) const {
    return run(recordings, options, "");
  }

  // What pictures show, by the kind of model in words or in Output::classes: inputs that pixels() makes.
  Result<Results> describe(const std::vector<lapilli_input>& pictures, const Options& options = {}) const {
    return run(pictures, options, "");
  }

  // The same as jobs, which are pumped and block nobody. The functions of the options must be empty.
  Result<Job> start(const std::vector<std::string>& texts, const Options& options = {}) const;
  Result<Job> start_ids(const std::vector<Ids>& sources, const Options& options = {}) const;
  // Of recordings, also such that go on (sample_stream()), and pictures.
  Result<Job> start_inputs(const std::vector<lapilli_input>& inputs, const Options& options = {}) const;
  // A job without inputs, after which jobs of this shape and with these options make nothing anew. See lapilli.h.
  Result<Job> prepare(const Shape& shape, const Options& options = {}) const;
  // For programs of many jobs: one thread pumps all of the model's, for about so long; returns how many have not ended.
  // See lapilli_model_pump.
  size_t pump(uint64_t budget_us = LAPILLI_UNLIMITED) const {
    size_t running = 0;
    lapilli_model_pump(model_.get(), budget_us, &running);
    return running;
  }
  // Sleeps until pump() may go on: a job is started or cancelled, samples come, the device is done; or the time is
  // over.
  void wait(uint64_t timeout_us = LAPILLI_UNLIMITED) const { lapilli_model_wait(model_.get(), timeout_us); }
  // Finds the fastest kernels for such jobs, and keeps them for devices that are opened later. Waits, for about so
  // long. Of the options num_beams, deterministic and cancel_token count. See lapilli_model_tune.
  Result<lapilli_tuning> tune(const Shape& shape, double seconds, const Options& options = {}) const;

  // Languages of a multilingual model, as its files write them.
  std::vector<std::string> languages() const {
    std::vector<std::string> all(lapilli_model_language_count(model_.get()));
    for (size_t i = 0; i < all.size(); ++i) all[i] = lapilli_model_language(model_.get(), i);
    return all;
  }

  // What a text is for the model with the task and the languages of the options, end token included; see
  // lapilli_model_encode.
  Result<Ids> encode(std::string_view text, const Options& options = {}) const {
    const lapilli_input input = lapilli_text_of(text.data() ? text.data() : "", text.size());
    std::vector<lapilli_phrase> bad_words;
    lapilli_options o = convert(options, bad_words);
    o.task = options.task.c_str();
    size_t count = 0;
    if (auto status = lapilli_model_count_tokens(model_.get(), &input, &o, &count)) return last_error(status);
    Ids ids(count);
    if (auto status = lapilli_model_encode(model_.get(), &input, &o, ids.data(), count, &count))
      return last_error(status);
    return ids;
  }

  // How many ids encode() gives.
  Result<size_t> count_tokens(std::string_view text, const Options& options = {}) const {
    auto ids = encode(text, options);
    if (!ids) return ids.error();
    return ids->size();
  }

  // Text of ids that the decoder writes.
  Result<std::string> decode(const Ids& ids, bool keep_special = false) const {
    const lapilli_input input = lapilli_tokens(view(ids).ids, ids.size());
    size_t bytes = 0;
    if (auto status = lapilli_model_decode(model_.get(), &input, keep_special ? 1 : 0, nullptr, 0, &bytes))
      return last_error(status);
    std::string text(bytes, '\0');
    if (auto status = lapilli_model_decode(model_.get(), &input, keep_special ? 1 : 0, text.data(), bytes + 1, &bytes))
      return last_error(status);
    return text;
  }

  // Cancels all that is running on this model, whoever began it; from any thread or a signal handler. For one call see
  // CancelToken.
  void cancel() const noexcept { lapilli_cancel(model_.get()); }

  // Its strings live as long as the model.
  lapilli_model_info info() const noexcept {
    lapilli_model_info info{};
    info.struct_size = sizeof info;
    lapilli_model_get_info(model_.get(), &info);
    return info;
  }

  lapilli_model* handle() const noexcept { return model_.get(); }

  // Gives back the sessions that no call uses. Empty: it went well.
  std::optional<Error> trim() const {
    if (auto status = lapilli_model_trim(model_.get())) return last_error(status);
    return std::nullopt;
  }

 private:
  friend class Job;
  friend class Loading;
  struct FreeModel {
    void operator()(lapilli_model* m) const noexcept { lapilli_model_free(m); }
  };
  struct FreeResult {
    void operator()(lapilli_result* r) const noexcept { lapilli_result_free(r); }
  };
  struct Callbacks {
    const Options* options = nullptr;
#ifdef LAPILLI_HPP_EXCEPTIONS
    std::exception_ptr thrown;
#endif
    // Gives what the C interface wants; an exception is carried over it and thrown again behind it.
    template <class F>
    int32_t call(F&& f) {
#ifdef LAPILLI_HPP_EXCEPTIONS
      try {
        return f() ? 0 : 1;
      } catch (...) {
        thrown = std::current_exception();
        return 1;
      }
#else
      return f() ? 0 : 1;
#endif
    }
  };

  explicit Model(lapilli_model* model) : model_(model) {}

  // An empty list is one that is given: its pointer must not be null.
  static lapilli_ids view(const Ids& ids) {
    static const int32_t nothing = 0;
    return {ids.empty() ? &nothing : ids.data(), ids.size()};
  }
  static int32_t on_progress(void* user, uint64_t done, uint64_t total) {
    auto* callbacks = static_cast<Callbacks*>(user);
    return callbacks->call([&] { return callbacks->options->progress(done, total); });
  }
  static int32_t on_stream(void* user, const lapilli_stream_event* event) {
    auto* callbacks = static_cast<Callbacks*>(user);
    return callbacks->call([&] {
      return callbacks->options->stream(event->input, std::string_view(event->text, event->text_bytes),
                                        to_ids(event->ids));
    });
  }

  // `o` points into `options` and `bad_words`.
  static lapilli_options convert(const Options& options, std::vector<lapilli_phrase>& bad_words) {
    lapilli_options o = lapilli_default_options();
    auto set = [](auto& to, const auto& from) {
      if (from) to = static_cast<std::decay_t<decltype(to)>>(*from);
    };
    auto set_ids = [](lapilli_ids& to, const std::optional<Ids>& from) {
      if (from) to = view(*from);
    };
    set(o.num_beams, options.num_beams);
    set(o.num_return_sequences, options.num_return_sequences);
    set(o.max_length, options.max_length);
    set(o.max_new_tokens, options.max_new_tokens);
    set(o.min_length, options.min_length);
    set(o.min_new_tokens, options.min_new_tokens);
    set(o.early_stopping, options.early_stopping);
    set(o.no_repeat_ngram_size, options.no_repeat_ngram_size);
    set(o.decoder_start_token, options.decoder_start_token);
    set(o.forced_bos_token, options.forced_bos_token);
    set(o.forced_eos_token, options.forced_eos_token);
    set(o.length_penalty, options.length_penalty);
    set(o.repetition_penalty, options.repetition_penalty);
    set_ids(o.end_tokens, options.end_tokens);
    set_ids(o.suppress_tokens, options.suppress_tokens);
    set_ids(o.begin_suppress_tokens, options.begin_suppress_tokens);
    set_ids(o.decoder_prompt, options.decoder_prompt);
    if (options.bad_words) {
      for (const Ids& ids : *options.bad_words) bad_words.push_back(lapilli_phrase_of(ids.data(), ids.size()));
      o.bad_word_count = bad_words.size();
      if (bad_words.empty()) bad_words.push_back(lapilli_phrase_of(nullptr, 0));  // given, and none
      o.bad_words = bad_words.data();
    }
    o.json = options.json.empty() ? nullptr : options.json.c_str();
    o.batch = options.batch;
    o.steps_in_flight = options.steps_in_flight;
    o.source_language = options.source_language.c_str();
    o.target_language = options.target_language.c_str();
    if (options.split_sentences) o.split_sentences = *options.split_sentences ? 1 : 0;
    if (options.cancel_token) o.cancel_token = options.cancel_token->handle();
    o.deterministic = options.deterministic ? 1 : 0;
    o.prompt = options.prompt.c_str();
    o.temperatures = options.temperatures.empty() ? nullptr : options.temperatures.data();
    o.temperature_count = options.temperatures.size();
    set(o.compression_ratio_threshold, options.compression_ratio_threshold);
    set(o.logprob_threshold, options.logprob_threshold);
    set(o.no_speech_threshold, options.no_speech_threshold);
    o.condition_on_previous = options.condition_on_previous ? 1 : 0;
    o.word_times = options.word_times ? 1 : 0;
    o.classes = options.classes;
    o.draft_samples = options.draft_samples;
    o.pieces = options.pieces;
    o.looks = options.looks ? 1 : 0;
    return o;
  }

  static std::vector<lapilli_input> inputs_of(const std::vector<std::string>& texts) {
    std::vector<lapilli_input> inputs;
    inputs.reserve(texts.size());
    for (const std::string& text : texts) inputs.push_back(lapilli_text_of(text.data(), text.size()));
    return inputs;
  }
  static std::vector<lapilli_input> inputs_of(const std::vector<Ids>& sources) {
    std::vector<lapilli_input> inputs;
    inputs.reserve(sources.size());
    for (const Ids& ids : sources) inputs.push_back(lapilli_tokens(ids.data(), ids.size()));
    return inputs;
  }

  Result<Results> run_texts(const std::vector<std::string>& texts, const Options& options, const char* task) const {
    return run(inputs_of(texts), options, task);
  }

  Result<Job> begin(const std::vector<lapilli_input>& inputs, const Options& options, const char* task) const;

  Result<Results> run(const std::vector<lapilli_input>& inputs, const Options& options, const char* task) const {
    if (!options.input_numbers.empty() && options.input_numbers.size() != inputs.size())
      return Error(LAPILLI_INVALID_ARGUMENT, "Options::input_numbers: there must be one per input, or none");
    std::vector<lapilli_phrase> bad_words;
    lapilli_options o = convert(options, bad_words);
    if (!options.input_numbers.empty()) o.input_numbers = options.input_numbers.data();
    o.task = options.task.empty() ? task : options.task.c_str();
    Callbacks callbacks;
    callbacks.options = &options;
    if (options.progress) {
      o.progress = &on_progress;
      o.progress_user = &callbacks;
    }
    if (options.stream) {
      o.stream = &on_stream;
      o.stream_user = &callbacks;
    }
    lapilli_result* made = nullptr;
    const lapilli_status status = lapilli_generate(model_.get(), inputs.data(), inputs.size(), &o, &made);
    std::unique_ptr<lapilli_result, FreeResult> result(made);
#ifdef LAPILLI_HPP_EXCEPTIONS
    if (callbacks.thrown) std::rethrow_exception(callbacks.thrown);
#endif
    if (!result) return last_error(status);
    return collect(std::move(result), inputs.size(), status == LAPILLI_CANCELLED);
  }

  static Results collect(std::unique_ptr<lapilli_result, FreeResult> result, size_t inputs, bool cancelled) {
    Results results;
    results.cancelled_ = cancelled;
    results.stats_.struct_size = sizeof results.stats_;
    lapilli_result_get_stats(result.get(), &results.stats_);
    results.outputs_.reserve(inputs);
    for (size_t i = 0; i < inputs; ++i) results.outputs_.push_back(output(result.get(), i));
    results.handle_ = std::shared_ptr<lapilli_result>(std::move(result));
    return results;
  }

  static Ids to_ids(const lapilli_ids& ids) { return ids.count == 0 ? Ids() : Ids(ids.ids, ids.ids + ids.count); }

  static Word to_word(const lapilli_word& from) {
    return {std::string(from.text, from.text_bytes), from.begin, from.end, from.probability, to_ids(from.ids)};
  }

  // Of a lapilli_segment or a lapilli_event_segment, without words.
  template <class S>
  static Segment to_segment(const S& from) {
    return {std::string(from.text, from.text_bytes),
            from.begin,
            from.end,
            to_ids(from.ids),
            from.language ? from.language : "",
            {},
            from.log_probability,
            from.no_speech_probability,
            false,
            0,
            false};
  }

  static std::vector<Segment> segments(const lapilli_result* result, size_t input) {
    std::vector<Segment> all;
    size_t count = 0;
    lapilli_result_segments(result, input, &count);
    for (size_t i = 0; i < count; ++i) {
      lapilli_segment segment{};
      segment.struct_size = sizeof segment;
      if (lapilli_result_get_segment(result, input, i, &segment) != LAPILLI_OK) break;
      all.push_back(to_segment(segment));
      all.back().repeats = segment.repeats != 0;
      all.back().window_begin = segment.window_begin;
      all.back().doubtful = segment.doubtful != 0;
      for (size_t w = 0; w < segment.words; ++w) {
        lapilli_word word{};
        word.struct_size = sizeof word;
        if (lapilli_result_get_word(result, input, i, w, &word) == LAPILLI_OK)
          all.back().words.push_back(to_word(word));
      }
    }
    return all;
  }

  static std::vector<Class> classes(const lapilli_result* result, size_t input) {
    std::vector<Class> all;
    size_t count = 0;
    lapilli_result_classes(result, input, &count);
    for (size_t i = 0; i < count; ++i) {
      lapilli_class found{};
      found.struct_size = sizeof found;
      if (lapilli_result_get_class(result, input, i, &found) == LAPILLI_OK)
        all.push_back({found.index, found.label, found.score, found.probability});
    }
    return all;
  }

  static Output output(const lapilli_result* result, size_t input) {
    Output out;
    out.segments = segments(result, input);
    out.classes = classes(result, input);
    lapilli_sequence sequence{};
    sequence.struct_size = sizeof sequence;
    size_t i = 0;
    do {
      if (auto status = lapilli_result_get(result, input, i, &sequence)) {
        out.error = last_error(status);
        return out;
      }
      Sequence made;
      made.text.assign(sequence.text, sequence.text_bytes);
      made.ids = to_ids(sequence.ids);
      made.score = sequence.score;
      made.finish = sequence.finish;
      made.repeats = sequence.repeats != 0;
      made.word_tokens = sequence.word_tokens;
      made.unknown_tokens = sequence.unknown_tokens;
      if (sequence.lost_address) made.lost_address = sequence.lost_address;
      if (sequence.token_scores)
        made.token_scores.assign(sequence.token_scores, sequence.token_scores + sequence.ids.count);
      for (size_t p = 0; p < sequence.pieces; ++p) {
        lapilli_piece piece{};
        piece.struct_size = sizeof piece;
        if (auto status = lapilli_result_get_piece(result, input, i, p, &piece)) {
          out.error = last_error(status);
          return out;
        }
        made.pieces.push_back({std::string(piece.text, piece.text_bytes), to_ids(piece.ids), piece.score,
                               piece.source_begin, piece.source_end, piece.target_begin, piece.target_end, piece.finish,
                               piece.repeats != 0});
      }
      out.sequences.push_back(std::move(made));
    } while (++i < sequence.sequences);
    return out;
  }

  std::unique_ptr<lapilli_model, FreeModel> model_;
};

// ---- jobs and loading in steps ----

// What a job has to tell; see LAPILLI_EVENT_... in lapilli.h for which fields are set.
struct Event {
  int32_t kind = 0;
  size_t input = 0;                          // TEXT, INPUT, SEGMENT, DRAFT
  std::string text;                          // TEXT
  Ids ids;                                   // TEXT
  uint64_t done = 0, total = 0, tokens = 0;  // PROGRESS
  lapilli_status status = LAPILLI_OK;        // INPUT, ERROR, END
  std::string message;                       // INPUT, ERROR
  Segment segment;                           // SEGMENT; its number among those of its input is segment_number
  size_t segment_number = 0;
  std::vector<Segment> draft;  // DRAFT: what may be said at the end of what has come of this input
};

// How what words looked at is drawn: see lapilli_drawing.
struct Drawing {
  int32_t format = LAPILLI_DRAWING_SVG;
  int32_t layer = LAPILLI_ATTENTION_MEAN, head = LAPILLI_ATTENTION_MEAN;
  std::optional<CancelToken> cancel_token;
};

namespace detail {
inline lapilli_drawing c_drawing(const Drawing& from) {
  lapilli_drawing to = lapilli_default_drawing();
  to.format = from.format;
  to.layer = from.layer;
  to.head = from.head;
  if (from.cancel_token) to.cancel_token = from.cancel_token->handle();
  return to;
}
}  // namespace detail

// The picture that is input `input` of results that were asked for looks, once for each word, as the bytes of a file.
inline Result<std::string> draw_looks(const Model& model, const Results& results, size_t input,
                                      const Drawing& drawing = {}) {
  const lapilli_drawing how = detail::c_drawing(drawing);
  const uint8_t* file = nullptr;
  size_t bytes = 0;
  if (auto status = lapilli_result_draw_looks(model.handle(), results.handle_.get(), input, &how, &file, &bytes))
    return last_error(status);
  return std::string(reinterpret_cast<const char*>(file), bytes);
}

// Inputs on their way through a model. Of one thread at a time, but for cancel().
class Job {
 public:
  // Goes on, for about so long; true once the job has ended.
  bool pump(uint64_t budget_us = LAPILLI_UNLIMITED) {
    int32_t finished = 0;
    return lapilli_job_pump(job_.get(), budget_us, &finished) != LAPILLI_OK || finished != 0;
  }
  // The same until the job has ended or the time is over, sleeping in between; or until nothing can be done without
  // more samples.
  bool wait(uint64_t timeout_us = LAPILLI_UNLIMITED) {
    int32_t finished = 0;
    return lapilli_job_wait(job_.get(), timeout_us, &finished) != LAPILLI_OK || finished != 0;
  }
  std::optional<Event> next_event() {
    lapilli_event event{};
    event.struct_size = sizeof event;
    int32_t has = 0;
    if (lapilli_job_next_event(job_.get(), &event, &has) != LAPILLI_OK || !has) return std::nullopt;
    return convert(event);
  }
  // More of a recording that goes on, and its end. Empty: they were taken.
  std::optional<Error> append_samples(size_t input, const float* samples, size_t count) {
    if (auto status = lapilli_job_append_samples(job_.get(), input, samples, count)) return last_error(status);
    return std::nullopt;
  }
  std::optional<Error> end_samples(size_t input) {
    if (auto status = lapilli_job_end_samples(job_.get(), input)) return last_error(status);
    return std::nullopt;
  }
  // Nothing can be done before more samples come.
  bool wants_samples() const noexcept {
    int32_t wants = 0;
    return lapilli_job_wants_samples(job_.get(), &wants) == LAPILLI_OK && wants != 0;
  }
  // The spectrogram of the SEGMENT that next_event() has given last, once for each word, as the bytes of a file.
  Result<std::string> draw_looks(const Drawing& drawing = {}) const {
    const lapilli_drawing how = detail::c_drawing(drawing);
    const uint8_t* file = nullptr;
    size_t bytes = 0;
    if (auto status = lapilli_job_draw_looks(job_.get(), &how, &file, &bytes)) return last_error(status);
    return std::string(reinterpret_cast<const char*>(file), bytes);
  }
  // From any thread.
  void cancel() const noexcept { lapilli_job_cancel(job_.get()); }
  // After an end with LAPILLI_DEVICE_LOST: goes on with a model of the same files. Empty: it does.
  std::optional<Error> resume(const Model& model) {
    if (auto status = lapilli_job_resume(job_.get(), model.handle())) return last_error(status);
    return std::nullopt;
  }
  // After the end, once; a cancelled job has the inputs that were finished.
  Result<Results> take() {
    lapilli_result* made = nullptr;
    const lapilli_status status = lapilli_job_take(job_.get(), &made);
    std::unique_ptr<lapilli_result, Model::FreeResult> result(made);
    if (!result) return last_error(status);
    return Model::collect(std::move(result), inputs_, status == LAPILLI_CANCELLED);
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
    to.kind = from.kind;
    if (from.kind == LAPILLI_EVENT_TEXT) {
      to.input = static_cast<size_t>(from.of.text.input);
      to.text.assign(from.of.text.text, from.of.text.text_bytes);
      to.ids = Model::to_ids(from.of.text.ids);
    } else if (from.kind == LAPILLI_EVENT_SEGMENT) {
      to.input = static_cast<size_t>(from.of.segment.input);
      to.segment_number = static_cast<size_t>(from.of.segment.segment);
      to.segment = Model::to_segment(from.of.segment);
      for (size_t w = 0; w < from.of.segment.words; ++w) {
        lapilli_word word{};
        word.struct_size = sizeof word;
        if (lapilli_job_get_word(job_.get(), w, &word) == LAPILLI_OK) to.segment.words.push_back(Model::to_word(word));
      }
    } else if (from.kind == LAPILLI_EVENT_DRAFT) {
      to.input = static_cast<size_t>(from.of.draft.input);
      for (size_t i = 0; i < from.of.draft.segments; ++i) to.draft.push_back(draft_segment(i));
    } else if (from.kind == LAPILLI_EVENT_PROGRESS) {
      to.done = from.of.progress.done;
      to.total = from.of.progress.total;
      to.tokens = from.of.progress.tokens;
    } else if (from.kind == LAPILLI_EVENT_INPUT) {
      to.input = static_cast<size_t>(from.of.input.input);
      to.status = from.of.input.status;
      to.message = from.of.input.message;
    } else if (from.kind == LAPILLI_EVENT_ERROR) {
      to.status = from.of.error.status;
      to.message = from.of.error.message;
    } else if (from.kind == LAPILLI_EVENT_END) {
      to.status = from.of.end.status;
    }
    return to;
  }

  Segment draft_segment(size_t number) const {
    lapilli_segment found{};
    found.struct_size = sizeof found;
    if (lapilli_job_get_draft(job_.get(), number, &found) != LAPILLI_OK) return {};
    Segment segment = Model::to_segment(found);
    for (size_t w = 0; w < found.words; ++w) {
      lapilli_word word{};
      word.struct_size = sizeof word;
      if (lapilli_job_get_draft_word(job_.get(), number, w, &word) == LAPILLI_OK)
        segment.words.push_back(Model::to_word(word));
    }
    return segment;
  }

  std::unique_ptr<lapilli_job, FreeJob> job_;
  size_t inputs_ = 0;
};

inline Result<Job> Model::begin(const std::vector<lapilli_input>& inputs, const Options& options,
                                const char* task) const {
  if (options.progress || options.stream)
    return Error(LAPILLI_INVALID_ARGUMENT,
                 "Options::progress and stream: a job calls no functions; ask for its events");
  if (!options.input_numbers.empty() && options.input_numbers.size() != inputs.size())
    return Error(LAPILLI_INVALID_ARGUMENT, "Options::input_numbers: there must be one per input, or none");
  std::vector<lapilli_phrase> bad_words;
  lapilli_options o = convert(options, bad_words);
  if (!options.input_numbers.empty()) o.input_numbers = options.input_numbers.data();
  o.task = options.task.empty() ? task : options.task.c_str();
  lapilli_job* job = nullptr;
  if (auto status = lapilli_job_start(model_.get(), inputs.data(), inputs.size(), &o, &job)) return last_error(status);
  return Job(job, inputs.size());
}

inline Result<Job> Model::start(const std::vector<std::string>& texts, const Options& options) const {
  return begin(inputs_of(texts), options, "translate");
}

inline Result<Job> Model::start_ids(const std::vector<Ids>& sources, const Options& options) const {
  return begin(inputs_of(sources), options, "generate");
}

inline Result<Job> Model::start_inputs(const std::vector<lapilli_input>& inputs, const Options& options) const {
  return begin(inputs, options, "");
}

namespace detail {
// Shows the options, which outlive it.
inline lapilli_shape c_shape(const Shape& shape, const lapilli_options& options) {
  lapilli_shape s = lapilli_default_shape();
  s.inputs = shape.inputs;
  s.source_tokens = shape.source_tokens;
  s.target_tokens = shape.target_tokens;
  s.options = &options;
  return s;
}
}  // namespace detail

inline Result<Job> Model::prepare(const Shape& shape, const Options& options) const {
  std::vector<lapilli_phrase> bad_words;
  lapilli_options o = convert(options, bad_words);
  o.task = options.task.empty() ? "translate" : options.task.c_str();
  const lapilli_shape s = detail::c_shape(shape, o);
  lapilli_job* job = nullptr;
  if (auto status = lapilli_job_prepare(model_.get(), &s, &job)) return last_error(status);
  return Job(job, 0);
}

inline Result<lapilli_tuning> Model::tune(const Shape& shape, double seconds, const Options& options) const {
  std::vector<lapilli_phrase> bad_words;
  const lapilli_options o = convert(options, bad_words);
  const lapilli_shape s = detail::c_shape(shape, o);
  lapilli_tuning found{};
  found.struct_size = sizeof found;
  if (auto status = lapilli_model_tune(model_.get(), &s, seconds, &found)) return last_error(status);
  return found;
}

// A model on its way onto a device. Of one thread at a time, but for cancel().
class Loading {
 public:
  // An empty directory: as Model::load().
  static Result<Loading> start(const Device& device, const std::string& directory = {},
                               const ModelOptions& options = {}) {
    auto source = std::make_unique<detail::ModelSource>(options);
    lapilli_load* load = nullptr;
    if (auto status = lapilli_load_start(device.handle(), directory.c_str(), &source->c_options(), &load))
      return last_error(status);
    return Loading(load, std::move(source));
  }
  // Goes on, for about so long; true once it has ended.
  bool pump(uint64_t budget_us = LAPILLI_UNLIMITED) {
    int32_t finished = 0;
    return lapilli_load_pump(load_.get(), budget_us, &finished) != LAPILLI_OK || finished != 0;
  }
  // Waits for the end, or for so long; true once it has ended.
  bool wait(uint64_t timeout_us = LAPILLI_UNLIMITED) {
    int32_t finished = 0;
    return lapilli_load_wait(load_.get(), timeout_us, &finished) != LAPILLI_OK || finished != 0;
  }
  // Bytes of weights: done, all.
  std::pair<uint64_t, uint64_t> progress() const noexcept {
    std::pair<uint64_t, uint64_t> bytes;
    lapilli_load_progress(load_.get(), &bytes.first, &bytes.second);
    return bytes;
  }
  // From any thread.
  void cancel() const noexcept { lapilli_load_cancel(load_.get()); }
  // After the end, once. What open_file has thrown is thrown here.
  Result<Model> take() {
    lapilli_model* model = nullptr;
    const auto status = lapilli_load_take(load_.get(), &model);
    source_->rethrow();
    if (status) return last_error(status);
    return Model(model);
  }

 private:
  struct FreeLoad {
    void operator()(lapilli_load* l) const noexcept { lapilli_load_free(l); }
  };
  Loading(lapilli_load* load, std::unique_ptr<detail::ModelSource> source) : source_(std::move(source)), load_(load) {}
  std::unique_ptr<detail::ModelSource> source_;  // outlives the load, which closes its files
  std::unique_ptr<lapilli_load, FreeLoad> load_;
};

// Every device of this machine as a JSON array.
inline Result<std::string> devices_json(const DeviceOptions& options = {}) {
  const lapilli_device_options o = c_options(options);
  const char* json = nullptr;
  if (auto status = lapilli_devices_json(&o, &json)) return last_error(status);
  return std::string(json);
}

// ---- attention and alignment ----

struct AttentionChoice {
  int32_t kind = LAPILLI_ATTENTION_CROSS;
  int32_t layer = LAPILLI_ATTENTION_MEAN, head = LAPILLI_ATTENTION_MEAN;
};

// What the model looked at in one of the runs that a sequence is made of; see lapilli.h. Not for several threads at
// once.
class Attention {
 public:
  static Result<Attention> run(const Model& model, const Results& results, size_t input, size_t sequence = 0,
                               size_t piece = 0) {
    lapilli_attention* made = nullptr;
    if (auto status = lapilli_attention_run(model.handle(), results.handle(), input, sequence, piece, &made)) {
      return last_error(status);
    }
    return Attention(made);
  }
  // How many runs there are; 0 if that sequence does not exist.
  static size_t pieces(const Results& results, size_t input, size_t sequence = 0) noexcept {
    size_t count = 0;
    return lapilli_result_pieces(results.handle(), input, sequence, &count) == LAPILLI_OK ? count : 0;
  }

  Result<lapilli_attention_map> map(int32_t kind = LAPILLI_ATTENTION_CROSS) const {
    lapilli_attention_map map{};
    map.struct_size = sizeof map;
    if (auto status = lapilli_attention_get_map(attention_.get(), kind, &map)) return last_error(status);
    return map;
  }
  Result<lapilli_attention_token> token(bool target, size_t index) const {
    lapilli_attention_token token{};
    token.struct_size = sizeof token;
    if (auto status = lapilli_attention_get_token(attention_.get(), target ? 1 : 0, index, &token)) {
      return last_error(status);
    }
    return token;
  }
  Result<std::string> json(const AttentionChoice& choice = {}) const {
    const lapilli_attention_choice c = convert(choice);
    const char* text = nullptr;
    if (auto status = lapilli_attention_json(attention_.get(), &c, &text)) return last_error(status);
    return std::string(text);
  }
  Result<std::string> svg(const AttentionChoice& choice = {}) const {
    const lapilli_attention_choice c = convert(choice);
    const char* text = nullptr;
    if (auto status = lapilli_attention_svg(attention_.get(), &c, &text)) return last_error(status);
    return std::string(text);
  }
  Result<std::vector<uint8_t>> png(const AttentionChoice& choice = {}) const {
    const lapilli_attention_choice c = convert(choice);
    const uint8_t* bytes = nullptr;
    size_t count = 0;
    if (auto status = lapilli_attention_png(attention_.get(), &c, &bytes, &count)) return last_error(status);
    return std::vector<uint8_t>(bytes, bytes + count);
  }
  Result<std::vector<lapilli_word_link>> align(int32_t layer = LAPILLI_ATTENTION_MEAN) const {
    size_t count = 0;
    if (auto status = lapilli_attention_align(attention_.get(), layer, &count)) return last_error(status);
    std::vector<lapilli_word_link> links(count);
    for (size_t i = 0; i < count; ++i) {
      links[i].struct_size = sizeof links[i];
      if (auto status = lapilli_attention_get_link(attention_.get(), i, &links[i])) return last_error(status);
    }
    return links;
  }

 private:
  struct Free {
    void operator()(lapilli_attention* a) const noexcept { lapilli_attention_free(a); }
  };
  explicit Attention(lapilli_attention* attention) : attention_(attention) {}
  static lapilli_attention_choice convert(const AttentionChoice& choice) {
    lapilli_attention_choice c{};
    c.struct_size = sizeof c;
    c.kind = choice.kind;
    c.layer = choice.layer;
    c.head = choice.head;
    return c;
  }
  std::unique_ptr<lapilli_attention, Free> attention_;
};

}  // namespace v0
}  // namespace lapilli
