// The samples of recordings, by the reader that is always there and by that of the library where it is.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <fstream>
#include <limits>
#include <thread>

#include "recordings/recording.hpp"
#include "recordings/sample_pipe.hpp"
#include "recordings/sounds.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using namespace recordings;
using test::glide;
using test::wav_file;
using test::wav_of;
using test::wav_samples;

using OpenFile = Result<std::unique_ptr<Reader>> (*)(const std::string&);
constexpr OpenFile kReaders[] = {open_wav, open_sound_file};

struct Read {
  std::vector<float> samples;
  std::string error, shortage;
};

Read read_all(const std::string& path, uint32_t rate, OpenFile open = open_sound_file, size_t block = 4096) {
  Read r;
  auto recording = Recording::open([&] { return open(path); }, path, rate);
  if (!recording) return {{}, recording.error().message, ""};
  std::vector<float> part(block);
  for (uint64_t got = block; got == block;) {
    const auto n = (*recording)->read(r.samples.size(), part);
    if (!n) return {{}, n.error().message, ""};
    got = *n;
    r.samples.insert(r.samples.end(), part.begin(), part.begin() + static_cast<ptrdiff_t>(got));
  }
  r.shortage = (*recording)->shortage();
  return r;
}

double worst(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
  return most;
}

TEST(Recordings, WavOfEachKind) {
  TempDirectory dir;
  const auto samples = glide(16000, 0.3);
  for (const OpenFile open : kReaders)
    for (const auto& [kind, bits] : {std::pair{1u, 8u}, {1u, 16u}, {1u, 24u}, {1u, 32u}, {3u, 32u}}) {
      const auto path = dir.write("a.wav", wav_of(samples, {16000, 1, kind, bits}));
      const auto r = read_all(path, 16000, open);
      EXPECT_EQ(r.error, "") << bits;
      EXPECT_LE(worst(r.samples, samples), bits == 8 ? 0.02 : bits == 16 ? 1e-4 : 1e-6) << kind << " " << bits;
      EXPECT_EQ(r.shortage, "");
    }
}

TEST(Recordings, ChannelsAreMixedEvenly) {
  TempDirectory dir;
  const auto both = glide(16000, 0.2, 2);
  std::vector<float> mixed;
  for (size_t i = 0; i < both.size(); i += 2) mixed.push_back((both[i] + both[i + 1]) / 2);
  const auto path = dir.write("a.wav", wav_of(both, {16000, 2, 3, 32}));
  for (const OpenFile open : kReaders) EXPECT_LE(worst(read_all(path, 16000, open).samples, mixed), 1e-6);
}

TEST(Recordings, BlocksOfAnySizeAndASecondReadingAreTheSame) {
  TempDirectory dir;
  const auto path = dir.write("a.wav", wav_of(glide(44100, 2.2, 2), {44100, 2, 1, 16}));
  if (!can_resample()) GTEST_SKIP() << "there is no libsamplerate";
  const auto whole = read_all(path, 16000, open_sound_file, 100000).samples;
  EXPECT_NEAR(static_cast<double>(whole.size()), 2.2 * 16000, 2);
  EXPECT_EQ(read_all(path, 16000, open_sound_file, 77).samples, whole);
  auto recording = Recording::open([&] { return open_sound_file(path); }, path, 16000);
  ASSERT_TRUE(recording.ok());
  EXPECT_EQ((*recording)->count().value(), whole.size());
  EXPECT_EQ((*recording)->position(), whole.size());
  std::vector<float> part(5000);
  for (const uint64_t first : {0u, 3000u, 2990u, 20000u, 12001u, 0u}) {
    ASSERT_EQ((*recording)->read(first, part).value(), part.size()) << first;
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole.begin() + static_cast<ptrdiff_t>(first))) << first;
  }
}

// A file is opened again where its samples were not kept (when the store is full, and for the step back), and nowhere
// else.
TEST(Recordings, AreReadOnce) {
  TempDirectory dir;
  struct Case {
    int seconds;
    uint64_t most_kept;
    int times;
  };
  for (const auto& [seconds, most_kept, times] : {Case{60, SampleStore::kMost, 1}, Case{140, SampleStore::kMost, 1},
                                                  Case{60, 500000, 3}, Case{140, 1500000, 3}}) {
    const auto samples = glide(16000, seconds);
    const auto path = dir.write("a.wav", wav_of(samples, {16000, 1, 3, 32}));
    int opened = 0;
    const auto open = [&] {
      ++opened;
      return open_wav(path);
    };
    auto recording = Recording::open(open, path, 16000, most_kept);
    ASSERT_TRUE(recording.ok());
    EXPECT_EQ((*recording)->count().value(), samples.size());
    std::vector<float> part(5000);
    for (const size_t first : {size_t{0}, size_t{123}, samples.size() / 2, samples.size() - 5000}) {
      ASSERT_EQ((*recording)->read(first, part).value(), part.size()) << first;
      EXPECT_TRUE(std::equal(part.begin(), part.end(), samples.begin() + static_cast<ptrdiff_t>(first))) << first;
    }
    EXPECT_EQ((*recording)->read(samples.size() - 10, part).value(), 10u);
    EXPECT_EQ(opened, times) << seconds << " " << most_kept;
  }
}

