// Bodies in memory and in files without a name.
#include "server/http/body.hpp"

#include <gtest/gtest.h>

#include "support/environment.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::server {
namespace {

TEST(Body, SmallOnesStayInMemory) {
  Body body;
  EXPECT_EQ(body.size(), 0U);
  EXPECT_EQ(body.view(), "");
  EXPECT_TRUE(body.append("ab"));
  EXPECT_TRUE(body.append(""));
  EXPECT_TRUE(body.append(std::string_view("\0c", 2)));
  EXPECT_EQ(body.view(), std::string_view("ab\0c", 4));
  EXPECT_EQ(Body("given").view(), "given");
}

TEST(Body, LargeOnesAreTheSameBytes) {
  Body body;
  std::string all;
  for (int i = 0; i < 300; ++i) {
    const std::string piece(10000 + static_cast<size_t>(i), static_cast<char>('a' + i % 26));
    ASSERT_TRUE(body.append(piece));
    all += piece;
    if (i % 50 == 49) {
      ASSERT_EQ(body.view(), all);  // also before the next append
    }
  }
  EXPECT_EQ(body.size(), all.size());
  EXPECT_EQ(body.view(), all);
  const Body moved = std::move(body);
  EXPECT_EQ(moved.view(), all);
  EXPECT_EQ(moved.view().data(), moved.view().data());
}

TEST(Body, AroundTheLimit) {
  for (const size_t bytes : {(size_t{1} << 20) - 1, size_t{1} << 20, (size_t{1} << 20) + 1}) {
    Body body;
    ASSERT_TRUE(body.append(std::string(bytes - 1, 'x')));
    ASSERT_TRUE(body.append("y"));
    EXPECT_EQ(body.view(), std::string(bytes - 1, 'x') + "y");
  }
}

#if !defined(_WIN32)
TEST(Body, LeavesNoFile) {
  const TempDirectory folder;
  const std::string before = environment("TMPDIR");
  lapilli::test::set_environment("TMPDIR", folder.path());
  Body body;
  EXPECT_TRUE(body.append(std::string(2 << 20, 'x')));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(body.view().size(), 2U << 20);
  lapilli::test::set_environment("TMPDIR", folder.path() + "/missing");
  Body nowhere;
  EXPECT_TRUE(nowhere.append("small ones need none"));
  EXPECT_FALSE(nowhere.append(std::string(2 << 20, 'x')));
  lapilli::test::set_environment("TMPDIR", before);
}
#endif

}  // namespace
}  // namespace lapilli::server
