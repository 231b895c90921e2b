#include "cli/run/memory_files.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/path.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

constexpr size_t kMostMemoryBytes = size_t{256} << 20;

std::string read_memory(const std::string& file, std::string& bytes) {
  InputFile input = InputFile::open(file);
  if (!input.ok()) return std::strerror(errno);
  std::string part(size_t{1} << 16, '\0');
  while (!interrupted()) {
    const long got = input.read(part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::strerror(errno);
    if (got == 0) break;
    bytes.append(part, 0, static_cast<size_t>(got));
    if (bytes.size() > kMostMemoryBytes) return "it has more than 256 MiB; split it";
  }
  return "";
}

}  // namespace

MemoryFiles::~MemoryFiles() {
  if (out_) std::fclose(out_);
}

std::string MemoryFiles::read(const std::string& file, const std::string& from, const std::string& to) {
  std::string bytes;
  std::string wrong = read_memory(file, bytes);
  return wrong.empty() ? memory_.read(bytes, from, to) : wrong;
}

std::optional<std::string> MemoryFiles::find(std::string_view text) {
  auto found = memory_.find(text);
  if (found) ++found_;
  return found;
}

// A new file, or one whose end is where this program puts it.
std::string MemoryFiles::begin(const std::string& file) {
  const bool is_new = !file_exists(file) || file_size(file) == 0;
  out_ = open_stream(file, is_new ? "w+b" : "r+b");
  if (!out_) return std::strerror(errno);
  if (is_new) {
    const std::string head = documents::tmx_head(from_);
    at_ = static_cast<long>(head.size());
    const bool written = std::fwrite(head.data(), 1, head.size(), out_) == head.size();
    return written ? save() : std::strerror(errno);
  }
  std::string end(documents::kTmxEnd.size(), '\0');
  const bool sought = std::fseek(out_, -static_cast<long>(end.size()), SEEK_END) == 0;
  at_ = sought ? std::ftell(out_) : 0;
  if (sought && std::fread(end.data(), 1, end.size(), out_) == end.size() && end == documents::kTmxEnd) return "";
  std::fclose(std::exchange(out_, nullptr));
  return "it is there and is no memory that this program wrote; name another file";
}

std::string MemoryFiles::open(const std::string& file, const std::string& from, const std::string& to) {
  name_ = file;
  from_ = from;
  to_ = to;
  return begin(file);
}

void MemoryFiles::add(std::string_view source, std::string_view target) {
  if (out_) added_ += documents::tmx_unit(source, target, from_, to_);
}

std::string MemoryFiles::save() {
  if (!out_ || (added_.empty() && at_ == 0)) return "";
  const std::string all = added_ + std::string(documents::kTmxEnd);
  const bool written = std::fseek(out_, at_, SEEK_SET) == 0 &&
                       std::fwrite(all.data(), 1, all.size(), out_) == all.size() && std::fflush(out_) == 0;
  if (!written) return std::strerror(errno);
  at_ += static_cast<long>(added_.size());
  added_.clear();
  return "";
}

}  // namespace lapilli::cli
