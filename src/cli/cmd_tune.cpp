#include <cstdio>
#include <memory>

#include "cli/arguments/searches.hpp"
#include "cli/commands.hpp"
#include "cli/files/cache_folder.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {

struct TuneArguments {
  tools::TuneRequest request;
  SearchesArguments searches;
  bool no_cache = false;
};

int run_tune(const TuneArguments& arguments, const Context& context) {
  tools::TuneRequest request = arguments.request;
  if (const int code = request.forget ? exit_ok : find_searched(request, arguments.searches); code != exit_ok)
    return code;
  request.cache = cache_folder(arguments.no_cache);
  request.go_on = [&](const std::string& what) {
    if (!what.empty() && !context.quiet) std::fprintf(stderr, "lapilli: tuning %s\n", what.c_str());
    return interrupted() == 0;
  };
  catch_interrupts();
  const auto found = tools::tune(request);
  if (found.status != LAPILLI_OK) return complain(exit_code(found.status), found.text);
  if (const int code = print(found.text); code != exit_ok) return code;
  return interrupted() ? 128 + interrupted() : exit_ok;
}

constexpr const char* kTuneFooter =
    R"(Examples:
  lapilli tune                                the bundled model, batch 1 and 8, greedy and beam 4
  lapilli tune opus-mt-en-de --batch 1 --beam 4 --seconds 60
  lapilli tune --forget                       the defaults again

What is found is kept beside what makes the next start faster, for this device, driver and version, and every command
that loads a model of such shapes there uses it. Results may differ in the last bits, as they do between devices.
Ctrl-C ends it with what was found.
)";

}  // namespace

void add_tune(CLI::App& app, Context& context) {
  auto a = std::make_shared<TuneArguments>();
  tools::TuneRequest& r = a->request;
  CLI::App* command = app.add_subcommand("tune", "Find the fastest ways to run a model on a device, and keep them");
  r.target = 64;
  add_searches(*command, r, a->searches, "Generated ids, in whose middle steps are timed");
  command->add_option("--seconds", r.seconds, "Take no longer, beside loading")
      ->transform(whole_number(1, kMostU32))
      ->capture_default_str()
      ->type_name("N");
  command->add_flag("--deterministic", r.deterministic,
                    "For jobs that are deterministic: ways that sum in one order alone");
  command->add_flag("--no-cache", a->no_cache, "Keep nothing: only say what is found");
  command->add_flag("--json", r.json, "As JSON");
  command->add_flag("--forget", r.forget, "Remove what was found on the device, and tune nothing");
  command->footer(kTuneFooter);
  command->callback([&context, a] { context.run = [a, &context] { return run_tune(*a, context); }; });
}

}  // namespace lapilli::cli
