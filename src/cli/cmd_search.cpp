// lapilli search: the lines of files that are nearest to words, by their vectors.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
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
#include "cli/search/index_file.hpp"
#include "cli/search/ranking.hpp"
#include "cli/search/search_settings.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

constexpr TextCommand kSearch = {"search", "query",      "Find the lines of files that are nearest to words in meaning",
                                 "",       "found",      false,
                                 false,    Makes::search};

constexpr const char* kSearchFooter =
    R"(Every line of the files is compared with the words, by the vectors that lapilli embed makes of them: the words with the
directory's prompt called query, the lines with the one called document, always with --deterministic. The comparison is
exact, and is the one that the directory names (cosine, else dot or euclidean). Each line of output has the score, the
file with the number of the line, and its text, the best first. Blank lines are not searched. A line that fails is
reported and left out.

The vectors of files are kept for the next search, in the cache folder (vectors/) or in the file of --index. That file is
used as long as it fits: lines that have changed get new vectors, and with other weights, prompts or dimensions, or if it
is damaged, all do. --no-cache keeps nothing. An interrupted search goes on where it was.

In folders, files with known endings are searched (.txt .text .md .markdown .html .htm .xhtml .srt .vtt .jsonl .ndjson, with
--column .tsv), line by line; hidden ones and those of other kinds are left out, which is said. --in takes all arguments up
to the next option; the words stand before it, or are its last argument.

Examples:
  lapilli search --model sentence-transformers/all-MiniLM-L6-v2 --in notes.txt "renew a passport"
  lapilli search --model ./bge-small-en-v1.5 --top 3 --json "harbour" --in letters/ notes.txt
  lapilli search --model ./all-MiniLM-L6-v2 --in log.jsonl --field message "disk full"
  lapilli search --model ./e5-small-v2 --query-prompt "query: " --document-prompt "passage: " \
      --in notes.txt "harbour"
  lapilli search --model ./all-MiniLM-L6-v2 --in notes.txt --queries questions.txt
  grep -v '^#' notes.txt | lapilli search --model ./all-MiniLM-L6-v2 --min-score 0.5 "harbour"

)";

// Vectors that are compared at a time.
constexpr size_t kBlockFloats = size_t{16} << 20;

struct Question {
  std::string text;
  uint64_t number = 0;  // of its line among --queries
};

// Compares vectors as they come, and keeps none.
class RankingSink : public LineSink {
 public:
  RankingSink(Ranking& ranking, uint32_t dimensions) : ranking_(ranking), dimensions_(dimensions) {}
  int add(size_t line, std::span<const float> vector) override {
    owners_.push_back(line);
    vectors_.insert(vectors_.end(), vector.begin(), vector.end());
    return vectors_.size() + dimensions_ > kBlockFloats ? flush() : exit_ok;
  }
  int fail(size_t line, const std::string& why) override {
    failures.push_back({line, why});
    return exit_ok;
  }
  int flush() {
    if (owners_.empty()) return exit_ok;
    const int code = ranking_.add(vectors_, [this](size_t i) { return owners_[i]; });
    owners_.clear();
    vectors_.clear();
    return code;
  }
  std::vector<vectors::LineFailure> failures;

 private:
  Ranking& ranking_;
  uint32_t dimensions_;
  std::vector<size_t> owners_;
  std::vector<float> vectors_;
};

class SearchRun {
 public:
  SearchRun(TextArguments arguments, const Context& context)
      : arguments_(std::move(arguments)), context_(context), model_(kSearch, arguments_), lines_(arguments_) {}

  int run() {
    if (const int code = look()) return code;
    if (const int code = prepare()) return code;
    catch_interrupts();
    int code = read_questions();
    if (code == exit_ok && !interrupted()) code = lines_.read(found_.jobs.front().sources);
    if (!lines_.unread().empty() && !context_.quiet) complain(exit_ok, "note: standard input: " + lines_.unread());
    if (code == exit_ok && !interrupted()) code = search();
    return finish(code);
  }

 private:
  // The last argument of --in is the query if there is no other one.
  int take_words() {
    auto& files = arguments_.search.files;
    if (!arguments_.search.queries.empty())
      return arguments_.inputs.empty() ? int{exit_ok} : complain(exit_usage, "--queries has the words to search for");
    if (arguments_.inputs.empty() && files.size() > 1) {
      if (file_kind(files.back()) != FileKind::none)
        return complain(exit_usage, "the words to search for are missing: " + files.back() + " is a file");
      arguments_.inputs.push_back(files.back());
      files.pop_back();
    }
    if (arguments_.inputs.empty())
      return complain(exit_usage, "give the words to search for: lapilli search --in FILES \"WORDS\"");
    for (const std::string& word : arguments_.inputs)
      if (files.empty() && !arguments_.force_text && file_kind(word) != FileKind::none)
        return complain(exit_usage,
                        word + " is a file, and files to search stand behind --in (words that name one: --text)");
    for (const std::string& word : arguments_.inputs) words_ += (words_.empty() ? "" : " ") + word;
    return is_blank(words_) ? complain(exit_usage, "the words to search for are blank") : int{exit_ok};
  }

