// Files by name that come from elsewhere than a directory.
#include "base/files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "base/path.hpp"
#include "support/open_descriptor.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using test::OpenDescriptor;
using testing::HasSubstr;

struct Record {
  std::map<std::string, std::string> files;
  std::map<std::string, ErrorCode> broken;  // cannot be opened
  int opens = 0, closes = 0;
  bool reads_fail = false;
};

class RecordedContent final : public FileContent {
 public:
  RecordedContent(Record& record, const std::string& content) : record_(record), content_(content) {}
  ~RecordedContent() override { ++record_.closes; }
  RecordedContent(const RecordedContent&) = delete;
  RecordedContent& operator=(const RecordedContent&) = delete;
  [[nodiscard]] uint64_t size() const override { return content_.size(); }
  Status read(uint64_t offset, std::span<std::byte> to) override {
    if (record_.reads_fail) return fail(ErrorCode::timeout, "too slow");
    std::memcpy(to.data(), content_.data() + offset, to.size());
    return {};
  }

 private:
  Record& record_;
  const std::string content_;
};

class RecordedSource final : public FileSource {
 public:
  explicit RecordedSource(Record& record) : record_(record) {}
  Result<std::unique_ptr<FileContent>> open(const std::string& name) override {
    ++record_.opens;
    if (record_.broken.contains(name)) return fail(record_.broken[name], "broken");
    if (!record_.files.contains(name)) return fail(ErrorCode::not_found, "none");
    return std::unique_ptr<FileContent>(std::make_unique<RecordedContent>(record_, record_.files[name]));
  }

 private:
  Record& record_;
};

TEST(Files, EachIsOpenedOnceAndClosedWithTheLastCopy) {
  Record record;
  record.files["a"] = "text of a";
  {
    const Files files(std::make_unique<RecordedSource>(record), "pak");
    const Files copy = files;
    EXPECT_TRUE((files / "a").there());
    EXPECT_FALSE((files / "b").there());
    EXPECT_FALSE((copy / "b").there());
    EXPECT_EQ(read_text_file(copy / "a").value(), "text of a");
    EXPECT_EQ(record.opens, 2);
    EXPECT_EQ((files / "a").path(), "pak/a");
    const auto missing = File::open(files / "b");
    ASSERT_FALSE(missing.ok());
    EXPECT_EQ(missing.error().code, ErrorCode::not_found);
    EXPECT_THAT(missing.error().message, HasSubstr("pak/b"));
    EXPECT_TRUE(files.failure().ok());
    EXPECT_EQ(record.closes, 0);
  }
  EXPECT_EQ(record.closes, 1);
}

TEST(Files, WhatIsOpenOutlivesThem) {
  Record record;
  record.files["a"] = "text";
  File file;
  {
    const Files files(std::make_unique<RecordedSource>(record), "");
    auto opened = File::open(files / "a");
    ASSERT_TRUE(opened.ok());
    file = *opened;
  }
  EXPECT_EQ(record.closes, 0);
  record.reads_fail = true;
  EXPECT_FALSE(file.view(0, 1).ok());
  file = {};
  EXPECT_EQ(record.closes, 1);
}

TEST(Files, TheFirstFailureIsKept) {
  Record record;
  record.files["a"] = "text";
  record.broken = {{"b", ErrorCode::cancelled}, {"c", ErrorCode::internal}};
  const Files files(std::make_unique<RecordedSource>(record), "");
  EXPECT_TRUE((files / "b").there());  // so that opening it says why not
  EXPECT_FALSE(read_text_file(files / "c").ok());
  ASSERT_FALSE(files.failure().ok());
  EXPECT_EQ(files.failure().error().code, ErrorCode::cancelled);
  EXPECT_THAT(files.failure().error().message, HasSubstr("b: broken"));
}

TEST(Files, ReadingsAreWithinTheFile) {
  Record record;
  record.files["a"] = "0123456789";
  const Files files(std::make_unique<RecordedSource>(record), "");
  const auto opened = File::open(files / "a");
  ASSERT_TRUE(opened.ok());
  const auto view = opened->view(4, 3);
  ASSERT_TRUE(view.ok());
  const auto more = opened->view(0, 10);
  ASSERT_TRUE(more.ok());
  EXPECT_EQ(std::memcmp(view->data(), "456", 3), 0);  // still there
  EXPECT_EQ(std::memcmp(more->data(), "0123456789", 10), 0);
  EXPECT_TRUE(opened->view(10, 0).ok());
  for (const auto& [offset, bytes] : {std::pair<uint64_t, uint64_t>{10, 1},
                                      {11, 0},
                                      {0, 11},
                                      {~uint64_t{0}, 2},
                                      {2, ~uint64_t{0}},
                                      {0, uint64_t{1} << 62}}) {
    const auto beyond = opened->view(offset, bytes);
    ASSERT_FALSE(beyond.ok()) << offset << " " << bytes;
    EXPECT_EQ(beyond.error().code, ErrorCode::invalid_data);
  }
  EXPECT_TRUE(files.failure().ok());  // what was asked for was wrong, not the file
}

