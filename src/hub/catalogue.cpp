#include "hub/catalogue.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.hpp"
#include "base/json_depth.hpp"
#include "fetched/names.hpp"

namespace lapilli::hub {

namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

// A picture has no language, and neither do its classes, nor the vector of a text. Classes of texts may have one.
struct TaskKind {
  const char* name;
  bool reads_language, writes_language, may_read_language = false;
};
constexpr const char* kByLabels = "classify --labels";
constexpr TaskKind kTasks[] = {{"translate", true, true},  {"summarize", true, true}, {"generate", true, true},
                               {"transcribe", true, true}, {"caption", false, true},  {"read", false, true},
                               {"embed", true, false},     {"rerank", true, false},   {"tag", true, false},
                               {"answer", true, false},    {"fill", true, false},     {"classify", false, false, true},
                               {kByLabels, true, false},   {"search", true, false}};

const TaskKind* find_task(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kTasks), std::end(kTasks), [&](const TaskKind& task) { return task.name == name; });
  return found == std::end(kTasks) ? nullptr : found;
}

bool read_names(const Json& object, const char* key, Names& names) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array() || found->empty()) return false;
  for (const Json& name : *found) {
    if (!name.is_string()) return false;
    const auto& text = name.get_ref<const std::string&>();
    if (text != kByLabels && !is_plain_name(text)) return false;
    names.push_back(name.get<std::string>());
  }
  return true;
}

bool any_task(const Names& tasks, bool TaskKind::*what) {
  return std::any_of(tasks.begin(), tasks.end(), [&](const std::string& name) { return find_task(name)->*what; });
}

// Languages must be named where the task has any, and nowhere else, unless they may be.
bool read_languages(const Json& object, const char* key, bool needed, bool allowed, Names& names) {
  return object.contains(key) ? (needed || allowed) && read_names(object, key, names) : !needed;
}

// Reads a text, or null, which leaves `text` empty.
bool read_text(const Json& object, const char* key, std::string& text) {
  const auto found = object.find(key);
  if (found == object.end() || !(found->is_null() || found->is_string())) return false;
  if (found->is_string()) text = found->get<std::string>();
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

bool read_tried(const Json& object, std::optional<Listed::Tried>& tried) {
  const auto found = object.find("tried");
  if (found == object.end()) return false;
  if (found->is_null()) return true;
  tried.emplace();
  return found->is_object() && read_text(*found, "by", tried->by) && read_text(*found, "date", tried->date) &&
         read_text(*found, "version", tried->version);
}

bool read_parameters(const Json& object, std::optional<uint64_t>& parameters) {
  const auto found = object.find("parameters");
  if (found == object.end()) return false;
  if (found->is_number_unsigned()) parameters = found->get<uint64_t>();
  return found->is_null() || found->is_number_unsigned();
}

// Gives the invalid field; "" if none is.
std::string read_entry(const Json& json, Listed& entry) {
  if (!json.is_object()) return "it is no JSON object";
  entry.bundled = json.value("bundled", Json()) == Json(true);
  const bool named = read_text(json, "name", entry.name);
  if (!named || !(entry.bundled ? is_plain_name(entry.name) : parse_model_name(entry.name).has_value())) return "name";
  if (!read_text(json, "family", entry.family) || entry.family.empty()) return "family";
  if (!read_names(json, "tasks", entry.tasks)) return "tasks";
  if (!std::all_of(entry.tasks.begin(), entry.tasks.end(), find_task)) return "tasks";
  const auto any = [&](bool TaskKind::*what) { return any_task(entry.tasks, what); };
  if (!read_languages(json, "from", any(&TaskKind::reads_language), any(&TaskKind::may_read_language), entry.from))
    return "from";
  if (!read_languages(json, "to", any(&TaskKind::writes_language), false, entry.to)) return "to";
  if (!read_parameters(json, entry.parameters)) return "parameters";
  if (!read_text(json, "license", entry.licence)) return "license";
  return read_tried(json, entry.tried) ? "" : "tried";
}

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool speaks(const Names& languages, const std::string& wanted, const SameLanguage& same) {
  return wanted.empty() || std::any_of(languages.begin(), languages.end(),
                                       [&](const std::string& language) { return same(language, wanted); });
}

std::string joined(const Names& names, const char* between) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : between) + name;
  return text;
}

