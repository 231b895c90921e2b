#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "base/line_to_type.hpp"
#include "image/orientation.hpp"
#include "image/picture_decoders.hpp"

namespace lapilli::image {

namespace {

struct Decoder {
  PictureKind kind;
  Result<Picture> (*decode)(FileBytes file, const std::string& name);
};

constexpr Decoder kDecoders[] = {
    {PictureKind::png, decode_by_stb}, {PictureKind::jpeg, decode_by_stb},
    {PictureKind::gif, decode_by_stb}, {PictureKind::bmp, decode_by_stb},
#if defined(LAPILLI_HAVE_WEBP)
    {PictureKind::webp, decode_webp},
#endif
#if defined(LAPILLI_HAVE_TIFF)
    {PictureKind::tiff, decode_tiff},
#endif
};

std::string readable_kinds() {
  std::string kinds;
  for (const Decoder& d : kDecoders)
    kinds += (d.kind == std::rbegin(kDecoders)->kind ? " and "
              : kinds.empty()                        ? ""
                                                     : ", ") +
             std::string(name_of(d.kind));
  return kinds;
}

Error not_read(PictureKind kind, const std::string& name) {
  if (kind == PictureKind::unknown)
    return fail(ErrorCode::invalid_data, "%s is no picture that can be read; %s are", name, readable_kinds());
  const bool left_out = kind == PictureKind::webp || kind == PictureKind::tiff;
  return fail(ErrorCode::unsupported, "%s is a picture of the kind %s, which %s; make a PNG of it: magick %s %s", name,
              name_of(kind), left_out ? "this Lapilli was built without" : "is not read", shell_word(name),
              shell_word(with_ending(name, ".png")));
}

}  // namespace

Status check_size(uint64_t width, uint64_t height, const std::string& name) {
  if (width > 0 && height > 0 && width <= kLongestSide && height <= kLongestSide && width * height <= kMostPixels)
    return {};
  return fail(ErrorCode::unsupported,
              "%s is a picture of %u by %u pixels; at most %u million pixels, %u a side, are read: make it smaller",
              name, width, height, kMostPixels / 1'000'000, kLongestSide);
}

Picture upright(std::span<const uint8_t> rgb, uint32_t width, uint32_t height, uint32_t orientation) {
  Picture picture{width, height, turned_upright(rgb, width, height, orientation)};
  if (lies_on_its_side(orientation)) std::swap(picture.width, picture.height);
  return picture;
}

Result<Picture> decode_picture(std::span<const std::byte> file, const std::string& name) {
  if (file.empty()) return fail(ErrorCode::invalid_data, "%s is empty", name);
  if (file.size() > kLargestFile)
    return fail(ErrorCode::unsupported, "%s: a picture of %u bytes is too large; save it smaller", name, file.size());
  const FileBytes bytes(reinterpret_cast<const unsigned char*>(file.data()), file.size());
  const PictureKind kind = kind_of_picture(bytes);
  const auto* decoder =
      std::find_if(std::begin(kDecoders), std::end(kDecoders), [&](const Decoder& d) { return d.kind == kind; });
  if (decoder == std::end(kDecoders)) return not_read(kind, name);
  try {
    return decoder->decode(bytes, name);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "%s: no memory for its pixels", name);
  }
}

}  // namespace lapilli::image
