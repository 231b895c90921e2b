// lapilli translate, summarize, generate: run input through the model, line by line or file by file.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/counts.hpp"
#include "base/path.hpp"
#include "cli/arguments/document_arguments.hpp"
#include "cli/arguments/model_choice.hpp"
#include "cli/arguments/model_names.hpp"
#include "cli/commands.hpp"
#include "cli/files/blanks.hpp"
#include "cli/files/file_list.hpp"
#include "cli/files/folder_files.hpp"
#include "cli/files/output_names.hpp"
#include "cli/files/run_identity.hpp"
#include "cli/files/target_file.hpp"
#include "cli/files/text_sources.hpp"
#include "cli/output.hpp"
#include "cli/run/document_translator.hpp"
#include "cli/run/line_translator.hpp"
#include "cli/run/run_state.hpp"
#include "cli/run/trace_file.hpp"
#include "cli/shards/file_shards.hpp"
#include "cli/shards/shard_run.hpp"
#include "cli/shards/shard_sources.hpp"
#include "cli/system.hpp"
#include "shards/model_hash.hpp"

namespace lapilli::cli {

namespace {

// The bundled model translates and does nothing else.
int find_suitable_model(const TextCommand& about, std::string& directory) {
  const auto served = [&](const Ability& ability) { return find_model_with(ability, directory); };
  switch (about.makes) {
    case Makes::vectors: return served({"makes no vectors", "does", "sentence-transformers/all-MiniLM-L6-v2"});
    case Makes::classes:
      return served({"knows no classes", "does", "distilbert/distilbert-base-uncased-finetuned-sst-2-english"});
    case Makes::tags: return served({"tags no words", "does", "dslim/bert-base-NER"});
    case Makes::answers: return served({"answers no questions", "does", "deepset/roberta-base-squad2"});
    case Makes::fills: return served({"fills no masks", "does", "google-bert/bert-base-uncased"});
    default: return find_model(directory);
  }
}

class TextRun {
 public:
  TextRun(const TextCommand& about, const TextArguments& arguments, const Context& context)
      : arguments_(arguments),
        context_(context),
        model_(about, arguments),
        progress_(context.quiet, arguments.files.wanted()),
        run_{about, arguments, context, model_, progress_} {}

  int run() {
    if (int code = look()) return code;
    if (jobs_.empty() && !grows() && !is_shard()) return finish_early();
    if (int code = prepare()) return code;
    if (finished_) return *finished_;
    catch_interrupts();  // before, an interruption ends the program at once
    int code = refused_ ? exit_input : exit_ok;
    if (const int ended = run_jobs(0, code); ended != exit_ok) return ended;
    if (grows())
      if (const int ended = run_list(code); ended != exit_ok) return ended;
    return finish(code);
  }

 private:
  // `code` becomes that of an input that failed; gives the code of what ends the run.
  int run_jobs(size_t first, int& code) {
    for (size_t i = first; i < jobs_.size() && !interrupted(); ++i) {
      progress_.begin_file(i + 1, jobs_.size());
      int ended = run_job(i);
      if (ended == exit_input && is_shard_of_files()) ended = reject_file(jobs_[i].sources[0].name);
      // One unreadable file does not stop the others.
      if (ended != exit_ok && (ended != exit_input || (jobs_.size() == 1 && !grows()))) return ended;
      if (ended != exit_ok) code = ended;
    }
    return exit_ok;
  }

  // The last message tells the reason.
  int reject_file(const std::string& name) {
    RejectedRows& rejected = shard_.rejected();
    const std::string &why = last_complaint(), begins = name + ": ";
    if (const int code = rejected.add({name, 1, why.starts_with(begins) ? why.substr(begins.size()) : why}))
      return code;
    if (const int code = rejected.flush()) return code;
    return rejected.are_too_many() ? shard_.stop_at_rejected() : int{exit_ok};
  }

  [[nodiscard]] bool grows() const { return !arguments_.files.list.empty(); }

