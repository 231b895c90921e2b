// Marian's binary file: sizes of all parameters, then names, then dimensions, then numbers.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/math.hpp"
#include "formats/byte_reader.hpp"
#include "formats/doors/marian/parameters.hpp"
#include "formats/quote.hpp"
#include "formats/readers.hpp"

namespace lapilli::doors::marian {

namespace {

constexpr uint64_t kVersion = 1, kMostParameters = 1u << 16, kMostName = 1u << 10;
constexpr uint64_t kMostSettings = uint64_t{1} << 20;
constexpr const char* kSettings = "special:model.yml";

enum Type : uint64_t { kInt8 = 0x101, kFloat16 = 0x402, kFloat32 = 0x404, kScaled8 = 0x4101, kScaled16 = 0x4102 };

// An entry of the list, as it lies in the file.
struct BinHeader {
  uint64_t name, type, dimensions, bytes;
};
static_assert(sizeof(BinHeader) == 32);

// Reads one part after the other.
class Parts {
 public:
  explicit Parts(const File& file) : file_(file) {}
  [[nodiscard]] uint64_t position() const { return position_; }
  [[nodiscard]] uint64_t left() const { return file_.size() - position_; }

  Status skip(uint64_t bytes, const char* what) {
    if (bytes > left())
      return fail(ErrorCode::invalid_data, "%s: %s at byte %u needs %u bytes, and %u are left; fetch it again",
                  file_.path(), what, position_, bytes, left());
    position_ += bytes;
    return {};
  }
  Result<std::vector<std::byte>> read(uint64_t bytes, const char* what) {
    const uint64_t from = position_;
    LAPILLI_CHECK(skip(bytes, what));
    return file_.read_some(from, bytes);
  }
  Result<uint64_t> number(const char* what) {
    LAPILLI_TRY(const auto bytes, read(sizeof(uint64_t), what));
    uint64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }

