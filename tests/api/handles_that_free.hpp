// Handles of the C interface that free themselves.
#pragma once

#include <memory>

#include "lapilli/lapilli.h"

namespace lapilli::test {

template <class T, void (*Free)(T*)>
struct Freed {
  void operator()(T* handle) const { Free(handle); }
};
using DeviceHandle = std::unique_ptr<lapilli_device, Freed<lapilli_device, lapilli_device_close>>;
using ModelHandle = std::unique_ptr<lapilli_model, Freed<lapilli_model, lapilli_model_free>>;
using JobHandle = std::unique_ptr<lapilli_job, Freed<lapilli_job, lapilli_job_free>>;
using ResultHandle = std::unique_ptr<lapilli_result, Freed<lapilli_result, lapilli_result_free>>;

}  // namespace lapilli::test
