#include "cli/files/text_sources.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "base/path.hpp"
#include "cli/arguments/mistyped_names.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/folder_files.hpp"
#include "cli/files/foreign_files.hpp"
#include "cli/files/left_out.hpp"
#include "cli/files/output_names.hpp"
#include "cli/files/record_format.hpp"
#include "cli/files/text_input.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"
#include "shards/unpacker.hpp"

namespace lapilli::cli {

namespace {

// A prompt may be any kind of text.
bool takes_all_text(const TextCommand& about) { return std::string_view(about.task) == "generate"; }

class JobFinder {
 public:
  JobFinder(const TextCommand& about, const TextArguments& arguments)
      : about_(about), arguments_(arguments), files_(arguments.files), one_each_(files_.one_each()) {}

  int find(FoundJobs& found) {
    const int code = find_all(found.jobs);
    found.left_out = left_out_.text();
    found.refused = refused_;
    return code;
  }

 private:
  int find_all(std::vector<OutputJob>& jobs) {
    for (const std::string& input : arguments_.inputs) {
      if (const int code = add(input)) return code;
    }
    if (arguments_.inputs.empty()) sources_.push_back({"-", "", "", format_of("-")});
    if (refused_ && sources_.empty()) return exit_input;
    if (const int code = check_places()) return code;
    if (one_each_) return split(jobs);
    const bool to_file = files_.wanted();
    for (const Source& source : sources_) {
      if (to_file && !source.is_text() && same_file(source.name, files_.output))
        return complain(exit_usage, files_.output + " is an input; it cannot be the output");
    }
    jobs.push_back({to_file ? files_.output : "", std::move(sources_)});
    return exit_ok;
  }

  int add(const std::string& input) {
    if (input == "-" && !arguments_.force_text) {
      sources_.push_back({"-", "", "", format_of("-")});
    } else if (!arguments_.force_text && takes_folders() && directory_exists(input)) {
      return add_folder(input);
    } else if (arguments_.force_file || (!arguments_.force_text && is_readable_file(input))) {
      return add_file(input, std::string(last_part(input)));
    } else {
      const std::string wrong = arguments_.force_text ? "" : why_no_text(input);
      if (!wrong.empty()) return complain(exit_usage, wrong);
      sources_.push_back({"", input, "", format_of("")});
    }
    return exit_ok;
  }

  int add_file(const std::string& name, const std::string& below) {
    if (const int error = check_input(name)) return complain(exit_input, name + ": " + std::strerror(error));
    if (const int code = refuse(name)) return takes_folders() ? exit_ok : code;
    const Format format = format_of(name);
    if (format == Format::tsv && files_.column.empty())
      return complain(exit_usage,
                      name + ": --column says which of its columns is read; --format lines takes it line by line");
    if (const std::string wrong = wrong_table(name, format); !wrong.empty())
      return complain(exit_input, name + ": " + wrong);
    sources_.push_back({name, "", below, format});
    return exit_ok;
  }

  // Among several outputs a bad table does not stop the others, and is reported when it is read.
  [[nodiscard]] std::string wrong_table(const std::string& name, Format format) const {
    if (format != Format::tsv || one_each_ || file_kind(name) != FileKind::regular) return "";
    return missing_column(files_.column, text_head_of(name));
  }

  // A folder's files either have outputs of their own, or none.
  [[nodiscard]] bool takes_folders() const {
    return one_each_ || files_.shard.wanted() || about_.makes == Makes::search;
  }

  // Among the files of folders, a bad one does not stop the others. The name of a document is no reason. A pipe is not
  // opened before it is read.
  int refuse(const std::string& name) {
    const Format format = format_of(name);
    if (file_kind(name) != FileKind::regular || !is_text(format)) return exit_ok;
    const bool by_name = !takes_all_text(about_) && !is_document(format);
    const std::string inside(shards::unpacked_name(name));
    const ForeignKind* foreign = foreign_file(by_name ? inside : "", text_head_of(name), arguments_.is_declared_text());
    const bool as_named = is_document(format) && foreign == foreign_name(inside);  // [Script Info] in .ass
    if (!foreign || as_named) return exit_ok;
    refused_ = true;
    return complain(exit_input, name + ": " + refusal_of(*foreign));
  }

  // Options that select a place in records require records.
  [[nodiscard]] int check_places() const {
    const auto reads = [&](Format f) {
      return std::any_of(sources_.begin(), sources_.end(), [&](const Source& s) { return s.format == f; });
    };
    const bool reads_table = reads(*format_called("csv"));
    if (files_.names_column() && !reads(Format::tsv) && !reads_table)
      return complain(exit_usage, "--column is for tables, and nothing is read as that: say --format tsv, or csv");
    if (arguments_.documents.names_table() && !reads_table)
      return complain(exit_usage,
                      "--to-column, --delimiter and --no-header are for CSV, and nothing is read as that: "
                      "say --format csv");
    if (files_.names_member() && !reads(Format::jsonl))
      return complain(exit_usage, "--field is for JSON lines, and nothing is read as that: say --format jsonl");
    return exit_ok;
  }

  // --format wins, then the name. Plain text has structure only if it goes to a file: lines on standard output
  // correspond to input lines.
  [[nodiscard]] Format format_of(const std::string& name) const {
    if (const auto given = format_called(files_.format)) return *given;
    const bool results = arguments_.json || arguments_.ids || arguments_.stream || arguments_.attention.wanted();
    const auto format = name == "-" ? format_of_place() : told_format(name);
    const bool pairs = format == Format::tsv && arguments_.scoring.pairs && files_.column.empty();
    if (!format || results || pairs || (is_document(*format) && !about_.languages)) return Format::lines;
    const bool to_lines = !files_.wanted() || files_.shard.wanted();
    return *format == Format::text && to_lines ? Format::lines : *format;
  }

