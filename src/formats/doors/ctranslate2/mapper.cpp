#include "formats/doors/ctranslate2/mapper.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "base/math.hpp"
#include "formats/quote.hpp"

namespace lapilli::doors::ct2 {

// Rows of a variable, with their scales where it has whole numbers.
struct Mapper::Source {
  const Variable* variable = nullptr;
  uint64_t first = 0, rows = 0, row = 1;               // numbers of a row
  std::shared_ptr<const std::vector<float>> divisors;  // for each row of the variable
  [[nodiscard]] bool whole() const { return variable->type == StoredType::i8 || variable->type == StoredType::i16; }
  [[nodiscard]] FileRange range() const {
    const uint64_t bytes = row * stored_bytes(variable->type);
    return {variable->range.file, variable->range.offset + first * bytes, rows * bytes};
  }
  [[nodiscard]] std::vector<uint64_t> shape() const {
    std::vector<uint64_t> shape = variable->shape;
    if (!shape.empty()) shape[0] = rows;
    return shape;
  }
};

namespace {

template <class T>
float whole_number(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return static_cast<float>(value);
}

// One row of 8-bit numbers as words; a row's scale is that of each of its blocks.
MakeRow words_of(const FileRange& range, uint64_t row, std::shared_ptr<const std::vector<float>> divisors,
                 uint64_t first) {
  return [=, stored = stored_bytes_of(range)](uint64_t r, std::span<std::byte> to) -> Status {
    std::vector<int8_t> numbers(row);
    LAPILLI_CHECK(stored(r * row, std::as_writable_bytes(std::span(numbers))));
    const std::vector<float> scales(div_up<uint64_t>(row, kScaledDepths), 1.0f / (*divisors)[first + r]);
    write_scaled_row(numbers, scales, to);
    return {};
  };
}

// One row of whole numbers as fp32.
MakeRow floats_of(const FileRange& range, uint64_t row, StoredType type,
                  std::shared_ptr<const std::vector<float>> divisors, uint64_t first) {
  return [=, stored = stored_bytes_of(range)](uint64_t r, std::span<std::byte> to) -> Status {
    const uint64_t size = stored_bytes(type);
    std::vector<std::byte> numbers(row * size);
    LAPILLI_CHECK(stored(r * row * size, numbers));
    for (uint64_t i = 0; i < row; ++i) {
      const std::byte* at = numbers.data() + i * size;
      const float value = (size == 1 ? whole_number<int8_t>(at) : whole_number<int16_t>(at)) / (*divisors)[first + r];
      std::memcpy(to.data() + i * sizeof(float), &value, sizeof(float));
    }
    return {};
  };
}

}  // namespace

bool Mapper::find_scales(const std::string& from, Source& source) {
  std::shared_ptr<const std::vector<float>>& known = divisors_[source.variable];
  if (known) return source.divisors = known, true;
  const auto alias = file_.aliases.find(from);
  const Variable* scales = file_.find((alias == file_.aliases.end() ? from : alias->second) + "_scale");
  if (!scales || scales->type != StoredType::f32)
    return refuse(from + " has whole numbers without their scales in fp32"), false;
  used_.insert(scales);
  const uint64_t rows = source.variable->shape.empty() ? 1 : source.variable->shape[0];
  const uint64_t count = scales->range.bytes / sizeof(float);
  if (count != rows && count != 1)
    return refuse(format("%s_scale has %u scales for %u rows", from, count, rows)), false;
  std::vector<float> divisors(count);
  if (!scales->range.file.read(scales->range.offset, std::as_writable_bytes(std::span(divisors))))
    return refuse(from + "_scale cannot be read"), false;
  const auto usable = [](float s) { return std::isfinite(s) && s != 0 && std::isfinite(1.0f / s); };
  if (!std::ranges::all_of(divisors, usable)) return refuse(from + "_scale holds scales that are no numbers"), false;
  divisors.resize(rows, divisors.front());
  source.divisors = known = std::make_shared<const std::vector<float>>(std::move(divisors));
  return true;
}

bool Mapper::find(const std::string& from, Rows rows, Source& source) {
  source.variable = file_.find(from);
  if (!source.variable) return refuse("it lacks " + from), false;
  const Variable& v = *source.variable;
  used_.insert(&v);
  const uint64_t all = v.shape.empty() ? 1 : v.shape[0];
  if (v.range.bytes == 0 || all == 0 || all % rows.of != 0 || v.type == StoredType::i32)
    return refuse(format("%s is %s of %u rows, which does not fit", from, stored_type_name(v.type), all)), false;
  source.rows = all / rows.of;
  source.first = rows.part * source.rows;
  source.row = v.range.bytes / stored_bytes(v.type) / all;
  return !source.whole() || find_scales(from, source);
}

void Mapper::add(const std::string& to, const Source& s, bool keeps_words, Zeros zeros) {
  MadeTensor t{to, s.variable->type, s.shape(), nullptr};
  if (!s.whole()) {
    t.read = stored_bytes_of(s.range());
  } else if (keeps_words && s.variable->type == StoredType::i8 && t.shape.size() == 2) {
    t.type = StoredType::u32;
    t.shape[1] = scaled_row_words(s.row);
    t.read = rows_of(t.shape[1] * sizeof(uint32_t), words_of(s.range(), s.row, s.divisors, s.first));
    scaled_ = true;
  } else {
    t.type = StoredType::f32;
    t.read = rows_of(s.row * sizeof(float), floats_of(s.range(), s.row, s.variable->type, s.divisors, s.first));
  }
  add_zero_rows(t, zeros.before, zeros.behind);
  tensors_.push_back(std::move(t));
}

void Mapper::matrix(const std::string& to, const std::string& from, Rows rows, Zeros zeros) {
  Source source;
  if (find(from, rows, source)) add(to, source, true, zeros);
}

void Mapper::numbers(const std::string& to, const std::string& from, Rows rows, Zeros zeros) {
  Source source;
  if (find(from, rows, source)) add(to, source, false, zeros);
}

void Mapper::transposed(const std::string& to, const std::string& from) {
  Source source;
  if (!find(from, {}, source)) return;
  if (source.variable->shape.size() != 2) return refuse(from + " is no matrix");
  add(to, source, false, {});
  turn_around(tensors_.back());
}

void Mapper::values(const std::string& to, std::vector<uint64_t> shape, std::vector<float> values) {
  tensors_.push_back({to, StoredType::f32, std::move(shape), values_of(std::move(values))});
}

void Mapper::floats(const std::string& from, uint64_t count, std::vector<float>& values) {
  Source source;
  if (!find(from, {}, source)) return;
  if (source.whole() || source.rows != count || source.row != 1 || count > values.size())
    return refuse(format("%s is no vector of %u numbers", from, count));
  const uint64_t size = stored_bytes(source.variable->type);
  std::vector<std::byte> stored(count * size);
  if (!source.variable->range.file.read(source.variable->range.offset, stored)) return refuse(from + " cannot be read");
  for (uint64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(value_of(source.variable->type, stored.data() + i * size));
}

void Mapper::linear(const std::string& to, const std::string& from, Rows rows) {
  matrix(to + ".weight", from + "/weight", rows);
  if (has(from + "/bias")) numbers(to + ".bias", from + "/bias", rows);
}

void Mapper::norm(const std::string& to, const std::string& from) {
  numbers(to + ".weight", from + "/gamma");
  if (has(from + "/beta")) numbers(to + ".bias", from + "/beta");
}

uint64_t Mapper::size(const std::string& name, size_t dimension) const {
  const Variable* v = file_.find(name);
  return v && v->range.bytes > 0 && dimension < v->shape.size() ? v->shape[dimension] : 0;
}

double Mapper::setting(const std::string& name, double missing) {
  use(name);
  return file_.number(name).value_or(missing);
}

uint32_t Mapper::layers(const std::string& scope) const {
  constexpr uint32_t kMostLayers = 1024;
  uint32_t n = 0;
  while (n < kMostLayers && has(scope + "/layer_" + std::to_string(n) + "/self_attention/linear_0/weight")) ++n;
  return n;
}

uint32_t Mapper::heads(const std::string& scope) {
  // Before revision 3 both stacks had one number, and before that it was 8.
  const double missing = setting("num_heads", 8), heads = setting(scope + "/num_heads", missing);
  if (heads >= 1 && heads <= 4096 && heads == std::floor(heads)) return static_cast<uint32_t>(heads);
  return refuse(format("%s/num_heads is %g", scope, heads)), 1;
}

std::string Mapper::activation(const std::string& scope) {
  constexpr const char* kNames[] = {"relu", "gelu_new", "silu", "gelu", "quick_gelu", "tanh", "sigmoid"};
  const double number = setting(scope + "/activation", 0);
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (number == static_cast<double>(i)) return kNames[i];
  refuse(format("%s/activation is %g, which this version does not know", scope, number));
  return kNames[0];
}

bool Mapper::scales_embeddings(const std::string& scope, uint64_t width) {
  const std::string name = scope + "/scale_embeddings";
  const double value = setting(name, 1), root = std::sqrt(static_cast<double>(width));
  const Variable* v = file_.find(name);
  // Whole numbers are a switch, which is on where there is none.
  if (!v || v->type == StoredType::i8) return value != 0;
  const auto near = [&](double wanted) { return std::abs(value - wanted) <= 1e-3 * wanted; };
  if (near(1)) return false;
  if (!near(root))
    refuse(format("%s is %g: embeddings are scaled by 1 or by the root of their width only", name, value));
  return true;
}

namespace {

// Settings whose value changes no number of a model that the mappings know.
bool is_harmless(const std::string& name) {
  constexpr const char* kEndings[] = {"/alignment_heads", "/alignment_layer", "/alibi_use_positive_positions",
                                      "/scale_alibi",     "with_source_bos",  "with_source_eos",
                                      "with_target_bos"};
  return std::ranges::any_of(kEndings, [&](const char* ending) { return name.ends_with(ending); });
}

}  // namespace

void Mapper::refuse_unused() {
  for (const auto& [name, variable] : file_.variables) {
    if (used_.contains(&variable) || is_harmless(name)) continue;
    const auto number = file_.number(name);
    if (number && *number == 0) continue;
    refuse(number ? format("it sets %s to %g", name, *number) : "it has " + name);
  }
}

std::vector<std::string> Mapper::unused() const {
  std::vector<std::string> names;
  for (const auto& [name, variable] : file_.variables) {
    const auto number = file_.number(name);
    if (!used_.contains(&variable) && !(number && *number == 0)) names.push_back(name);
  }
  return names;
}

Status Mapper::verdict(const std::string& where) const {
  constexpr size_t kMost = 12;
  if (reasons_.empty()) return {};
  std::string all;
  for (size_t i = 0; i < std::min(reasons_.size(), kMost); ++i) all += (i ? "; " : "") + quote_name(reasons_[i], 200);
  if (reasons_.size() > kMost) all += format("; and %u more", reasons_.size() - kMost);
  return fail(ErrorCode::unsupported, "%s: this model of CTranslate2 cannot run: %s", where, all);
}

}  // namespace lapilli::doors::ct2
