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

}  // namespace lapilli::doors
