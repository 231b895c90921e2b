#include "formats/doors/trained/trained_mapper.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "formats/quote.hpp"

namespace lapilli::doors::trained {

namespace {

bool is_floating(StoredType type) {
  return type == StoredType::f32 || type == StoredType::f16 || type == StoredType::bf16 || type == StoredType::f64;
}

// Numbers that do not lie in order are put in order, as fp32, when they are first asked for.
ReadBytes ordered(const StoredTensor& t, float factor = 1) {
  return
      [t, factor, values = std::make_shared<std::vector<float>>()](uint64_t offset, std::span<std::byte> to) -> Status {
        if (values->empty()) {
          LAPILLI_TRY(*values, read_floats(t));
          for (float& v : *values) v *= factor;
        }
        const auto bytes = std::as_bytes(std::span(*values));
        std::ranges::copy(bytes.subspan(offset, to.size()), to.begin());
        if (offset + to.size() == bytes.size()) *values = {};
        return {};
      };
}

MadeTensor made_of(const std::string& name, const StoredTensor& t) {
  const bool in_order = t.contiguous();
  return {name, in_order ? t.type : StoredType::f32, t.shape, in_order ? stored_bytes_of(t.stored) : ordered(t)};
}

uint64_t row_bytes(const MadeTensor& t) {
  uint64_t bytes = stored_bytes(t.type);
  for (size_t i = 1; i < t.shape.size(); ++i) bytes *= t.shape[i];
  return bytes;
}

void take_rows(MadeTensor& t, RowPart rows) {
  t.shape[0] /= rows.of;
  const uint64_t begin = rows.part * t.shape[0] * row_bytes(t);
  t.read = [inner = std::move(t.read), begin](uint64_t offset, std::span<std::byte> to) {
    return inner(begin + offset, to);
  };
}

// The whole matrix lies in memory, turned, until its last byte was asked for.
ReadBytes turned(const MadeTensor& t) {
  const uint64_t size = stored_bytes(t.type), rows = t.shape[0], columns = t.shape[1];
  return [=, inner = t.read, all = std::make_shared<std::vector<std::byte>>()](uint64_t offset,
                                                                               std::span<std::byte> to) -> Status {
    if (all->empty()) {
      std::vector<std::byte> stored(rows * columns * size);
      LAPILLI_CHECK(inner(0, stored));
      all->resize(stored.size());
      for (uint64_t r = 0; r < rows; ++r)
        for (uint64_t c = 0; c < columns; ++c)
          std::memcpy(all->data() + (c * rows + r) * size, stored.data() + (r * columns + c) * size, size);
    }
    std::copy_n(all->begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
    if (offset + to.size() == all->size()) *all = {};
    return {};
  };
}

// Parts of rows, one behind the other; the first `zeros` bytes are zeros.
struct Joined {
  std::vector<ReadBytes> parts;
  std::vector<uint64_t> ends;  // in bytes
  uint64_t zeros = 0;

  Status operator()(uint64_t offset, std::span<std::byte> to) const {
    const auto whole = to;
    const uint64_t first = offset;
    while (!to.empty()) {
      const auto i = static_cast<size_t>(std::ranges::upper_bound(ends, offset) - ends.begin());
      const uint64_t begin = i ? ends[i - 1] : 0, count = std::min<uint64_t>(to.size(), ends[i] - offset);
      LAPILLI_CHECK(parts[i](offset - begin, to.first(count)));
      offset += count;
      to = to.subspan(count);
    }
    if (first < zeros) std::ranges::fill(whole.first(std::min<uint64_t>(whole.size(), zeros - first)), std::byte{0});
    return {};
  }
};

}  // namespace

TrainedMapper::TrainedMapper(const std::vector<StoredTensor>& tensors) {
  for (const StoredTensor& t : tensors)
    if (!tensors_.emplace(t.name, t).second) refuse("it has " + t.name + " twice");
}

const StoredTensor* TrainedMapper::find(const std::string& name) const {
  const auto at = tensors_.find(name);
  return at == tensors_.end() ? nullptr : &at->second;
}

uint64_t TrainedMapper::size(const std::string& name, size_t dimension) const {
  const StoredTensor* t = find(name);
  return t && dimension < t->shape.size() ? t->shape[dimension] : 0;
}

uint32_t TrainedMapper::layers(const std::string& pattern) const {
  constexpr uint32_t kMostLayers = 256;
  const size_t at = pattern.find("{}");
  uint32_t n = 0;
  while (n < kMostLayers && has(pattern.substr(0, at) + std::to_string(n) + pattern.substr(at + 2))) ++n;
  return n;
}

bool TrainedMapper::same(const std::string& a, const std::string& b) const {
  const StoredTensor *of_a = find(a), *of_b = find(b);
  return of_a && of_b && same_values(*of_a, *of_b);
}

void TrainedMapper::use(const std::string& name) { used_.insert(name); }

void TrainedMapper::copy(const std::string& to, const std::string& from, RowPart rows) {
  const StoredTensor* t = find(from);
  if (!t) return refuse("it lacks " + from);
  use(from);
  if (!is_floating(t->type) || t->elements() == 0 || t->shape.empty() || t->shape[0] % rows.of != 0)
    return refuse(from + " does not fit (" + t->describe() + ")");
  made_.push_back(made_of(to, *t));
  if (rows.of > 1) take_rows(made_.back(), rows);
}

void TrainedMapper::copy_reshaped(const std::string& to, const std::string& from, std::vector<uint64_t> shape) {
  uint64_t wanted = 1;
  for (const uint64_t n : shape) wanted *= n;
  const StoredTensor* t = find(from);
  if (t && t->elements() != wanted) return use(from), refuse(from + " does not fit (" + t->describe() + ")");
  const size_t before = made_.size();
  copy(to, from);
  if (made_.size() > before) made_.back().shape = std::move(shape);
}

void TrainedMapper::scaled(const std::string& to, const std::string& from, float factor) {
  const size_t before = made_.size();
  copy(to, from);
  if (made_.size() == before) return;
  made_.back().type = StoredType::f32;
  made_.back().read = ordered(*find(from), factor);
}

void TrainedMapper::transposed(const std::string& to, const std::string& from) {
  const size_t before = made_.size();
  copy(to, from);
  if (made_.size() == before) return;
  MadeTensor& t = made_.back();
  if (t.shape.size() == 3 && t.shape[0] == 1) t.shape.erase(t.shape.begin());  // a convolution over single rows
  if (t.shape.size() != 2) return refuse(from + " is no matrix");
  t.read = turned(t);
  std::swap(t.shape[0], t.shape[1]);
}

void TrainedMapper::linear(const std::string& to, const std::string& from, RowPart rows) {
  copy(to + ".weight", from + ".weight", rows);
  if (has(from + ".bias")) copy(to + ".bias", from + ".bias", rows);
}

void TrainedMapper::joined(const std::string& to, const std::vector<std::string>& from, uint64_t zeroed) {
  Joined parts;
  MadeTensor whole{to, StoredType::f32, {}, nullptr};
  for (const std::string& name : from) {
    const size_t before = made_.size();
    copy(to, name);
    if (made_.size() == before) return;
    MadeTensor t = std::move(made_.back());
    made_.pop_back();
    if (t.shape.size() != 2 || (!whole.shape.empty() && (t.shape[1] != whole.shape[1] || t.type != whole.type)))
      return refuse(name + " does not fit beside " + from.front());
    whole.type = t.type;
    whole.shape = {t.shape[0] + (whole.shape.empty() ? 0 : whole.shape[0]), t.shape[1]};
    parts.ends.push_back(whole.shape[0] * row_bytes(t));
    parts.parts.push_back(std::move(t.read));
  }
  if (whole.shape.empty()) return refuse("it lacks the rows of " + to);
  parts.zeros = zeroed * row_bytes(whole);
  whole.read = std::move(parts);
  made_.push_back(std::move(whole));
}

namespace {

using ValueAt = std::function<double(uint64_t position, uint64_t column)>;

MadeTensor computed(const std::string& to, uint64_t rows, uint64_t width, const ValueAt& value) {
  return {
      to, StoredType::f32, {rows, width}, rows_of(width * sizeof(float), [=](uint64_t row, std::span<std::byte> out) {
        for (uint64_t i = 0; i < width; ++i) {
          const auto v = static_cast<float>(value(row, i));
          std::memcpy(out.data() + i * sizeof(v), &v, sizeof(v));
        }
        return Status();
      })};
}

}  // namespace

MadeTensor paired_positions(const std::string& to, uint64_t rows, uint64_t width) {
  return computed(to, rows, width, [width](uint64_t position, uint64_t i) {
    const double turns = std::pow(10000.0, -static_cast<double>(i - i % 2) / static_cast<double>(width));
    const double angle = static_cast<double>(position) * turns;
    return i % 2 ? std::cos(angle) : std::sin(angle);
  });
}

MadeTensor split_positions(const std::string& to, uint64_t rows, std::vector<float> added) {
  const uint64_t width = added.size(), half = width / 2;
  return computed(to, rows, width, [half, added = std::move(added)](uint64_t position, uint64_t i) {
    const double steps = std::max(static_cast<double>(half) - 1, 1.0);
    const double angle = static_cast<double>(position) *
                         std::exp(-std::log(10000.0) / steps * static_cast<double>(i < half ? i : i - half));
    const double turned = i < half ? std::sin(angle) : i < 2 * half ? std::cos(angle) : 0;
    return turned + added[i];
  });
}

void TrainedMapper::refuse_unused() {
  for (const auto& [name, tensor] : tensors_)
    if (!used_.contains(name)) refuse("it has " + name);
}

Status TrainedMapper::verdict(const std::string& where, const char* program) const {
  constexpr size_t kMost = 12;
  if (reasons_.empty()) return {};
  std::string all;
  for (size_t i = 0; i < std::min(reasons_.size(), kMost); ++i) all += (i ? "; " : "") + quote_name(reasons_[i], 200);
  if (reasons_.size() > kMost) all += format("; and %u more", reasons_.size() - kMost);
  return fail(ErrorCode::unsupported, "%s: this model of %s cannot run: %s", where, program, all);
}

}  // namespace lapilli::doors::trained
