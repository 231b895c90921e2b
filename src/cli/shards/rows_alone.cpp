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

LineResults run_alone(TextModel& model, const Line& line, uint64_t lines_before) {
  TextModel::Callbacks silent;
  silent.progress = [](uint64_t, uint64_t) {};
  silent.before_files = [] {};
  LineResults results = model.run({line}, lines_before, silent);
  if (results.fatal) results.lines[0] = failed(*results.fatal);
  return results;
}

bool lacks_memory(const LineResult& result) { return result.status == Status::out_of_memory; }

// A pair of texts, two ids, or a text, whatever the model reads.
bool short_text_fits(TextModel& model) {
  Line line;
  line.text = "1\t1";
  line.number = 1;
  return !lacks_memory(run_alone(model, line, 0).lines[0]);
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

void try_alone(TextModel& model, const std::vector<Line>& lines, uint64_t lines_before, LineResults& results) {
  spread_failure(results);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!lacks_memory(results.lines[i])) continue;
    put(run_alone(model, lines[i], lines_before), results, i);
    if (!lacks_memory(results.lines[i])) continue;
    results.lines[i].too_large = short_text_fits(model);
    if (!results.lines[i].too_large) return;  // the shard ends here
  }
}

}  // namespace lapilli::cli
