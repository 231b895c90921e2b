#include <cstdio>
#include <memory>

#include "cli/arguments/searches.hpp"
#include "cli/commands.hpp"
#include "cli/files/cache_folder.hpp"
#include "cli/output.hpp"
#include "cli/run/trace_file.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {

struct BenchArguments {
  tools::BenchRequest request;
  SearchesArguments searches;
  bool per_op = false, tuned = false;
};

int run_bench(const BenchArguments& arguments) {
  tools::BenchRequest request = arguments.request;
  if (const int code = find_searched(request, arguments.searches); code != exit_ok) return code;
  if (const int code = check_trace(request.trace_file); code != exit_ok) return code;
  int traced = exit_ok;
  request.trace_failed = [&](const std::string& why) { traced = complain_of_trace(why); };
  if (arguments.tuned) request.cache = cache_folder(false);
  const auto figures = arguments.per_op ? tools::bench_per_op(request) : tools::bench(request);
  if (figures.status == LAPILLI_OK) {
    const int printed = print(figures.text);
    return printed != exit_ok ? printed : traced;
  }
  std::fprintf(stderr, "lapilli: %s\n", figures.text.c_str());
  return exit_code(figures.status);
}

constexpr const char* kBenchFooter =
    R"(Examples:
  lapilli bench                              the bundled model, batch 1 and 8, greedy and beam 4
  lapilli bench opus-mt-en-de --batch 1 --beam 1
  lapilli bench --shape transformer-base --json
  lapilli bench --per-op --batch 8 --beam 4  where the time goes, beside what the device can do

Each figure is the median of the runs after those that warm up, some tenths of a second. Every source gives exactly as many ids as --target says.
)";

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  auto a = std::make_shared<BenchArguments>();
  tools::BenchRequest& r = a->request;
  CLI::App* command = app.add_subcommand("bench", "Measure a model: encoder, time per token, processor time, memory");
  add_searches(*command, r, a->searches, "Ids generated per source");
  command->add_option("--runs", r.runs, "Runs per figure")
      ->transform(whole_number(1, kMostRuns))
      ->capture_default_str();
  auto* steps =
      command->add_option("--steps-in-flight", r.steps_in_flight, "Decoder steps a submission; 0: chosen by the device")
          ->transform(whole_number(0, kMostU32))
          ->capture_default_str();
  command->add_option("--trace", r.trace_file, kTraceHelp)->type_name("FILE");
  auto* json = command->add_flag("--json", r.json, "As JSON");
  auto* tsv = command->add_flag("--tsv", r.tsv, "One line a figure, with tabs")->excludes(json);
  command->add_flag("--tuned", a->tuned, "With what tune found on the device, and the pipelines of earlier runs");
  command->add_flag("--per-op", a->per_op, "Each dispatch of the encode pass and of a decoder step by itself")
      ->excludes(tsv)
      ->excludes(steps);
  command->footer(kBenchFooter);
  command->callback([&context, a] { context.run = [a] { return run_bench(*a); }; });
}

}  // namespace lapilli::cli