  // The format that a file's name tells, or the beginning of XML.
  [[nodiscard]] static std::optional<Format> told_format(const std::string& name) {
    const std::string_view inside = shards::unpacked_name(name);
    const auto format = format_of_file(inside);
    const bool tells = !format && is_xml(inside) && file_kind(name) == FileKind::regular;
    return tells ? format_of_xml(text_head_of(name)) : format;
  }

  // Standard input has no name; a member or a column says what it is.
  [[nodiscard]] std::optional<Format> format_of_place() const {
    if (files_.names_member()) return Format::jsonl;
    if (arguments_.documents.names_table()) return format_called("csv");
    return files_.names_column() ? std::optional(Format::tsv) : std::nullopt;
  }

  int add_folder(const std::string& folder) {
    std::vector<FolderFile> files;
    if (const int code = files_below(folder, files_.output, files)) return code;
    const size_t before = sources_.size();
    for (const FolderFile& file : files) {
      if (const ForeignKind* why = why_left_out(file))
        left_out_.add(*why, file.path);
      else if (const int code = add_file(file.path, file.below))
        return code;
    }
    if (sources_.size() > before || refused_) return exit_ok;
    const std::string others = left_out_.text();
    return complain(exit_input, folder + " holds no file with a known ending (see --help)" +
                                    (others.empty() ? "" : "; there is: " + others));
  }

  // Null: the file is used.
  [[nodiscard]] const ForeignKind* why_left_out(const FolderFile& file) const {
    if (file.left_out) return file.left_out;
    const std::string name(last_part(file.below));
    if (is_part(name)) return &left_out::kPart;
    const std::string_view inside = shards::unpacked_name(name);
    const auto format = told_format(file.path);
    if (!format || (is_document(*format) && !about_.languages && foreign_name(inside))) {
      const ForeignKind* foreign = foreign_name(inside);
      return foreign ? foreign : &left_out::kUnknown;
    }
    if (has_suffix(name, files_.suffix)) return &left_out::kOutput;
    const bool table = *format == Format::tsv && files_.column.empty() && files_.format.empty();
    return table ? &left_out::kTable : nullptr;
  }

  int split(std::vector<OutputJob>& jobs) {
    std::set<std::string> targets;
    for (const Source& source : sources_) {
      if (source.is_text() || source.standard_input()) {
        const std::string what = source.is_text() ? "\"" + source.text + "\" is" : "standard input is";
        return complain(exit_usage, what + " no file; with --suffix, or a folder behind -o, all inputs are");
      }
      const std::string target = target_of(source);
      if (!targets.insert(normal_path(target)).second)
        return complain(exit_usage, "two inputs would be written to " + target);
      const bool is_input =
          file_exists(target) && std::any_of(sources_.begin(), sources_.end(),
                                             [&](const Source& input) { return same_file(input.name, target); });
      if (is_input) return complain(exit_usage, target + " is an input; it cannot be an output");
      jobs.push_back({target, {source}});
    }
    return exit_ok;
  }

  [[nodiscard]] std::string target_of(const Source& source) const {
    return files_.output.empty() ? renamed(std::string(shards::unpacked_name(source.name)))
                                 : path_in(files_.output, renamed(std::string(shards::unpacked_name(source.below))));
  }

  // Vectors as numbers alone are no text, and have the suffix as their ending.
  [[nodiscard]] std::string renamed(const std::string& name) const {
    const bool numbers =
        about_.makes == Makes::vectors && (files_.suffix.ends_with(".npy") || files_.suffix.ends_with(".f32"));
    if (!numbers) return with_suffix(name, files_.suffix);
    return name.substr(0, name.size() - extension(name).size()) + files_.suffix;
  }

  const TextCommand& about_;
  const TextArguments& arguments_;
  const FileArguments& files_;
  bool one_each_;
  std::vector<Source> sources_;
  LeftOut left_out_;
  bool refused_ = false;
};

}  // namespace

int find_jobs(const TextCommand& about, const TextArguments& arguments, FoundJobs& found) {
  return JobFinder(about, arguments).find(found);
}

std::vector<Line> lines_of_argument(const std::string& text, bool by_lines) {
  std::vector<Line> lines(1);
  size_t start = 0;
  do {
    Line& line = lines.back();
    const size_t end = by_lines ? std::min(text.find('\n', start), text.size()) : text.size();
    line.text = text.substr(start, end - start);
    if (by_lines && !line.text.empty() && line.text.back() == '\r') line.text.pop_back();
    line.number = lines.size();
    line.too_long = line.text.size() > kMaxLineBytes;
    start = end + 1;
    if (start < text.size()) lines.emplace_back();
  } while (start < text.size());
  return lines;
}

bool reads_lines(const TextCommand& about, const TextArguments& a, Format format) {
  return !about.whole_files || a.lines || a.ids || a.scoring.pairs || format != Format::lines;
}

Line whole_text(LineReader& reader) {
  Line text;
  text.number = 1;
  while (true) {
    const std::vector<Line> lines = reader.read(256);
    if (lines.empty()) return text;
    for (const Line& line : lines) {
      text.bytes += line.bytes;
      text.too_long = text.too_long || line.too_long || text.text.size() + line.text.size() >= kMaxLineBytes;
      if (text.too_long) continue;
      if (line.number > 1) text.text += '\n';
      text.text += line.text;
    }
  }
}

}  // namespace lapilli::cli