  // Files whose names come while others are worked on.
  int run_list(int& code) {
    FileList list;
    if (const int ended = list.open(arguments_.files.list)) return ended;
    for (auto names = list.next(); !names.empty() && !interrupted(); names = list.next()) {
      const size_t first = jobs_.size();
      for (const std::string& name : names)
        if (add_listed(name) != exit_ok) code = exit_input;
      if (const int ended = run_jobs(first, code); ended != exit_ok) return ended;
    }
    const int ended = interrupted() ? int{exit_ok} : list.finish();
    if (ended != exit_ok) code = ended;
    return exit_ok;
  }

  // A faulty file is reported and does not stop the others.
  int add_listed(const std::string& name) {
    TextArguments one = arguments_;
    one.inputs = {name};
    if (const int code = check_listed(name)) return code;
    FoundJobs found;
    if (const int code = find_jobs(run_.about, one, found)) return code;
    for (OutputJob& job : found.jobs) {
      if (!job.target.empty())
        if (const int code = add_target(job)) return code;
      jobs_.push_back(std::move(job));
    }
    return found.refused ? exit_input : exit_ok;
  }

  [[nodiscard]] bool lacks_question() const {
    if (run_.about.makes != Makes::answers || arguments_.scoring.pairs) return false;
    return is_blank(arguments_.spans.question.value_or(""));
  }

  // Reports everything that is wrong with the arguments and inputs before the model is loaded.
  int look() {
    std::string wrong = contradiction(arguments_, run_.about.languages);
    if (wrong.empty()) wrong = model_.check();
    if (wrong.empty()) wrong = wrong_vector_file();
    if (wrong.empty() && lacks_question()) wrong = "give the question: lapilli answer --question \"WHO?\" FILE";
    if (!wrong.empty()) return complain(exit_usage, wrong);
    if (const int error = read_options(arguments_, options_))
      return complain(exit_input, arguments_.options.substr(1) + ": " + std::strerror(error));
    if (const int error = read_kept_names(arguments_.documents.keep, kept_names_))
      return complain(exit_input, "--keep " + arguments_.documents.keep + ": " + std::strerror(error));
    run_.document_options = options_of_documents();
    if (keeps_words()) run_.kept = std::make_unique<documents::KeptText>(kept_names_);
    if (is_shard())
      if (const int code = shard_.choose(arguments_.files.shard, arguments_.files.output, arguments_.files.force))
        return code;
    if (grows() && arguments_.inputs.empty()) return exit_ok;
    FoundJobs found;
    if (const int code = find_jobs(run_.about, arguments_, found)) return code;
    jobs_ = std::move(found.jobs);
    refused_ = found.refused;
    if (!found.left_out.empty() && !context_.quiet) complain(exit_ok, "left out: " + found.left_out);
    if (is_shard())
      if (const int code = take_sources()) return code;
    leave_existing();
    if (const int code = check_targets()) return code;
    return check_documents();
  }

  [[nodiscard]] documents::Options options_of_documents() const {
    documents::Options options = document_options(arguments_, model_directory_);
    options.keep = kept_names_;
    return options;
  }

  // The number of rows stands at the beginning of a .npy file and is known at its end.
  [[nodiscard]] std::string wrong_vector_file() const {
    const FileArguments& files = arguments_.files;
    const bool by_name = arguments_.vectors.format.empty() && !arguments_.vectors.json;
    if (run_.about.makes == Makes::vectors && by_name && files.wanted())
      return unwritten_vectors(files.suffix.empty() ? files.output : files.suffix);
    if (!writes_npy() || arguments_.files.wanted()) return "";
    return "--vectors npy needs -o FILE or --suffix: the file begins with the number of its rows";
  }

  [[nodiscard]] bool writes_npy() const {
    return run_.about.makes == Makes::vectors && run_.vector_format() == VectorFormat::npy;
  }

  [[nodiscard]] bool writes_numbers() const {
    return run_.about.makes == Makes::vectors && run_.vector_format() != VectorFormat::json;
  }

  // Streamed texts are printed already, and places in the model's own text are of no use in another one.
  [[nodiscard]] bool keeps_words() const {
    return run_.about.languages && !arguments_.ids && !arguments_.stream && !arguments_.attention.wanted();
  }

