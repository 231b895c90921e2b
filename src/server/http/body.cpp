#include "server/http/body.hpp"

#include <algorithm>
#include <utility>

#include "base/path.hpp"

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#endif

namespace lapilli::server {

#if defined(_WIN32)

// Everything stays in memory.
struct Body::Content {
  std::string bytes;

  bool append(std::string_view more) {
    bytes += more;
    return true;
  }
  [[nodiscard]] uint64_t size() const { return bytes.size(); }
  std::string_view view() { return bytes; }
};

#else

namespace {

constexpr size_t kMostInMemory = size_t{1} << 20;

// A file that has lost its name is gone with its descriptor, whatever becomes of this program.
int nameless_file() {
  std::string name = environment("TMPDIR");
  name = (name.empty() ? "/tmp" : name) + "/lapilli-body-XXXXXX";
  const int file = ::mkstemp(name.data());
  if (file < 0) return file;
  // Programs that this one starts do not inherit it. Both calls fail on no file that has just been made.
  (void)::unlink(name.c_str());
  (void)::fcntl(file, F_SETFD, FD_CLOEXEC);
  return file;
}

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

struct Body::Content {
  std::string bytes;  // empty once there is a file
  int file = -1;
  uint64_t in_file = 0;
  void* mapped = nullptr;

  Content() = default;
  Content(const Content&) = delete;
  Content& operator=(const Content&) = delete;
  ~Content() {
    unmap();
    if (file >= 0) (void)::close(file);
  }

  bool append(std::string_view more) {
    if (file < 0 && bytes.size() + more.size() <= kMostInMemory) return bytes += more, true;
    unmap();
    if (file < 0 && !move_to_file()) return false;
    if (!write_all(file, more)) return false;
    in_file += more.size();
    return true;
  }
  [[nodiscard]] uint64_t size() const { return file < 0 ? bytes.size() : in_file; }
  std::string_view view() {
    if (file < 0) return bytes;
    if (!mapped) map();
    return mapped ? std::string_view(static_cast<const char*>(mapped), in_file) : std::string_view();
  }

 private:
  bool move_to_file() {
    file = nameless_file();
    if (file < 0 || !write_all(file, bytes)) return false;
    in_file = bytes.size();
    bytes = std::string();
    return true;
  }
  void map() {
    void* const all = ::mmap(nullptr, in_file, PROT_READ, MAP_PRIVATE, file, 0);
    if (all != MAP_FAILED) mapped = all;
  }
  void unmap() {
    if (mapped) (void)::munmap(std::exchange(mapped, nullptr), in_file);
  }
};

#endif

// Most requests have no body, or one that comes whole: there is nothing until there is something.
Body::Body() = default;
Body::Body(std::string bytes) : content_(std::make_unique<Content>()) { content_->bytes = std::move(bytes); }
Body::Body(Body&&) noexcept = default;
Body& Body::operator=(Body&&) noexcept = default;
Body::~Body() = default;

bool Body::append(std::string_view bytes) {
  if (!content_) content_ = std::make_unique<Content>();
  return content_->append(bytes);
}

uint64_t Body::size() const { return content_ ? content_->size() : 0; }

std::string_view Body::view() const { return content_ ? content_->view() : std::string_view(); }

}  // namespace lapilli::server