TEST(Recordings, CountingCanBeEnded) {
  TempDirectory dir;
  const auto path = dir.write("a.wav", wav_of(glide(16000, 3, 1), {16000, 1, 1, 16}));
  auto recording = Recording::open([&] { return open_sound_file(path); }, path, 16000);
  ASSERT_TRUE(recording.ok());
  std::vector<uint64_t> positions;
  const auto ended = (*recording)->count([&] {
    positions.push_back((*recording)->position());
    return positions.size() < 3;
  });
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::cancelled);
  // The position is after the counted samples, and not a block more.
  ASSERT_EQ(positions.size(), 3u);
  for (size_t i = 0; i < positions.size(); ++i) {
    EXPECT_GE(positions[i], 4096 * (i + 1));
    EXPECT_LT(positions[i], 4096 * (i + 2));
  }
  EXPECT_EQ((*recording)->count().value(), 48000u);  // from its beginning again
}

TEST(Recordings, ResamplingKeepsATone) {
  if (!can_resample()) GTEST_SKIP() << "there is no libsamplerate";
  TempDirectory dir;
  for (const uint32_t rate : {8000u, 11025u, 22050u, 44100u, 48000u}) {
    std::vector<float> tone;
    for (uint32_t i = 0; i < rate; ++i) tone.push_back(static_cast<float>(0.5 * std::sin(2 * M_PI * 440 * i / rate)));
    const auto r = read_all(dir.write("a.wav", wav_of(tone, {rate, 1, 3, 32})), 16000);
    ASSERT_NEAR(static_cast<double>(r.samples.size()), 16000, 2) << rate;
    double most = 0;
    for (size_t i = 500; i < 15500; ++i)
      most = std::max(most, std::abs(static_cast<double>(r.samples[i]) -
                                     0.5 * std::sin(2 * M_PI * 440 * static_cast<double>(i) / 16000)));
    EXPECT_LT(most, 2e-3) << rate;
  }
}

TEST(Recordings, SayWhatIsWrong) {
  TempDirectory dir;
  const std::string nan = wav_samples({0, 0.5f, std::numeric_limits<float>::quiet_NaN()}, {16000, 1, 3, 32});
  const struct {
    std::string content, expected;
  } kCases[] = {{"", "read"},
                {"RIFF", "read"},
                {"a text that is long enough to be mistaken for a header of something", "read"},
                {wav_file(nan, {16000, 1, 3, 32}, nan.size()), "is no number"},
                {wav_of({0, 0}, {16000, 0, 1, 16}), ""},
                {wav_of({0, 0}, {5, 1, 1, 16}), "samples a second"}};
  for (const auto& c : kCases) {
    const auto r = read_all(dir.write("a.wav", c.content), 16000);
    EXPECT_NE(r.error, "") << c.content.substr(0, 8);
    EXPECT_NE(r.error.find(c.expected), std::string::npos) << r.error;
  }
  EXPECT_NE(read_all(dir.path() + "/none.wav", 16000).error.find("cannot be opened"), std::string::npos);
  EXPECT_NE(read_all(dir.path(), 16000).error, "");
}

TEST(Recordings, HaveWhatIsThereWhateverTheyClaim) {
  TempDirectory dir;
  const std::string data = wav_samples(glide(16000, 0.1), {});
  for (const OpenFile open : kReaders) {
    const auto more = read_all(dir.write("a.wav", wav_file(data, {}, 0xfffffff0)), 16000, open);
    EXPECT_EQ(more.samples.size(), 1600u) << more.error;
    const auto unknown = read_all(dir.write("a.wav", wav_file(data, {}, 0xffffffff)), 16000, open);
    EXPECT_EQ(unknown.samples.size(), 1600u) << unknown.error;
    EXPECT_EQ(read_all(dir.write("a.wav", wav_of({0.5f})), 16000, open).samples.size(), 1u);
    EXPECT_EQ(read_all(dir.write("a.wav", wav_file(data.substr(0, 999), {}, 999)), 16000, open).samples.size(), 499u);
  }
  const auto cut = read_all(dir.write("a.wav", wav_file(data, {}, 0xfffffff0)), 16000, open_wav);
  EXPECT_NE(cut.shortage.find("ends after 0.10 s"), std::string::npos) << cut.shortage;
}

