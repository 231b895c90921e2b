// Resampling by libsamplerate.
#include <samplerate.h>

#include "recordings/reader.hpp"

namespace lapilli::recordings {
namespace {

struct Delete {
  void operator()(SRC_STATE* s) const { src_delete(s); }
};

class SampleRateResampler : public Resampler {
 public:
  SampleRateResampler(SRC_STATE* state, double ratio) : state_(state), ratio_(ratio) {}
  Result<Progress> run(std::span<const float> from, std::span<float> to, bool last) override {
    SRC_DATA data{};
    data.data_in = from.data();
    data.input_frames = static_cast<long>(from.size());
    data.data_out = to.data();
    data.output_frames = static_cast<long>(to.size());
    data.end_of_input = last ? 1 : 0;
    data.src_ratio = ratio_;
    if (const int error = src_process(state_.get(), &data); error != 0)
      return fail(ErrorCode::internal, "resampling: %s", src_strerror(error));
    return Progress{static_cast<uint64_t>(data.input_frames_used), static_cast<uint64_t>(data.output_frames_gen)};
  }

 private:
  std::unique_ptr<SRC_STATE, Delete> state_;
  double ratio_;
};

}  // namespace

bool can_resample() { return true; }

Result<std::unique_ptr<Resampler>> make_resampler(uint32_t from_rate, uint32_t to_rate) {
  const double ratio = static_cast<double>(to_rate) / from_rate;
  if (!src_is_valid_ratio(ratio))
    return fail(ErrorCode::unsupported, "%u samples a second cannot be made of %u", to_rate, from_rate);
  int error = 0;
  SRC_STATE* state = src_new(SRC_SINC_MEDIUM_QUALITY, 1, &error);
  if (!state) return fail(ErrorCode::out_of_memory, "resampling: %s", src_strerror(error));
  return std::unique_ptr<Resampler>(new SampleRateResampler(state, ratio));
}

}  // namespace lapilli::recordings
