// The objects behind the C interface's handles, and the guards in each of its functions: no exception passes, a
// failure's message is kept per thread, and structs of other versions are understood.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/job_list.hpp"
#include "api/replaceable.hpp"
#include "api/work.hpp"
#include "base/result.hpp"
#include "generate/generate.hpp"
#include "generate/translate.hpp"
#include "lapilli/lapilli.h"
#include "ops/core/weight_layout.hpp"
#include "vulkan/device/device.hpp"

struct lapilli_device {
  std::shared_ptr<lapilli::api::ReplaceableDevice> place;

  [[nodiscard]] std::shared_ptr<lapilli::vulkan::Device> device() const { return place->device(); }
};

struct lapilli_model {
  std::shared_ptr<lapilli::api::ReplaceableModel> place;
  // As first loaded: callers hold pointers into these.
  lapilli::ModelInfo info;
  std::string device_name, tokenizer_error;
  std::string commands;    // commands of the program that it serves
  int32_t input_kind = 0;  // LAPILLI_INPUT_...
  double load_ms = 0;
  std::vector<std::string> languages;
  std::shared_ptr<const lapilli::FrontEnd> front;
  // Number of cancellations: a call ends if it has changed since. Lock-free, so signal handlers may touch it.
  std::shared_ptr<std::atomic<uint32_t>> cancellations = std::make_shared<std::atomic<uint32_t>>(0);

  std::shared_ptr<lapilli::api::JobList> jobs = std::make_shared<lapilli::api::JobList>();

  [[nodiscard]] std::shared_ptr<lapilli::Model> model() const { return place->model(); }
};

struct lapilli_cancel_token {
  // Calls share it, so the handle may be freed while they run. Lock-free, so signal handlers may touch it.
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
};

struct lapilli_result {
  lapilli::TranslateOutput output;
  std::vector<std::string> sources;  // texts of the inputs, which byte offsets refer to; empty for ids
  lapilli_stats stats{};
  std::vector<std::vector<lapilli::api::TranscriptSegment>> segments;     // by input, for recordings
  std::vector<std::vector<lapilli::ScoredClass>> classes;                 // by input, for classified pictures
  std::vector<lapilli::api::EncodedInput> encoded;                        // by input, of encoders of texts
  std::vector<std::optional<lapilli::api::OverlayInput>> overlay_inputs;  // by input, if asked for
  std::string drawing;                                                    // result of the last call
};

