// The segments of JPEG files.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace lapilli::image {

constexpr unsigned char kJpegExif = 0xE1, kJpegTables = 0xC4, kJpegScan = 0xDA;  // markers

// Sees a segment, without marker and length; false ends the visit.
using SegmentVisitor = std::function<bool(unsigned char marker, std::span<const unsigned char> data)>;

// Goes through them as stb comes by them: segments follow each other by their lengths, with anything between them;
// behind a scan's header the next marker is looked for in the scan's data. False: `visit` ended it. Nothing is visited
// of what is no JPEG file.
bool visit_jpeg_segments(std::span<const unsigned char> file, const SegmentVisitor& visit);

}  // namespace lapilli::image
