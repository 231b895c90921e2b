#include "cli/arguments/text_arguments.hpp"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <string_view>

#include "base/path.hpp"
#include "cli/arguments/chat_arguments.hpp"
#include "cli/arguments/device_choice.hpp"
#include "cli/arguments/document_arguments.hpp"
#include "cli/arguments/dtype.hpp"
#include "cli/arguments/typed_names.hpp"
#include "cli/commands.hpp"
#include "cli/files/file_format.hpp"
#include "cli/files/file_list.hpp"
#include "cli/files/output_names.hpp"
#include "cli/files/target_file.hpp"
#include "cli/system.hpp"
#include "documents/kind.hpp"

namespace lapilli::cli {

namespace {

std::string kinds_of_documents() {
  std::string all;
  for (const documents::Kind kind : documents::all_kinds()) {
    if (!all.empty()) all += ", ";
    all += documents::kind_name(kind);
  }
  return all;
}

void add_model(CLI::App& command, const TextCommand& about, TextArguments& a) {
  const std::string otherwise = about.takes_bundled() ? "LAPILLI_MODEL or the bundled model" : "LAPILLI_MODEL";
  command
      .add_option(
          "-m,--model", a.model,
          "Model directory as published, or OWNER/NAME of a fetched one (lapilli fetch); without it, " + otherwise)
      ->type_name("MODEL");
}

std::string about_inputs(const TextCommand& about) {
  if (about.makes == Makes::ranking)
    return "The query, then the documents: texts or files; an argument that names a file is a file; - is standard "
           "input, which is also read without documents";
  return "Texts or files; an argument that names a file is a file; - is standard input. With --suffix, or a folder "
         "behind -o, files and folders";
}

std::string about_column(const TextCommand& about) {
  const char* by = about.writes() ? "the output" : "the result";
  return std::string("TSV: the column that is read, and replaced by ") + by +
         "; a number from 1 or its name in the first line";
}

void add_inputs(CLI::App& command, const TextCommand& about, TextArguments& a) {
  // Taken raw: CLI11's own conversion would interpret braces.
  command
      .add_option(
          "inputs",
          [&a](const CLI::results_t& given) {
            for (const std::string& input : given) a.inputs.push_back(unprotect(input));
            return true;
          },
          about_inputs(about))
      ->expected(0, CLI::detail::expected_max_vector_size)
      ->allow_extra_args()
      ->type_name("INPUT");
  auto* text = command.add_flag("--text", a.force_text, "Read the inputs as text, not as file names");
  command.add_flag("--file", a.force_file, "Take the inputs for files")->excludes(text);
  if (about.whole_files) command.add_flag("--lines", a.lines, "Every line is a text of its own");
  add_model(command, about, a);
  if (!about.languages) return;
  command
      .add_option("--from", a.from, "Language of the input, for models of several languages: fr, fr_XX, fra_Latn, ...")
      ->type_name("LANGUAGE");
  command.add_option("--to", a.to, "Language to translate to")->type_name("LANGUAGE");
  auto* split = command.add_flag("--split", a.split, "Every sentence by itself, not only those of long lines");
  command.add_flag("--no-split", a.no_split, "Every line as one piece, however long")->excludes(split);
}

void add_searched(CLI::App& command, const TextCommand& about, TextArguments& a) {
  const auto append = [](std::vector<std::string>& to) {
    return [&to](const CLI::results_t& given) {
      for (const std::string& value : given) to.push_back(unprotect(value));
      return true;
    };
  };
  command.add_option("words", append(a.inputs), "The words to search for; several arguments are one query")
      ->expected(0, CLI::detail::expected_max_vector_size)
      ->allow_extra_args()
      ->type_name("WORDS");
  command
      .add_option(
          "--in", append(a.search.files),
          "Files and folders whose lines are searched; - is standard input, which is also searched without this")
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args()
      ->type_name("FILE");
  command
      .add_option("--queries", a.search.queries, "Every line of this file (-: of standard input) is a query of its own")
      ->type_name("FILE")
      ->check(not_empty());
  add_model(command, about, a);
}

void add_record_places(CLI::App& command, FileArguments& f) {
  command.add_option("--format", f.format, "lines, jsonl or tsv; without it, the file's name decides")
      ->type_name("FORMAT");
  command.add_option("--field", f.field, "JSON lines: the member that is the text")
      ->type_name("NAME")
      ->check(not_empty())
      ->each([&f](const std::string&) { f.member_given = true; })
      ->capture_default_str();
  command
      .add_option("--column", f.column,
                  "TSV: the column that is the text, a number from 1 or its name in the first line")
      ->type_name("COLUMN");
}

void add_found(CLI::App& command, TextArguments& a) {
  a.scoring.top = 10;
  command.add_option("--top", a.scoring.top, "The N best lines for each query")
      ->type_name("N")
      ->transform(whole_number(1, kMostU32))
      ->capture_default_str();
  command.add_option("--min-score", a.search.least, "Only lines with at least this score")
      ->type_name("X")
      ->transform(finite_number());
  command.add_flag("--json", a.json, "One JSON object per line that is found");
  command
      .add_option(
          "--index", a.search.index,
          "Keep the vectors of the lines in this file; without it, in the cache folder, by the names given to --in")
      ->type_name("FILE")
      ->check(not_empty());
  command
      .add_option("--query-prompt", a.search.query_prompt,
                  "Put this before the words; without it, the directory's prompt called query, if any")
      ->type_name("TEXT");
  command
      .add_option("--document-prompt", a.search.document_prompt,
                  "Put this before each line; without it, the directory's prompt called document, if any")
      ->type_name("TEXT");
  command
      .add_option("--dimensions", a.vectors.dimensions, "Compare the first N numbers of each vector alone (Matryoshka)")
      ->type_name("N")
      ->transform(whole_number(1, kMostU32));
}

void add_files(CLI::App& command, const TextCommand& about, FileArguments& f) {
  command
      .add_option(
          "-o,--output", f.output,
          "Write to FILE, all inputs one after the other; to a folder (FILE ends with /, or is one, or an input is): "
          "every file to one of its own")
      ->type_name("FILE");
  command
      .add_option(
          "--suffix", f.suffix,
          "Every file to one of its own, beside it or in the folder of -o: with .fr, letter.txt to letter.fr.txt; a "
          "letter in front gets the dot")
      ->type_name("TEXT")
      ->check(not_empty());
  command.add_flag("--resume", f.resume, "Continue an earlier identical run with -o or --suffix where it ended");
  command.add_flag("--force", f.force, "Overwrite existing files; with --resume: begin again what cannot continue");
  command.add_flag("--skip-existing", f.skip_existing,
                   "Leave out inputs whose output exists; with --resume, not those already begun");
  command
      .add_option("--format", f.format,
                  about.languages
                      ? "lines, jsonl or tsv, or a kind of document: " + kinds_of_documents() +
                            "; without it, the file's name decides; plain text is a document if it goes to a file "
                            "(-o, --suffix), else lines"
                      : std::string("lines, jsonl or tsv; without it, the file's name decides"))
      ->type_name("FORMAT");
  command.add_option("--field", f.field, "JSON lines: the member that is the text")
      ->type_name("NAME")
      ->check(not_empty())
      ->each([&f](const std::string&) { f.member_given = true; })
      ->capture_default_str();
  f.to_field = about.result;
  command.add_option("--to-field", f.to_field, "JSON lines: the member that the result becomes")
      ->type_name("NAME")
      ->check(not_empty())
      ->capture_default_str();
  command.add_option("--files-from", f.list, kFilesFromHelp)->type_name("FILE")->check(not_empty());
  add_shard_arguments(command, f.shard);
  if (!about.languages) {
    command.add_option("--column", f.column, about_column(about))->type_name("COLUMN");
    return;
  }
  const auto several = [&f](const CLI::results_t& given) {
    for (const std::string& name : given) f.columns.push_back(unprotect(name));
    f.column = f.columns.front();
    return true;
  };
  command.add_option("--column", several, about_column(about) + "; CSV: once for each such column")
      ->type_name("COLUMN")
      ->take_all();
}

void add_decoding(CLI::App& command, TextArguments& a) {
  command.add_option("-b,--beam", a.beam, "Beams, at most 32; 1 is greedy search. Without it, the model decides")
      ->type_name("N")
      ->transform(whole_number(1, kMostBeams));
  command.add_option("--max-length", a.max_length, "Longest output in tokens, start and end included")
      ->type_name("N")
      ->transform(whole_number(1, kMostLength));
  command
      .add_option(
          "--nbest", a.nbest,
          "Sequences per text: at most as many as beams, and up to 256 if they are drawn with one beam; needs --json")
      ->type_name("N")
      ->transform(whole_number(1, kMostSequences));
  auto* sample = command.add_flag("--sample", a.sample, "Draw tokens by their probability instead of taking the best");
  command.add_option("--seed", a.seed, "The same seed draws the same on the same device")
      ->type_name("N")
      ->transform(whole_number(0, std::numeric_limits<uint64_t>::max()))
      ->needs(sample);
  command.add_option("--temperature", a.temperature, "Above 1 more varied, below 1 less")
      ->type_name("X")
      ->transform(finite_number())
      ->needs(sample);
  command.add_option("--top-k", a.top_k, "Draw from the K likeliest tokens only; 0: from all. Without it, 50")
      ->type_name("K")
      ->transform(whole_number(0, std::numeric_limits<uint32_t>::max()))
      ->needs(sample);
  command.add_option("--top-p", a.top_p, "Draw from the likeliest tokens that make up this probability")
      ->type_name("P")
      ->transform(finite_number())
      ->needs(sample);
  command.add_option("--min-p", a.min_p, "Draw from tokens at least this likely, relative to the likeliest")
      ->type_name("P")
      ->transform(finite_number())
      ->needs(sample);
  command.add_option("--typical-p", a.typical_p, "Draw from the tokens nearest to the expected information")
      ->type_name("P")
      ->transform(finite_number())
      ->needs(sample);
  command
      .add_option("--options", a.options,
                  "Further options as JSON, named as in generation_config.json; @FILE reads them from there")
      ->type_name("JSON");
}

void add_vectors(CLI::App& command, VectorArguments& v) {
  auto* name = command
                   .add_option("--prompt", v.prompt_name,
                               "Prompt of the model's directory that stands before each text, by its name; without it, "
                               "the directory's default")
                   ->type_name("NAME");
  auto* text = command.add_option("--prompt-text", v.prompt, "Put this before each text; \"\" for no prompt")
                   ->type_name("TEXT")
                   ->excludes(name);
  command
      .add_option("--task", v.task,
                  "query or document: the prompt that the directory has for it, or none if it has none")
      ->type_name("TASK")
      ->check(CLI::IsMember({"query", "document"}))
      ->excludes(name)
      ->excludes(text);
  command
      .add_option("--dimensions", v.dimensions,
                  "The first N numbers of each vector alone, for models that are trained for it (Matryoshka)")
      ->type_name("N")
      ->transform(whole_number(1, kMostU32));
  command.add_flag("--normalize", v.normalize, "Give vectors length 1, also if the directory does not say so");
  auto* json = command.add_flag("--json", v.json, "The same as --vectors json");
  command
      .add_option(
          "--vectors", v.format,
          "json, npy or f32 (numbers of 32 bits, one after the other); without it, the ending of -o or --suffix "
          "decides (.npy, .f32), else json")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"json", "npy", "f32"}))
      ->excludes(json);
}

