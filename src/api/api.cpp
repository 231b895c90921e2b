// The C interface: versions, errors, devices and models. Generation is in api_generate.cpp.
#include "api/handles.hpp"
#include "api/host_store.hpp"
#include "base/log.hpp"
#include "generate/encoders/encoding_task.hpp"
#include "ops/core/shader_table.hpp"
#include "runtime/check/self_test.hpp"
#include "tools/tools.hpp"

namespace lapilli::api {

namespace {

// Functions of lapilli.h that set struct_size, by struct.
constexpr std::pair<std::string_view, const char*> kHelpers[] = {
    {"lapilli_options", "lapilli_default_options()"},
    {"lapilli_speech_options", "lapilli_default_speech_options()"},
    {"lapilli_picture_options", "lapilli_default_picture_options()"},
    {"lapilli_encoder_options", "lapilli_default_encoder_options()"},
    {"lapilli_chat_options", "lapilli_default_chat_options()"},
    {"lapilli_model_options", "lapilli_default_model_options()"},
    {"lapilli_device_options", "lapilli_default_device_options()"},
    {"lapilli_host_device", "lapilli_default_host_device()"},
    {"lapilli_store", "lapilli_default_store()"},
    {"lapilli_workers", "lapilli_default_workers()"},
    {"lapilli_files", "lapilli_default_files()"},
    {"lapilli_sample_source", "lapilli_default_sample_source()"},
    {"lapilli_shape", "lapilli_default_shape()"},
    {"lapilli_attention_choice", "lapilli_default_attention_choice()"},
    {"lapilli_attention_drawing", "lapilli_default_attention_drawing()"},
    {"lapilli_input", "lapilli_text() or another helper"},
    {"lapilli_phrase", "lapilli_phrase_of()"},
    {"lapilli_file_part", "lapilli_file_in_memory() or lapilli_file_in_descriptor()"}};

}  // namespace

Status unset_size(uint32_t size, const char* name) {
  const auto* helper =
      std::find_if(std::begin(kHelpers), std::end(kHelpers), [name](const auto& known) { return known.first == name; });
  if (helper == std::end(kHelpers))
    return fail(ErrorCode::invalid_argument, "%s.struct_size is %u; set it to sizeof(%s)", name, size, name);
  return fail(ErrorCode::invalid_argument, "%s.struct_size is %u; begin with %s, which sets it to sizeof(%s)", name,
              size, helper->second, name);
}

namespace {
struct ThreadStrings {
  std::string error, devices;
};
ThreadStrings& thread_strings() {
  static thread_local ThreadStrings strings;
  return strings;
}
}  // namespace

lapilli_status report(const Error& error) { return report(error.code, error.message.c_str()); }

lapilli_status report(ErrorCode code, const char* message) {
  try {
    thread_strings().error = message;
  } catch (...) {
    thread_strings().error.clear();
  }
  return static_cast<lapilli_status>(code);
}

namespace {
std::shared_ptr<LogSink> log_of(const lapilli_device_options& options) {
  if (!options.log) return nullptr;
  auto sink = std::make_shared<LogSink>();
  sink->level = static_cast<LogLevel>(std::clamp<int32_t>(options.log_level, LAPILLI_LOG_ERROR, LAPILLI_LOG_VERBOSE));
  sink->hook = [function = options.log, user = options.log_user](LogLevel at, const std::string& message) {
    function(user, static_cast<int32_t>(at), message.c_str());
  };
  return sink;
}
}  // namespace

Result<vulkan::DeviceOptions> read_device_options(const lapilli_device_options* options) {
  lapilli_device_options given{};
  LAPILLI_CHECK(read_struct(options, given, "lapilli_device_options"));
  vulkan::DeviceOptions out;
  if (given.select) out.select = given.select;
  if (given.caps) out.mask = given.caps;
  out.validation = given.validation != 0;
  out.refuse_cpu = given.refuse_cpu != 0;
  out.ignore_environment = given.ignore_environment != 0;
  out.low_priority = given.low_priority != 0;
  out.debug_names = given.debug_names != 0;
  if (!(given.wait_timeout_s >= 0)) {
    return fail(ErrorCode::invalid_argument, "lapilli_device_options.wait_timeout_s must not be negative");
  }
  // Bounded so that it fits as nanoseconds everywhere.
  constexpr double kLongestWait = 1e8;
  out.wait_timeout_s = std::min(given.wait_timeout_s, kLongestWait);
  out.log = log_of(given);
  out.max_submit_us = given.max_submit_us;
  out.memory_limit = given.memory_limit;
  out.gap_us = given.gap_us;
  LAPILLI_TRY(out.keep.store, store_of(given));
  if (out.keep.store) out.keep.shaders = shaders_checksum();
  LAPILLI_TRY(out.workers, workers_of(given));
  return out;
}

Result<vulkan::DeviceOptions> read_opening_options(const lapilli_device_options* options) {
  LAPILLI_TRY(auto out, read_device_options(options));
  lapilli_device_options given{};
  LAPILLI_CHECK(read_struct(options, given, "lapilli_device_options"));
  if (given.trace_file && *given.trace_file) {
    LAPILLI_TRY(out.timeline, Timeline::into_file(given.trace_file));
  }
  return out;
}

Status check_running(const vulkan::Device& device, const char* where) {
  if (!device.is_paused()) return {};
  return fail(ErrorCode::invalid_argument, "%s: the device is paused; call lapilli_device_resume first", where);
}

void keep(vulkan::Device& device) noexcept {
  try {
    keep_between_runs(device);
  } catch (...) {  // no memory: nothing new is kept for the next run
  }
}

}  // namespace lapilli::api

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::Status;
using lapilli::api::guarded;

