// lapilli models: lists known models and those on this machine, and removes fetched ones.
#include <algorithm>
#include <cstdio>
#include <memory>

#include "cli/arguments/model_names.hpp"
#include "cli/arguments/registries.hpp"
#include "cli/arguments/suggestions.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "fetched/huggingface_cache.hpp"
#include "fetched/present.hpp"
#include "hub/catalogue.hpp"
#include "hub/registry_fetch.hpp"
#include "hub/removal.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {

struct ModelsArguments {
  hub::Wanted wanted;
  std::string remove, registry;
  bool json = false;
};

// A listed model's own language code counts as known.
bool is_unknown(const std::vector<hub::Listed>& known, const std::string& language) {
  return !language.empty() && !tools::is_known_language(language) &&
         hub::select_models(known, {language, "", "", ""}, tools::same_language).empty() &&
         hub::select_models(known, {"", language, "", ""}, tools::same_language).empty();
}

// Broken ones are named, and the others listed.
void add_installed_models(const hub::Wanted& wanted, std::vector<hub::Listed>& chosen) {
  std::vector<hub::Installed> usable;
  for (const tools::InstalledModel& model : tools::installed_models())
    if (model.problem.empty())
      usable.push_back({model.program, model.path, model.from, model.to, model.version, model.name});
    else
      complain(exit_ok, "left aside: " + model.problem);
  hub::add_installed(usable, wanted, tools::same_language, chosen);
}

int run_models(const ModelsArguments& arguments) {
  const std::string list = tools::known_models_file();
  auto known = hub::read_catalogue(list.empty() ? "models.jsonl" : list);
  if (!known) {
    std::fprintf(stderr, "lapilli: the list of models: %s\n", known.error().message.c_str());
    return exit_input;
  }
  for (const std::string& language : {arguments.wanted.from, arguments.wanted.to})
    if (is_unknown(*known, language))
      return complain(exit_usage, "no language is known as " + json_string(language) +
                                      "; codes are such as fr, fra_Latn or fr_XX, and many have names, as french");
  std::vector<hub::Listed> chosen = hub::select_models(*known, arguments.wanted, tools::same_language);
  hub::add_present(hub::all_present(hub::places_of_environment()), arguments.wanted, *known, tools::is_known_family,
                   chosen);
  add_installed_models(arguments.wanted, chosen);
  if (arguments.json) return print(hub::json_of(chosen));
  if (!chosen.empty()) return print(hub::table_of(chosen));
  std::fprintf(stderr, "lapilli: no model that is listed does that; others of the same families may\n");
  return exit_ok;
}

// ---- --registry ----

std::vector<hub::Listed> listed_of(const std::vector<hub::OfferedModel>& offers, const hub::Registry& registry,
                                   const hub::Wanted& wanted) {
  std::vector<hub::Listed> all;
  for (const hub::OfferedModel& offer : offers) {
    hub::Listed model;
    model.name = registry.name + "/" + offer.from + "_" + offer.to;
    model.tasks = {"translate"};
    model.from = {offer.from};
    model.to = {offer.to};
    model.licence = registry.licence;
    model.offered = registry.program;
    all.push_back(std::move(model));
  }
  return hub::select_models(all, wanted, tools::same_language);
}

// The only listing that asks the network.
int list_registry(const ModelsArguments& a) {
  const auto registries = known_registries();
  if (!registries) return complain(exit_input, registries.error().message);
  const auto found = std::ranges::find_if(*registries, [&](const auto& one) { return one.name == a.registry; });
  std::string names;
  for (const hub::Registry& one : *registries) names += (names.empty() ? "" : ", ") + one.name;
  if (found == registries->end())
    return complain(exit_usage, "no registry is called " + json_string(a.registry) + "; there are: " + names);
  if (const auto allowed = hub::hub_of_environment(); !allowed) return complain(exit_usage, allowed.error().message);
  const auto offers = hub::ask_registry({}, *found, {});
  if (!offers) return complain(exit_input, offers.error().message);
  auto chosen = listed_of(*offers, *found, a.wanted);
  hub::add_present(hub::all_present(hub::places_of_environment()), {"", "", "translate", ""}, {},
                   tools::is_known_family, chosen);
  if (chosen.empty()) return complain(exit_ok, found->program + " has no model for these languages");
  return print(a.json ? hub::json_of(chosen) : hub::table_of(chosen));
}

// ---- --remove ----