CLI::callback_t append_labels(std::vector<std::string>& labels) {
  return [&labels](const CLI::results_t& given) {
    for (const std::string& listed : given)
      for (std::string& label : labels_in(unprotect(listed))) labels.push_back(std::move(label));
    return true;
  };
}

CLI::Validator names_labels() {
  return {[](std::string& text) -> std::string { return labels_in(text).empty() ? "it names no label" : ""; }, ""};
}

void add_labels(CLI::App& command, ScoreArguments& s) {
  auto* labels = command
                     .add_option("--labels", append_labels(s.labels),
                                 "Classes that the model was not trained for, with commas between; for models that "
                                 "tell whether a text entails a sentence")
                     ->type_name("LABELS")
                     ->take_all()
                     ->check(names_labels());
  command
      .add_option("--hypothesis", s.hypothesis, "This sentence, {} for the label; without it \"This example is {}.\"")
      ->type_name("TEXT")
      ->needs(labels);
  command.add_option("--entailment", s.entailment, "The model's label that means that the text entails the sentence")
      ->type_name("LABEL")
      ->needs(labels);
  command.add_flag("--multi-label", s.multi_label, "Several labels may hold; each has a probability of its own")
      ->needs(labels);
}

void add_classes(CLI::App& command, TextArguments& a) {
  command.add_option("--top", a.scoring.top, "Number of classes; without it 1 of a text, 5 of a picture")
      ->type_name("N")
      ->transform(whole_number(1, 1000));
  command.add_flag("--pairs", a.scoring.pairs, "Each line is two texts with a tab between, for models that read pairs");
  add_labels(command, a.scoring);
  command.add_flag("--json", a.json, "One JSON object per text or picture");
}

