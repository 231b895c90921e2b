// Files of the kinds that people have, written here: the whole way to a model's features, and damaged ones.
#include <gtest/gtest.h>

#include <random>

#include "audio/spectrum.hpp"
#include "recordings/recording.hpp"
#include "recordings/sounds.hpp"
#include "speech/sound_features.hpp"
#include "support/temp_directory.hpp"

#ifdef LAPILLI_HAVE_SNDFILE
#include <sndfile.h>
#endif
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lapilli {
namespace {

using test::glide;

// A file's content; "" where it cannot be written here.
std::string sound_file(const TempDirectory& dir, int kind, uint32_t rate, uint32_t channels, double seconds) {
  const auto samples = glide(rate, seconds, channels);
#ifdef LAPILLI_HAVE_SNDFILE
  SF_INFO info{};
  info.samplerate = static_cast<int>(rate);
  info.channels = static_cast<int>(channels);
  info.format = kind;
  const std::string path = dir.path() + "/written";
  SNDFILE* file = sf_format_check(&info) ? sf_open(path.c_str(), SFM_WRITE, &info) : nullptr;
  if (!file) return "";
  sf_writef_float(file, samples.data(), static_cast<sf_count_t>(samples.size() / channels));
  sf_close(file);
  return read_file(path);
#else
  (void)dir;
  return kind == 0 ? test::wav_of(samples, {rate, channels, 1, 16}) : "";
#endif
}

struct Kind {
  const char* name;
  int format;
};
#ifdef LAPILLI_HAVE_SNDFILE
constexpr Kind kKinds[] = {{"wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16},
                           {"flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16},
                           {"ogg", SF_FORMAT_OGG | SF_FORMAT_VORBIS},
                           {"opus", SF_FORMAT_OGG | SF_FORMAT_OPUS},
                           {"mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}};
#else
constexpr Kind kKinds[] = {{"wav", 0}};
#endif

SoundConfig whisper() {
  SoundConfig c;
  c.mel_bins = 80;
  c.frame_length = c.fft_length = 400;
  c.hop = 160;
  c.chunk_samples = 16000;
  c.where = "a test";
  return c;
}

// The reference's formula in double precision, a transform by its definition.
std::vector<double> features_of(const std::vector<float>& samples, const SoundConfig& c) {
  const auto filters = audio::slaney_filters({c.mel_bins, c.bins(), c.sampling_rate});
  const auto n = static_cast<int64_t>(samples.size());
  const auto at = [&](int64_t i) {
    i = std::abs(i);
    return static_cast<double>(samples[static_cast<size_t>(i < n ? i : 2 * (n - 1) - i)]);
  };
  std::vector<double> cosines(c.frame_length), all;
  for (uint32_t i = 0; i < c.frame_length; ++i) cosines[i] = std::cos(2 * M_PI * i / c.frame_length);
  double most = -10;
  for (int64_t f = 0; f < n / c.hop; ++f) {
    std::vector<double> bands(c.mel_bins);
    for (uint32_t k = 0; k < c.bins(); ++k) {
      double re = 0, im = 0;
      for (uint32_t i = 0; i < c.frame_length; ++i) {
        const double v = at(f * c.hop + i - c.frame_length / 2) * (0.5 - 0.5 * cosines[i]);
        const uint32_t angle = i * k % c.frame_length;
        re += v * cosines[angle];
        im += v * cosines[(angle + c.frame_length * 3 / 4) % c.frame_length];
      }
      for (uint32_t b = 0; b < c.mel_bins; ++b) bands[b] += (re * re + im * im) * filters.at(k, b);
    }
    for (const double b : bands) all.push_back(std::log10(std::max(b, 1e-10)));
  }
  for (const double v : all) most = std::max(most, v);
  for (double& v : all) v = (std::max(v, most - 8) + 4) / 4;
  return all;
}

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
  const auto maker = speech::SoundFeatures::create(*device, whisper());
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
    const auto expected = features_of(samples, whisper());
    ASSERT_EQ(ours->size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k)
      ASSERT_NEAR(static_cast<double>((*ours)[k]), expected[k], 2e-4)
          << kKinds[i].name << " " << k / 80 << " " << k % 80;
    ++tried;
  }
  EXPECT_GE(tried, 1);
}

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
  const auto maker = speech::SoundFeatures::create(*device, whisper());
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

std::string mutated(std::string s, std::mt19937& random) {
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  const size_t reach = pick(2) == 0 ? std::min<size_t>(s.size(), 200) : s.size();  // headers more often than the rest
  for (size_t i = 0, changes = 1 + pick(5); i < changes; ++i) {
    const size_t at = pick(reach);
    switch (pick(4)) {
      case 0: s[at] = static_cast<char>(pick(256)); break;
      case 1: s[at] = static_cast<char>(s[at] ^ (1 << pick(8))); break;
      case 2: s[at] = static_cast<char>(0xff); break;
      default: s[at] = 0;
    }
  }
  if (pick(5) == 0) s.resize(pick(s.size()));
  return s;
}

// Reads mutants; the exit code of the child.
int read_mutants(const std::string& good, uint32_t rounds) {
  TempDirectory dir;
  std::mt19937 random(static_cast<uint32_t>(good.size()));
  std::vector<float> block(65536);
  for (uint32_t i = 0; i < rounds; ++i) {
    const auto path = dir.write("mutant", mutated(good, random));
    auto r = recordings::Recording::open([&] { return recordings::open_sound_file(path); }, path, 16000);
    uint64_t n = 0;
    // A minute of it: what claims much may go on.
    for (uint64_t got = block.size(); r && got == block.size() && n < 60 * 16000; n += got) {
      const auto more = (*r)->read(n, block);
      if (!more && more.error().message.empty()) return 3;
      got = more ? *more : 0;
    }
  }
  return 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kLimited = false;  // sanitizers reserve more than any limit
#else
constexpr bool kLimited = true;
#endif

TEST(RecordingFiles, DamagedOnesAreRefusedOrRead) {
  const char* wanted = std::getenv("LAPILLI_FUZZ_ROUNDS");
  const uint32_t rounds = wanted ? static_cast<uint32_t>(std::atoi(wanted)) : 300;
  for (const Kind& kind : kKinds) {
    TempDirectory dir;
    const std::string good = sound_file(dir, kind.format, 48000, 2, 0.2);
    if (good.empty()) continue;
    const pid_t child = fork();
    if (child == 0) {
      const rlimit limit{rlim_t{1} << 30, rlim_t{1} << 30};
      if (kLimited) setrlimit(RLIMIT_AS, &limit);
      alarm(300);
      _exit(read_mutants(good, rounds));
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << kind.name << ": " << status;
  }
}

}  // namespace
}  // namespace lapilli
