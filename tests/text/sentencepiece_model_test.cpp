// Models built here piece by piece, good and hostile, and damaged copies of a real one.
#include "text/sentencepiece_model.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdio>
#include <limits>
#include <random>

#include "text/sentencepiece_check.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

// ---- a writer of the format ----

std::string varint(uint64_t v) {
  std::string out;
  for (; v >= 0x80; v >>= 7) out.push_back(static_cast<char>((v & 0x7F) | 0x80));
  out.push_back(static_cast<char>(v));
  return out;
}
std::string word(uint32_t v) {
  std::string out;
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(v >> (8 * i) & 0xFF));
  return out;
}
std::string number_field(uint32_t number, uint64_t v) { return varint(number << 3) + varint(v); }
std::string bytes_field(uint32_t number, const std::string& bytes) {
  return varint(number << 3 | 2) + varint(bytes.size()) + bytes;
}

enum PieceType { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4 };
std::string piece(const std::string& text, float score = -1, PieceType type = kNormal) {
  return bytes_field(
      1, bytes_field(1, text) + varint(2 << 3 | 5) + word(std::bit_cast<uint32_t>(score)) + number_field(3, type));
}
std::string basic_pieces() {
  return piece("<unk>", 0, kUnknown) + piece("</s>", 0, kControl) + piece("\xE2\x96\x81") + piece("a") + piece("b");
}

// A character map over 256 units (one block): each entry says which unit gets which bits.
constexpr uint32_t kLeaf = 1u << 31;
uint32_t node(uint32_t offset, char label, bool ends_rule) {
  return offset << 10 | (ends_rule ? 0x100u : 0u) | static_cast<unsigned char>(label);
}
std::string character_map(const std::vector<std::pair<uint32_t, uint32_t>>& units, const std::string& replacements,
                          uint32_t size = 256) {
  std::vector<uint32_t> array(size, kLeaf);  // a leaf is no child of any node
  for (const auto& [at, bits] : units) array[at] = bits;
  std::string out = word(4 * size);
  for (const uint32_t u : array) out += word(u);
  return out + replacements;
}
std::string normalizer(const std::string& map) { return bytes_field(3, bytes_field(2, map)); }
// The rule "A" -> "b".
std::vector<std::pair<uint32_t, uint32_t>> capital_rule() {
  return {{0, node(1, 0, false)}, {1 ^ 'A', node(2, 'A', true)}, {1 ^ 'A' ^ 2, kLeaf | 0}};
}

Status check(const std::string& content) { return check_sentencepiece_model(content, "m.spm"); }

void expect_refused(const std::string& content, const char* why) {
  const Status s = check(content);
  ASSERT_FALSE(s.ok()) << why;
  EXPECT_EQ(s.error().code, ErrorCode::invalid_data);
  EXPECT_NE(s.error().message.find("m.spm"), std::string::npos) << s.error().message;
  EXPECT_NE(s.error().message.find(why), std::string::npos) << s.error().message;
}

TEST(SentencePieceCheck, RefusesDamagedPieces) {
  EXPECT_TRUE(check(basic_pieces()).ok());
  expect_refused("", "the file is empty");
  expect_refused("not a model at all", "damaged");
  expect_refused(number_field(9, 1), "no pieces");
  expect_refused(number_field(1, 1), "wrong type");
  expect_refused(basic_pieces().substr(0, 20), "cut off");
  expect_refused(basic_pieces() + varint(1 << 3 | 2) + varint(uint64_t{1} << 62), "cut off");
  expect_refused(basic_pieces() + std::string(20, '\xFF'), "cut off");
  expect_refused(basic_pieces() + bytes_field(1, "\x0a\x7f"), "a piece is damaged (piece 5)");
  expect_refused(basic_pieces() + piece(""), "a piece is empty");
  expect_refused(basic_pieces() + piece(std::string("x\0y", 3)), "zero byte");
  expect_refused(basic_pieces() + piece("\xC3"), "UTF-8");
  expect_refused(basic_pieces() + piece(std::string(1025, 'x')), "too long");
  expect_refused(basic_pieces() + piece("x", std::numeric_limits<float>::quiet_NaN()), "not finite");
  expect_refused(basic_pieces() + piece("x", std::numeric_limits<float>::infinity()), "not finite");
}

