// conformance DIR...: runs folders in the conformance format (expected.json beside models, tokenizers) and prints a
// line per case. Nothing is passed over: what cannot be run is printed as unsupported, with the reason.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "conformance/folder.hpp"
#include "conformance/table.hpp"

int main(int argc, char** argv) {
  using namespace lapilli;
  CLI::App app{"Holds Lapilli against folders of recorded reference results."};
  app.allow_windows_style_options(false);  // a folder may begin with a slash
  std::vector<std::string> folders;
  conformance::RunOptions options;
  std::string dtype = "fp32", kv_dtype = "fp32", write, check;
  bool json = false, strict = false;
  app.add_option("DIR", folders, "Folders with an expected.json")->required();
  app.add_option("--device", options.device.select, "Vulkan device: index, part of the name, or UUID");
  app.add_option("--caps", options.device.mask, "Capability mask: floor, small-bindings, gpu, ...");
  app.add_option("--dtype", dtype, "Arithmetic")->check(CLI::IsMember({"fp32"}));
  app.add_option("--kv-dtype", kv_dtype, "How the device holds keys and values; the records are those of fp32")
      ->check(CLI::IsMember({"fp32", "fp16"}));
  app.add_option("--filter", options.filter, "Only cases whose name contains this");
  app.add_option("--every", options.every, "Of a model's cases of each kind the first, and every Nth behind it")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", json, "Print JSON");
  app.add_flag("--strict", strict, "Exit 1 also if something was skipped");
  app.add_option("--write-table", write, "Put a table of the run, a row per family, into this Markdown file");
  app.add_option("--check-table", check, "Fail if the file's table is not that of the run (deviations may differ)");
  CLI11_PARSE(app, argc, argv);
  options.kv_format = kv_dtype == name(KvFormat::fp16) ? KvFormat::fp16 : KvFormat::fp32;
  conformance::Report report(json);
  for (const auto& folder : folders) {
    const size_t before = report.cases().size();
    try {
      conformance::run_folder(folder, options, report);
    } catch (const std::exception& e) {  // a record that is JSON, but not what it should be
      report.add(folder, "expected.json",
                 conformance::Outcome::failed(std::string("the record is damaged: ") + e.what()));
    }
    if (report.cases().size() == before && options.filter.empty())
      report.add(folder, "expected.json", conformance::Outcome::failed("the folder has no cases"));
  }
  int status = report.finish(strict);
  if (!write.empty() || !check.empty()) {
    const std::string table = conformance::models_table(report.cases());
    const Status done = write.empty() ? conformance::check_table(check, table) : conformance::write_table(write, table);
    if (!done) {
      std::fprintf(stderr, "%s\n", done.error().message.c_str());
      status = 1;
    }
  }
  return status;
}