TEST(Files, ADirectoryIsAsItWas) {
  const TempDirectory folder;
  folder.write("a", "text");
  const Files files = folder.path();
  EXPECT_TRUE(files.are_there());
  EXPECT_FALSE(Files(folder.path() + "/none").are_there());
  EXPECT_TRUE((files / "a").there());
  EXPECT_FALSE((files / "b").there());
  EXPECT_EQ(read_text_file(files / "a").value(), "text");
  EXPECT_EQ((files / "a").path(), folder.path() + "/a");
  EXPECT_FALSE(read_text_file(files / "a", 3).ok());
  EXPECT_FALSE(read_text_file(files / "b").ok());
  EXPECT_TRUE(files.failure().ok());
}

FilePart in_descriptor(const char* name, int64_t descriptor, uint64_t offset, uint64_t bytes) {
  FilePart part;
  part.name = name;
  part.descriptor = descriptor;
  part.offset = offset;
  part.bytes = bytes;
  return part;
}

TEST(FileParts, ARangeOfADescriptor) {
  const TempDirectory folder;
  const OpenDescriptor pak = OpenDescriptor::of(folder.write("pak", "..hello.."));
  auto source = make_file_parts({in_descriptor("a", pak.value(), 2, 5), in_descriptor("end", pak.value(), 9, 0)});
  ASSERT_TRUE(source.ok());
  const Files files(std::move(*source), "");
  EXPECT_EQ(read_text_file(files / "a").value(), "hello");
  EXPECT_EQ(read_text_file(files / "end").value(), "");
  EXPECT_FALSE((files / "b").there());
}

TEST(FileParts, WhatIsNotThere) {
  const TempDirectory folder;
  OpenDescriptor pak = OpenDescriptor::of(folder.write("pak", "..hello.."));
  const int64_t fd = pak.value();
  const OpenDescriptor directory = OpenDescriptor::of(folder.path()), pipe = OpenDescriptor::of_pipe();
  ASSERT_TRUE(directory.value() != -1 && pipe.value() != -1);
  constexpr uint64_t kMax = ~uint64_t{0};
  const auto code = [](const FilePart& part) {
    const auto source = make_file_parts({part});
    if (source.ok()) return ErrorCode::ok;
    EXPECT_THAT(source.error().message, HasSubstr("part of it"));
    return source.error().code;
  };
  const char* name = "part of it";
  EXPECT_EQ(code(in_descriptor(name, fd, 0, 9)), ErrorCode::ok);
  EXPECT_EQ(code(in_descriptor(name, fd, 0, 10)), ErrorCode::invalid_data);
  EXPECT_EQ(code(in_descriptor(name, fd, 10, 0)), ErrorCode::invalid_data);
  EXPECT_EQ(code(in_descriptor(name, fd, kMax, 2)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(in_descriptor(name, fd, 2, kMax)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(in_descriptor(name, fd, uint64_t{1} << 62, uint64_t{1} << 62)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(in_descriptor(name, directory.value(), 0, 1)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(in_descriptor(name, pipe.value(), 0, 1)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(in_descriptor(name, -1, 0, 1)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(in_descriptor(name, int64_t{1} << 33, 0, 1)), ErrorCode::invalid_argument);
  pak.close();
  EXPECT_EQ(code(in_descriptor(name, fd, 0, 9)), ErrorCode::invalid_argument);
}

// Holes take no room on the disk, and what is mapped takes memory as it is read only.
TEST(LargeFiles, AreMappedWhereAddressesReachThem) {
  const TempDirectory directory;
  const std::string path = directory.write("large", "begin");
  constexpr uint64_t kBytes = uint64_t{5} << 30;
  ASSERT_TRUE(resize_file(path, kBytes));
  const auto file = File::open(FileName(path));
  if (sizeof(size_t) == 4) {
    ASSERT_FALSE(file.ok());
    EXPECT_THAT(file.error().message, HasSubstr("5368709120 bytes, more than a 32-bit program can map"));
    return;
  }
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->size(), kBytes);
  std::byte last{1};
  EXPECT_TRUE(file->read(kBytes - 1, {&last, 1}).ok());
  EXPECT_EQ(last, std::byte{0});
}

// Read in parts, a file of any size is good everywhere.
TEST(LargeFiles, AreReadThroughADescriptor) {
  const TempDirectory directory;
  const std::string path = directory.write("large", "begin");
  constexpr uint64_t kBytes = uint64_t{5} << 30;
  ASSERT_TRUE(resize_file(path, kBytes));
  const OpenDescriptor descriptor = OpenDescriptor::of(path);
  auto source = make_file_parts({in_descriptor("large", descriptor.value(), 0, kBytes)});
  ASSERT_TRUE(source.ok()) << source.error().message;
  const Files files(std::move(*source), "");
  const auto file = File::open(files / "large");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->size(), kBytes);
  std::byte last{1};
  EXPECT_TRUE(file->read(kBytes - 1, {&last, 1}).ok());
  EXPECT_EQ(last, std::byte{0});
}

}  // namespace
}  // namespace lapilli
