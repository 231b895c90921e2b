#include "cli/shards/rows_alone.hpp"

#include <utility>

namespace lapilli::cli {

namespace {

LineResult failed(const Error& why) {
  LineResult result;
  result.error = why.message();
  result.status = why.status();
  return result;
}

LineResults run_alone(const RunState& run, const Line& line) {
  TextModel::Callbacks silent;
  silent.progress = [](uint64_t, uint64_t) {};
  silent.before_files = [] {};
  LineResults results = run.model.run({line}, run.lines_before, silent);
  if (results.fatal) results.lines[0] = failed(*results.fatal);
  return results;
}

bool lacks_memory(const LineResult& result) { return result.status == Status::out_of_memory; }

// Two ids, a pair of texts, or a text, whatever is read. A text without letters would be kept as it is.
bool short_text_fits(const RunState& run) {
  Line line;
  line.text = run.arguments.ids ? "1\t1" : "a\ta";
  line.number = 1;
  return !lacks_memory(run_alone(run, line).lines[0]);
}

void put(LineResults alone, LineResults& results, size_t line) {
  LineResult& result = results.lines[line] = std::move(alone.lines[0]);
  if (!result.output) return;
  results.parts.push_back(std::move(alone.parts.front()));
  result.part = &results.parts.back();
}

// If the device has no memory for anything, every line has that failure.
void spread_failure(LineResults& results) {
  if (!results.fatal || results.fatal->status() != Status::out_of_memory) return;
  for (LineResult& line : results.lines) line = failed(*results.fatal);
  results.fatal.reset();
}

}  // namespace

void try_alone(const RunState& run, const std::vector<Line>& lines, LineResults& results) {
  if (!run.rejected || run.arguments.stream) return;  // what is streamed is written already
  spread_failure(results);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lacks_memory(results.lines[i])) continue;
    put(run_alone(run, lines[i]), results, i);
    if (!lacks_memory(results.lines[i])) continue;
    results.lines[i].too_large = short_text_fits(run);
    if (!results.lines[i].too_large) return;  // the shard ends here
  }
}

}  // namespace lapilli::cli
