// Blobs in a folder: whole or not there, whatever stands in the way.
#include "base/store.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "base/log.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

namespace fs = std::filesystem;

Blob blob(size_t bytes, int value) { return Blob(bytes, static_cast<std::byte>(value)); }

class BaseStore : public testing::Test {
 protected:
  void SetUp() override {
    set_log_hook([this](LogLevel level, const std::string& text) {
      if (level == LogLevel::note) notes_.push_back(text);
    });
  }
  void TearDown() override { set_log_hook({}); }
  TempDirectory folder_;
  std::string kept_ = folder_.path() + "/a/b";
  std::vector<std::string> notes_;
};

TEST_F(BaseStore, IsReadByTheNext) {
  EXPECT_FALSE(folder_store(kept_)->load("one"));
  EXPECT_FALSE(fs::exists(kept_));  // until there is something to save
  ASSERT_TRUE(folder_store(kept_)->save("one", blob(100'000, 1)));
  ASSERT_TRUE(folder_store(kept_)->save("two", blob(3, 2)));
  EXPECT_EQ(folder_store(kept_)->load("one"), blob(100'000, 1));
  ASSERT_TRUE(folder_store(kept_)->save("one", blob(5, 3)));
  EXPECT_EQ(folder_store(kept_)->load("one"), blob(5, 3));
  EXPECT_EQ(folder_store(kept_)->load("two"), blob(3, 2));
  ASSERT_TRUE(folder_store(kept_)->save("one", {}));
  EXPECT_FALSE(folder_store(kept_)->load("one"));
  EXPECT_TRUE(folder_store(kept_)->save("one", {}));  // nothing to remove is as wanted
  EXPECT_TRUE(notes_.empty());
}

TEST_F(BaseStore, WhatCannotBeWrittenLeavesWhatWasThere) {
  const auto store = folder_store(kept_);
  ASSERT_TRUE(store->save("one", blob(10, 1)));
  fs::create_directories(kept_ + "/one.part/x");  // no file of that name can be made
  EXPECT_FALSE(store->save("one", blob(10, 2)));
  EXPECT_FALSE(store->save("one", blob(10, 3)));
  EXPECT_EQ(store->load("one"), blob(10, 1));
  ASSERT_EQ(notes_.size(), 1u);  // it would be the same each time
  EXPECT_NE(notes_[0].find("one cannot be written"), std::string::npos) << notes_[0];
}

TEST_F(BaseStore, FoldersThatCannotBe) {
  const auto store = folder_store(folder_.write("file", "text") + "/below");
  EXPECT_FALSE(store->load("one"));
  EXPECT_FALSE(store->save("one", blob(10, 1)));
  EXPECT_FALSE(store->load("one"));
  EXPECT_NE(store->hold("one"), nullptr);
  EXPECT_EQ(notes_.size(), 1u);
}

TEST_F(BaseStore, WhatIsNoFileIsNotThere) {
  fs::create_directories(kept_ + "/one/x");
  const auto store = folder_store(kept_);
  EXPECT_FALSE(store->load("one"));
  EXPECT_FALSE(store->save("one", blob(10, 1)));
  EXPECT_TRUE(store->save("one", {}));  // nothing is loaded from it
}

TEST_F(BaseStore, OneHoldsAName) {
  const auto a = folder_store(kept_), b = folder_store(kept_);
  auto held = a->hold("one");
  ASSERT_NE(held, nullptr);
  EXPECT_EQ(b->hold("one"), nullptr);
  EXPECT_EQ(a->hold("one"), nullptr);
  EXPECT_NE(b->hold("two"), nullptr);
  EXPECT_TRUE(b->save("one", blob(10, 1)));  // holding is not writing
  held.reset();
  EXPECT_NE(b->hold("one"), nullptr);
}

TEST_F(BaseStore, ReadersSeeWholeBlobs) {
  ASSERT_TRUE(folder_store(kept_)->save("one", blob(50'000, 0)));
  std::vector<std::thread> writers;
  for (int writer = 1; writer <= 3; ++writer)
    writers.emplace_back([&, writer] {
      for (int i = 0; i < 30; ++i) folder_store(kept_)->save("one", blob(50'000, writer));
    });
  for (int i = 0; i < 200; ++i) {
    const auto read = folder_store(kept_)->load("one");
    ASSERT_TRUE(read && read->size() == 50'000);
    EXPECT_EQ(*read, Blob(50'000, read->front()));
  }
  for (std::thread& writer : writers) writer.join();
}

TEST(BaseChecksum, EveryByteCounts) {
  const Blob bytes = blob(300, 7);
  for (size_t i = 0; i < bytes.size(); ++i) {
    Blob other = bytes;
    other[i] ^= std::byte{1};
    EXPECT_NE(checksum(other), checksum(bytes)) << i;
  }
  const std::span whole(bytes);
  EXPECT_EQ(checksum(whole.subspan(100), checksum(whole.first(100))), checksum(bytes));
}

}  // namespace
}  // namespace lapilli
