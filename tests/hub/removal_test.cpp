// Removing what was fetched, and nothing else.
#include "hub/removal.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file_lock.hpp"
#include "base/path.hpp"
#include "fetched/cache.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::hub {
namespace {

namespace fs = std::filesystem;

class HubRemoval : public testing::Test {
 protected:
  // A commit of owner/model with a file of so many bytes; without a manifest its fetch did not end.
  std::string add(char digit, const std::string& asked_for, size_t bytes, bool whole = true) {
    const std::string place = directory_of(folder.path(), model, std::string(40, digit));
    fs::create_directories(place);
    folder.write("owner/model/" + std::string(40, digit) + "/config.json", std::string(bytes, 'x'));
    if (whole) {
      EXPECT_TRUE(write_manifest(place, {"owner/model", std::string(40, digit), asked_for, "", time_now(), {}}).ok());
    }
    return place;
  }
  Result<Removed> remove(const std::string& name) { return remove_fetched(folder.path(), *parse_model_name(name)); }

  TempDirectory folder;
  const ModelName model = *parse_model_name("owner/model");
};

TEST_F(HubRemoval, EveryCommitAndTheFoldersAbove) {
  const std::string a = add('a', "main", 1000), b = add('b', "v1", 100), begun = add('c', "", 10, false);
  const uint64_t manifests = file_size(a + "/" + kManifest) + file_size(b + "/" + kManifest);
  const auto removed = remove("owner/model");
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_EQ(removed->bytes, 1110 + manifests);
  EXPECT_EQ(removed->directories, (std::vector<std::string>{a, b, begun}));
  EXPECT_FALSE(directory_exists(folder.path() + "/owner"));
  EXPECT_EQ(remove("owner/model").error().code, ErrorCode::not_found);
}

TEST_F(HubRemoval, OneRevision) {
  const std::string a = add('a', "main", 1000), b = add('b', "v1", 100), c = add('c', "", 10, false);
  EXPECT_EQ(remove("owner/model@v2").error().code, ErrorCode::not_found);
  EXPECT_EQ(remove("owner/model@v1")->directories, std::vector<std::string>{b});
  EXPECT_EQ(remove("owner/model@ccccccc")->directories, std::vector<std::string>{c});
  EXPECT_TRUE(read_manifest(a).has_value());
}

TEST_F(HubRemoval, OtherThingsStay) {
  add('a', "main", 1000);
  folder.write("owner/model/notes.txt", "mine");
  fs::create_directories(folder.path() + "/owner/model/other");
  ASSERT_TRUE(remove("owner/model").ok());
  EXPECT_EQ(names_in(folder.path() + "/owner/model"), (std::vector<std::string>{"notes.txt", "other"}));
  EXPECT_EQ(remove("owner/model").error().code, ErrorCode::not_found);
}

TEST_F(HubRemoval, NothingThatALinkLeadsTo) {
  const TempDirectory elsewhere;
  elsewhere.write("precious", "data");
  const std::string commit(40, 'a');
  fs::create_directories(elsewhere.path() + "/model/" + commit);
  // A link in the commit goes, and what it leads to stays.
  fs::create_directory_symlink(elsewhere.path(), add('a', "main", 10) + "/away");
  EXPECT_TRUE(remove("owner/model").ok());
  // Nobody follows one on the way.
  fs::create_directory_symlink(elsewhere.path(), folder.path() + "/owner");
  EXPECT_EQ(remove("owner/model").error().code, ErrorCode::unsupported);
  fs::remove(folder.path() + "/owner");
  fs::create_directories(folder.path() + "/owner/other");
  fs::create_directory_symlink(elsewhere.path() + "/model", folder.path() + "/owner/model");
  EXPECT_EQ(remove("owner/model").error().code, ErrorCode::unsupported);
  fs::create_directory_symlink(elsewhere.path(), folder.path() + "/owner/other/" + commit);
  EXPECT_EQ(remove("owner/other").error().code, ErrorCode::unsupported);
  EXPECT_EQ(read_file(elsewhere.path() + "/precious"), "data");
  EXPECT_TRUE(directory_exists(elsewhere.path() + "/model/" + commit));
}

TEST_F(HubRemoval, FoldersOfSteps) {
  const TempDirectory elsewhere;
  elsewhere.write("precious", "data");
  const std::string place = add('a', "main", 1000), inner = "owner/model/" + std::string(40, 'a') + "/1_Pooling";
  fs::create_directories(folder.path() + "/" + inner);
  folder.write(inner + "/config.json", std::string(100, 'x'));
  fs::create_directory_symlink(elsewhere.path(), folder.path() + "/" + inner + "/away");
  fs::create_directory_symlink(elsewhere.path(), place + "/2_Dense");
  const uint64_t manifest = file_size(place + "/" + kManifest);
  const auto removed = remove("owner/model");
  ASSERT_TRUE(removed.ok()) << removed.error().message;
  EXPECT_EQ(removed->bytes, 1100 + manifest);
  EXPECT_FALSE(directory_exists(folder.path() + "/owner"));
  EXPECT_EQ(read_file(elsewhere.path() + "/precious"), "data");
}

TEST_F(HubRemoval, NotWhileItIsFetched) {
  const std::string place = add('a', "main", 10);
  {
    const auto lock = FileLock::take(place + "/.lock");
    ASSERT_TRUE(lock.has_value());
    EXPECT_NE(remove("owner/model").error().message.find("another lapilli fetches it"), std::string::npos);
    EXPECT_TRUE(read_manifest(place).has_value());
  }
  EXPECT_TRUE(remove("owner/model").ok());
}

}  // namespace
}  // namespace lapilli::hub
