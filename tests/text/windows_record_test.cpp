// Windows of random texts are those of the reference implementation: ids, characters, and whose text they are. The
// record is made by record_windows; LAPILLI_WINDOWS_RECORD names a larger one.
#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "text/tokenizer.hpp"
#include "text/unicode/regex.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

using Json = nlohmann::json;
using Row = std::array<int64_t, 4>;  // id, begin, end, text

std::vector<int64_t> characters_of(const std::string& text) {
  std::vector<int64_t> of_byte;
  int64_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    next_character(text, at);
    of_byte.resize(at, count);
  }
  of_byte.push_back(count);
  return of_byte;
}

struct RecordedText {
  std::string text, question;
  bool asks = false;
  uint32_t room = 0, stride = 0;
};

RecordedText text_of(const Json& row) {
  RecordedText t;
  t.text = row.at(0).get<std::string>();
  t.asks = !row.at(1).is_null();
  if (t.asks) t.question = row[1].get<std::string>();
  t.room = row.at(2).get<uint32_t>();
  t.stride = row.at(3).get<uint32_t>();
  return t;
}

std::vector<std::vector<Row>> windows_of(const Tokenizer& tokenizer, const RecordedText& t) {
  EncodeOptions options;
  options.truncate = tokenizer.pads_left() ? Truncate::only_first : Truncate::only_second;
  if (t.asks) options.pair = t.question;
  const auto fixed = tokenizer.encode_windows("", {}, options);
  const auto windows = fixed
                           ? tokenizer.encode_windows(
                                 t.text, {static_cast<uint32_t>(fixed->front().ids.size()) + t.room, t.stride}, options)
                           : fixed;
  if (!windows) return ADD_FAILURE() << windows.error().message, std::vector<std::vector<Row>>();
  const auto of_text = characters_of(t.text), of_question = characters_of(t.question);
  std::vector<std::vector<Row>> rows;
  for (const Encoding& window : *windows) {
    auto& of_window = rows.emplace_back();
    for (size_t i = 0; i < window.ids.size(); ++i) {
      const auto& characters = window.texts[i] == 1 ? of_question : of_text;
      const ByteRange bytes = window.offsets[i];
      of_window.push_back({window.ids[i], characters.at(bytes.begin), characters.at(bytes.end), window.texts[i]});
    }
  }
  return rows;
}

// FNV-1a of what the record's maker writes.
std::string digest(const std::vector<std::vector<Row>>& windows) {
  uint64_t hash = 0xcbf29ce484222325;
  const auto write = [&](const std::string& text) {
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  };
  for (size_t w = 0; w < windows.size(); ++w) {
    if (w > 0) write("|");
    for (size_t i = 0; i < windows[w].size(); ++i)
      for (size_t k = 0; k < 4; ++k) write((k > 0 ? "," : i > 0 ? ";" : "") + std::to_string(windows[w][i][k]));
  }
  char text[17];
  std::snprintf(text, sizeof(text), "%016" PRIx64, hash);
  return text;
}

Json read_record() {
  const char* other = std::getenv("LAPILLI_WINDOWS_RECORD");
  std::ifstream file(other ? other : LAPILLI_TEST_DATA "/windows.json");
  return Json::parse(file);
}

TEST(WindowsRecord, EqualsTheReference) {
  if (!unicode_available() || !regex_available()) GTEST_SKIP() << "built without utf8proc or PCRE2";
  const Json record = read_record();
  const Json& texts = record.at("texts");
  for (const auto& [name, digests] : record.at("digests").items()) {
    const auto tokenizer = load_tokenizer(std::string(LAPILLI_TEST_DATA) + "/" + name, "");
    ASSERT_TRUE(tokenizer.ok()) << name << ": " << tokenizer.error().message;
    ASSERT_EQ(digests.size(), texts.size());
    size_t others = 0;
    for (size_t i = 0; i < texts.size(); ++i) {
      const auto windows = windows_of(**tokenizer, text_of(texts[i]));
      if (digest(windows) == digests[i].get<std::string>() || ++others > 3) continue;
      ADD_FAILURE() << name << ": text " << i << " " << texts[i].dump() << "\n is " << Json(windows).dump();
      if (record.contains("windows")) ADD_FAILURE() << " must be " << record["windows"][name][i].dump();
    }
    EXPECT_EQ(others, 0U) << "of " << texts.size() << " in " << name;
  }
}

}  // namespace
}  // namespace lapilli
