#include "conformance/tokenizer_files.hpp"

#include <unordered_map>

namespace lapilli::conformance {

namespace {
using Json = nlohmann::json;
using Ids = std::vector<int32_t>;
}  // namespace

Outcome run_language(const Tokenizer& tokenizer, const Json& c) {
  const auto source = c["src_lang"].get<std::string>();
  const auto target = c["tgt_lang"].get<std::string>();
  const auto text = c["text"].get<std::string>();
  Outcome o;
  const auto check = [&](TextSide side, const char* key) {
    EncodeOptions options;
    options.side = side;
    options.source_language = source;
    options.target_language = target;
    const auto ids = tokenizer.encode(text, options);
    if (!ids)
      o.fail(ids.error().message);
    else if (*ids != c[key].get<Ids>())
      o.fail(std::string("other ") + key);
  };
  check(TextSide::source, "source_ids");
  check(TextSide::target, "target_ids");
  if (tokenizer.language_id(target) != c["tgt_lang_id"].get<int32_t>()) o.fail("other tgt_lang_id");
  return o;
}

Outcome check_ranges(const Tokenizer& tokenizer, const std::string& text) {
  const auto encoding = tokenizer.encode_with_offsets(text);
  if (!encoding) return Outcome::failed(encoding.error().message);
  Outcome o;
  ByteRange last;
  for (size_t i = 0; i < encoding->ids.size(); ++i) {
    const ByteRange r = encoding->offsets[i];
    if (encoding->texts[i] < 0) {
      if (r.begin != r.end) o.fail("a token of the tokenizer's own has a byte range");
      continue;
    }
    if (r.begin > r.end || r.end > text.size()) o.fail("a byte range outside the text");
    if (r.begin < last.begin || r.end < last.end) o.fail("byte ranges go back");
    last = r;
  }
  return o;
}

Outcome run_model_file(const Tokenizer& tokenizer, const Tokenizer& model_file, const Json& c) {
  std::unordered_map<std::string_view, int32_t> ids_of;
  for (uint64_t id = 0; id < tokenizer.vocabulary_size(); ++id)
    ids_of.emplace(tokenizer.token(static_cast<int32_t>(id)), static_cast<int32_t>(id));
  const auto pieces = model_file.encode(c["text"].get<std::string>());
  if (!pieces) return Outcome::failed(pieces.error().message);
  Ids ids;
  for (const int32_t piece : *pieces) {
    const auto it = ids_of.find(model_file.token(piece));
    ids.push_back(it == ids_of.end() || piece == model_file.special().unk ? tokenizer.special().unk : it->second);
  }
  const char* key = c.contains("ids_plain_from_model_file") ? "ids_plain_from_model_file" : "ids_plain";
  return ids == c[key].get<Ids>() ? Outcome() : Outcome::failed(std::string("the model file gives other ") + key);
}

}  // namespace lapilli::conformance
