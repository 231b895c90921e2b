#include "hub/registry.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/files.hpp"
#include "base/json_depth.hpp"
#include "fetched/names.hpp"
#include "hub/url.hpp"

namespace lapilli::hub {

namespace {

using Json = nlohmann::json;

constexpr size_t kMostOffers = size_t{1} << 16, kMostUrls = 8;

struct FormName {
  const char* name;
  Registry::Form form;
};
constexpr FormName kForms[] = {{"argos-index", Registry::Form::argos_index},
                               {"remote-settings", Registry::Form::remote_settings}};

// A text that may be shown on a terminal; "" for any other.
std::string plain_text(const Json& object, const char* key) {
  constexpr size_t kMost = 1000;
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (!object.is_object() || found == object.end() || !found->is_string()) return "";
  const std::string text = found->get<std::string>();
  const bool plain = std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
  return plain && text.size() <= kMost ? text : "";
}

bool is_code(const std::string& text) {
  return !text.empty() && text.size() <= 20 && is_plain_name(text) && text.find('_') == std::string::npos;
}

std::string name_at(const Json& object, const char* key) {
  const std::string name = plain_text(object, key);
  return is_plain_name(name) ? name : "";
}

// Numbers between dots; a letter behind one ("1.0a3") makes it older than the number alone.
std::vector<int64_t> version_key(std::string_view version) {
  std::vector<int64_t> key;
  while (!version.empty() && key.size() < 8) {
    const std::string_view part = version.substr(0, version.find('.'));
    int64_t number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    key.push_back(error == std::errc() ? number : -1);
    key.push_back(end == part.data() + part.size() ? 0 : -1);
    version.remove_prefix(std::min(version.size(), part.size() + 1));
  }
  return key;
}

// ---- Argos ----------------------------------------------------------------------------------------------------------

std::vector<std::string> urls_in(const Json& object) {
  std::vector<std::string> urls;
  const auto links = object.find("links");
  if (links == object.end() || !links->is_array()) return urls;
  for (const Json& link : *links) {
    const std::string url = link.is_string() ? plain_text({{"url", link}}, "url") : "";
    if (!origin_of(url).empty() && urls.size() < kMostUrls) urls.push_back(url);
  }
  return urls;
}

std::string last_part(const std::string& url) { return url.substr(url.find_last_of('/') + 1); }

std::optional<OfferedModel> read_argos_entry(const Json& entry) {
  if (!entry.is_object()) return {};
  const std::string type = plain_text(entry, "type");
  OfferedModel model{
      plain_text(entry, "from_code"), plain_text(entry, "to_code"), name_at(entry, "package_version"), {}};
  OfferedFile file{"", urls_in(entry), {}, ""};
  if (file.urls.empty() || (!type.empty() && type != "translate")) return {};
  file.name = last_part(file.urls.front());
  if (!is_plain_name(file.name) || !file.name.ends_with(".argosmodel")) return {};
  model.files = {std::move(file)};
  return model;
}

Result<std::vector<OfferedModel>> read_argos(const Json& json) {
  if (!json.is_array()) return fail(ErrorCode::invalid_data, "it is no list of packages");
  std::vector<OfferedModel> models;
  for (const Json& entry : json)
    if (auto model = read_argos_entry(entry)) models.push_back(std::move(*model));
  return models;
}

// ---- Mozilla --------------------------------------------------------------------------------------------------------

bool is_sha256(const std::string& text) { return is_commit(text) && text.size() == 64; }

// Those with a filter are for some versions of Firefox alone.
bool is_for_all(const Json& record) {
  const auto filter = record.find("filter_expression");
  return filter == record.end() || filter->is_null() || *filter == Json("");
}

// A record is one file of a model.
bool read_record(const Json& record, const std::string& base, OfferedModel& model, OfferedFile& file) {
  if (!record.is_object() || !is_for_all(record)) return false;
  const auto attachment = record.find("attachment");
  if (attachment == record.end() || !attachment->is_object()) return false;
  const auto size = attachment->find("size");
  const std::string location = plain_text(*attachment, "location");
  if (size == attachment->end() || !size->is_number_unsigned() || !is_revision(location)) return false;
  model = {plain_text(record, "fromLang"), plain_text(record, "toLang"), name_at(record, "version"), {}};
  file = {name_at(record, "name"), {base + location}, size->get<uint64_t>(), plain_text(*attachment, "hash")};
  return !file.name.empty() && is_sha256(file.sha256);
}

bool has_file(const OfferedModel& model, std::string_view start) {
  return std::ranges::any_of(model.files, [&](const OfferedFile& file) { return file.name.starts_with(start); });
}

bool is_whole(const OfferedModel& model) {
  const bool vocabulary = has_file(model, "vocab.") || (has_file(model, "srcvocab.") && has_file(model, "trgvocab."));
  return vocabulary && has_file(model, "model.");
}

// Quality estimation is not read, and of a doubled name the first counts.
void add_file(OfferedModel& model, OfferedFile file) {
  constexpr size_t kMostFiles = 8;
  const bool known =
      file.name.starts_with("model.") || file.name.starts_with("lex.") || file.name.find("vocab.") != std::string::npos;
  if (!known || model.files.size() == kMostFiles || has_file(model, file.name)) return;
  model.files.push_back(std::move(file));
}

Result<std::vector<OfferedModel>> read_mozilla(const Json& json, const std::string& base) {
  const auto data = json.is_object() ? json.find("data") : json.end();
  if (!json.is_object() || data == json.end() || !data->is_array())
    return fail(ErrorCode::invalid_data, "it has no list of records (\"data\")");
  std::map<std::tuple<std::string, std::string, std::string>, OfferedModel> by_version;
  for (const Json& record : *data) {
    OfferedModel model;
    OfferedFile file;
    if (!read_record(record, base, model, file)) continue;
    OfferedModel& of = by_version[{model.from, model.to, model.version}];
    if (of.files.empty()) of = model;
    add_file(of, std::move(file));
  }
  std::vector<OfferedModel> models;
  for (auto& [key, model] : by_version)
    if (is_whole(model)) models.push_back(std::move(model));
  return models;
}

// ---- all ------------------------------------------------------------------------------------------------------------

// Sorted by languages; the newest of each pair.
void keep_newest(std::vector<OfferedModel>& models) {
  std::erase_if(models, [](const OfferedModel& m) { return !is_code(m.from) || !is_code(m.to) || m.version.empty(); });
  std::ranges::stable_sort(models, [](const OfferedModel& a, const OfferedModel& b) {
    if (std::tie(a.from, a.to) != std::tie(b.from, b.to)) return std::tie(a.from, a.to) < std::tie(b.from, b.to);
    return version_key(a.version) > version_key(b.version);
  });
  const auto same_pair = [](const OfferedModel& a, const OfferedModel& b) { return a.from == b.from && a.to == b.to; };
  models.erase(std::unique(models.begin(), models.end(), same_pair), models.end());
}

bool read_registry(const Json& json, Registry& registry) {
  registry = {name_at(json, "name"),      "", {}, plain_text(json, "index"), plain_text(json, "files"),
              plain_text(json, "license")};
  const auto program = json.is_object() ? json.find("program") : json.end();
  if (!json.is_object() || program == json.end() || !program->is_string()) return false;
  registry.program = program->get<std::string>();
  const std::string form = plain_text(json, "form");
  const auto known = std::ranges::find_if(kForms, [&](const FormName& f) { return form == f.name; });
  if (known == std::end(kForms)) return false;
  registry.form = known->form;
  const bool needs_files = registry.form == Registry::Form::remote_settings;
  return !registry.name.empty() && !origin_of(registry.index).empty() &&
         (!needs_files || (!origin_of(registry.files).empty() && registry.files.ends_with('/')));
}

}  // namespace

Result<std::vector<Registry>> read_registries(const std::string& path) {
  LAPILLI_TRY(const auto text, read_text_file(path, size_t{1} << 20));
  const Json json = json_nests_too_deep(text) ? Json() : Json::parse(text, nullptr, false);
  if (!json.is_array()) return fail(ErrorCode::invalid_data, "%s is no list of registries in JSON", path);
  std::vector<Registry> registries;
  for (const Json& entry : json) {
    Registry registry;
    if (!read_registry(entry, registry))
      return fail(ErrorCode::invalid_data, "%s: entry %u is wrong; docs/use/doors.md says how registries are listed",
                  path, registries.size() + 1);
    registries.push_back(std::move(registry));
  }
  return registries;
}

Result<std::vector<OfferedModel>> read_offers(const Registry& registry, std::string_view text) {
  const Json json = json_nests_too_deep(text) ? Json() : Json::parse(text, nullptr, false);
  auto models = registry.form == Registry::Form::argos_index ? read_argos(json) : read_mozilla(json, registry.files);
  if (!models) return std::move(models).error().in("the list of " + registry.program + " at " + registry.index);
  if (models->size() > kMostOffers)
    return fail(ErrorCode::invalid_data, "the list at %s has %u models; at most %u are read", registry.index,
                models->size(), kMostOffers);
  keep_newest(*models);
  return models;
}

std::optional<LanguageCodes> parse_pair(std::string_view name) {
  const size_t at = name.find('_');
  if (at == std::string_view::npos) return {};
  LanguageCodes pair{std::string(name.substr(0, at)), std::string(name.substr(at + 1))};
  if (!is_code(pair.from) || !is_code(pair.to)) return {};
  return pair;
}

const OfferedModel* find_offer(const std::vector<OfferedModel>& offers, const LanguageCodes& pair,
                               const SameLanguage& same) {
  const auto exactly =
      std::ranges::find_if(offers, [&](const OfferedModel& m) { return m.from == pair.from && m.to == pair.to; });
  const auto found = exactly != offers.end() ? exactly : std::ranges::find_if(offers, [&](const OfferedModel& m) {
    return same(m.from, pair.from) && same(m.to, pair.to);
  });
  return found == offers.end() ? nullptr : &*found;
}

}  // namespace lapilli::hub
