// The header of every blob kept between runs: everything it depends on, and checksums. A blob that does not match bit
// by bit is ignored.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/store.hpp"
#include "vulkan/caps/capabilities.hpp"

namespace lapilli::vulkan {

enum class StoredKind : uint32_t { pipelines = 1, verdicts = 2, trial = 3, tunings = 4, expected = 5 };

// Everything that blobs depend on besides Lapilli's version.
struct StoredIdentity {
  uint32_t vendor_id = 0, device_id = 0, driver_version = 0, api_version = 0;
  std::array<uint8_t, 16> device_uuid{}, driver_uuid{}, cache_uuid{};
  uint64_t shaders = 0;       // checksum of all shader modules
  uint64_t capabilities = 0;  // masked, as they determine constants and variants
  // Names the file, which later drivers and versions reuse, so that obsolete data is replaced.
  uint64_t place = 0;
};
// Without the UUIDs of the driver and its cache, which capabilities lack.
StoredIdentity identity_of(const Capabilities& caps, uint64_t shaders);

// "pipelines-0123456789abcdef"
std::string stored_key(StoredKind kind, const StoredIdentity& identity);

Blob seal(StoredKind kind, const StoredIdentity& identity, std::span<const std::byte> payload);
// The payload; nothing if the blob is damaged or of another kind, device, driver or version.
std::optional<Blob> unseal(StoredKind kind, const StoredIdentity& identity, std::span<const std::byte> blob);
// True if it is undamaged, whatever its identity.
bool is_whole(std::span<const std::byte> blob);

}  // namespace lapilli::vulkan
