// Lines before a read error. Memory is the one file that ends with an error wherever a test wants it to.
#include "cli/files/line_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lapilli::cli {
namespace {

// Standard input until this goes.
class InputOf {
 public:
  explicit InputOf(int fd) : before_(dup(0)) {
    dup2(fd, 0);
    close(fd);
  }
  InputOf(const InputOf&) = delete;
  InputOf& operator=(const InputOf&) = delete;
  ~InputOf() {
    dup2(before_, 0);
    close(before_);
  }

 private:
  int before_;
};

TEST(LineReader, LinesBeforeAReadErrorCome) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* mapped = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  auto* text = static_cast<char*>(mapped);
  ASSERT_EQ(munmap(text + page, page), 0);
  std::memset(text, 'x', page);
  text[10] = text[20] = '\n';  // two lines, and one that is cut off
  const int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (fd < 0) GTEST_SKIP() << "there is no /proc here";
  ASSERT_GT(lseek(fd, static_cast<off_t>(reinterpret_cast<uintptr_t>(text)), SEEK_SET), 0);
  const InputOf input(fd);
  LineReader reader(InputFile::standard_input());
  std::vector<Line> lines;
  for (std::vector<Line> some = reader.read(1); !some.empty(); some = reader.read(1))
    lines.insert(lines.end(), some.begin(), some.end());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].text, std::string(10, 'x'));
  EXPECT_EQ(lines[1].text, std::string(9, 'x'));
  EXPECT_EQ(reader.error(), EIO);
  munmap(text, page);
}

TEST(LineReader, WhatIsThereIsGivenBeforeAReadThatWaits) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  // As much as one read takes, to the byte.
  const std::string text(size_t{1} << 16, '\n');
  ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  const InputOf input(ends[0]);
  LineReader reader(InputFile::standard_input());
  EXPECT_EQ(reader.read(size_t{1} << 20).size(), text.size());  // and does not hang: the other end is open
  close(ends[1]);
  EXPECT_TRUE(reader.read(1).empty());
}

}  // namespace
}  // namespace lapilli::cli
