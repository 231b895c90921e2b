#include "recordings/ffmpeg.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "base/line_to_type.hpp"
#include "base/path.hpp"
#include "recordings/bytes.hpp"
#include "recordings/child.hpp"

namespace lapilli::recordings {

namespace {

#if defined(_WIN32)
constexpr char kBetweenFolders = ';';
constexpr const char *kFfmpeg = "/ffmpeg.exe", *kOpenInput = "pipe:0";
bool is_absolute(const std::string& folder) { return folder.size() > 2 && folder[1] == ':'; }
#else
constexpr char kBetweenFolders = ':';
constexpr const char *kFfmpeg = "/ffmpeg", *kOpenInput = "file:/dev/stdin";  // an input that ffmpeg can seek in
bool is_absolute(const std::string& folder) { return folder.starts_with('/'); }
#endif

// Searches the folders of PATH except relative ones. "": not found.
std::string find_ffmpeg() {
  const std::string folders = environment("PATH");
  for (size_t at = 0; at < folders.size();) {
    const size_t end = std::min(folders.find(kBetweenFolders, at), folders.size());
    const std::string folder = folders.substr(at, end - at);
    if (is_absolute(folder) && file_exists(folder + kFfmpeg)) return folder + kFfmpeg;
    at = end + 1;
  }
  return "";
}

// The demuxers of the kinds that media_kind() knows. Playlists (HLS, DASH, concat) are not among them: a file with the
// first bytes of a film may be one, which has ffmpeg open other files of this machine.
constexpr const char* kDemuxers = "mov,matroska,avi,asf,flv,amr,mpeg,mpegts,aac,wv,ape,ogg,mp3,flac,aiff,caf,wav";

// Decodes to one channel, like the command line in the messages and like Whisper's own code.
std::vector<std::string> ffmpeg_arguments(const std::string& input, const MediaRequest& request) {
  return {"-nostdin",
          "-hide_banner",
          "-v",
          "error",
          "-protocol_whitelist",
          "file,pipe",
          "-format_whitelist",
          kDemuxers,
          "-i",
          input,
          "-vn",
          "-sn",
          "-dn",
          "-ac",
          "1",
          "-ar",
          std::to_string(request.rate),
          "-c:a",
          "pcm_s16le",
          "-f",
          "s16le",
          "pipe:1"};
}

class FfmpegReader : public Reader {
 public:
  FfmpegReader(std::unique_ptr<Child> child, Stream input, std::string name, const MediaRequest& request)
      : child_(std::move(child)), input_(std::move(input)), name_(std::move(name)), request_(request) {}
  [[nodiscard]] SoundFormat format() const override { return {request_.rate, 1}; }
  [[nodiscard]] std::optional<uint64_t> claimed() const override { return std::nullopt; }

  Result<uint64_t> read(std::span<float> to) override {
    uint64_t done = 0;
    while (done < to.size() && !ended_) {
      LAPILLI_TRY(const size_t bytes, take(std::min(room_.size(), bytes_of(Stored::s16) * (to.size() - done))));
      const size_t samples = bytes / bytes_of(Stored::s16);
      for (size_t i = 0; i < samples; ++i)
        to[done + i] = sample_of(Stored::s16, room_.data() + i * bytes_of(Stored::s16));
      done += samples;
      begun_ = bytes % bytes_of(Stored::s16);
      if (begun_ > 0) room_[0] = room_[bytes - 1];
    }
    return done;
  }

 private:
  // Reads into `room_` up to `most` bytes; gives the number of bytes there, including those of a partial sample.
  Result<size_t> take(size_t most) {
    auto got = child_->read(std::span(room_).first(most).subspan(begun_), request_.patience);
    if (!got) return fail(ErrorCode::invalid_data, "%s: ffmpeg was stopped: %s", name_, got.error().message);
    ended_ = *got == 0;
    if (!ended_) return begun_ + *got;
    if (child_->wait() == 0) return size_t{0};
    const std::string words = child_->last_words();
    return fail(ErrorCode::invalid_data, "%s: ffmpeg cannot read it%s%s", name_, words.empty() ? "" : ": ", words);
  }

  std::unique_ptr<Child> child_;
  Stream input_;
  std::string name_;
  MediaRequest request_;
  std::array<std::byte, 8192> room_{};
  size_t begun_ = 0;
  bool ended_ = false;
};

}  // namespace

bool has_ffmpeg() { return !find_ffmpeg().empty(); }

Result<std::unique_ptr<Reader>> open_by_ffmpeg(const std::string& path, Stream input, const char* kind,
                                               const MediaRequest& request) {
  const std::string program = find_ffmpeg(), file = path == "-" ? "FILE" : path;
  if (program.empty())
    return fail(
        ErrorCode::unsupported,
        "%s is %s, which ffmpeg reads, and that is not installed here: install it, or make a WAV file elsewhere "
        "(ffmpeg -i %s -ar %u -ac 1 %s)",
        path, kind, shell_word(file), request.rate, shell_word(with_ending(file, ".wav")));
  if (input && (seek_to(input.get(), 0) != 0 || std::fflush(input.get()) != 0))
    return fail(ErrorCode::internal, "%s: what came through the pipe cannot be read again", path);
  auto child = start_child(program, ffmpeg_arguments(input ? kOpenInput : "file:" + path, request), input.get());
  if (!child) return std::move(child).error().in(path);
  return std::unique_ptr<Reader>(new FfmpegReader(std::move(*child), std::move(input), path, request));
}

}  // namespace lapilli::recordings
