#include "text/sentencepiece/sentencepiece_model.hpp"

#include <optional>
#include <utility>

#include "text/sentencepiece/piece_cutters.hpp"
#include "text/sentencepiece/piece_table.hpp"
#include "text/sentencepiece/sentencepiece_file.hpp"
#include "text/sentencepiece/sentencepiece_normalizer.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

struct SentencePieceModel::Impl {
  explicit Impl(PieceTable pieces) : table(std::move(pieces)) {}

  PieceTable table;
  ByteTrie symbols;  // user-defined pieces
  std::unique_ptr<const PieceCutter> cutter;
  std::optional<SentencePieceNormalizer> normalizer;
  std::optional<SentencePieceNormalizer> denormalizer;  // for decoded text, if the model has one
  bool byte_fallback = false;
  bool drops_first_space = false;  // of decoded text
  bool drops_leading_spaces = false;
  std::string unknown_surface;
  int32_t unknown = -1, begin = -1, end = -1, padding = -1;

  Status prepare(SentencePieceFile file);
  [[nodiscard]] Result<std::vector<SentencePiece>> encode(std::string_view text) const;
  [[nodiscard]] Result<std::string> decode(std::span<const std::string_view> pieces) const;
};

namespace {

using PieceType = SentencePieceFile::Type;

// ---- text to pieces ----

// Spells an unknown character in bytes, each with the range of all of it. If normalization made several characters of
// one, only the last has its range; the others' bytes get it, too.
void spell(const PieceTable& table, const SentencePiece& unknown, std::vector<SentencePiece>& pieces) {
  const auto lacks_range = [&](const SentencePiece& p) {
    return p.begin == unknown.begin && p.end == unknown.begin && table[p.id].type == PieceType::byte;
  };
  if (unknown.begin < unknown.end) {
    for (size_t i = pieces.size(); i > 0 && lacks_range(pieces[i - 1]); --i) pieces[i - 1].end = unknown.end;
  }
  for (const char c : unknown.text) {
    const int32_t id = table.of_byte(static_cast<unsigned char>(c));
    pieces.push_back({table[id].text, id, unknown.begin, unknown.end});
  }
}

// ---- pieces to text ----

// Joins pieces to text.
class PieceJoiner {
 public:
  PieceJoiner(const PieceTable& table, const std::string& unknown_surface, bool first_space, bool leading_spaces)
      : table_(table), unknown_surface_(unknown_surface), first_space_(first_space), leading_spaces_(leading_spaces) {}

  void add(std::string_view piece);
  std::string finish() {
    flush_bytes();
    return std::move(text_);
  }

 private:
  // Consecutive bytes form text; each invalid one becomes U+FFFD.
  void flush_bytes();
  void add_subword(std::string_view piece);

  const PieceTable& table_;
  const std::string& unknown_surface_;
  bool first_space_;     // drop the space mark at the start
  bool leading_spaces_;  // drop all space marks at the start
  bool at_start_ = true;
  std::string bytes_;
  std::string text_;
};

void PieceJoiner::add(std::string_view piece) {
  const int32_t id = table_.id(piece);
  const PieceType type = table_[id].type;
  if (type == PieceType::byte) {
    bytes_.push_back(static_cast<char>(table_.byte(id)));
    return;
  }
  flush_bytes();
  at_start_ = at_start_ && text_.empty();
  if (type == PieceType::unknown) {
    text_ += table_[id].text == piece ? unknown_surface_ : piece;
  } else if (type != PieceType::control) {
    add_subword(piece);
  }
}

void PieceJoiner::add_subword(std::string_view piece) {
  constexpr std::string_view mark = kWordMark;
  if (at_start_ && first_space_ && piece.starts_with(mark)) {
    piece.remove_prefix(mark.size());
    at_start_ = leading_spaces_;
  }
  for (size_t at; (at = piece.find(mark)) != std::string_view::npos; piece.remove_prefix(at + mark.size())) {
    text_ += piece.substr(0, at);
    text_ += ' ';
  }
  text_ += piece;
}

void PieceJoiner::flush_bytes() {
  for (size_t at = 0; at < bytes_.size();) {
    const CodePoint character = decode_utf8(bytes_, at);
    if (character.valid) {
      text_.append(bytes_, at, character.bytes);
      at += character.bytes;
    } else {
      text_ += "\xEF\xBF\xBD";
      ++at;
    }
  }
  bytes_.clear();
}

int32_t special_id(const PieceTable& table, const std::string& name, PieceType type) {
  const int32_t id = table.id(name);
  return table[id].type == type ? id : -1;
}

}  // namespace

