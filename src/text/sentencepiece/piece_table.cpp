#include "text/sentencepiece/piece_table.hpp"

#include <algorithm>
#include <utility>

#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

constexpr int kNoByte = -1;

// The value of <0xNN> with upper-case digits; kNoByte for anything else.
int read_byte_name(std::string_view name) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : kNoByte;
  };
  if (name.size() != 6 || !name.starts_with("<0x") || name[5] != '>') return kNoByte;
  const int high = digit(name[3]);
  const int low = digit(name[4]);
  return high < 0 || low < 0 ? kNoByte : 16 * high + low;
}

}  // namespace

Result<PieceTable> PieceTable::make(std::vector<Piece> pieces, bool byte_fallback) {
  PieceTable table;
  table.pieces_ = std::move(pieces);
  table.bytes_.fill(-1);
  table.subwords_.reserve(table.pieces_.size());
  for (size_t i = 0; i < table.pieces_.size(); ++i) LAPILLI_CHECK(table.add(static_cast<int32_t>(i), byte_fallback));
  if (table.unknown_ < 0) return fail(ErrorCode::invalid_data, "it has no unknown piece");
  if (byte_fallback && std::find(table.bytes_.begin(), table.bytes_.end(), -1) != table.bytes_.end())
    return fail(ErrorCode::invalid_data, "it spells unknown characters in bytes, but lacks pieces for some of them");
  return table;
}

Status PieceTable::add(int32_t id, bool byte_fallback) {
  const Piece& piece = (*this)[id];
  if (piece.text.front() == '\0') return {};  // some converters add one, without meaning
  const bool reserved = piece.type == Type::unknown || piece.type == Type::control || piece.type == Type::byte;
  const auto wrong = [&](Pattern<std::string> what) {
    return fail(ErrorCode::invalid_data, what, quote_text(piece.text));
  };
  if (!(reserved ? reserved_ : subwords_).emplace(piece.text, id).second) return wrong("the piece %s is there twice");
  if (piece.type == Type::unknown) {
    if (unknown_ >= 0) return wrong("it has a second unknown piece, %s");
    unknown_ = id;
  }
  if (piece.type == Type::byte) {
    const int byte = read_byte_name(piece.text);
    if (byte < 0) return wrong("%s is no name of a byte");
    if (!byte_fallback) return wrong("it has the byte %s, but does not spell in bytes");
    bytes_[static_cast<size_t>(byte)] = id;
  }
  return {};
}

int32_t PieceTable::id(std::string_view text) const {
  if (const auto it = reserved_.find(text); it != reserved_.end()) return it->second;
  const int32_t id = find(text);
  return id < 0 ? unknown_ : id;
}

int32_t PieceTable::find(std::string_view text) const {
  const auto it = subwords_.find(text);
  return it == subwords_.end() ? -1 : it->second;
}

int32_t PieceTable::subword(std::string_view text) const {
  const int32_t id = find(text);
  return id < 0 || (*this)[id].type == Type::unused ? unknown_ : id;
}

unsigned char PieceTable::byte(int32_t id) const {
  return static_cast<unsigned char>(read_byte_name((*this)[id].text));
}

}  // namespace lapilli
