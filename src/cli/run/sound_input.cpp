#include "cli/run/sound_input.hpp"

#include <algorithm>
#include <cmath>

#include "recordings/speech_detector.hpp"

namespace lapilli::cli {

namespace {
uint64_t samples_in(double seconds, uint32_t rate) {
  return static_cast<uint64_t>(std::llround(seconds * static_cast<double>(rate)));
}
}  // namespace

Result<SoundInput> SoundInput::of_file(const recordings::Opener& opener, const std::string& name, uint32_t rate,
                                       const Excerpt& excerpt,
                                       const std::function<bool(const recordings::Recording&)>& show) {
  SoundInput sound;
  LAPILLI_TRY(sound.file_, recordings::Recording::open(opener, name, rate));
  LAPILLI_TRY(const uint64_t all, sound.file_->count([&] { return show(*sound.file_); }));
  if (all == 0) return fail(ErrorCode::invalid_data, "%s: there is no sound in it", name.c_str());
  const uint64_t first = samples_in(excerpt.offset, rate);
  if (first >= all)
    return fail(ErrorCode::invalid_data, "%s: it ends after %.2f s, before what --offset names", name.c_str(),
                static_cast<double>(all) / rate);
  sound.stretch_ = {first, all - first};
  if (excerpt.duration)
    sound.stretch_.count = std::clamp<uint64_t>(samples_in(*excerpt.duration, rate), 1, all - first);
  return sound;
}

Result<SoundInput> SoundInput::of_pipe(const recordings::Opener& opener, const std::string& name, uint32_t rate,
                                       const Excerpt& excerpt) {
  SoundInput sound;
  LAPILLI_TRY(sound.pipe_, recordings::SamplePipe::open(opener, name, rate));
  sound.stretch_.first = sound.skip_ = samples_in(excerpt.offset, rate);
  if (excerpt.duration) sound.most_ = std::max<uint64_t>(samples_in(*excerpt.duration, rate), 1);
  return sound;
}

Result<std::vector<Stretch>> SoundInput::speech(uint32_t rate,
                                                const std::function<bool(const recordings::Recording&)>& show) {
  constexpr uint64_t kBlock = 4096;
  recordings::SpeechDetector detector(rate);
  std::vector<float> block(kBlock);
  for (uint64_t done = 0; done < stretch_.count; done += block.size()) {
    block.resize(std::min(kBlock, stretch_.count - done));
    LAPILLI_TRY(const uint64_t got, file_->read(stretch_.first + done, block));
    std::fill(block.begin() + static_cast<ptrdiff_t>(got), block.end(), 0.0f);
    detector.add(block);
    if (!show(*file_)) return fail(ErrorCode::cancelled, "interrupted");
  }
  std::vector<Stretch> all;
  for (const auto& found : detector.stretches()) all.push_back({stretch_.first + found.first, found.count});
  return all;
}

std::vector<std::string> SoundInput::notes() const {
  if (pipe_) return {pipe_->shortage(), pipe_->silence()};
  return {file_->shortage(), file_->silence()};
}

SampleBlock SoundInput::next(std::span<float> to, bool may_wait) {
  if (samples_left() == 0) return {0, true, false};
  const uint64_t room = skip_ > 0 ? skip_ : samples_left();
  auto taken =
      pipe_->take(to.first(std::min<uint64_t>(to.size(), room)), std::chrono::milliseconds(may_wait ? 100 : 0));
  if (!taken) {
    error_ = std::move(taken).error();
    return {0, false, true};
  }
  if (skip_ > 0) {
    skip_ -= taken->count;
    return {0, taken->ended, false};
  }
  stretch_.count += taken->count;
  return {taken->count, taken->ended || samples_left() == 0, false};
}

lapilli_status SoundInput::read(void* user, uint64_t first, float* to, uint64_t room, uint64_t* got) {
  auto& own = *static_cast<SoundInput*>(user);
  auto read = own.file_->read(own.part_first_ + first, {to, static_cast<size_t>(room)});
  if (!read) {
    own.error_ = std::move(read).error();
    return static_cast<lapilli_status>(own.error_.error().code);
  }
  *got = *read;
  return LAPILLI_OK;
}

lapilli_sample_source SoundInput::source(const Stretch& part) {
  part_first_ = part.first;
  lapilli_sample_source source = lapilli_default_sample_source();
  source.user = this;
  source.count = part.count;
  source.read = &SoundInput::read;
  return source;
}

}  // namespace lapilli::cli