// Whoever was to write the length at the end was stopped, or wrote to a pipe; what follows is sound up to the end.
TEST(Recordings, ThatWereNotFinishedAreReadToTheirEnd) {
  TempDirectory dir;
  const std::string data = wav_samples(glide(16000, 0.1), {}), list = "LIST" + test::bytes_of(5, 4) + "INFOx";
  for (const OpenFile open : kReaders) {
    std::string file = wav_file(data, {}, 0);
    for (const uint32_t whole : {0u, 36u, 0xffffffffu}) {
      const auto r = read_all(dir.write("a.wav", file.replace(4, 4, test::bytes_of(whole, 4))), 16000, open);
      EXPECT_EQ(r.samples.size(), 1600u) << r.error;
      EXPECT_NE(r.shortage.find("says that it has no sound, and has 0.10 s"), std::string::npos) << r.shortage;
    }
    // Silence is sound as well, and a name alone is no chunk.
    for (const std::string& sound : {std::string(2000, '\0'), list + data, std::string("LIST")})
      EXPECT_EQ(read_all(dir.write("a.wav", wav_file(sound, {}, 0)), 16000, open).samples.size(), sound.size() / 2);
  }
}

TEST(Recordings, ThatHoldNothingStayEmpty) {
  TempDirectory dir;
  const std::string list = "LIST" + test::bytes_of(5, 4) + "INFOx";
  for (const OpenFile open : kReaders)
    for (const std::string& behind : {std::string(), list, list + std::string(1, '\0') + list}) {
      const auto r = read_all(dir.write("a.wav", wav_file(behind, {}, 0)), 16000, open);
      EXPECT_EQ(r.samples.size(), 0u) << r.error;
      EXPECT_EQ(r.shortage, "");
    }
}

std::string silence_of(const TempDirectory& dir, const std::vector<float>& samples, uint32_t channels) {
  const auto path = dir.write("a.wav", wav_of(samples, {16000, channels, 3, 32}));
  auto recording = Recording::open([&] { return open_sound_file(path); }, path, 16000);
  if (!recording) return recording.error().message;
  EXPECT_TRUE((*recording)->count().ok());
  std::vector<float> part(10);  // and read anew
  EXPECT_TRUE((*recording)->read(0, part).ok());
  EXPECT_TRUE((*recording)->count().ok());
  return (*recording)->silence();
}

// Rounding, and a voltage that lies on a wire, are no sound; the quietest that 16 bits hold well is some.
TEST(Recordings, SayThatTheyAreSilent) {
  const TempDirectory dir;
  std::vector<float> samples(9000, 0.25f);
  EXPECT_NE(silence_of(dir, samples, 1).find("is silent from its beginning to its end"), std::string::npos);
  EXPECT_NE(silence_of(dir, samples, 3).find("is silent"), std::string::npos);
  samples[7000] += 1.0f / 32768;
  EXPECT_NE(silence_of(dir, samples, 1).find("is silent"), std::string::npos);
  samples[7000] += 3.0f / 32768;
  EXPECT_EQ(silence_of(dir, samples, 1), "");
  EXPECT_EQ(silence_of(dir, glide(16000, 0.5), 1), "");
  EXPECT_EQ(silence_of(dir, glide(16000, 0.5, 2), 2), "");
  EXPECT_EQ(silence_of(dir, {}, 1), "");  // that is said otherwise
}

TEST(Recordings, SayThatTheirChannelsCancelOut) {
  const TempDirectory dir;
  std::vector<float> opposite, one_sided, nearly;
  for (const float v : glide(16000, 0.5)) {
    opposite.insert(opposite.end(), {v, -v});
    one_sided.insert(one_sided.end(), {v, 0});
    nearly.insert(nearly.end(), {v, -0.99f * v});
  }
  EXPECT_NE(silence_of(dir, opposite, 2).find("cancel each other out"), std::string::npos);
  EXPECT_NE(silence_of(dir, nearly, 2).find("pan=mono|c0=c0"), std::string::npos);
  EXPECT_EQ(silence_of(dir, one_sided, 2), "");
}