void add_windows(CLI::App& command, SpanArguments& s) {
  auto* cut =
      command.add_flag("--no-windows", s.cut_texts, "Leave out the end of a text that is too long, with a note");
  command
      .add_option("--window", s.window,
                  "Tokens of a window of a text that is too long; without it, as many as the model reads, for answers "
                  "at most 384")
      ->type_name("N")
      ->transform(whole_number(1, kMostU32))
      ->excludes(cut);
  command.add_option("--stride", s.stride, "Tokens that neighbouring windows share; without it 128, if these are few")
      ->type_name("N")
      ->transform(whole_number(1, kMostU32))
      ->excludes(cut);
}

void add_tags(CLI::App& command, TextArguments& a) {
  command
      .add_option("--aggregation", a.spans.aggregation,
                  "How tokens become names, as in transformers: none, simple, first, average or max; without it simple")
      ->type_name("HOW")
      ->check(CLI::IsMember({"none", "simple", "first", "average", "max"}));
  command
      .add_option("--ignore-labels", a.spans.ignored,
                  "Labels whose words are left out, with commas between; without it O, with \"\" none")
      ->type_name("LABELS");
  add_windows(command, a.spans);
  command.add_flag("--json", a.json, "One JSON object per text, with places in bytes and characters");
}

void add_answers(CLI::App& command, TextArguments& a) {
  auto* question =
      command.add_option("--question", a.spans.question, "The question about every text")->type_name("TEXT");
  command.add_flag("--pairs", a.scoring.pairs, "Each line is a question and a text with a tab between")
      ->excludes(question);
  command.add_option("--top", a.spans.top, "The N best answers")->type_name("N")->transform(whole_number(1, 1000));
  command.add_flag("--allow-empty", a.spans.allow_empty, "\"No answer\" may be an answer, an empty one");
  command.add_option("--max-answer-tokens", a.spans.max_answer_tokens, "Longest answer")
      ->type_name("N")
      ->capture_default_str()
      ->transform(whole_number(1, 1 << 20));
  command.add_flag("--part-words", a.spans.part_words, "Answers may begin and end within a word");
  add_windows(command, a.spans);
  command.add_flag("--json", a.json, "One JSON object per text, with places in bytes and characters");
}

