#include "formats/checkpoint.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <set>

#include "base/half.hpp"
#include "base/math.hpp"
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

// Calls f(pointer to the element, row-major index) for each element of a tensor whose bytes begin at `bytes`.
template <class F>
void for_each_element(const StoredTensor& t, const std::byte* bytes, F f) {
  const uint64_t n = t.elements(), size = stored_bytes(t.type);
  if (t.contiguous()) {
    for (uint64_t i = 0; i < n; ++i) f(bytes + i * size, i);
    return;
  }
  uint64_t index[max_stored_rank] = {};
  uint64_t offset = 0;
  for (uint64_t i = 0; i < n; ++i) {
    f(bytes + offset * size, i);
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
  LAPILLI_TRY(const auto stored, load_bytes(t));
  std::vector<T> out;
  try {
    // With 32-bit addresses strides of 0 can make more elements than size_t counts.
    if (t.elements() > out.max_size()) throw std::bad_alloc();
    out.resize(static_cast<size_t>(t.elements()));
  } catch (const std::exception&) {
    return fail(ErrorCode::out_of_memory, "not enough memory for the values of %s", t.describe());
  }
  for_each_element(t, stored.bytes.data(), [&](const std::byte* p, uint64_t i) { out[i] = value(p); });
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
  // A zero among large dimensions could overflow here; such a tensor has no elements, so its strides do not matter.
  for (size_t d = shape.size(); d-- > 1;)
    if (!checked_mul(strides[d], shape[d], strides[d - 1])) strides[d - 1] = 0;
  return strides;
}

void set_range(StoredTensor& tensor, const File& file, uint64_t offset, uint64_t bytes) {
  tensor.stored = {file, offset, bytes};
  if (file.in_memory()) tensor.bytes = file.bytes().subspan(offset, bytes);
}

uint64_t byte_count(const StoredTensor& t) { return t.bytes.empty() ? t.stored.bytes : t.bytes.size(); }

Result<TensorBytes> load_bytes(const StoredTensor& t) { return load_bytes(t, 0, byte_count(t)); }

Result<TensorBytes> load_bytes(const StoredTensor& t, uint64_t offset, uint64_t bytes) {
  if (bytes == 0) return TensorBytes{};
  if (!t.bytes.empty())
    return TensorBytes{
        {}, t.bytes.subspan(offset, bytes), PagesInUse({t.stored.file, t.stored.offset + offset, bytes})};
  TensorBytes loaded;
  LAPILLI_TRY(loaded.read, t.stored.file.read_some(t.stored.offset + offset, bytes));
  loaded.bytes = loaded.read;
  return loaded;
}

uint64_t StoredTensor::elements() const {
  uint64_t n = 0;
  return count_elements(shape, n) ? n : 0;  // readers have checked it
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

// `infinity`: its bits without the sign; the bits of all NaNs are above it.
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
              t.describe());
}

Result<std::vector<float>> read_floats(const StoredTensor& t) {
  switch (t.type) {
    case StoredType::f64: return convert<float>(t, [](auto* p) { return static_cast<float>(load<double>(p)); });
    case StoredType::f32: return convert<float>(t, [](auto* p) { return load<float>(p); });
    case StoredType::f16: return convert<float>(t, [](auto* p) { return half_to_float(load<uint16_t>(p)); });
    case StoredType::bf16: return convert<float>(t, [](auto* p) { return bfloat16_to_float(load<uint16_t>(p)); });
    default:
      return fail(ErrorCode::unsupported, "tensor %s cannot be read as numbers; F32, F16, BF16 and F64 can",
                  t.describe());
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
    default: return fail(ErrorCode::unsupported, "tensor %s does not hold integers", t.describe());
  }
}

namespace {

bool same_place(const StoredTensor& a, const StoredTensor& b) {
  if (a.strides != b.strides) return false;
  if (!a.bytes.empty() || !b.bytes.empty()) return a.bytes.data() == b.bytes.data();
  return a.file == b.file && a.stored.offset == b.stored.offset;
}

// Compares two contiguous tensors in chunks, so that large ones are never in memory as a whole.
bool same_bytes(const StoredTensor& a, const StoredTensor& b, uint64_t bytes) {
  constexpr uint64_t kAtOnce = uint64_t{4} << 20;
  for (uint64_t done = 0; done < bytes; done += kAtOnce) {
    const uint64_t part = std::min(kAtOnce, bytes - done);
    const auto of_a = load_bytes(a, done, part), of_b = load_bytes(b, done, part);
    if (!of_a || !of_b || std::memcmp(of_a->bytes.data(), of_b->bytes.data(), part) != 0) return false;
  }
  return true;
}

}  // namespace

