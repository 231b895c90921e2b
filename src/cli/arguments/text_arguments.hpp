// The arguments shared by the commands that run texts through a model, and their translation to the model's options.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/run/attention_output.hpp"
#include "cli/shards/shard_arguments.hpp"

namespace lapilli::cli {

// The results of a command on texts.
enum class Makes : uint8_t { text, vectors, classes, ranking, tags, answers, fills, search, scores };

// A command that runs texts through a model.
struct TextCommand {
  const char* name;
  const char* task;         // lapilli_options::task
  const char* description;  // in --help
  const char* footer;
  const char* result;  // its key in JSON lines
  bool whole_files;    // a file or an argument is one text; otherwise each line is
  bool languages;      // --from, --to, --no-split
  Makes makes = Makes::text;
  [[nodiscard]] bool writes() const { return makes == Makes::text; }
  // The bundled model serves it: it writes texts and does nothing else.
  [[nodiscard]] bool takes_bundled() const { return writes() || makes == Makes::scores; }
  // A line of nothing but blanks has a vector, a class and a score.
  [[nodiscard]] bool takes_blanks() const {
    return makes == Makes::vectors || makes == Makes::classes || makes == Makes::scores;
  }
};

// Options of documents, and of texts that stay or are known.
struct DocumentArguments {
  std::vector<std::string> to_columns;
  std::string delimiter;  // "": the table tells it
  bool no_header = false, all = false, no_fuzzy = false;
  std::string keep;            // a file of names
  std::string memory, output;  // translation memories that are read and written

  // True if something was said that only tables of a document have.
  [[nodiscard]] bool names_table() const { return !to_columns.empty() || !delimiter.empty() || no_header; }
};

// Where the output goes, and the format of the input.
struct FileArguments {
  std::string output, suffix, format, field = "text", to_field, column;
  std::vector<std::string> columns;  // all of --column; `column` is the first
  bool resume = false, force = false, skip_existing = false;
  bool member_given = false;  // --field, whatever it says
  ShardArguments shard;
  std::string list;  // a file that names the inputs, or "-"; "": none

  // True if every file has an output of its own.
  [[nodiscard]] bool one_each() const;
  // True if a member, or a column, was named.
  [[nodiscard]] bool names_member() const { return member_given; }
  [[nodiscard]] bool names_column() const { return !column.empty(); }
  // True if a file is written, which gets its name once it is complete.
  [[nodiscard]] bool wanted() const { return !suffix.empty() || (!output.empty() && output != "-"); }
};

// How vectors of texts are made and written.
struct VectorArguments {
  std::optional<std::string> prompt;  // its text
  std::string prompt_name, task, format;
  uint32_t dimensions = 0;
  bool normalize = false;
  bool json = false;  // the format
};

// How texts are scored.
struct ScoreArguments {
  uint32_t top = 0;          // classes of a text, or documents; 0: the command's default
  bool pairs = false;        // each line is two texts with a tab between
  bool probability = false;  // of a ranking: from 0 to 1, instead of the published score
  // Classes that the model was not trained for.
  std::vector<std::string> labels;
  std::string hypothesis, entailment;
  bool multi_label = false;
};

// How names, answers and words are found in texts.
struct SpanArguments {
  std::optional<std::string> question;  // about every text
  uint32_t top = 0;                     // 0: 1 answer, or 5 words for a mask
  std::string aggregation;
  std::optional<std::string> ignored;  // labels with commas between; nothing: "O"
  bool allow_empty = false, part_words = false, cut_texts = false;
  uint32_t max_answer_tokens = 15, window = 0, stride = 0;
};

// The files and the way of a search.
struct SearchArguments {
  std::vector<std::string> files;
  std::string queries, index;
  std::optional<std::string> query_prompt, document_prompt;  // their texts
  std::optional<double> least;                               // score of a line that is shown
};

// Chats with decoders, and what ends and cuts an output.
struct ChatArguments {
  bool use = false, no_thoughts = false;
  std::string system, messages;                        // messages: a file
  std::vector<std::string> template_arguments, stops;  // NAME=VALUE
  int32_t max_new_tokens = 0;                          // 0: not given
};

struct TextArguments {
  std::vector<std::string> inputs;
  bool force_text = false, force_file = false;
  std::string model, device, caps, options, from, to;
  int32_t beam = 0, max_length = 0, nbest = 1;
  uint32_t batch = 32;
  uint64_t memory_limit = 0;  // MiB
  std::string dtype;          // "": fp32, or a packed model's own type
  std::string kv_dtype = "fp32";
  std::string trace_file;
  bool json = false, ids = false, scores = false, stats = false, validation = false, deterministic = false,
       stream = false, no_cache = false, no_prefix_cache = false, require_gpu = false;
  bool split = false, no_split = false;
  bool lines = false;
  FileArguments files;
  DocumentArguments documents;
  VectorArguments vectors;
  ScoreArguments scoring;
  SearchArguments search;
  SpanArguments spans;
  ChatArguments chat;
  AttentionArguments attention;
  std::optional<double> unsure;  // sureness below which an output is reported; nothing: the model's own threshold
  bool no_unsure = false;
  // Sampling: as given, since numbers are passed on in the options' JSON.
  bool sample = false;
  std::optional<uint64_t> seed;
  std::optional<uint32_t> top_k;
  std::optional<double> temperature, top_p, min_p, typical_p;

  // True if the input is declared to be text, whatever its name and first bytes say.
  [[nodiscard]] bool is_declared_text() const { return !files.format.empty() || ids; }
};

// Default of --batch for encoders: texts that share a pass, which are cheap.
inline constexpr uint32_t kEncoderBatch = 256;

struct Context;

// Runs the command and gives the exit code.
int run_texts(const TextCommand& about, const TextArguments& arguments, const Context& context);

void add_text_arguments(CLI::App& command, const TextCommand& about, TextArguments& arguments);

// "sports", "politics" for "sports, politics".
std::vector<std::string> labels_in(const std::string& listed);

// Describes a contradiction among the arguments; empty if there is none. `documents`: the command takes documents.
std::string contradiction(const TextArguments& arguments, bool documents);

// Reads the JSON given by --options, or the file that it names, into `text`. Gives 0, or the file's errno.
int read_options(const TextArguments& arguments, std::string& text);

// `given` (the value of --options) followed by the sampling arguments, which win.
std::string options_json(const TextArguments& arguments, const std::string& given);

// Renames the library's options in its message to the program's.
std::string named_as_typed(const TextArguments& arguments, const std::string& message);

}  // namespace lapilli::cli