  // The translation memories, which need the languages.
  int open_memories() {
    const DocumentArguments& d = arguments_.documents;
    if (d.memory.empty() && d.output.empty()) return exit_ok;
    run_.memory = std::make_unique<MemoryFiles>();
    const std::string &from = run_.document_options.source_language, &to = run_.document_options.target_language;
    std::string wrong = d.memory.empty() ? "" : run_.memory->read(d.memory, from, to);
    if (!wrong.empty()) return complain(exit_input, "--tm " + d.memory + ": " + wrong);
    wrong = d.output.empty() ? "" : run_.memory->open(d.output, from, to);
    return wrong.empty() ? int{exit_ok} : complain(exit_output, "--tm-out " + d.output + ": " + wrong);
  }

  [[nodiscard]] bool needs_languages() const {
    return reads_documents() || !arguments_.documents.memory.empty() || !arguments_.documents.output.empty();
  }

  [[nodiscard]] bool reads_documents() const {
    const auto has_document = [](const OutputJob& job) {
      return std::ranges::any_of(job.sources, [](const Source& source) { return is_document(source.format); });
    };
    return std::ranges::any_of(jobs_, has_document);
  }

  [[nodiscard]] bool is_shard() const { return arguments_.files.shard.wanted(); }

  // All shards have the same ending, whatever is in them.
  [[nodiscard]] std::string shard_ending() const {
    const auto all = [&](Format format) {
      const auto& sources = jobs_[0].sources;
      return std::all_of(sources.begin(), sources.end(), [&](const Source& s) { return s.format == format; });
    };
    if (writes_npy()) return ".npy";
    if (writes_numbers()) return ".f32";
    if (all(Format::tsv)) return ".tsv";
    return run_.about.makes == Makes::vectors || arguments_.json || all(Format::jsonl) ? ".jsonl" : ".txt";
  }

  // Each file of the shard has an output of its own.
  [[nodiscard]] bool is_shard_of_files() const { return is_shard() && !arguments_.files.suffix.empty(); }

  void plan_shard() {
    planned_.version = lapilli_version();
    planned_.settings = settings_of(run_.about, arguments_, options_);
    if (is_shard_of_files()) planned_.settings.emplace_back("--suffix", arguments_.files.suffix);
    planned_.settings = shards::settled(planned_.settings);
  }

  int take_files_of_shard() {
    plan_shard();
    std::vector<std::string> names;
    for (const OutputJob& job : jobs_) names.push_back(job.sources[0].name);
    std::vector<bool> taken;
    if (const int code = take_files(shard_.shard(), names, taken, planned_)) return code;
    jobs_ = taken_of(std::move(jobs_), taken);
    return exit_ok;
  }

  int take_sources() {
    if (refused_) return exit_input;  // reported; the shards would differ
    if (is_shard_of_files()) return take_files_of_shard();
    const std::string ending = shard_ending();
    plan_shard();
    ShardInputs all;
    if (const int code = take_shard(shard_.shard(), run_.about, arguments_, jobs_[0].sources, all)) return code;
    jobs_[0].target = shard_.file(ending);
    planned_.inputs_hash = all.hash;
    planned_.output = last_part(jobs_[0].target);
    for (const Source& source : jobs_[0].sources) planned_.inputs.push_back({source.below, *source.piece});
    return exit_ok;
  }

  int begin_shard(const ModelChoice& choice) {
    const std::string directory = choice.directory.empty() ? default_directory() : choice.directory;
    if (!directory.empty()) planned_.model_hash = hash_of_models(directory, choice.first);
    bool done = false;
    const int code = shard_.begin(planned_, context_.quiet, done);
    if (done) finished_ = code;
    if (done || code != exit_ok) return done ? int{exit_ok} : code;
    for (const auto& target : targets_) {
      const std::string obstacle = shard_.obstacle(*target);
      if (!obstacle.empty()) return complain(exit_usage, obstacle);
    }
    return is_shard_of_files() ? shard_.begin_files() : int{exit_ok};
  }

  static std::string hash_of_models(const std::string& last, const std::string& first) {
    return (first.empty() ? "" : shards::hash_of_model(first) + " ") + shards::hash_of_model(last);
  }

