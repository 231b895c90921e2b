// Pages of a mapped file that leave memory again, as Linux tells.
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>

#include "base/mapped_file.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

constexpr size_t kBytes = size_t{4} << 20;

// Kibibytes of the mapping that are in memory, as Linux tells; -1 where it does not.
int64_t resident_kib(const std::byte* address) {
  char begin[32];
  std::snprintf(begin, sizeof begin, "%llx-", static_cast<unsigned long long>(reinterpret_cast<uintptr_t>(address)));
  std::ifstream maps("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.starts_with(begin)) here = true;
    if (here && line.starts_with("Rss:")) return std::stoll(line.substr(4));
  }
  return -1;
}

int sum(std::span<const std::byte> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), 0, [](int all, std::byte b) { return all + static_cast<int>(b); });
}

Result<MappedFile> file_of_ones(const TempDirectory& directory) {
  return MappedFile::open(directory.write("weights", std::string(kBytes, '\x01')));
}

TEST(MappedFile, LetsPagesGoAndHasThemAgain) {
  const TempDirectory directory;
  const auto file = file_of_ones(directory);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(sum(file->bytes()), static_cast<int>(kBytes));
  const int64_t before = resident_kib(file->bytes().data());
  if (before < 0) GTEST_SKIP() << "no /proc/self/smaps";
  EXPECT_GE(before, 4096);
  file->let_go(1, kBytes - 1);  // all but the first page
  EXPECT_LT(resident_kib(file->bytes().data()), 128);
  EXPECT_EQ(sum(file->bytes()), static_cast<int>(kBytes));
  EXPECT_GE(resident_kib(file->bytes().data()), 4096);
}

TEST(MappedFile, PartsOfAPageStay) {
  const TempDirectory directory;
  const auto file = file_of_ones(directory);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(sum(file->bytes()), static_cast<int>(kBytes));
  file->let_go(100, 200);
  file->let_go(kBytes, 0);
  EXPECT_EQ(sum(file->bytes()), static_cast<int>(kBytes));
  const int64_t now = resident_kib(file->bytes().data());
  EXPECT_TRUE(now < 0 || now >= 4096) << now;
}

}  // namespace
}  // namespace lapilli
