// TIFF by libtiff; 4.5 is its first version with a memory limit and error handlers of a single file.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>

#include "image/orientation.hpp"
#include "image/picture_decoders.hpp"

namespace lapilli::image {

namespace {

constexpr uint64_t kTiffBytesForPixel = 24, kTiffBesides = uint64_t{4} << 20;

// A file in memory as the library reads it, and the first error that it finds.
struct TiffSource {
  FileBytes file;
  uint64_t at = 0;
  char wrong[160] = "";
};

TiffSource& tiff_source(void* user) { return *static_cast<TiffSource*>(user); }

tmsize_t read_tiff(thandle_t user, void* to, tmsize_t count) {
  TiffSource& source = tiff_source(user);
  if (count <= 0 || source.at >= source.file.size()) return 0;
  const auto n = static_cast<size_t>(std::min<uint64_t>(static_cast<uint64_t>(count), source.file.size() - source.at));
  std::memcpy(to, source.file.data() + source.at, n);
  source.at += n;
  return static_cast<tmsize_t>(n);
}
tmsize_t write_no_tiff(thandle_t, void*, tmsize_t) { return 0; }
toff_t seek_tiff(thandle_t user, toff_t offset, int whence) {
  TiffSource& source = tiff_source(user);
  const uint64_t from = whence == SEEK_CUR ? source.at : whence == SEEK_END ? source.file.size() : 0;
  return source.at = from + offset;
}
int close_tiff(thandle_t) { return 0; }
toff_t size_of_tiff(thandle_t user) { return tiff_source(user).file.size(); }
int map_no_tiff(thandle_t, void**, toff_t*) { return 0; }
void unmap_no_tiff(thandle_t, void*, toff_t) {}

// Not 0: the library's other handlers are not called.
int note_wrong(TIFF*, void* user, const char*, const char* format, va_list values) {
  TiffSource& source = tiff_source(user);
  if (source.wrong[0] == '\0') std::vsnprintf(source.wrong, sizeof source.wrong, format, values);
  return 1;
}
int note_nothing(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct CloseTiff {
  void operator()(TIFF* t) const { TIFFClose(t); }
};
using OpenTiff = std::unique_ptr<TIFF, CloseTiff>;

OpenTiff open_tiff(TiffSource& source) {
  struct Free {
    void operator()(TIFFOpenOptions* o) const { TIFFOpenOptionsFree(o); }
  };
  const std::unique_ptr<TIFFOpenOptions, Free> options(TIFFOpenOptionsAlloc());
  if (!options) return nullptr;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(4 * kMostPixels));
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), note_wrong, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), note_nothing, nullptr);
  return OpenTiff(TIFFClientOpenExt("", "rm", &source, read_tiff, write_no_tiff, seek_tiff, close_tiff, size_of_tiff,
                                    map_no_tiff, unmap_no_tiff, options.get()));
}

// The library would multiply colours by their alpha; here they are read as stored.
void ignore_transparency(TIFF* tiff) {
  uint16_t count = 0;
  const uint16_t* kinds = nullptr;
  if (TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) == 0 || count == 0) return;
  std::vector<uint16_t> unspecified(count, EXTRASAMPLE_UNSPECIFIED);
  TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, count, unspecified.data());
}

Error damaged_tiff(const TiffSource& source, const std::string& name) {
  return fail(ErrorCode::invalid_data, "%s cannot be read: %s; it may be damaged or cut off", name,
              source.wrong[0] != '\0' ? source.wrong : "it is of a kind that libtiff does not know");
}

// A strip or a tile may claim to be larger than its picture.
bool parts_fit(TIFF* tiff, uint64_t pixels) {
  return (TIFFIsTiled(tiff) != 0 ? TIFFTileSize64(tiff) : TIFFStripSize64(tiff)) <=
         kTiffBesides + kTiffBytesForPixel * pixels;
}

}  // namespace

Result<Picture> decode_tiff(FileBytes file, const std::string& name) {
  TiffSource source{file};
  const OpenTiff tiff = open_tiff(source);
  if (!tiff) return damaged_tiff(source, name);
  uint32_t width = 0, height = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  LAPILLI_CHECK(check_size(width, height, name));
  const uint64_t pixels = uint64_t{width} * height;
  if (!parts_fit(tiff.get(), pixels)) return damaged_tiff(source, name);
  ignore_transparency(tiff.get());
  uint16_t orientation = kUpright;
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_ORIENTATION, &orientation);
  std::vector<uint32_t> raster(static_cast<size_t>(pixels));
  // In the stored order, which upright() corrects.
  if (!TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(), orientation, 1))
    return damaged_tiff(source, name);
  std::vector<uint8_t> rgb(3 * raster.size());
  for (size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<uint8_t>(raster[i / 3] >> 8 * (i % 3));
  return upright(rgb, width, height, orientation);
}

}  // namespace lapilli::image
