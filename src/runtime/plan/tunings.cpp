#include "runtime/plan/tunings.hpp"

#include <nlohmann/json.hpp>

#include "runtime/plan/json_blob.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {

namespace {

using Json = nlohmann::json;

constexpr size_t kMostChoices = 1 << 14;
constexpr size_t kMostBytes = 256;  // per name

bool read_name(const Json& entry, std::string& name) {
  if (!entry.is_string()) return false;
  name = entry.get<std::string>();
  return name.size() <= kMostBytes;
}

bool read_number(const Json& entry, uint32_t& number) {
  if (!entry.is_number_unsigned() || entry.get<uint64_t>() > UINT32_MAX) return false;
  number = entry.get<uint32_t>();
  return true;
}

// [op, node, in order, variant, local, each]
bool read_choice(const Json& entry, TuningKey& key, TunedChoice& choice) {
  if (!entry.is_array() || entry.size() != 6 || !entry[2].is_boolean()) return false;
  key.in_order = entry[2].get<bool>();
  return read_name(entry[0], key.op) && read_name(entry[1], key.node) && read_name(entry[3], choice.variant) &&
         read_number(entry[4], choice.numbers.local) && read_number(entry[5], choice.numbers.each);
}

}  // namespace

const TunedChoice* Tunings::find(const TuningKey& key) const {
  const auto at = choices_.find(key);
  return at == choices_.end() ? nullptr : &at->second;
}

void Tunings::set(const TuningKey& key, TunedChoice choice) {
  if (choices_.size() < kMostChoices || choices_.contains(key)) choices_[key] = std::move(choice);
}

Blob blob_of(const Tunings& tunings) {
  Json json = Json::array();
  for (const auto& [key, choice] : tunings.all())
    json.push_back(
        Json::array({key.op, key.node, key.in_order, choice.variant, choice.numbers.local, choice.numbers.each}));
  return json_blob(json);
}

Tunings tunings_of(const Blob& blob) {
  const Json json = json_of(blob);
  if (!json.is_array()) return {};
  Tunings tunings;
  for (const Json& entry : json) {
    TuningKey key;
    TunedChoice choice;
    if (!read_choice(entry, key, choice)) return {};
    tunings.set(key, std::move(choice));
  }
  return tunings;
}

std::shared_ptr<const Tunings> tunings_on(vulkan::Device& device) {
  const auto make = [&] {
    vulkan::PersistentCache* const cache = device.persistent_cache();
    return std::make_shared<Tunings>(cache ? tunings_of(cache->take(vulkan::StoredKind::tunings)) : Tunings());
  };
  return std::static_pointer_cast<const Tunings>(device.companion(make, vulkan::Device::Companion::tunings));
}

}  // namespace lapilli