std::string languages_of(const Names& names) {
  constexpr size_t kShown = 2;
  return names.size() <= kShown ? joined(names, ",") : std::to_string(names.size());
}

// "en > de", "en > 14", "202 languages", "en", "> en"; for an unlisted model its family. What only reads languages is
// shown as what writes the same ones.
std::string direction_of(const Listed& model) {
  if (!model.listed && model.installed.empty()) return model.family.empty() ? "?" : model.family;
  if (model.from.empty()) return model.to.empty() ? "" : "> " + languages_of(model.to);
  if (!model.to.empty() && model.from != model.to) return languages_of(model.from) + " > " + languages_of(model.to);
  return model.from.size() == 1 ? model.from[0] : std::to_string(model.from.size()) + " languages";
}

std::string size_of(const std::optional<uint64_t>& parameters) {
  if (!parameters) return "?";
  const double millions = static_cast<double>(*parameters) / 1e6;
  return millions < 1000 ? format("%.0f M", millions) : format("%.1f G", millions / 1000);
}

constexpr size_t kNameColumns = 40, kLicenceColumns = 15;

// A long name has a line of its own, and so has a folder that the name alone does not find.
std::string row_of(const Listed& model) {
  std::string row = (model.bundled || !model.fetched.empty() ? "* " : "  ") + model.name;
  if (model.name.size() > kNameColumns)
    row += "\n" + std::string(kNameColumns + 2, ' ');
  else
    row.append(kNameColumns - model.name.size(), ' ');
  const std::string licence = model.licence.empty() ? "?" : model.licence.substr(0, kLicenceColumns);
  row += format(" %-13s %6s  %s\n", direction_of(model), size_of(model.parameters), licence);
  if (model.shared || !model.listed) row += "    " + model.fetched + "\n";
  if (model.tried)
    row += format("    tried by %.24s on %.10s with version %.10s\n", model.tried->by, model.tried->date,
                  model.tried->version);
  return row;
}

bool is_wanted(const Present& one, const Wanted& wanted, const std::function<bool(const std::string&)>& is_family) {
  if (!wanted.from.empty() || !wanted.to.empty() || !wanted.task.empty()) return false;
  return wanted.family.empty() ? !one.shared || is_family(one.family) : one.family == wanted.family;
}

Listed unlisted(const Present& one) {
  Listed model;
  model.name = one.name;
  model.listed = false;
  model.family = one.family;
  model.licence = one.licence;
  model.fetched = one.directory;
  model.shared = one.shared;
  return model;
}

constexpr const char* kUnlistedHeading = "here, and not in the list";

std::string heading_of(const Listed& model) {
  if (!model.offered.empty()) return "translate (" + model.offered + ")";
  if (!model.installed.empty()) return "translate (installed by " + model.installed + ")";
  return model.listed ? joined(model.tasks, ", ") + " (" + model.family + ")" : kUnlistedHeading;
}

// Tasks come first, in the order of the program's commands, and the unlisted ones last.
std::pair<size_t, std::string> rank_of(const Listed& model) {
  if (!model.listed || model.tasks.empty()) return {std::size(kTasks), ""};
  return {static_cast<size_t>(find_task(model.tasks[0]) - kTasks), joined(model.tasks, ",")};
}

// Families of the same work stay in the order in which they come.
void sort_by_work(std::vector<Listed>& models) {
  std::map<std::string, size_t> first;
  for (size_t i = 0; i < models.size(); ++i) first.emplace(heading_of(models[i]), i);
  std::stable_sort(models.begin(), models.end(), [&](const Listed& a, const Listed& b) {
    const auto of_a = rank_of(a), of_b = rank_of(b);
    return of_a != of_b ? of_a < of_b : first[heading_of(a)] < first[heading_of(b)];
  });
}

constexpr const char* kLegend =
    R"(
Parameters in millions (M) or thousands of millions (G); ? is not known here and
is said before a fetch. * is there already. "tried" are these very weights; of
the others only the family was held against records (docs/use/models.md).
lapilli fetch NAME gets one, lapilli models --remove NAME removes it.
)";

}  // namespace

std::vector<std::string> task_names() {
  std::vector<std::string> names;
  for (const TaskKind& task : kTasks) names.emplace_back(task.name);
  return names;
}

