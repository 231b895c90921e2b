// Recordings that come through pipes, and such as only ffmpeg reads: in its place stands a script that says what it was
// asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <filesystem>
#include <functional>
#include <thread>

#include "recordings/reader.hpp"
#include "recordings/written_sounds.hpp"
#include "support/environment.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using recordings::MediaRequest;
using testing::HasSubstr;

const std::string kFilm(
    "\0\0\0\x18"
    "ftypM4A \0\0",
    14);

// In a folder that stands in PATH first, or, without a script, is all of PATH.
class MediaOfOthers : public testing::Test {
 protected:
  MediaOfOthers() : path_(environment("PATH")) { test::set_environment("PATH", dir_.path()); }
  ~MediaOfOthers() override { test::set_environment("PATH", path_); }

  void install(const std::string& script) {
    const std::string file =
        dir_.write("ffmpeg", "#!/bin/sh\nPATH=/usr/bin:/bin\nprintf '%s\\n' \"$@\" >\"$0.asked\"\n" + script);
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  }
  // The samples, or what is wrong.
  std::string read_samples(const std::string& path, const MediaRequest& request = {}) {
    auto reader = recordings::open_recording(path, request);
    if (!reader) return reader.error().message;
    claimed_ = (*reader)->claimed();
    samples_.clear();
    std::vector<float> block(1000);
    for (uint64_t got = block.size(); got == block.size();) {
      const auto n = (*reader)->read(block);
      if (!n) return n.error().message;
      got = *n;
      samples_.insert(samples_.end(), block.begin(), block.begin() + static_cast<ptrdiff_t>(got));
    }
    return "";
  }
  // The same of a pipe that this is written to.
  std::string read_piped(const std::string& content) {
    const std::string pipe = dir_.path() + "/pipe";
    EXPECT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] {
      std::ofstream out(pipe, std::ios::binary);
      out << content;
    });
    const std::string wrong = read_samples(pipe);
    writer.join();
    dir_.remove("pipe");
    return wrong;
  }

  TempDirectory dir_;
  std::string path_;
  std::vector<float> samples_;
  std::optional<uint64_t> claimed_;
};

TEST_F(MediaOfOthers, AreReadThroughFfmpeg) {
  const std::string film = dir_.write("a film; rm -rf $HOME.mp3", kFilm);
  const auto samples = test::glide(8000, 2);
  dir_.write("samples", test::wav_samples(samples, {8000, 1, 1, 16}));
  install("cat \"$(dirname \"$0\")/samples\"");
  EXPECT_EQ(read_samples(film, {8000}), "");
  ASSERT_EQ(samples_.size(), samples.size());
  for (size_t i = 0; i < samples.size(); ++i) ASSERT_NEAR(samples_[i], samples[i], 1e-4) << i;
  EXPECT_EQ(read_file(dir_.path() + "/ffmpeg.asked"),
            "-nostdin\n-hide_banner\n-v\nerror\n-protocol_whitelist\nfile,pipe\n-format_whitelist\n"
            "mov,matroska,avi,asf,flv,amr,mpeg,mpegts,aac,wv,ape,ogg,mp3,flac,aiff,caf,wav\n-i\nfile:" +
                film + "\n-vn\n-sn\n-dn\n-ac\n1\n-ar\n8000\n-c:a\npcm_s16le\n-f\ns16le\npipe:1\n");
}

TEST_F(MediaOfOthers, HaveALineToTypeWithoutFfmpeg) {
  const std::string film = dir_.write("talk.m4a", kFilm);
  EXPECT_EQ(read_samples(film),
            film +
                " is MPEG-4 (m4a, mp4, mov), which ffmpeg reads, and that is not installed here: install it, or "
                "make a WAV file elsewhere (ffmpeg -i " +
                film + " -ar 16000 -ac 1 " + dir_.path() + "/talk.wav)");
  EXPECT_THAT(read_samples(dir_.write("it's.webm", "\x1a\x45\xdf\xa3....")), HasSubstr("/it'\\''s.webm' -ar"));
  // By what they hold, whatever their name.
  EXPECT_THAT(read_samples(dir_.write("talk.mp4", "no film")), HasSubstr("is no recording that can be read"));
}

