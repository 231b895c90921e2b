#include "shards/unpacker.hpp"

#include <algorithm>
#include <climits>

#if defined(LAPILLI_HAVE_ZLIB)
#include <zlib.h>
#endif
#if defined(LAPILLI_HAVE_ZSTD)
#include <zstd.h>
#endif

namespace lapilli::shards {

namespace {

constexpr std::string_view kGzipMagic = "\x1f\x8b", kZstdMagic = "\x28\xb5\x2f\xfd";

#if defined(LAPILLI_HAVE_ZLIB)

// A file of several members, as pigz and bgzip write, is the text of all.
class Gunzip final : public Unpacker {
 public:
  Gunzip() {
    constexpr int kGzipWrapper = 16 + MAX_WBITS;
    ok_ = inflateInit2(&stream_, kGzipWrapper) == Z_OK;
    if (!ok_) wrong_ = "there is not enough memory to unpack it";
  }
  ~Gunzip() override {
    if (ok_) inflateEnd(&stream_);
  }
  Gunzip(const Gunzip&) = delete;
  Gunzip& operator=(const Gunzip&) = delete;

  // Bytes may wait inside although all of `packed` is taken.
  size_t unpack(std::string_view& packed, char* to, size_t room) override {
    size_t made = 0;
    while (made == 0 && (!packed.empty() || waiting_) && wrong_.empty()) {
      if (between_ && !begin_member(packed)) break;
      made = some(packed, to, room);
    }
    return made;
  }
  [[nodiscard]] bool may_end() const override { return between_; }

 private:
  // Zeros may follow the last member, for tapes.
  bool begin_member(std::string_view& packed) {
    while (any_ && !packed.empty() && packed.front() == '\0') packed.remove_prefix(1);
    if (packed.empty()) return false;
    if (any_) inflateReset(&stream_);
    between_ = false;
    return any_ = true;
  }

  size_t some(std::string_view& packed, char* to, size_t room) {
    const auto given = static_cast<uInt>(std::min<size_t>(packed.size(), UINT_MAX));
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = given;
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<size_t>(room, UINT_MAX));
    const uInt free_before = stream_.avail_out;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    packed.remove_prefix(given - stream_.avail_in);
    between_ = result == Z_STREAM_END;
    waiting_ = stream_.avail_out == 0 && !between_;
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      wrong_ = std::string("it is packed by gzip, and damaged: ") + (stream_.msg ? stream_.msg : zError(result));
    return free_before - stream_.avail_out;
  }

  z_stream stream_{};
  bool ok_ = false, between_ = true, any_ = false, waiting_ = false;
};

#endif

#if defined(LAPILLI_HAVE_ZSTD)

class Unzstd final : public Unpacker {
 public:
  Unzstd() : stream_(ZSTD_createDStream()) {
    if (!stream_) wrong_ = "there is not enough memory to unpack it";
  }
  ~Unzstd() override { ZSTD_freeDStream(stream_); }
  Unzstd(const Unzstd&) = delete;
  Unzstd& operator=(const Unzstd&) = delete;

  size_t unpack(std::string_view& packed, char* to, size_t room) override {
    size_t made = 0;
    while (made == 0 && (!packed.empty() || waiting_) && wrong_.empty()) made = some(packed, to, room);
    return made;
  }
  [[nodiscard]] bool may_end() const override { return between_; }

 private:
  size_t some(std::string_view& packed, char* to, size_t room) {
    ZSTD_inBuffer in{packed.data(), packed.size(), 0};
    ZSTD_outBuffer out{to, room, 0};
    const size_t result = ZSTD_decompressStream(stream_, &out, &in);
    packed.remove_prefix(in.pos);
    between_ = result == 0;
    waiting_ = out.pos == room && !between_;
    // Windows above zstd's own limit (128 MiB) are refused: they would take as much memory.
    if (ZSTD_isError(result))
      wrong_ = std::string("it is packed by zstd, and cannot be unpacked: ") + ZSTD_getErrorName(result);
    return out.pos;
  }

  ZSTD_DStream* stream_;
  bool between_ = true, waiting_ = false;
};

#endif

}  // namespace

bool is_packed(std::string_view first_bytes) {
  return first_bytes.starts_with(kGzipMagic) || first_bytes.starts_with(kZstdMagic);
}

std::unique_ptr<Unpacker> unpacker_for(std::string_view first_bytes, [[maybe_unused]] std::string& wrong) {
  if (first_bytes.starts_with(kGzipMagic)) {
#if defined(LAPILLI_HAVE_ZLIB)
    return std::make_unique<Gunzip>();
#else
    wrong = "it is packed by gzip, and this program was built without zlib; unpack it first (gunzip)";
    return nullptr;
#endif
  }
#if defined(LAPILLI_HAVE_ZSTD)
  return std::make_unique<Unzstd>();
#else
  wrong = "it is packed by zstd, and this program was built without libzstd; unpack it first (zstd -d)";
  return nullptr;
#endif
}

std::string_view unpacked_name(std::string_view name) {
  for (const std::string_view ending : {".gz", ".GZ", ".zst", ".ZST"})
    if (name.size() > ending.size() && name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

}  // namespace lapilli::shards
