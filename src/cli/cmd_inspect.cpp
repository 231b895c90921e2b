#include <cstdio>
#include <memory>

#include "cli/arguments/model_names.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {
int run_inspect(const tools::InspectRequest& request) {
  tools::InspectRequest found = request;
  if (const int code = find_model(found.model)) return code;
  const auto described = tools::inspect(found);
  if (described.status == LAPILLI_OK) return print(described.text);
  std::fprintf(stderr, "lapilli: %s\n", described.text.c_str());
  return exit_code(described.status);
}
}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  auto arguments = std::make_shared<tools::InspectRequest>();
  CLI::App* command = app.add_subcommand("inspect", "Describe a model directory: family, languages, shapes, memory");
  command->add_option("model", arguments->model, kModelHelp)->type_name("MODEL");
  command->add_flag("--tensors", arguments->tensors, "Name, type and shape of each tensor as well");
  command->add_flag("--json", arguments->json, "As JSON");
  command->footer("Needs no device. Every tensor that the family asks for is looked up and its shape checked.");
  command->callback([&context, arguments] { context.run = [arguments] { return run_inspect(*arguments); }; });
}

}  // namespace lapilli::cli
