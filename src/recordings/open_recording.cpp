#include <cerrno>
#include <cstring>
#include <vector>

#include "base/path.hpp"
#include "recordings/bytes.hpp"
#include "recordings/ffmpeg.hpp"
#include "recordings/media_kind.hpp"
#include "recordings/reader.hpp"
#include "recordings/wav_chunks.hpp"

namespace lapilli::recordings {

namespace {

constexpr uint64_t kMostKept = uint64_t{1} << 32;  // bytes kept of a pipe's content

Result<Stream> open_input(const std::string& path) {
  if (directory_exists(path)) return fail(ErrorCode::invalid_argument, "%s is a folder, no recording", path);
  Stream stream(path == "-" ? stdin : open_stream(path, "rb"));
  if (!stream) return fail(ErrorCode::not_found, "%s cannot be opened: %s", path, std::strerror(errno));
  return stream;
}

bool write_all(std::FILE* to, std::span<const std::byte> bytes) {
  return std::fwrite(bytes.data(), 1, bytes.size(), to) == bytes.size();
}

// Copies everything that comes, behind `head`, to a seekable temporary file without a name.
Result<Stream> kept(std::span<const std::byte> head, std::FILE* pipe, const std::string& path) {
  Stream file(std::tmpfile());
  std::vector<std::byte> room(65536);
  bool written = file && write_all(file.get(), head);
  for (uint64_t done = 0; written && done < kMostKept;) {
    const size_t got = std::fread(room.data(), 1, room.size(), pipe);
    written = write_all(file.get(), std::span(room).first(got));
    done += got;
    if (got == room.size()) continue;
    if (std::ferror(pipe)) return fail(ErrorCode::cancelled, "%s: %s", path, std::strerror(errno));
    if (written && seek_to(file.get(), 0) == 0) return file;
    written = false;
  }
  if (written)
    return fail(ErrorCode::unsupported, "%s: more than %u GiB came through it; give it as a file", path,
                kMostKept >> 30);
  return fail(ErrorCode::out_of_memory, "%s: there is no place to keep what comes through it: %s", path,
              std::strerror(errno));
}

Result<std::unique_ptr<Reader>> open_kept(Stream& stream, bool came_through_pipe, const std::string& path,
                                          const MediaRequest& request) {
  const MediaKind kind = media_kind(stream.get());
  if (!kind.may_be_ours)
    return open_by_ffmpeg(path, came_through_pipe ? std::move(stream) : nullptr, kind.name, request);
  auto reader = open_sound_stream(stream, path);
  if (reader || !kind.name || !has_ffmpeg()) return reader;
  return open_by_ffmpeg(path, came_through_pipe ? std::move(stream) : nullptr, kind.name, request);
}

}  // namespace

Result<std::unique_ptr<Reader>> open_sound_file(const std::string& path) {
  LAPILLI_TRY(Stream stream, open_input(path));
  return open_sound_stream(stream, path);
}

Result<std::unique_ptr<Reader>> open_recording_stream(Stream stream, const std::string& name,
                                                      const MediaRequest& request) {
  return open_kept(stream, true, name, request);
}

Result<std::unique_ptr<Reader>> open_recording(const std::string& path, const MediaRequest& request) {
  LAPILLI_TRY(Stream stream, open_input(path));
  if (can_seek(stream.get())) return open_kept(stream, path == "-", path, request);
  std::byte room[kWavHead];
  const auto head = std::span<const std::byte>(room, std::fread(room, 1, sizeof room, stream.get()));
  if (is_wav_head(head)) return read_wav(std::move(stream), path);
  LAPILLI_TRY(stream, kept(head, stream.get(), path));
  return open_kept(stream, true, path, request);
}

}  // namespace lapilli::recordings
