#include <cstdio>
#include <memory>

#include "cli/arguments/device_choice.hpp"
#include "cli/arguments/model_names.hpp"
#include "cli/commands.hpp"
#include "cli/files/cache_folder.hpp"
#include "cli/files/target_file.hpp"
#include "cli/output.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {

struct DoctorArguments {
  tools::DoctorRequest request;
  std::string report;
};

int write_report(const std::string& name, const std::string& text) {
  TargetFile file(name);
  if (const int code = file.begin(); code != exit_ok) return code;
  if (const int code = file.write(text); code != exit_ok) return code;
  return file.finish();
}

int run_doctor(const DoctorArguments& arguments, const Context& context) {
  if (!arguments.report.empty()) {
    const std::string obstacle = TargetFile(arguments.report).obstacle(true, false);
    if (!obstacle.empty()) return complain(exit_output, obstacle);
  }
  tools::DoctorRequest request = arguments.request;
  if (!request.model.empty())
    if (const int code = find_model(request.model)) return code;
  request.cache = cache_folder(false);
  request.progress = [&](const std::string& what) {
    if (!what.empty() && !context.quiet) std::fprintf(stderr, "lapilli: examining %s\n", what.c_str());
    return true;
  };
  const auto found = tools::doctor(request);
  if (found.status != LAPILLI_OK) return complain(exit_code(found.status), found.page);
  if (!arguments.report.empty())
    if (const int code = write_report(arguments.report, found.report); code != exit_ok) return code;
  if (const int code = print(found.page); code != exit_ok) return code;
  return found.healthy ? exit_ok : exit_some_failed;
}

constexpr const char* kDoctorFooter =
    R"(Examples:
  lapilli doctor                            a page about the device that translate would use
  lapilli doctor --quick                    in seconds: fewer runs, no rates
  lapilli doctor --model DIR                with this model in place of the bundled one
  lapilli doctor --report doctor.json       and all of it as JSON, to attach to a bug report

The report names the device and its driver, no user and no folder. The exit code is 0 if all is well, 1 if something is wrong.
)";

}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  auto a = std::make_shared<DoctorArguments>();
  tools::DoctorRequest& r = a->request;
  CLI::App* command = app.add_subcommand(
      "doctor", "Examine a device: every kernel, the bundled model, memory, what is kept, what is off and why");
  add_device_choice(*command, r.select);
  command->add_option("--caps", r.caps, "Pretend that the device can do less");
  command->add_option("--model", r.model, "Examine this model in place of the bundled one")
      ->type_name("DIR|OWNER/NAME");
  command->add_flag("--quick", r.quick, "Fewer runs, cases and sentences, and no rates");
  command->add_option("--runs", r.runs, "Runs of each kernel's case; 0: 100, with --quick 5")
      ->transform(whole_number(0, kMostRuns))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--report", a->report, "Write all that was found to this file, as JSON")->type_name("FILE");
  command->footer(kDoctorFooter);
  command->callback([&context, a] { context.run = [a, &context] { return run_doctor(*a, context); }; });
}

}  // namespace lapilli::cli
