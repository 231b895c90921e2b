#include "cli/files/piped_file.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

#include "cli/system.hpp"

namespace lapilli::cli {

#if defined(_WIN32)

// Windows cannot open a file by the number of its descriptor.
std::string PipedFile::take(const std::string& pipe, uint64_t) {
  return pipe + " comes through a pipe, which on Windows only recordings and texts may: name a file";
}
std::string PipedFile::path() const { return ""; }

#else

std::string PipedFile::take(const std::string& pipe, uint64_t most) {
  InputFile input = pipe == "-" ? InputFile::standard_input() : InputFile::open(pipe);
  if (!input.ok()) return pipe + ": " + std::strerror(errno);
  file_.reset(std::tmpfile());
  if (!file_) return pipe + ": there is no place to keep it: " + std::strerror(errno);
  std::vector<char> room(65536);
  for (uint64_t taken = 0;;) {
    const long got = input.read(room.data(), room.size());
    if (got == 0) break;
    if (got < 0 && errno == EINTR && interrupted() == 0) continue;
    if (got < 0) return pipe + ": " + std::strerror(errno);
    taken += static_cast<uint64_t>(got);
    if (taken > most) return pipe + ": more than " + std::to_string(most >> 20) + " MiB came through it";
    if (std::fwrite(room.data(), 1, static_cast<size_t>(got), file_.get()) != static_cast<size_t>(got))
      return pipe + ": there is no place to keep it: " + std::strerror(errno);
  }
  return std::fflush(file_.get()) == 0 ? "" : pipe + ": there is no place to keep it: " + std::strerror(errno);
}

std::string PipedFile::path() const { return "/dev/fd/" + std::to_string(fileno(file_.get())); }

#endif

}  // namespace lapilli::cli