TEST(SentencePieceCheck, LimitsNestedSymbols) {
  std::string content = basic_pieces();
  std::string symbol;
  for (int i = 0; i < 64; ++i) content += piece(symbol += "x", 0, kUserDefined) + piece("y" + symbol, 0, kUserDefined);
  EXPECT_TRUE(check(content).ok());
  expect_refused(content + piece(symbol + "x", 0, kUserDefined), "begin with each other");
  EXPECT_TRUE(check(content + piece(symbol + "x")).ok());  // normal pieces have no such limit
}

TEST(SentencePieceCheck, ReadsTheCharacterMap) {
  const auto with = [](const std::string& map) { return basic_pieces() + normalizer(map); };
  const std::string b("b\0", 2);
  EXPECT_TRUE(check(with(character_map(capital_rule(), b))).ok());
  EXPECT_TRUE(check(basic_pieces() + bytes_field(5, bytes_field(2, character_map(capital_rule(), b)))).ok());

  expect_refused(with("abc"), "cut off");
  expect_refused(with(word(0) + b), "cut off");
  expect_refused(with(word(0xFFFFFFFF) + b), "cut off");
  expect_refused(with(word(6) + std::string(20, '\0')), "cut off");
  expect_refused(with(character_map({{0, node(0, 0, false)}}, b, 255)), "outside itself");
  expect_refused(with(character_map({{0, node(256, 0, false)}}, b)), "outside itself");
  expect_refused(with(character_map({{0, node(1, 0, false)}, {1 ^ 'A', node(300, 'A', false)}}, b)), "outside itself");
  expect_refused(with(character_map({{0, 0x3FFFFFu << 10 | 0x200u}}, b)), "outside itself");
  expect_refused(bytes_field(5, bytes_field(2, "abc")) + basic_pieces(), "cut off");

  auto far = capital_rule();
  far.back().second = kLeaf | 2;
  expect_refused(with(character_map(far, b)), "outside the replacements");
  EXPECT_FALSE(check(with(character_map(capital_rule(), ""))).ok());
  expect_refused(with(character_map(capital_rule(), std::string(129, 'b'))), "too long");
  // 'A' whose child under 'A' is itself: "AAAA..." would never end.
  expect_refused(with(character_map({{0, node('A' ^ 9, 0, false)}, {9, node(9 ^ 9 ^ 'A', 'A', false)}}, b)), "loops");
}

// Rules for "c", "cc", ... , `depth` of them: `step` units apart, leaves in the second half of each block.
std::string nested_rules(uint32_t depth) {
  std::vector<std::pair<uint32_t, uint32_t>> units;
  const auto base = [](uint32_t level) { return 256 * level; };  // children of level n lie in block n
  units.emplace_back(0, node(base(1), 0, false));
  for (uint32_t level = 1; level <= depth; ++level) {
    const uint32_t at = base(level) ^ 'c';
    const uint32_t children = base(level + 1);
    units.emplace_back(at, node(at ^ children, 'c', true));
    units.emplace_back(children, kLeaf | 0);
  }
  return character_map(units, std::string("b\0", 2), 256 * (depth + 2));
}

TEST(SentencePieceCheck, LimitsRulesThatMatchAtOnePlace) {
  EXPECT_TRUE(check(basic_pieces() + normalizer(nested_rules(32))).ok());
  expect_refused(basic_pieces() + normalizer(nested_rules(33)), "too many rules");
}

class SentencePiece : public testing::Test {
 protected:
  void SetUp() override {
    if (!sentencepiece_available()) GTEST_SKIP() << "built without SentencePiece";
  }
  Result<SentencePieceModel> load(const std::string& content) {
    return SentencePieceModel::load(directory_.write("m.spm", content));
  }
  TempDirectory directory_;
};

