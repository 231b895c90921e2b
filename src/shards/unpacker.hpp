// Unpacks gzip and Zstandard as bytes come, in bounded memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace lapilli::shards {

class Unpacker {
 public:
  virtual ~Unpacker() = default;
  // Takes bytes from the front of `packed`, and writes at most `room` bytes; gives how many. 0: it needs more, or
  // wrong() says why it cannot go on.
  virtual size_t unpack(std::string_view& packed, char* to, size_t room) = 0;
  // True between members: the input may end here.
  [[nodiscard]] virtual bool may_end() const = 0;
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 protected:
  std::string wrong_;
};

// The first bytes that tell how an input is packed.
inline constexpr size_t kTellingPackedBytes = 4;
bool is_packed(std::string_view first_bytes);
// Null, with `wrong`: this build does not read it.
std::unique_ptr<Unpacker> unpacker_for(std::string_view first_bytes, std::string& wrong);

// "letter.txt" for "letter.txt.gz" and "letter.txt.zst".
std::string_view unpacked_name(std::string_view name);

}  // namespace lapilli::shards
