// WebP by libwebp.
#include <webp/decode.h>

#include "image/orientation.hpp"
#include "image/picture_decoders.hpp"
#include "image/webp_chunks.hpp"

namespace lapilli::image {

namespace {

// The first picture of an animation, which the library reads without the rest of the file.
FileBytes first_of_webp(FileBytes file) {
  constexpr size_t kPlaceAndTime = 16;
  const FileBytes frame = webp_chunk_of(file, "ANMF");
  return frame.size() > kPlaceAndTime ? frame.subspan(kPlaceAndTime) : file;
}

}  // namespace

Result<Picture> decode_webp(FileBytes file, const std::string& name) {
  const FileBytes first = first_of_webp(file);
  int w = 0, h = 0;
  if (!WebPGetInfo(first.data(), first.size(), &w, &h))
    return fail(ErrorCode::invalid_data, "%s cannot be read: its header is damaged or cut off", name);
  const auto width = static_cast<uint32_t>(w), height = static_cast<uint32_t>(h);
  LAPILLI_CHECK(check_size(width, height, name));
  std::vector<uint8_t> rgb(size_t{3} * width * height);
  if (!WebPDecodeRGBInto(first.data(), first.size(), rgb.data(), rgb.size(), static_cast<int>(3 * width)))
    return fail(ErrorCode::invalid_data, "%s cannot be read: it is damaged or cut off", name);
  return upright(rgb, width, height, orientation_of(file));
}

}  // namespace lapilli::image
