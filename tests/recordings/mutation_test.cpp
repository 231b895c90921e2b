// Damaged files of sound of each kind, in a process of its own with little memory: each is read as far as it goes, or
// refused with words. LAPILLI_FUZZ_ROUNDS asks for more than the usual ones.
#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "recordings/recording.hpp"
#include "recordings/written_sounds.hpp"
#include "support/limited_child.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using recordings::Reader;
using recordings::Recording;

constexpr uint64_t kMemory = uint64_t{1} << 30;
constexpr unsigned kSeconds = 600;
constexpr uint64_t kMostRead = 60 * 16000;  // a minute: what claims much may go on

using Open = Result<std::unique_ptr<Reader>> (*)(const std::string&);

std::string mutated(std::string s, std::mt19937& random) {
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  const size_t reach = pick(2) == 0 ? std::min<size_t>(s.size(), 200) : s.size();  // headers more often than the rest
  for (size_t i = 0, changes = 1 + pick(5); i < changes && !s.empty(); ++i) {
    const size_t at = pick(std::min(reach, s.size()));
    switch (pick(6)) {
      case 0: s[at] = static_cast<char>(pick(256)); break;
      case 1: s[at] = static_cast<char>(s[at] ^ (1 << pick(8))); break;
      case 2: s[at] = static_cast<char>(0xff); break;
      case 3: s.erase(at, 1 + pick(8)); break;
      case 4: s.insert(at, s.substr(pick(s.size()), 1 + pick(16))); break;
      default: s[at] = 0;
    }
  }
  if (pick(5) == 0) s.resize(pick(s.size() + 1));
  return s;
}

// False: it was refused without a word.
bool read_one(const std::string& path, Open open, bool& opened) {
  std::vector<float> block(65536);
  auto r = Recording::open([&] { return open(path); }, path, 16000);
  opened = r.ok();
  if (!r) return !r.error().message.empty();
  for (uint64_t n = 0, got = block.size(); got == block.size() && n < kMostRead; n += got) {
    const auto more = (*r)->read(n, block);
    if (!more) return !more.error().message.empty();
    got = *more;
    for (uint64_t i = 0; i < got; ++i)
      if (!std::isfinite(block[i])) return false;
  }
  return true;
}

uint32_t mutants() {
  const char* rounds = std::getenv("LAPILLI_FUZZ_ROUNDS");
  return rounds != nullptr ? static_cast<uint32_t>(std::atoi(rounds)) : 1000;
}

// The exit code: 0 if all goes well, and one in a hundred opens.
int try_mutants(const std::string& good, Open open) {
  TempDirectory dir;
  (void)!freopen("/dev/null", "w", stderr);  // what libraries say of each
  std::mt19937 random(static_cast<uint32_t>(good.size()));
  uint32_t opened = 0;
  const uint32_t count = mutants();
  for (uint32_t i = 0; i < count; ++i) {
    bool this_one = false;
    if (!read_one(dir.write("mutant", mutated(good, random)), open, this_one)) return 3;
    opened += this_one ? 1 : 0;
  }
  return opened > count / 100 ? 0 : 4;
}

std::string in_child(const std::string& good, Open open) {
  return test::in_limited_child(kMemory, kSeconds, [&] { return try_mutants(good, open); });
}

class RecordingKindMutation : public testing::TestWithParam<test::Kind> {};

TEST_P(RecordingKindMutation, IsReadOrRefused) {
  const TempDirectory dir;
  const std::string good = test::sound_file(dir, GetParam().format, 48000, 2, 0.2);
  if (good.empty()) GTEST_SKIP() << GetParam().name << " is not written here";
  EXPECT_EQ(in_child(good, recordings::open_sound_file), "");
}
INSTANTIATE_TEST_SUITE_P(Kinds, RecordingKindMutation, testing::ValuesIn(test::kKinds),
                         [](const auto& i) { return i.param.name; });

// The reader that is there without any library; of each kind of numbers.
TEST(RecordingMutation, OwnReaderOfWav) {
  for (const auto& [kind, bits] : {std::pair{1u, 8u}, {1u, 16u}, {1u, 24u}, {1u, 32u}, {3u, 32u}}) {
    const std::string good = test::wav_of(test::glide(16000, 0.1, 2), {16000, 2, kind, bits});
    EXPECT_EQ(in_child(good, recordings::open_wav), "") << kind << " " << bits;
  }
}

TEST(RecordingMutation, RawSamples) {
  const std::string good = test::wav_samples(test::glide(16000, 0.1), {16000, 1, 3, 32});
  EXPECT_EQ(in_child(good,
                     [](const std::string& path) {
                       return recordings::open_raw(path, recordings::parse_raw_format("f32le:22050:2").value());
                     }),
            "");
}

// The child has the limit, and what goes wrong in it is told.
TEST(RecordingMutation, TheChildIsLimited) {
  const Open nothing = [](const std::string&) -> Result<std::unique_ptr<Reader>> {
    return fail(ErrorCode::invalid_data, "no");
  };
  EXPECT_EQ(in_child("abc", nothing), "exit code 4");
  const Open wordless = [](const std::string&) -> Result<std::unique_ptr<Reader>> { return Error{}; };
  EXPECT_EQ(in_child("abc", wordless), "exit code 3");
}

}  // namespace
}  // namespace lapilli
