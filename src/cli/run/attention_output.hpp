// --attention and --alignment of lapilli translate: the model's attention as a file or beside each translation.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

struct AttentionArguments {
  std::string file, layer = "mean", head = "mean", kind = "cross";
  bool alignment = false;

  [[nodiscard]] bool wanted() const { return alignment || !file.empty(); }
};

// Parses a number from 0, "mean" or "all".
bool parse_attention_index(const std::string& text, int32_t& index);
void add_attention_options(CLI::App& command, AttentionArguments& arguments);

// A word of the source in the place of one that the model did not know. Bytes of the output's text.
struct PutWord {
  uint64_t begin = 0, end = 0;
  std::string word;
};

// For each "<unk>" in the text of the best sequence the word to which its step attended most, by the mean of the last
// layer's heads. Runs the model once more for each part that has one. Those for which there is none stay.
std::vector<PutWord> words_for_unknown(const Model& model, const Results& results, size_t input,
                                       const std::string& source);
std::string with_words(const std::string& text, const std::vector<PutWord>& words);
// A place in the text where it is with the words.
uint64_t place_with_words(uint64_t place, const std::vector<PutWord>& words);

// Serves one run of the program.
class AttentionOutput {
 public:
  explicit AttentionOutput(const AttentionArguments& arguments) : arguments_(arguments) {}

  // Describes an error in the arguments, before a model is loaded; "" if there is none. `ids`: the input is ids, not
  // text.
  std::string check(bool ids);

  struct Outcome {
    // Word pairs of each sequence; none without --alignment. As text, lines of their own: a tab, byte ranges of source
    // and target, weight, the words. As JSON: ',"alignment":[...]' to put into an object.
    std::vector<std::string> alignments;
    std::optional<Error> error;
    bool of_all = false;  // the error is not about this input alone, but about the arguments or the file
  };
  // Runs the model on the results of input `input`, writes a file for each run of the best sequence and finds the word
  // pairs. The first picture goes to FILE, further ones to FILE-2, FILE-3, ...; JSON goes to one file as lines.
  Outcome attend(const Model& model, const Results& results, size_t input, const std::string& source, bool json);

 private:
  enum class Format { svg, png, json };
  // Chooses by the file's name; false if that names no format.
  bool choose_format();
  [[nodiscard]] bool picture() const { return format_ != Format::json; }
  [[nodiscard]] std::string file_name() const;
  [[nodiscard]] Result<std::string> contents(const Attention& attention) const;
  Result<void> write(const Attention& attention);

  const AttentionArguments& arguments_;
  AttentionChoice choice_;
  Format format_ = Format::json;
  uint64_t written_ = 0;
};

}  // namespace lapilli::cli
