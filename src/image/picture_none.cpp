// Replaces picture_stb.cpp in builds without stb (CMake: LAPILLI_IMAGES): no picture is read.
#include "image/picture.hpp"

namespace lapilli::image {

Result<Picture> decode_picture(std::span<const std::byte>, const std::string& name) {
  return fail(ErrorCode::unsupported, "%s: this Lapilli was built without reading pictures (LAPILLI_IMAGES)", name);
}

}  // namespace lapilli::image
