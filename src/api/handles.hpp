// What stands behind the C interface's handles, and the walls that every function of it has: no exception passes, the
// message of a failure is kept for its thread, structs of other versions are understood.
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

#include "api/replaceable.hpp"
#include "api/work.hpp"
#include "base/result.hpp"
#include "generate/generate.hpp"
#include "generate/translate.hpp"
#include "lapilli/lapilli.h"
#include "ops/core/weight_layout.hpp"
#include "vulkan/device.hpp"

struct lapilli_device {
  std::shared_ptr<lapilli::api::ReplaceableDevice> place;

  [[nodiscard]] std::shared_ptr<lapilli::vulkan::Device> device() const { return place->device(); }
};

struct lapilli_model {
  std::shared_ptr<lapilli::api::ReplaceableModel> place;
  // As it was loaded first: pointers into these are given out.
  lapilli::ModelInfo info;
  std::string device_name, tokenizer_error;
  std::string commands;    // of the program, which it serves
  int32_t input_kind = 0;  // LAPILLI_INPUT_...
  double load_ms = 0;
  std::vector<std::string> languages;
  std::shared_ptr<const lapilli::api::FrontEnd> front;
  // Counts cancellations: a call that began under another number ends. Lock-free, so signal handlers may touch it.
  std::shared_ptr<std::atomic<uint32_t>> cancellations = std::make_shared<std::atomic<uint32_t>>(0);

  [[nodiscard]] std::shared_ptr<lapilli::Model> model() const { return place->model(); }
};

struct lapilli_cancel_token {
  // Calls hold it, so the handle may be freed while they run. Lock-free, so signal handlers may touch it.
  std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
};

struct lapilli_result {
  lapilli::TranslateOutput output;
  std::vector<std::string> sources;  // the inputs' texts, empty for ids: what byte offsets count in
  lapilli_stats stats{};
  std::vector<std::vector<lapilli::api::HeardSegment>> segments;  // by input, if it was a recording
  std::vector<std::vector<lapilli::ScoredClass>> classes;         // by input, if it was a picture that is classified
  std::vector<std::optional<lapilli::api::SeenInput>> seen;  // by input, if it was a picture whose looks are wanted
  std::string drawing;                                       // what the last call gave out
};

namespace lapilli::api {

// Keeps the message for lapilli_last_error and gives the status.
lapilli_status report(const Error& error);
lapilli_status report(ErrorCode code, const char* message);

// Runs `body`, which returns a Status, at the border of the library.
template <class Body>
lapilli_status guarded(Body&& body) noexcept {
  try {
    const Status status = body();
    return status ? LAPILLI_OK : report(status.error());
  } catch (const std::bad_alloc&) {
    return report(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::length_error&) {  // of a container that would be larger than memory can be
    return report(ErrorCode::out_of_memory, "out of memory");
  } catch (const std::exception& e) {
    return report(ErrorCode::internal, e.what());
  } catch (...) {
    return report(ErrorCode::internal, "an unknown exception");
  }
}

// A number of microseconds as the caller gave it.
inline double microseconds_of(uint64_t given) {
  return given == LAPILLI_UNLIMITED ? std::numeric_limits<double>::infinity() : static_cast<double>(given);
}

// Every struct of the interface begins with struct_size and may grow at its end. A later field must leave no padding
// between itself and the end, as padding holds anything: earlier versions want to see zeros there.

// struct_size as the caller set it. 0, and what no struct will ever have, mean that it was not.
inline Status check_size(uint32_t size, const char* name) {
  if (size <= sizeof(uint32_t)) {
    return fail(ErrorCode::invalid_argument, "%s.struct_size is %u; set it to sizeof(%s)", name, size, name);
  }
  if (size > 65536) return fail(ErrorCode::invalid_argument, "%s.struct_size is %u, which cannot be", name, size);
  return {};
}

// What this version knows of the caller's struct; fields that the caller's version lacks stay as they are.
template <class T>
void copy_known(const T* from, T& to) {
  std::memcpy(&to, from, std::min<size_t>(from->struct_size, sizeof(T)));
  to.struct_size = sizeof(T);
}

// A struct of a newer version is fine as long as what this version does not know of it is zero.
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

// Takes over the caller's struct: `to` holds defaults.
template <class T>
Status read_struct(const T* from, T& to, const char* name) {
  if (!from) return {};
  LAPILLI_CHECK(check_size(from->struct_size, name));
  LAPILLI_CHECK(check_rest(from, name));
  copy_known(from, to);
  return {};
}

// Calls read(index, element), which gives a Status, for each of the caller's structs. They lie as far apart as the
// caller's version has them, which the first one says.
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
    LAPILLI_CHECK(read(i, element));  // first, as it can say more than that a field is not known
    LAPILLI_CHECK(check_rest(at, name));
  }
  return {};
}

// Fills the caller's struct, as much of it as the caller knows.
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

// Reads the options of one call into the request, whose inputs are there already, checking pointers and counts. Values
// are checked by the job. The caller's functions are left to progress_of() and stream_of().
Status read_options(const lapilli_options* options, TranslateRequest& request);
// The shortest decimal that means this float, so that 1.2f is 1.2 and not 1.2000000477.
double decimal_of(float from);
// Those of the search.
Status read_generation(const lapilli_options& from, GenerationConfig& to);
// The caller's function and cancel token, or empty; false cancels.
std::function<bool(uint64_t done, uint64_t total)> progress_of(const lapilli_options& from);
StreamSink stream_of(const lapilli_options& from);

// What is told of a segment and of a word; the pointers show what `from` holds.
lapilli_segment c_segment(const HeardSegment& from);
// Of a segment's looks, as they are drawn.
Result<std::string> draw_segment(const lapilli_drawing* how, const speech::Segment& segment);
// Word `number` of these; an error where there is none.
Status write_word(const char* function, std::span<const speech::Word> words, size_t number, lapilli_word* out);

// For what is begun and needs the device: invalid_argument while it is paused.
Status check_running(const vulkan::Device& device, const char* where);
// keep_between_runs(), at the border of the library.
void keep(vulkan::Device& device) noexcept;
// What a model is loaded from, and how.
struct ModelOptions {
  Files files = "";
  Reopen reopen;  // the same files another time, if they stay
  LoadOptions load;
};
// The arguments of lapilli_model_load_with, checked: `directory` may be null, and `options` for defaults. Files of the
// host are copied as they are described, and used until the load is done; then Files::failure() is to be asked.
Result<ModelOptions> read_model_options(const char* directory, const lapilli_model_options* options);

// LAPILLI_DTYPE_... of a format.
int32_t dtype_of(WeightFormat format);

// The options of a device, null for defaults.
Result<vulkan::DeviceOptions> read_device_options(const lapilli_device_options* options);
// Of a device that is made with them: what is traced goes into its file, which is begun.
Result<vulkan::DeviceOptions> read_opening_options(const lapilli_device_options* options);

}  // namespace lapilli::api