std::vector<std::string> texts(const std::vector<lapilli::SentencePiece>& pieces) {
  std::vector<std::string> texts;
  for (const auto& p : pieces) texts.push_back(p.text);
  return texts;
}

TEST_F(SentencePiece, LoadsWhatTheCheckPasses) {
  auto m = load(basic_pieces() + normalizer(character_map(capital_rule(), std::string("b\0", 2))));
  ASSERT_TRUE(m.ok()) << m.error().message;
  auto pieces = m->encode("aA?");
  ASSERT_TRUE(pieces.ok()) << pieces.error().message;
  EXPECT_EQ(texts(*pieces), (std::vector<std::string>{"\xE2\x96\x81", "a", "b", "?"}));
  auto text = m->decode({"\xE2\x96\x81", "a", "z", "</s>", "\xE2\x96\x81"});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "az ");

  auto nested = load(basic_pieces() + normalizer(nested_rules(32)));
  ASSERT_TRUE(nested.ok()) << nested.error().message;
  EXPECT_EQ(texts(*nested->encode(std::string(64, 'c'))), (std::vector<std::string>{"\xE2\x96\x81", "b", "b"}));
}

TEST_F(SentencePiece, RefusesQuietly) {
  const struct {
    std::string content;
    const char* message;
  } cases[] = {
      {"", "empty"},
      {std::string(1000, '\x7F'), "damaged"},
      {piece("a"), "unk is not defined"},
      {basic_pieces() + piece("a"), "already defined"},
      {basic_pieces() + piece("<u2>", 0, kUnknown), "unk is already defined"},
      {basic_pieces() + bytes_field(4, bytes_field(1, bytes_field(1, "a") + bytes_field(2, "b"))), "Self-test"},
  };
  testing::internal::CaptureStderr();
  for (const auto& c : cases) {
    auto m = load(c.content);
    ASSERT_FALSE(m.ok()) << c.message;
    EXPECT_EQ(m.error().code, ErrorCode::invalid_data);
    EXPECT_NE(m.error().message.find("m.spm"), std::string::npos) << m.error().message;
    EXPECT_NE(m.error().message.find(c.message), std::string::npos) << m.error().message;
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");

  auto missing = SentencePieceModel::load(directory_.path() + "/none.spm");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::not_found);
}

// LAPILLI_FUZZ_ROUNDS asks for more than the usual few; the seed is fixed either way.
TEST_F(SentencePiece, DamagedCopiesNeverCrash) {
  const std::string original = read_file(LAPILLI_TEST_DATA "/tokenizers/marian/files/source.spm");
  const char* rounds = std::getenv("LAPILLI_FUZZ_ROUNDS");
  std::mt19937 random(7);
  int loaded = 0;
  int refused = 0;
  const int count = rounds != nullptr ? std::atoi(rounds) : 200;
  for (int round = 0; round < count; ++round) {
    std::string content = original;
    if (round % 8 == 0) content.resize(random() % content.size());
    // Half of the damage goes where the pieces are, the rest anywhere (mostly the character map).
    for (uint32_t k = 1 + random() % 6; k > 0 && !content.empty(); --k) {
      const size_t range = round % 2 == 0 ? std::min<size_t>(content.size(), 12000) : content.size();
      content[random() % range] = static_cast<char>(random());
    }
    auto m = load(content);
    ++(m.ok() ? loaded : refused);
    if (!m.ok()) continue;
    for (const char* text : {"Cr\xC3\xA8me br\xC3\xBBl\xC3\xA9"
                             "e, \xEF\xBC\xA1\xEF\xBD\x82 \xE2\x84\xAB 3\xC2\xBD",
                             "\xE4\xBA\xBA \t x"}) {
      auto pieces = m->encode(text);
      if (pieces.ok()) (void)m->decode(texts(*pieces));
    }
  }
  EXPECT_GT(loaded, count / 20);
  EXPECT_GT(refused, count / 20);
}

}  // namespace
}  // namespace lapilli