namespace lapilli::api {

// Stores the message for lapilli_last_error and returns the status.
lapilli_status report(const Error& error);
lapilli_status report(ErrorCode code, const char* message);

// Runs `body`, which returns a Status, at the library's boundary.
template <class Body>
lapilli_status guarded(Body&& body) noexcept {
  try {
    const Status status = body();
    return status ? LAPILLI_OK : report(status.error());
  } catch (const std::bad_alloc&) {
    return report(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::length_error&) {  // a container would exceed the largest possible size
    return report(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::exception& e) {
    return report(ErrorCode::internal, e.what());
  } catch (...) {
    return report(ErrorCode::internal, "an unknown exception");
  }
}

// The caller's number of microseconds; LAPILLI_UNLIMITED becomes infinity.
inline double microseconds_of(uint64_t given) {
  return given == LAPILLI_UNLIMITED ? std::numeric_limits<double>::infinity() : static_cast<double>(given);
}

// Every struct of the interface begins with struct_size and may grow at its end. A new field must leave no padding
// before the end: padding holds arbitrary bytes where earlier versions expect zeros.

// Checks the caller's struct_size. 0 and sizes that no struct will ever have mean that it was not set.
Status unset_size(uint32_t size, const char* name);
inline Status check_size(uint32_t size, const char* name) {
  if (size <= sizeof(uint32_t)) return unset_size(size, name);
  if (size > 65536) return fail(ErrorCode::invalid_argument, "%s.struct_size is %u, which cannot be", name, size);
  return {};
}

// Copies the fields of the caller's struct that this version knows; fields that the caller's version lacks keep their
// values.
template <class T>
void copy_known(const T* from, T& to) {
  std::memcpy(&to, from, std::min<size_t>(from->struct_size, sizeof(T)));
  to.struct_size = sizeof(T);
}

// Accepts a struct of a newer version if all fields unknown to this version are zero.
template <class T>
Status check_rest(const T* from, const char* name) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  for (size_t i = sizeof(T); i < from->struct_size; ++i) {
    if (bytes[i] != 0) {
      return fail(ErrorCode::unsupported, "%s sets a field that this version (%s) does not know", name,
                  lapilli_version());
    }
  }
  return {};
}

// Reads the caller's struct into `to`, which holds defaults.
template <class T>
Status read_struct(const T* from, T& to, const char* name) {
  if (!from) return {};
  LAPILLI_CHECK(check_size(from->struct_size, name));
  LAPILLI_CHECK(check_rest(from, name));
  copy_known(from, to);
  return {};
}

// Calls read(index, element), which returns a Status, for each of the caller's structs. The first one's struct_size is
// the stride, as the caller's version may differ.
template <class T, class Read>
Status read_array(const T* from, size_t count, const char* name, Read&& read) {
  if (count == 0) return {};
  if (!from) return fail(ErrorCode::invalid_argument, "%u of %s at a null pointer", count, name);
  const uint32_t stride = from->struct_size;
  LAPILLI_CHECK(check_size(stride, name));
  if (stride % alignof(T) != 0) {
    return fail(ErrorCode::invalid_argument, "%s.struct_size is %u, which cannot be", name, stride);
  }
  for (size_t i = 0; i < count; ++i) {
    const T* at = reinterpret_cast<const T*>(reinterpret_cast<const unsigned char*>(from) + i * stride);
    if (at->struct_size != stride) {
      return fail(ErrorCode::invalid_argument,
                  "%s number %u has struct_size %u and the first one %u; set it in each, to sizeof(%s)", name, i,
                  at->struct_size, stride, name);
    }
    T element{};
    copy_known(at, element);
    LAPILLI_CHECK(read(i, element));  // first, as its errors say more than that a field is unknown
    LAPILLI_CHECK(check_rest(at, name));
  }
  return {};
}

// Fills the caller's struct as far as the caller's version knows it.
template <class T>
Status write_struct(const T& from, T* to, const char* name) {
  if (!to) return fail(ErrorCode::invalid_argument, "%s is null", name);
  const uint32_t size = to->struct_size;
  LAPILLI_CHECK(check_size(size, name));
  std::memset(to, 0, size);
  std::memcpy(to, &from, std::min<size_t>(size, sizeof(T)));
  to->struct_size = size;
  return {};
}

// Reads one call's options into the request, which already has its inputs; checks pointers and counts. The job checks
// values. progress_of() and stream_of() read the caller's functions.
Status read_options(const CallOptions& options, TranslateRequest& request);
ChatRequest chat_request(const lapilli_chat_options& from);
// The shortest decimal that reads as this float, so that 1.2f becomes 1.2 and not 1.2000000477.
double decimal_of(float from);
// Reads the search's options.
Status read_generation(const lapilli_options& from, GenerationConfig& to);
// The caller's function and cancel token; empty if there are none. Returning false cancels.
std::function<bool(uint64_t done, uint64_t total)> progress_of(const lapilli_options& from);
StreamSink stream_of(const lapilli_options& from);

// C structs of a segment and of a word; their pointers refer to `from`.
lapilli_segment c_segment(const TranscriptSegment& from);
// Draws a segment's attention overlays.
Result<std::string> draw_segment(const lapilli_attention_drawing* how, const speech::Segment& segment);
// Writes word `number`; an error if there is none.
Status write_word(const char* function, std::span<const speech::Word> words, size_t number, lapilli_word* out);

// Checks before starting work that needs the device: invalid_argument while it is paused.
Status check_running(const vulkan::Device& device, const char* where);
// keep_between_runs() at the library's boundary.
void keep(vulkan::Device& device) noexcept;
// The source of a model, and how to load it.
struct ModelOptions {
  Files files = "";
  Reopen reopen;  // opens the same files again, if they stay
  LoadOptions load;
};
// Checks the arguments of lapilli_model_load_with: `directory` may be null, and `options` null for defaults. Host files
// are copied as described and used until the load ends; check Files::failure() then.
Result<ModelOptions> read_model_options(const char* directory, const lapilli_model_options* options);

// The LAPILLI_DTYPE_... of a format.
int32_t dtype_of(WeightFormat format);

// Reads a device's options; null for defaults.
Result<vulkan::DeviceOptions> read_device_options(const lapilli_device_options* options);
// Reads them for a device about to be made; creates the trace file, if any.
Result<vulkan::DeviceOptions> read_opening_options(const lapilli_device_options* options);

}  // namespace lapilli::api
