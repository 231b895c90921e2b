// Capabilities as JSON: one table of members serves writing, reading and the check against the floor.
#include "vulkan/caps/capabilities_json.hpp"

#include <nlohmann/json.hpp>
#include <type_traits>

namespace lapilli {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTypeNames[] = {"other", "integrated", "discrete", "virtual", "cpu"};

// Relation of a number to the floor's value.
enum class Floor { none, at_least, at_most };

// Calls visit(name, member, floor) for every member, in the order of the struct.
template <class Caps, class Visit>
void for_members(Caps& c, Visit&& visit) {
#define LAPILLI_M(name, floor) visit(#name, c.name, Floor::floor);
  LAPILLI_M(device_name, none)
  LAPILLI_M(driver_name, none)
  LAPILLI_M(driver_info, none)
  LAPILLI_M(vendor_id, none)
  LAPILLI_M(device_id, none)
  LAPILLI_M(driver_version, none)
  LAPILLI_M(api_version, at_least)
  LAPILLI_M(uuid, none)
  LAPILLI_M(type, none)
  LAPILLI_M(max_storage_range, at_least)
  LAPILLI_M(max_uniform_range, at_least)
  LAPILLI_M(max_push_bytes, at_least)
  LAPILLI_M(max_storage_buffers, at_least)
  LAPILLI_M(max_uniform_buffers, at_least)
  LAPILLI_M(max_invocations, at_least)
  LAPILLI_M(max_group_size, at_least)
  LAPILLI_M(max_group_count, at_least)
  LAPILLI_M(shared_memory, at_least)
  LAPILLI_M(storage_alignment, at_most)
  LAPILLI_M(uniform_alignment, at_most)
  LAPILLI_M(non_coherent_atom, at_most)
  LAPILLI_M(max_allocation, at_least)
  LAPILLI_M(heap_bytes, none)
  LAPILLI_M(subgroup_size, at_least)
  LAPILLI_M(min_subgroup_size, at_least)
  LAPILLI_M(max_subgroup_size, at_least)
  LAPILLI_M(subgroup_arithmetic, none)
  LAPILLI_M(subgroup_shuffle, none)
  LAPILLI_M(subgroup_size_control, none)
  LAPILLI_M(timeline_semaphore, none)
  LAPILLI_M(storage_16bit, none)
  LAPILLI_M(arithmetic_fp16, none)
  LAPILLI_M(storage_8bit, none)
  LAPILLI_M(arithmetic_int8, none)
  LAPILLI_M(integer_dot, none)
  LAPILLI_M(cooperative_matrix, none)
  LAPILLI_M(texels, none)
  LAPILLI_M(packed_halves, none)
  LAPILLI_M(memory_budget, none)
  LAPILLI_M(indirect_dispatch, none)
  LAPILLI_M(unified_memory, none)
  LAPILLI_M(timestamps, none)
  LAPILLI_M(timestamp_period, none)
  LAPILLI_M(quirks, none)
  LAPILLI_M(masks, none)
#undef LAPILLI_M
}

std::string uuid_text(const std::array<uint8_t, 16>& uuid) {
  std::string s;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) s += '-';
    s += format("%02x", uuid[i]);
  }
  return s;
}

bool parse_uuid(const std::string& s, std::array<uint8_t, 16>& uuid) {
  size_t digits = 0;
  for (const char ch : s) {
    if (ch == '-') continue;
    const int v = ch >= '0' && ch <= '9'   ? ch - '0'
                  : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
                  : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                           : -1;
    if (v < 0 || digits >= 32) return false;
    uint8_t& byte = uuid[digits / 2];
    byte = static_cast<uint8_t>(digits % 2 ? byte | v : v << 4);
    ++digits;
  }
  return digits == 32;
}

struct Writer {
  Json out;
  template <class T>
  void operator()(const char* name, const T& value, Floor) {
    out[name] = value;
  }
  void operator()(const char* name, const std::array<uint8_t, 16>& value, Floor) { out[name] = uuid_text(value); }
  void operator()(const char* name, const DeviceType& value, Floor) {
    out[name] = kTypeNames[static_cast<size_t>(value)];
  }
};

struct Reader {
  const Json& in;
  size_t found = 0;
  Status status;

