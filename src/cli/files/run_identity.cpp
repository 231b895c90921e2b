#include "cli/files/run_identity.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/path.hpp"
#include "cli/arguments/dtype.hpp"
#include "cli/files/output_names.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

// FNV-1a in 64 bits: detects changed files, but is no protection against deliberate collisions.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char c : bytes) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  [[nodiscard]] std::string text() const { return std::to_string(value_); }

 private:
  uint64_t value_ = 0xcbf29ce484222325u;
};

std::string size_and_hash(const std::string& name) {
  InputFile file = InputFile::open(name);
  Hash hash;
  std::string part(size_t{1} << 16, '\0');
  while (file.ok() && !interrupted()) {
    const long got = file.read(part.data(), part.size());
    if (got <= 0) break;
    hash.add(std::string_view(part).substr(0, static_cast<size_t>(got)));
  }
  return std::to_string(file.size()) + " " + hash.text();
}

// Weights are too large to be read twice; their names, sizes and times stand for them, also of those in folders of the
// directory (modules.json).
std::string files_of(const std::string& folder, int depth = 1) {
  std::vector<FolderEntry> entries;
  list_folder(folder, entries);
  Hash hash;
  for (const FolderEntry& entry : entries) {
    const std::string path = path_in(folder, entry.name);
    if (entry.kind == FileKind::directory && depth > 0) hash.add(entry.name + '\0' + files_of(path, depth - 1));
    if (entry.kind != FileKind::regular) continue;
    hash.add(entry.name + '\0' + std::to_string(file_size(path)) + ' ' + std::to_string(file_time(path)) + '\0');
  }
  return hash.text();
}

// A model may also be one file.
std::string stamp_of(const std::string& model) {
  if (directory_exists(model)) return files_of(model);
  return std::to_string(file_size(model)) + ' ' + std::to_string(file_time(model));
}

class Collector {
 public:
  explicit Collector(Identity begun) : identity_(std::move(begun)) {}
  void add(std::string name, std::string value) { identity_.emplace_back(std::move(name), std::move(value)); }
  void number(std::string name, double value) { add(std::move(name), std::to_string(value)); }
  Identity take() { return std::move(identity_); }

 private:
  Identity identity_;
};

void add_scoring(Collector& all, const ScoreArguments& s) {
  std::string labels;
  for (const std::string& label : s.labels) labels += label + '\n';
  all.number("--top", s.top);
  all.add("--pairs", s.pairs ? "pairs" : "");
  all.add("--labels", labels);
  all.add("--hypothesis", s.hypothesis);
  all.add("--entailment", s.entailment);
  all.add("--multi-label", s.multi_label ? "several" : "");
}

void add_spans(Collector& all, const SpanArguments& s) {
  all.add("--question", s.question.value_or(""));
  all.number("--top", s.top);
  all.add("--aggregation", s.aggregation);
  if (s.ignored) all.add("--ignore-labels", *s.ignored);
  all.add("--allow-empty", s.allow_empty ? "empty" : "");
  all.add("--part-words", s.part_words ? "parts" : "");
  all.add("--no-windows", s.cut_texts ? "cut" : "");
  all.number("--max-answer-tokens", s.max_answer_tokens);
  all.number("--window", s.window);
  all.number("--stride", s.stride);
}

void add_chat(Collector& all, const ChatArguments& c) {
  std::string texts = c.system + '\n';
  for (const std::string& stop : c.stops) texts += "stop " + stop + '\n';
  for (const std::string& one : c.template_arguments) texts += one + '\n';
  all.add("--chat, --system, --stop, --template-arg or --no-thoughts",
          texts + (c.use ? "chat " : "") + (c.no_thoughts ? "no thoughts" : ""));
  all.add("--messages", c.messages.empty() ? "" : size_and_hash(c.messages));
  all.number("--max-new-tokens", c.max_new_tokens);
}

