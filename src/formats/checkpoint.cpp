#include "formats/checkpoint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/half.hpp"
#include "base/math.hpp"
#include "base/path.hpp"
#include "formats/hf_config.hpp"
#include "formats/quote.hpp"
#include "formats/readers.hpp"

namespace lapilli {

static_assert(std::endian::native == std::endian::little, "checkpoints are read in place");

namespace {

struct TypeFacts {
  const char* name;
  uint32_t bytes;
};
constexpr TypeFacts type_facts[stored_type_count] = {
    {"F64", 8}, {"F32", 4}, {"F16", 2}, {"BF16", 2}, {"F8_E4M3", 1}, {"F8_E5M2", 1}, {"I64", 8},  {"I32", 4},
    {"I16", 2}, {"I8", 1},  {"U64", 8}, {"U32", 4},  {"U16", 2},     {"U8", 1},      {"BOOL", 1}, {"C64", 8}};

template <class T>
T load(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof(T));
  return v;
}

// Calls f(pointer to the element, its row-major index) for each element.
template <class F>
void for_each_element(const StoredTensor& t, F f) {
  const uint64_t n = t.elements(), size = stored_bytes(t.type);
  if (t.contiguous()) {
    for (uint64_t i = 0; i < n; ++i) f(t.bytes.data() + i * size, i);
    return;
  }
  uint64_t index[max_stored_rank] = {};
  uint64_t offset = 0;
  for (uint64_t i = 0; i < n; ++i) {
    f(t.bytes.data() + offset * size, i);
    for (size_t d = t.shape.size(); d-- > 0;) {
      offset += t.strides[d];
      if (++index[d] < t.shape[d]) break;
      offset -= t.strides[d] * t.shape[d];
      index[d] = 0;
    }
  }
}

template <class T, class Convert>
Result<std::vector<T>> convert(const StoredTensor& t, Convert value) {
  std::vector<T> out;
  try {
    out.resize(t.elements());
  } catch (const std::exception&) {
    return fail(ErrorCode::out_of_memory, "not enough memory for the values of %s", t.describe().c_str());
  }
  for_each_element(t, [&](const std::byte* p, uint64_t i) { out[i] = value(p); });
  return out;
}

}  // namespace

uint64_t stored_bytes(StoredType type) { return type_facts[static_cast<size_t>(type)].bytes; }
const char* stored_type_name(StoredType type) { return type_facts[static_cast<size_t>(type)].name; }

bool count_elements(const std::vector<uint64_t>& shape, uint64_t& elements) {
  elements = 1;
  if (shape.size() > max_stored_rank) return false;
  for (const uint64_t n : shape)
    if (!checked_mul(elements, n, elements)) return false;
  return true;
}

std::vector<uint64_t> row_major_strides(const std::vector<uint64_t>& shape) {
  std::vector<uint64_t> strides(shape.size(), 1);
  // A zero among large dimensions could overflow here; such a tensor has no element, so the strides do not matter.
  for (size_t d = shape.size(); d-- > 1;)
    if (!checked_mul(strides[d], shape[d], strides[d - 1])) strides[d - 1] = 0;
  return strides;
}

uint64_t StoredTensor::elements() const {
  uint64_t n = 0;
  return count_elements(shape, n) ? n : 0;  // a reader has checked it
}