  void refuse(const char* name, const std::string& what) {
    if (status) status = fail(ErrorCode::invalid_data, "capabilities: member '%s' %s", name, what);
  }

  static bool get(const Json& j, std::string& v) { return j.is_string() && (v = j.get<std::string>(), true); }
  static bool get(const Json& j, bool& v) { return j.is_boolean() && (v = j.get<bool>(), true); }
  static bool get(const Json& j, float& v) {
    if (!j.is_number()) return false;
    const double d = j.get<double>();
    return d >= 0 && d <= 1e9 && (v = static_cast<float>(d), true);
  }
  static bool get(const Json& j, uint64_t& v) { return j.is_number_unsigned() && (v = j.get<uint64_t>(), true); }
  static bool get(const Json& j, uint32_t& v) {
    uint64_t wide = 0;
    return get(j, wide) && wide <= UINT32_MAX && (v = static_cast<uint32_t>(wide), true);
  }
  static bool get(const Json& j, std::array<uint8_t, 16>& v) {
    return j.is_string() && parse_uuid(j.get<std::string>(), v);
  }
  static bool get(const Json& j, DeviceType& v) {
    for (size_t i = 0; j.is_string() && i < std::size(kTypeNames); ++i) {
      if (j.get<std::string>() == kTypeNames[i]) return v = static_cast<DeviceType>(i), true;
    }
    return false;
  }
  static bool get(const Json& j, std::array<uint32_t, 3>& v) {
    return j.is_array() && j.size() == 3 && get(j[0], v[0]) && get(j[1], v[1]) && get(j[2], v[2]);
  }
  static bool get(const Json& j, std::vector<std::string>& v) {
    if (!j.is_array() || j.size() > 64) return false;
    v.resize(j.size());
    for (size_t i = 0; i < v.size(); ++i) {
      if (!get(j[i], v[i])) return false;
    }
    return true;
  }

  template <class T>
  static bool above(const T& v, const T& f) {
    return v >= f;
  }
  static bool above(const std::array<uint32_t, 3>& v, const std::array<uint32_t, 3>& f) {
    return v[0] >= f[0] && v[1] >= f[1] && v[2] >= f[2];
  }
};

}  // namespace

std::string to_json(const Capabilities& caps) {
  Writer w;
  for_members(caps, w);
  return w.out.dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<Capabilities> capabilities_from_json(const std::string& json) {
  const Json in = Json::parse(json, nullptr, false);
  if (in.is_discarded()) return fail(ErrorCode::invalid_data, "capabilities: not valid JSON");
  if (!in.is_object()) return fail(ErrorCode::invalid_data, "capabilities: not a JSON object");
  Capabilities caps;
  Capabilities floor;
  Reader r{in};
  // Walks the result and the floor in parallel; both visit the names in the same order.
  std::vector<std::pair<const char*, const void*>> floors;
  for_members(floor, [&](const char* name, auto& member, Floor) { floors.emplace_back(name, &member); });
  size_t index = 0;
  for_members(caps, [&](const char* name, auto& member, Floor kind) {
    using T = std::remove_reference_t<decltype(member)>;
    const T& least = *static_cast<const T*>(floors[index++].second);
    const auto it = in.find(name);
    if (it == in.end()) return;
    ++r.found;
    if (!Reader::get(*it, member)) return r.refuse(name, "has a wrong type or value");
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::array<uint32_t, 3>>) {
      if (kind == Floor::at_least && !Reader::above(member, least)) r.refuse(name, "is below the floor");
      if (kind == Floor::at_most && !Reader::above(least, member)) r.refuse(name, "is above the floor's");
    }
    if constexpr (std::is_same_v<T, uint64_t>) {
      if (kind == Floor::at_most && (member == 0 || (member & (member - 1)))) r.refuse(name, "is not a power of two");
    }
  });
  LAPILLI_CHECK(r.status);
  if (r.found != in.size()) {
    for (const auto& [key, value] : in.items()) {
      bool known = key == "work_limit";  // in files of earlier versions; it is no capability
      for (const auto& [name, member] : floors) known = known || key == name;
      if (!known) {
        return fail(ErrorCode::invalid_data, "capabilities: unknown member '%.80s'", key);
      }
    }
  }
  return caps;
}

}  // namespace lapilli
