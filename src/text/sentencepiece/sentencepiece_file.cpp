#include "text/sentencepiece/sentencepiece_file.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "base/files.hpp"
#include "base/protobuf_reader.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

constexpr size_t kMaxModelBytes = size_t{128} << 20;
constexpr size_t kMaxPieceBytes = 1024;  // bounds the time for cutting

// Reads the fields that `take` knows; true if the message is intact. Like protobuf skips others, and those of the wrong
// type, which `take` checks.
template <class Take>
bool read_message(std::string_view message, Take take) {
  WireReader reader(message);
  for (WireField field; reader.next(field);) take(field);
  return !reader.failed();
}

void take(const WireField& field, std::string& text) {
  if (field.wire_type == 2) text = field.bytes;
}
void take(const WireField& field, bool& flag) {
  if (field.wire_type == 0) flag = field.value != 0;
}
void take(const WireField& field, float& number) {
  if (field.wire_type == 5) number = std::bit_cast<float>(static_cast<uint32_t>(field.value));
}
template <class Enum>
void take(const WireField& field, Enum& choice, Enum last) {
  if (field.wire_type == 0 && field.value >= 1 && field.value <= static_cast<uint64_t>(last))
    choice = static_cast<Enum>(field.value);
}

bool read_piece(std::string_view message, SentencePieceFile::Piece& piece) {
  return read_message(message, [&](const WireField& f) {
    if (f.number == 1) take(f, piece.text);
    if (f.number == 2) take(f, piece.score);
    if (f.number == 3) take(f, piece.type, SentencePieceFile::Type::byte);
  });
}

// nullptr, or a description of the error.
const char* check_piece(const SentencePieceFile::Piece& piece) {
  if (piece.text.empty()) return "a piece is empty";
  if (piece.text.size() > kMaxPieceBytes) return "a piece is too long";
  if (piece.text.find('\0') != std::string::npos && piece.text.size() > 1) return "a piece holds a zero byte";
  if (find_invalid_utf8(piece.text) != std::string_view::npos) return "a piece is not valid UTF-8";
  if (!std::isfinite(piece.score)) return "a score is not finite";
  return nullptr;
}

// Training parameters, which determine how texts are cut.
bool read_trainer(std::string_view message, SentencePieceFile& file) {
  // An empty name counts as absent.
  const auto take_name = [](const WireField& f, std::string& name) {
    if (!f.bytes.empty()) take(f, name);
  };
  return read_message(message, [&](const WireField& f) {
    if (f.number == 3) take(f, file.algorithm, SentencePieceFile::Algorithm::character);
    if (f.number == 24) take(f, file.space_behind);
    if (f.number == 35) take(f, file.byte_fallback);
    if (f.number == 44) take(f, file.unknown_surface);
    if (f.number == 45) take_name(f, file.unknown_piece);
    if (f.number == 46) take_name(f, file.begin_piece);
    if (f.number == 47) take_name(f, file.end_piece);
    if (f.number == 48) take_name(f, file.padding_piece);
  });
}

bool read_normalizer(std::string_view message, SentencePieceFile::Normalizer& normalizer) {
  return read_message(message, [&](const WireField& f) {
    if (f.number == 2) take(f, normalizer.charsmap);
    if (f.number == 3) take(f, normalizer.add_dummy_prefix);
    if (f.number == 4) take(f, normalizer.remove_extra_whitespaces);
    if (f.number == 5) take(f, normalizer.escape_whitespaces);
  });
}

// Reads one part of the file. Returns "" or a description of the error.
std::string read_part(const WireField& field, SentencePieceFile& file) {
  if (field.number > 5) return {};
  if (field.wire_type != 2) return "a field has a wrong type";
  if (field.number == 1) {
    const size_t at = file.pieces.size();
    SentencePieceFile::Piece& piece = file.pieces.emplace_back();
    const char* problem = read_piece(field.bytes, piece) ? check_piece(piece) : "a piece is damaged";
    return problem == nullptr ? std::string() : format("%s (piece %u)", problem, at);
  }
  if (field.number == 2 && !read_trainer(field.bytes, file)) return "the settings are damaged";
  if (field.number == 3 && !read_normalizer(field.bytes, file.normalizer)) return "the normalizer is damaged";
  if (field.number == 5 && !read_normalizer(field.bytes, file.denormalizer)) return "the denormalizer is damaged";
  return {};
}

}  // namespace

Result<SentencePieceFile> SentencePieceFile::load(const FileName& path) {
  LAPILLI_TRY(const auto opened, File::open(path));
  if (opened.size() > kMaxModelBytes)
    return fail(ErrorCode::invalid_data, "%s has %u bytes; SentencePiece models have at most %u", path, opened.size(),
                kMaxModelBytes);
  LAPILLI_TRY(const auto bytes, opened.view(0, opened.size()));
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  SentencePieceFile file;
  std::string problem = content.empty() ? "the file is empty" : "";
  WireReader reader(content);
  for (WireField field; problem.empty() && reader.next(field);) problem = read_part(field, file);
  if (problem.empty() && reader.failed()) problem = "the file is damaged or cut off";
  if (problem.empty() && file.pieces.empty()) problem = "there are no pieces in it";
  if (problem.empty()) return file;
  return fail(ErrorCode::invalid_data, "%s is not a usable SentencePiece model: %s", path, problem);
}

}  // namespace lapilli
