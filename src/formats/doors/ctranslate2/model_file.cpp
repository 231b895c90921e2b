#include "formats/doors/ctranslate2/model_file.hpp"

#include <cstring>
#include <span>

#include "base/half.hpp"
#include "base/math.hpp"
#include "formats/quote.hpp"
#include "formats/readers.hpp"

namespace lapilli::doors::ct2 {

namespace {

constexpr uint32_t kNewest = 6;
// Large models have a few thousand.
constexpr uint32_t kMostVariables = 1u << 17;

// Reads on from a position. Once something is missing, every further call fails.
class Cursor {
 public:
  explicit Cursor(File file) : file_(std::move(file)) {}
  [[nodiscard]] uint64_t left() const { return file_.size() - at_; }

  template <class T>
  Result<T> number() {
    T value{};
    LAPILLI_CHECK(file_.read(at_, std::as_writable_bytes(std::span(&value, 1))));
    at_ += sizeof(T);
    return value;
  }
  // Text with its length, a closing zero included, before it.
  Result<std::string> text() {
    LAPILLI_TRY(const auto length, number<uint16_t>());
    std::string text(length, '\0');
    LAPILLI_CHECK(file_.read(at_, std::as_writable_bytes(std::span(text))));
    at_ += length;
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }
  Result<FileRange> skip(uint64_t bytes) {
    if (bytes > left())
      return fail(ErrorCode::invalid_data, "it is cut off: %u bytes from %u on are missing",
                  static_cast<unsigned long long>(bytes - left()), static_cast<unsigned long long>(file_.size()));
    const FileRange range{file_, at_, bytes};
    at_ += bytes;
    return range;
  }

