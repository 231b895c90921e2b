#include "base/protobuf_reader.hpp"

namespace lapilli {

bool take_varint(std::string_view& from, uint64_t& value) {
  value = 0;
  for (int shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from[0]);
    from.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return shift < 63 || byte < 2;
  }
  return false;
}

bool WireReader::next(WireField& field) {
  uint64_t tag = 0;
  if (rest_.empty() || failed_) return false;
  failed_ = !take_varint(rest_, tag) || tag >> 32 != 0 || tag >> 3 == 0;
  if (failed_) return false;
  field = {static_cast<uint32_t>(tag >> 3), static_cast<uint32_t>(tag & 7), 0, {}};
  failed_ = !read_value(field);
  return !failed_;
}

bool WireReader::fixed(size_t size, uint64_t& value) {
  if (rest_.size() < size) return false;
  value = 0;
  for (size_t i = 0; i < size; ++i) value |= uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
  rest_.remove_prefix(size);
  return true;
}

bool WireReader::read_value(WireField& field) {
  switch (field.wire_type) {
    case 0: return take_varint(rest_, field.value);
    case 1: return fixed(8, field.value);
    case 5: return fixed(4, field.value);
    case 2: {
      uint64_t size = 0;
      if (!take_varint(rest_, size) || size > rest_.size()) return false;
      field.bytes = rest_.substr(0, static_cast<size_t>(size));
      rest_.remove_prefix(static_cast<size_t>(size));
      return true;
    }
    default: return false;  // groups: written by nobody
  }
}

}  // namespace lapilli
