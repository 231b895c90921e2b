#include "cli/shards/shard_sources.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/output_names.hpp"
#include "cli/files/text_input.hpp"
#include "cli/output.hpp"
#include "shards/model_hash.hpp"

namespace lapilli::cli {

namespace {

// Calls `take` with the text of a file, until it gives false. Gives the exit code.
template <class Take>
int read_text_of(const std::string& name, Take&& take) {
  TextInput input(InputFile::open(name));
  if (!input.ok()) return complain(exit_input, name + ": " + std::strerror(errno));
  std::string room(size_t{1} << 18, '\0');
  while (true) {
    const long got = input.read(room.data(), room.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return complain(exit_input, name + ": " + std::strerror(errno));
    if (got == 0 && !input.wrong().empty()) return complain(exit_input, name + ": " + input.wrong());
    if (got == 0 || !take(std::string_view(room).substr(0, static_cast<size_t>(got)))) return exit_ok;
  }
}

// Packed files do not tell how much is packed in them.
int measure(SizedInput& input) {
  if (file_kind(input.name) != FileKind::regular)
    return complain(exit_usage, input.name + ": a shard is a part of files, which each machine can read");
  TextInput file(InputFile::open(input.name));
  input.bytes = file.size();
  if (!file.ok() || file.regular()) return exit_ok;
  input.bytes = 0;
  return read_text_of(input.name, [&](std::string_view bytes) {
    input.bytes += bytes.size();
    return true;
  });
}

int whole_piece(const SizedInput& input, shards::Piece& piece) {
  shards::Hash hash;
  const int code = read_text_of(input.name, [&](std::string_view bytes) {
    hash.add(bytes);
    return true;
  });
  piece = {0, input.bytes, 0, 1, hash.text()};
  return code;
}

}  // namespace

int measure_inputs(std::vector<SizedInput>& inputs, ShardInputs& all) {
  shards::Hash hash;
  for (SizedInput& input : inputs) {
    if (const int code = measure(input)) return code;
    hash.add(input.below + '\0');
    hash.add(input.bytes);
    hash.add(shards::hash_of_samples(input.name));
    all.bytes += input.bytes;
  }
  all.hash = hash.text();
  return exit_ok;
}

int find_piece(const SizedInput& input, const shards::ByteRange& range, shards::Piece& piece) {
  if (!input.by_lines) return whole_piece(input, piece);
  shards::PieceFinder finder(range);
  const int code = read_text_of(input.name, [&](std::string_view bytes) {
    finder.add(bytes);
    return !finder.is_over();
  });
  piece = finder.finish();
  return code;
}

int take_shard(const shards::Shard& shard, const TextCommand& about, const TextArguments& arguments,
               std::vector<Source>& sources, ShardInputs& all) {
  std::vector<SizedInput> inputs;
  for (const Source& source : sources) {
    if (source.is_text() || source.standard_input())
      return complain(exit_usage, (source.is_text() ? "\"" + source.text + "\" is" : "standard input is") +
                                      std::string(" no file; a shard is a part of files"));
    if (is_document(source.format))
      return complain(exit_usage, source.name +
                                      " is a document, of which a shard has no part; --suffix makes shards of whole "
                                      "files, and --format lines takes it line by line");
    inputs.push_back({source.name, source.below, reads_lines(about, arguments, source.format)});
  }
  if (const int code = measure_inputs(inputs, all)) return code;
  const shards::ByteRange range = shards::range_of(shard, all.bytes);
  std::vector<Source> taken;
  uint64_t first = 0;
  for (size_t i = 0; i < inputs.size(); first += inputs[i++].bytes) {
    const shards::ByteRange inside = shards::within(range, first, inputs[i].bytes);
    if (inputs[i].by_lines ? inside.begin >= inside.end : !range.holds(first)) continue;
    shards::Piece piece;
    if (const int code = find_piece(inputs[i], inside, piece)) return code;
    if (piece.lines == 0) continue;
    taken.push_back(std::move(sources[i]));
    taken.back().piece = piece;
  }
  sources = std::move(taken);
  return exit_ok;
}

}  // namespace lapilli::cli
