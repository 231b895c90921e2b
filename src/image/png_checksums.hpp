// The checksums of PNG files, which stb ignores: a damaged file is refused, as by other readers, rather than read as a
// different picture.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lapilli::image {

// CRC-32 as PNG uses it (ISO 3309), over a chunk's type and data.
uint32_t png_crc(std::span<const unsigned char> bytes);

// False: a complete chunk that is critical to the picture does not match its checksum. True for files other than PNG.
bool png_chunks_whole(std::span<const unsigned char> file);

// The data of the first intact chunk of this type; empty if there is none, or if the file is no PNG file.
std::span<const unsigned char> png_chunk_of(std::span<const unsigned char> file, std::string_view type);

}  // namespace lapilli::image
