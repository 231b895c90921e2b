// Persistent storage between runs: blobs by key, with the host or in a folder. A missing, damaged or unwritable blob
// only costs time, so none of this is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lapilli {

using Blob = std::vector<std::byte>;

// FNV-1a, against damage, not malice. A difference in a single byte is always detected.
inline constexpr uint64_t kNoBytes = 0xcbf29ce484222325ull;
uint64_t checksum(std::span<const std::byte> bytes, uint64_t before = kNoBytes);

// Safe to use from several threads. Keys are lower-case letters, digits, '-' and '.', up to 64 of them.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::optional<Blob> load(const std::string& key) = 0;
  // Replaces the blob atomically; no bytes: removes it. False if that failed, which the log says.
  virtual bool save(const std::string& key, std::span<const std::byte> bytes) = 0;
  // A name that one process at a time holds, as long as it lives and keeps the result. Null: another one has it. Stores
  // that cannot tell give it to everybody.
  virtual std::shared_ptr<void> hold(const std::string& key);
};

// Files in a folder, which is created at the first save. A file is complete or absent, even if the program dies or
// other processes write, too.
std::shared_ptr<Store> folder_store(std::string folder);

}  // namespace lapilli
