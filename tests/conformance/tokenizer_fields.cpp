#include "conformance/tokenizer_fields.hpp"

#include <cmath>

#include "text/kinds/whisper_tokenizer.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;
using IdRows = std::vector<Ids>;

std::string shown(const Ids& ids) { return Json(ids).dump(); }

void expect_text(Outcome& o, const Result<std::string>& text, const Json& c, const char* key) {
  if (!text)
    o.fail(text.error().message);
  else if (*text != c[key].get<std::string>())
    o.fail(std::string(key) + " is \"" + *text + "\"");
}

const WhisperTokenizer* as_whisper(const Tokenizer& tokenizer) {
  return dynamic_cast<const WhisperTokenizer*>(&tokenizer);
}

Truncate truncate_of(const Json& c) {
  const auto name = c["truncation"].get<std::string>();
  if (name == "only_first") return Truncate::only_first;
  return name == "only_second" ? Truncate::only_second : Truncate::longest_first;
}

WindowOptions window_options(const Json& c) { return {c["max_length"].get<uint32_t>(), c["stride"].get<uint32_t>()}; }

Outcome compare_windows(const Result<std::vector<Encoding>>& windows, const Json& c) {
  if (!windows) return Outcome::failed(windows.error().message);
  IdRows ids;
  for (const Encoding& window : *windows) ids.push_back(window.ids);
  return ids == c["ids"].get<IdRows>() ? Outcome() : Outcome::failed("other windows: " + Json(ids).dump());
}

Outcome not_whisper() { return Outcome::failed("this is not Whisper's tokenizer"); }

}  // namespace

Outcome check_tokens(const Tokenizer& tokenizer, const Json& c) {
  Outcome o;
  if (!c.contains("tokens")) return o;
  const auto ids = c["ids_plain"].get<Ids>();
  const auto tokens = c["tokens"].get<std::vector<std::string>>();
  if (ids.size() != tokens.size()) return Outcome::failed("the record has not one token for each id");
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] == tokenizer.special().unk || tokenizer.token(ids[i]) == tokens[i]) continue;
    o.fail("token " + std::to_string(i) + " is \"" + std::string(tokenizer.token(ids[i])) + "\" instead of \"" +
           tokens[i] + "\"");
  }
  return o;
}

Outcome run_pair(const Tokenizer& tokenizer, const Json& c) {
  EncodeOptions options;
  const auto second = c["b"].get<std::string>();
  options.pair = second;
  const auto encoding = tokenizer.encode_with_offsets(c["a"].get<std::string>(), options);
  if (!encoding) return Outcome::failed(encoding.error().message);
  Outcome o;
  if (encoding->ids != c["ids"].get<Ids>()) o.fail("other ids: " + shown(encoding->ids));
  if (c.contains("type_ids") && encoding->type_ids != c["type_ids"].get<Ids>())
    o.fail("other type_ids: " + shown(encoding->type_ids));
  return o;
}

Outcome run_pair_truncation(const Tokenizer& tokenizer, const Json& c) {
  const auto second = c["b"].get<std::string>();
  EncodeOptions options;
  options.pair = second;
  options.max_ids = c["max_length"].get<uint64_t>();
  options.truncate = truncate_of(c);
  const auto ids = tokenizer.encode(c["a"].get<std::string>(), options);
  if (!ids) return Outcome::failed(ids.error().message);
  return *ids == c["ids"].get<Ids>() ? Outcome() : Outcome::failed("other ids: " + shown(*ids));
}

// Pairs of which both are cut: the first window alone.
Outcome run_pair_windows(const Tokenizer& tokenizer, const Json& c) {
  Json first = c;
  first["ids"] = c["ids"][0];
  if (truncate_of(c) == Truncate::longest_first) return run_pair_truncation(tokenizer, first);
  const auto a = c["a"].get<std::string>(), b = c["b"].get<std::string>();
  const bool text_first = truncate_of(c) == Truncate::only_first;
  EncodeOptions options;
  options.pair = text_first ? b : a;
  options.truncate = truncate_of(c);
  return compare_windows(tokenizer.encode_windows(text_first ? a : b, window_options(c), options), c);
}

Outcome run_windows(const Tokenizer& tokenizer, const Json& c) {
  return compare_windows(tokenizer.encode_windows(c["text"].get<std::string>(), window_options(c)), c);
}

