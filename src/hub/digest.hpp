// The two hashes that hubs state: SHA-256 for large files, and git's blob id, a SHA-1, for the others. Implemented
// here, as no library that Lapilli needs offers them: libcurl does not export its own, and its TLS library differs
// between builds.
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
  // In lower case; no update() may follow.
  [[nodiscard]] std::string hex();

 private:
  void compress(const unsigned char* block);

  Kind kind_;
  std::array<uint32_t, 8> state_{};
  std::array<unsigned char, 64> block_{};
  uint64_t bytes_ = 0;
};

}  // namespace lapilli::hub