static_assert(LAPILLI_INVALID_ARGUMENT == static_cast<int>(ErrorCode::invalid_argument));
static_assert(LAPILLI_NOT_FOUND == static_cast<int>(ErrorCode::not_found));
static_assert(LAPILLI_INVALID_DATA == static_cast<int>(ErrorCode::invalid_data));
static_assert(LAPILLI_UNSUPPORTED == static_cast<int>(ErrorCode::unsupported));
static_assert(LAPILLI_OUT_OF_MEMORY == static_cast<int>(ErrorCode::out_of_memory));
static_assert(LAPILLI_NO_DEVICE == static_cast<int>(ErrorCode::no_device));
static_assert(LAPILLI_DEVICE_LOST == static_cast<int>(ErrorCode::device_lost));
static_assert(LAPILLI_TIMEOUT == static_cast<int>(ErrorCode::timeout));
static_assert(LAPILLI_CANCELLED == static_cast<int>(ErrorCode::cancelled));
static_assert(LAPILLI_INTERNAL == static_cast<int>(ErrorCode::internal));

extern "C" {

const char* lapilli_version(void) { return LAPILLI_VERSION; }

int32_t lapilli_version_number(void) { return LAPILLI_VERSION_NUMBER; }

const char* lapilli_status_name(lapilli_status status) {
  if (status < LAPILLI_OK || status > LAPILLI_INTERNAL) return "unknown";
  return lapilli::error_code_name(static_cast<ErrorCode>(status));
}

const char* lapilli_last_error(void) { return lapilli::api::thread_strings().error.c_str(); }

void lapilli_set_log(int32_t level, lapilli_log_function function, void* user) {
  (void)guarded([&]() -> Status {
    level = std::clamp<int32_t>(level, LAPILLI_LOG_ERROR, LAPILLI_LOG_VERBOSE);
    lapilli::set_log_level(static_cast<lapilli::LogLevel>(level));
    if (!function) {
      lapilli::set_log_hook({});
    } else {
      lapilli::set_log_hook([function, user](lapilli::LogLevel at, const std::string& message) {
        function(user, static_cast<int32_t>(at), message.c_str());
      });
    }
    return {};
  });
}

lapilli_status lapilli_device_open(const lapilli_device_options* options, lapilli_device** device) {
  if (device) *device = nullptr;
  return guarded([&]() -> Status {
    if (!device) return fail(ErrorCode::invalid_argument, "lapilli_device_open: device is null");
    LAPILLI_TRY(auto device_options, lapilli::api::read_opening_options(options));
    auto handle = std::make_unique<lapilli_device>();
    LAPILLI_TRY(auto made, lapilli::vulkan::Device::create(device_options));
    handle->place = std::make_shared<lapilli::api::ReplaceableDevice>(std::move(made), std::move(device_options));
    *device = handle.release();
    return {};
  });
}

void lapilli_device_close(lapilli_device* device) {
  // A device that still has models lives on; its data is stored with theirs.
  if (device && device->place.use_count() == 1) lapilli::api::keep(*device->device());
  delete device;
}

lapilli_status lapilli_devices_json(const lapilli_device_options* options, const char** json) {
  if (json) *json = nullptr;
  return guarded([&]() -> Status {
    if (!json) return fail(ErrorCode::invalid_argument, "lapilli_devices_json: json is null");
    LAPILLI_TRY(auto device_options, lapilli::api::read_device_options(options));
    LAPILLI_TRY(auto devices, lapilli::vulkan::list_devices(device_options));
    std::string& kept = lapilli::api::thread_strings().devices;
    kept = lapilli::tools::devices_json(devices);
    *json = kept.c_str();
    return {};
  });
}

void lapilli_model_free(lapilli_model* model) {
  if (model) lapilli::api::keep(*model->model()->device());
  delete model;
}

size_t lapilli_model_language_count(const lapilli_model* model) { return model ? model->languages.size() : 0; }

const char* lapilli_model_language(const lapilli_model* model, size_t index) {
  return model && index < model->languages.size() ? model->languages[index].c_str() : nullptr;
}

lapilli_status lapilli_model_get_info(const lapilli_model* model, lapilli_model_info* info) {
  return guarded([&]() -> Status {
    if (!model) return fail(ErrorCode::invalid_argument, "lapilli_model_get_info: model is null");
    const lapilli::ModelInfo& from = model->info;
    lapilli_model_info out{};
    out.has_tokenizer = model->model()->tokenizer() != nullptr;
    out.directory = from.directory.c_str();
    out.family = from.family.c_str();
    out.device = model->device_name.c_str();
    out.parameters = from.parameters;
    out.weight_bytes = from.weight_bytes;
    out.source_vocabulary = from.source_vocabulary;
    out.target_vocabulary = from.target_vocabulary;
    out.max_source_tokens = from.max_source_positions;
    out.max_target_tokens = from.max_target_positions;
    out.load_ms = model->load_ms;
    out.dtype = lapilli::api::dtype_of(from.format);
    out.fp32_matrices = from.fp32_matrices;
    out.kv_dtype = from.kv_format == lapilli::KvFormat::fp16 ? LAPILLI_DTYPE_FP16 : LAPILLI_DTYPE_FP32;
    if (const auto& sound = model->front->sound) {
      out.sample_rate = sound->sampling_rate;
      out.window_samples = from.feature_rows * sound->hop;
    }
    out.reads_pictures = model->front->pictures ? 1 : 0;
    out.input_kind = model->input_kind;
    out.writes_text = from.decoder_layers != 0;
    out.decoder_layers = from.decoder_layers;
    out.decoder_heads = from.decoder_layers != 0 ? from.decoder_heads : 0;
    out.commands = model->commands.c_str();
    out.tokenizer_error = out.has_tokenizer ? nullptr : model->tokenizer_error.c_str();
    out.dimensions = lapilli::embedding_width(model->model()->on_device().config());
    if (const auto& pictures = model->front->pictures) out.classes = static_cast<uint32_t>(pictures->labels.size());
    if (const auto& texts = model->front->classes) out.classes = static_cast<uint32_t>(texts->labels.size());
    return lapilli::api::write_struct(out, info, "lapilli_model_info");
  });
}

}  // extern "C"