void add_fills(CLI::App& command, TextArguments& a) {
  command.add_option("--top", a.spans.top, "The N best words for each mask; without it 5")
      ->type_name("N")
      ->transform(whole_number(1, 1000));
  command.add_flag("--json", a.json, "One JSON object per text, with the filled texts");
}

void add_ranking(CLI::App& command, TextArguments& a) {
  command
      .add_option("--instruction", a.vectors.prompt,
                  "Words by which models that judge (Qwen3-Reranker) do so; without them, as for a web search")
      ->type_name("TEXT");
  command.add_option("--top", a.scoring.top, "Only the N best documents")
      ->type_name("N")
      ->transform(whole_number(1, kMostU32));
  command.add_flag("--probability", a.scoring.probability,
                   "Scores from 0 to 1, whatever the directory calls the score");
  command.add_flag("--json", a.json, "One JSON object per document");
}

void add_scores(CLI::App& command, TextArguments& a) {
  command.add_flag("--pairs", a.scoring.pairs,
                   "Each line is a source and its target with a tab between, for models that translate or summarize");
  command.add_option("--from", a.from, "Language of the source, for models of several languages")
      ->type_name("LANGUAGE");
  command.add_option("--to", a.to, "Language of the target")->type_name("LANGUAGE");
  command
      .add_option("--window", a.spans.window,
                  "Tokens that are read together; without it, as many as the model reads, at most 2048")
      ->type_name("N")
      ->transform(whole_number(2, kMostU32));
  command
      .add_option("--stride", a.spans.stride,
                  "Tokens by which a window moves on in a text that is longer; without it half of the window")
      ->type_name("N")
      ->transform(whole_number(1, kMostU32));
  command.add_flag("--ids", a.ids, "Lines of token ids instead of texts, for models that are a decoder alone");
  command.add_flag("--json", a.json, "One JSON object per text");
  command.add_flag("--scores", a.scores, "With --json: the ids of the text and the log-probability of each");
}