Outcome run_batch(const Tokenizer& tokenizer, const Json& c) {
  const auto texts = c["texts"].get<std::vector<std::string>>();
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  Outcome o;
  const auto batch = tokenizer.encode_batch(views);
  if (!batch) return Outcome::failed(batch.error().message);
  if (batch->ids != c["input_ids"].get<IdRows>()) o.fail("other input_ids");
  if (batch->attention_mask != c["attention_mask"].get<IdRows>()) o.fail("other attention_mask");
  if (c.contains("token_type_ids") && batch->type_ids != c["token_type_ids"].get<IdRows>())
    o.fail("other token_type_ids");
  if (tokenizer.pads_left() != (c["padding_side"].get<std::string>() == "left")) o.fail("padding on the other side");
  EncodeOptions cut;
  cut.max_ids = 6;
  const auto wanted = c["truncated_to_6"].get<IdRows>();
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto ids = tokenizer.encode(texts[i], cut);
    if (!ids)
      o.fail(ids.error().message);
    else if (*ids != wanted.at(i))
      o.fail("cut to 6: " + shown(*ids));
  }
  return o;
}

Outcome run_clean_up(const Tokenizer& tokenizer, const Json& c) {
  Outcome o;
  for (const auto& [key, clean] : {std::pair{"decoded_clean", true}, std::pair{"decoded_raw", false}}) {
    DecodeOptions options;
    options.skip_special = false;
    options.clean_up = clean;
    expect_text(o, tokenizer.decode(c["ids"].get<Ids>(), options), c, key);
  }
  return o;
}

Outcome run_prefix(const Tokenizer& tokenizer, const Json& c) {
  const WhisperTokenizer* whisper = as_whisper(tokenizer);
  if (whisper == nullptr) return not_whisper();
  const auto language = c["language"].get<std::string>();
  const auto task = c["task"].get<std::string>();
  EncodeOptions options;
  options.source_language = language;
  options.task = task;
  options.timestamps = c["predict_timestamps"].get<bool>();
  Outcome o;
  const auto prefix = whisper->prefix(options);
  if (!prefix)
    o.fail(prefix.error().message);
  else if (*prefix != c["prefix"].get<Ids>())
    o.fail("other prefix: " + shown(*prefix));
  // The text is not recorded: it is what the ids decode to.
  const auto text = tokenizer.decode(c["ids"].get<Ids>());
  if (!text) return Outcome::failed(text.error().message);
  const auto ids = tokenizer.encode(*text, options);
  if (!ids)
    o.fail(ids.error().message);
  else if (*ids != c["ids"].get<Ids>())
    o.fail("other ids: " + shown(*ids));
  return o;
}

Outcome run_whisper_decode(const Tokenizer& tokenizer, const Json& c) {
  const WhisperTokenizer* whisper = as_whisper(tokenizer);
  if (whisper == nullptr) return not_whisper();
  const auto ids = c["ids"].get<Ids>();
  Outcome o;
  for (const auto& [key, skip, timestamps] :
       {std::tuple{"decoded", false, false}, std::tuple{"decoded_skip", true, false},
        std::tuple{"with_timestamps", false, true}, std::tuple{"with_timestamps_skip", true, true}}) {
    DecodeOptions options;
    options.skip_special = skip;
    options.timestamps = timestamps;
    expect_text(o, tokenizer.decode(ids, options), c, key);
  }
  const auto segments = whisper->segments(ids);
  if (!segments) return Outcome::failed(segments.error().message);
  const Json& wanted = c["offsets"];
  if (segments->size() != wanted.size()) o.fail(std::to_string(segments->size()) + " segments");
  for (size_t i = 0; i < std::min(segments->size(), wanted.size()); ++i) {
    const WhisperSegment& s = (*segments)[i];
    const Json& w = wanted[i];
    if (s.text != w["text"].get<std::string>()) o.fail("segment \"" + s.text + "\"");
    if (std::abs(s.begin - w["timestamp"][0].get<double>()) > 1e-9 ||
        std::abs(s.end - w["timestamp"][1].get<double>()) > 1e-9)
      o.fail("other times of a segment");
  }
  return o;
}

Outcome run_prompt(const Tokenizer& tokenizer, const Json& c) {
  const WhisperTokenizer* whisper = as_whisper(tokenizer);
  if (whisper == nullptr) return not_whisper();
  const auto ids = whisper->prompt_ids(c["text"].get<std::string>());
  if (!ids) return Outcome::failed(ids.error().message);
  return *ids == c["ids"].get<Ids>() ? Outcome() : Outcome::failed("other ids: " + shown(*ids));
}

Outcome check_sizes(const Tokenizer& tokenizer, const Json& record) {
  Outcome o;
  const auto check = [&](const char* key, uint64_t seen) {
    if (record.contains(key) && record[key].get<uint64_t>() != seen)
      o.fail(std::string(key) + " is " + std::to_string(seen));
  };
  check("vocab_size", tokenizer.vocabulary_size(TextSide::source));
  check("target_vocab_size", tokenizer.vocabulary_size(TextSide::target));
  if (record.contains("timestamp_begin")) {
    const WhisperTokenizer* whisper = as_whisper(tokenizer);
    if (whisper == nullptr) return not_whisper();
    check("timestamp_begin", static_cast<uint64_t>(whisper->timestamp_begin()));
  }
  return o;
}

}  // namespace lapilli::conformance