bool same_values(const StoredTensor& a, const StoredTensor& b) {
  if (a.type != b.type || a.shape != b.shape) return false;
  if (same_place(a, b)) return true;
  const uint64_t n = a.elements(), size = stored_bytes(a.type);
  if (a.contiguous() && b.contiguous()) return same_bytes(a, b, n * size);
  const auto of_a = load_bytes(a), of_b = load_bytes(b);
  if (!of_a || !of_b) return false;
  std::vector<const std::byte*> at;
  at.reserve(n);
  for_each_element(a, of_a->bytes.data(), [&](const std::byte* p, uint64_t) { at.push_back(p); });
  bool same = true;
  for_each_element(b, of_b->bytes.data(),
                   [&](const std::byte* p, uint64_t i) { same = same && std::memcmp(at[i], p, size) == 0; });
  return same;
}

const StoredTensor* Checkpoint::find(std::string_view name) const {
  const auto it = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                                   [](const StoredTensor& t, std::string_view n) { return t.name < n; });
  return it != tensors_.end() && it->name == name ? &*it : nullptr;
}

bool Checkpoint::add_name(const std::string& name, std::string_view of) {
  const StoredTensor* tensor = find(of);
  if (!tensor || find(name)) return false;
  StoredTensor copy = *tensor;
  copy.name = name;
  const auto behind = std::upper_bound(tensors_.begin(), tensors_.end(), name,
                                       [](const std::string& n, const StoredTensor& t) { return n < t.name; });
  tensors_.insert(behind, std::move(copy));
  return true;
}

void Checkpoint::join(Checkpoint other, const std::string& prefix) {
  const auto first = static_cast<uint32_t>(files_.size());
  files_.insert(files_.end(), other.files_.begin(), other.files_.end());
  made_.insert(made_.end(), other.made_.begin(), other.made_.end());
  std::vector<StoredTensor> more;
  for (StoredTensor& t : other.tensors_) {
    t.name = prefix + t.name;
    t.file += first;
    if (!find(t.name)) more.push_back(std::move(t));
  }
  tensors_.insert(tensors_.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  std::sort(tensors_.begin(), tensors_.end(),
            [](const StoredTensor& a, const StoredTensor& b) { return a.name < b.name; });
}

void Checkpoint::add_values(const std::string& name, std::vector<uint64_t> shape, std::vector<float> values) {
  if (find(name)) return;
  made_.push_back(std::make_shared<const std::vector<float>>(std::move(values)));
  StoredTensor t;
  t.name = name;
  t.shape = std::move(shape);
  t.strides.assign(t.shape.size(), 1);
  for (size_t d = t.shape.size(); d-- > 1;) t.strides[d - 1] = t.strides[d] * t.shape[d];
  t.bytes = std::as_bytes(std::span(*made_.back()));
  const auto behind = std::upper_bound(tensors_.begin(), tensors_.end(), name,
                                       [](const std::string& n, const StoredTensor& of) { return n < of.name; });
  tensors_.insert(behind, std::move(t));
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> out;
  for (const auto& t : tensors_) out.push_back(t.name);
  return out;
}

uint64_t Checkpoint::total_bytes() const {
  std::vector<const StoredTensor*> order;
  for (const auto& t : tensors_) order.push_back(&t);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) {
    return std::pair(a->file, a->stored.offset) < std::pair(b->file, b->stored.offset);
  });
  uint64_t total = 0, counted = 0;
  uint32_t file = 0;
  for (const StoredTensor* t : order) {
    if (t->file != file) counted = 0;
    file = t->file;
    const uint64_t begin = std::max(t->stored.offset, counted), end = t->stored.offset + t->stored.bytes;
    if (end > begin) total += end - begin, counted = end;
  }
  return total;
}

// ---- opening --------------------------------------------------------------------------------------------------------

