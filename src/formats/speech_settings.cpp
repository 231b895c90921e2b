#include "formats/speech_settings.hpp"

#include <nlohmann/json.hpp>

#include "formats/hf_config.hpp"

namespace lapilli {

namespace {

using Json = nlohmann::json;

const Json* object_of(const JsonView& v, const char* key) {
  const auto it = v.json.find(key);
  return it != v.json.end() && it->is_object() ? &*it : nullptr;
}

Result<std::map<std::string, int32_t>> named_ids(const JsonView& v, const char* key) {
  std::map<std::string, int32_t> ids;
  const Json* table = object_of(v, key);
  if (!table) return ids;
  for (const auto& item : table->items()) {
    LAPILLI_TRY(ids[item.key()], get_id({*table, v.where + ", " + key}, item.key().c_str()));
  }
  return ids;
}

Result<std::optional<int32_t>> optional_id(const JsonView& v, const char* key) {
  if (!has(v, key)) return std::optional<int32_t>();
  LAPILLI_TRY(const auto id, get_id(v, key));
  return std::optional(id);
}

// Pairs of layer and head.
Result<std::vector<std::pair<uint32_t, uint32_t>>> heads(const JsonView& v) {
  std::vector<std::pair<uint32_t, uint32_t>> all;
  const auto it = v.json.find("alignment_heads");
  if (it == v.json.end() || it->is_null()) return all;
  for (const Json& pair : *it) {
    const bool fits =
        pair.is_array() && pair.size() == 2 && pair[0].is_number_unsigned() && pair[1].is_number_unsigned();
    if (!fits || pair[0].get<uint64_t>() > 0xffff || pair[1].get<uint64_t>() > 0xffff)
      return fail(ErrorCode::invalid_data, "%s: alignment_heads are not pairs of layer and head", v.where);
    all.emplace_back(pair[0].get<uint32_t>(), pair[1].get<uint32_t>());
  }
  return all;
}

bool read_forced(const Json& pair, ForcedDecoderId& to) {
  const auto fits = [](const Json& j, uint64_t most) { return j.is_number_unsigned() && j.get<uint64_t>() <= most; };
  if (!pair.is_array() || pair.size() != 2 || !fits(pair[0], 0xffffffffu)) return false;
  to.position = pair[0].get<uint32_t>();
  if (!pair[1].is_null() && !fits(pair[1], 0x7fffffffu)) return false;
  if (!pair[1].is_null()) to.id = pair[1].get<int32_t>();
  return true;
}

// Ids that do not begin right after the decoder's start are ignored.
Status read_forced(const JsonView& v, SpeechSettings& s) {
  if (!has(v, "forced_decoder_ids")) return {};
  const Json& all = v.json["forced_decoder_ids"];
  bool fits = all.is_array();
  for (size_t i = 0; fits && i < all.size(); ++i) fits = read_forced(all[i], s.forced.emplace_back());
  if (!fits)
    return fail(ErrorCode::invalid_data, "%s: \"forced_decoder_ids\" must be a list of [position, token id] pairs",
                v.where);
  if (!s.forced.empty() && s.forced.front().position != 1) s.forced.clear();
  return {};
}

Status read_file(const JsonView& v, SpeechSettings& s) {
  LAPILLI_TRY(s.languages, named_ids(v, "lang_to_id"));
  LAPILLI_TRY(s.tasks, named_ids(v, "task_to_id"));
  LAPILLI_TRY(s.language, get_string(v, "language", ""));
  LAPILLI_TRY(s.task, get_string(v, "task", ""));
  LAPILLI_TRY(s.previous_start, optional_id(v, "prev_sot_token_id"));
  LAPILLI_TRY(s.no_timestamps, optional_id(v, "no_timestamps_token_id"));
  LAPILLI_TRY(s.alignment_heads, heads(v));
  LAPILLI_TRY(s.heads_by_default, get_bool(v, "alignment_heads_by_default", false));
  LAPILLI_TRY(s.return_timestamps, get_bool(v, "return_timestamps", false));
  return {};
}

constexpr uint32_t kMostFilter = 1001;

}  // namespace

Result<SpeechSettings> read_speech_settings(const Files& files) {
  SpeechSettings s;
  const FileName model = files / "config.json", own = files / "generation_config.json";
  LAPILLI_TRY(const auto config, read_json_file(model));
  const JsonView old{config, model.path()};
  LAPILLI_TRY(s.median_filter, get_u32(old, "median_filter_width", 7));
  if (s.median_filter % 2 == 0 || s.median_filter > kMostFilter)
    return fail(ErrorCode::invalid_data, "%s: \"median_filter_width\" is %u, but must be an odd number up to %u",
                model.path().c_str(), s.median_filter, kMostFilter);
  if (!own.there()) {
    LAPILLI_CHECK(read_forced(old, s));
    return s;
  }
  LAPILLI_TRY(const auto json, read_json_file(own));
  const JsonView view{json, own.path()};
  LAPILLI_CHECK(read_file(view, s));
  LAPILLI_CHECK(read_forced(has(view, "forced_decoder_ids") ? view : old, s));
  return s;
}

}  // namespace lapilli