void add_results(CLI::App& command, const TextCommand& about, TextArguments& a) {
  if (about.makes == Makes::vectors) add_vectors(command, a.vectors);
  if (about.makes == Makes::classes) add_classes(command, a);
  if (about.makes == Makes::ranking) add_ranking(command, a);
  if (about.makes == Makes::tags) add_tags(command, a);
  if (about.makes == Makes::answers) add_answers(command, a);
  if (about.makes == Makes::fills) add_fills(command, a);
  if (about.makes == Makes::scores) add_scores(command, a);
}

void add_device(CLI::App& command, const TextCommand& about, TextArguments& a) {
  command
      .add_option("--batch", a.batch,
                  about.languages ? "Texts or sentences worked on together" : "Texts worked on together")
      ->type_name("N")
      ->capture_default_str()
      ->transform(whole_number(1, 65536));
  command.add_flag("--deterministic", a.deterministic,
                   "The same output whatever else is worked on: every sum is made in one order");
  command
      .add_option("--memory-limit", a.memory_limit,
                  "Device memory that may be taken, in MiB; batches that need more are run in parts")
      ->type_name("MIB")
      ->transform(whole_number(1, 1 << 30));
  add_dtype(command, a.dtype);
  add_device_choice(command, a.device, a.require_gpu);
  command.add_option(
      "--caps", a.caps,
      "Pretend that the device can do less (floor, small-bindings, no-subgroup, ...) or that a CPU is a GPU (gpu)");
  command.add_flag("--no-cache", a.no_cache,
                   "Keep nothing of this device for the next start, and use nothing that was kept; also "
                   "LAPILLI_NO_CACHE=1");
  command.add_flag("--validation", a.validation, "Switch Vulkan's validation layer on");
  command.add_flag("--stats", a.stats, "Times, tokens, pipelines and memory on stderr at the end");
  command.add_option("--trace", a.trace_file, kTraceHelp)->type_name("FILE");
}

void add_output(CLI::App& command, TextArguments& a) {
  add_kv_dtype(command, a.kv_dtype);
  command.add_flag("--no-prefix-cache", a.no_prefix_cache,
                   "Compute every prompt of a decoder alone from its first id, also where an earlier one began alike");
  command.add_flag("--ids", a.ids, "Token ids instead of text, in and out: end token included, start token left out");
  command.add_flag("--json", a.json, "One JSON object per text, with text, score and ids");
  command.add_flag("--scores", a.scores, "With --json: the log-probability of each id, too");
  auto* unsure =
      command
          .add_option("--unsure", a.unsure,
                      "Note outputs of which the model is less sure, in logarithms of probabilities a token (-1.5): on "
                      "stderr, and with --json as \"unsure\": true. Without it, the model's own limit; the bundled "
                      "model has one")
          ->type_name("X")
          ->transform(finite_number());
  command.add_flag("--no-unsure", a.no_unsure, "Note no outputs of which the model is unsure")->excludes(unsure);
  add_attention_options(command, a.attention);
  command.add_flag("--stream", a.stream, "Print text as it comes; one input after the other");
}