// Collects files and tensors; finish() sorts them and refuses duplicate names.
struct CheckpointBuilder {
  Checkpoint checkpoint;
  std::string kind;

  // Adds the file's tensors, only those in `wanted` if given; each of those must exist.
  Status add(const FileName& path, const std::set<std::string>* wanted) {
    LAPILLI_TRY(auto file, File::open(path));
    LAPILLI_TRY(const PytorchForm form, pytorch_form(file));
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
                path, quote_name(*missing.begin()));
  }

  Result<Checkpoint> finish() {
    auto& tensors = checkpoint.tensors_;
    std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    for (size_t i = 1; i < tensors.size(); ++i)
      if (tensors[i].name == tensors[i - 1].name)
        return fail(ErrorCode::invalid_data, "%s: tensor %s appears twice", checkpoint.path(tensors[i]),
                    quote_name(tensors[i].name));
    const size_t files = checkpoint.files_.size();
    checkpoint.format_ = files > 1 ? format("%s (%u files)", kind, files) : kind;
    return std::move(checkpoint);
  }

 private:
  // Recognises files that people often have in place of the weights.
  static Failure better_reason(const File& file, Failure error) {
    const auto bytes = file.view(0, std::min<uint64_t>(file.size(), 64));
    if (!bytes) return error;
    const std::string_view start(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (start.starts_with("<!DOCTYPE") || start.starts_with("<html"))
      return fail(ErrorCode::invalid_data, "%s is a web page, not the weights; the download went wrong",
                  file.path().c_str());
    return error;
  }
};

namespace {

constexpr size_t max_shards = 4096;

// Maps file names to tensors, from an index's weight_map.
Result<std::map<std::string, std::set<std::string>>> read_index(const FileName& path) {
  LAPILLI_TRY(const auto json, read_json_file(path));
  const auto map = json.find("weight_map");
  if (map == json.end() || !map->is_object()) return fail(ErrorCode::invalid_data, "%s has no weight_map", path);
  std::map<std::string, std::set<std::string>> shards;
  for (const auto& [name, file] : map->items()) {
    if (!file.is_string())
      return fail(ErrorCode::invalid_data, "%s: the file of tensor %s is not text", path, quote_name(name));
    const auto& f = file.get_ref<const std::string&>();
    if (f.empty() || f == "." || f == ".." || f.find_first_of(std::string_view("/\\:\0", 4)) != std::string::npos)
      return fail(ErrorCode::invalid_data, "%s: tensor %s lies in %s, which is no plain file name: refused", path,
                  quote_name(name), quote_name(f));
    shards[f].insert(name);
    if (shards.size() > max_shards)
      return fail(ErrorCode::unsupported, "%s names more than %u files", path, max_shards);
  }
  if (shards.empty()) return fail(ErrorCode::invalid_data, "%s: weight_map is empty", path);
  return shards;
}

Failure nothing_found(const Files& files) {
  if (!files.are_there())
    return fail(ErrorCode::not_found,
                "%s is not a directory; give the directory that holds config.json and the weights", files);
  for (const char* other :
       {"tf_model.h5", "flax_model.msgpack", "rust_model.ot", "model.npz", "model.bin", "model.onnx"})
    if ((files / other).there())
      return fail(ErrorCode::unsupported,
                  "%s holds its weights only as %s, which is not read; get or save the model as model.safetensors",
                  files, other);
  return fail(
      ErrorCode::not_found,
      "%s holds no weights: neither model.safetensors nor pytorch_model.bin, nor an index of several such files",
      files);
}

}  // namespace

Result<Checkpoint> Checkpoint::open_file(const FileName& name) {
  CheckpointBuilder builder;
  LAPILLI_CHECK(builder.add(name, nullptr));
  return builder.finish();
}

Result<Checkpoint> Checkpoint::open(const Files& files) {
  for (const char* name : {"model.safetensors", "pytorch_model.bin"}) {
    const FileName path = files / name, index = files / (std::string(name) + ".index.json");
    if (path.there()) return open_file(path);
    if (!index.there()) continue;
    LAPILLI_TRY(const auto shards, read_index(index));
    CheckpointBuilder builder;
    for (const auto& [file, wanted] : shards) LAPILLI_CHECK(builder.add(files / file, &wanted));
    return builder.finish();
  }
  return nothing_found(files);
}

}  // namespace lapilli
