#include "formats/doors/ggml/ggml_file.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_set>

#include "base/math.hpp"
#include "formats/quote.hpp"

namespace lapilli::doors {

namespace {

constexpr uint64_t kMagicBytes = 4;
constexpr uint32_t kMostTokens = 1u << 17;
constexpr uint32_t kMostName = 256;
constexpr uint32_t kMostDimensions = 4;
constexpr uint32_t kMostTensors = 1u << 16;

struct TypeFacts {
  GgmlType type;
  const char* name;
  uint32_t bytes;  // of a number, or of a block
};
constexpr TypeFacts kTypes[] = {{GgmlType::f32, "f32", 4},    {GgmlType::f16, "f16", 2},
                                {GgmlType::q4_0, "q4_0", 18}, {GgmlType::q4_1, "q4_1", 20},
                                {GgmlType::q5_0, "q5_0", 22}, {GgmlType::q5_1, "q5_1", 24},
                                {GgmlType::q8_0, "q8_0", 34}};

const TypeFacts* facts_of(uint32_t type) {
  const auto it = std::find_if(std::begin(kTypes), std::end(kTypes),
                               [&](const TypeFacts& f) { return static_cast<uint32_t>(f.type) == type; });
  return it == std::end(kTypes) ? nullptr : it;
}

// Reads one value after the other. A file that is not in memory is read in pieces, since most values have four bytes.
class Cursor {
 public:
  explicit Cursor(const File& file) : file_(file) {}
  [[nodiscard]] uint64_t position() const { return position_; }
  [[nodiscard]] uint64_t left() const { return file_.size() - position_; }
  void skip(uint64_t bytes) { position_ += bytes; }  // at most left()

  Status read(std::span<std::byte> to, const std::string& what) {
    if (to.size() > left())
      return fail(ErrorCode::invalid_data,
                  "%s is cut off: %s at byte %u needs %u bytes, and %u are left; fetch it again", file_.path(), what,
                  position_, to.size(), left());
    if (file_.in_memory() || to.size() > kPiece) {
      LAPILLI_CHECK(file_.read(position_, to));
    } else {
      LAPILLI_CHECK(fill(to.size()));
      std::copy_n(piece_.begin() + static_cast<ptrdiff_t>(position_ - piece_at_), to.size(), to.begin());
    }
    position_ += to.size();
    return {};
  }
  template <class Numbers>
  Status numbers(Numbers& to, const std::string& what) {
    return read(std::as_writable_bytes(std::span(to)), what);
  }
  Result<uint32_t> number(const std::string& what) {
    std::array<uint32_t, 1> n{};
    LAPILLI_CHECK(numbers(n, what));
    return n[0];
  }
  // A number that must not be above `most`, as negative ones are.
  Result<uint32_t> count(const std::string& what, uint64_t most) {
    LAPILLI_TRY(const uint32_t n, number(what));
    if (n <= most) return n;
    return fail(ErrorCode::invalid_data, "%s: %s at byte %u is %d, and at most %u can be; the file is damaged",
                file_.path(), what, position_ - 4, static_cast<int32_t>(n), most);
  }
  Result<std::string> text(uint64_t bytes, const std::string& what) {
    if (bytes > left()) return read({static_cast<std::byte*>(nullptr), static_cast<size_t>(bytes)}, what).error();
    std::string s(static_cast<size_t>(bytes), '\0');
    LAPILLI_CHECK(read(std::as_writable_bytes(std::span(s)), what));
    return s;
  }

 private:
  static constexpr uint64_t kPiece = uint64_t{1} << 16;
  // Holds the next bytes, which are there.
  Status fill(uint64_t bytes) {
    if (position_ >= piece_at_ && position_ + bytes <= piece_at_ + piece_.size()) return {};
    LAPILLI_TRY(piece_, file_.read_some(position_, std::min(kPiece, left())));
    piece_at_ = position_;
    return {};
  }

  const File& file_;
  uint64_t position_ = 0, piece_at_ = 0;
  std::vector<std::byte> piece_;
};

Status read_sizes(Cursor& c, GgmlSizes& s) {
  std::array<uint32_t, 11> n{};
  LAPILLI_CHECK(c.numbers(n, "the sizes of the network"));
  s = {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10]};
  return {};
}

// Far above those of any model: memory goes by them before the file is read.
constexpr uint64_t kMostFilters = 1024, kMostTokenBytes = 1024;

Status read_filters(Cursor& c, GgmlFile& f) {
  LAPILLI_TRY(f.filter_rows, c.count("the number of mel filters", std::min(kMostFilters, c.left() / 4)));
  LAPILLI_TRY(f.filter_columns, c.count("the width of the mel filters", std::min(kMostFilters, c.left() / 4)));
  const uint64_t all = uint64_t{f.filter_rows} * f.filter_columns;
  if (all > c.left() / 4)
    return fail(ErrorCode::invalid_data, "%s: %u mel filters of %u numbers are more than the file holds; it is damaged",
                f.file.path(), f.filter_rows, f.filter_columns);
  f.filters.resize(static_cast<size_t>(all));
  return c.numbers(f.filters, "the mel filters");
}

Status read_tokens(Cursor& c, GgmlFile& f) {
  LAPILLI_TRY(const uint32_t count, c.count("the number of tokens", std::min<uint64_t>(kMostTokens, c.left() / 4)));
  if (count > f.sizes.vocabulary)
    return fail(ErrorCode::invalid_data, "%s holds %u tokens for a vocabulary of %u; it is damaged", f.file.path(),
                count, f.sizes.vocabulary);
  f.tokens.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const std::string what = "token " + std::to_string(i);
    LAPILLI_TRY(const uint32_t bytes, c.count("the length of " + what, std::min(kMostTokenBytes, c.left())));
    LAPILLI_TRY(auto token, c.text(bytes, what));
    f.tokens.push_back(std::move(token));
  }
  return {};
}

