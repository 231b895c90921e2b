#include "conformance/folder.hpp"
#include "conformance/tokenizer_fields.hpp"
#include "conformance/tokenizer_files.hpp"
#include "text/tokenizer.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;

Outcome run_case(const Tokenizer& tokenizer, const Json& c, TextSide side) {
  const auto ids = tokenizer.encode(c["text"].get<std::string>(), {side, true});
  if (!ids) return Outcome::failed(ids.error().message);
  const auto wanted = c["ids"].get<std::vector<int32_t>>();
  Outcome o;
  if (*ids != wanted) o.fail("other ids");
  if (c.contains("ids_plain")) {
    const auto plain = tokenizer.encode(c["text"].get<std::string>(), {side, false});
    if (!plain || *plain != c["ids_plain"].get<std::vector<int32_t>>()) o.fail("other ids_plain");
  }
  if (const Outcome tokens = check_tokens(tokenizer, c); tokens.verdict != Verdict::passed) o.fail(tokens.reason);
  if (const Outcome ranges = check_ranges(tokenizer, c["text"].get<std::string>()); ranges.verdict != Verdict::passed)
    o.fail(ranges.reason);
  // Ids always decode to something, the end token at least: an empty text says that none was recorded.
  if (c.value("decoded", std::string()).empty()) return o;
  for (const auto& [key, skip] : {std::pair{"decoded", false}, std::pair{"decoded_skip", true}}) {
    if (!c.contains(key)) continue;
    const auto text = tokenizer.decode(wanted, skip);
    if (!text)
      o.fail(text.error().message);
    else if (*text != c[key].get<std::string>())
      o.fail(std::string(key) + " is \"" + *text + "\"");
  }
  return o;
}

Outcome run_decode(const Tokenizer& tokenizer, const Json& c) {
  Outcome o;
  for (const auto& [key, skip] : {std::pair{"decoded", false}, std::pair{"decoded_skip", true}}) {
    if (!c.contains(key)) continue;
    const auto text = tokenizer.decode(c["ids"].get<std::vector<int32_t>>(), skip);
    if (!text)
      o.fail(text.error().message);
    else if (*text != c[key].get<std::string>())
      o.fail(std::string(key) + " is \"" + *text + "\"");
  }
  return o;
}

}  // namespace

void run_tokenizer_folder(const std::string& directory, const RunOptions& options, Report& report) {
  const auto record = read_json_file(directory + "/expected.json", size_t{64} << 20);
  if (!record) return report.add(directory, "expected.json", Outcome::failed(record.error().message));
  const std::string type = record->value("class", std::string("?"));
  const auto tokenizer = load_tokenizer(directory + "/files", type);
  const Subject subject{"", "", "", "tokenizer"};
  const auto run = [&](const char* list, auto function) {
    size_t i = 0;
    // Fields that are no list have one case.
    const Json field = record->value(list, Json::array());
    for (const auto& c : field.is_array() ? field : Json::array({field})) {
      const std::string name = std::string(list) + "[" + std::to_string(i++) + "]";
      if (name.find(options.filter) == std::string::npos) continue;
      if (!tokenizer) {
        report.add(directory, name,
                   tokenizer.error().code == ErrorCode::unsupported ? Outcome::unsupported(tokenizer.error().message)
                                                                    : Outcome::failed(tokenizer.error().message),
                   subject);
        continue;
      }
      try {
        report.add(directory, name, function(c), subject);
      } catch (const std::exception& e) {
        report.add(directory, name, Outcome::failed(std::string("the record is damaged: ") + e.what()), subject);
      }
    }
  };
  const auto model_file =
      record->contains("differing_from_model_file")
          ? load_tokenizer(directory + "/files", "sentencepiece.SentencePieceProcessor")
          : Result<std::unique_ptr<Tokenizer>>(fail(ErrorCode::not_found, "the record speaks of no model file"));
  run("cases", [&](const Json& c) {
    Outcome o = run_case(**tokenizer, c, TextSide::source);
    if (!model_file) return o;
    if (const Outcome m = run_model_file(**tokenizer, **model_file, c); m.verdict != Verdict::passed) o.fail(m.reason);
    return o;
  });
  run("target_cases", [&](const Json& c) { return run_case(**tokenizer, c, TextSide::target); });
  run("decode_cases", [&](const Json& c) { return run_decode(**tokenizer, c); });
  run("pairs", [&](const Json& c) { return run_pair(**tokenizer, c); });
  run("pair_truncation", [&](const Json& c) { return run_pair_truncation(**tokenizer, c); });
  run("pair_windows", [&](const Json& c) { return run_pair_windows(**tokenizer, c); });
  run("windows", [&](const Json& c) { return run_windows(**tokenizer, c); });
  run("batch", [&](const Json& c) { return run_batch(**tokenizer, c); });
  run("clean_up", [&](const Json& c) { return run_clean_up(**tokenizer, c); });
  run("prefixes", [&](const Json& c) { return run_prefix(**tokenizer, c); });
  run("whisper_decode", [&](const Json& c) { return run_whisper_decode(**tokenizer, c); });
  run("prompt_ids", [&](const Json& c) { return run_prompt(**tokenizer, c); });
  run("vocab_size", [&](const Json&) { return check_sizes(**tokenizer, *record); });
  run("languages", [&](const Json& c) { return run_language(**tokenizer, c); });
}

}  // namespace lapilli::conformance
