// What the commands that run texts through a model have in common: their arguments, and these as options of the model.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/run/attention_output.hpp"

namespace lapilli::cli {

// A command that runs texts through a model.
struct TextCommand {
  const char* name;
  const char* task;         // lapilli_options::task
  const char* description;  // in --help
  const char* footer;
  const char* result;  // what JSON lines call it
  bool whole_files;    // a file or an argument is one text; otherwise every line of it is
  bool languages;      // --from, --to, --no-split
};

// Where the output goes, and what kind of text comes in.
struct FileArguments {
  std::string output, suffix, format, field = "text", to_field, column;
  bool resume = false, force = false, skip_existing = false;

  // Every file to one of its own.
  [[nodiscard]] bool one_each() const;
  // A member, or a column, was named.
  [[nodiscard]] bool names_member() const { return field != "text"; }
  [[nodiscard]] bool names_column() const { return !column.empty(); }
  // Something is written that gets its name when it is complete.
  [[nodiscard]] bool wanted() const { return !suffix.empty() || (!output.empty() && output != "-"); }
};

struct TextArguments {
  std::vector<std::string> inputs;
  bool force_text = false, force_file = false;
  std::string model, device, caps, options, from, to;
  int32_t beam = 0, max_length = 0, nbest = 1;
  uint32_t batch = 32;
  uint64_t memory_limit = 0;  // MiB
  std::string dtype;          // "": fp32, or what a packed model is packed in
  std::string kv_dtype = "fp32";
  std::string trace_file;
  bool json = false, ids = false, scores = false, stats = false, validation = false, deterministic = false,
       stream = false, no_cache = false;
  bool split = false, no_split = false;
  bool lines = false;
  FileArguments files;
  AttentionArguments attention;
  std::optional<double> unsure;  // below which an output is told; nothing: as the model's directory says
  bool no_unsure = false;
  // Sampling: as given, for numbers go into the options' JSON.
  bool sample = false;
  std::optional<uint64_t> seed;
  std::optional<uint32_t> top_k;
  std::optional<double> temperature, top_p, min_p, typical_p;

  // Whatever a file's name and first bytes say.
  [[nodiscard]] bool said_to_be_text() const { return !files.format.empty() || ids; }
};

struct Context;

// Runs the command; gives the exit code.
int run_texts(const TextCommand& about, const TextArguments& arguments, const Context& context);

void add_text_arguments(CLI::App& command, const TextCommand& about, TextArguments& arguments);

// What contradicts itself; empty if nothing does. `documents`: the command takes them.
std::string contradiction(const TextArguments& arguments, bool documents);

// The JSON that --options gives, or the file that it names, into `text`. 0, or errno of the file.
int read_options(const TextArguments& arguments, std::string& text);

// `given` (what --options gives) with what the sampling arguments say behind it, which then counts.
std::string options_json(const TextArguments& arguments, const std::string& given);

// A message of the library, which calls options by other names than the program does.
std::string named_as_typed(const TextArguments& arguments, const std::string& message);

}  // namespace lapilli::cli
