// Files of the kinds that people have, written here: the whole way to a model's features.
#include <gtest/gtest.h>

#include "recordings/recording.hpp"
#include "recordings/reference_features.hpp"
#include "recordings/written_sounds.hpp"
#include "speech/sound_features.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using test::glide;

using test::Kind;
using test::kKinds;
using test::sound_file;

std::vector<float> decoded(const std::string& path) {
  auto r = recordings::Recording::open([&] { return recordings::open_sound_file(path); }, path, 16000);
  EXPECT_TRUE(r.ok()) << r.error().message;
  if (!r) return {};
  std::vector<float> samples((*r)->count().value());
  EXPECT_EQ((*r)->read(0, samples).value(), samples.size());
  return samples;
}

TEST(RecordingsDevice, BecomeTheFeaturesOfTheirSamples) {
  const auto device = vulkan::Device::create({});
  ASSERT_TRUE(device.ok()) << device.error().message;
  const auto maker = speech::SoundFeatures::create(*device, test::small_whisper());
  ASSERT_TRUE(maker.ok()) << maker.error().message;
  TempDirectory dir;
  int tried = 0;
  const uint32_t rates[] = {16000, 8000, 48000, 48000, 44100};  // Opus and MP3 know some alone
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    const uint32_t rate = recordings::can_resample() ? rates[i] : 16000, channels = 1 + i % 2;
    const std::string content = sound_file(dir, kKinds[i].format, rate, channels, 1.3);
    if (content.empty()) continue;
    const auto path = dir.write(std::string("a.") + kKinds[i].name, content);
    const auto samples = decoded(path);
    EXPECT_NEAR(static_cast<double>(samples.size()), 1.3 * 16000, 3000) << kKinds[i].name;
    auto file = recordings::Recording::open([&] { return recordings::open_sound_file(path); }, path, 16000);
    ASSERT_TRUE(file.ok());
    const auto ours = (*maker)->make_all({file->get(), samples.size()});
    ASSERT_TRUE(ours.ok()) << ours.error().message;
    const auto expected = test::features_of(samples, test::small_whisper());
    ASSERT_EQ(ours->size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k)
      ASSERT_NEAR(static_cast<double>((*ours)[k]), expected[k], 2e-4)
          << kKinds[i].name << " " << k / 80 << " " << k % 80;
    ++tried;
  }
  EXPECT_GE(tried, 1);
}

#ifdef LAPILLI_HAVE_SNDFILE
struct Counted {
  uint64_t samples = 0;
  std::string error, shortage;
};

Counted counted(const TempDirectory& dir, const std::string& content) {
  const auto path = dir.write("counted", content);
  auto r = recordings::Recording::open([&] { return recordings::open_sound_file(path); }, path, 16000);
  if (!r) return {0, r.error().message, ""};
  const auto n = (*r)->count();
  return n ? Counted{*n, "", (*r)->shortage()} : Counted{0, n.error().message, ""};
}

// FLAC has room for a count of 2^36 samples: none is taken at its word.
TEST(RecordingFiles, ThatClaimTenBillionSamplesHaveWhatTheyHave) {
  const TempDirectory dir;
  std::string flac = sound_file(dir, SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 16000, 1, 0.5);
  if (flac.empty()) GTEST_SKIP() << "FLAC is not written here";
  const uint64_t claim = 10'000'000'000;
  flac[21] = static_cast<char>((flac[21] & 0xf0) | (claim >> 32 & 0x0f));  // of STREAMINFO
  for (int i = 0; i < 4; ++i) flac[22 + i] = static_cast<char>(claim >> (24 - 8 * i));
  const Counted c = counted(dir, flac);
  EXPECT_EQ(c.samples, 8000u) << c.error;
  EXPECT_NE(c.shortage.find("ends after 0.50 s, although it says that it has 625000.00"), std::string::npos)
      << c.shortage;
}

TEST(RecordingFiles, OfNoAndOfOneSample) {
  const TempDirectory dir;
  for (const Kind& kind : kKinds)
    for (const size_t n : {0u, 1u}) {
      const std::string file = sound_file(dir, kind.format, std::vector<float>(n, 0.5f), {16000, 1});
      if (file.empty()) continue;
      const Counted c = counted(dir, file);
      // Frames of MP3 and Ogg are whole, whatever was written; what has no sound may be no recording.
      EXPECT_TRUE(c.error != "" || c.samples == n || (kind.name == std::string("mp3") && c.samples < 3000))
          << kind.name << " " << n << ": " << c.samples;
      if (kind.name == std::string("wav")) {
        EXPECT_EQ(c.samples, n) << c.error;
      }
    }
}

