#include "speech/window.hpp"

namespace lapilli::speech {

namespace {

constexpr uint32_t kFramesPerUnit = 2;  // of a timestamp

class Splitter {
 public:
  Splitter(std::span<const int32_t> ids, int32_t timestamp_begin, uint32_t frames)
      : ids_(ids), begin_(timestamp_begin), frames_(frames) {}

  SplitWindow split() const {
    const auto cuts = find_cuts();
    return cuts.empty() ? whole() : at(cuts);
  }

 private:
  [[nodiscard]] bool is_timestamp(size_t i) const { return ids_[i] >= begin_; }
  [[nodiscard]] uint32_t time(size_t i) const { return is_timestamp(i) ? static_cast<uint32_t>(ids_[i] - begin_) : 0; }

  // Index of the second timestamp of each adjacent pair.
  [[nodiscard]] std::vector<size_t> find_cuts() const {
    std::vector<size_t> cuts;
    for (size_t i = 1; i < ids_.size(); ++i)
      if (is_timestamp(i - 1) && is_timestamp(i)) cuts.push_back(i);
    return cuts;
  }

  // One segment, up to the last timestamp unless that is 0.
  [[nodiscard]] SplitWindow whole() const {
    WindowPart part{0, ids_.size(), 0, frames_ / kFramesPerUnit};
    for (size_t i = ids_.size(); i-- > 0;)
      if (is_timestamp(i)) {
        if (time(i) != 0) part.end = time(i);
        break;
      }
    return {{part}, frames_, WindowEnding::no_pair};
  }

  // Ids after the last pair are a segment if a timestamp ends them; otherwise the next window starts at the pair.
  [[nodiscard]] SplitWindow at(std::vector<size_t> cuts) const {
    const size_t n = ids_.size();
    const bool single = n >= 2 && is_timestamp(n - 1) && !is_timestamp(n - 2);
    SplitWindow window;
    window.ending = single ? WindowEnding::single : cuts.back() + 1 == n ? WindowEnding::pair : WindowEnding::cut_off;
    window.advance = single ? frames_ : time(cuts.back() - 1) * kFramesPerUnit;
    if (single)
      cuts.push_back(n);
    else
      ++cuts.back();  // the last segment keeps both timestamps of its pair
    size_t first = 0;
    for (size_t i = 0; i < cuts.size(); ++i) {
      const bool keeps_pair = !single && i + 1 == cuts.size();
      window.parts.push_back({first, cuts[i], time(first), time(cuts[i] - (keeps_pair ? 2 : 1))});
      first = cuts[i];
    }
    return window;
  }

  std::span<const int32_t> ids_;
  int32_t begin_;
  uint32_t frames_;
};

}  // namespace

SplitWindow split_window(std::span<const int32_t> ids, int32_t timestamp_begin, uint32_t frames) {
  return Splitter(ids, timestamp_begin, frames).split();
}

const char* name(WindowEnding ending) {
  switch (ending) {
    case WindowEnding::single: return "single";
    case WindowEnding::pair: return "pair";
    case WindowEnding::cut_off: return "cut off";
    case WindowEnding::no_pair: return "no pair";
  }
  return "?";
}

}  // namespace lapilli::speech
