// What stands behind the C interface's handles, and the walls that every function of it has: no exception passes, the
// message of a failure is kept for its thread, structs of other versions are understood.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "generate/generate.hpp"
#include "generate/translate.hpp"
#include "lapilli/lapilli.h"
#include "vulkan/device.hpp"

struct lapilli_device {
  std::shared_ptr<lapilli::vulkan::Device> device;
};

struct lapilli_model {
  std::shared_ptr<lapilli::Model> model;
  double load_ms = 0;
  std::vector<std::string> languages;
  // Counts cancellations: a call that began under another number ends. Lock-free, so signal handlers may touch it.
  std::shared_ptr<std::atomic<uint32_t>> cancellations = std::make_shared<std::atomic<uint32_t>>(0);
};

struct lapilli_result {
  lapilli::TranslateOutput output;
  std::vector<std::string> sources;  // the inputs' texts, empty for ids: what byte offsets count in
  lapilli_stats stats{};
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

// Takes over the caller's struct: `to` holds defaults; fields that the caller's version lacks keep them. A struct of a
// newer version is fine as long as what this version does not know is zero.
template <class T>
Status read_struct(const T* from, T& to, const char* name) {
  if (!from) return {};
  const uint32_t size = from->struct_size;
  if (size <= sizeof(uint32_t)) {
    return fail(ErrorCode::invalid_argument, "%s.struct_size is %u; set it to sizeof(%s)", name, size, name);
  }
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  // No struct will ever be this large: the field was not set.
  if (size > 65536) return fail(ErrorCode::invalid_argument, "%s.struct_size is %u, which cannot be", name, size);
  for (size_t i = sizeof(T); i < size; ++i) {
    if (bytes[i] != 0) {
      return fail(ErrorCode::unsupported, "%s sets a field that this version (%s) does not know", name,
                  lapilli_version());
    }
  }
  std::memcpy(&to, from, std::min<size_t>(size, sizeof(T)));
  to.struct_size = sizeof(T);
  return {};
}

// Fills the caller's struct, as much of it as the caller knows.
template <class T>
Status write_struct(const T& from, T* to, const char* name) {
  if (!to) return fail(ErrorCode::invalid_argument, "%s is null", name);
  const uint32_t size = to->struct_size;
  if (size <= sizeof(uint32_t) || size > 65536) {
    return fail(ErrorCode::invalid_argument, "%s.struct_size is %u; set it to sizeof(%s)", name, size, name);
  }
  std::memset(to, 0, size);
  std::memcpy(to, &from, std::min<size_t>(size, sizeof(T)));
  to->struct_size = size;
  return {};
}

// Reads the options of one call into the request, whose inputs are there already, checking pointers and counts. Values
// are checked by the job.
Status read_options(const lapilli_options* options, TranslateRequest& request);

// The options of a device, null for defaults.
Result<vulkan::DeviceOptions> read_device_options(const lapilli_device_options* options);

}  // namespace lapilli::api
