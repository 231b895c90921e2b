#include "hub/digest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace lapilli::hub {

namespace {

using std::rotl;
using std::rotr;

// clang-format off
constexpr uint32_t kSha256[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
// clang-format on

uint32_t big_endian(const unsigned char* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | uint32_t{p[3]};
}

// FIPS 180-4, 6.2.2
void compress_sha256(std::array<uint32_t, 8>& state, const unsigned char* block) {
  uint32_t w[64];
  for (int t = 0; t < 16; ++t) w[t] = big_endian(block + 4 * t);
  for (int t = 16; t < 64; ++t) {
    const uint32_t x = w[t - 15], y = w[t - 2];
    w[t] = w[t - 16] + w[t - 7] + (rotr(x, 7) ^ rotr(x, 18) ^ x >> 3) + (rotr(y, 17) ^ rotr(y, 19) ^ y >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (int t = 0; t < 64; ++t) {
    const uint32_t one = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) + kSha256[t] + w[t];
    const uint32_t two = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + one, d = c, c = b, b = a, a = one + two;
  }
  const uint32_t sums[] = {a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < 8; ++i) state[i] += sums[i];
}

// FIPS 180-4, 6.1.2
void compress_sha1(std::array<uint32_t, 8>& state, const unsigned char* block) {
  uint32_t w[80];
  for (int t = 0; t < 16; ++t) w[t] = big_endian(block + 4 * t);
  for (int t = 16; t < 80; ++t) w[t] = rotl(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
  uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
  for (int t = 0; t < 80; ++t) {
    const uint32_t mixed = t < 20   ? ((b & c) | (~b & d)) + 0x5a827999
                           : t < 40 ? (b ^ c ^ d) + 0x6ed9eba1
                           : t < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
                                    : (b ^ c ^ d) + 0xca62c1d6;
    const uint32_t next = rotl(a, 5) + mixed + e + w[t];
    e = d, d = c, c = rotl(b, 30), b = a, a = next;
  }
  const uint32_t sums[] = {a, b, c, d, e};
  for (size_t i = 0; i < 5; ++i) state[i] += sums[i];
}

}  // namespace

Digest::Digest(Kind kind) : kind_(kind) {
  if (kind == Kind::sha1)
    state_ = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  else
    state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
}

void Digest::compress(const unsigned char* block) {
  kind_ == Kind::sha1 ? compress_sha1(state_, block) : compress_sha256(state_, block);
}

void Digest::update(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t held = bytes_ % block_.size(), taken = std::min(bytes.size(), block_.size() - held);
    std::memcpy(block_.data() + held, bytes.data(), taken);
    bytes_ += taken;
    bytes.remove_prefix(taken);
    if (held + taken == block_.size()) compress(block_.data());
  }
}

std::string Digest::hex() {
  const uint64_t bits = bytes_ * 8;
  const size_t held = bytes_ % 64;
  std::string end((held < 56 ? 56 : 120) - held, '\0');
  end[0] = '\x80';
  for (int shift = 56; shift >= 0; shift -= 8) end += static_cast<char>(bits >> shift & 0xff);
  update(end);
  std::string text;
  for (size_t word = 0; word < (kind_ == Kind::sha1 ? 5u : 8u); ++word)
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[state_[word] >> shift & 15];
  return text;
}

}  // namespace lapilli::hub
