// What is kept between runs: blobs by key, with the host or in a folder. A blob that is missing, damaged or cannot be
// written costs time and nothing else, so none of this is an error.
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

// FNV-1a: finds damage, no malice. Where one byte differs it always differs.
inline constexpr uint64_t kNoBytes = 0xcbf29ce484222325ull;
uint64_t checksum(std::span<const std::byte> bytes, uint64_t before = kNoBytes);

// Safe to use from several threads. Keys are lower-case letters, digits, '-' and '.', up to 64 of them.
class Store {
 public:
  virtual ~Store() = default;
  virtual std::optional<Blob> load(const std::string& key) = 0;
  // Replaces the blob, all at once; no bytes: removes it. False if it is not there as wanted, which the log says.
  virtual bool save(const std::string& key, std::span<const std::byte> bytes) = 0;
  // A name that one process at a time holds, as long as it lives and keeps what it got. Null: another one has it.
  // Of stores that cannot tell, everybody gets it.
  virtual std::shared_ptr<void> hold(const std::string& key);
};

// Files of a folder, which is made when there is something to save. A file is there whole or not at all, whatever ends
// the program or other processes do.
std::shared_ptr<Store> folder_store(std::string folder);

}  // namespace lapilli
