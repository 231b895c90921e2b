#include "recordings/spool.hpp"

#include <cerrno>
#include <cstring>

namespace lapilli::recordings {

Result<std::unique_ptr<Spool>> Spool::create() {
  auto spool = std::make_unique<Spool>();
  spool->file_.reset(std::tmpfile());
  if (!spool->file_)
    return fail(ErrorCode::not_found, "there is no room for what comes from a pipe: %s (TMPDIR names another folder)",
                std::strerror(errno));
  return spool;
}

Status Spool::append(std::span<const float> samples) {
  if (std::fwrite(samples.data(), sizeof(float), samples.size(), file_.get()) != samples.size())
    return fail(ErrorCode::out_of_memory, "what comes from a pipe cannot be kept: %s", std::strerror(errno));
  size_ += samples.size();
  return {};
}

Result<uint64_t> Spool::read(uint64_t first, std::span<float> to) {
  const uint64_t n = first < size_ ? std::min<uint64_t>(to.size(), size_ - first) : 0;
  if (n == 0) return n;
  if (seek_to(file_.get(), static_cast<int64_t>(first * sizeof(float))) != 0 ||
      std::fread(to.data(), sizeof(float), n, file_.get()) != n)
    return fail(ErrorCode::invalid_data, "what came from a pipe cannot be read again: %s", std::strerror(errno));
  return n;
}

}  // namespace lapilli::recordings
