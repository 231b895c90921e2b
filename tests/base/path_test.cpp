// Files by name, with names of any script.
#include "base/path.hpp"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/files.hpp"
#include "support/environment.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

TEST(Path, NamesOfAnyScript) {
  const TempDirectory folder;
  for (const char* name : {"plain", "été", "站", "شكرا", "😀", "with space"}) {
    const std::string path = folder.path() + "/" + name;
    EXPECT_EQ(file_kind(path), FileKind::none);
    EXPECT_EQ(errno, ENOENT);
    std::FILE* file = open_stream(path, "wb");
    ASSERT_NE(file, nullptr) << path;
    std::fputs("content", file);
    std::fclose(file);
    EXPECT_TRUE(file_exists(path));
    EXPECT_EQ(file_size(path), 7u);
    EXPECT_EQ(read_text_file(path).value(), "content");
    EXPECT_TRUE(resize_file(path, 3));
    EXPECT_EQ(read_text_file(path).value(), "con");
    EXPECT_TRUE(remove_file(path));
    EXPECT_FALSE(remove_file(path));
    EXPECT_EQ(open_stream(path, "rb"), nullptr);
  }
}

TEST(Path, KindsOfFiles) {
  const TempDirectory folder;
  const std::string file = folder.write("file", "x");
  EXPECT_EQ(file_kind(file), FileKind::regular);
  EXPECT_EQ(file_kind(folder.path()), FileKind::directory);
  EXPECT_FALSE(directory_exists(file));
  EXPECT_FALSE(file_exists(folder.path()));
  EXPECT_EQ(file_kind(file + "/below"), FileKind::none);
  EXPECT_EQ(file_kind(""), FileKind::none);
  EXPECT_EQ(file_size(folder.path() + "/none"), 0u);
  EXPECT_FALSE(resize_file(folder.path() + "/none", 1));
  EXPECT_EQ(file_kind("\xff\xfe"), FileKind::none);  // not UTF-8
}

TEST(Path, FilesAreWrittenAndRenamed) {
  const TempDirectory folder;
  const std::string a = folder.path() + "/été", b = folder.write("b", "old");
  for (const auto& [append, content] : {std::pair{true, "\n"}, std::pair{true, "\n\n"}, std::pair{false, "\n"}}) {
    const int fd = open_to_write(a, append);
    ASSERT_GE(fd, 0);
    std::FILE* file = ::fdopen(fd, "wb");
    EXPECT_EQ(std::fputc('\n', file), '\n');  // which is written as it is
    EXPECT_EQ(std::fclose(file), 0);
    EXPECT_EQ(read_text_file(a).value(), content);
  }
  EXPECT_GT(file_time(a), 0u);
  EXPECT_FALSE(same_file(a, b));
  ASSERT_TRUE(rename_file(a, b));
  EXPECT_EQ(read_text_file(b).value(), "\n");
  EXPECT_FALSE(file_exists(a));
  EXPECT_TRUE(same_file(b, folder.path() + "/../" + folder.path().substr(folder.path().rfind('/')) + "/b"));
  EXPECT_FALSE(same_file(a, a)) << "it is not there";
  EXPECT_FALSE(rename_file(a, b));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(open_to_write(folder.path() + "/none/a", false), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST(Path, FoldersAreMadeAndListed) {
  const TempDirectory folder;
  ASSERT_TRUE(make_directories(folder.path() + "/été/deep"));
  EXPECT_TRUE(make_directories(folder.path() + "/été/deep"));
  folder.write("b", "x");
  folder.write("a", "x");
  std::vector<FolderEntry> entries;
  ASSERT_TRUE(list_folder(folder.path(), entries));
  const std::pair<std::string, FileKind> expected[] = {
      {"a", FileKind::regular}, {"b", FileKind::regular}, {"été", FileKind::directory}};
  ASSERT_EQ(entries.size(), std::size(expected));
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].name, expected[i].first);
    EXPECT_EQ(entries[i].kind, expected[i].second) << entries[i].name;
  }
  EXPECT_FALSE(list_folder(folder.path() + "/none", entries));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(make_directories(folder.path() + "/a/below"));
}

TEST(Path, FoldersOfFiles) {
  const TempDirectory folder;
  const std::string file = folder.write("file", "x");
  EXPECT_EQ(link_target(file), "");
  EXPECT_TRUE(same_file(real_folder(file), folder.path())) << real_folder(file);
  EXPECT_EQ(normal_path("/a/./b/../été"), normal_path("/a/été"));
}

TEST(Path, WhatIsNotThereIsNotOpened) {
  const TempDirectory folder;
  EXPECT_LT(open_to_read(folder.path() + "/none"), 0);
  EXPECT_EQ(errno, ENOENT);
}

TEST(Path, Environment) {
  test::set_environment("LAPILLI_TEST_VARIABLE", "/tmp/été");
  EXPECT_EQ(environment("LAPILLI_TEST_VARIABLE"), "/tmp/été");
  test::set_environment("LAPILLI_TEST_VARIABLE", "");
  EXPECT_EQ(environment("LAPILLI_TEST_VARIABLE"), "");
}

}  // namespace
}  // namespace lapilli
