// Recorded results of the SentencePiece library, version 0.2, for some texts (tests/sentencepiece/fuzz.py --record).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/sentencepiece_answers.hpp"

namespace lapilli {
namespace {

TEST(SentencePieceRecord, AgreesWithTheLibrary) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LAPILLI_TEST_DATA "/sentencepiece")) {
    if (entry.path().extension() != ".txt") continue;
    const auto record = compare_sentencepiece_record(entry.path().string(), LAPILLI_SOURCE_DIR);
    EXPECT_THAT(record.wrong, testing::IsEmpty());
    EXPECT_GT(record.questions, 50u) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 9u);
}

}  // namespace
}  // namespace lapilli