bool StoredTensor::contiguous() const {
  uint64_t expected = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 0) return true;
    if (shape[d] != 1 && strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

std::string StoredTensor::describe() const {
  std::string text = quote_name(name) + " " + stored_type_name(type) + " [";
  for (size_t d = 0; d < shape.size(); ++d) text += (d ? ", " : "") + std::to_string(shape[d]);
  return text + "]";
}

namespace {

// `infinity`: its bits without the sign, behind which the bits of all NaNs come.
template <class Bits>
bool any_nan(std::span<const std::byte> values, Bits infinity) {
  constexpr Bits magnitude = static_cast<Bits>(~Bits{0}) >> 1;
  Bits largest = 0;
  for (size_t i = 0; i + sizeof(Bits) <= values.size(); i += sizeof(Bits))
    largest = std::max<Bits>(largest, load<Bits>(values.data() + i) & magnitude);
  return largest > infinity;
}

bool any_nan(StoredType type, std::span<const std::byte> values) {
  switch (type) {
    case StoredType::f64: return any_nan<uint64_t>(values, 0x7ff0000000000000);
    case StoredType::f32: return any_nan<uint32_t>(values, 0x7f800000);
    case StoredType::f16: return any_nan<uint16_t>(values, 0x7c00);
    case StoredType::bf16: return any_nan<uint16_t>(values, 0x7f80);
    default: return false;
  }
}

}  // namespace

Status check_numbers(const StoredTensor& t, std::span<const std::byte> values) {
  if (!any_nan(t.type, values)) return {};
  return fail(ErrorCode::invalid_data,
              "tensor %s holds values that are no numbers (NaN): the weights are damaged; get them again",
              t.describe().c_str());
}

Result<std::vector<float>> read_floats(const StoredTensor& t) {
  switch (t.type) {
    case StoredType::f64: return convert<float>(t, [](auto* p) { return static_cast<float>(load<double>(p)); });
    case StoredType::f32: return convert<float>(t, [](auto* p) { return load<float>(p); });
    case StoredType::f16: return convert<float>(t, [](auto* p) { return half_to_float(load<uint16_t>(p)); });
    case StoredType::bf16: return convert<float>(t, [](auto* p) { return bfloat16_to_float(load<uint16_t>(p)); });
    default:
      return fail(ErrorCode::unsupported, "tensor %s cannot be read as numbers; F32, F16, BF16 and F64 can",
                  t.describe().c_str());
  }
}

Result<std::vector<int64_t>> read_integers(const StoredTensor& t) {
  switch (t.type) {
    case StoredType::i64: return convert<int64_t>(t, [](auto* p) { return load<int64_t>(p); });
    case StoredType::i32: return convert<int64_t>(t, [](auto* p) { return load<int32_t>(p); });
    case StoredType::i16: return convert<int64_t>(t, [](auto* p) { return load<int16_t>(p); });
    case StoredType::i8: return convert<int64_t>(t, [](auto* p) { return load<int8_t>(p); });
    case StoredType::u64: return convert<int64_t>(t, [](auto* p) { return static_cast<int64_t>(load<uint64_t>(p)); });
    case StoredType::u32: return convert<int64_t>(t, [](auto* p) { return load<uint32_t>(p); });
    case StoredType::u16: return convert<int64_t>(t, [](auto* p) { return load<uint16_t>(p); });
    case StoredType::u8: return convert<int64_t>(t, [](auto* p) { return load<uint8_t>(p); });
    case StoredType::boolean: return convert<int64_t>(t, [](auto* p) { return load<uint8_t>(p) != 0; });
    default: return fail(ErrorCode::unsupported, "tensor %s does not hold integers", t.describe().c_str());
  }
}

bool same_values(const StoredTensor& a, const StoredTensor& b) {
  if (a.type != b.type || a.shape != b.shape) return false;
  if (a.bytes.data() == b.bytes.data() && a.strides == b.strides) return true;
  const uint64_t n = a.elements(), size = stored_bytes(a.type);
  if (a.contiguous() && b.contiguous()) return n == 0 || std::memcmp(a.bytes.data(), b.bytes.data(), n * size) == 0;
  std::vector<const std::byte*> at;
  at.reserve(n);
  for_each_element(a, [&](const std::byte* p, uint64_t) { at.push_back(p); });
  bool same = true;
  for_each_element(b, [&](const std::byte* p, uint64_t i) { same = same && std::memcmp(at[i], p, size) == 0; });
  return same;
}

const StoredTensor* Checkpoint::find(std::string_view name) const {
  const auto it = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                                   [](const StoredTensor& t, std::string_view n) { return t.name < n; });
  return it != tensors_.end() && it->name == name ? &*it : nullptr;
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> out;
  for (const auto& t : tensors_) out.push_back(t.name);
  return out;
}

uint64_t Checkpoint::total_bytes() const {
  std::vector<std::span<const std::byte>> views;
  for (const auto& t : tensors_) views.push_back(t.bytes);
  std::sort(views.begin(), views.end(), [](auto a, auto b) { return a.data() < b.data(); });
  uint64_t total = 0;
  const std::byte* counted = nullptr;
  for (const auto v : views) {
    const std::byte* end = v.data() + v.size();
    const std::byte* begin = counted == nullptr ? v.data() : std::max(v.data(), counted);
    if (end > begin) total += static_cast<uint64_t>(end - begin), counted = end;
  }
  return total;
}

// ---- opening --------------------------------------------------------------------------------------------------------

// Collects files and tensors; finish() sorts them and refuses names that come twice.
struct CheckpointBuilder {
  Checkpoint checkpoint;
  std::string kind;

