#include "image/gif_blocks.hpp"

namespace lapilli::image {

namespace {

constexpr size_t kScreenFlags = 10, kScreenEnd = 13, kPictureFlags = 9, kPictureEnd = 10;

size_t colours_bytes(unsigned char flags) { return (flags & 0x80) != 0 ? size_t{3} << ((flags & 7) + 1) : 0; }

// Skips a sequence of blocks, each of which states its length; a length of 0 ends it. 0: the file ends before.
size_t behind_blocks(std::span<const unsigned char> file, size_t at) {
  while (at < file.size() && file[at] != 0) at += size_t{1} + file[at];
  return at < file.size() ? at + 1 : 0;
}

}  // namespace

GifStart look_at_gif(std::span<const unsigned char> file) {
  constexpr unsigned char kExtension = 0x21, kPicture = 0x2c, kControl = 0xf9;
  GifStart start;
  if (file.size() <= kScreenEnd) return start;
  for (size_t at = kScreenEnd + colours_bytes(file[kScreenFlags]); at + kPictureEnd < file.size();) {
    if (file[at] == kPicture) {
      const size_t codes = at + kPictureEnd + colours_bytes(file[at + kPictureFlags]);
      start.whole = behind_blocks(file, codes + 1) != 0;  // skips the code size
      return start;
    }
    if (file[at] != kExtension) return start;
    if (file[at + 1] == kControl && file[at + 2] != 0) start.transparency = at + 3;
    at = behind_blocks(file, at + 2);
    if (at == 0) return start;
  }
  return start;
}

}  // namespace lapilli::image