  int look() {
    if (const int code = take_words()) return code;
    TextArguments plain = arguments_;
    plain.json = false;  // it is the form of what is found, whatever the lines are
    if (const std::string wrong = contradiction(plain, false); !wrong.empty()) return complain(exit_usage, wrong);
    const SearchArguments& asked = arguments_.search;
    const bool input =
        asked.files.empty() || std::find(asked.files.begin(), asked.files.end(), "-") != asked.files.end();
    if (asked.queries == "-" && input)
      return complain(exit_usage, "standard input cannot hold both the queries and the lines; name files with --in");
    if (asked.files.empty() && is_terminal(0)) return complain(exit_usage, "name the files to search: --in FILES");
    if (!asked.index.empty() && arguments_.no_cache)
      return complain(exit_usage, "--no-cache keeps nothing, and --index names a file to keep");
    return find_files();
  }

  int find_files() {
    TextArguments files = arguments_;
    files.inputs = arguments_.search.files;
    files.force_file = true;
    files.json = false;
    if (const int code = find_jobs(kSearch, files, found_)) return code;
    if (!found_.left_out.empty() && !context_.quiet) complain(exit_ok, "left out: " + found_.left_out);
    return check_index();
  }

  // Anything else under that name is not written over.
  int check_index() {
    const std::string& index = arguments_.search.index;
    if (index.empty() || vectors::may_be_written(index)) return exit_ok;
    return complain(exit_usage, index +
                                    " is no file of vectors of lapilli search, and is left as it is; give --index "
                                    "another name");
  }

  int prepare() {
    std::string directory = arguments_.model;
    constexpr Ability kVectors = {"makes no vectors", "does", "sentence-transformers/all-MiniLM-L6-v2"};
    if (const int code = find_model_with(kVectors, directory)) return code;
    if (const int code = check_trace(arguments_.trace_file)) return code;
    if (const auto loaded = model_.load(directory, ""); !loaded)
      return complain(exit_code(loaded.error().status()), loaded.error().message());
    nearest_.top = arguments_.scoring.top;
    return find_similarity(model_.model().info().value().directory, nearest_.similarity);
  }

  int read_questions() {
    const std::string& queries = arguments_.search.queries;
    if (queries.empty()) return questions_.push_back({words_, 0}), exit_ok;
    LineReader reader(queries == "-" ? InputFile::standard_input() : InputFile::open(queries));
    if (!reader.file().ok()) return complain(exit_input, queries + ": " + std::strerror(errno));
    for (auto lines = reader.read(4096); !lines.empty(); lines = reader.read(4096))
      for (Line& line : lines)
        if (!is_blank(line.text)) questions_.push_back({std::move(line.text), line.number});
    if (!reader.refusal().empty()) return complain(exit_input, queries + ": " + reader.refusal());
    if (reader.error() != 0) return complain(exit_input, queries + ": " + std::strerror(reader.error()));
    return questions_.empty() ? complain(exit_input, queries + " holds no query") : int{exit_ok};
  }

  // Every query must have a vector: without it there is nothing to compare with.
  int embed_questions(std::vector<float>& to) {
    std::vector<std::string> texts;
    for (const Question& question : questions_) texts.push_back(question.text);
    Options options = query_options(arguments_);
    options.progress = [](uint64_t, uint64_t) { return interrupted() == 0; };
    const auto made = model_.model().embed(texts, options);
    if (!made) return interrupted() ? exit_ok : complain(exit_code(made.error().status()), made.error().message());
    for (size_t i = 0; i < texts.size() && !interrupted(); ++i) {
      const Output& output = (*made)[i];
      if (!output.ok()) return complain(exit_input, "\"" + texts[i] + "\": " + output.error->message());
      if (output.cut && !context_.quiet)
        complain(exit_ok, "note: the query is longer than the model reads; its end is left out");
      to.insert(to.end(), output.vector.begin(), output.vector.end());
    }
    return exit_ok;
  }

  int search() {
    std::vector<float> queries;
    if (const int code = embed_questions(queries); code != exit_ok || interrupted()) return code;
    if (lines_.size() == 0) return exit_ok;
    Ranking ranking(model_.device(), std::move(queries), model_.dimensions(), nearest_);
    if (const int code = rank(ranking); code != exit_ok || interrupted()) return code;
    return print(text_of(ranking));
  }

