// lapilli rerank: documents by their score for a query, the best first.
#include <algorithm>
#include <cerrno>
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
#include "cli/files/record_format.hpp"
#include "cli/files/text_sources.hpp"
#include "cli/files/unread_records.hpp"
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
    R"(The first argument is the query. Every line of the files, or of standard input, is a document. JSON lines and tables have
theirs in a member (--field) or a column (--column). Documents come back with their scores, the best first, equal ones in their order. A score is the number that the model's directory calls so: the
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
  static constexpr size_t kAtATime = 4096, kMaxRecordLine = size_t{1} << 26;

  int prepare() {
    if (arguments_.inputs.empty()) return complain(exit_usage, "give the query first: lapilli rerank \"QUERY\" FILE");
    query_ = arguments_.inputs.front();
    if (!arguments_.force_text && file_exists(query_))
      return complain(exit_usage, "the first argument is the query, and " + query_ +
                                      " is a file: lapilli rerank \"QUERY\" FILE (a query that names one: --text)");
    arguments_.inputs.erase(arguments_.inputs.begin());
    if (const int code = find_documents()) return code;
    std::string directory = arguments_.model;
    constexpr Ability kRanks = {"ranks nothing", "does", "cross-encoder/ms-marco-MiniLM-L-6-v2"};
    if (const int code = find_model_with(kRanks, directory)) return code;
    if (const auto loaded = model_.load(directory, ""); !loaded)
      return complain(exit_code(loaded.error().status()), loaded.error().message());
    return exit_ok;
  }

  // --json is the form of the results, whatever the documents are.
  int find_documents() {
    TextArguments plain = arguments_;
    plain.json = false;
    if (const std::string wrong = contradiction(plain, false); !wrong.empty()) return complain(exit_usage, wrong);
    return find_jobs(kRerank, plain, found_);
  }

  int read_documents() {
    for (const OutputJob& job : found_.jobs)
      for (const Source& source : job.sources)
        if (const int code = read_source(source); code != exit_ok || interrupted()) return code;
    return exit_ok;
  }

  int read_source(const Source& source) {
    format_ = record_format(source.format, arguments_.files);
    if (source.is_text()) return add(lines_of_argument(source.text, true), "");
    const size_t longest = source.format == Format::lines ? kMaxLineBytes : kMaxRecordLine;
    LineReader reader(source.standard_input() ? InputFile::standard_input() : InputFile::open(source.name), longest,
                      arguments_.is_declared_text());
    if (!reader.file().ok()) return complain(exit_input, source.name + ": " + std::strerror(errno));
    const std::string name = source.standard_input() ? "" : source.name + ":";
    for (auto lines = reader.read(kAtATime); !lines.empty(); lines = reader.read(kAtATime)) {
      if (source.standard_input() && documents_.empty()) tell_unread(lines);
      if (const int code = add(lines, name)) return code;
    }
    if (!reader.refusal().empty()) return complain(exit_input, source.name + ": " + reader.refusal());
    return reader.error() == 0 ? int{exit_ok}
                               : complain(exit_input, source.name + ": " + std::strerror(reader.error()));
  }

  void tell_unread(const std::vector<Line>& lines) const {
    if (format_ || arguments_.is_declared_text() || context_.quiet) return;
    if (const std::string note = unread_records(lines); !note.empty())
      complain(exit_ok, "note: standard input: " + note);
  }

  int add(const std::vector<Line>& lines, const std::string& name) {
    std::vector<RecordFormat::Text> texts;
    for (const Line& line : lines) texts.push_back(text_of(line));
    const std::string refusal = format_ ? format_->refusal() : "";
    if (!refusal.empty()) return complain(exit_input, (name.empty() ? "standard input: " : name + " ") + refusal);
    for (size_t i = 0; i < lines.size(); ++i) {
      const std::string where = (name.empty() ? "line " : name) + std::to_string(lines[i].number);
      if (!texts[i].error.empty()) {
        ++failed_;
        complain(exit_ok, where + ": " + texts[i].error);
      } else if (!texts[i].kept && !is_blank(texts[i].text)) {
        documents_.push_back({where, std::move(texts[i].text)});
      }
    }
    return exit_ok;
  }

  RecordFormat::Text text_of(const Line& line) {
    RecordFormat::Text found;
    if (!line.too_long) found = format_ ? format_->text(line) : RecordFormat::Text{line.text, ""};
    if (line.too_long || found.text.size() > kMaxLineBytes)
      found.error = "the line is longer than " + std::to_string(kMaxLineBytes) + " bytes";
    return found;
  }

  int score(size_t begin, size_t end) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (size_t i = begin; i < end; ++i) pairs.emplace_back(query_, documents_[i].text);
    Options options;
    options.progress = [](uint64_t, uint64_t) { return interrupted() == 0; };
    options.deterministic = arguments_.deterministic;
    options.batch = arguments_.batch;
    options.encoder.prompt = arguments_.vectors.prompt;  // the instruction
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
    documents_.resize(std::min(top, documents_.size()));
    return print(arguments_.json ? json_lines_of() : plain_lines());
  }

  [[nodiscard]] std::string plain_lines() const {
    std::vector<double> scores;
    for (const Document& d : documents_) scores.push_back(d.score);
    const auto texts = score_texts(scores, 1.0);  // no sigmoid reaches 1
    std::string out;
    for (size_t i = 0; i < documents_.size(); ++i) out += texts[i] + "\t" + documents_[i].text + "\n";
    return out;
  }

  [[nodiscard]] std::string json_lines_of() const {
    std::string out;
    for (size_t i = 0; i < documents_.size(); ++i) out += json_of(i);
    return out;
  }

  [[nodiscard]] std::string json_of(size_t i) const {
    const Document& d = documents_[i];
    return "{\"rank\":" + std::to_string(i + 1) + ",\"score\":" + exact_number(d.score) +
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
  std::unique_ptr<RecordFormat> format_;  // of the file that is read; null: its lines are documents
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
