// Written documents, each with its translation, the words that say the same in both, and what must come out.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "archives.hpp"
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

// {"from": "en", "to": "fr", "columns": ["2"], "header": false}
Options options_of(const nlohmann::json& line) {
  Options options;
  const nlohmann::json said = line.value("options", nlohmann::json::object());
  options.source_language = said.value("from", "");
  options.target_language = said.value("to", "");
  options.columns = said.value("columns", options.columns);
  options.to_columns = said.value("to_columns", options.to_columns);
  if (said.contains("delimiter")) options.delimiter = said["delimiter"].get<std::string>().front();
  options.header = said.value("header", true);
  options.all = said.value("all", false);
  options.fuzzy = said.value("fuzzy", true);
  options.keep = said.value("keep", options.keep);
  return options;
}

// A part of each sentence, in order.
void check_notes(const std::vector<std::string>& notes, const nlohmann::json& line) {
  const auto parts = line.value("notes", std::vector<std::string>());
  ASSERT_EQ(notes.size(), parts.size()) << line << nlohmann::json(notes);
  for (size_t i = 0; i < parts.size(); ++i) EXPECT_NE(notes[i].find(parts[i]), std::string::npos) << notes[i];
}

// "member": the name of the one file with words, in an archive with others.
std::string source_of(const nlohmann::json& line) {
  const std::string source = line["source"];
  if (!line.contains("member")) return source;
  return archive_of({{"mimetype", "application/x"}, {line["member"], source}, {"other.xml", "<a>words</a>"}});
}

// In "words" stand a translation and its word pairs for each segment; null: it failed.
void check(const nlohmann::json& line) {
  const Kind kind = *kind_called(line["kind"].get<std::string>());
  if (!kind_available(kind)) return;
  const auto document = Document::parse(kind, source_of(line), options_of(line));
  ASSERT_TRUE(document.ok()) << line << (document.ok() ? "" : document.error().message);
  const auto& segments = document->segments();
  ASSERT_EQ(segments.size(), line["words"].size()) << line;
  check_notes(document->notes(), line);
  std::vector<Translation> translations;
  for (size_t i = 0; i < segments.size(); ++i) {
    translations.emplace_back().failed = line["words"][i].is_null();
    if (translations.back().failed) continue;
    const std::string target = line["words"][i][0];
    translations.back() = {target, links_of(segments[i].text, target, line["words"][i][1])};
  }
  const auto out = document->render(translations);
  ASSERT_TRUE(out.ok()) << line;
  const std::string written = line.contains("member") ? file_in(*out, line["member"].get<std::string>()) : *out;
  EXPECT_EQ(written, line["output"].get<std::string>()) << line["source"];
}

size_t check_all(const std::string& path) {
  const auto file = read_text_file(path);
  EXPECT_TRUE(file.ok()) << path;
  std::istringstream lines(file.ok() ? *file : "");
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) check(nlohmann::json::parse(line));
  return count;
}

TEST(WrittenDocuments, EachTagIsAtItsWord) { EXPECT_GE(check_all(LAPILLI_TEST_DATA "/documents/written.jsonl"), 100u); }

// Each area of kinds has a file of its own: written_tables.jsonl, ...
TEST(WrittenDocuments, OtherKindsAreWrittenInTheirOwnWay) {
  for (const auto& entry : std::filesystem::directory_iterator(LAPILLI_TEST_DATA "/documents")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("written_") || !name.ends_with(".jsonl")) continue;
    EXPECT_GE(check_all(entry.path().string()), 30u) << name;
  }
}

}  // namespace
}  // namespace lapilli::documents
