// Links, devices and descriptors, which Windows has not or has otherwise.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "base/path.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

TEST(Path, KindsOfFilesOfPosix) {
  const TempDirectory folder;
  EXPECT_EQ(file_kind("/dev/null"), FileKind::other);
  EXPECT_EQ(file_kind(folder.write("file", "x") + "/below"), FileKind::none);
  EXPECT_EQ(errno, ENOTDIR);
}

TEST(Path, LinksAreListedAsWhatTheyLeadTo) {
  const TempDirectory folder;
  ASSERT_TRUE(make_directories(folder.path() + "/été"));
  folder.write("b", "x");
  ASSERT_EQ(::symlink("été", (folder.path() + "/link").c_str()), 0);
  ASSERT_EQ(::symlink("b", (folder.path() + "/c").c_str()), 0);
  std::vector<FolderEntry> entries;
  ASSERT_TRUE(list_folder(folder.path(), entries));
  const std::pair<std::string, FileKind> expected[] = {
      {"b", FileKind::regular}, {"c", FileKind::regular}, {"link", FileKind::other}, {"été", FileKind::directory}};
  ASSERT_EQ(entries.size(), std::size(expected));
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].name, expected[i].first);
    EXPECT_EQ(entries[i].kind, expected[i].second) << entries[i].name;
  }
}

TEST(Path, LinksAreFollowed) {
  const TempDirectory folder;
  ASSERT_TRUE(make_directories(folder.path() + "/été"));
  const std::string file = folder.write("été/file", "x"), link = folder.path() + "/link";
  ASSERT_EQ(::symlink("été/file", link.c_str()), 0);
  EXPECT_EQ(file_kind(link), FileKind::regular);
  EXPECT_EQ(link_target(link), "été/file");
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
}

}  // namespace
}  // namespace lapilli
