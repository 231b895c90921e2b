// Sound files by libsndfile.
#include <sndfile.h>

#include <algorithm>
#include <limits>

#include "base/path.hpp"
#include "recordings/bytes.hpp"
#include "recordings/reader.hpp"
#include "recordings/sound_endings.hpp"
#include "recordings/sound_start.hpp"
#include "recordings/wav_chunks.hpp"

namespace lapilli::recordings {
namespace {

// A file as the library is to see it: from where the sound begins, and with the length that was never written. If an
// MP3 file does not state its number of frames, the library divides the file's length by that of the first frame and
// reads no further, though later frames may be shorter. So the end is reported far behind the true one; reading ends
// there anyway.
struct Shown {
  Stream stream;
  int64_t begin = 0;
  std::optional<MissingLength> length;
  bool counted = true;

  void begin_at(int64_t at) {
    begin = at;
    length = missing_length(stream.get(), at);
    counted = !is_uncounted_mp3(stream.get(), at);
    seek_to(stream.get(), at);
  }
  [[nodiscard]] int64_t shown_end(int64_t end) const {
    constexpr int64_t kShortest = 64;  // ratio of the rates 8 and 320 kilobits, rounded up
    return counted || end > std::numeric_limits<int64_t>::max() / kShortest ? end : end * kShortest;
  }
  // Patches the length into bytes that were read from `at` on.
  void mend(std::span<unsigned char> bytes, int64_t at) const {
    for (int64_t i = 0; length && i < 4; ++i) {
      const int64_t place = length->at + i - at;
      if (place >= 0 && place < static_cast<int64_t>(bytes.size()))
        bytes[static_cast<size_t>(place)] = static_cast<unsigned char>(length->bytes >> 8 * i);
    }
  }
};

// The library reads through these callbacks, so that opening files by name stays ours.
Shown& shown(void* user) { return *static_cast<Shown*>(user); }

sf_count_t tell_position(void* user) {
  const sf_count_t at = position_of(shown(user).stream.get());
  return at < 0 ? at : at - shown(user).begin;
}
sf_count_t tell_length(void* user) {
  std::FILE* f = shown(user).stream.get();
  const sf_count_t here = position_of(f);
  if (here < 0 || seek_to(f, 0, SEEK_END) != 0) return 0;
  const sf_count_t length = tell_position(user);
  return seek_to(f, here, SEEK_SET) == 0 ? length : 0;
}
sf_count_t go_to(sf_count_t offset, int whence, void* user) {
  const sf_count_t from = whence == SEEK_SET ? shown(user).begin : 0;
  if (seek_to(shown(user).stream.get(), from + offset, whence) != 0) return -1;
  return whence == SEEK_END ? shown(user).shown_end(tell_position(user)) : tell_position(user);
}
sf_count_t take(void* to, sf_count_t count, void* user) {
  if (count <= 0) return 0;
  const sf_count_t at = tell_position(user);
  const size_t got = std::fread(to, 1, static_cast<size_t>(count), shown(user).stream.get());
  shown(user).mend({static_cast<unsigned char*>(to), got}, at);
  return static_cast<sf_count_t>(got);
}
sf_count_t refuse_writing(const void*, sf_count_t, void*) { return 0; }

SF_VIRTUAL_IO kCallbacks{tell_length, go_to, take, refuse_writing, tell_position};

struct CloseSound {
  void operator()(SNDFILE* f) const { sf_close(f); }
};
using SoundFile = std::unique_ptr<SNDFILE, CloseSound>;

// Null: the library recognizes nothing there.
SoundFile open_at(Shown& bytes, int64_t begin, SF_INFO& info) {
  bytes.begin_at(begin);
  info = {};
  return SoundFile(sf_open_virtual(&kCallbacks, SFM_READ, &info, &bytes));
}

// In all but a few files, the recording begins where the file does.
SoundFile open_where_it_begins(Shown& bytes, SF_INFO& info, std::string& why_not) {
  SoundFile file = open_at(bytes, 0, info);
  if (file) return file;
  why_not = sf_strerror(nullptr);
  for (const int64_t start : later_starts(bytes.stream.get()))
    if ((file = open_at(bytes, start, info))) break;
  return file;
}

// For WAV files the library reports how many samples there are, not how many there should be.
std::optional<uint64_t> claim_of_wav(const SF_INFO& info, const std::string& path) {
  const int type = info.format & SF_FORMAT_TYPEMASK;
  if ((type != SF_FORMAT_WAV && type != SF_FORMAT_WAVEX) || file_kind(path) != FileKind::regular) return std::nullopt;
  const auto wav = open_wav(path);
  return wav ? (*wav)->claimed() : std::nullopt;
}

class SoundFileReader : public Reader {
 public:
  SoundFileReader(std::unique_ptr<Shown> bytes, SoundFile file, const SF_INFO& info, std::string path)
      : bytes_(std::move(bytes)),
        file_(std::move(file)),
        info_(info),
        path_(std::move(path)),
        header_says_(claim_of_wav(info, path_)) {}
  [[nodiscard]] SoundFormat format() const override {
    return {static_cast<uint32_t>(info_.samplerate), static_cast<uint32_t>(info_.channels)};
  }
  // The library reports the largest number where it does not know.
  [[nodiscard]] std::optional<uint64_t> claimed() const override {
    if (header_says_) return header_says_;
    if (!bytes_->counted || info_.frames <= 0 || info_.frames == SF_COUNT_MAX) return std::nullopt;
    return static_cast<uint64_t>(info_.frames);
  }
  Result<uint64_t> read(std::span<float> to) override {
    const auto sets = static_cast<sf_count_t>(to.size() / static_cast<size_t>(info_.channels));
    const sf_count_t got = sf_readf_float(file_.get(), to.data(), sets);
    if (got < 0) return fail(ErrorCode::invalid_data, "%s: %s", path_, sf_strerror(file_.get()));
    return static_cast<uint64_t>(std::min(got, sets));
  }

