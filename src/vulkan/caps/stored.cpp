#include "vulkan/caps/stored.hpp"

#include <algorithm>

#include "base/result.hpp"
#include "vulkan/caps/capabilities_json.hpp"

namespace lapilli::vulkan {

namespace {

constexpr char kStoredMagic[] = "LAPILLI\n";
constexpr uint32_t kStoredFormat = 1;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// Little-endian on every machine.
class HeaderWriter {
 public:
  void add(uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) header.push_back(static_cast<std::byte>(number >> (8 * i)));
  }
  void add(std::string_view text) {
    for (const char c : text) header.push_back(static_cast<std::byte>(c));
  }
  void add(const std::array<uint8_t, 16>& uuid) {
    for (const uint8_t b : uuid) header.push_back(std::byte{b});
  }
  Blob header;
};

// The header that a blob with this payload must have; compared bytewise, so that none is ever parsed.
Blob header_of(StoredKind kind, const StoredIdentity& id, std::span<const std::byte> payload) {
  HeaderWriter w;
  w.add(std::string_view(kStoredMagic, 8));
  w.add(kStoredFormat, 4);
  w.add(static_cast<uint32_t>(kind), 4);
  w.add(checksum(bytes_of(LAPILLI_VERSION)), 8);
  for (const uint32_t number : {id.vendor_id, id.device_id, id.driver_version, id.api_version}) w.add(number, 4);
  for (const auto& uuid : {id.device_uuid, id.driver_uuid, id.cache_uuid}) w.add(uuid);
  w.add(id.shaders, 8);
  w.add(id.capabilities, 8);
  w.add(payload.size(), 8);
  w.add(checksum(payload), 8);
  w.add(checksum(w.header), 8);
  return std::move(w.header);
}

size_t header_bytes() {
  static const size_t bytes = header_of(StoredKind::trial, {}, {}).size();
  return bytes;
}

uint64_t number_at(std::span<const std::byte> bytes, size_t at) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) number |= std::to_integer<uint64_t>(bytes[at + i]) << (8 * i);
  return number;
}

const char* name_of(StoredKind kind) {
  switch (kind) {
    case StoredKind::pipelines: return "pipelines";
    case StoredKind::verdicts: return "verdicts";
    case StoredKind::tunings: return "tunings";
    case StoredKind::expected: return "expected";
    case StoredKind::trial: break;
  }
  return "trial";
}

}  // namespace

StoredIdentity identity_of(const Capabilities& caps, uint64_t shaders) {
  StoredIdentity id;
  id.vendor_id = caps.vendor_id;
  id.device_id = caps.device_id;
  id.driver_version = caps.driver_version;
  id.api_version = caps.api_version;
  id.device_uuid = caps.uuid;
  id.shaders = shaders;
  Capabilities lasting = caps;
  lasting.heap_bytes = lasting.max_allocation = 0;  // memory left by the system does not affect kernels
  id.capabilities = checksum(bytes_of(to_json(lasting)));
  std::string place = format("%x %x ", caps.vendor_id, caps.device_id) + caps.device_name + "\n" + caps.driver_name;
  for (const std::string& mask : caps.masks) place += "\n" + mask;
  id.place = checksum(bytes_of(place), checksum(std::as_bytes(std::span(caps.uuid))));
  return id;
}

std::string stored_key(StoredKind kind, const StoredIdentity& identity) {
  return format("%s-%016x", name_of(kind), identity.place);
}

Blob seal(StoredKind kind, const StoredIdentity& identity, std::span<const std::byte> payload) {
  Blob blob = header_of(kind, identity, payload);
  blob.insert(blob.end(), payload.begin(), payload.end());
  return blob;
}

std::optional<Blob> unseal(StoredKind kind, const StoredIdentity& identity, std::span<const std::byte> blob) {
  if (blob.size() < header_bytes()) return {};
  const auto payload = blob.subspan(header_bytes());
  const Blob wanted = header_of(kind, identity, payload);
  if (!std::equal(wanted.begin(), wanted.end(), blob.begin())) return {};
  return Blob(payload.begin(), payload.end());
}

// A header ends with the payload's size, the payload's checksum, and that of the header before it.
bool is_whole(std::span<const std::byte> blob) {
  const size_t end = header_bytes();
  if (blob.size() < end) return false;
  const auto payload = blob.subspan(end);
  return number_at(blob, end - 24) == payload.size() && number_at(blob, end - 16) == checksum(payload) &&
         number_at(blob, end - 8) == checksum(blob.first(end - 8));
}

}  // namespace lapilli::vulkan
