// Deflate by zlib, as zip archives have it: without a head. A build without zlib refuses it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace lapilli::documents {

bool have_zlib();
// Exactly `size` bytes; memory grows with what comes out.
Result<std::string> unpack_deflate(std::string_view packed, uint64_t size);
Result<std::string> pack_deflate(std::string_view bytes);
uint32_t zip_checksum(std::string_view bytes);

}  // namespace lapilli::documents
