#include "cli/arguments/device_choice.hpp"

#include "cli/commands.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

void add_device_choice(CLI::App& command, std::string& select) {
  select = kAssigned;
  command
      .add_option(
          "--device", select,
          "Index (a whole number), part of the name, UUID or PCI address of a device (lapilli devices); without "
          "it, the one that a scheduler assigned (CUDA_VISIBLE_DEVICES, SLURM_JOB_GPUS, ...), else the best. "
          "Several that share the lines of files: 0,1 or all (those assigned, else every GPU)")
      ->transform(not_empty());
}

void add_device_choice(CLI::App& command, std::string& select, bool& require_gpu) {
  add_device_choice(command, select);
  command.add_flag(
      "--require-gpu", require_gpu,
      "Never run on a CPU driver; so it is anyway where a scheduler assigned a GPU and no --device is given");
}

Result<ChosenDevices> chosen_devices(const std::string& select, const std::string& caps) {
  if (select != "all" && select.find(',') == std::string::npos) return ChosenDevices{{select}, ""};
  auto found = tools::find_devices(select, caps);
  if (found.status != LAPILLI_OK) return Error(static_cast<Status>(found.status), found.text);
  return ChosenDevices{std::move(found.selects), std::move(found.text)};
}

}  // namespace lapilli::cli