TEST_F(MediaOfOthers, SayWhatFfmpegSays) {
  install("echo 'moov atom \033[1mnot found' >&2; echo 'cannot be read' >&2; exit 1");
  EXPECT_THAT(read_samples(dir_.write("talk.m4a", kFilm)),
              HasSubstr("talk.m4a: ffmpeg cannot read it: moov atom [1mnot found; cannot be read"));
}

// A playlist with the first bytes of an AVI reaches ffmpeg, which may open no file that it names: that demuxer is not
// among the allowed ones, and they are said before the input.
TEST_F(MediaOfOthers, ArePlaylistsForNoDemuxer) {
  install("exit 1");
  (void)read_samples(dir_.write("list", "#EXTM3U\nAVI \n#EXTINF:1,\nfile:/etc/hostname\n"));
  const std::string asked = read_file(dir_.path() + "/ffmpeg.asked");
  const size_t allowed = asked.find("\n-format_whitelist\n"), input = asked.find("\n-i\n");
  ASSERT_LT(allowed, input);
  for (const char* playlist : {"hls", "dash", "concat", "imf", "sdp"})
    EXPECT_EQ(asked.substr(allowed, input - allowed).find(playlist), std::string::npos) << playlist;
}

// More than a pipe holds: who says it does not wait for a reader.
TEST_F(MediaOfOthers, MayHaveMuchToComplainOf) {
  install("head -c 500000 /dev/zero | tr '\\0' x >&2; printf '\\0\\100\\0\\300\\7'");
  EXPECT_EQ(read_samples(dir_.write("talk.m4a", kFilm)), "");
  EXPECT_EQ(samples_, (std::vector<float>{0.5f, -0.5f}));
}

TEST_F(MediaOfOthers, AreLeftWhenNothingComes) {
  install("echo $$ >\"$0.process\"; printf '\\0\\100'; exec sleep 60");
  const std::string wrong = read_samples(dir_.write("talk.m4a", kFilm), {16000, std::chrono::milliseconds(500)});
  EXPECT_THAT(wrong, HasSubstr("talk.m4a: ffmpeg was stopped: nothing came for 0.5 s"));
  const int process = std::stoi(read_file(dir_.path() + "/ffmpeg.process"));
  EXPECT_NE(kill(process, 0), 0) << "it still runs";
}

// A pipe's bytes are there for it as a file in which it can read anywhere.
TEST_F(MediaOfOthers, MayComeThroughAPipe) {
  install("tail -c 4 /dev/stdin");
  EXPECT_EQ(read_piped(kFilm + std::string(100000, 'x') + std::string("\0\100\0\300", 4)), "");
  EXPECT_EQ(samples_, (std::vector<float>{0.5f, -0.5f}));
  EXPECT_THAT(read_file(dir_.path() + "/ffmpeg.asked"), HasSubstr("file:/dev/stdin\n"));
}

TEST_F(MediaOfOthers, WavComesThroughPipesWhateverItClaims) {
  const auto samples = test::glide(16000, 0.5);
  const test::WavShape shape{16000, 1, 3, 32};
  const std::string data = test::wav_samples(samples, shape);
  for (const uint64_t claim : {uint64_t{data.size()}, uint64_t{0}, uint64_t{0x7ffff000}, uint64_t{0xffffffff}}) {
    EXPECT_EQ(read_piped(test::wav_file(data, shape, claim)), "") << claim;
    EXPECT_EQ(samples_, samples) << claim;
    EXPECT_EQ(claimed_.has_value(), claim <= data.size()) << claim;
    if (claim == 0x7ffff000) continue;  // of a file it is taken at its word
    EXPECT_EQ(read_samples(dir_.write("talk.wav", test::wav_file(data, shape, claim))), "") << claim;
    EXPECT_EQ(samples_, samples) << claim;
  }
}

TEST_F(MediaOfOthers, OtherSoundFilesComeThroughPipes) {
  for (const test::Kind& kind : test::kKinds) {
    const std::string file = test::sound_file(dir_, kind.format, 16000, 1, 1);
    if (file.empty()) continue;
    EXPECT_EQ(read_samples(dir_.write("file", file)), "") << kind.name;
    const auto as_file = samples_;
    EXPECT_EQ(read_piped(file), "") << kind.name;
    EXPECT_EQ(samples_.size(), as_file.size()) << kind.name;
  }
  EXPECT_THAT(read_piped("no sound"), HasSubstr("pipe is no recording that can be read"));
}

}  // namespace
}  // namespace lapilli
