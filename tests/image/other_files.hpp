// GIF, BMP, TIFF and WebP files as bytes, right ones and such as claim too much.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#ifdef LAPILLI_HAVE_WEBP
#include <webp/encode.h>
#endif

namespace lapilli::image {

// A number of `bytes` bytes, the lowest first.
inline std::string little(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
  return text;
}

// The red, green and blue of a colour that the tests know by its number, of 128.
inline std::string colour(size_t i) { return little(i * 2, 1) + little(255 - i, 1) + little(i * 7 % 256, 1); }

// Codes of 8 bits that never grow, as the table is begun anew before that.
inline std::string gif_picture(uint32_t width, uint32_t height, const std::vector<uint8_t>& pixels) {
  std::string codes;
  for (size_t i = 0; i < pixels.size(); ++i) {
    if (i % 100 == 0) codes += '\x80';
    codes += static_cast<char>(pixels[i] & 0x7f);
  }
  codes += '\x81';
  std::string blocks;
  for (size_t at = 0; at < codes.size(); at += 255) {
    const std::string block = codes.substr(at, 255);
    blocks += little(block.size(), 1) + block;
  }
  return ',' + little(0, 4) + little(width, 2) + little(height, 2) + '\0' + '\x07' + blocks + '\0';
}

// transparent: the colour that is none; negative: each is one.
inline std::string gif_of(uint32_t width, uint32_t height, const std::vector<uint8_t>& pixels, int transparent = -1) {
  std::string file = "GIF89a" + little(width, 2) + little(height, 2) + std::string("\xf6\0\0", 3);
  for (size_t i = 0; i < 128; ++i) file += colour(i);
  if (transparent >= 0) file += std::string("!\xf9\x04\x01\0\0", 6) + static_cast<char>(transparent) + '\0';
  return file + gif_picture(width, height, pixels) + ';';
}

// 24 bits; `height` negative: from the top.
inline std::string bmp_of(int32_t width, int32_t height, const std::string& rows) {
  return "BM" + little(54 + rows.size(), 4) + little(0, 4) + little(54, 4) + little(40, 4) +
         little(static_cast<uint32_t>(width), 4) + little(static_cast<uint32_t>(height), 4) + little(1, 2) +
         little(24, 2) + little(0, 4) + little(rows.size(), 4) + little(2835, 4) + little(2835, 4) + little(0, 8) +
         rows;
}

// 8 bits of each of `samples` channels, not packed; the fourth says how much a colour covers.
inline std::string tiff_of(uint32_t width, uint32_t height, const std::string& pixels, uint32_t orientation = 1,
                           uint32_t samples = 3) {
  const auto entry = [](uint32_t tag, uint32_t type, uint32_t count, uint32_t value) {
    return little(tag, 2) + little(type, 2) + little(count, 4) + little(value, 4);
  };
  constexpr uint32_t kEntries = 11, kShort = 3, kLong = 4, kBits = 8 + 2 + kEntries * 12 + 4, kPixels = kBits + 8;
  return std::string("II*\0", 4) + little(8, 4) + little(kEntries, 2) + entry(256, kLong, 1, width) +
         entry(257, kLong, 1, height) + entry(258, kShort, samples, kBits) + entry(259, kShort, 1, 1) +
         entry(262, kShort, 1, 2) + entry(273, kLong, 1, kPixels) + entry(274, kShort, 1, orientation) +
         entry(277, kShort, 1, samples) + entry(278, kLong, 1, height) +
         entry(279, kLong, 1, static_cast<uint32_t>(pixels.size())) +
         (samples == 4 ? entry(338, kShort, 1, 2) : entry(284, kShort, 1, 1)) + little(0, 4) + little(8, 2) +
         little(8, 2) + little(8, 2) + little(8, 2) + pixels;
}

inline std::string webp_chunk(const std::string& type, const std::string& data) {
  return type + little(data.size(), 4) + data + std::string(data.size() % 2, '\0');
}
inline std::string webp_file(const std::string& chunks) {
  return "RIFF" + little(4 + chunks.size(), 4) + "WEBP" + chunks;
}
// Without losses: what its decoder reads first, its size; nothing follows.
inline std::string webp_head(uint32_t width, uint32_t height) {
  return webp_file(webp_chunk("VP8L", '\x2f' + little((width - 1) | (height - 1) << 14, 4) + std::string(8, '\0')));
}
#ifdef LAPILLI_HAVE_WEBP
// The chunk of a whole picture without losses.
inline std::string webp_picture(uint32_t width, uint32_t height, const std::vector<uint8_t>& rgb) {
  uint8_t* packed = nullptr;
  const size_t size = WebPEncodeLosslessRGB(rgb.data(), static_cast<int>(width), static_cast<int>(height),
                                            static_cast<int>(3 * width), &packed);
  const std::string file(reinterpret_cast<const char*>(packed), size);
  WebPFree(packed);
  return file.substr(12);
}
// Such a picture with EXIF data.
inline std::string webp_with_exif(uint32_t width, uint32_t height, const std::string& picture,
                                  const std::string& exif) {
  const std::string extended = std::string("\x08\0\0\0", 4) + little(width - 1, 3) + little(height - 1, 3);
  return webp_file(webp_chunk("VP8X", extended) + picture + webp_chunk("EXIF", exif));
}
// An animation whose first picture it is.
inline std::string webp_animation(uint32_t width, uint32_t height, const std::string& picture) {
  const std::string extended = std::string("\x02\0\0\0", 4) + little(width - 1, 3) + little(height - 1, 3);
  const std::string frame =
      little(0, 6) + little(width - 1, 3) + little(height - 1, 3) + little(100, 3) + '\0' + picture;
  return webp_file(webp_chunk("VP8X", extended) + webp_chunk("ANIM", little(0, 6)) + webp_chunk("ANMF", frame) +
                   webp_chunk("ANMF", frame));
}
#endif

}  // namespace lapilli::image
