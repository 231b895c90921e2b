// The segments of JPEG files.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace lapilli::image {

constexpr unsigned char kJpegExif = 0xE1, kJpegTables = 0xC4, kJpegScan = 0xDA;  // markers

// Receives a segment without its marker and length; false ends the visit.
using SegmentVisitor = std::function<bool(unsigned char marker, std::span<const unsigned char> data)>;

// Visits segments as stb finds them: they follow each other by their lengths, with anything in between; behind the
// header of a scan the next marker is looked for in the scan's data. False: `visit` ended it. In other files nothing is
// visited.
bool visit_jpeg_segments(std::span<const unsigned char> file, const SegmentVisitor& visit);

}  // namespace lapilli::image
