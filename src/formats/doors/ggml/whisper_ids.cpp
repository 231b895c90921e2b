#include "formats/doors/ggml/whisper_ids.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <unordered_map>

namespace lapilli::doors {

namespace {

// A multilingual vocabulary has 51,766 ids besides those of its languages.
constexpr uint32_t kEnglish = 51864, kOthers = 51766;
constexpr uint32_t kLeastLanguages = 99, kMostLanguages = 100;
constexpr int32_t kEnglishEnd = 50256;

constexpr const char* kCodes =
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th ur hr bg lt la mi ml "
    "cy "
    "sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi "
    "lo "
    "uz fo ht ps tk nn mt sa lb my bo tl mg as tt haw ln ha ba jw su yue";

std::vector<std::string> words_of(const char* text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

}  // namespace

std::optional<WhisperIds> whisper_ids(uint32_t vocabulary) {
  const bool english = vocabulary == kEnglish;
  const uint32_t languages = english ? kLeastLanguages : vocabulary - kOthers;  // wraps for smaller ones
  if (languages < kLeastLanguages || languages > kMostLanguages) return std::nullopt;
  WhisperIds ids;
  ids.multilingual = !english;
  ids.end = english ? kEnglishEnd : kEnglishEnd + 1;
  int32_t next = ids.end + 1;
  ids.start = next++;
  const auto codes = words_of(kCodes);
  for (uint32_t i = 0; i < languages; ++i) ids.languages.emplace_back(codes[i], next++);
  for (int32_t* id :
       {&ids.translate, &ids.transcribe, &ids.start_of_lm, &ids.previous, &ids.no_speech, &ids.no_timestamps})
    *id = next++;
  return ids;
}

// ---- merges ---------------------------------------------------------------------------------------------------------

namespace {

// Longer tokens are no words, and their merges would take long to find.
constexpr size_t kMostMerged = 128;

using Pieces = std::vector<std::string>;

Pieces single_bytes(const std::string& text) {
  Pieces pieces;
  for (const char c : text) pieces.emplace_back(1, c);
  return pieces;
}

}  // namespace

struct MergedTokens::Table {
  std::vector<std::string> tokens;
  std::unordered_map<std::string, int32_t> ids;

  // Joins neighbours, the pair with the lowest id first, as long as that id is below `limit`.
  [[nodiscard]] Pieces merge(Pieces pieces, int32_t limit) const {
    for (;;) {
      int32_t best = limit;
      size_t at = 0;
      for (size_t i = 0; i + 1 < pieces.size(); ++i) {
        const auto it = ids.find(pieces[i] + pieces[i + 1]);
        if (it != ids.end() && it->second < best) best = it->second, at = i;
      }
      if (best == limit) return pieces;
      pieces[at] += pieces[at + 1];
      pieces.erase(pieces.begin() + static_cast<ptrdiff_t>(at) + 1);
    }
  }
};

MergedTokens::MergedTokens(const std::vector<std::string>& tokens) : table_(std::make_unique<Table>()) {
  table_->tokens = tokens;
  for (size_t i = 0; i < tokens.size(); ++i) table_->ids.emplace(tokens[i], static_cast<int32_t>(i));
}
MergedTokens::~MergedTokens() = default;

std::vector<std::string> MergedTokens::pieces(const std::string& text) const {
  return table_->merge(single_bytes(text), INT32_MAX);
}

int32_t MergedTokens::id(const std::string& piece) const {
  const auto it = table_->ids.find(piece);
  return it == table_->ids.end() ? -1 : it->second;
}

std::vector<std::pair<std::string, std::string>> MergedTokens::merges() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (size_t i = 0; i < table_->tokens.size(); ++i) {
    const std::string& token = table_->tokens[i];
    if (token.size() < 2 || token.size() > kMostMerged || id(token) != static_cast<int32_t>(i)) continue;
    Pieces two = table_->merge(single_bytes(token), static_cast<int32_t>(i));
    if (two.size() == 2) all.emplace_back(std::move(two[0]), std::move(two[1]));
  }
  return all;
}

// ---- no speech ------------------------------------------------------------------------------------------------------

std::vector<int32_t> no_speech_tokens(const MergedTokens& tokens) {
  std::set<int32_t> ids;
  const auto add = [&](const std::string& text, bool first_of_many) {
    const auto pieces = tokens.pieces(text);
    if (pieces.size() == 1 || first_of_many) ids.insert(tokens.id(pieces.front()));
  };
  // Dashes and quotes within words stay.
  add(" -", true);
  add(" '", true);
  const char* plain =
      "\" # ( ) * + / : ; < = > @ [ \\ ] ^ _ ` { | } ~ 「 」 『 』 << >> <<< >>> -- --- -( -[ (' (\" (( )) ((( ))) [[ "
      "]] {{ "
      "}} ♪♪ ♪♪♪";
  for (const char* start : {"", " "}) {
    for (const auto& symbol : words_of(plain)) add(start + symbol, false);
    for (const auto& note : words_of("♩ ♪ ♫ ♬ ♭ ♮ ♯")) add(start + note, true);
  }
  ids.erase(-1);
  return {ids.begin(), ids.end()};
}

// ---- alphabet -------------------------------------------------------------------------------------------------------

namespace {

bool stands_for_itself(uint32_t byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

// Bytes without a printable character of their own have those from 256 on, in order.
std::array<uint32_t, 256> byte_alphabet() {
  std::array<uint32_t, 256> characters{};
  uint32_t next = 256;
  for (uint32_t b = 0; b < 256; ++b) characters[b] = stands_for_itself(b) ? b : next++;
  return characters;
}

// -1: not of the alphabet.
int byte_of_character(const std::string& character) {
  static const auto bytes = [] {
    std::map<std::string, int> all;
    for (int b = 0; b < 256; ++b) all.emplace(in_byte_alphabet(std::string(1, static_cast<char>(b))), b);
    return all;
  }();
  const auto it = bytes.find(character);
  return it == bytes.end() ? -1 : it->second;
}

}  // namespace

std::string in_byte_alphabet(const std::string& bytes) {
  static const auto characters = byte_alphabet();
  std::string out;
  for (const char c : bytes) {
    const uint32_t u = characters[static_cast<unsigned char>(c)];
    if (u < 0x80) {
      out += static_cast<char>(u);
    } else {
      out += static_cast<char>(0xc0 | u >> 6);
      out += static_cast<char>(0x80 | (u & 0x3f));
    }
  }
  return out;
}

std::string bytes_of_alphabet(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const auto c = static_cast<unsigned char>(text[at]);
    const size_t length = (c & 0xe0) == 0xc0 ? 2 : 1;  // all of the alphabet have one byte or two
    const std::string character = text.substr(at, length);
    const int byte = byte_of_character(character);
    byte < 0 ? void(out += character) : void(out += static_cast<char>(byte));
    at += length;
  }
  return out;
}

}  // namespace lapilli::doors
