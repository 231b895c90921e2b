#include "base/store.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/file_lock.hpp"
#include "base/log.hpp"
#include "base/path.hpp"
#include "base/result.hpp"

namespace lapilli {

namespace {

constexpr size_t kMostStoredBytes = size_t{256} << 20;  // anything larger is not ours

struct CloseStream {
  void operator()(std::FILE* stream) const { std::fclose(stream); }
};
using Stream = std::unique_ptr<std::FILE, CloseStream>;

// Nothing after a read error.
std::optional<Blob> read_to_end(std::FILE* stream) {
  Blob bytes;
  std::vector<std::byte> chunk(size_t{1} << 16);
  while (const size_t n = std::fread(chunk.data(), 1, chunk.size(), stream)) {
    if (bytes.size() + n > kMostStoredBytes) return {};
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(n));
  }
  if (std::ferror(stream)) return {};
  return bytes;
}

// On failure errno says why.
bool write_flushed(const std::string& path, std::span<const std::byte> bytes) {
  Stream stream(open_stream(path, "wb"));
  if (!stream) return false;
  const bool written =
      std::fwrite(bytes.data(), 1, bytes.size(), stream.get()) == bytes.size() && flush_to_disk(stream.get());
  const int why = errno;
  const bool closed = std::fclose(stream.release()) == 0;
  if (!written) errno = why;
  return written && closed;
}

class FolderStore : public Store {
 public:
  explicit FolderStore(std::string folder) : folder_(std::move(folder)) {}

  std::optional<Blob> load(const std::string& key) override {
    const std::string path = path_of(key);
    if (!file_exists(path)) return {};  // opening a pipe would block
    const Stream stream(open_stream(path, "rb"));
    auto bytes = stream ? read_to_end(stream.get()) : std::nullopt;
    if (!bytes) complain(path, "read", errno);
    return bytes;
  }

  bool save(const std::string& key, std::span<const std::byte> bytes) override {
    const std::string path = path_of(key);
    if (bytes.empty()) {
      remove_file(path);
      return !file_is_named(path);
    }
    if (!make_directories(folder_)) return complain(folder_, "made", errno);
    const auto lock = FileLock::take(path + ".lock");
    if (!lock && errno == EWOULDBLOCK) return false;  // another process is writing it, which is just as good
    if (!lock) return complain(path, "written", errno);
    const std::string part = path + ".part";
    if (write_flushed(part, bytes) && rename_file(part, path)) return true;
    const int why = errno;
    remove_file(part);
    return complain(path, "written", why);
  }

  std::shared_ptr<void> hold(const std::string& key) override {
    make_directories(folder_);
    if (auto lock = FileLock::take(path_of(key) + ".hold")) return std::make_shared<FileLock>(std::move(*lock));
    // A folder that cannot be written to shows up when saving.
    return errno == EWOULDBLOCK ? nullptr : Store::hold(key);
  }

 private:
  [[nodiscard]] std::string path_of(const std::string& key) const { return folder_ + "/" + key; }
  // A note, once: the next write would fail for the same reason.
  bool complain(const std::string& path, const char* what, int why) {
    const bool first = !complained_.exchange(true);
    log(first ? LogLevel::note : LogLevel::verbose,
        format("%s cannot be %s (%s): less is kept for the next start, which then takes longer", path, what,
               std::strerror(why)));
    return false;
  }
  const std::string folder_;
  std::atomic<bool> complained_{false};
};

}  // namespace

uint64_t checksum(std::span<const std::byte> bytes, uint64_t before) {
  for (const std::byte b : bytes) before = (before ^ static_cast<uint64_t>(b)) * 0x100000001b3ull;
  return before;
}

std::shared_ptr<void> Store::hold(const std::string&) { return std::make_shared<char>(); }

std::shared_ptr<Store> folder_store(std::string folder) { return std::make_shared<FolderStore>(std::move(folder)); }

}  // namespace lapilli
