// Files as they are, whole.
#include "base/mapped_file.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "base/path.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

TEST(MappedFile, HoldsEachByteOfTheFile) {
  const TempDirectory directory;
  const std::string content("lines\r\nof text\n\x1a and a zero: \0.", 31);
  const auto file = MappedFile::open(directory.write("été", content));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(text_of(*file), content);
  file->let_go(0, content.size());
  EXPECT_EQ(text_of(*file), content);
  const auto empty = MappedFile::open(directory.write("empty", ""));
  ASSERT_TRUE(empty.ok()) << empty.error().message;
  EXPECT_TRUE(empty->bytes().empty());
}

TEST(MappedFile, GetsANewNameWhileItIsMapped) {
  const TempDirectory directory;
  const std::string path = directory.write("file", "content"), renamed = directory.path() + "/renamed";
  std::optional<MappedFile> copy;
  {
    const auto file = MappedFile::open(path);
    ASSERT_TRUE(file.ok()) << file.error().message;
    copy = *file;
  }
  EXPECT_TRUE(rename_file(path, renamed)) << std::strerror(errno);
  EXPECT_EQ(text_of(*copy), "content");
  copy.reset();
  EXPECT_TRUE(remove_file(renamed));
}

TEST(MappedFile, SaysWhatItCannotOpen) {
  const TempDirectory directory;
  for (const std::string& path : {directory.path(), directory.path() + "/none"}) {
    const auto file = MappedFile::open(path);
    ASSERT_FALSE(file.ok());
    EXPECT_EQ(file.error().code, ErrorCode::not_found);
    EXPECT_NE(file.error().message.find(path), std::string::npos) << file.error().message;
  }
}

}  // namespace
}  // namespace lapilli
