// Checkpoints whose files are not in memory: the same values as mapped ones, and an error for each reading that fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "formats/checkpoint.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

struct Reads {
  size_t count = 0, fails_at = ~size_t{0}, largest = 0;
};

class ReadContent final : public FileContent {
 public:
  ReadContent(std::string content, Reads& reads) : content_(std::move(content)), reads_(reads) {}
  [[nodiscard]] uint64_t size() const override { return content_.size(); }
  Status read(uint64_t offset, std::span<std::byte> to) override {
    if (reads_.count++ == reads_.fails_at) return fail(ErrorCode::timeout, "no answer");
    reads_.largest = std::max(reads_.largest, to.size());
    EXPECT_LE(offset + to.size(), content_.size());
    std::memcpy(to.data(), content_.data() + offset, to.size());
    return {};
  }

 private:
  const std::string content_;
  Reads& reads_;
};

// The files of a directory, which are read and not mapped.
class ReadDirectory final : public FileSource {
 public:
  ReadDirectory(std::string directory, Reads& reads) : directory_(std::move(directory)), reads_(reads) {}
  Result<std::unique_ptr<FileContent>> open(const std::string& name) override {
    const std::string path = directory_ + "/" + name;
    if (!std::filesystem::exists(path)) return fail(ErrorCode::not_found, "none");
    return std::unique_ptr<FileContent>(std::make_unique<ReadContent>(read_file(path), reads_));
  }

 private:
  const std::string directory_;
  Reads& reads_;
};

// Opens the checkpoint and reads all of its tensors.
Status read_all(const Files& files, std::map<std::string, std::vector<float>>& values) {
  LAPILLI_TRY(const auto checkpoint, Checkpoint::open(files));
  for (const auto& tensor : checkpoint.tensors()) {
    if (tensor.type > StoredType::bf16) continue;  // no floats
    LAPILLI_TRY(values[tensor.name], read_floats(tensor));
    if (!same_values(tensor, tensor)) return fail(ErrorCode::internal, "not itself");
  }
  values["bytes"] = {static_cast<float>(checkpoint.total_bytes())};
  return {};
}

class ReadFiles : public testing::TestWithParam<const char*> {};

TEST_P(ReadFiles, GiveWhatMappedOnesGive) {
  std::map<std::string, std::vector<float>> mapped, read;
  ASSERT_TRUE(read_all(model_directory(GetParam()), mapped).ok());
  Reads reads;
  const Files files(std::make_unique<ReadDirectory>(model_directory(GetParam()), reads), "");
  const Status status = read_all(files, read);
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_GT(mapped.size(), 10u);
  EXPECT_EQ(read, mapped);
  EXPECT_TRUE(files.failure().ok());
}

TEST_P(ReadFiles, EveryReadingThatFails) {
  Reads all;
  std::map<std::string, std::vector<float>> values;
  ASSERT_TRUE(read_all(Files(std::make_unique<ReadDirectory>(model_directory(GetParam()), all), ""), values).ok());
  for (size_t i = 0; i < all.count; ++i) {
    Reads reads;
    reads.fails_at = i;
    const Files files(std::make_unique<ReadDirectory>(model_directory(GetParam()), reads), "");
    const Status status = read_all(files, values);
    EXPECT_FALSE(status.ok()) << "reading " << i;
    ASSERT_FALSE(files.failure().ok());
    EXPECT_EQ(files.failure().error().code, ErrorCode::timeout);
  }
}

TEST_P(ReadFiles, TiedTensorsAreFoundInEither) {
  Reads reads;
  const Files files(std::make_unique<ReadDirectory>(model_directory(GetParam()), reads), "");
  const auto read = Checkpoint::open(files), mapped = Checkpoint::open(model_directory(GetParam()));
  ASSERT_TRUE(read.ok() && mapped.ok());
  for (const auto& a : mapped->tensors()) EXPECT_TRUE(same_values(a, *read->find(a.name))) << a.name;
  for (size_t i = 1; i < read->tensors().size(); ++i)
    EXPECT_EQ(same_values(read->tensors()[i - 1], read->tensors()[i]),
              same_values(mapped->tensors()[i - 1], mapped->tensors()[i]));
}

INSTANTIATE_TEST_SUITE_P(Forms, ReadFiles,
                         testing::Values("marian/model", "marian/model-pytorch", "marian/model-pytorch-legacy",
                                         "marian-half/model-bf16", "t5/model"));

}  // namespace
}  // namespace lapilli
