#include "shards/lock.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/path.hpp"

#if defined(_WIN32)
#include <process.h>
#else
#include <unistd.h>
#endif

namespace lapilli::shards {

namespace {

#if defined(_WIN32)
int process_number() { return _getpid(); }
#else
int process_number() { return static_cast<int>(getpid()); }
#endif

constexpr const char* kNeedsLocks =
    "; shards need a file system with locks across machines: Lustre mounted with -o flock, NFS from version 4 on";

std::string first_line(const std::string& path) {
  std::string text(200, '\0');
  std::FILE* stream = open_stream(path, "rb");
  if (!stream) return "";
  text.resize(std::fread(text.data(), 1, text.size(), stream));
  std::fclose(stream);
  text = text.substr(0, text.find('\n'));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

void write_holder(const std::string& path) {
  std::FILE* stream = open_stream(path, "wb");
  if (!stream) return;
  std::fputs((this_process() + "\n").c_str(), stream);
  std::fclose(stream);
}

}  // namespace

std::string host_name() {
#if defined(_WIN32)
  const std::string name = environment("COMPUTERNAME");
#else
  char name[256] = "";
  if (gethostname(name, sizeof name - 1) != 0) name[0] = '\0';
#endif
  return std::string(name).empty() ? "an unnamed host" : std::string(name);
}

std::string this_process() { return "process " + std::to_string(process_number()) + " on " + host_name(); }

bool has_no_locks(int error) { return error == ENOSYS || error == ENOTSUP || error == EOPNOTSUPP || error == ENOLCK; }

// A lock ends with its process, so that the file of a dead one keeps nobody out.
std::optional<Lock> Lock::take(const std::string& path, std::string& why) {
  auto held = FileLock::take(path);
  if (!held) {
    const int error = errno;
    const std::string holder = first_line(path);
    why = error == EWOULDBLOCK
              ? (holder.empty() ? "another process" : holder) + " is at work on it"
              : path + " cannot be locked: " + std::strerror(error) + (has_no_locks(error) ? kNeedsLocks : "");
    errno = error;
    return {};
  }
  write_holder(path);
  return Lock(std::move(*held), path);
}

void Lock::remove() { remove_file(path_); }

}  // namespace lapilli::shards