 private:
  std::unique_ptr<Shown> bytes_;
  SoundFile file_;  // destroyed first
  SF_INFO info_;
  std::string path_;
  std::optional<uint64_t> header_says_;
};

}  // namespace

namespace {
// True with libsndfile 1.1 and newer.
bool reads_mp3() {
  SF_FORMAT_INFO info{};
  info.format = SF_FORMAT_MPEG;
  return sf_command(nullptr, SFC_GET_FORMAT_INFO, &info, sizeof(info)) == 0;
}
}  // namespace

std::span<const std::string_view> endings_that_are_read() {
  static constexpr std::string_view kEndings[] = {"wav",  "wave", "flac", "ogg", "oga", "opus", "aif", "aiff",
                                                  "aifc", "au",   "snd",  "caf", "w64", "rf64", "voc", "mp3"};
  const std::span<const std::string_view> all(kEndings);
  return reads_mp3() ? all : all.first(all.size() - 1);
}

std::string readable_formats() {
  return reads_mp3() ? "WAV, FLAC, Ogg, Opus, MP3 and others" : "WAV, FLAC, Ogg, Opus and others";
}

Result<std::unique_ptr<Reader>> open_sound_stream(Stream& stream, const std::string& path) {
  auto bytes = std::make_unique<Shown>();
  bytes->stream = std::move(stream);
  SF_INFO info{};
  std::string why_not;
  SoundFile file = open_where_it_begins(*bytes, info, why_not);
  if (!file) {
    stream = std::move(bytes->stream);
    return fail(ErrorCode::invalid_data,
                "%s is no recording that can be read (%s): %s are; or give its samples with "
                "--raw",
                path, why_not, readable_formats());
  }
  const SoundFormat format{static_cast<uint32_t>(std::max(info.samplerate, 0)),
                           static_cast<uint32_t>(std::max(info.channels, 0))};
  LAPILLI_CHECK(check_format(format, path));
  return std::unique_ptr<Reader>(new SoundFileReader(std::move(bytes), std::move(file), info, path));
}

}  // namespace lapilli::recordings
