#include "cli/search/line_vectors.hpp"

#include <algorithm>
#include <utility>

#include "cli/exit_codes.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {
constexpr size_t kTextsAtATime = 1024;  // those of one call are lost if it is interrupted
}  // namespace

int LineVectors::make(const vectors::LineIndex* old, LineSink& sink) {
  if (old) know(*old);
  progress_.begin_source(missing_bytes());
  int code = exit_ok;
  for (size_t begin = 0; begin < lines_.size() && code == exit_ok && !interrupted();) {
    Window window;
    code = gather(begin, window);
    if (code == exit_ok) code = run(window, sink);
    begin = window.end;
  }
  progress_.clear();
  return code;
}

void LineVectors::know(const vectors::LineIndex& old) {
  const auto lines = old.lines();
  const size_t rows = lines.size() - old.failures().size();
  const size_t dimensions = rows > 0 ? old.vectors().size() / rows : 0;
  auto failure = old.failures().begin();
  size_t row = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    const bool failed = failure != old.failures().end() && failure->line == i;
    Known known;
    if (failed)
      known.why = &(failure++)->why;
    else
      known.vector = old.vectors().subspan(row++ * dimensions, dimensions);
    known_.emplace_back(lines[i], known);
  }
  std::sort(known_.begin(), known_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
}

const LineVectors::Known* LineVectors::find(size_t line) const {
  const vectors::Fingerprint& wanted = lines_.fingerprints()[line];
  const auto at = std::lower_bound(known_.begin(), known_.end(), wanted,
                                   [](const auto& known, const auto& value) { return known.first < value; });
  return at != known_.end() && at->first == wanted ? &at->second : nullptr;
}

uint64_t LineVectors::missing_bytes() const {
  uint64_t bytes = 0;
  for (size_t i = 0; i < lines_.size(); ++i)
    if (!find(i)) bytes += lines_.bytes(i);
  return bytes;
}

// Known lines between the others cost nothing.
int LineVectors::gather(size_t begin, Window& window) {
  window.begin = window.end = begin;
  for (; window.end < lines_.size() && window.missing.size() < kTextsAtATime; ++window.end) {
    if (find(window.end)) continue;
    auto text = lines_.text(window.end);
    if (!text)
      return complain(exit_input, lines_.file(window.end) + ": it has changed while it was read; search again");
    window.missing.push_back(window.end);
    window.texts.push_back(std::move(*text));
    window.bytes += lines_.bytes(window.end);
  }
  return exit_ok;
}

int LineVectors::run(const Window& window, LineSink& sink) {
  std::optional<Results> results;
  if (!window.texts.empty()) {
    progress_.begin_window(window.texts.size(), window.bytes);
    Options options = options_;
    options.progress = [&](uint64_t done, uint64_t all) {
      progress_.show(done, all);
      return interrupted() == 0;
    };
    auto made = model_.model().embed(window.texts, options);
    if (!made && made.error().status() == Status::cancelled) return exit_ok;
    if (!made) return complain(exit_code(made.error().status()), made.error().message());
    if (interrupted()) return exit_ok;
    statistics_.add(made->stats());
    results.emplace(std::move(*made));
    progress_.end_window();
  }
  return hand_over(window, results, sink);
}

int LineVectors::hand_over(const Window& window, const std::optional<Results>& results, LineSink& sink) {
  int code = exit_ok;
  for (size_t i = window.begin, m = 0; i < window.end && code == exit_ok; ++i) {
    if (m < window.missing.size() && window.missing[m] == i) {
      code = take(i, (*results)[m++], sink);
    } else {
      const Known& known = *find(i);
      code = known.why ? sink.fail(i, *known.why) : sink.add(i, known.vector);
    }
  }
  return code;
}

int LineVectors::take(size_t line, const Output& output, LineSink& sink) {
  ++made_;
  if (!output.ok()) return sink.fail(line, output.error->message());
  if (output.cut && !context_.quiet) {
    progress_.clear();
    complain(exit_ok, "note: " + lines_.where(line) + ": the line is longer than the " + std::to_string(output.tokens) +
                          " tokens that the model reads; its end is left out");
  }
  return sink.add(line, output.vector);
}

}  // namespace lapilli::cli