void add_search_arguments(CLI::App& command, const TextCommand& about, TextArguments& a) {
  a.batch = kEncoderBatch;
  add_searched(command, about, a);
  add_record_places(command, a.files);
  add_found(command, a);
  add_device(command, about, a);
  command.remove_option(command.get_option("--deterministic"));  // it always is
}

void add_chat_command(CLI::App& command, const TextCommand& about, TextArguments& a) {
  add_model(command, about, a);
  add_answer_arguments(command, a.chat);
  add_decoding(command, a);
  command.remove_option(command.get_option("--nbest"));  // an answer is streamed
  add_device(command, about, a);
  command.remove_option(command.get_option("--batch"));
  add_kv_dtype(command, a.kv_dtype);
}

}  // namespace

// Blanks around labels, and commas with nothing between, are no part of any, as in transformers.
std::vector<std::string> labels_in(const std::string& listed) {
  std::vector<std::string> labels;
  std::istringstream parts(listed);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t begin = part.find_first_not_of(" \t"), end = part.find_last_not_of(" \t");
    if (begin != std::string::npos) labels.push_back(part.substr(begin, end - begin + 1));
  }
  return labels;
}

// The limits are not shown in --help, where they would hide what matters.
CLI::Validator whole_number(uint64_t low, uint64_t high) {
  return {[low, high](std::string& text) -> std::string {
            uint64_t value = 0;
            const char* end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, value);
            if (error != std::errc() || stop != end || value < low || value > high)
              return "\"" + text + "\" is no whole number from " + std::to_string(low) + " to " + std::to_string(high);
            text = std::to_string(value);  // CLI11 would take 010 for eight
            return {};
          },
          ""};
}

CLI::Validator not_empty() {
  return {[](std::string& text) -> std::string { return text.empty() ? "it names nothing" : ""; }, ""};
}

CLI::Validator finite_number() {
  return {[](std::string& text) -> std::string {
            char* stop = nullptr;
            const double value = std::strtod(text.c_str(), &stop);
            const bool whole = !text.empty() && stop == text.c_str() + text.size();
            return whole && std::isfinite(value) ? "" : "\"" + text + "\" is no finite number";
          },
          ""};
}

void add_text_arguments(CLI::App& command, const TextCommand& about, TextArguments& a) {
  if (about.makes == Makes::search) return add_search_arguments(command, about, a);
  if (std::string_view(about.name) == "chat") return add_chat_command(command, about, a);
  add_inputs(command, about, a);
  if (about.makes == Makes::ranking)
    add_record_places(command, a.files);
  else
    add_files(command, about, a.files);
  if (about.languages) add_document_arguments(command, a);
  if (!about.writes()) {
    a.batch = kEncoderBatch;
    add_results(command, about, a);
    return add_device(command, about, a);
  }
  add_decoding(command, a);
  if (std::string_view(about.name) == "generate") add_chat_arguments(command, a.chat);
  add_device(command, about, a);
  add_output(command, a);
}

// A shard is one file, unless each input has one.
bool FileArguments::one_each() const {
  return !suffix.empty() || (!shard.wanted() && (names_folder(output) || directory_exists(output)));
}

namespace {

std::string contradiction_of_files(const TextArguments& a, bool documents) {
  const FileArguments& f = a.files;
  const auto format = format_called(f.format);
  if (!f.format.empty() && !format) return "--format: \"" + f.format + "\" is none; --help lists them";
  if (format && is_document(*format) && !documents)
    return "--format " + f.format + ": documents can be translated only";
  if (format == Format::tsv && f.column.empty()) return "--format tsv needs --column";
  if (format == Format::tsv && f.columns.size() > 1) return "--format tsv has one --column, --format csv several";
  if (f.resume && !f.wanted()) return "--resume needs -o or --suffix";
  if (f.force && !f.wanted()) return "--force needs -o or --suffix";
  if (f.skip_existing && !f.wanted()) return "--skip-existing needs -o or --suffix";
  if (f.skip_existing && f.force) return "--skip-existing leaves what --force writes over";
  if (f.resume && !a.attention.file.empty()) return "--resume does not go with --attention";
  if (std::string wrong = contradiction_of_shard(f.shard, {f.output, f.suffix, f.resume, f.skip_existing});
      !wrong.empty())
    return wrong;
  if (std::string wrong = wrong_suffix(f.suffix, f.output); !wrong.empty()) return wrong;
  if (!f.list.empty() && a.force_text) return "--files-from names files; --text takes the inputs for texts";
  if (a.stream && f.wanted()) return "--stream prints what comes; it does not go with -o or --suffix";
  const bool results = a.json || a.ids || a.stream || a.attention.wanted();
  if (results && format && *format != Format::lines)
    return "--json, --ids, --stream, --alignment and --attention take lines";
  return "";
}

}  // namespace