 private:
  const File& file_;
  uint64_t position_ = 0;
};

struct Entry {
  BinHeader header;
  std::string name;
  std::vector<uint64_t> shape;
  uint64_t elements = 1;
};

Result<std::vector<Entry>> read_headers(Parts& parts, const std::string& where) {
  LAPILLI_TRY(const uint64_t version, parts.number("the version"));
  LAPILLI_TRY(const uint64_t count, parts.number("the number of parameters"));
  if (version != kVersion)
    return fail(ErrorCode::unsupported, "%s is of version %u of Marian's format; 1 is read", where, version);
  if (count == 0 || count > kMostParameters)
    return fail(ErrorCode::invalid_data, "%s says that it has %u parameters; at most %u are read", where, count,
                kMostParameters);
  LAPILLI_TRY(const auto bytes, parts.read(count * sizeof(BinHeader), "the list of parameters"));
  std::vector<Entry> entries(count);
  for (size_t i = 0; i < entries.size(); ++i)
    std::memcpy(&entries[i].header, bytes.data() + i * sizeof(BinHeader), sizeof(BinHeader));
  return entries;
}

Status read_name(Parts& parts, const std::string& where, Entry& e) {
  const uint64_t at = parts.position(), size = e.header.name;
  if (size == 0 || size > kMostName)
    return fail(ErrorCode::invalid_data, "%s: a name of %u bytes at byte %u; at most %u are read", where, size, at,
                kMostName);
  LAPILLI_TRY(const auto bytes, parts.read(size, "a name"));
  e.name.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (e.name.find('\0') != size - 1)
    return fail(ErrorCode::invalid_data, "%s: the name at byte %u does not end where it should", where, at);
  e.name.pop_back();
  return {};
}

Status read_shape(Parts& parts, const std::string& where, Entry& e) {
  constexpr uint64_t kMostElements = uint64_t{1} << 31;
  if (e.header.dimensions > max_stored_rank)
    return fail(ErrorCode::invalid_data, "%s: %s has %u dimensions; at most %u are read", where, quote_name(e.name),
                e.header.dimensions, max_stored_rank);
  LAPILLI_TRY(const auto bytes, parts.read(e.header.dimensions * sizeof(int32_t), "dimensions"));
  ByteReader reader(bytes);
  for (int32_t size = 0; reader.number(size);) {
    if (size <= 0 || e.elements > kMostElements / static_cast<uint64_t>(size))
      return fail(ErrorCode::invalid_data, "%s: %s has a dimension of %d, or too many numbers", where,
                  quote_name(e.name), size);
    e.elements *= static_cast<uint64_t>(size);
    e.shape.push_back(static_cast<uint64_t>(size));
  }
  return {};
}

// Bytes that the numbers need at least, and how they are called.
Result<std::pair<uint64_t, StoredType>> needed(const Entry& e, const std::string& where) {
  switch (e.header.type) {
    case kFloat32: return std::pair{e.elements * 4, StoredType::f32};
    case kFloat16: return std::pair{e.elements * 2, StoredType::f16};
    case kInt8:
      if (e.name.starts_with("special:")) return std::pair{e.elements, StoredType::i8};
      return fail(ErrorCode::unsupported,
                  "%s: %s has 8-bit numbers without a scale, whose meaning is not known; take the model in float32",
                  where, quote_name(e.name));
    case kScaled8: return std::pair{e.elements + sizeof(float), StoredType::i8};
    case kScaled16:
      return fail(ErrorCode::unsupported,
                  "%s: %s has 16-bit whole numbers, which are not read; take the model in 8 "
                  "bits or in float32",
                  where, quote_name(e.name));
    default:
      return fail(ErrorCode::invalid_data, "%s: %s has the unknown type %u", where, quote_name(e.name), e.header.type);
  }
}

bool is_scale(const std::string& name) { return name.ends_with("_QuantMultA"); }

Status read_divisor(const File& file, const Entry& e, Parameter& p) {
  LAPILLI_CHECK(file.read(p.range.offset + e.elements, std::as_writable_bytes(std::span(&p.divisor, 1))));
  p.turned = !e.name.ends_with("Wemb");
  if (is_scale(e.name) || (std::isfinite(p.divisor) && p.divisor != 0 && std::isfinite(1 / p.divisor))) return {};
  return fail(ErrorCode::invalid_data, "%s: the scale of %s is %g", file.path(), quote_name(e.name), p.divisor);
}

Status add_entry(const File& file, Parts& parts, const Entry& e, Parameters& to) {
  LAPILLI_TRY(const auto need, needed(e, file.path()));
  if (e.header.bytes < need.first)
    return fail(ErrorCode::invalid_data, "%s: %s has %u bytes, and its shape asks for %u", file.path(),
                quote_name(e.name), e.header.bytes, need.first);
  const uint64_t at = parts.position();
  LAPILLI_CHECK(parts.skip(e.header.bytes, e.name.c_str()));
  if (e.name == kSettings) {
    LAPILLI_TRY(const auto text, file.read_some(at, std::min(e.elements, kMostSettings)));
    to.settings.assign(reinterpret_cast<const char*>(text.data()), text.size());
    to.settings.resize(std::min(to.settings.find('\0'), to.settings.size()));
  }
  Parameter p{need.second, e.shape, {file, at, e.elements * stored_bytes(need.second)}, false, 1};
  if (e.header.type == kScaled8) LAPILLI_CHECK(read_divisor(file, e, p));
  if (to.all.emplace(e.name, std::move(p)).second) return {};
  return fail(ErrorCode::invalid_data, "%s: %s is there twice", file.path(), quote_name(e.name));
}

}  // namespace

namespace {

// The name of a model, and a first word that may be a version; a file cut off within it is told from no other.
bool claims_bin(const std::string& name, const std::string& start) {
  constexpr std::string_view kBegin = "model.", kEnd = ".bin";
  const bool named = name.size() > kBegin.size() + kEnd.size() && name.starts_with(kBegin) && name.ends_with(kEnd);
  uint64_t version = 0;
  std::memcpy(&version, start.data(), std::min(start.size(), sizeof(version)));
  if (start.size() < sizeof(version)) return named && version <= kVersion + 1;
  return named && (version == kVersion || version == kVersion + 1);
}

}  // namespace

bool is_bin(const std::string& file, const std::string& start) {
  if (claims_bin(file, start)) return true;
  ByteReader reader(std::as_bytes(std::span(start)));
  uint64_t version = 0, count = 0, name = 0, type = 0;
  if (!reader.number(version) || !reader.number(count) || !reader.number(name) || !reader.number(type)) return false;
  constexpr uint64_t kTypes[] = {kInt8, kFloat16, kFloat32, kScaled8, kScaled16};
  return version == kVersion && count > 0 && count <= kMostParameters && name > 0 && name <= kMostName &&
         std::ranges::find(kTypes, type) != std::end(kTypes);
}

Result<Parameters> read_bin(const File& file) {
  Parts parts(file);
  LAPILLI_TRY(auto entries, read_headers(parts, file.path()));
  for (Entry& e : entries) LAPILLI_CHECK(read_name(parts, file.path(), e));
  for (Entry& e : entries) LAPILLI_CHECK(read_shape(parts, file.path(), e));
  LAPILLI_TRY(const uint64_t padding, parts.number("the padding"));
  LAPILLI_CHECK(parts.skip(padding, "the padding"));
  Parameters parameters;
  for (const Entry& e : entries) LAPILLI_CHECK(add_entry(file, parts, e, parameters));
  return parameters;
}

}  // namespace lapilli::doors::marian