 private:
  const File file_;
  uint64_t at_ = 0;
};

std::optional<StoredType> type_by_id(uint8_t id) {
  constexpr StoredType kTypes[] = {StoredType::f32, StoredType::i8,  StoredType::i16,
                                   StoredType::i32, StoredType::f16, StoredType::bf16};
  return id < std::size(kTypes) ? std::optional(kTypes[id]) : std::nullopt;
}

// Versions 1 to 3 tell the bytes of a number alone.
std::optional<StoredType> type_by_bytes(uint8_t bytes) {
  if (bytes == 1) return StoredType::i8;
  if (bytes == 2) return StoredType::i16;
  return bytes == 4 ? std::optional(StoredType::f32) : std::nullopt;
}

Result<std::vector<uint64_t>> read_shape(Cursor& in, const std::string& name) {
  LAPILLI_TRY(const auto rank, in.number<uint8_t>());
  if (rank > max_stored_rank)
    return fail(ErrorCode::invalid_data, "variable %s has %u dimensions", quote_name(name), rank);
  std::vector<uint64_t> shape(rank);
  for (uint64_t& n : shape) {
    LAPILLI_TRY(n, in.number<uint32_t>());
  }
  return shape;
}

// Type and bytes of a variable's numbers.
Result<uint64_t> read_extent(Cursor& in, uint32_t version, const std::string& name, Variable& v) {
  LAPILLI_TRY(const auto id, in.number<uint8_t>());
  LAPILLI_TRY(const auto count, in.number<uint32_t>());
  const auto type = version >= 4 ? type_by_id(id) : type_by_bytes(id);
  if (!type)
    return fail(ErrorCode::invalid_data, "variable %s has numbers of the unknown type %u", quote_name(name), id);
  v.type = *type;
  return version >= 4 ? uint64_t{count} : uint64_t{count} * id;
}

Result<Variable> read_variable(Cursor& in, uint32_t version, const std::string& name) {
  Variable v;
  LAPILLI_TRY(v.shape, read_shape(in, name));
  LAPILLI_TRY(const uint64_t bytes, read_extent(in, version, name, v));
  uint64_t elements = 0, expected = 0;
  if (!count_elements(v.shape, elements) || !checked_mul(elements, stored_bytes(v.type), expected) || expected != bytes)
    return fail(ErrorCode::invalid_data, "variable %s has %u bytes, which its shape and type do not have",
                quote_name(name), static_cast<unsigned long long>(bytes));
  LAPILLI_TRY(v.range, in.skip(bytes));
  return v;
}

Status read_variables(Cursor& in, ModelFile& model) {
  LAPILLI_TRY(const auto count, in.number<uint32_t>());
  if (count > kMostVariables) return fail(ErrorCode::invalid_data, "it claims to have %u variables", count);
  for (uint32_t i = 0; i < count; ++i) {
    LAPILLI_TRY(const auto name, in.text());
    LAPILLI_TRY(auto variable, read_variable(in, model.version, name));
    if (!model.variables.emplace(name, std::move(variable)).second)
      return fail(ErrorCode::invalid_data, "variable %s is there twice", quote_name(name));
  }
  return {};
}

Status read_aliases(Cursor& in, ModelFile& model) {
  LAPILLI_TRY(const auto count, in.number<uint32_t>());
  if (count > kMostVariables) return fail(ErrorCode::invalid_data, "it claims to have %u second names", count);
  for (uint32_t i = 0; i < count; ++i) {
    LAPILLI_TRY(const auto second, in.text());
    LAPILLI_TRY(const auto first, in.text());
    if (!model.variables.contains(first))
      return fail(ErrorCode::invalid_data, "%s should be a name of variable %s, which is missing", quote_name(second),
                  quote_name(first));
    if (model.variables.contains(second) || !model.aliases.emplace(second, first).second)
      return fail(ErrorCode::invalid_data, "the name %s is there twice", quote_name(second));
  }
  return {};
}

Result<ModelFile> read_all(Cursor& in) {
  ModelFile model;
  LAPILLI_TRY(model.version, in.number<uint32_t>());
  if (model.version < 1 || model.version > kNewest)
    return fail(ErrorCode::unsupported, "it is of CTranslate2's binary version %u; 1 to %u are read", model.version,
                kNewest);
  if (model.version >= 2) {
    LAPILLI_TRY(model.spec, in.text());
    LAPILLI_TRY(model.revision, in.number<uint32_t>());
  }
  LAPILLI_CHECK(read_variables(in, model));
  if (model.version >= 3) LAPILLI_CHECK(read_aliases(in, model));
  if (in.left() > 0)
    return fail(ErrorCode::invalid_data, "%u bytes are behind its end", static_cast<unsigned long long>(in.left()));
  return model;
}

template <class T>
double number_at(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return static_cast<double>(value);
}

}  // namespace

double value_of(StoredType type, const std::byte* at) {
  uint16_t half = 0;
  std::memcpy(&half, at, std::min<uint64_t>(2, stored_bytes(type)));
  switch (type) {
    case StoredType::i8: return number_at<int8_t>(at);
    case StoredType::i16: return number_at<int16_t>(at);
    case StoredType::i32: return number_at<int32_t>(at);
    case StoredType::f16: return half_to_float(half);
    case StoredType::bf16: return bfloat16_to_float(half);
    default: return number_at<float>(at);
  }
}

const Variable* ModelFile::find(const std::string& name) const {
  const auto alias = aliases.find(name);
  const auto variable = variables.find(alias == aliases.end() ? name : alias->second);
  return variable == variables.end() ? nullptr : &variable->second;
}

bool ModelFile::same(const std::string& a, const std::string& b) const { return find(a) && find(a) == find(b); }

std::optional<double> ModelFile::number(const std::string& name) const {
  const Variable* v = find(name);
  if (!v || v->range.bytes != stored_bytes(v->type)) return std::nullopt;
  std::byte bytes[8] = {};
  if (!v->range.file.read(v->range.offset, std::span(bytes).first(v->range.bytes))) return std::nullopt;
  return value_of(v->type, bytes);
}

bool looks_like_model(const std::string& start) {
  uint32_t version = 0;
  if (start.size() < 8) return false;
  std::memcpy(&version, start.data(), sizeof(version));
  // A later version is named in the refusal; what is far above is another kind of file.
  return version >= 1 && version < 256;
}

Result<ModelFile> read_model_file(const FileName& name) {
  LAPILLI_TRY(auto file, File::open(name));
  Cursor in(std::move(file));
  auto model = read_all(in);
  if (!model) return std::move(model).error().in(name.path());
  return model;
}

}  // namespace lapilli::doors::ct2
