#include "text/pipeline/json_components.hpp"

namespace lapilli {
namespace {

// Limit of tokens that a template or processor inserts at one position; far above any published one.
constexpr size_t kMaxSpecial = 4096;

// ["</s>", 2]
Result<int32_t> read_token_and_id(const JsonReader& reader, const char* key) {
  const nlohmann::json* value = reader.find(key);
  if (value == nullptr || !value->is_array() || value->size() != 2 || !(*value)[1].is_number_unsigned() ||
      (*value)[1].get<uint64_t>() > INT32_MAX)
    return reader.wrong(key, "a token with its id");
  return static_cast<int32_t>((*value)[1].get<uint64_t>());
}

// "special_tokens": {"</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}}
Result<std::vector<int32_t>> read_special(const JsonReader& reader, const std::string& name) {
  const nlohmann::json* table = reader.find("special_tokens");
  if (table == nullptr || !table->is_object() || !table->contains(name))
    return fail(ErrorCode::invalid_data, "%s: special_tokens has no %s", reader.where(), quote_text(name));
  const JsonReader entry = reader.at((*table)[name], "special_tokens");
  LAPILLI_TRY(const nlohmann::json* ids, entry.array("ids"));
  std::vector<int32_t> out;
  for (const nlohmann::json& id : *ids) {
    if (!id.is_number_unsigned() || id.get<uint64_t>() > INT32_MAX || out.size() >= kMaxSpecial)
      return entry.wrong("ids", "a short list of ids");
    out.push_back(static_cast<int32_t>(id.get<uint64_t>()));
  }
  return out;
}

Result<TemplatePart> read_part(const JsonReader& all, const JsonReader& reader) {
  TemplatePart part;
  if (reader.json().is_object() && reader.json().size() == 1) {
    const auto member = reader.json().begin();
    const JsonReader inner = reader.at(*member, member.key());
    LAPILLI_TRY(const std::string id, inner.text("id"));
    LAPILLI_TRY(part.type, inner.number("type_id", 0));
    if (member.key() == "SpecialToken") {
      LAPILLI_TRY(part.ids, read_special(all, id));
      return part;
    }
    if (member.key() == "Sequence" && (id == "A" || id == "B")) {
      part.kind = id == "A" ? TemplatePart::Kind::first : TemplatePart::Kind::second;
      return part;
    }
  }
  return fail(ErrorCode::invalid_data, "%s is neither a Sequence A or B nor a SpecialToken", reader.where());
}

Result<std::vector<TemplatePart>> read_parts(const JsonReader& reader, const char* key) {
  LAPILLI_TRY(const nlohmann::json* list, reader.array(key));
  std::vector<TemplatePart> parts;
  size_t texts[2] = {0, 0};
  for (size_t i = 0; i < list->size(); ++i) {
    LAPILLI_TRY(auto part, read_part(reader, reader.at((*list)[i], key + std::to_string(i))));
    if (part.kind == TemplatePart::Kind::first) ++texts[0];
    if (part.kind == TemplatePart::Kind::second) ++texts[1];
    parts.push_back(std::move(part));
  }
  if (parts.size() > kMaxSpecial || texts[0] > 1 || texts[1] > 1)
    return reader.wrong(key, "a template that has each text once");
  return parts;
}

Result<PostProcessorPtr> read_template(const JsonReader& reader) {
  TemplateOptions options;
  LAPILLI_TRY(options.single, read_parts(reader, "single"));
  if (reader.find("pair") != nullptr) {
    LAPILLI_TRY(options.pair, read_parts(reader, "pair"));
  }
  return make_template(std::move(options));
}

Result<TrimmedBlanks> read_trimming(const JsonReader& reader) {
  LAPILLI_TRY(const bool trims, reader.flag("trim_offsets", true));
  LAPILLI_TRY(const bool prefix, reader.flag("add_prefix_space", true));
  if (!trims) return TrimmedBlanks::none;
  return prefix ? TrimmedBlanks::all_but_first : TrimmedBlanks::all;
}

}  // namespace

Result<PostProcessorPtr> read_post_processor(const JsonReader& reader) {
  LAPILLI_TRY(const std::string type, reader.text("type"));
  if (type == "TemplateProcessing") return read_template(reader);
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    LAPILLI_TRY(const int32_t cls, read_token_and_id(reader, "cls"));
    LAPILLI_TRY(const int32_t sep, read_token_and_id(reader, "sep"));
    LAPILLI_TRY(const TrimmedBlanks trim, read_trimming(reader));
    return type == "BertProcessing" ? make_bert_processing(cls, sep) : make_roberta_processing(cls, sep, trim);
  }
  if (type == "ByteLevel") {
    LAPILLI_TRY(const TrimmedBlanks trim, read_trimming(reader));
    return make_byte_level_post_processor(trim);
  }
  if (type == "Sequence") {
    LAPILLI_TRY(const nlohmann::json* list, reader.array("processors"));
    std::vector<PostProcessorPtr> parts;
    for (size_t i = 0; i < list->size(); ++i) {
      LAPILLI_TRY(auto part, read_post_processor(reader.at((*list)[i], std::to_string(i))));
      parts.push_back(std::move(part));
    }
    return make_post_processor_sequence(std::move(parts));
  }
  return fail(ErrorCode::unsupported, "%s: this version knows no post-processor %s", reader.where(), quote_text(type));
}

}  // namespace lapilli