  // With many files each is read only once: an invalid document does not stop the others.
  int check_documents() {
    if (arguments_.files.one_each()) return exit_ok;
    for (const OutputJob& job : jobs_) {
      for (const Source& source : job.sources) {
        if (!is_document(source.format) || source.standard_input()) continue;
        if (!source.is_text() && !file_exists(source.name)) continue;  // a pipe
        if (const int code = DocumentTranslator(run_, output_, source, 0).check()) return code;
      }
    }
    return exit_ok;
  }

  void leave_existing() {
    const FileArguments& files = arguments_.files;
    if (!files.skip_existing) return;
    skipped_ = std::erase_if(jobs_, [&](const OutputJob& job) {
      const bool begun = file_exists(part_of(job.target)) || file_exists(journal_of(job.target));
      return file_exists(job.target) && !(files.resume && begun);
    });
  }

  [[nodiscard]] int finish_early() const {
    if (!context_.quiet) tell_targets();
    return refused_ ? exit_input : exit_ok;
  }

  // By the languages, for texts that are to be translated.
  [[nodiscard]] ModelChoice choice_for(const std::string& directory) const {
    if (run_.about.makes != Makes::text || !run_.about.languages || arguments_.ids) return {directory, "", ""};
    const std::string named = directory.empty() ? environment("LAPILLI_MODEL") : directory;
    ModelChoice choice = choose_model(named, arguments_.from, arguments_.to);
    if (!context_.quiet)
      for (const std::string& told : choice.told) complain(exit_ok, told);
    return choice;
  }

  int prepare() {
    std::string directory = arguments_.model;
    if (const int code = find_suitable_model(run_.about, directory)) return code;
    if (const int code = check_trace_alone()) return code;
    const ModelChoice choice = choice_for(directory);
    if (is_shard())
      if (const int code = begin_shard(choice); code != exit_ok || finished_) return code;
    if (const auto loaded = model_.load(choice, options_); !loaded)
      return complain(exit_code(loaded.error().status()), loaded.error().message());
    if (!context_.quiet && !model_.devices_told().empty()) complain(exit_ok, model_.devices_told());
    if (needs_languages() || grows()) {
      model_directory_ = model_.model().info().value().directory;
      run_.document_options = options_of_documents();
    }
    if (const int code = open_memories()) return code;
    if (is_shard())
      planned_.model_hash = hash_of_models(model_.model().info().value().directory, model_.first_directory());
    if (context_.verbose) {
      const auto info = model_.model().info().value();
      std::fprintf(stderr, "lapilli: %s, %s, %s, on %s, loaded in %.0f ms\n", info.directory, info.family,
                   parameters_text(info.parameters).c_str(), info.device, info.load_ms);
    }
    return exit_ok;
  }

  // The trace is written last, and would replace a file that has another role as well.
  int check_trace_alone() {
    const std::string& trace = arguments_.trace_file;
    if (const int code = check_trace(trace)) return code;
    if (file_kind(trace) != FileKind::regular) return exit_ok;
    for (const OutputJob& job : jobs_) {
      if (same_file(job.target, trace)) return complain(exit_usage, "--trace: " + trace + " is the output");
      for (const Source& source : job.sources)
        if (!source.is_text() && same_file(source.name, trace))
          return complain(exit_usage, "--trace: " + trace + " is an input");
    }
    return exit_ok;
  }

  int check_targets() {
    for (const OutputJob& job : jobs_) {
      if (job.target.empty()) continue;
      if (const int code = add_target(job)) return code;
    }
    return exit_ok;
  }

  int add_target(const OutputJob& job) {
    const FileArguments& files = arguments_.files;
    if (files.resume && !can_be_resumed(job.sources))
      return complain(exit_usage, "--resume reads the inputs again: all must be files");
    auto target = std::make_unique<TargetFile>(job.target);
    // Folders of outputs below a folder are created.
    const std::string missing = job.target == files.output ? missing_folder(job.target) : "";
    if (!missing.empty()) return complain(exit_usage, missing);
    if (writes_npy() && !target->has_head())
      return complain(exit_usage, job.target +
                                      ": a .npy file begins with the number of its rows, and what is written "
                                      "to a pipe or a device stays; --vectors f32 needs no beginning");
    // A shard's may be finished, which its record tells.
    const std::string obstacle = is_shard() ? "" : target->obstacle(files.force, files.resume);
    if (!obstacle.empty()) return complain(exit_usage, obstacle);
    targets_.push_back(std::move(target));
    return exit_ok;
  }