  int rank(Ranking& ranking) {
    const Options options = line_options(arguments_);
    LineVectors vectors(model_, lines_, options, context_);
    const lapilli_model_info info = model_.model().info().value();
    const std::string path = index_path(arguments_, lines_, info.directory);
    int code = exit_ok;
    if (!path.empty()) {
      IndexFile file(path, !arguments_.search.index.empty(), context_);
      const vectors::IndexAbout about{vector_settings(arguments_, info), lines_.inputs(), model_.dimensions()};
      const auto index = file.get(about, lines_, vectors, code);
      if (index) code = rank_index(*index, ranking);
      if (index || code != exit_ok || interrupted()) return statistics_ = vectors.statistics(), code;
    }
    RankingSink sink(ranking, model_.dimensions());
    code = vectors.make(nullptr, sink);
    if (code == exit_ok && !interrupted()) code = sink.flush();
    tell(sink.failures);
    statistics_ = vectors.statistics();
    return code;
  }

  // Block by block, so that little of the file is in memory.
  int rank_index(const vectors::LineIndex& index, Ranking& ranking) {
    const uint32_t dimensions = model_.dimensions();
    const size_t step = std::max<size_t>(1, kBlockFloats / dimensions) * dimensions, all = index.vectors().size();
    for (size_t at = 0; at < all && !interrupted(); at += step) {
      const auto block = index.vectors().subspan(at, std::min(step, all - at));
      const int code = ranking.add(block, [&](size_t i) { return line_of_row(index.failures(), at / dimensions + i); });
      if (code != exit_ok) return code;
      index.let_go(block);
    }
    tell(index.failures());
    return exit_ok;
  }

  // Lines that failed have no row.
  static size_t line_of_row(const std::vector<vectors::LineFailure>& failures, size_t row) {
    for (const vectors::LineFailure& failure : failures) {
      if (failure.line > row) break;
      ++row;
    }
    return row;
  }

  void tell(const std::vector<vectors::LineFailure>& failures) {
    for (const vectors::LineFailure& failure : failures)
      complain(exit_ok, lines_.where(static_cast<size_t>(failure.line)) + ": " + failure.why);
    failed_ += failures.size();
  }

  std::string text_of(const Ranking& ranking) {
    std::string out;
    for (size_t q = 0; q < questions_.size(); ++q) {
      std::vector<double> scores;
      for (const Neighbour& found : ranking.found()[q]) {
        if (arguments_.search.least && found.score < *arguments_.search.least) break;
        scores.push_back(found.score);
      }
      const auto texts = score_texts(scores);
      for (size_t i = 0; i < scores.size(); ++i) out += line_of(questions_[q], i + 1, ranking.found()[q][i], texts[i]);
    }
    return out;
  }

  std::string line_of(const Question& question, size_t rank, const Neighbour& found, const std::string& score) {
    const auto text = lines_.text(found.index);
    if (!text) ++failed_, complain(exit_ok, lines_.where(found.index) + ": the file has changed; search again");
    if (!arguments_.json)
      return (question.number ? std::to_string(question.number) + "\t" : "") + score + "\t" +
             lines_.where(found.index) + "\t" + in_one_field(text.value_or("")) + "\n";
    return "{" + (question.number ? "\"query\":" + std::to_string(question.number) + "," : "") +
           "\"rank\":" + std::to_string(rank) + ",\"score\":" + exact_number(found.score) +
           ",\"file\":" + json_string(lines_.file(found.index)) +
           ",\"line\":" + std::to_string(lines_.number(found.index)) + ",\"text\":" + json_string(text.value_or("")) +
           "}\n";
  }

  [[nodiscard]] int finish(int code) const {
    if (interrupted()) return 128 + interrupted();
    if (arguments_.stats) statistics_.print(model_.model().info().value(), arguments_.json);
    if (code != exit_ok) return code;
    if (const auto written = model_.write_trace(); !written) return complain_of_trace(written.error().message());
    if (found_.refused) return exit_input;
    return failed_ + lines_.failed() > 0 ? exit_some_failed : exit_ok;
  }

  TextArguments arguments_;
  const Context& context_;
  TextModel model_;
  SearchedLines lines_;
  FoundJobs found_;
  std::string words_;
  std::vector<Question> questions_;
  NearestOptions nearest_;
  Statistics statistics_;
  uint64_t failed_ = 0;
};

}  // namespace

void add_search(CLI::App& app, Context& context) {
  auto a = std::make_shared<TextArguments>();
  CLI::App* command = app.add_subcommand(kSearch.name, kSearch.description);
  add_text_arguments(*command, kSearch, *a);
  command->footer(std::string(kSearchFooter) + kExitCodeHelp);
  command->callback([&context, a] {
    a->inputs.insert(a->inputs.end(), context.behind_dashes.begin(), context.behind_dashes.end());
    context.run = [&context, a] { return SearchRun(*a, context).run(); };
  });
}

}  // namespace lapilli::cli