// Advice on a name that is invalid, or of which nothing was fetched.
std::string fetched_meant(const std::string& typed, const hub::Places& places) {
  std::vector<std::string> names;
  for (const hub::Present& one : hub::all_present(places))
    if (!one.shared) names.push_back(one.name);
  const auto lacks_owner = [&](const std::string& name) { return name.ends_with("/" + typed); };
  if (const auto found = std::find_if(names.begin(), names.end(), lacks_owner); found != names.end())
    return "; did you mean " + *found + "?";
  const std::string meant = did_you_mean(typed, names);
  return meant.empty() ? "; lapilli models marks with * what is here" : meant;
}

// Explains why a model that is here cannot be removed.
int tell_why_not(const hub::ModelName& model, const std::string& name, const hub::Places& places, const Error& error) {
  if (error.code != ErrorCode::not_found)
    return complain(error.code == ErrorCode::out_of_memory ? exit_output : exit_input,
                    name + " is not removed: " + error.message);
  if (const hub::Snapshot snapshot = hub::find_snapshot(places.shared, model); !snapshot.directory.empty())
    return complain(exit_usage, name + " is not removed: it lies in " + snapshot.directory +
                                    ", the cache of other programs, which is only read; `hf cache` of huggingface_hub "
                                    "removes it");
  return complain(exit_input, "no model " + name + " was fetched" + fetched_meant(name, places));
}

int remove_model(const std::string& name) {
  if (const std::string bundled = bundled_directory(name); !bundled.empty())
    return complain(exit_usage, name + " is not removed: it comes along with the program, in " + bundled);
  const hub::Places places = hub::places_of_environment();
  const auto model = hub::parse_model_name(name);
  if (!model)
    return complain(exit_usage, "--remove takes OWNER/NAME or OWNER/NAME@REVISION of a model that was fetched, and " +
                                    json_string(name) + " is none" + fetched_meant(name, places));
  const auto removed = hub::remove_fetched(places.own, *model);
  if (!removed) return tell_why_not(*model, name, places, removed.error());
  std::string text;
  for (const std::string& directory : removed->directories) text += "removed " + directory + "\n";
  return print(text + "removed " + name + ", " + std::to_string(removed->bytes) + " bytes\n");
}

// Names the tasks in its error; in --help they would fill more than a line.
CLI::Validator task_name() {
  return {[](std::string& typed) -> std::string {
            const auto names = hub::task_names();
            if (std::find(names.begin(), names.end(), typed) != names.end()) return "";
            std::string all;
            for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
            return json_string(typed) + " is none of " + all + did_you_mean(typed, names);
          },
          ""};
}

constexpr const char* kModelsFooter =
    R"(Examples:
  lapilli models --from en --to de
  lapilli models --task transcribe
  lapilli models --remove Helsinki-NLP/opus-mt-en-de

Lists published models of the families that run, and others that are here, offline; with --registry those of Argos
Translate or Firefox, which are asked for. lapilli fetch OWNER/NAME gets
one, listed or not. A model that other programs have fetched into HF_HUB_CACHE (or HF_HOME/hub, ~/.cache/huggingface/hub)
is shown with its folder and used there; --remove leaves it alone, and removes others without asking.
)";

int run_removal(const ModelsArguments& a) {
  if (!a.wanted.task.empty()) return complain(exit_usage, "--remove names a model; it does not go with --task");
  return remove_model(a.remove);
}

}  // namespace

void add_models(CLI::App& app, Context& context) {
  auto a = std::make_shared<ModelsArguments>();
  CLI::App* command = app.add_subcommand("models", "List published models that should run, and which are here");
  command->add_option("--from", a->wanted.from, "That read this language: fr, fra_Latn, ...")->type_name("LANGUAGE");
  command->add_option("--to", a->wanted.to, "That write this language")->type_name("LANGUAGE");
  command
      ->add_option("--task", a->wanted.task,
                   "For this command: translate, embed, tag, transcribe, read, ...; \"classify --labels\": for labels "
                   "of your own")
      ->type_name("TASK")
      ->check(task_name());
  command->add_option("--family", a->wanted.family, "Of this family, such as marian")->type_name("FAMILY");
  command->add_flag("--json", a->json, "As JSON");
  CLI::Option* remove = command->add_option("--remove", a->remove, "Remove what was fetched of this model");
  remove->type_name("OWNER/NAME")->check(not_empty())->configurable(false);
  CLI::Option* registry = command->add_option("--registry", a->registry, "What another program's registry has, now");
  registry->type_name("argos|firefox")->check(not_empty())->excludes("--family");
  for (const char* other : {"--from", "--to", "--family", "--json", "--registry"}) remove->excludes(other);
  command->footer(kModelsFooter);
  command->callback([&context, a] {
    context.run = [a] {
      if (!a->registry.empty()) return list_registry(*a);
      return a->remove.empty() ? run_models(*a) : run_removal(*a);
    };
  });
}

}  // namespace lapilli::cli
