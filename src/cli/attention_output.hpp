// --attention and --alignment of lapilli translate: what the model looked at, as a file or beside each translation.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

struct AttentionArguments {
  std::string file, layer = "mean", head = "mean", kind = "cross";
  bool alignment = false;

  [[nodiscard]] bool wanted() const { return alignment || !file.empty(); }
};

void add_attention_options(CLI::App& command, AttentionArguments& arguments);

// Of one run of the program.
class AttentionOutput {
 public:
  explicit AttentionOutput(const AttentionArguments& arguments) : arguments_(arguments) {}

  // What is wrong with the arguments, before a model is loaded; "" if nothing is. `ids`: ids come in, not texts.
  std::string check(bool ids);

  // Writes the file of each run of the model behind input `input` (of the best sequence); an error as in Result.
  // The first goes to FILE; further ones of a picture to FILE-2, FILE-3, ..., those as JSON to lines of one file.
  Result<bool> write(const Model& model, const Results& results, size_t input);

  // Word pairs of a sequence. As text, lines of their own: a tab, bytes of source and target, weight, the words. As
  // JSON:
  // ',"alignment":[...]' to put into an object. "" without --alignment.
  Result<std::string> alignment(const Model& model, const Results& results, size_t input, size_t sequence,
                                const std::string& source, bool json) const;

 private:
  [[nodiscard]] std::string file_name() const;

  const AttentionArguments& arguments_;
  AttentionChoice choice_;
  bool picture_ = false;
  uint64_t written_ = 0;
};

}  // namespace lapilli::cli