std::string contradiction(const TextArguments& a, bool documents) {
  if (const std::string wrong = contradiction_of_files(a, documents); !wrong.empty()) return wrong;
  if (const std::string wrong = contradiction_of_chat(a); !wrong.empty()) return wrong;
  if (const std::string wrong = contradiction_of_documents(a); !wrong.empty()) return wrong;
  if (a.scoring.pairs && !a.scoring.labels.empty()) return "--labels are for texts, not for --pairs";
  if (a.scoring.pairs && a.ids) return "--ids are lines of ids, not --pairs of texts";
  if (a.nbest > 1 && !a.json) return "--nbest needs --json: without it every text of input gives one of output";
  if (a.scores && !a.json) return "--scores needs --json";
  if (a.unsure && *a.unsure > 0) return "--unsure: no logarithm of a probability is above 0";
  if (a.stream && (a.json || a.ids)) return "--stream prints text; it does not go with --json or --ids";
  return "";
}

int read_options(const TextArguments& a, std::string& text) {
  if (!a.options.starts_with('@')) {
    text = a.options;
    return 0;
  }
  return read_whole(a.options.substr(1), text);
}

std::string named_as_typed(const TextArguments& a, const std::string& message) {
  return named_as_typed({{a.beam > 0, "num_beams:", "--beam:"},
                         {a.nbest > 1, "num_return_sequences:", "--nbest:"},
                         {a.max_length > 0, "max_length:", "--max-length:"},
                         {a.chat.max_new_tokens > 0, "max_length:", "--max-new-tokens:"},
                         {!a.chat.messages.empty(), "messages:", "--messages:"},
                         {a.temperature.has_value(), "temperature:", "--temperature:"},
                         {a.top_p.has_value(), "top_p:", "--top-p:"},
                         {a.min_p.has_value(), "min_p:", "--min-p:"},
                         {a.typical_p.has_value(), "typical_p:", "--typical-p:"},
                         {!a.options.empty(), "the options given as JSON",
                          a.options.starts_with('@') ? a.options.substr(1) : "--options"}},
                        {{a.sample, "set do_sample to false", "leave --sample away"}}, message);
}

std::string options_json(const TextArguments& a, const std::string& given) {
  std::string flags;
  const auto add = [&flags](const char* key, const std::string& value) {
    flags += (flags.empty() ? "\"" : ",\"") + std::string(key) + "\":" + value;
  };
  const auto number = [](double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.12g", value);
    return std::string(text);
  };
  if (a.sample) add("do_sample", "true");
  if (a.seed) add("seed", std::to_string(*a.seed));
  if (a.top_k) add("top_k", std::to_string(*a.top_k));
  if (a.temperature) add("temperature", number(*a.temperature));
  if (a.top_p) add("top_p", number(*a.top_p));
  if (a.min_p) add("min_p", number(*a.min_p));
  if (a.typical_p) add("typical_p", number(*a.typical_p));
  if (flags.empty()) return given;
  const size_t end = given.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return "{" + flags + "}";
  if (given[end] != '}') return given;  // not an object: the library reports it
  const std::string head = given.substr(0, end);
  const bool empty = head.find_first_not_of(" \t\r\n{") == std::string::npos;
  return head + (empty ? "" : ",") + flags + "}";
}

}  // namespace lapilli::cli
