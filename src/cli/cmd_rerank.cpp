// lapilli rerank: documents by their score for a query, the best first.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/path.hpp"
#include "cli/arguments/model_names.hpp"
#include "cli/arguments/text_arguments.hpp"
#include "cli/commands.hpp"
#include "cli/files/blanks.hpp"
#include "cli/files/text_sources.hpp"
#include "cli/output.hpp"
#include "cli/run/text_model.hpp"
#include "cli/run/trace_file.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

constexpr TextCommand kRerank = {"rerank", "classify",    "Sort documents by how well they answer a query",
                                 "",       "ranking",     false,
                                 false,    Makes::ranking};

constexpr const char* kRerankFooter =
    R"(The first argument is the query. Every line of the files, or of standard input, is a document. Documents come back with
their scores, the best first, equal ones in their order. A score is the number that the model's directory calls so: the
logit of ms-marco's models, a number from 0 to 1 of those that name no activation. A document that is too long is cut at
its end, with a note.

Examples:
  lapilli rerank --model cross-encoder/ms-marco-MiniLM-L-6-v2 "When does it open?" answers.txt
  lapilli rerank --model ./bge-reranker-base --top 3 --json "harbour" < lines.txt
  lapilli rerank --model ./ms-marco-MiniLM-L-6-v2 --probability "harbour" lines.txt

)";

struct Document {
  std::string where, text;
  bool scored = false;
  double logit = 0, score = 0;
};

