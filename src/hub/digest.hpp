// The two hashes that hubs state: SHA-256 of large files, and git's blob id, a SHA-1, of the others. Written out, as no
// library that Lapilli needs gives them: libcurl keeps its own to itself, and its TLS library differs from build to
// build.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace lapilli::hub {

class Digest {
 public:
  enum class Kind { sha1, sha256 };
  explicit Digest(Kind kind);
  void update(std::string_view bytes);
  // In lower case; nothing may follow.
  [[nodiscard]] std::string hex();

 private:
  void compress(const unsigned char* block);

  Kind kind_;
  std::array<uint32_t, 8> state_{};
  std::array<unsigned char, 64> block_{};
  uint64_t bytes_ = 0;
};

}  // namespace lapilli::hub
