// The checksums of PNG files, at which stb does not look: a file that came over damaged is refused, as other readers
// do, instead of being taken for another picture.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace lapilli::image {

// CRC-32 as PNG has it (ISO 3309), of a chunk's type and data.
uint32_t png_crc(std::span<const unsigned char> bytes);

// False: a chunk that a picture cannot do without, and that is there as a whole, has another checksum than its bytes.
// True of what is no PNG file.
bool png_chunks_whole(std::span<const unsigned char> file);

// The data of the first chunk of this type that is whole; nothing where there is none, or in what is no PNG file.
std::span<const unsigned char> png_chunk_of(std::span<const unsigned char> file, std::string_view type);

}  // namespace lapilli::image
