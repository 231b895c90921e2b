// Written documents, each with its translation, the words that say the same in both, and what must come out.
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.hpp"
#include "documents/document.hpp"

namespace lapilli::documents {
namespace {

// The word after its last use, as whole word.
size_t next_word(const std::string& text, const std::string& word, std::map<std::string, size_t>& used) {
  const auto letter = [&](size_t i) {
    return i < text.size() && (isalnum(static_cast<unsigned char>(text[i])) || (text[i] & 0x80));
  };
  for (size_t at = text.find(word, used[word]); at != std::string::npos; at = text.find(word, at + 1)) {
    if ((at > 0 && letter(at - 1)) || letter(at + word.size())) continue;
    used[word] = at + word.size();
    return at;
  }
  // One word of the source may have two.
  return used[word] > 0 ? used[word] - word.size() : std::string::npos;
}

// "red=rouge car=voiture"
std::vector<WordLink> links_of(const std::string& source, const std::string& target, const std::string& pairs) {
  std::vector<WordLink> links;
  std::map<std::string, size_t> in_source, in_target;
  std::istringstream words(pairs);
  for (std::string pair; words >> pair;) {
    const std::string from = pair.substr(0, pair.find('=')), to = pair.substr(pair.find('=') + 1);
    const size_t s = next_word(source, from, in_source), t = next_word(target, to, in_target);
    EXPECT_TRUE(s != std::string::npos && t != std::string::npos) << pair << " in " << source << " | " << target;
    links.push_back({s, s + from.size(), t, t + to.size(), 1});
  }
  return links;
}

void check(const nlohmann::json& line) {
  const Kind kind = *kind_called(line["kind"].get<std::string>());
  if (!kind_available(kind)) return;
  const auto document = Document::parse(kind, line["source"].get<std::string>());
  ASSERT_TRUE(document.ok()) << line;
  const auto& segments = document->segments();
  ASSERT_EQ(segments.size(), line["words"].size()) << line;
  std::vector<Translation> translations;
  for (size_t i = 0; i < segments.size(); ++i) {
    const std::string target = line["words"][i][0];
    translations.push_back({target, links_of(segments[i].text, target, line["words"][i][1])});
  }
  const auto out = document->render(translations);
  ASSERT_TRUE(out.ok()) << line;
  EXPECT_EQ(*out, line["output"].get<std::string>()) << line["source"];
}

TEST(WrittenDocuments, EachTagIsAtItsWord) {
  const auto file = read_text_file(LAPILLI_TEST_DATA "/documents/written.jsonl");
  ASSERT_TRUE(file.ok());
  std::istringstream lines(*file);
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) check(nlohmann::json::parse(line));
  EXPECT_GE(count, 100u);
}

}  // namespace
}  // namespace lapilli::documents
