#include "recordings/sample_store.hpp"

#include <algorithm>

#include "recordings/bytes.hpp"

namespace lapilli::recordings {

bool SampleStore::lose() {
  memory_ = {};
  file_.reset();
  size_ = 0;
  lost_ = true;
  return false;
}

bool SampleStore::write(std::span<const float> samples) {
  return seek_to(file_.get(), 0, SEEK_END) == 0 &&
         std::fwrite(samples.data(), sizeof(float), samples.size(), file_.get()) == samples.size();
}

bool SampleStore::append(std::span<const float> samples) {
  if (lost_ || samples.size() > most_ - size_) return lose();
  if (!file_ && size_ + samples.size() > kInMemory) {
    file_.reset(std::tmpfile());
    if (!file_ || !write(memory_)) return lose();
    memory_ = {};
  }
  if (!file_) memory_.insert(memory_.end(), samples.begin(), samples.end());
  if (file_ && !write(samples)) return lose();
  size_ += samples.size();
  return true;
}

uint64_t SampleStore::read(uint64_t first, std::span<float> to) {
  const uint64_t n = first < size_ ? std::min<uint64_t>(to.size(), size_ - first) : 0;
  if (n == 0) return 0;
  if (!file_) {
    std::copy_n(memory_.begin() + static_cast<std::ptrdiff_t>(first), n, to.begin());
    return n;
  }
  const bool there = seek_to(file_.get(), static_cast<int64_t>(first * sizeof(float))) == 0 &&
                     std::fread(to.data(), sizeof(float), n, file_.get()) == n;
  if (!there) lose();
  return there ? n : 0;
}

}  // namespace lapilli::recordings
