#include "cli/arguments/dtype.hpp"

#include <CLI/CLI.hpp>
#include <utility>
#include <vector>

namespace lapilli::cli {

namespace {
constexpr std::pair<const char*, Dtype> kDtypes[] = {{"auto", Dtype::automatic}, {"fp32", Dtype::fp32},
                                                     {"bf16", Dtype::bf16},      {"fp16", Dtype::fp16},
                                                     {"int8", Dtype::int8},      {"int4", Dtype::int4}};
}

void add_dtype(CLI::App& command, std::string& name) {
  std::vector<std::string> names;
  for (const auto& [known, dtype] : kDtypes) names.emplace_back(known);
  command
      .add_option("--dtype", name,
                  "How the device holds the model's matrices; 16 bits take half of the memory, int8 a bit over a "
                  "quarter, int4 a bit over a seventh, and results differ a little from those in fp32. auto: bf16 on "
                  "CPU drivers, fp16 on GPUs. Without it fp32, or what a packed model is packed in")
      ->check(CLI::IsMember(names));
}

void add_kv_dtype(CLI::App& command, std::string& name) {
  command
      .add_option(
          "--kv-dtype", name,
          "How the device holds the keys and values of what is being written; fp16 takes half of the memory and "
          "of the reading, which counts with long inputs and outputs and many beams, and results differ a "
          "little from those in fp32. Without it fp32")
      ->check(CLI::IsMember(std::vector<std::string>{"fp32", "fp16"}));
}

Dtype dtype_of(const std::string& name) {
  for (const auto& [known, dtype] : kDtypes)
    if (name == known) return dtype;
  return Dtype::fp32;
}

const char* name_of(Dtype dtype) {
  for (const auto& [name, known] : kDtypes)
    if (known == dtype) return name;
  return "fp32";
}

}  // namespace lapilli::cli
