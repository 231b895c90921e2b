#include "formats/doors/made_tensor.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "base/math.hpp"

namespace lapilli::doors {

ReadBytes stored_bytes_of(const FileRange& range) {
  return [range](uint64_t offset, std::span<std::byte> to) -> Status {
    const Status read = range.file.read(range.offset + offset, to);
    range.file.let_go(range.offset + offset, to.size());
    return read;
  };
}

ReadBytes values_of(std::vector<float> values) {
  return [kept = std::make_shared<const std::vector<float>>(std::move(values))](uint64_t offset,
                                                                                std::span<std::byte> to) -> Status {
    std::ranges::copy(std::as_bytes(std::span(*kept)).subspan(offset, to.size()), to.begin());
    return {};
  };
}

ReadBytes rows_of(uint64_t row_bytes, MakeRow make) {
  return [row_bytes, make = std::move(make), whole = std::make_shared<std::vector<std::byte>>()](
             uint64_t offset, std::span<std::byte> to) -> Status {
    while (!to.empty()) {
      const uint64_t row = offset / row_bytes, from = offset % row_bytes;
      const size_t count = std::min<uint64_t>(to.size(), row_bytes - from);
      if (count == row_bytes) {
        LAPILLI_CHECK(make(row, to.first(count)));
      } else {
        whole->resize(row_bytes);
        LAPILLI_CHECK(make(row, *whole));
        std::copy_n(whole->begin() + static_cast<ptrdiff_t>(from), count, to.begin());
      }
      offset += count;
      to = to.subspan(count);
    }
    return {};
  };
}

uint64_t scaled_row_words(uint64_t depths) { return div_up<uint64_t>(depths, 4) + div_up(depths, kScaledDepths); }

void write_scaled_row(std::span<const int8_t> numbers, std::span<const float> scales, std::span<std::byte> to) {
  std::ranges::fill(to, std::byte{0});
  std::byte* at = to.data();
  for (size_t block = 0; block * kScaledDepths < numbers.size(); ++block) {
    const size_t first = block * kScaledDepths, count = std::min<size_t>(kScaledDepths, numbers.size() - first);
    std::memcpy(at, &scales[block], sizeof(float));
    std::memcpy(at + sizeof(float), numbers.data() + first, count);
    at += sizeof(float) + round_up<size_t>(count, 4);
  }
}

namespace {

uint64_t bytes_of(const MadeTensor& t) {
  uint64_t n = stored_bytes(t.type);
  for (const uint64_t d : t.shape) n *= d;
  return n;
}

// The matrix lies in memory, turned, from the first byte that is asked for to the last.
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

}  // namespace

void add_zero_rows(MadeTensor& t, uint64_t before, uint64_t behind) {
  if (before + behind == 0 || t.shape.empty() || t.shape[0] == 0) return;
  const uint64_t bytes = bytes_of(t), row = bytes / t.shape[0], begin = before * row;
  t.shape[0] += before + behind;
  t.read = [inner = std::move(t.read), begin, end = begin + bytes](uint64_t offset, std::span<std::byte> to) -> Status {
    std::ranges::fill(to, std::byte{0});
    const uint64_t from = std::max(offset, begin), till = std::min<uint64_t>(offset + to.size(), end);
    return from < till ? inner(from - begin, to.subspan(from - offset, till - from)) : Status();
  };
}

void turn_around(MadeTensor& t) {
  t.read = turned(t);
  std::swap(t.shape[0], t.shape[1]);
}

}  // namespace lapilli::doors
