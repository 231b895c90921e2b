#include "image/picture.hpp"

namespace lapilli::image {

Result<Picture> read_picture(const FileName& name) {
  LAPILLI_TRY(const File file, File::open(name));
  if (file.size() > kLargestFile)
    return fail(ErrorCode::unsupported, "%s has %u bytes; pictures have at most %u: save it smaller", name, file.size(),
                kLargestFile);
  if (file.in_memory()) return decode_picture(file.bytes(), name.path());
  LAPILLI_TRY(const auto bytes, file.read_some(0, file.size()));
  return decode_picture(bytes, name.path());
}

}  // namespace lapilli::image
