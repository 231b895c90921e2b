// A read-only view of a whole file, memory-mapped where the system can.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"

namespace lapilli {

// Shared ownership: tensors read from a checkpoint keep the mapping alive. The bytes are valid while a copy exists.
// Files must not shrink while they are mapped, as everywhere.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  [[nodiscard]] std::span<const std::byte> bytes() const;
  [[nodiscard]] const std::string& path() const;
  // Hint that the bytes are not needed soon: whole pages within leave the process's memory and are paged in from the
  // file again on access.
  void let_go(size_t offset, size_t bytes) const noexcept;

 private:
  struct Mapping;
  std::shared_ptr<const Mapping> mapping_;
};

}  // namespace lapilli