Status SentencePieceModel::Impl::prepare(SentencePieceFile file) {
  LAPILLI_TRY(symbols, user_defined_symbols(table));
  LAPILLI_TRY(cutter, make_piece_cutter(file.algorithm, table, symbols));
  byte_fallback = file.byte_fallback;
  drops_leading_spaces = file.normalizer.remove_extra_whitespaces;
  drops_first_space = drops_leading_spaces || file.normalizer.add_dummy_prefix;
  unknown_surface = std::move(file.unknown_surface);
  unknown = special_id(table, file.unknown_piece, PieceType::unknown);
  begin = special_id(table, file.begin_piece, PieceType::control);
  end = special_id(table, file.end_piece, PieceType::control);
  padding = special_id(table, file.padding_piece, PieceType::control);
  LAPILLI_TRY(normalizer, SentencePieceNormalizer::make(std::move(file.normalizer), &symbols, file.space_behind));
  if (!file.denormalizer.charsmap.empty()) {
    LAPILLI_TRY(denormalizer, SentencePieceNormalizer::make(std::move(file.denormalizer), nullptr, false));
  }
  return {};
}

Result<std::vector<SentencePiece>> SentencePieceModel::Impl::encode(std::string_view text) const {
  LAPILLI_TRY(const NormalizedText normalized, normalizer->apply(text));
  std::vector<ModelToken> tokens;
  LAPILLI_CHECK(cutter->cut(normalized.text, tokens));
  std::vector<SentencePiece> pieces;
  pieces.reserve(tokens.size());
  bool behind_unknown = false;
  for (const ModelToken& token : tokens) {
    SentencePiece piece{normalized.text.substr(token.begin, token.end - token.begin), token.id,
                        normalized.origins[token.begin], normalized.origins[token.end]};
    const bool is_unknown = token.id == table.unknown();
    if (is_unknown && byte_fallback) {
      spell(table, piece, pieces);
    } else if (is_unknown && behind_unknown) {
      pieces.back().text += piece.text;
      pieces.back().end = piece.end;
    } else {
      pieces.push_back(std::move(piece));
    }
    behind_unknown = is_unknown;
  }
  return pieces;
}

Result<std::string> SentencePieceModel::Impl::decode(std::span<const std::string_view> pieces) const {
  PieceJoiner joiner(table, unknown_surface, drops_first_space, drops_leading_spaces);
  for (const std::string_view piece : pieces) joiner.add(piece);
  std::string text = joiner.finish();
  if (!denormalizer) return text;
  LAPILLI_TRY(NormalizedText normalized, denormalizer->apply(text));
  return std::move(normalized.text);
}

Result<SentencePieceModel> SentencePieceModel::load(const FileName& path) {
  LAPILLI_TRY(SentencePieceFile file, SentencePieceFile::load(path));
  const auto prepare = [&]() -> Result<std::unique_ptr<const Impl>> {
    LAPILLI_TRY(PieceTable table, PieceTable::make(std::move(file.pieces), file.byte_fallback));
    auto impl = std::make_unique<Impl>(std::move(table));
    LAPILLI_CHECK(impl->prepare(std::move(file)));
    return std::unique_ptr<const Impl>(std::move(impl));
  };
  auto impl = prepare();
  if (impl) return SentencePieceModel(std::move(impl).value());
  return std::move(impl).error().in(path.path() + " is not a usable SentencePiece model");
}

Result<std::vector<SentencePiece>> SentencePieceModel::encode(std::string_view text) const {
  return impl_->encode(text);
}

Result<std::string> SentencePieceModel::decode(const std::vector<std::string>& pieces) const {
  return impl_->decode(std::vector<std::string_view>(pieces.begin(), pieces.end()));
}

Result<std::string> SentencePieceModel::decode(std::span<const int32_t> ids) const {
  std::vector<std::string_view> pieces;
  pieces.reserve(ids.size());
  for (const int32_t id : ids) {
    const bool known = id >= 0 && static_cast<uint64_t>(id) < size();
    pieces.push_back(piece(known ? id : impl_->table.unknown()));
  }
  return impl_->decode(pieces);
}

uint64_t SentencePieceModel::size() const { return impl_->table.all().size(); }
std::string_view SentencePieceModel::piece(int32_t id) const { return impl_->table[id].text; }
int32_t SentencePieceModel::piece_id(std::string_view piece) const { return impl_->table.id(piece); }
int32_t SentencePieceModel::unknown_id() const { return impl_->unknown; }
int32_t SentencePieceModel::begin_id() const { return impl_->begin; }
int32_t SentencePieceModel::end_id() const { return impl_->end; }
int32_t SentencePieceModel::padding_id() const { return impl_->padding; }

SentencePieceModel::SentencePieceModel(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
SentencePieceModel::SentencePieceModel(SentencePieceModel&&) noexcept = default;
SentencePieceModel& SentencePieceModel::operator=(SentencePieceModel&&) noexcept = default;
SentencePieceModel::~SentencePieceModel() = default;

}  // namespace lapilli
