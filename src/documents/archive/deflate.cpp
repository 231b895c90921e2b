#include "documents/archive/deflate.hpp"

#include <algorithm>

#ifdef LAPILLI_HAVE_ZLIB
#include <zlib.h>
#endif

namespace lapilli::documents {

#ifdef LAPILLI_HAVE_ZLIB

namespace {

constexpr int kWithoutHead = -MAX_WBITS;
constexpr size_t kStep = size_t{1} << 16;

Bytef* bytes_of(std::string_view text) { return reinterpret_cast<Bytef*>(const_cast<char*>(text.data())); }

// Runs zlib's inflate or deflate over `in` until it says that it is done; false if it does not get there, or if more
// than `most` bytes come out.
bool run_to_end(z_stream& stream, int (*step)(z_stream*, int), std::string_view in, uint64_t most, std::string& out) {
  stream.next_in = bytes_of(in);
  stream.avail_in = static_cast<uInt>(in.size());
  for (int code = Z_OK; code != Z_STREAM_END;) {
    const size_t done = out.size(), room = std::max(kStep, std::min<size_t>(done, most));
    out.resize(done + room);
    stream.next_out = bytes_of(std::string_view(out).substr(done));
    stream.avail_out = static_cast<uInt>(room);
    code = step(&stream, Z_FINISH);
    out.resize(done + room - stream.avail_out);
    const bool goes_on = code == Z_STREAM_END || (stream.avail_out == 0 && (code == Z_OK || code == Z_BUF_ERROR));
    if (!goes_on || out.size() > most) return false;
  }
  return true;
}

}  // namespace

bool have_zlib() { return true; }

Result<std::string> unpack_deflate(std::string_view packed, uint64_t size) {
  z_stream stream = {};
  if (inflateInit2(&stream, kWithoutHead) != Z_OK) return fail(ErrorCode::out_of_memory, "zlib has not enough memory");
  std::string out;
  const bool whole = run_to_end(stream, inflate, packed, size, out) && out.size() == size;
  inflateEnd(&stream);
  if (!whole) return fail(ErrorCode::invalid_data, "its packed data are damaged");
  return out;
}

Result<std::string> pack_deflate(std::string_view bytes) {
  z_stream stream = {};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kWithoutHead, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(ErrorCode::out_of_memory, "zlib has not enough memory");
  std::string out;
  const bool whole = run_to_end(stream, deflate, bytes, deflateBound(&stream, bytes.size()), out);
  deflateEnd(&stream);
  if (!whole) return fail(ErrorCode::internal, "zlib did not pack a file");
  return out;
}

uint32_t zip_checksum(std::string_view bytes) {
  return static_cast<uint32_t>(crc32(0, bytes_of(bytes), static_cast<uInt>(bytes.size())));
}

#else

namespace {

Failure no_zlib() {
  return fail(ErrorCode::unsupported,
              "this build reads no archives: install zlib (Debian: zlib1g-dev), configure and build again");
}

}  // namespace

bool have_zlib() { return false; }
Result<std::string> unpack_deflate(std::string_view, uint64_t) { return no_zlib(); }
Result<std::string> pack_deflate(std::string_view) { return no_zlib(); }
uint32_t zip_checksum(std::string_view) { return 0; }

#endif

}  // namespace lapilli::documents
