// lapilli models: what is known to the project, and what of it is here.
#include <cstdio>
#include <memory>

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "hub/cache.hpp"
#include "hub/catalogue.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {

struct ModelsArguments {
  hub::Wanted wanted;
  bool json = false;
};

// A code of a listed model's own is one, too.
bool is_unknown(const std::vector<hub::Listed>& known, const std::string& language) {
  return !language.empty() && !tools::is_known_language(language) &&
         hub::select_models(known, {language, "", "", ""}, tools::same_language).empty() &&
         hub::select_models(known, {"", language, "", ""}, tools::same_language).empty();
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
  if (const auto models = hub::models_directory()) {
    for (hub::Listed& model : chosen) {
      if (const auto name = hub::parse_model_name(model.name)) model.fetched = hub::find_fetched(*models, *name);
    }
  }
  if (arguments.json) return print(hub::json_of(chosen));
  if (!chosen.empty()) return print(hub::table_of(chosen));
  std::fprintf(stderr, "lapilli: no model that is listed does that; others of the same families may\n");
  return exit_ok;
}

constexpr const char* kModelsFooter =
    R"(Examples:
  lapilli models --from en --to de
  lapilli models --task summarize

Lists published models of the families that run; it asks nobody. lapilli fetch OWNER/NAME gets one, listed or not.
)";

}  // namespace

void add_models(CLI::App& app, Context& context) {
  auto a = std::make_shared<ModelsArguments>();
  CLI::App* command = app.add_subcommand("models", "List published models that should run, and which are here");
  command->add_option("--from", a->wanted.from, "That read this language: fr, fra_Latn, ...")->type_name("LANGUAGE");
  command->add_option("--to", a->wanted.to, "That write this language")->type_name("LANGUAGE");
  command->add_option("--task", a->wanted.task, "For translate, summarize or generate")
      ->type_name("TASK")
      ->check(CLI::IsMember({"translate", "summarize", "generate"}));
  command->add_option("--family", a->wanted.family, "Of this family, such as marian")->type_name("FAMILY");
  command->add_flag("--json", a->json, "As JSON");
  command->footer(kModelsFooter);
  command->callback([&context, a] { context.run = [a] { return run_models(*a); }; });
}

}  // namespace lapilli::cli
