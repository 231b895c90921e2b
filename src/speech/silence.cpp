#include "speech/silence.hpp"

#include <algorithm>
#include <numeric>

namespace lapilli::speech {

namespace {

constexpr uint64_t kAround = 10;  // frames to each side that count for a cut

double energy_around(std::span<const float> energies, uint64_t at) {
  const uint64_t begin = at > kAround ? at - kAround : 0, end = std::min<uint64_t>(at + kAround, energies.size());
  const auto near = energies.subspan(begin, end - begin);
  return std::accumulate(near.begin(), near.end(), 0.0) / static_cast<double>(near.size());
}

uint64_t quietest(std::span<const float> energies, uint64_t first, uint64_t last) {
  uint64_t best = last;
  double least = energy_around(energies, last);
  for (uint64_t at = last; at-- > first;)
    if (const double here = energy_around(energies, at); here < least) {
      least = here;
      best = at;
    }
  return best;
}

}  // namespace

FrameEnergies::FrameEnergies(audio::SampleSource& source, uint64_t samples, uint32_t hop)
    : source_(source), samples_(samples), hop_(hop) {
  constexpr size_t kFramesAtATime = 100;
  block_.resize(kFramesAtATime * hop);
}

Result<bool> FrameEnergies::read_some() {
  const auto part = std::span(block_).first(std::min<uint64_t>(block_.size(), samples_ - at_));
  if (part.empty()) return true;
  LAPILLI_TRY(const uint64_t got, source_.read(at_, part));
  std::fill(part.begin() + static_cast<ptrdiff_t>(got), part.end(), 0.0f);
  for (size_t i = 0; i < part.size(); i += hop_) {
    const auto frame = part.subspan(i, std::min<size_t>(hop_, part.size() - i));
    const double sum = std::inner_product(frame.begin(), frame.end(), frame.begin(), 0.0);
    energies_.push_back(static_cast<float>(sum / static_cast<double>(frame.size())));
  }
  at_ += part.size();
  return at_ == samples_;
}

Result<std::vector<float>> frame_energies(audio::SampleSource& source, uint64_t samples, uint32_t hop,
                                          const std::function<bool()>& go_on) {
  FrameEnergies energies(source, samples, hop);
  for (;;) {
    if (go_on && !go_on()) return fail(ErrorCode::cancelled, "cancelled");
    LAPILLI_TRY(const bool done, energies.read_some());
    if (done) return energies.energies();
  }
}

std::vector<Chunk> cut_at_silence(std::span<const float> energies, uint64_t most) {
  std::vector<Chunk> chunks;
  uint64_t at = 0;
  while (energies.size() - at > most) {
    const uint64_t end = quietest(energies, at + std::max<uint64_t>(most / 2, 1), at + most);
    chunks.push_back({at, end - at});
    at = end;
  }
  if (at < energies.size()) chunks.push_back({at, energies.size() - at});
  return chunks;
}

}  // namespace lapilli::speech
