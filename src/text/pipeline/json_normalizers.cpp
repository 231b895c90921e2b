
#include "text/pipeline/json_components.hpp"

namespace lapilli {
namespace {

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  return c == '+' ? 62 : c == '/' ? 63 : -1;
}

Result<NormalizerPtr> read_normalizers(const JsonReader& reader) {
  LAPILLI_TRY(const nlohmann::json* list, reader.array("normalizers"));
  std::vector<NormalizerPtr> parts;
  for (size_t i = 0; i < list->size(); ++i) {
    LAPILLI_TRY(auto part, read_normalizer(reader.at((*list)[i], std::to_string(i))));
    parts.push_back(std::move(part));
  }
  return make_normalizer_sequence(std::move(parts));
}

Result<NormalizerPtr> read_bert(const JsonReader& reader) {
  BertNormalizerOptions options;
  LAPILLI_TRY(options.clean_text, reader.flag("clean_text", true));
  LAPILLI_TRY(options.handle_chinese_chars, reader.flag("handle_chinese_chars", true));
  LAPILLI_TRY(options.lowercase, reader.flag("lowercase", true));
  if (reader.find("strip_accents") != nullptr) {
    LAPILLI_TRY(options.strip_accents, reader.flag("strip_accents", true));
  }
  return make_bert_normalizer(options);
}

Result<NormalizerPtr> read_replace(const JsonReader& reader) {
  LAPILLI_TRY(const JsonPattern pattern, read_pattern(reader));
  LAPILLI_TRY(const std::string content, reader.text("content"));
  return pattern.regex ? make_replace_regex(pattern.text, content) : make_replace_string(pattern.text, content);
}

Result<NormalizerPtr> read_strip_normalizer(const JsonReader& reader) {
  LAPILLI_TRY(const bool left, reader.flag("strip_left", true));
  LAPILLI_TRY(const bool right, reader.flag("strip_right", true));
  return make_strip(left, right);
}

}  // namespace

Result<std::string> read_charsmap(const JsonReader& reader) {
  LAPILLI_TRY(const std::string text, reader.text("precompiled_charsmap", ""));
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int digit = base64_digit(c);
    if (digit < 0) return reader.wrong("precompiled_charsmap", "base64");
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>((bits >> count) & 0xFF);
  }
  return bytes;
}

Result<JsonPattern> read_pattern(const JsonReader& reader) {
  const nlohmann::json* value = reader.find("pattern");
  if (value != nullptr && value->is_string()) return JsonPattern{value->get<std::string>(), false};
  if (value != nullptr && value->is_object() && value->size() == 1) {
    const auto member = value->begin();
    if ((member.key() == "String" || member.key() == "Regex") && member->is_string())
      return JsonPattern{member->get<std::string>(), member.key() == "Regex"};
  }
  return reader.wrong("pattern", "a String or a Regex");
}

Result<NormalizerPtr> read_normalizer(const JsonReader& reader) {
  LAPILLI_TRY(const std::string type, reader.text("type"));
  if (type == "Sequence") return read_normalizers(reader);
  if (type == "NFC") return make_unicode_normalizer(UnicodeForm::nfc);
  if (type == "NFD") return make_unicode_normalizer(UnicodeForm::nfd);
  if (type == "NFKC") return make_unicode_normalizer(UnicodeForm::nfkc);
  if (type == "NFKD") return make_unicode_normalizer(UnicodeForm::nfkd);
  if (type == "Lowercase") return make_lowercase();
  if (type == "StripAccents") return make_strip_accents();
  if (type == "Strip") return read_strip_normalizer(reader);
  if (type == "Replace") return read_replace(reader);
  if (type == "Prepend") {
    LAPILLI_TRY(const std::string text, reader.text("prepend"));
    return make_prepend(text);
  }
  if (type == "BertNormalizer") return read_bert(reader);
  if (type == "Precompiled") {
    LAPILLI_TRY(const std::string charsmap, read_charsmap(reader));
    return make_precompiled(charsmap);
  }
  if (type == "Nmt") return make_nmt();
  if (type == "ByteLevel") return make_byte_level_normalizer();
  return fail(ErrorCode::unsupported, "%s: this version knows no normalizer %s", reader.where(), quote_text(type));
}

}  // namespace lapilli
