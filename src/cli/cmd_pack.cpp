#include <cstdio>
#include <memory>

#include "cli/arguments/model_names.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {
int run_pack(const tools::PackRequest& request) {
  tools::PackRequest found = request;
  if (const int code = find_model(found.model)) return code;
  const auto packed = tools::pack(found);
  if (packed.status == LAPILLI_OK) return print(packed.text);
  std::fprintf(stderr, "lapilli: %s\n", packed.text.c_str());
  return exit_code(packed.status);
}
}  // namespace

void add_pack(CLI::App& app, Context& context) {
  auto arguments = std::make_shared<tools::PackRequest>();
  CLI::App* command = app.add_subcommand("pack", "Write a model with its matrices in fewer bits, to bring along");
  command->add_option("model", arguments->model, "Model directory, or OWNER/NAME of a fetched model")
      ->type_name("MODEL")
      ->required();
  command->add_option("output", arguments->output, "Directory to make")->type_name("OUT")->required();
  command
      ->add_option("--dtype", arguments->dtype,
                   "int8 takes a bit over a quarter of fp32, int4 a bit over a seventh. By default that of MODEL's own "
                   "matrices, unless it is fp32")
      ->check(CLI::IsMember({"bf16", "fp16", "int8", "int4"}));
  command->footer(
      "OUT loads bit for bit like MODEL with this --dtype, and needs none. It holds config.json, the weights that "
      "the model uses, and copies of the other files of MODEL. Needs no device.");
  command->callback([&context, arguments] { context.run = [arguments] { return run_pack(*arguments); }; });
}

}  // namespace lapilli::cli
