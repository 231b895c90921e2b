#include "formats/inflate.hpp"

#include <algorithm>
#include <limits>
#include <new>

#ifdef LAPILLI_HAVE_ZLIB
#include <zlib.h>
#endif

namespace lapilli {

#ifdef LAPILLI_HAVE_ZLIB

namespace {

constexpr int kDeflateAlone = -MAX_WBITS, kGzip = MAX_WBITS + 16;
constexpr uint64_t kMostExpansion = 1032;  // of deflate: 258 bytes for two bits

Failure damaged(const char* why) {
  return fail(ErrorCode::invalid_data, "its packed data are damaged or cut off (%s); fetch the file again", why);
}

class Inflater {
 public:
  Inflater(std::span<const std::byte> packed, int form) : left_(packed) {
    there_ = inflateInit2(&stream_, form) == Z_OK;
  }
  ~Inflater() {
    if (there_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Everything, or the first `bound` bytes and one more.
  Result<std::vector<std::byte>> all(uint64_t bound) {
    constexpr uint64_t kFirst = uint64_t{1} << 16;
    if (!there_) return fail(ErrorCode::out_of_memory, "zlib has not enough memory");
    const uint64_t most = std::min<uint64_t>(bound, SIZE_MAX - 1) + 1;
    std::vector<std::byte> out;
    uint64_t done = 0;
    while (!ended_ && done < most) {
      const uint64_t room = std::min(most, std::max(kFirst, out.size() * 2));
      if (done == out.size()) out.resize(room);
      LAPILLI_TRY(const uint64_t count, step(std::span(out).subspan(done)));
      done += count;
    }
    out.resize(done);
    return out;
  }
  // Goes on with a further gzip part behind the one that has ended; false if there is none.
  bool next_part() {
    if (!ended_ || left_.empty() || inflateReset(&stream_) != Z_OK) return false;
    ended_ = false;
    return true;
  }
  [[nodiscard]] bool at_end() const { return ended_ && left_.empty(); }

 private:
  static uInt size_of(std::span<const std::byte> bytes) {
    return static_cast<uInt>(std::min<size_t>(bytes.size(), std::numeric_limits<uInt>::max()));
  }
  // The number of bytes that came out; an error where nothing goes on.
  Result<uint64_t> step(std::span<std::byte> to) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(left_.data()));
    stream_.next_out = reinterpret_cast<Bytef*>(to.data());
    const uInt in = stream_.avail_in = size_of(left_), out = stream_.avail_out = size_of(to);
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    left_ = left_.subspan(in - stream_.avail_in);
    if (code == Z_MEM_ERROR) return fail(ErrorCode::out_of_memory, "zlib has not enough memory");
    if (code != Z_OK && code != Z_STREAM_END) return damaged(stream_.msg ? stream_.msg : "they end too early");
    ended_ = code == Z_STREAM_END;
    return uint64_t{out - stream_.avail_out};
  }

  std::span<const std::byte> left_;
  z_stream stream_{};
  bool there_ = false, ended_ = false;
};

Result<std::vector<std::byte>> inflate_member(std::span<const std::byte> packed, uint64_t bytes, uint32_t crc) {
  if (bytes / kMostExpansion > packed.size()) return damaged("they cannot be as long as is said");
  Inflater inflater(packed, kDeflateAlone);
  LAPILLI_TRY(auto out, inflater.all(bytes));
  if (out.size() != bytes || !inflater.at_end()) return damaged("they have another size than is said");
  if (crc32_z(0, reinterpret_cast<const Bytef*>(out.data()), out.size()) != crc)
    return damaged("their checksum differs");
  return out;
}

Result<std::vector<std::byte>> gunzip_parts(std::span<const std::byte> packed, uint64_t bound) {
  Inflater inflater(packed, kGzip);
  std::vector<std::byte> out;
  do {
    LAPILLI_TRY(auto part, inflater.all(bound - out.size()));
    if (part.size() > bound - out.size())
      return fail(ErrorCode::invalid_data, "it unpacks to more than the %u bytes that are expected of such a file",
                  static_cast<unsigned long long>(bound));
    if (out.empty())
      out = std::move(part);
    else
      out.insert(out.end(), part.begin(), part.end());
  } while (inflater.next_part());
  return out;
}

Result<std::vector<std::byte>> start_of(std::span<const std::byte> packed, int form, uint64_t count) {
  if (count == 0) return std::vector<std::byte>();
  Inflater inflater(packed, form);
  return inflater.all(count - 1);
}

// Memory that is not there is an error like any other.
template <class Work>
Result<std::vector<std::byte>> within_memory(const Work& work) {
  try {
    return work();
  } catch (const std::exception&) {
    return fail(ErrorCode::out_of_memory, "not enough memory to unpack it");
  }
}

}  // namespace

Result<std::vector<std::byte>> inflate(std::span<const std::byte> packed, uint64_t bytes, uint32_t crc) {
  return within_memory([&] { return inflate_member(packed, bytes, crc); });
}

Result<std::vector<std::byte>> gunzip(std::span<const std::byte> packed, uint64_t bound) {
  return within_memory([&] { return gunzip_parts(packed, bound); });
}

Result<std::vector<std::byte>> inflate_start(std::span<const std::byte> packed, uint64_t count) {
  return within_memory([&] { return start_of(packed, kDeflateAlone, count); });
}

Result<std::vector<std::byte>> gunzip_start(std::span<const std::byte> packed, uint64_t count) {
  return within_memory([&] { return start_of(packed, kGzip, count); });
}

#else

namespace {

constexpr const char *kOfArchives = "build it with zlib, or unpack the archive (unzip) and give the directory",
                     *kOfGzip = "build it with zlib, or unpack the file (gzip -d)";

Failure no_zlib(const char* advice) {
  return fail(ErrorCode::unsupported, "it is packed, and Lapilli was built without zlib, which unpacks it; %s", advice);
}

}  // namespace

Result<std::vector<std::byte>> inflate(std::span<const std::byte>, uint64_t, uint32_t) { return no_zlib(kOfArchives); }

Result<std::vector<std::byte>> gunzip(std::span<const std::byte>, uint64_t) { return no_zlib(kOfGzip); }

Result<std::vector<std::byte>> inflate_start(std::span<const std::byte>, uint64_t) { return no_zlib(kOfArchives); }
Result<std::vector<std::byte>> gunzip_start(std::span<const std::byte>, uint64_t) { return no_zlib(kOfGzip); }

#endif

}  // namespace lapilli
