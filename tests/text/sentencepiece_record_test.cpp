// What the SentencePiece library, version 0.2, made of some texts (tests/sentencepiece/fuzz.py --record).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/sentencepiece_answers.hpp"

namespace lapilli {
namespace {

// The questions of one file with other answers than recorded; gives how many there were.
size_t compare_record(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  const std::string file = line.substr(line.find(' ') + 1);
  const auto model = SentencePieceModel::load(LAPILLI_SOURCE_DIR "/" + file);
  if (!model) {
    ADD_FAILURE() << path << ": " << model.error().message;
    return 0;
  }
  size_t questions = 0;
  for (; std::getline(in, line); ++questions) {
    const size_t mark = line.find(" = ");
    EXPECT_EQ(sentencepiece_answer(*model, line.substr(0, mark)), line.substr(mark + 3)) << file << ": " << line;
  }
  return questions;
}

TEST(SentencePieceRecord, AgreesWithTheLibrary) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LAPILLI_TEST_DATA "/sentencepiece")) {
    if (entry.path().extension() != ".txt") continue;
    EXPECT_GT(compare_record(entry.path()), 50u) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 9u);
}

}  // namespace
}  // namespace lapilli
