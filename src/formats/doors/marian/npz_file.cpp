#include "formats/doors/marian/npz_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/math.hpp"
#include "formats/quote.hpp"
#include "formats/readers.hpp"

namespace lapilli::doors::marian {

namespace {

constexpr uint64_t kMostHeader = uint64_t{1} << 16, kMostSettingsBytes = uint64_t{1} << 20;
constexpr std::string_view kArray = ".npy", kMagic = "\x93NUMPY";

// The text between a key of the header and what ends its value.
std::string_view value_behind(std::string_view header, std::string_view key, char end) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" :"), rest.size()));
  return rest.substr(0, rest.find(end));
}

// "(180, 40": the numbers; nothing if one is none.
bool read_numbers(std::string_view text, std::vector<uint64_t>& numbers) {
  if (!text.starts_with('(')) return false;
  text.remove_prefix(1);
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty()) return numbers.size() <= max_stored_rank;
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || numbers.size() > max_stored_rank) return false;
    numbers.push_back(number);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

struct ArrayHeader {
  std::string type;  // "<f4"
  std::vector<uint64_t> shape;
  uint64_t bytes = 0;  // of the header, to the first number
};

Failure damaged_array(const File& file, const char* why) {
  return fail(ErrorCode::invalid_data, "%s: no array as NumPy writes it: %s; fetch the file again", file.path(), why);
}

// The length of the header's text has two bytes in version 1 and four later.
Result<std::pair<uint64_t, uint64_t>> header_place(const File& file) {
  constexpr uint64_t kLongest = 12;
  std::byte start[kLongest] = {};
  const uint64_t there = std::min(file.size(), kLongest);
  LAPILLI_CHECK(file.read(0, std::span(start).first(there)));
  if (there < kLongest || std::memcmp(start, kMagic.data(), kMagic.size()) != 0)
    return damaged_array(file, "its first bytes");
  const bool old = start[6] == std::byte{1};
  uint32_t length = 0;
  std::memcpy(&length, start + 8, old ? 2 : 4);
  const uint64_t begin = old ? 10 : 12;
  if (length > kMostHeader || length > file.size() - begin) return damaged_array(file, "the length of its header");
  return std::pair{begin, uint64_t{length}};
}

Result<ArrayHeader> read_header(const File& file) {
  LAPILLI_TRY(const auto place, header_place(file));
  const auto [begin, length] = place;
  std::string text(length, '\0');
  LAPILLI_CHECK(file.read(begin, std::as_writable_bytes(std::span(text))));
  ArrayHeader header;
  const std::string_view type = value_behind(text, "'descr'", ',');
  if (type.size() < 2 || !type.starts_with('\'') || !type.ends_with('\''))
    return damaged_array(file, "it names no type of numbers");
  header.type = type.substr(1, type.size() - 2);
  if (value_behind(text, "'fortran_order'", ',') != "False")
    return fail(ErrorCode::unsupported,
                "%s: its numbers lie column by column (fortran_order), which Marian never writes", file.path());
  if (!read_numbers(value_behind(text, "'shape'", ')'), header.shape)) return damaged_array(file, "its shape");
  header.bytes = begin + length;
  return header;
}

// The array's numbers, of this type.
Result<FileRange> numbers_of(const File& file, const ArrayHeader& header, StoredType type) {
  uint64_t elements = 0, bytes = 0;
  if (!count_elements(header.shape, elements) || !checked_mul(elements, stored_bytes(type), bytes) ||
      bytes > file.size() - header.bytes)
    return damaged_array(file, "it is shorter than its shape says");
  return FileRange{file, header.bytes, bytes};
}

Status read_settings(const File& file, Parameters& to) {
  LAPILLI_TRY(const auto header, read_header(file));
  if (header.type != "|i1" && header.type != "|u1") return damaged_array(file, "the settings are no text");
  LAPILLI_TRY(const auto range, numbers_of(file, header, StoredType::i8));
  LAPILLI_TRY(const auto text, file.read_some(range.offset, std::min(range.bytes, kMostSettingsBytes)));
  to.settings.assign(reinterpret_cast<const char*>(text.data()), text.size());
  to.settings.resize(std::min(to.settings.find('\0'), to.settings.size()));
  return {};
}

Status read_parameter(const File& file, const std::string& name, Parameters& to) {
  LAPILLI_TRY(auto header, read_header(file));
  if (header.type != "<f4")
    return fail(ErrorCode::unsupported, "%s: its numbers are %s; Marian's are of the type <f4 (float32)", file.path(),
                quote_name(header.type, 20));
  LAPILLI_TRY(const auto range, numbers_of(file, header, StoredType::f32));
  if (header.shape.size() == 1) header.shape.insert(header.shape.begin(), 1);
  to.all.emplace(name, Parameter{StoredType::f32, std::move(header.shape), range, false, 1});
  return {};
}

}  // namespace

Result<Parameters> read_npz(const Files& archive, const std::vector<std::string>& names, const std::string& where) {
  Parameters parameters;
  for (const std::string& member : names) {
    if (!member.ends_with(kArray))
      return fail(ErrorCode::invalid_data, "%s: %s is no array of NumPy's", where, quote_name(member));
    LAPILLI_TRY(const auto file, File::open(archive / member));
    const std::string name = member.substr(0, member.size() - kArray.size());
    LAPILLI_CHECK(member == kSettingsArray ? read_settings(file, parameters) : read_parameter(file, name, parameters));
  }
  return parameters;
}

}  // namespace lapilli::doors::marian
