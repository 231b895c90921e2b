// The checksums of PNG files, at which stb does not look: a file that came over damaged is refused, as other readers
// do, instead of being taken for another picture.
#pragma once

#include <cstdint>
#include <span>

namespace lapilli::image {

// CRC-32 as PNG has it (ISO 3309), of a chunk's type and data.
uint32_t png_crc(std::span<const unsigned char> bytes);

// False: a chunk that a picture cannot do without, and that is there as a whole, has another checksum than its bytes.
// True of what is no PNG file.
bool png_chunks_whole(std::span<const unsigned char> file);

}  // namespace lapilli::image
