#include "speech/frame_source.hpp"

#include <algorithm>

namespace lapilli::speech {

namespace {

class FramesInMemory : public FrameSource {
 public:
  FramesInMemory(std::shared_ptr<const model::Features> features, uint64_t count)
      : features_(std::move(features)), count_(count) {}
  [[nodiscard]] Extent extent() const override { return {count_, true}; }
  Result<bool> read(uint64_t first, std::span<float> rows) override {
    const model::Features& f = *features_;
    if ((first * f.width) + rows.size() > f.values.size())
      return fail(ErrorCode::invalid_argument, "a recording's features are %u numbers, not %u rows of %u",
                  f.values.size(), f.rows, f.width);
    std::copy_n(f.values.begin() + static_cast<ptrdiff_t>(first * f.width), rows.size(), rows.begin());
    return true;
  }

 private:
  std::shared_ptr<const model::Features> features_;
  uint64_t count_;
};

}  // namespace

Recording recording_of(std::shared_ptr<const model::Features> features, std::optional<uint64_t> count) {
  const uint64_t frames = count.value_or(features->rows);
  return {std::make_shared<FramesInMemory>(std::move(features), frames), {}};
}

}  // namespace lapilli::speech
