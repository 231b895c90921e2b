// Inputs that people type first come out right: tests/data/first_inputs.md tells the conditions.
#include <algorithm>
#include <regex>

#include "cli/program.hpp"

namespace lapilli::test {
namespace {

using nlohmann::json;

size_t code_points(const std::string& text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

bool matches(const std::string& text, const json& expression) {
  return std::regex_search(text, std::regex(expression.get<std::string>(), std::regex::icase));
}

// Without blanks around it.
std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n"), end = text.find_last_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, end - begin + 1);
}

// Runs of signs that end a sentence, with something before them, and what stands behind the last.
size_t sentences(const std::string& text) {
  static const std::regex end(
      "(?:[.!?]|\xe2\x80\xa6)+(?:[\"')\\]]|\xc2\xbb|\xe2\x80\x9d|\xe2\x80\x99|[ ]?\xc2\xa0\xc2\xbb)*"
      "(?:[ ]|\xc2\xa0|\xe2\x80\xaf|$)");
  size_t count = 0, at = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), end), none; match != none; ++match) {
    const auto begin = static_cast<size_t>(match->position());
    const std::string before = text.substr(at, begin - at);
    if (std::any_of(before.begin(), before.end(), [](unsigned char c) { return std::isalnum(c) || c >= 0xc3; }))
      ++count;
    at = begin + static_cast<size_t>(match->length());
  }
  return count + (trimmed(text.substr(at)).empty() ? 0 : 1);
}

// The fault of the output; "" if it has none.
std::string wrong(const json& wanted, const std::string& output) {
  if (output.empty()) return "nothing came out";
  if (code_points(output) > 3 * code_points(wanted["input"]) + 20) return "too long";
  for (const char* never : {"<unk>", "</s>", "\xe2\x81\x87", "\xe2\x96\x81", "\xef\xbf\xbd"})
    if (contains(output, never)) return std::string("has ") + never;
  if (const auto exact = wanted.find("exact");
      exact != wanted.end() && std::find(exact->begin(), exact->end(), output) == exact->end())
    return "is none of the texts that it must be";
  for (const json& e : wanted.value("accept", json::array()))
    if (!matches(output, e)) return "lacks " + e.get<std::string>();
  for (const json& e : wanted.value("reject", json::array()))
    if (matches(output, e)) return "has " + e.get<std::string>();
  for (const json& text : wanted.value("keeps", json::array()))
    if (!contains(output, text)) return "lost " + text.get<std::string>();
  if (sentences(output) < wanted.value("sentences", size_t{0})) return "lost a sentence";
  return "";
}

std::vector<json> first_inputs() {
  std::ifstream file(LAPILLI_TEST_DATA "/first_inputs.jsonl");
  std::vector<json> all;
  for (std::string line; std::getline(file, line);) all.push_back(json::parse(line, nullptr, false));
  return all;
}

// The conditions are those of a good translation: the examples meet them, and inputs that come back untouched do not.
TEST(CliFirstInputs, ConditionsTellRightFromWrong) {
  const auto all = first_inputs();
  ASSERT_EQ(all.size(), 200u);
  for (const json& one : all) {
    EXPECT_EQ(wrong(one, one["example"]), "") << one["id"] << one["example"];
    EXPECT_EQ(wrong(one, ""), "nothing came out");
    if (!one.contains("exact") && one["kind"] != "already French" && one["input"] != "OK") {
      EXPECT_NE(wrong(one, trimmed(one["input"])), "") << one["id"] << one["input"];
    }
  }
  EXPECT_EQ(sentences("Un. Deux ! Trois"), 3u);
  EXPECT_EQ(sentences("??? ..."), 0u);
}

// The model's README says how many come out right.
TEST(CliDeviceFirstInputs, AsManyComeOutRightAsTheModelsReadmeSays) {
  const auto all = first_inputs();
  std::string lines;
  for (const json& one : all) lines += one["input"].get<std::string>() + "\n";
  const Outcome outcome = Process(lapilli({"translate", "--quiet", "--deterministic"})).finish(lines, 300);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto outputs = lines_of(outcome.out);
  ASSERT_EQ(outputs.size(), all.size());
  size_t usual = 0, hard = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string why = wrong(all[i], trimmed(outputs[i]));
    const bool is_hard = all[i].value("hard", false);
    if (why.empty()) ++(is_hard ? hard : usual);
    if (!why.empty())
      std::printf("%s%d %s\n    %s\n    %s\n", is_hard ? "hard " : "", all[i]["id"].get<int>(),
                  all[i]["input"].get<std::string>().c_str(), outputs[i].c_str(), why.c_str());
  }
  const std::string said = std::to_string(usual) + " of 170, and " + std::to_string(hard) + " of 30 hard ones";
  std::printf("%s\n", said.c_str());
  std::ifstream readme(bundled_model() + "/README.md");
  const std::string page{std::istreambuf_iterator<char>(readme), {}};
  EXPECT_TRUE(contains(page, said)) << "models/en-fr/README.md does not say " << said;
}

}  // namespace
}  // namespace lapilli::test
