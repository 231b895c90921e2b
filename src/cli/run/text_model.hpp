// The model of a command on text, and its results for lines.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments/model_choice.hpp"
#include "cli/arguments/text_arguments.hpp"
#include "cli/files/line_reader.hpp"
#include "cli/run/attention_output.hpp"
#include "cli/run/statistics.hpp"
#include "cli/run/team.hpp"
#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

// The result for one line: nothing to do, an error, or an output of the model.
struct LineResult {
  std::string error;
  Status status = Status::ok;  // Status::cancelled: not finished
  const Output* output = nullptr;
  const Portion* part = nullptr;        // the output's, among LineResults::parts
  size_t input = 0;                     // the output's place in it
  std::vector<std::string> alignments;  // of each sequence, as printed behind it
  // In place of the output's sequences: words that stay are back in them, or a memory had the text.
  std::vector<std::string> texts;
  std::vector<PutWord> put;      // words in the first of them that the model did not know
  bool too_large = false;        // Status::out_of_memory, also alone
  bool nothing_between = false;  // a chain's first model wrote nothing, and the second was not asked
  [[nodiscard]] bool is_made() const { return output != nullptr || !texts.empty(); }
  [[nodiscard]] std::string text() const { return texts.empty() ? output ? output->text() : "" : texts.front(); }
};

// The results of lines that ran together.
struct LineResults {
  std::vector<LineResult> lines;
  std::deque<Portion> parts;   // the lines point into them
  std::optional<Error> fatal;  // why the run cannot continue; lines before the first unfinished one are good
  int fatal_code = 0;          // the program's exit code for it
};

class TextModel {
 public:
  TextModel(const TextCommand& about, const TextArguments& arguments)
      : about_(about), arguments_(arguments), attention_(arguments.attention) {}

  // Describes an error in the arguments, before anything is loaded; "" if there is none.
  std::string check() { return attention_.check(arguments_.ids); }
  // `directory`: of the model; `options_text`: the value of --options.
  Result<void> load(const std::string& directory, const std::string& options_text) {
    return load(ModelChoice{directory, "", ""}, options_text);
  }
  // The models of a chain share the limit on memory.
  Result<void> load(const ModelChoice& choice, const std::string& options_text);
  [[nodiscard]] const Model& model() const { return team_.front().model; }
  // How many hold the model and share the lines.
  [[nodiscard]] size_t devices() const { return team_.size(); }
  // The devices and the reasons for them, for people; "" for one device.
  [[nodiscard]] const std::string& devices_told() const { return devices_told_; }
  // The first model's of a chain; "" if there is one model.
  [[nodiscard]] std::string first_directory() const { return is_chain() ? first().info().value().directory : ""; }
  [[nodiscard]] const Device& device() const { return team_.front().device; }
  // As the arguments say, for callers that run the model themselves.
  [[nodiscard]] const Options& options() const { return options_; }
  // Numbers of each vector.
  [[nodiscard]] uint32_t dimensions() const {
    return arguments_.vectors.dimensions ? arguments_.vectors.dimensions : model().info().value().dimensions;
  }

  struct Callbacks {
    std::function<void(uint64_t done, uint64_t all)> progress;  // pieces of work: lines, or sentences of them
    std::function<bool(std::string_view text)> stream;          // if --stream is given; false cancels
    std::function<void()> before_files;                         // called before an attention file is written
  };
  // Outputs of lower sureness are reported (unsure.hpp); nothing: none are.
  [[nodiscard]] const std::optional<double>& unsure_below() const { return unsure_below_; }
  // `lines_before`: in the finished sources. Sampling for a line depends on its number alone.
  LineResults run(const std::vector<Line>& lines, uint64_t lines_before, const Callbacks& callbacks);

  // False for decoders alone and chains: nothing tells which word became which.
  [[nodiscard]] bool aligns() const { return !is_chain() && model().info().value().source_vocabulary != 0; }
  // The word links of a line with an output, by places in its text; empty if the alignment fails or finds none.
  [[nodiscard]] std::vector<lapilli_word_link> word_links(const LineResults& results, size_t line) const;
  // From now on the output of a line depends neither on the lines run with it nor on earlier ones.
  void make_deterministic() { options_.deterministic = true; }

  // Called at the end, if there is a trace.
  [[nodiscard]] Result<void> write_trace() const {
    return arguments_.trace_file.empty() ? Result<void>() : device().write_trace();
  }

  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  struct Inputs;
  Result<void> read_chat(const std::string& directory);
  void set_scores_and_spans();
  void set_options(const ModelChoice& choice, const std::string& options_text);
  [[nodiscard]] bool is_chain() const { return team_.front().first.has_value(); }
  [[nodiscard]] const Model& first() const { return *team_.front().first; }
  [[nodiscard]] Result<std::vector<std::string>> selected_devices();
  [[nodiscard]] Result<Member> load_member(const std::string& select, const ModelChoice& choice) const;
  [[nodiscard]] Result<std::vector<Member>> load_members(const std::vector<std::string>& selects,
                                                         const ModelChoice& choice) const;
  Result<void> load_first(const ModelChoice& choice, const ModelOptions& limits, Member& member) const;
  Result<std::vector<Portion>> share(const Inputs& inputs, const Options& options, bool of_first);
  std::optional<Error> run_first(Inputs& inputs, Options& options, LineResults& results);
  [[nodiscard]] std::optional<double> find_unsure_below() const;
  bool add_input(const Line& line, LineResult& result, Inputs& inputs) const;
  static bool add_pair(const Line& line, LineResult& result, Inputs& inputs);
  [[nodiscard]] Result<Results> generate(const Model& model, const Inputs& inputs, const Options& options) const;
  [[nodiscard]] Result<void> check_attention(const lapilli_model_info& info) const;
  [[nodiscard]] Result<void> check_results(const lapilli_model_info& info) const;
  [[nodiscard]] bool puts_words() const;
  void put_words(const std::string& source, LineResult& result) const;
  void take(const std::vector<Line>& lines, const Inputs& inputs, LineResults& results);
  void attend(const std::string& source, LineResults& results, LineResult& result);

  const TextCommand& about_;
  const TextArguments& arguments_;
  Team team_;
  std::string devices_told_;
  Options first_options_, options_;
  std::optional<double> unsure_below_;
  AttentionOutput attention_;
  Statistics statistics_;
};

// Ids as --ids writes them.
std::string ids_text(const Ids& ids);

}  // namespace lapilli::cli
