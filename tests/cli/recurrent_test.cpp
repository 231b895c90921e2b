// The program with a recurrent decoder whose directory has no tokenizer: ids in, ids out.
#include "cli/program.hpp"

namespace lapilli::test {
namespace {

constexpr const char* kRecurrent = LAPILLI_TEST_DATA "/models/transfo-xl/model";

TEST(CliDevice, GenerateContinuesIdsWithARecurrence) {
  const Outcome outcome = run(lapilli({"generate", "--quiet", "--ids", "--model", kRecurrent, "--max-new-tokens", "8",
                                       "121 106 109 132 69 58 97 117 17 101 36 37"}));
  EXPECT_EQ(outcome.out, "33 41 6 5 11 14 14 14\n") << outcome.err;
}

// The prompt is longer than the memory and than what runs at once.
TEST(CliDevice, GenerateContinuesLongPromptsWithARecurrence) {
  std::string prompt;
  for (int i = 0; i < 700; ++i) prompt += std::to_string(20 + i * 37 % 120) + " ";
  const auto continued = [&](const std::string& ids) {
    return run(lapilli({"generate", "--quiet", "--ids", "--model", kRecurrent, "--max-new-tokens", "6", ids})).out;
  };
  // The model sees its memory of 8 ids in each of 3 layers.
  std::string end = prompt;
  for (int i = 0; i < 700 - 40; ++i) end = end.substr(end.find(' ') + 1);
  EXPECT_EQ(continued(prompt), continued(end));
  EXPECT_EQ(lines_of(continued(prompt)).size(), 1u);
}

}  // namespace
}  // namespace lapilli::test
