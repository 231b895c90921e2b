#include "recordings/sound_start.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <string_view>

#include "recordings/bytes.hpp"

namespace lapilli::recordings {

namespace {

constexpr int64_t kMostInFront = int64_t{1} << 26;  // bytes searched for the beginning

// Reads from `at` as much as there is, at most as much as `to` holds.
std::span<const std::byte> bytes_at(std::FILE* f, int64_t at, std::span<std::byte> to) {
  return to.first(seek_to(f, at) == 0 ? std::fread(to.data(), 1, to.size(), f) : 0);
}

int64_t behind_zeros(std::FILE* f, int64_t at) {
  std::vector<std::byte> room(65536);
  while (at < kMostInFront) {
    const auto bytes = bytes_at(f, at, room);
    const auto sound = std::find_if(bytes.begin(), bytes.end(), [](std::byte b) { return b != std::byte{0}; });
    at += sound - bytes.begin();
    if (bytes.empty() || sound != bytes.end()) break;
  }
  return at;
}

// A tag states its length in four bytes of seven bits each.
int64_t behind_tag(std::FILE* f, int64_t at) {
  std::byte room[10];
  const auto head = bytes_at(f, at, room);
  if (head.size() < sizeof(room) || std::memcmp(head.data(), "ID3", 3) != 0) return at;
  int64_t bytes = 0;
  for (size_t i = 6; i < 10; ++i) bytes = bytes << 7 | (std::to_integer<int64_t>(head[i]) & 0x7f);
  return at + static_cast<int64_t>(sizeof(room)) + bytes;
}

int64_t behind_padding(std::FILE* f) {
  int64_t at = 0;
  for (int64_t before = -1; before != at && at < kMostInFront;) {
    before = at;
    at = behind_tag(f, behind_zeros(f, at));
  }
  return at;
}

// Length of the frame with this header: MPEG 1, 2 or 2.5, layer III, at a known rate. 0: it is no such header.
size_t frame_bytes(std::span<const std::byte> header) {
  constexpr uint32_t kRates[] = {44100, 48000, 32000};
  constexpr uint32_t kKilobits[2][15] = {{0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
                                         {0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320}};
  const auto field = [&](size_t byte, uint32_t shift, uint32_t mask) {
    return std::to_integer<uint32_t>(header[byte]) >> shift & mask;
  };
  const uint32_t version = field(1, 3, 3), bits = field(2, 4, 15), rate = field(2, 2, 3);
  const bool is_frame = field(0, 0, 255) == 255 && field(1, 5, 7) == 7 && version != 1 && field(1, 1, 3) == 1;
  if (!is_frame || bits == 0 || bits == 15 || rate == 3) return 0;
  const uint32_t kilobits = kKilobits[version == 3 ? 1 : 0][bits];
  const uint32_t divisor = version == 3 ? 1 : version == 2 ? 2 : 4;
  return (version == 3 ? 144 : 72) * kilobits * 1000 / (kRates[rate] / divisor) + field(2, 1, 1);
}

// Bytes that merely look like a header are not followed by further headers in the right places.
bool are_frames(std::span<const std::byte> bytes) {
  constexpr int kEnough = 4;
  for (int n = 0; n < kEnough; ++n) {
    const size_t frame = bytes.size() < 4 ? 0 : frame_bytes(bytes);
    if (frame == 0) return false;
    if (frame >= bytes.size()) return frame == bytes.size() && n > 0;
    bytes = bytes.subspan(frame);
  }
  return true;
}

}  // namespace

std::vector<int64_t> later_starts(std::FILE* f) {
  std::vector<int64_t> starts;
  const int64_t padding = behind_padding(f);
  if (padding > 0) starts.push_back(padding);
  std::vector<std::byte> room(65536);
  const auto bytes = bytes_at(f, padding, room);
  for (size_t i = 1; i < bytes.size(); ++i) {
    if (!are_frames(bytes.subspan(i))) continue;
    starts.push_back(padding + static_cast<int64_t>(i));
    break;
  }
  return starts;
}

bool is_uncounted_mp3(std::FILE* f, int64_t at) {
  std::byte room[8192];
  const auto bytes = bytes_at(f, behind_tag(f, at), room);
  if (!are_frames(bytes)) return false;
  const auto first = bytes.first(frame_bytes(bytes));
  const std::string_view text(reinterpret_cast<const char*>(first.data()), first.size());
  constexpr std::string_view kCounts[] = {"Xing", "Info", "VBRI"};
  return std::none_of(std::begin(kCounts), std::end(kCounts),
                      [&](std::string_view count) { return text.find(count) != text.npos; });
}

}  // namespace lapilli::recordings