struct TensorHead {
  uint32_t dimensions = 0, name = 0, type = 0;
};

Failure damaged(const GgmlFile& f, const GgmlTensor& t, const std::string& why) {
  return fail(ErrorCode::invalid_data, "%s: tensor %s %s; the file is damaged", f.file.path(), quote_name(t.name), why);
}

// The innermost dimension comes first.
Status read_shape(Cursor& c, const TensorHead& head, GgmlTensor& t) {
  std::vector<uint32_t> shape(head.dimensions);
  LAPILLI_CHECK(c.numbers(shape, "the shape of a tensor"));
  t.shape.assign(shape.rbegin(), shape.rend());
  return {};
}

Status measure(const GgmlFile& f, const Cursor& c, GgmlTensor& t) {
  uint64_t numbers = 1;
  for (const uint64_t n : t.shape)
    if (n == 0 || n > INT32_MAX || !checked_mul(numbers, n, numbers))
      return damaged(f, t, "has a shape that cannot be");
  const uint64_t values = has_blocks(t.type) ? kGgmlBlock : 1;
  if (t.shape.back() % values != 0)
    return damaged(
        f, t,
        format("is %s, and its rows of %u numbers are no whole blocks of 32", ggml_type_name(t.type), t.shape.back()));
  if (!checked_mul(numbers / values, ggml_unit_bytes(t.type), t.bytes))
    return damaged(f, t, "has a shape that cannot be");
  t.offset = c.position();
  if (t.bytes <= c.left()) return {};
  return damaged(f, t, format("needs %u bytes at byte %u, and %u are left", t.bytes, t.offset, c.left()));
}

Result<GgmlTensor> read_tensor(Cursor& c, const GgmlFile& f) {
  TensorHead head;
  GgmlTensor t;
  const uint64_t at = c.position();
  std::array<uint32_t, 3> n{};
  LAPILLI_CHECK(c.numbers(n, "the head of a tensor"));
  head = {n[0], n[1], n[2]};
  if (head.dimensions == 0 || head.dimensions > kMostDimensions || head.name == 0 || head.name > kMostName)
    return fail(ErrorCode::invalid_data,
                "%s: no tensor begins at byte %u (%d dimensions, a name of %d bytes); the file is "
                "damaged",
                f.file.path(), at, static_cast<int32_t>(head.dimensions), static_cast<int32_t>(head.name));
  LAPILLI_CHECK(read_shape(c, head, t));
  LAPILLI_TRY(t.name, c.text(head.name, "the name of a tensor"));
  const TypeFacts* facts = facts_of(head.type);
  if (!facts)
    return fail(ErrorCode::unsupported, "%s: tensor %s has type %u; f32, f16, q4_0, q4_1, q5_0, q5_1 and q8_0 are read",
                f.file.path(), quote_name(t.name), head.type);
  t.type = facts->type;
  LAPILLI_CHECK(measure(f, c, t));
  c.skip(t.bytes);
  return t;
}

Status read_tensors(Cursor& c, GgmlFile& f) {
  std::unordered_set<std::string> names;
  while (c.left() > 0) {
    LAPILLI_TRY(auto t, read_tensor(c, f));
    if (!names.insert(t.name).second) return damaged(f, t, "is there twice");
    if (names.size() > kMostTensors)
      return fail(ErrorCode::unsupported, "%s holds more than %u tensors", f.file.path(), kMostTensors);
    f.tensors.push_back(std::move(t));
  }
  return {};
}

}  // namespace

const char* ggml_type_name(GgmlType type) {
  const TypeFacts* facts = facts_of(static_cast<uint32_t>(type));
  return facts ? facts->name : "unknown";
}

uint64_t ggml_unit_bytes(GgmlType type) {
  const TypeFacts* facts = facts_of(static_cast<uint32_t>(type));
  return facts ? facts->bytes : 0;
}

bool is_ggml(std::string_view head) { return head.starts_with("lmgg"); }

Result<GgmlFile> read_ggml(const File& file) {
  GgmlFile f;
  f.file = file;
  Cursor c(file);
  if (c.left() < kMagicBytes) return fail(ErrorCode::invalid_data, "%s is cut off at its beginning", file.path());
  c.skip(kMagicBytes);
  LAPILLI_CHECK(read_sizes(c, f.sizes));
  LAPILLI_CHECK(read_filters(c, f));
  LAPILLI_CHECK(read_tokens(c, f));
  LAPILLI_CHECK(read_tensors(c, f));
  return f;
}

}  // namespace lapilli::doors
