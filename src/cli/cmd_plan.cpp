#include <cstdio>
#include <memory>

#include "cli/arguments/device_choice.hpp"
#include "cli/arguments/dtype.hpp"
#include "cli/arguments/model_names.hpp"
#include "cli/commands.hpp"
#include "cli/files/cache_folder.hpp"
#include "cli/output.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {

struct PlanArguments {
  tools::PlanRequest request;
  std::string shape;
  bool dot = false, tuned = false;
};

int run_plan(const PlanArguments& arguments) {
  tools::PlanRequest request = arguments.request;
  if (!arguments.shape.empty())
    request.model = "shape:" + arguments.shape;
  else if (const int code = find_model(request.model))
    return code;
  if (arguments.tuned) request.cache = cache_folder(false);
  const auto plan = tools::plan(request);
  if (plan.status == LAPILLI_OK) return print(plan.text);
  std::fprintf(stderr, "lapilli: %s\n", plan.text.c_str());
  return exit_code(plan.status);
}

constexpr const char* kPlanFooter =
    R"(Examples:
  lapilli plan models/en-fr --dot | dot -Tsvg > step.svg
  lapilli plan models/en-fr --graph encode --json --caps floor
  lapilli plan --tuned --json        as it runs here: the op of a node says so where it is tuned

Needs no device: without one, the plan is for the weakest device allowed.
)";

}  // namespace

void add_plan(CLI::App& app, Context& context) {
  auto a = std::make_shared<PlanArguments>();
  tools::PlanRequest& r = a->request;
  CLI::App* command = app.add_subcommand("plan", "Print what a model's run is made of: dispatches, memory, barriers");
  auto* model = command->add_option("model", r.model, kModelHelp)->type_name("MODEL");
  command->add_option("--shape", a->shape, "A network of this shape instead, such as transformer-base,layers=2")
      ->excludes(model);
  auto* dot = command->add_flag("--dot", a->dot, "As a Graphviz picture (the default)");
  command->add_flag("--json", r.json, "As JSON")->excludes(dot);
  command->add_option("--graph", r.graph, "Which part of the run")
      ->capture_default_str()
      ->check(CLI::IsMember({"admit", "encode", "given", "step"}));
  command->add_option("--batch", r.batch, "Sentences")
      ->transform(whole_number(1, kMostSentences))
      ->capture_default_str();
  command->add_option("-b,--beam", r.beams, "Beams")->transform(whole_number(1, kMostBeams))->capture_default_str();
  command->add_option("--source", r.source, "Source positions")
      ->transform(whole_number(1, kMostIds))
      ->capture_default_str();
  command->add_option("--target", r.target, "Target positions")
      ->transform(whole_number(1, kMostIds))
      ->capture_default_str();
  add_dtype(*command, r.dtype);
  add_kv_dtype(*command, r.kv_dtype);
  add_device_choice(*command, r.select);
  command->add_option("--caps", r.caps, "Pretend that the device can do less");
  command->add_flag("--tuned", a->tuned, "With the choices of tune for the device; names their nodes");
  command->footer(kPlanFooter);
  command->callback([&context, a] { context.run = [a] { return run_plan(*a); }; });
}

}  // namespace lapilli::cli