  int run_job(size_t job) {
    failed_before_ += run_.failed;
    run_.failed = run_.lines_before = run_.argument_lines = 0;
    Journal from;
    if (targets_.empty()) return translate_all(jobs_[job].sources, output_, from);
    TargetFile& target = *targets_[job];
    if (const int code = begin(target, jobs_[job].sources, from)) return code;
    run_.failed = from.point.failed;
    run_.lines_before = from.point.lines_before;
    if (is_shard()) run_.rejected = &shard_.rejected();
    if (is_shard() && !is_shard_of_files())
      if (const int code = shard_.begin_rows(run_.failed)) return code;
    if (from.complete) {
      ++resumed_;
      return exit_ok;
    }
    int code = writes_npy() && target.bytes() == 0 ? target.write(npy_header(0, model_.dimensions())) : exit_ok;
    if (code == exit_ok) code = translate_all(jobs_[job].sources, target, from);
    if (code == exit_ok && !interrupted() && writes_npy()) code = target.replace_head(npy_head(target));
    if (code == exit_ok && !interrupted()) code = target.finish();
    if (code == exit_some_failed) shard_.stop_at_rejected();
    if (code == exit_ok && !interrupted()) {
      ++written_;
      return exit_ok;
    }
    target.stop();
    return code;
  }

  [[nodiscard]] std::string npy_head(const TargetFile& target) const {
    const uint64_t row_bytes = uint64_t{4} * model_.dimensions();
    return npy_header((target.bytes() - kNpyHeaderBytes) / row_bytes, model_.dimensions());
  }

  int begin(TargetFile& target, const std::vector<Source>& sources, Journal& from) {
    if (!can_be_resumed(sources)) return target.begin();
    model_.make_deterministic();  // so that the output does not depend on where it was interrupted
    if (is_shard())
      return target.begin(identity_of_shard(planned_.settings, planned_.model_hash, sources), !arguments_.files.force,
                          arguments_.files.force, from);
    const ModelsOfRun models{model_.model().info().value(), model_.first_directory(), model_.devices()};
    const auto identity = identity_of(run_.about, arguments_, options_, models, sources);
    return target.begin(identity, arguments_.files.resume, arguments_.files.force, from);
  }

  int translate_all(const std::vector<Source>& sources, Sink& sink, Journal& from) {
    for (uint64_t i = from.point.source; i < sources.size(); ++i) {
      const bool begun = i == from.point.source;
      int code = exit_ok;
      if (is_document(sources[i].format))
        code = DocumentTranslator(run_, sink, sources[i], i)
                   .translate(begun ? std::move(from.segments) : std::vector<SavedSegment>());
      else
        code = LineTranslator(run_, sink, sources[i], i).translate(begun ? from.point.units : 0);
      if (code != exit_ok || interrupted()) return code;
      if (const int kept = sink.keep(journal_record(run_.point(i + 1, 0, sink.bytes())))) return kept;
    }
    return exit_ok;
  }

  int finish(int code) {
    failed_before_ += run_.failed;
    if (code == exit_ok && !interrupted() && is_shard()) code = finish_shard();
    if (code == exit_ok && !interrupted()) {
      for (const auto& target : targets_) target->forget_journal();
      shard_.leave();
    }
    if (arguments_.stats) model_.statistics().print(model_.model().info().value(), arguments_.json);
    if (!targets_.empty() && !context_.quiet) tell_targets();
    if (run_.memory && run_.memory->found() > 0 && !context_.quiet)
      complain(exit_ok, "note: " + grouped(run_.memory->found()) + " texts are from " + arguments_.documents.memory);
    if (run_.scored_texts > 1 && !context_.quiet) complain(exit_ok, total_text(run_.scored_texts, run_.scores));
    if (interrupted()) return 128 + interrupted();
    if (code != exit_ok) return code;
    if (const auto written = model_.write_trace(); !written) return complain_of_trace(written.error().message());
    const bool failure = is_shard() ? shard_.rejected().are_a_failure() : failed_before_ > 0;
    return failure ? exit_some_failed : exit_ok;
  }

