#include "formats/doors/marian/pieces.hpp"

#include <string_view>

#include "formats/byte_reader.hpp"

namespace lapilli::doors::marian {

namespace {

constexpr size_t kMostBytes = size_t{64} << 20, kMostPieces = size_t{1} << 21;
constexpr uint64_t kPieces = 1, kText = 1;  // numbers of fields

// Fields of a message of Protocol Buffers, one after the other.
class Fields {
 public:
  explicit Fields(std::string_view message) : reader_(std::as_bytes(std::span(message))) {}

  // The next field; its content if it has a length. False at the end, or where the message is damaged.
  bool next(uint64_t& number, std::string_view& content) {
    constexpr uint64_t kFixed64 = 1, kLength = 2, kFixed32 = 5;
    uint64_t key = 0, value = 0;
    content = {};
    if (reader_.remaining() == 0) return false;
    if (!varint(key)) return fail();
    number = key >> 3;
    switch (key & 7) {
      case 0: return varint(value) || fail();
      case kFixed64: return reader_.skip(8) || fail();
      case kLength: return (varint(value) && reader_.text(value, content)) || fail();
      case kFixed32: return reader_.skip(4) || fail();
      default: return fail();
    }
  }
  [[nodiscard]] bool damaged() const { return damaged_; }

 private:
  bool fail() { return !(damaged_ = true); }
  bool varint(uint64_t& value) {
    value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
      uint8_t byte = 0;
      if (!reader_.number(byte)) return false;
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  ByteReader reader_;
  bool damaged_ = false;
};

bool read_piece(std::string_view message, std::string& text) {
  Fields fields(message);
  uint64_t number = 0;
  for (std::string_view content; fields.next(number, content);)
    if (number == kText) text = content;
  return !fields.damaged();
}

}  // namespace

Result<std::vector<std::string>> read_pieces(const FileName& file) {
  LAPILLI_TRY(const auto model, read_text_file(file, kMostBytes));
  std::vector<std::string> pieces;
  Fields fields(model);
  uint64_t number = 0;
  for (std::string_view content; fields.next(number, content);) {
    if (number != kPieces) continue;
    if (pieces.size() == kMostPieces || !read_piece(content, pieces.emplace_back()))
      return fail(ErrorCode::invalid_data, "%s: piece %u cannot be read", file, pieces.size());
  }
  if (!fields.damaged() && !pieces.empty()) return pieces;
  return fail(ErrorCode::invalid_data, "%s is no SentencePiece model, or is cut off; fetch it again", file);
}

}  // namespace lapilli::doors::marian