// The shortest decimal that reads as this number: different scores look different.
std::string shortest(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

class RerankRun {
 public:
  RerankRun(TextArguments arguments, const Context& context)
      : arguments_(std::move(arguments)), context_(context), model_(kRerank, arguments_) {}

  int run() {
    if (const int code = prepare()) return code;
    catch_interrupts();
    if (const int code = read_documents(); code != exit_ok || interrupted()) return finish(code);
    for (size_t i = 0; i < documents_.size() && !interrupted(); i += kAtATime)
      if (const int code = score(i, std::min(i + kAtATime, documents_.size()))) return code;
    return finish(interrupted() ? int{exit_ok} : print_ranking());
  }

 private:
  static constexpr size_t kAtATime = 4096;

  int prepare() {
    if (arguments_.inputs.empty()) return complain(exit_usage, "give the query first: lapilli rerank \"QUERY\" FILE");
    query_ = arguments_.inputs.front();
    if (!arguments_.force_text && file_exists(query_))
      return complain(exit_usage, "the first argument is the query, and " + query_ +
                                      " is a file: lapilli rerank \"QUERY\" FILE (a query that names one: --text)");
    arguments_.inputs.erase(arguments_.inputs.begin());
    if (const int code = find_jobs(kRerank, arguments_, found_)) return code;
    std::string directory = arguments_.model;
    constexpr Ability kRanks = {"ranks nothing", "does", "cross-encoder/ms-marco-MiniLM-L-6-v2"};
    if (const int code = find_model_with(kRanks, directory)) return code;
    if (const auto loaded = model_.load(directory, ""); !loaded)
      return complain(exit_code(loaded.error().status()), loaded.error().message());
    return exit_ok;
  }

  int read_documents() {
    for (const OutputJob& job : found_.jobs)
      for (const Source& source : job.sources)
        if (const int code = read_source(source); code != exit_ok || interrupted()) return code;
    return exit_ok;
  }

  int read_source(const Source& source) {
    if (source.is_text()) return add(lines_of_argument(source.text, true), "");
    LineReader reader(source.standard_input() ? InputFile::standard_input() : InputFile::open(source.name));
    if (!reader.file().ok()) return complain(exit_input, source.name + ": " + std::strerror(errno));
    const std::string name = source.standard_input() ? "" : source.name + ":";
    for (auto lines = reader.read(kAtATime); !lines.empty(); lines = reader.read(kAtATime))
      if (const int code = add(lines, name)) return code;
    if (!reader.refusal().empty()) return complain(exit_input, source.name + ": " + reader.refusal());
    return reader.error() == 0 ? int{exit_ok}
                               : complain(exit_input, source.name + ": " + std::strerror(reader.error()));
  }

  int add(const std::vector<Line>& lines, const std::string& name) {
    for (const Line& line : lines) {
      const std::string where = (name.empty() ? "line " : name) + std::to_string(line.number);
      if (line.too_long) {
        ++failed_;
        complain(exit_ok, where + ": the line is longer than " + std::to_string(kMaxLineBytes) + " bytes");
      } else if (!is_blank(line.text)) {
        documents_.push_back({where, line.text});
      }
    }
    return exit_ok;
  }

  int score(size_t begin, size_t end) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (size_t i = begin; i < end; ++i) pairs.emplace_back(query_, documents_[i].text);
    Options options;
    options.progress = [](uint64_t, uint64_t) { return interrupted() == 0; };
    options.deterministic = arguments_.deterministic;
    options.batch = arguments_.batch;
    const auto results = model_.model().classify_pairs(pairs, options);
    if (!results) return complain(exit_code(results.error().status()), results.error().message());
    statistics_.add(results->stats());
    for (size_t i = begin; i < end && !interrupted(); ++i) take((*results)[i - begin], documents_[i]);
    return exit_ok;
  }

  void take(const Output& output, Document& document) {
    if (!output.ok() || output.classes.empty()) {
      ++failed_;
      complain(exit_ok, document.where + ": " + (output.ok() ? "no score" : output.error->message()));
      return;
    }
    if (output.cut && !context_.quiet)
      complain(exit_ok,
               "note: " + document.where + ": the document is longer than the model reads; its end is left out");
    const Class& found = output.classes.front();
    document.scored = true;
    document.logit = found.score;
    document.score = arguments_.scoring.probability ? 1 / (1 + std::exp(-found.score)) : found.published_score;
  }

  int print_ranking() {
    std::erase_if(documents_, [](const Document& d) { return !d.scored; });
    std::stable_sort(documents_.begin(), documents_.end(),
                     [](const Document& a, const Document& b) { return a.logit > b.logit; });
    const size_t top = arguments_.scoring.top ? arguments_.scoring.top : documents_.size();
    std::string out;
    for (size_t i = 0; i < std::min(top, documents_.size()); ++i) out += line_of(i);
    return print(out);
  }

  [[nodiscard]] std::string line_of(size_t i) const {
    const Document& d = documents_[i];
    if (!arguments_.json) return shortest(d.score) + "\t" + d.text + "\n";
    return "{\"rank\":" + std::to_string(i + 1) + ",\"score\":" + shortest(d.score) +
           ",\"document\":" + json_string(d.where) + ",\"text\":" + json_string(d.text) + "}\n";
  }

  [[nodiscard]] int finish(int code) const {
    if (interrupted()) return 128 + interrupted();
    if (arguments_.stats) statistics_.print(model_.model().info().value(), arguments_.json);
    if (code != exit_ok) return code;
    if (const auto written = model_.write_trace(); !written) return complain_of_trace(written.error().message());
    return failed_ > 0 ? exit_some_failed : exit_ok;
  }

  TextArguments arguments_;
  const Context& context_;
  TextModel model_;
  std::string query_;
  FoundJobs found_;
  std::vector<Document> documents_;
  Statistics statistics_;
  uint64_t failed_ = 0;
};

}  // namespace

void add_rerank(CLI::App& app, Context& context) {
  auto a = std::make_shared<TextArguments>();
  CLI::App* command = app.add_subcommand(kRerank.name, kRerank.description);
  add_text_arguments(*command, kRerank, *a);
  command->footer(std::string(kRerankFooter) + kExitCodeHelp);
  command->callback([&context, a] {
    a->inputs.insert(a->inputs.end(), context.behind_dashes.begin(), context.behind_dashes.end());
    context.run = [&context, a] { return RerankRun(*a, context).run(); };
  });
}

}  // namespace lapilli::cli
