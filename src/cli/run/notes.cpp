#include "cli/run/notes.hpp"

#include <algorithm>
#include <cstdio>

#include "cli/run/unsure.hpp"

namespace lapilli::cli {

namespace {

// Truncates to `limit` bytes, at a character boundary.
std::string shortened(const std::string& text, size_t limit = 120) {
  if (text.size() <= limit) return text;
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0) == 0x80) --limit;
  return text.substr(0, limit) + "...";
}

// The position at which the first part that was cut ends.
size_t cut_at(const Sequence& s) {
  const auto cut =
      std::find_if(s.parts.begin(), s.parts.end(), [](const Part& p) { return p.finish == Finish::length; });
  return cut == s.parts.end() ? s.ids.size() : cut->ids.size();
}

// The start token counts as well.
Note cut_note(size_t tokens, uint32_t positions) {
  const bool all = positions != 0 && tokens + 1 >= positions;
  const std::string cut = "the output was cut at " + std::to_string(tokens) +
                          (all ? " tokens, which are all that the model has" : " tokens (max_length)");
  return {cut + ", and may lack its end",
          all ? "give shorter texts, or --split" : "allow more with --max-length, or give shorter texts"};
}

constexpr const char* kRepeats = "the output repeats itself again and again, and what should follow is missing";
constexpr const char* kAgainstRepeats =
    "try shorter sentences, another --beam, or --options '{\"no_repeat_ngram_size\": 3}'";

Note unknown_note(uint32_t unknown, uint32_t tokens) {
  return {std::to_string(unknown) + " of " + std::to_string(tokens) + " tokens with letters are unknown to the model",
          "is the text in the language and script that it was made for? Else take another model (--model)"};
}

Note lost_note(const std::string& address) {
  return {shortened(address) + " is not in the output as it stands in the text",
          "compare them. URLs and placeholders stay within the lines of documents (--format text), and addresses where "
          "they have a line of their own"};
}

Note unsure_note(double sure, double below) {
  char text[100];
  std::snprintf(text, sizeof text, "the model is unsure (%.2f a token, below %.2f)", sure, below);
  return {text, "read it again, or take a larger model (--model)"};
}

const char* against_loops(const TranscriptionMode& how) {
  if (!how.windows) return "try another --beam, or shorter recordings";
  return how.fallback ? "try another --beam or --batch" : "try --fallback, another --beam or --batch";
}

}  // namespace

Note nothing_between_note() {
  return {"the first of the two models wrote nothing, so the translation is empty",
          "try another --beam, or a model of both languages (--model)"};
}

std::string loop_note(const std::vector<Segment>& segments, const TranscriptionMode& how) {
  const auto loops = [](const Segment& s) { return s.repeats; };
  const auto first = std::find_if(segments.begin(), segments.end(), loops);
  if (first == segments.end()) return "";
  const auto all = std::count_if(segments.begin(), segments.end(), loops);
  char where[96];
  std::snprintf(where, sizeof where, "%.2f to %.2f s", first->begin, first->end);
  return "the text repeats itself again and again (" + std::string(where) +
         (all > 1 ? ", and in " + std::to_string(all - 1) + " more segments" : "") +
         "), and what was said there may be missing; " + against_loops(how);
}

std::string doubt_note(const std::vector<Segment>& segments) {
  constexpr size_t kNamed = 3;
  std::vector<Segment> windows;  // each as one segment
  for (const Segment& s : segments) {
    if (!s.doubtful) continue;
    if (windows.empty() || windows.back().window_begin != s.window_begin) windows.push_back(s);
    windows.back().end = std::max(windows.back().end, s.end);
  }
  if (windows.empty()) return "";
  std::string where;
  for (size_t i = 0; i < std::min(windows.size(), kNamed); ++i) {
    char times[80];
    std::snprintf(times, sizeof times, "%s%.2f to %.2f s", i > 0 ? ", " : "", windows[i].begin, windows[i].end);
    where += times;
  }
  if (windows.size() > kNamed) where += ", and " + std::to_string(windows.size() - kNamed) + " more windows";
  return "what is written of " + where +
         " is unlikely by the model's own measure, or repeats itself; --fallback tries such windows again";
}

std::vector<Note> notes_of(const Sequence& best, const NotesAbout& about) {
  std::vector<Note> notes;
  if (best.repeats)
    notes.push_back({kRepeats, kAgainstRepeats});
  else if (best.finish == Finish::length)
    notes.push_back(cut_note(cut_at(best), about.positions));
  if (uint64_t{best.unknown_tokens} * 2 > best.word_tokens)
    notes.push_back(unknown_note(best.unknown_tokens, best.word_tokens));
  if (notes.empty() && is_unsure(best, about.unsure_below))  // the notes before explain it
    notes.push_back(unsure_note(*sureness(best), *about.unsure_below));
  if (!best.lost_address.empty() && !about.keeps_lost) notes.push_back(lost_note(best.lost_address));
  if (best.finish == Finish::kept && about.attention_file)
    notes.push_back({"the text was kept as it is, so there is no attention to write", "--alignment has its words"});
  return notes;
}

}  // namespace lapilli::cli