// In every way of storing samples that the library knows.
TEST(RecordingFiles, WavThatWasNotFinishedIsReadToItsEnd) {
  const TempDirectory dir;
  for (const int stored : {SF_FORMAT_PCM_16, SF_FORMAT_PCM_24, SF_FORMAT_FLOAT, SF_FORMAT_ULAW, SF_FORMAT_IMA_ADPCM})
    for (const int type : {SF_FORMAT_WAV, SF_FORMAT_WAVEX}) {
      std::string file = sound_file(dir, type | stored, 16000, 2, 0.5);
      if (file.empty()) continue;
      const uint64_t whole = counted(dir, file).samples;
      for (const size_t length : {size_t{4}, file.find("data") + 4}) file.replace(length, 4, 4, '\0');
      const Counted c = counted(dir, file);
      EXPECT_GE(c.samples, whole) << stored << " " << c.error;  // blocks are filled up
      EXPECT_LE(c.samples, whole + 1100) << stored;
    }
}

// Players play them: zeros or a tag stand before the sound.
TEST(RecordingFiles, MayHaveZerosAndTagsInFront) {
  const TempDirectory dir;
  const std::string tag = std::string("ID3\x04\0\0\0\0\x01\x02", 10) + std::string(130, 'x');
  for (const Kind& kind : kKinds) {
    const std::string file = sound_file(dir, kind.format, 16000, 1, 1);
    if (file.empty()) continue;
    const uint64_t whole = counted(dir, file).samples;
    const std::string one(1, '\0'), many(70000, '\0');
    for (const std::string& front : {one, many, tag + one, tag + many + tag, many + tag})
      EXPECT_EQ(counted(dir, front + file).samples, whole) << kind.name << " " << front.size();
  }
}

// The first frame says how many follow, of this many bytes or that; without it all are read nevertheless.
TEST(RecordingFiles, Mp3MayBeCutOutOfAStream) {
  const TempDirectory dir;
  std::vector<float> samples = glide(16000, 1);  // rates change with the content
  samples.resize(size_t{3} * 16000);
  const std::string file = sound_file(dir, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, samples, {16000, 1});
  if (file.empty()) GTEST_SKIP() << "MP3 is not written here";
  const double whole = static_cast<double>(counted(dir, file).samples);
  for (const std::string& front : {std::string(), std::string(3, '\0')})
    for (const size_t from : {size_t{1}, file.size() / 8, file.size() / 8 + 1, file.size() / 4}) {
      const Counted c = counted(dir, front + file.substr(from));
      EXPECT_GT(static_cast<double>(c.samples), whole * (from == 1 ? 0.98 : 0.6)) << from << " " << c.error;
      EXPECT_LE(static_cast<double>(c.samples), whole + 3000) << from;  // what fills up frames is not cut away
      EXPECT_EQ(c.shortage, "");
    }
  const Counted text = counted(dir, std::string(70000, '\0') + "nothing that sounds");
  EXPECT_NE(text.error.find("is no recording that can be read"), std::string::npos) << text.error;
}

// The sound before the cut is read; if the file states its length, a note says that it was cut.
TEST(RecordingFiles, ThatWereCutOffAreReadAsFarAsTheyGo) {
  const TempDirectory dir;
  for (const Kind& kind : kKinds) {
    std::string file = sound_file(dir, kind.format, 16000, 1, 40);
    if (file.empty()) continue;
    file.resize(file.size() / 2);
    const Counted c = counted(dir, file);
    EXPECT_GT(c.samples, 10u * 16000) << kind.name << " " << c.error;
    EXPECT_LT(c.samples, 30u * 16000) << kind.name;
    const bool says_its_length = kind.name != std::string("ogg") && kind.name != std::string("opus");
    EXPECT_EQ(c.shortage.find("it may have been cut off") != std::string::npos, says_its_length)
        << kind.name << " " << c.shortage;
  }
}
#endif

// An hour of sound that no memory holds.
class Hour : public audio::SampleSource {
 public:
  Result<uint64_t> read(uint64_t first, std::span<float> to) override {
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>((first + i) % 97) / 200;
    return to.size();
  }
};

TEST(RecordingsDevice, PartsAreThoseOfTheWhole) {
  const auto device = vulkan::Device::create({});
  ASSERT_TRUE(device.ok()) << device.error().message;
  const auto maker = speech::SoundFeatures::create(*device, test::small_whisper());
  ASSERT_TRUE(maker.ok()) << maker.error().message;
  auto samples = glide(16000, 14);  // more frames than a pass has
  samples[30000] = 0.9f;
  audio::SamplesInMemory source{samples};
  const speech::Sound sound{&source, samples.size()};
  const auto whole = (*maker)->make_all(sound);
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  const auto most = (*maker)->loudest(sound);
  ASSERT_TRUE(most.ok());
  for (const uint64_t first : {0u, 1u, 700u, 1299u}) {
    std::vector<float> part(std::min<uint64_t>(100, 1400 - first) * 80);
    ASSERT_TRUE((*maker)->make(sound, first, *most, part).ok());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), whole->begin() + static_cast<ptrdiff_t>(first * 80))) << first;
  }
  Hour hour;
  std::vector<float> window(100 * 80);
  EXPECT_TRUE((*maker)->make({&hour, uint64_t{3600} * 16000}, 359000, 1.0f, window).ok());
  samples[5] = std::numeric_limits<float>::infinity();
  const auto refused = (*maker)->make_all(sound);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("sample 5 is inf"), std::string::npos) << refused.error().message;
}

}  // namespace
}  // namespace lapilli