void add_documents(Collector& all, const TextArguments& a) {
  const DocumentArguments& d = a.documents;
  std::string columns;
  for (const std::string& column : a.files.columns) columns += column + '\n';
  for (const std::string& column : d.to_columns) columns += "to " + column + '\n';
  all.add("--column or --to-column", columns);
  all.add("--delimiter", d.delimiter);
  all.add("--no-header, --all or --no-fuzzy",
          std::string(d.no_header ? "no header " : "") + (d.all ? "all " : "") + (d.no_fuzzy ? "no fuzzy" : ""));
  all.add("--keep", d.keep.empty() ? "" : size_and_hash(d.keep));
  all.add("--tm", d.memory.empty() ? "" : size_and_hash(d.memory));
}

void add_options(Collector& all, const TextArguments& a, const std::string& options, const std::string& dtype) {
  all.add("--options or drawing", options_json(a, options));
  all.number("--beam", a.beam);
  all.number("--max-length", a.max_length);
  all.number("--nbest", a.nbest);
  all.number("--batch", a.batch);
  all.add("--dtype", dtype);
  all.add("--kv-dtype", a.kv_dtype);
  all.add("--from", a.from);
  all.add("--to", a.to);
  all.add("--split or --no-split", a.split ? "split" : a.no_split ? "no split" : "");
  all.add("--lines", a.lines ? "lines" : "");
  all.add("--json, --scores or --ids",
          std::string(a.json ? "json " : "") + (a.scores ? "scores " : "") + (a.ids ? "ids" : ""));
  all.add("--unsure or --no-unsure", a.no_unsure ? "none" : a.unsure ? std::to_string(*a.unsure) : "");
  all.add("--alignment", a.attention.alignment ? a.attention.layer : "");
  all.add("--field or --to-field", a.files.field + '\n' + a.files.to_field);
  all.add("--column", a.files.column);
  add_documents(all, a);
  all.add("--prompt, --prompt-text or --task",
          a.vectors.prompt_name + '\n' + a.vectors.task + '\n' + (a.vectors.prompt ? "text " + *a.vectors.prompt : ""));
  all.number("--dimensions", a.vectors.dimensions);
  all.add("--normalize", a.vectors.normalize ? "normalize" : "");
  all.add("--vectors", a.vectors.format);
  add_scoring(all, a.scoring);
  add_spans(all, a.spans);
  add_chat(all, a.chat);
  all.add("--caps", a.caps);
}

}  // namespace

Identity identity_of_run(const std::string& command, const lapilli_model_info& model) {
  return {{"version of lapilli", lapilli_version()},
          {"command", command},
          {"model", std::string(model.directory) + " " + stamp_of(model.directory)},
          {"device", model.device}};
}

Identity identity_of(const TextCommand& about, const TextArguments& arguments, const std::string& options,
                     const ModelsOfRun& models, const std::vector<Source>& sources) {
  const lapilli_model_info& model = models.last;
  Collector all(identity_of_run(about.name, model));
  if (!models.first.empty()) all.add("first model", models.first + " " + stamp_of(models.first));
  if (models.devices > 1) all.add("number of devices", std::to_string(models.devices));
  add_options(all, arguments, options, name_of(static_cast<Dtype>(model.dtype)));
  for (const Source& source : sources) {
    all.add("input " + source.name, size_and_hash(source.name));
    all.add("--format of " + source.name, format_name(source.format));
  }
  return all.take();
}

Identity settings_of(const TextCommand& about, const TextArguments& arguments, const std::string& options) {
  Collector all(Identity{{"command", about.name}});
  add_options(all, arguments, options, arguments.dtype);
  return all.take();
}

Identity identity_of_shard(const Identity& settings, const std::string& model_hash,
                           const std::vector<Source>& sources) {
  Collector all(Identity{{"version of lapilli", lapilli_version()}});
  for (const auto& [name, value] : settings) all.add(name, value);
  all.add("model", model_hash);
  for (const Source& source : sources) {
    const shards::Piece piece = source.piece.value_or(shards::Piece());
    all.add("input " + source.below,
            !source.piece ? size_and_hash(source.name)
                          : std::to_string(piece.begin) + " " + std::to_string(piece.end) + " " + piece.hash);
    all.add("--format of " + source.below, format_name(source.format));
  }
  return all.take();
}

bool can_be_resumed(const std::vector<Source>& sources) {
  return std::all_of(sources.begin(), sources.end(), [](const Source& source) {
    return !source.is_text() && !source.standard_input() && file_exists(source.name);
  });
}

}  // namespace lapilli::cli