  // Adds the file's tensors, those in `wanted` only if it is given; each of them must be there.
  Status add(const std::string& path, const std::set<std::string>* wanted) {
    LAPILLI_TRY(auto file, MappedFile::open(path));
    const PytorchForm form = pytorch_form(file);
    auto read = form == PytorchForm::none ? read_safetensors(file) : read_pytorch(file);
    if (!read) return better_reason(file, std::move(read).error());
    kind = form == PytorchForm::none ? "safetensors" : form == PytorchForm::zip ? "PyTorch zip" : "PyTorch stream";
    size_t found = 0;
    const auto index = static_cast<uint32_t>(checkpoint.files_.size());
    for (auto& t : read.value()) {
      if (wanted && !wanted->contains(t.name)) continue;
      ++found;
      t.file = index;
      checkpoint.tensors_.push_back(std::move(t));
    }
    checkpoint.files_.push_back(std::move(file));
    if (!wanted || found >= wanted->size()) return {};
    std::set<std::string> missing = *wanted;
    for (const auto& t : checkpoint.tensors_)
      if (t.file == index) missing.erase(t.name);
    if (missing.empty()) return {};
    return fail(ErrorCode::invalid_data, "%s lacks tensor %s, which the index promises there; fetch the file again",
                path.c_str(), quote_name(*missing.begin()).c_str());
  }

  Result<Checkpoint> finish() {
    auto& tensors = checkpoint.tensors_;
    std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (size_t i = 1; i < tensors.size(); ++i)
      if (tensors[i].name == tensors[i - 1].name)
        return fail(ErrorCode::invalid_data, "%s: tensor %s appears twice", checkpoint.path(tensors[i]).c_str(),
                    quote_name(tensors[i].name).c_str());
    const size_t files = checkpoint.files_.size();
    checkpoint.format_ = files > 1 ? format("%s (%zu files)", kind.c_str(), files) : kind;
    return std::move(checkpoint);
  }

 private:
  // What people often have in place of the weights.
  static Error better_reason(const MappedFile& file, Error error) {
    const auto bytes = file.bytes();
    const std::string_view start(reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(bytes.size(), 64));
    if (start.starts_with("<!DOCTYPE") || start.starts_with("<html"))
      return fail(ErrorCode::invalid_data, "%s is a web page, not the weights; the download went wrong",
                  file.path().c_str());
    return error;
  }
};

namespace {

constexpr size_t max_shards = 4096;

// File name -> tensors, from an index's weight_map.
Result<std::map<std::string, std::set<std::string>>> read_index(const std::string& path) {
  LAPILLI_TRY(const auto json, read_json_file(path));
  const auto map = json.find("weight_map");
  if (map == json.end() || !map->is_object())
    return fail(ErrorCode::invalid_data, "%s has no weight_map", path.c_str());
  std::map<std::string, std::set<std::string>> shards;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string())
      return fail(ErrorCode::invalid_data, "%s: the file of tensor %s is not text", path.c_str(),
                  quote_name(name).c_str());
    const auto& f = file.get_ref<const std::string&>();
    if (f.empty() || f == "." || f == ".." || f.find_first_of(std::string_view("/\\:\0", 4)) != std::string::npos)
      return fail(ErrorCode::invalid_data, "%s: tensor %s lies in %s, which is no plain file name: refused",
                  path.c_str(), quote_name(name).c_str(), quote_name(f).c_str());
    shards[f].insert(name);
    if (shards.size() > max_shards)
      return fail(ErrorCode::unsupported, "%s names more than %zu files", path.c_str(), max_shards);
  }
  if (shards.empty()) return fail(ErrorCode::invalid_data, "%s: weight_map is empty", path.c_str());
  return shards;
}

Error nothing_found(const std::string& directory) {
  if (!directory_exists(directory))
    return fail(ErrorCode::not_found,
                "%s is not a directory; give the directory that holds config.json and the weights", directory.c_str());
  for (const char* other :
       {"tf_model.h5", "flax_model.msgpack", "rust_model.ot", "model.npz", "model.bin", "model.onnx"})
    if (file_exists(directory + "/" + other))
      return fail(ErrorCode::unsupported,
                  "%s holds its weights only as %s, which is not read; get or save the model as model.safetensors",
                  directory.c_str(), other);
  return fail(
      ErrorCode::not_found,
      "%s holds no weights: neither model.safetensors nor pytorch_model.bin, nor an index of several such files",
      directory.c_str());
}

}  // namespace

Result<Checkpoint> Checkpoint::open_file(const std::string& path) {
  CheckpointBuilder builder;
  LAPILLI_CHECK(builder.add(path, nullptr));
  return builder.finish();
}

Result<Checkpoint> Checkpoint::open(const std::string& directory) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    const std::string path = directory + "/" + name, index = path + ".index.json";
    if (file_is_named(path)) return open_file(path);
    if (!file_is_named(index)) continue;
    LAPILLI_TRY(const auto shards, read_index(index));
    CheckpointBuilder builder;
    for (const auto& [file, wanted] : shards) LAPILLI_CHECK(builder.add(directory + "/" + file, &wanted));
    return builder.finish();
  }
  return nothing_found(directory);
}

}  // namespace lapilli
