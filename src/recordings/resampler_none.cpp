// Replaces resampler.cpp in builds without libsamplerate.
#include "recordings/reader.hpp"

namespace lapilli::recordings {

bool can_resample() { return false; }

Result<std::unique_ptr<Resampler>> make_resampler(uint32_t from_rate, uint32_t to_rate) {
  return fail(ErrorCode::unsupported,
              "%u samples a second, but the model takes %u, and this lapilli was built without libsamplerate: convert "
              "the recording first (ffmpeg -i FILE -ar %u OUT.wav)",
              from_rate, to_rate, to_rate);
}

}  // namespace lapilli::recordings
