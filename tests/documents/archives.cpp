#include "archives.hpp"

#include <cstdint>

#include "documents/archive/deflate.hpp"

namespace lapilli::documents {

namespace {

std::string number(uint64_t value, size_t bytes) {
  std::string out;
  for (; bytes > 0; --bytes, value >>= 8) out += static_cast<char>(value);
  return out;
}

uint64_t number_in(std::string_view bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Fields that the head of a file and its record in the directory share, from the version on.
std::string facts(const std::pair<std::string, std::string>& file) {
  return number(20, 2) + number(0x800, 2) + number(0, 2) + number(0x6000, 2) + number(0x5921, 2) +
         number(zip_checksum(file.second), 4) + number(file.second.size(), 4) + number(file.second.size(), 4) +
         number(file.first.size(), 2) + number(0, 2);
}

}  // namespace

std::string archive_of(const ArchiveFiles& files) {
  std::string out, directory;
  for (const auto& file : files) {
    directory += "PK\x01\x02" + number(20, 2) + facts(file) + number(0, 10) + number(out.size(), 4) + file.first;
    out += "PK\x03\x04" + facts(file) + file.first + file.second;
  }
  const std::string end = "PK\x05\x06" + number(0, 4) + number(files.size(), 2) + number(files.size(), 2) +
                          number(directory.size(), 4) + number(out.size(), 4) + number(0, 2);
  return out + directory + end;
}

std::string file_in(std::string_view archive, std::string_view name) {
  for (size_t at = 0; at + 30 < archive.size() && archive.substr(at, 4) == "PK\x03\x04";) {
    const size_t packed = number_in(archive, at + 18, 4), size = number_in(archive, at + 22, 4);
    const size_t name_size = number_in(archive, at + 26, 2),
                 data = at + 30 + name_size + number_in(archive, at + 28, 2);
    const std::string_view bytes = archive.substr(data, packed);
    if (archive.substr(at + 30, name_size) == name) {
      if (number_in(archive, at + 8, 2) == 0) return std::string(bytes);
      auto unpacked = unpack_deflate(bytes, size);
      return unpacked ? *unpacked : std::string();
    }
    at = data + packed;
  }
  return {};
}

}  // namespace lapilli::documents
