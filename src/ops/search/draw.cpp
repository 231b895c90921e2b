#include "ops/search/draw.hpp"

#include <cmath>

namespace lapilli::draw {

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> c, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * c[0], b = uint64_t{0xCD9E8D57u} * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ key[0], static_cast<uint32_t>(b),
         static_cast<uint32_t>(a >> 32) ^ c[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return c;
}

double gumbel(uint32_t word) { return -std::log(-std::log1p(-(static_cast<double>(word) + 0.5) / 4294967296.0)); }

double gumbel_at(const Place& p, uint32_t id) {
  const auto words = philox({id / 4, p.step, p.sequence, p.beam},
                            {static_cast<uint32_t>(p.seed), static_cast<uint32_t>(p.seed >> 32)});
  return gumbel(words[id % 4]);
}

}  // namespace lapilli::draw