  int finish_files_of_shard() {
    shards::Record record = planned_;
    record.rows_in = jobs_.size();
    for (const OutputJob& job : jobs_)
      if (file_exists(job.target)) record.files.push_back(shard_.below(job.target));
    record.rows_out = record.files.size();
    record.device = model_.model().info().value().device;
    return shard_.finish(std::move(record));
  }

  int finish_shard() {
    if (is_shard_of_files()) return finish_files_of_shard();
    shards::Record record = planned_;
    measure_output(jobs_[0].target, record);
    for (const shards::InputRecord& input : record.inputs) record.rows_in += input.piece.lines;
    if (writes_numbers()) count_numbers(record);
    if (interrupted()) return exit_ok;
    record.device = model_.model().info().value().device;
    if (record.rows_in == record.rows_out) return shard_.finish(std::move(record));
    return complain(exit_internal, jobs_[0].target + " has " + grouped(record.rows_out) + " rows for " +
                                       grouped(record.rows_in) + " of input; --force makes the shard anew");
  }

  void count_numbers(shards::Record& record) {
    const uint64_t row_bytes = uint64_t{4} * model_.dimensions(), head = writes_npy() ? kNpyHeaderBytes : 0;
    record.rows_out = (record.bytes - std::min(record.bytes, head)) / row_bytes;
    for (size_t i = 0; i < jobs_[0].sources.size(); ++i)
      record.rows_in -= LineTranslator(run_, output_, jobs_[0].sources[i], i).count_kept();
  }

  void tell_targets() const {
    const size_t files = jobs_.size() + skipped_;
    std::string text = grouped(written_) + " of " + grouped(files) + " files written";
    if (skipped_ > 0) text += ", " + grouped(skipped_) + " there already";
    if (resumed_ > 0) text += ", " + grouped(resumed_) + " by an earlier run";
    if (failed_before_ > 0) text += "; " + grouped(failed_before_) + " lines or passages failed";
    const bool resumable =
        std::all_of(jobs_.begin(), jobs_.end(), [](auto& job) { return can_be_resumed(job.sources); });
    if (interrupted())
      text += is_shard()  ? "; the same command goes on"
              : resumable ? "; --resume goes on"
                          : "; what there is of it is in " + part_of(jobs_[0].target);
    if (files > 1 || skipped_ > 0 || interrupted()) complain(exit_ok, text);
  }

  const TextArguments& arguments_;
  const Context& context_;
  TextModel model_;
  Progress progress_;
  RunState run_;
  std::string options_;  // the value of --options
  std::vector<std::string> kept_names_;
  std::string model_directory_;  // of the model that translates documents; "" until it is loaded
  std::vector<OutputJob> jobs_;
  std::vector<std::unique_ptr<TargetFile>> targets_;  // one for each job; none if standard output takes all
  StandardOutput output_;
  uint64_t failed_before_ = 0;  // in the jobs before
  uint64_t written_ = 0, resumed_ = 0, skipped_ = 0;
  ShardRun shard_;
  shards::Record planned_;       // of the shard, as far as it is known
  std::optional<int> finished_;  // the exit code of an earlier run that finished the shard
  bool refused_ = false;         // one of the inputs was refused; the others are translated
};

}  // namespace

int run_texts(const TextCommand& about, const TextArguments& arguments, const Context& context) {
  TextArguments settled = arguments;
  settle_places(arguments.force_text ? std::vector<std::string>() : arguments.inputs, settled.files.output,
                settled.files.suffix);
  // One output holds all files of a list, and shards are parts of all of it, so that all must be known.
  FileArguments& files = settled.files;
  if (!files.list.empty() &&
      (!is_growing(files.list) || (files.wanted() && !files.one_each()) || files.shard.wanted())) {
    if (const int code = read_file_list(std::exchange(files.list, ""), settled.inputs)) return code;
    if (settled.inputs.empty()) return complain(exit_input, "--files-from names no file");
  }
  return TextRun(about, settled, context).run();
}

}  // namespace lapilli::cli
