// pace=GB_PER_S: a device of that speed by a clock of its own. See tests/lab/README.md.
#pragma once

#include <vulkan/vulkan_core.h>

namespace lapilli::lab {

// True if LAPILLI_LAB asks for a pace.
bool has_pace();
// The function that stands in front of `next`, the layer's own or the driver's; `next` if there is none.
PFN_vkVoidFunction paced(VkDevice device, const char* name, PFN_vkVoidFunction next);

}  // namespace lapilli::lab

// Functions of the layer's library that a test calls, by dlsym. Nanoseconds of the virtual clock; nothing is in flight
// meanwhile.
extern "C" {
struct lab_pace_submission {
  double begin_ns, end_ns;
  double longest_buffer_ns;  // of its command buffers: a submission is not cut within one
};
// The clock moves on to this time; not back.
void lab_pace_advance(double to_ns);
double lab_pace_now(void);
// Submissions since the process began, oldest first: how many there are; `most` of them from `first` on are written.
unsigned lab_pace_submissions(struct lab_pace_submission* out, unsigned first, unsigned most);
}
