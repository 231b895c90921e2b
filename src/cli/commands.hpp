// The program's commands: one file cmd_NAME.cpp each, with a function declared here and a line in main.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/exit_codes.hpp"

namespace lapilli::cli {

struct Context {
  bool quiet = false, verbose = false;
  std::string config;                      // read before the other arguments are, by read_config
  std::vector<std::string> behind_dashes;  // arguments behind "--"
  std::function<int()> run;                // set by the command that was named; gives the exit code
};

// CLI11 reads an argument in brackets, such as "[music]", as a list and splits it, and "++" as the end of a command. So
// these get a mark before parsing, which options drop by themselves; raw texts need unprotect.
std::string protect(std::string argument);
std::string unprotect(std::string argument);

struct TextArguments;
// lapilli classify with a model of pictures; gives the exit code.
int classify_pictures(const TextArguments& arguments, const Context& context);
// True if one of these names ends like a picture's.
bool names_pictures(const std::vector<std::string>& inputs);

// For option->transform: only decimal digits, within the limits, without a sign; a finite number.
CLI::Validator whole_number(uint64_t low, uint64_t high);
CLI::Validator not_empty();
inline constexpr uint64_t kMostU32 = 0xffffffff;
// The library's own limits (a test compares them), so that larger values are refused before a model is loaded.
inline constexpr uint64_t kMostBeams = 32;
inline constexpr uint64_t kMostSequences = 256;  // samples of one beam; otherwise as many as beams
inline constexpr uint64_t kMostLength = 1 << 20;
// plan and bench
inline constexpr uint64_t kMostSentences = 1024;
inline constexpr uint64_t kMostIds = 1 << 16;
inline constexpr uint64_t kMostRuns = 1 << 16;
CLI::Validator finite_number();

inline constexpr const char* kTraceHelp =
    "Write the times of device and host, each dispatch with bytes and operations, to a file for Perfetto or "
    "Chrome. Steps then wait for the host one by one";
inline constexpr const char* kModelHelp =
    "Model directory, or OWNER/NAME of a fetched model; without it, the one that translate would use";

void add_text_commands(CLI::App& app, Context& context);     // translate, summarize, generate, embed, classify
void add_picture_commands(CLI::App& app, Context& context);  // caption, read
void add_chat(CLI::App& app, Context& context);
void add_rerank(CLI::App& app, Context& context);
void add_search(CLI::App& app, Context& context);
void add_transcribe(CLI::App& app, Context& context);
void add_join(CLI::App& app, Context& context);
void add_serve(CLI::App& app, Context& context);
void add_devices(CLI::App& app, Context& context);
void add_models(CLI::App& app, Context& context);
void add_fetch(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_inspect(CLI::App& app, Context& context);
void add_pack(CLI::App& app, Context& context);
void add_plan(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_tune(CLI::App& app, Context& context);
void add_completion(CLI::App& app, Context& context);

}  // namespace lapilli::cli
