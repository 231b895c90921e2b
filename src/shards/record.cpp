#include "shards/record.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json_depth.hpp"

namespace lapilli::shards {

namespace {

using Json = nlohmann::ordered_json;

Json parsed(std::string_view text) {
  if (json_nests_too_deep(text)) return {};
  return Json::parse(text, nullptr, false);
}

std::string written(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

// Reads members, and remembers if one is missing or of another type.
class Members {
 public:
  explicit Members(const Json& object) : object_(object), ok_(object.is_object()) {}
  [[nodiscard]] bool ok() const { return ok_; }

  uint64_t number(const char* name) {
    const Json* value = find(name);
    if (value && value->is_number_unsigned()) return value->get<uint64_t>();
    ok_ = false;
    return 0;
  }
  double seconds(const char* name) {
    const Json* value = find(name);
    if (value && value->is_number()) return value->get<double>();
    ok_ = false;
    return 0;
  }
  std::string text(const char* name) {
    const Json* value = find(name);
    if (value && value->is_string()) return value->get<std::string>();
    ok_ = false;
    return "";
  }
  const Json& list(const char* name, bool object) {
    static const Json kNone = Json::array();
    const Json* value = find(name);
    if (value && (object ? value->is_object() : value->is_array())) return *value;
    ok_ = false;
    return kNone;
  }

 private:
  const Json* find(const char* name) {
    if (!ok_) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() ? nullptr : &*found;
  }

  const Json& object_;
  bool ok_;
};

Json json_of(const InputRecord& input) {
  const Piece& p = input.piece;
  return {{"name", input.name}, {"begin", p.begin}, {"end", p.end}, {"lines_before", p.lines_before},
          {"lines", p.lines},   {"hash", p.hash}};
}

bool read_inputs(const Json& list, std::vector<InputRecord>& inputs) {
  for (const Json& one : list) {
    Members m(one);
    InputRecord input{
        m.text("name"),
        {m.number("begin"), m.number("end"), m.number("lines_before"), m.number("lines"), m.text("hash")}};
    if (!m.ok()) return false;
    inputs.push_back(std::move(input));
  }
  return true;
}

bool read_shard(Members& m, Shard& shard) {
  const uint64_t number = m.number("shard"), count = m.number("of");
  shard = {static_cast<uint32_t>(number), static_cast<uint32_t>(count)};
  return m.ok() && count > 0 && count <= kMostShards && number < count;
}

bool read_texts(const Json& list, std::vector<std::string>& texts) {
  for (const Json& one : list) {
    if (!one.is_string()) return false;
    texts.push_back(one.get<std::string>());
  }
  return true;
}

bool read_settings(const Json& object, Settings& settings) {
  for (const auto& [name, value] : object.items()) {
    if (!value.is_string()) return false;
    settings.emplace_back(name, value.get<std::string>());
  }
  return true;
}

}  // namespace

Settings settled(const Settings& given) {
  Settings all;
  for (const auto& [name, value] : given) {
    const auto same = [&name = name](const auto& other) { return other.first == name; };
    const auto known = std::find_if(all.begin(), all.end(), same);
    if (known != all.end())
      known->second += " " + value;
    else if (!value.empty())
      all.emplace_back(name, value);
  }
  return all;
}

std::string other_run(const Record& a, const Record& b) {
  if (a.version != b.version) return "version of lapilli";
  if (a.inputs_hash != b.inputs_hash) return "list of inputs, or content of one";
  if (a.model_hash != b.model_hash) return "model";
  for (const auto& [of, in] : {std::pair(&a.settings, &b.settings), std::pair(&b.settings, &a.settings)})
    for (const auto& setting : *of)
      if (std::find(in->begin(), in->end(), setting) == in->end()) return setting.first;
  return "";
}

std::string other_input(const Record& a, const Record& b) {
  const auto same = [](const InputRecord& one, const InputRecord& other) {
    return one.name == other.name && one.piece.begin == other.piece.begin && one.piece.end == other.piece.end &&
           one.piece.lines_before == other.piece.lines_before && one.piece.hash == other.piece.hash;
  };
  for (size_t i = 0; i < std::min(a.inputs.size(), b.inputs.size()); ++i)
    if (!same(a.inputs[i], b.inputs[i])) return b.inputs[i].name;
  if (a.inputs.size() == b.inputs.size()) return "";
  return a.inputs.size() > b.inputs.size() ? a.inputs[b.inputs.size()].name : b.inputs[a.inputs.size()].name;
}

std::string json_of(const Record& r) {
  Json json = {
      {"shard", r.shard.number}, {"of", r.shard.count},         {"rows_in", r.rows_in}, {"rows_out", r.rows_out},
      {"rejected", r.rejected},  {"output", r.output},          {"bytes", r.bytes},     {"output_hash", r.output_hash},
      {"files", r.files},        {"inputs_hash", r.inputs_hash}};
  json["inputs"] = Json::array();
  for (const InputRecord& input : r.inputs) json["inputs"].push_back(json_of(input));
  json["model_hash"] = r.model_hash;
  json["settings"] = Json::object();
  for (const auto& [name, value] : r.settings) json["settings"][name] = value;
  json["version"] = r.version;
  json["device"] = r.device;
  json["host"] = r.host;
  json["seconds"] = r.seconds;
  return written(json);
}

std::optional<Record> record_in(std::string_view text) {
  const Json json = parsed(text);
  Members m(json);
  Record r;
  if (!read_shard(m, r.shard)) return {};
  r.rows_in = m.number("rows_in");
  r.rows_out = m.number("rows_out");
  r.rejected = m.number("rejected");
  r.output = m.text("output");
  r.bytes = m.number("bytes");
  r.output_hash = m.text("output_hash");
  r.inputs_hash = m.text("inputs_hash");
  r.model_hash = m.text("model_hash");
  r.version = m.text("version");
  r.device = m.text("device");
  r.host = m.text("host");
  r.seconds = m.seconds("seconds");
  const bool whole = read_texts(m.list("files", false), r.files) && read_inputs(m.list("inputs", false), r.inputs) &&
                     read_settings(m.list("settings", true), r.settings);
  return whole && m.ok() ? std::optional(std::move(r)) : std::nullopt;
}

std::string json_of(const Counting& counting) {
  return written({{"shards", counting.count}, {"first", counting.first}});
}

std::optional<Counting> counting_in(std::string_view text) {
  const Json json = parsed(text);
  Members m(json);
  const uint64_t count = m.number("shards"), first = m.number("first");
  if (!m.ok() || count == 0 || count > kMostShards || first > 1) return {};
  return Counting{static_cast<uint32_t>(count), static_cast<uint32_t>(first)};
}

}  // namespace lapilli::shards