TEST(Recordings, RawFormats) {
  for (const char* good : {"f32le:16000", "s16le:48000:2", "s32le:8000:1"}) EXPECT_TRUE(parse_raw_format(good).ok());
  for (const char* bad :
       {"", "f32le", "f32le:", "f32le:0", "f32le:16000:0", "f32le:16000:2:1", "f32be:16000", "f32le:x", "f32le:-1",
        "f32le:99999999999", "s16le:16000:9999", "f32le:16000:", "f32le: 16000"})
    EXPECT_FALSE(parse_raw_format(bad).ok()) << bad;
  TempDirectory dir;
  const auto samples = glide(16000, 0.1);
  const auto path = dir.write("a", wav_samples(samples, {16000, 1, 3, 32}) + "abc");
  const auto raw = parse_raw_format("f32le:16000").value();
  auto recording = Recording::open([&] { return open_raw(path, raw); }, path, 16000);
  ASSERT_TRUE(recording.ok());
  std::vector<float> got(samples.size() + 10);
  ASSERT_EQ((*recording)->read(0, got).value(), samples.size());
  got.resize(samples.size());
  EXPECT_EQ(got, samples);
}

// Samples that a writer hands over bit by bit come bit by bit; the reader does not wait for the end.
TEST(Recordings, OfAPipeComeAsTheyAreWritten) {
  TempDirectory dir;
  const std::string path = dir.path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto samples = glide(16000, 3);
  std::atomic<bool> first_taken{false};
  std::thread writer([&] {
    const std::string bytes = wav_samples(samples, {16000, 1, 3, 32});
    std::ofstream out(path, std::ios::binary);
    out.write(bytes.data(), 80000).flush();
    while (!first_taken) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    out.write(bytes.data() + 80000, static_cast<std::streamsize>(bytes.size()) - 80000);
  });
  const auto raw = parse_raw_format("f32le:16000").value();
  auto pipe = SamplePipe::open([&] { return open_raw(path, raw); }, path, 16000);
  ASSERT_TRUE(pipe.ok()) << pipe.error().message;
  std::vector<float> got, room(1000);
  const auto has_ended = [&](int most_ms) {
    const auto taken = (*pipe)->take(room, std::chrono::milliseconds(most_ms));
    EXPECT_TRUE(taken.ok()) << taken.error().message;
    if (!taken) return true;
    got.insert(got.end(), room.begin(), room.begin() + static_cast<ptrdiff_t>(taken->count));
    return taken->ended;
  };
  while (!has_ended(100)) {
    if (first_taken || got.size() < 16000) continue;
    EXPECT_FALSE(has_ended(0));  // the writer waits, and so does what it has not written
    first_taken = true;
  }
  first_taken = true;  // whatever went wrong
  writer.join();
  EXPECT_EQ(got.size(), samples.size());
  got.resize(samples.size());
  EXPECT_EQ(got, samples);
  EXPECT_EQ((*pipe)->silence(), "");
}

// A writer that is faster than whoever takes has to wait; one that says what is no number is told of at that place.
TEST(Recordings, OfAPipeAreBounded) {
  TempDirectory dir;
  std::vector<float> samples = glide(16000, 100);
  samples[90 * 16000] = std::numeric_limits<float>::infinity();
  const auto path = dir.write("long.raw", wav_samples(samples, {16000, 1, 3, 32}));
  const auto raw = parse_raw_format("f32le:16000").value();
  std::atomic<uint64_t> read{0};
  class Counted : public Reader {
   public:
    Counted(std::unique_ptr<Reader> inner, std::atomic<uint64_t>& read) : inner_(std::move(inner)), read_(read) {}
    [[nodiscard]] SoundFormat format() const override { return inner_->format(); }
    [[nodiscard]] std::optional<uint64_t> claimed() const override { return std::nullopt; }
    Result<uint64_t> read(std::span<float> to) override {
      auto n = inner_->read(to);
      if (n) read_ += *n;
      return n;
    }

   private:
    std::unique_ptr<Reader> inner_;
    std::atomic<uint64_t>& read_;
  };
  const Opener open = [&]() -> Result<std::unique_ptr<Reader>> {
    auto inner = open_raw(path, raw);
    if (!inner) return inner;
    return std::unique_ptr<Reader>(new Counted(std::move(*inner), read));
  };
  auto pipe = SamplePipe::open(open, path, 16000);
  ASSERT_TRUE(pipe.ok());
  for (uint64_t before = 1; before != read;) {
    before = read;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_GE(read, 60u * 16000);
  EXPECT_LE(read, 63u * 16000);
  std::vector<float> room(16000);
  uint64_t got = 0;
  auto taken = (*pipe)->take(room, std::chrono::milliseconds(1000));
  for (; taken && !taken->ended; taken = (*pipe)->take(room, std::chrono::milliseconds(1000))) got += taken->count;
  ASSERT_FALSE(taken.ok());
  EXPECT_NE(taken.error().message.find("90.000 s"), std::string::npos) << taken.error().message;
  EXPECT_LE(got, 90u * 16000);
  EXPECT_GE(got, 88u * 16000);
}

}  // namespace
}  // namespace lapilli
