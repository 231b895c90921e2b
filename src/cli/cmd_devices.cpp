#include <cstdio>
#include <memory>

#include "cli/arguments/device_choice.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "lapilli/lapilli.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

namespace {
struct DevicesArguments {
  std::string device, caps;
  bool json = false;
};

int run_devices(const DevicesArguments& arguments) {
  int status = LAPILLI_OK;
  std::string text;
  if (arguments.json) {
    DeviceOptions options;
    options.select = arguments.device;
    options.caps = arguments.caps;
    auto json = devices_json(options);
    status = static_cast<int>(json ? Status::ok : json.error().status());
    text = json ? *json + "\n" : json.error().message();
  } else {
    const auto table = tools::devices_table(arguments.device, arguments.caps);
    status = table.status;
    text = table.text;
  }
  if (status != LAPILLI_OK) return complain(exit_code(status), text);
  if (const int code = print(text); code != exit_ok) return code;
  const auto choice = tools::device_choice(arguments.device, arguments.caps);
  return choice.status == LAPILLI_OK ? exit_ok : complain(exit_code(choice.status), choice.text);
}
}  // namespace

void add_devices(CLI::App& app, Context& context) {
  auto arguments = std::make_shared<DevicesArguments>();
  CLI::App* command = app.add_subcommand("devices", "List the Vulkan devices, and which one would be used and why");
  add_device_choice(*command, arguments->device);
  command->add_option("--caps", arguments->caps, "Show the capabilities under this mask");
  command->add_flag("--json", arguments->json, "As a JSON array, with all capabilities");
  command->callback([&context, arguments] { context.run = [arguments] { return run_devices(*arguments); }; });
}

}  // namespace lapilli::cli