Result<std::vector<Listed>> read_catalogue(const std::string& path) {
  LAPILLI_TRY(const auto text, read_text_file(path, size_t{1} << 24));
  std::vector<Listed> models;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++number;
    if (line.empty()) continue;
    Listed entry;
    const Json json = json_nests_too_deep(line) ? Json() : Json::parse(line, nullptr, false);
    if (const std::string wrong = read_entry(json, entry); !wrong.empty())
      return fail(ErrorCode::invalid_data, "%s:%u: wrong: %s; docs/use/models.md says how models are listed", path,
                  number, wrong);
    models.push_back(std::move(entry));
  }
  return models;
}

std::vector<Listed> select_models(const std::vector<Listed>& all, const Wanted& wanted, const SameLanguage& same) {
  std::vector<Listed> chosen;
  const std::string task =
      wanted.task.empty() && !wanted.from.empty() && !wanted.to.empty() ? "translate" : wanted.task;
  std::copy_if(all.begin(), all.end(), std::back_inserter(chosen), [&](const Listed& model) {
    return speaks(model.from, wanted.from, same) && speaks(model.to, wanted.to, same) &&
           (task.empty() || has(model.tasks, task)) && (wanted.family.empty() || model.family == wanted.family);
  });
  if (!wanted.from.empty() || !wanted.to.empty()) {
    const auto directions = [](const Listed& model) {
      return std::max<size_t>(model.from.size(), 1) * std::max<size_t>(model.to.size(), 1);
    };
    std::stable_sort(chosen.begin(), chosen.end(),
                     [&](const Listed& a, const Listed& b) { return directions(a) < directions(b); });
  }
  return chosen;
}

void add_present(const std::vector<Present>& present, const Wanted& wanted, const std::vector<Listed>& all,
                 const std::function<bool(const std::string&)>& is_family, std::vector<Listed>& chosen) {
  for (const Present& one : present) {
    const auto is_it = [&one](const Listed& model) { return model.name == one.name; };
    if (const auto known = std::find_if(chosen.begin(), chosen.end(), is_it); known != chosen.end()) {
      known->fetched = one.directory;
      known->shared = one.shared;
    } else if (is_wanted(one, wanted, is_family) && std::none_of(all.begin(), all.end(), is_it)) {
      chosen.push_back(unlisted(one));
    }
  }
}

void add_installed(const std::vector<Installed>& installed, const Wanted& wanted, const SameLanguage& same,
                   std::vector<Listed>& chosen) {
  if (!wanted.family.empty() || (!wanted.task.empty() && wanted.task != "translate")) return;
  for (const Installed& one : installed) {
    Listed model;
    model.name = one.name.empty() ? one.path.substr(one.path.find_last_of('/') + 1) : one.name;
    std::erase_if(chosen, [&](const Listed& other) { return !other.listed && other.name == model.name; });
    model.listed = false;
    model.tasks = {"translate"};
    model.from = {one.from};
    model.to = {one.to};
    model.fetched = one.path;
    model.installed = one.program;
    if (speaks(model.from, wanted.from, same) && speaks(model.to, wanted.to, same)) chosen.push_back(std::move(model));
  }
}

std::string table_of(std::vector<Listed> models) {
  sort_by_work(models);
  std::string table, before;
  for (const Listed& model : models) {
    const std::string heading = heading_of(model);
    if (heading != before) table += (table.empty() ? "" : "\n") + heading + "\n";
    before = heading;
    table += row_of(model);
  }
  return table + kLegend;
}

std::string json_of(const std::vector<Listed>& models) {
  Json list = Json::array();
  for (const Listed& m : models) {
    Json one = {{"name", m.name},   {"bundled", m.bundled}, {"family", m.family},
                {"tasks", m.tasks}, {"from", m.from},       {"to", m.to}};
    one["parameters"] = m.parameters ? Json(*m.parameters) : Json();
    one["license"] = m.licence.empty() ? Json() : Json(m.licence);
    one["tried"] = m.tried ? Json{{"by", m.tried->by}, {"date", m.tried->date}, {"version", m.tried->version}} : Json();
    one["fetched"] = m.fetched.empty() ? Json() : Json(m.fetched);
    one["shared"] = m.shared;
    one["listed"] = m.listed;
    one["installed"] = m.installed.empty() ? Json() : Json(m.installed);
    list.push_back(std::move(one));
  }
  // A directory's name may be invalid UTF-8.
  return list.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lapilli::hub
