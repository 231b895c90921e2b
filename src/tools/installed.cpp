// Models that other programs have installed on this machine.
#include <algorithm>
#include <tuple>

#include "base/path.hpp"
#include "fetched/cache.hpp"
#include "fetched/present.hpp"
#include "formats/doors/argos.hpp"
#include "formats/doors/door.hpp"
#include "generate/conventions.hpp"
#include "generate/fitting_tokenizer.hpp"
#include "generate/published.hpp"
#include "text/kinds/languages.hpp"
#include "tools/tools.hpp"

namespace lapilli::tools {

namespace {

constexpr const char *kArgos = "Argos Translate", *kFirefox = "Firefox";

std::string home_folder() {
  const std::string home = environment("HOME");
  return home.empty() ? environment("USERPROFILE") : home;
}

// Where Argos Translate keeps its packages; "" if the user has no home.
std::string argos_folder() {
  if (const std::string packages = environment("ARGOS_PACKAGES_DIR"); !packages.empty()) return packages;
  std::string data = environment("XDG_DATA_HOME");
  if (data.empty() && home_folder().empty()) return "";
  if (data.empty()) data = home_folder() + "/.local/share";
  return data + "/argos-translate/packages";
}

InstalledModel broken(const std::string& path, std::string why) {
  return {kArgos, path, "", "", "", std::move(why), ""};
}

// A package in files; one that translates nothing has no languages and no problem.
InstalledModel look_at_package(const std::string& path, const Files& files) {
  const auto package = doors::read_argos_package(files);
  if (!package) return broken(path, package.error().message);
  if (package->type != "translate") return broken(path, "");
  if (package->from.empty() || package->to.empty())
    return broken(path,
                  path + ": its metadata.json does not name one language to translate from and one to translate to");
  if (!(files.below("model") / "model.bin").there()) return broken(path, path + ": it has no model/model.bin");
  return {kArgos, path, package->from, package->to, package->version, "", ""};
}

InstalledModel look_at_archive(const std::string& path) {
  const auto files = doors::files_of_zip(path);
  return files ? look_at_package(path, *files) : broken(path, files.error().message);
}

InstalledModel look_at(const std::string& path) {
  return directory_exists(path) ? look_at_package(path, path) : look_at_archive(path);
}

std::vector<InstalledModel> argos_packages(const std::string& folder) {
  std::vector<InstalledModel> models;
  for (const std::string& name : names_in(folder)) {
    const std::string path = folder + "/" + name;
    if (name.starts_with('.')) continue;
    if (directory_exists(path) || doors::looks_like_zip(doors::first_bytes(path, 4))) models.push_back(look_at(path));
  }
  std::erase_if(models, [](const InstalledModel& m) { return m.problem.empty() && m.from.empty(); });
  return models;
}

// Models that `lapilli fetch argos/en_de` and `firefox/en_de` got: the names tell the languages.
std::vector<InstalledModel> fetched_from(const char* owner, const char* program) {
  std::vector<InstalledModel> models;
  const std::string own = hub::places_of_environment().own;
  for (const std::string& name : own.empty() ? std::vector<std::string>() : names_in(own + "/" + owner)) {
    const size_t at = name.find('_');
    const std::string directory = hub::find_fetched(own, {owner, name, "", ""});
    const auto manifest = hub::read_manifest(directory);
    if (at == std::string::npos || !manifest) continue;
    models.push_back({program, hub::path_in(directory, ""), name.substr(0, at), name.substr(at + 1),
                      manifest->asked_for, "", std::string(owner) + "/" + name});
  }
  return models;
}

Result<ModelLanguages> languages_in(const std::string& model) {
  LAPILLI_TRY(const auto published, read_published(model));
  LAPILLI_TRY(const auto tokenizer, load_fitting_tokenizer(published.files, published.network.config));
  return languages_of(*tokenizer);
}

std::string only_one(const std::vector<std::string>& codes) { return codes.size() == 1 ? codes.front() : ""; }

// "fr" for "fra_Latn", "fr_XX" and "fra"; "zh-Hant" for "zho_Hant". Other codes stay.
std::string usual_code(const std::string& code) {
  const size_t mark = std::min(code.find('_'), code.size());
  const std::string language = code.substr(0, mark), script = code.substr(std::min(mark + 1, code.size()));
  if (script == "XX") return language;
  if (language.size() != 3 || (!script.empty() && script.size() != 4)) return code;
  if (language == "zho" && !script.empty()) return "zh-" + script;
  for (const std::string_view two : m2m100_languages())
    if (same_language(std::string(two), code)) return std::string(two);
  return language;
}

// Names of groups of languages ("roa") may mean any.
bool may_speak(const std::vector<std::string>& codes, const std::string& wanted) {
  return codes.empty() || std::ranges::any_of(codes, [&](const std::string& code) {
           return same_language(code, wanted) || !lapilli::is_known_language(code);
         });
}

}  // namespace

OtherProgram other_program_in(const std::string& path) {
  try {
    const auto entered = doors::enter(path);
    if (!entered) return OtherProgram::refused;
    return entered->origin.program.empty() ? OtherProgram::none : OtherProgram::read;
  } catch (const std::exception&) {  // a library's; loading the model tells it
    return OtherProgram::refused;
  }
}

std::string installed_problem(const InstalledModel& model) {
  if (!model.problem.empty()) return model.problem;
  try {
    const auto languages = languages_in(model.path);
    return languages ? "" : languages.error().message;
  } catch (const std::exception& e) {  // a library's
    return model.path + ": " + e.what();
  }
}

bool may_translate(const std::string& model, const std::string& from, const std::string& to) {
  try {
    const auto languages = languages_in(model);
    return !languages || (may_speak(languages->sources, from) && may_speak(languages->targets, to));
  } catch (const std::exception&) {  // a library's; loading the model tells it
    return true;
  }
}

LanguagePair languages_of_run(const std::string& model, const std::string& from, const std::string& to) {
  LanguagePair pair{from, to};
  try {
    const auto known = from.empty() || to.empty() ? languages_in(model) : ModelLanguages();
    if (known && from.empty()) pair.from = only_one(known->sources);
    if (known && to.empty()) pair.to = only_one(known->targets);
  } catch (const std::exception&) {  // a library's
  }
  return {usual_code(pair.from), usual_code(pair.to)};
}

std::vector<InstalledModel> installed_models() {
  auto models = argos_packages(argos_folder());
  for (auto& fetched : {fetched_from("argos", kArgos), fetched_from("firefox", kFirefox)})
    models.insert(models.end(), fetched.begin(), fetched.end());
  std::ranges::stable_sort(models, [](const InstalledModel& a, const InstalledModel& b) {
    if (std::tie(a.from, a.to, a.program) != std::tie(b.from, b.to, b.program))
      return std::tie(a.from, a.to, a.program) < std::tie(b.from, b.to, b.program);
    return doors::is_newer_version(a.version, b.version);
  });
  return models;
}

}  // namespace lapilli::tools
