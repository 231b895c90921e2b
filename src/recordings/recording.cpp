#include "recordings/recording.hpp"

#include <algorithm>
#include <cmath>

namespace lapilli::recordings {

namespace {
constexpr uint64_t kBlock = 4096;  // samples read at a time: live input waits for no more than a block
}  // namespace

Result<std::unique_ptr<Recording>> Recording::open(Opener opener, std::string name, uint32_t rate, uint64_t most_kept) {
  std::unique_ptr<Recording> made(new Recording(std::move(opener), std::move(name), rate, most_kept));
  LAPILLI_CHECK(made->rewind());
  return made;
}

Status Recording::rewind() {
  LAPILLI_TRY(reader_, opener_());
  resampler_ = nullptr;
  if (reader_->format().rate != rate_) {
    auto resampler = make_resampler(reader_->format().rate, rate_);
    if (!resampler) return std::move(resampler).error().in(name_);
    resampler_ = std::move(*resampler);
  }
  taken_ = begin_ = 0;
  channels_.assign(reader_->format().channels, {});
  mixed_ = {};
  read_all_ = ended_ = false;
  mono_.clear();
  kept_.clear();
  return {};
}

Status Recording::mix(uint64_t sets) {
  const uint32_t channels = reader_->format().channels;
  for (uint64_t i = 0; i < sets; ++i) {
    double sum = 0;
    for (uint32_t c = 0; c < channels; ++c) {
      const float sample = block_[i * channels + c];
      channels_[c].add(sample);
      sum += static_cast<double>(sample);
    }
    const auto value = static_cast<float>(sum / channels);
    if (!std::isfinite(value))
      return fail(ErrorCode::invalid_data, "%s: what it holds %.3f s after its beginning is no number", name_,
                  static_cast<double>(taken_ + i) / reader_->format().rate);
    mixed_.add(value);
    mono_.push_back(value);
  }
  return {};
}

Status Recording::take_block() {
  const uint32_t channels = reader_->format().channels;
  block_.resize((kBlock / channels + 1) * channels);
  LAPILLI_TRY(const uint64_t sets, reader_->read(block_));
  LAPILLI_CHECK(mix(sets));
  taken_ += sets;
  read_all_ = sets < block_.size() / channels;
  if (read_all_) note_shortage();
  return {};
}

void Recording::note_shortage() {
  const auto claimed = reader_->claimed();
  const double rate = reader_->format().rate;
  shortage_.clear();
  if (claimed && *claimed > taken_)
    shortage_ = format("%s ends after %.2f s, although it says that it has %.2f: it may have been cut off", name_,
                       static_cast<double>(taken_) / rate, static_cast<double>(*claimed) / rate);
  if (claimed && *claimed == 0 && taken_ > 0)
    shortage_ = format(
        "%s says that it has no sound, and has %.2f s: its end may be missing, as whatever wrote it did "
        "not finish it",
        name_, static_cast<double>(taken_) / rate);
}

std::string Recording::silence() const {
  constexpr double kStep = 1.0 / 32768;  // of 16 bits: rounding may shift silence by one up or down
  constexpr double kLeast = 0.01;  // of its channels: a mix below counts as cancelled; lossy files cancel that far
  double loudest = 0;
  for (const Extent& channel : channels_) loudest = std::max(loudest, channel.width());
  if (taken_ == 0) return "";
  if (channels_.size() > 1 && loudest > 2 * kStep && mixed_.width() <= kLeast * loudest)
    return format(
        "%s: its channels cancel each other out when they are mixed, and next to nothing is left to hear; "
        "take one of them (ffmpeg -i FILE -af \"pan=mono|c0=c0\" ONE.wav)",
        name_);
  if (mixed_.width() > 2 * kStep) return "";
  return format("%s: it is silent from its beginning to its end; what is written of it was not said", name_);
}

Status Recording::resample() {
  std::vector<float> room(kBlock);
  LAPILLI_TRY(const auto p, resampler_->run(mono_, room, read_all_));
  kept_.insert(kept_.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(p.made));
  mono_.erase(mono_.begin(), mono_.begin() + static_cast<std::ptrdiff_t>(p.taken));
  ended_ = read_all_ && mono_.empty() && p.made < room.size();
  if (p.taken == 0 && p.made == 0 && !ended_ && (read_all_ || mono_.size() >= kBlock))
    return fail(ErrorCode::internal, "%s: resampling does not go on", name_);
  return {};
}

Status Recording::more() {
  if (!read_all_ && mono_.size() < kBlock) LAPILLI_CHECK(take_block());
  if (resampler_) return resample();
  kept_.insert(kept_.end(), mono_.begin(), mono_.end());
  mono_.clear();
  ended_ = read_all_;
  return {};
}

Status Recording::store_up_to(uint64_t end) {
  while (!ended_ && !store_.lost() && store_.size() < end) {
    LAPILLI_CHECK(more());
    if (!store_.append(kept_)) continue;
    begin_ += kept_.size();
    kept_.clear();
  }
  return {};
}

Result<uint64_t> Recording::read(uint64_t first, std::span<float> to) {
  LAPILLI_CHECK(store_up_to(first + to.size()));
  uint64_t n = store_.read(first, to);
  if (store_.lost()) {
    LAPILLI_TRY(n, read_without_store(first, to));
  }
  position_ = first + n;
  return n;
}

Result<uint64_t> Recording::read_without_store(uint64_t first, std::span<float> to) {
  if (first < begin_) LAPILLI_CHECK(rewind());
  while (!ended_ && begin_ + kept_.size() < first + to.size()) {
    LAPILLI_CHECK(more());
    // Keep one second before the requested sample.
    const uint64_t end = begin_ + kept_.size(), keep_from = first > rate_ ? std::min(first - rate_, end) : 0;
    if (keep_from < begin_ + kBlock) continue;
    kept_.erase(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(keep_from - begin_));
    begin_ = keep_from;
  }
  const uint64_t end = begin_ + kept_.size(), n = first < end ? std::min<uint64_t>(to.size(), end - first) : 0;
  std::copy_n(kept_.begin() + static_cast<std::ptrdiff_t>(n > 0 ? first - begin_ : 0), n, to.begin());
  return n;
}

Result<uint64_t> Recording::count(const std::function<bool()>& go_on) {
  std::vector<float> block(kBlock);
  uint64_t n = 0;
  for (uint64_t got = block.size(); got == block.size(); n += got) {
    LAPILLI_TRY(got, read(n, block));
    if (go_on && !go_on()) return fail(ErrorCode::cancelled, "%s: interrupted", name_);
  }
  return n;
}

}  // namespace lapilli::recordings
