#include "formats/doors/marian/pieces.hpp"

#include <string_view>

#include "base/protobuf_reader.hpp"

namespace lapilli::doors::marian {

namespace {

constexpr size_t kMostBytes = size_t{64} << 20, kMostPieces = size_t{1} << 21;
constexpr uint32_t kPieces = 1, kText = 1;  // numbers of fields

bool read_piece(std::string_view message, std::string& text) {
  WireReader fields(message);
  for (WireField field; fields.next(field);)
    if (field.number == kText) text = field.bytes;
  return !fields.failed();
}

}  // namespace

Result<std::vector<std::string>> read_pieces(const FileName& file) {
  LAPILLI_TRY(const auto model, read_text_file(file, kMostBytes));
  std::vector<std::string> pieces;
  WireReader fields(model);
  for (WireField field; fields.next(field);) {
    if (field.number != kPieces) continue;
    if (pieces.size() == kMostPieces || !read_piece(field.bytes, pieces.emplace_back()))
      return fail(ErrorCode::invalid_data, "%s: piece %u cannot be read", file, pieces.size());
  }
  if (!fields.failed() && !pieces.empty()) return pieces;
  return fail(ErrorCode::invalid_data, "%s is no SentencePiece model, or is cut off; fetch it again", file);
}

}  // namespace lapilli::doors::marian
