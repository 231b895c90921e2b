#include "text/pipeline/json_components.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

Result<SplitBehavior> read_behavior(const JsonReader& reader, const char* missing) {
  LAPILLI_TRY(const std::string name, reader.text("behavior", missing));
  if (name == "Removed") return SplitBehavior::removed;
  if (name == "Isolated") return SplitBehavior::isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
  if (name == "Contiguous") return SplitBehavior::contiguous;
  return reader.wrong("behavior", "Removed, Isolated, MergedWithPrevious, MergedWithNext or Contiguous");
}

Result<PreTokenizerPtr> read_pre_tokenizers(const JsonReader& reader) {
  LAPILLI_TRY(const nlohmann::json* list, reader.array("pretokenizers"));
  std::vector<PreTokenizerPtr> parts;
  for (size_t i = 0; i < list->size(); ++i) {
    LAPILLI_TRY(auto part, read_pre_tokenizer(reader.at((*list)[i], std::to_string(i))));
    parts.push_back(std::move(part));
  }
  return make_pre_tokenizer_sequence(std::move(parts));
}

Result<PreTokenizerPtr> read_split(const JsonReader& reader) {
  LAPILLI_TRY(const JsonPattern pattern, read_pattern(reader));
  LAPILLI_TRY(const SplitBehavior behavior, read_behavior(reader, "Removed"));
  LAPILLI_TRY(const bool invert, reader.flag("invert", false));
  return pattern.regex ? make_split_regex(pattern.text, behavior, invert)
                       : make_split_string(pattern.text, behavior, invert);
}

Result<PreTokenizerPtr> read_metaspace(const JsonReader& reader) {
  LAPILLI_TRY(const std::string replacement, reader.text("replacement", kWordMark));
  LAPILLI_TRY(const PrependScheme scheme, read_prepend_scheme(reader));
  LAPILLI_TRY(const bool split, reader.flag("split", true));
  if (replacement.empty()) return reader.wrong("replacement", "a character");
  return make_metaspace(replacement, scheme, split);
}

}  // namespace

// Older files have add_prefix_space instead.
Result<PrependScheme> read_prepend_scheme(const JsonReader& reader) {
  LAPILLI_TRY(const bool prefix, reader.flag("add_prefix_space", true));
  LAPILLI_TRY(const std::string scheme, reader.text("prepend_scheme", prefix ? "always" : "never"));
  if (scheme == "always") return PrependScheme::always;
  if (scheme == "first") return PrependScheme::first;
  if (scheme == "never") return PrependScheme::never;
  return reader.wrong("prepend_scheme", "always, first or never");
}

Result<PreTokenizerPtr> read_pre_tokenizer(const JsonReader& reader) {
  LAPILLI_TRY(const std::string type, reader.text("type"));
  if (type == "Sequence") return read_pre_tokenizers(reader);
  if (type == "ByteLevel") {
    LAPILLI_TRY(const bool prefix, reader.flag("add_prefix_space", true));
    LAPILLI_TRY(const bool use_regex, reader.flag("use_regex", true));
    return make_byte_level(prefix, use_regex);
  }
  if (type == "Whitespace") return make_whitespace();
  if (type == "WhitespaceSplit") return make_whitespace_split();
  if (type == "BertPreTokenizer") return make_bert_pre_tokenizer();
  if (type == "Metaspace") return read_metaspace(reader);
  if (type == "Split") return read_split(reader);
  if (type == "Punctuation") {
    LAPILLI_TRY(const SplitBehavior behavior, read_behavior(reader, "Isolated"));
    return make_punctuation(behavior);
  }
  if (type == "Digits") {
    LAPILLI_TRY(const bool individual, reader.flag("individual_digits", false));
    return make_digits(individual);
  }
  if (type == "CharDelimiterSplit") {
    LAPILLI_TRY(const std::string delimiter, reader.text("delimiter"));
    return make_split_string(delimiter, SplitBehavior::removed, false);
  }
  if (type == "FixedLength") {
    LAPILLI_TRY(const int32_t length, reader.number("length", 5));
    if (length == 0) return reader.wrong("length", "at least 1");
    return make_fixed_length(static_cast<size_t>(length));
  }
  return fail(ErrorCode::unsupported, "%s: this version knows no pre-tokenizer %s", reader.where(), quote_text(type));
}

}  // namespace lapilli
