// State shared by the parts of one run of a command on text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments/text_arguments.hpp"
#include "cli/commands.hpp"
#include "cli/files/journal.hpp"
#include "cli/output.hpp"
#include "cli/progress/progress.hpp"
#include "cli/run/memory_files.hpp"
#include "cli/run/notes.hpp"
#include "cli/run/score_output.hpp"
#include "cli/run/text_model.hpp"
#include "cli/run/vector_output.hpp"
#include "cli/shards/rejected_rows.hpp"
#include "documents/kept/kept_text.hpp"
#include "documents/options.hpp"

namespace lapilli::cli {

struct RunState {
  const TextCommand& about;
  const TextArguments& arguments;
  const Context& context;
  TextModel& model;
  Progress& progress;

  std::set<std::string> advised = {};  // advice that was given
  // For the current output:
  uint64_t failed = 0;               // lines and segments
  uint64_t lines_before = 0;         // in its finished sources
  uint64_t argument_lines = 0;       // in its text arguments
  RejectedRows* rejected = nullptr;  // of a shard; else null
  // For all outputs of this run:
  uint64_t scored_texts = 0;
  ScoreSum scores = {};
  documents::Options document_options = {};
  std::unique_ptr<const documents::KeptText> kept = nullptr;  // words that stay in lines; null: none are looked for
  std::unique_ptr<MemoryFiles> memory = nullptr;              // null: there are none

  // Takes what the memory has of these texts, and marks them as done.
  [[nodiscard]] std::vector<std::optional<std::string>> take_known(std::vector<Line>& texts) const {
    std::vector<std::optional<std::string>> known(texts.size());
    if (!memory || !memory->reads()) return known;
    for (size_t i = 0; i < texts.size(); ++i) {
      if (!texts[i].kept && !texts[i].too_long) known[i] = memory->find(texts[i].text);
      texts[i].kept |= known[i].has_value();
    }
    return known;
  }
  // Puts them among the results.
  static void put_known(std::vector<std::optional<std::string>> known, LineResults& results) {
    for (size_t i = 0; i < known.size(); ++i)
      if (known[i]) results.lines[i].texts = {std::move(*known[i])};
  }
  // Gives the memory what the model made of a text. A text that lost a placeholder is no example.
  void remember(const std::string& source, const LineResult& result) const {
    if (!memory || !memory->writes() || result.status != Status::ok || !result.output) return;
    const bool run = result.output->sequences.front().finish != Finish::kept;
    if (run && (!kept || kept->is_whole(source, result.text()))) memory->add(source, result.text());
  }

  // Lines, or texts, that are sorted by length together. More of them fill batches better, but an interruption may lose
  // them.
  // Several devices take batches from it in turn, so it has some for each.
  [[nodiscard]] size_t window() const {
    const size_t devices = model.devices();
    return size_t{arguments.batch} * (about.writes() ? 2 : 16) * (devices > 1 ? 4 * devices : 1);
  }
  [[nodiscard]] VectorFormat vector_format() const {
    const FileArguments& files = arguments.files;
    return cli::vector_format(arguments.vectors.json ? "json" : arguments.vectors.format,
                              files.suffix.empty() ? files.output : files.suffix)
        .value_or(VectorFormat::json);
  }
  // Gives the exit code.
  [[nodiscard]] int save_memory() const {
    const std::string wrong = memory ? memory->save() : "";
    return wrong.empty() ? int{exit_ok}
                         : complain(exit_output, "--tm-out " + arguments.documents.output + ": " + wrong);
  }
  // `where`: gives the line's name in messages; `keeps_lost`: see NotesAbout.
  template <class Where>
  void tell(Where&& where, const LineResult& result, bool keeps_lost = false) {
    if (result.status != Status::ok) {
      ++failed;
      say(where() + ": " + result.error);
    } else if (about.makes == Makes::scores) {
      if (result.output) tell_score(where, *result.output);
    } else if (result.nothing_between && !context.quiet) {
      const Note note = nothing_between_note();
      say("note: " + where() + ": " + note.what + advice_once(note.advice));
    } else if (result.output && result.output->cut && !context.quiet) {
      say("note: " + where() + ": the text is longer than the " + std::to_string(result.output->tokens) +
          " tokens that the model reads; its end is left out");
    } else if (result.output && !context.quiet) {
      const NotesAbout notes_about{model.model().info().value().max_target_tokens, !arguments.attention.file.empty(),
                                   keeps_lost, model.unsure_below()};
      for (const Note& note : notes_of(result.output->sequences.front(), notes_about))
        say("note: " + where() + ": " + note.what + advice_once(note.advice));
    }
  }
  // The second line with the same note needs no advice any more.
  std::string advice_once(const std::string& advice) { return advised.insert(advice).second ? "; " + advice : ""; }
  // Adds it to the total.
  template <class Where>
  void tell_score(Where&& where, const Output& output) {
    ++scored_texts;
    scores.add(output.sequences.front());
    const std::string why = why_unscored(output);
    if (!why.empty() && !context.quiet) say("note: " + where() + ": " + why);
  }
  void say(const std::string& message) {
    progress.clear();
    complain(0, message);
  }
  // Rows of a shard that fail are told in a file, too. Gives the exit code.
  int reject(const std::string& file, uint64_t row, const LineResult& result) {
    if (!rejected || result.status == Status::ok) return exit_ok;
    const auto status = static_cast<lapilli_status>(result.status);
    if (passes_with_time(status) && !result.too_large) return stop_shard(status);
    return rejected->add({file, row, result.error + (result.too_large ? "; alone it does not fit either" : "")});
  }
  [[nodiscard]] Point point(uint64_t source, uint64_t units, uint64_t bytes) const {
    return {source, units, bytes, failed, lines_before};
  }
};

}  // namespace lapilli::cli
