// Files by name, with names of any script.
#include "base/path.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/files.hpp"
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
  EXPECT_EQ(file_kind("/dev/null"), FileKind::other);
  EXPECT_FALSE(directory_exists(file));
  EXPECT_FALSE(file_exists(folder.path()));
  EXPECT_EQ(file_kind(file + "/below"), FileKind::none);
  EXPECT_EQ(errno, ENOTDIR);
  EXPECT_EQ(file_kind(""), FileKind::none);
  EXPECT_EQ(file_size(folder.path() + "/none"), 0u);
  EXPECT_FALSE(resize_file(folder.path() + "/none", 1));
  EXPECT_EQ(file_kind("\xff\xfe"), FileKind::none);  // not UTF-8
}

TEST(Path, FilesAreWrittenAndRenamed) {
  const TempDirectory folder;
  const std::string a = folder.path() + "/été", b = folder.write("b", "old");
  for (const auto& [append, content] : {std::pair{true, "x"}, std::pair{true, "xx"}, std::pair{false, "x"}}) {
    const int fd = open_to_write(a, append);
    ASSERT_GE(fd, 0);
    EXPECT_EQ(::write(fd, "x", 1), 1);
    EXPECT_EQ(::close(fd), 0);
    EXPECT_EQ(read_text_file(a).value(), content);
  }
  EXPECT_GT(file_time(a), 0u);
  EXPECT_FALSE(same_file(a, b));
  ASSERT_TRUE(rename_file(a, b));
  EXPECT_EQ(read_text_file(b).value(), "x");
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
  ASSERT_EQ(::symlink("été", (folder.path() + "/link").c_str()), 0);
  ASSERT_EQ(::symlink("b", (folder.path() + "/c").c_str()), 0);
  std::vector<FolderEntry> entries;
  ASSERT_TRUE(list_folder(folder.path(), entries));
  const std::pair<std::string, FileKind> expected[] = {{"a", FileKind::regular},
                                                       {"b", FileKind::regular},
                                                       {"c", FileKind::regular},
                                                       {"link", FileKind::other},
                                                       {"été", FileKind::directory}};
  ASSERT_EQ(entries.size(), std::size(expected));
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].name, expected[i].first);
    EXPECT_EQ(entries[i].kind, expected[i].second) << entries[i].name;
  }
  EXPECT_FALSE(list_folder(folder.path() + "/none", entries));
  EXPECT_EQ(errno, ENOENT);
  EXPECT_FALSE(make_directories(folder.path() + "/a/below"));
}

TEST(Path, LinksAreFollowed) {
  const TempDirectory folder;
  ASSERT_EQ(::mkdir((folder.path() + "/été").c_str(), 0700), 0);
  const std::string file = folder.write("été/file", "x"), link = folder.path() + "/link";
  ASSERT_EQ(::symlink("été/file", link.c_str()), 0);
  EXPECT_EQ(file_kind(link), FileKind::regular);
  EXPECT_EQ(link_target(link), "été/file");
  EXPECT_EQ(link_target(file), "");
  EXPECT_EQ(real_folder(link), real_folder(file));
  EXPECT_TRUE(real_folder(link).ends_with("/été")) << real_folder(link);
  EXPECT_EQ(normal_path("/a/./b/../été"), "/a/été");
}

TEST(Path, DescriptorsAreNotInherited) {
  const TempDirectory folder;
  const int fd = open_to_read(folder.write("file", "x"));
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(::fcntl(fd, F_GETFD) & FD_CLOEXEC);
  ::close(fd);
  EXPECT_LT(open_to_read(folder.path() + "/none"), 0);
  EXPECT_EQ(errno, ENOENT);
}

TEST(Path, Environment) {
  ::setenv("LAPILLI_TEST_VARIABLE", "/tmp/été", 1);
  EXPECT_EQ(environment("LAPILLI_TEST_VARIABLE"), "/tmp/été");
  ::unsetenv("LAPILLI_TEST_VARIABLE");
  EXPECT_EQ(environment("LAPILLI_TEST_VARIABLE"), "");
}

}  // namespace
}  // namespace lapilli
