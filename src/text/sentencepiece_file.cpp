#include "text/sentencepiece_file.hpp"

#include <bit>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/mapped_file.hpp"
#include "text/protobuf_reader.hpp"
#include "text/sentencepiece_check.hpp"

namespace lapilli {
namespace {

constexpr uint64_t kBpe = 2;

SentencePieceFile::Piece read_piece(std::string_view message) {
  SentencePieceFile::Piece piece;
  WireReader reader(message);
  for (WireField f; reader.next(f);) {
    if (f.number == 1 && f.wire_type == 2) piece.text = f.bytes;
    if (f.number == 2 && f.wire_type == 5) piece.score = std::bit_cast<float>(static_cast<uint32_t>(f.value));
    if (f.number == 3 && f.wire_type == 0 && f.value >= 1 && f.value <= 6)
      piece.type = static_cast<SentencePieceFile::Type>(f.value);
  }
  return piece;
}

}  // namespace

Result<SentencePieceFile> SentencePieceFile::load(const std::string& path) {
  LAPILLI_TRY(const auto file, MappedFile::open(path));
  const std::string_view content(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  LAPILLI_CHECK(check_sentencepiece_model(content, path));
  SentencePieceFile model;
  WireReader reader(content);
  for (WireField f; reader.next(f);) {
    if (f.number == 1) model.pieces.push_back(read_piece(f.bytes));
    if ((f.number != 2 && f.number != 3) || f.wire_type != 2) continue;
    WireReader spec(f.bytes);  // 2: how it was trained, 3: the normalizer
    for (WireField s; spec.next(s);) {
      if (f.number == 2 && s.number == 3 && s.wire_type == 0) model.is_bpe = s.value == kBpe;
      if (f.number == 3 && s.number == 2 && s.wire_type == 2) model.charsmap = s.bytes;
    }
  }
  return model;
}

}  // namespace lapilli
