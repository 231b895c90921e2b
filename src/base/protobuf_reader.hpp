// Reads protobuf's wire format as far as models use it: without groups. Pure, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lapilli {

struct WireField {
  uint32_t number = 0;
  uint32_t wire_type = 0;  // 0 varint, 1 fixed 64, 2 bytes, 5 fixed 32
  uint64_t value = 0;      // types 0, 1, 5
  std::string_view bytes;  // type 2: points into the data
};

// A number of 7 bits a byte, taken off the front; false if it is cut off or too long.
bool take_varint(std::string_view& from, uint64_t& value);

// Reads fields in order; nothing follows after `failed`.
class WireReader {
 public:
  explicit WireReader(std::string_view data) : rest_(data) {}
  bool next(WireField& field);
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  bool fixed(size_t size, uint64_t& value);
  bool read_value(WireField& field);

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace lapilli
