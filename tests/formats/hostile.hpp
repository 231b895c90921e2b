// Makers of files for the tests: right ones, and each kind of wrong one.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// GCC 12 sees overlaps in text + std::string where there are none (its bug 105651).
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 12
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

namespace lapilli {

template <class T>
std::string little(T value) {
  std::string out(sizeof(T), '\0');
  std::memcpy(out.data(), &value, sizeof(T));
  return out;
}

inline std::string floats_as_bytes(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

// ---- safetensors ----

inline std::string safetensors(const std::string& header, const std::string& data) {
  return little<uint64_t>(header.size()) + header + data;
}

// ---- pickle: opcodes with their arguments ----

namespace pickled {

inline const std::string proto = "\x80\x02", mark = "(", stop = ".", none = "N", no = "\x89", tuple = "t", reduce = "R",
                         persistent = "Q", empty_tuple = ")", empty_dict = "}", empty_list = "]", setitem = "s",
                         setitems = "u", appends = "e", build = "b";

inline std::string text(std::string_view s) { return "X" + little(static_cast<uint32_t>(s.size())) + std::string(s); }
inline std::string integer(int64_t n) { return std::string("\x8a\x08") + little(n); }
inline std::string global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}
inline std::string integers(const std::vector<int64_t>& values) {
  std::string out = mark;
  for (const int64_t v : values) out += integer(v);
  return out + tuple;
}
inline const std::string ordered_dict = global("collections", "OrderedDict") + empty_tuple + reduce;

struct Tensor {
  std::string type = "FloatStorage";
  std::string key = "0";
  int64_t storage_elements = 4, offset = 0;
  std::vector<int64_t> shape{2, 2}, strides{2, 1};
};
// `view`: what the stream form has as a sixth part.
inline std::string tensor(const Tensor& t, const std::string& view = "") {
  return global("torch._utils", "_rebuild_tensor_v2") + mark + mark + text("storage") + global("torch", t.type) +
         text(t.key) + text("cpu") + integer(t.storage_elements) + view + tuple + persistent + integer(t.offset) +
         integers(t.shape) + integers(t.strides) + no + ordered_dict + tuple + reduce;
}
inline std::string state_dict(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string out = proto + ordered_dict + mark;
  for (const auto& [name, value] : entries) out += text(name) + value;
  return out + setitems + stop;
}

}  // namespace pickled

// ---- zip ----

struct ZipPart {
  std::string name, data;
  uint16_t method = 0, flags = 0;
  bool zip64 = false;        // sizes and place in the extra field
  std::string local_name{};  // if it is to differ
  uint32_t size_lie = 0;     // added to the sizes in the directory
  int64_t unpacked = -1;     // bytes of a packed entry
  uint32_t crc = 0;
};

inline std::string zip(const std::vector<ZipPart>& parts, bool zip64_end = false) {
  std::string out, directory;
  for (const auto& p : parts) {
    const auto at = static_cast<uint32_t>(out.size()), size = static_cast<uint32_t>(p.data.size());
    const std::string& local = p.local_name.empty() ? p.name : p.local_name;
    out += "PK\x03\x04" + little<uint16_t>(20) + little(p.flags) + little(p.method) + little<uint32_t>(0) +
           little<uint32_t>(0) + little(size) + little(size) + little(static_cast<uint16_t>(local.size())) +
           little<uint16_t>(0) + local + p.data;
    const uint32_t full = 0xffffffff, shown = p.zip64 ? full : size + p.size_lie;
    const uint32_t unpacked = p.unpacked < 0 ? shown : static_cast<uint32_t>(p.unpacked);
    std::string extra;
    if (p.zip64)
      extra = little<uint16_t>(1) + little<uint16_t>(24) + little<uint64_t>(size + p.size_lie) +
              little<uint64_t>(size + p.size_lie) + little<uint64_t>(at);
    directory += "PK\x01\x02" + little<uint16_t>(20) + little<uint16_t>(20) + little(p.flags) + little(p.method) +
                 little<uint32_t>(0) + little(p.crc) + little(shown) + little(unpacked) +
                 little(static_cast<uint16_t>(p.name.size())) + little(static_cast<uint16_t>(extra.size())) +
                 little<uint16_t>(0) + little<uint64_t>(0) + little(p.zip64 ? full : at) + p.name + extra;
  }
  const uint64_t at = out.size(), n = parts.size();
  out += directory;
  if (zip64_end) {
    const uint64_t record = out.size();
    out += "PK\x06\x06" + little<uint64_t>(44) + little<uint16_t>(45) + little<uint16_t>(45) + little<uint64_t>(0) +
           little(n) + little(n) + little<uint64_t>(directory.size()) + little(at);
    out += "PK\x06\x07" + little<uint32_t>(0) + little(record) + little<uint32_t>(1);
    return out + "PK\x05\x06" + std::string(4, '\0') + std::string(12, '\xff') + little<uint16_t>(0);
  }
  return out + "PK\x05\x06" + std::string(4, '\0') + little(static_cast<uint16_t>(n)) +
         little(static_cast<uint16_t>(n)) + little(static_cast<uint32_t>(directory.size())) +
         little(static_cast<uint32_t>(at)) + little<uint16_t>(0);
}

// A checkpoint in the zip form: the pickle, and storages by key.
inline std::string torch_zip(const std::string& pickle,
                             const std::vector<std::pair<std::string, std::string>>& storages,
                             const std::string& byteorder = "little") {
  std::vector<ZipPart> parts{{"archive/data.pkl", pickle}, {"archive/byteorder", byteorder}};
  for (const auto& [key, data] : storages) parts.push_back({"archive/data/" + key, data});
  return zip(parts);
}

// The stream form.
struct TorchStream {
  std::string magic = std::string("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15);
  int64_t protocol = 1001;
  bool little_endian = true;
  std::string state;
  std::vector<std::string> keys;
  std::string data;  // per key: int64 count, numbers

  [[nodiscard]] std::string bytes() const {
    using namespace pickled;
    std::string list = proto + empty_list + mark;
    for (const auto& k : keys) list += text(k);
    return magic + proto + integer(protocol) + stop + proto + empty_dict + text("little_endian") +
           (little_endian ? "\x88" : "\x89") + setitem + stop + state + list + appends + stop + data;
  }
};

}  // namespace lapilli
