// What stands before every blob that is kept between runs: what it depends on, and that it is whole. One that does not
// match to the bit is none.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/store.hpp"
#include "vulkan/capabilities.hpp"

namespace lapilli::vulkan {

enum class StoredKind : uint32_t { pipelines = 1, verdicts = 2, trial = 3, tunings = 4, expected = 5 };

// All that these depend on, beside the version of Lapilli.
struct StoredIdentity {
  uint32_t vendor_id = 0, device_id = 0, driver_version = 0, api_version = 0;
  std::array<uint8_t, 16> device_uuid{}, driver_uuid{}, cache_uuid{};
  uint64_t shaders = 0;       // a checksum of every shader module
  uint64_t capabilities = 0;  // masked: they choose constants and variants
  // Of the file that later drivers and versions use again, so that what is of no use any more is replaced.
  uint64_t place = 0;
};
// Without the UUIDs of the driver and its cache, which capabilities do not hold.
StoredIdentity identity_of(const Capabilities& caps, uint64_t shaders);

// "pipelines-0123456789abcdef"
std::string stored_key(StoredKind kind, const StoredIdentity& identity);

Blob seal(StoredKind kind, const StoredIdentity& identity, std::span<const std::byte> payload);
// The payload; nothing if the blob is damaged, or of another kind, device, driver, version.
std::optional<Blob> unseal(StoredKind kind, const StoredIdentity& identity, std::span<const std::byte> blob);
// As it was sealed, for whomever.
bool is_whole(std::span<const std::byte> blob);

}  // namespace lapilli::vulkan
