#include "vulkan/device/choose.hpp"

#include <algorithm>
#include <cctype>

namespace lapilli::vulkan {
namespace {

std::string lower(std::string s) {
  for (char& c : s) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return s;
}

bool has_uuid(const Capabilities& caps) {
  return std::any_of(caps.uuid.begin(), caps.uuid.end(), [](uint8_t b) { return b != 0; });
}

}  // namespace

std::string uuid_digits(const Capabilities& caps) {
  std::string s;
  for (const uint8_t b : caps.uuid) s += format("%02x", b);
  return s;
}

bool same_gpu(const DeviceInfo& a, const DeviceInfo& b) {
  const Capabilities &left = a.caps, &right = b.caps;
  if (left.type == DeviceType::cpu || right.type == DeviceType::cpu) return false;
  if (left.vendor_id != right.vendor_id || left.device_id != right.device_id) return false;
  if (has_uuid(left) && left.uuid == right.uuid) return true;
  // One driver shows slices of a GPU at one address, with a UUID each.
  return !a.pci.empty() && a.pci == b.pci && left.driver_name != right.driver_name;
}

std::string table_of(std::span<const DeviceInfo> devices) {
  std::string s;
  for (const DeviceInfo& d : devices) {
    s += format("\n  %u: %s", d.index, describe(d.caps));
    if (!d.refusal.empty()) s += " - " + d.refusal;
  }
  return s;
}

namespace {

// A driver that translates to another API: correct, but slower than a native one.
bool layered(const Capabilities& caps) { return lower(caps.driver_name).find("dozen") != std::string::npos; }

bool all_digits(const std::string& s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c); });
}

// The usable device with the highest score among those that `match` accepts; the first of equals. -1: none.
template <class Match>
int best(std::span<const DeviceInfo> devices, Match match) {
  int found = -1;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (!devices[i].refusal.empty() || !match(devices[i])) continue;
    if (found < 0 || devices[i].score > devices[static_cast<size_t>(found)].score) found = static_cast<int>(i);
  }
  return found;
}

// A whole number is always an index, even if names contain these digits: if a device is missing, no other may take its
// place.
bool is_index(const std::string& select) {
  constexpr size_t kUuidDigits = 32;
  return all_digits(select) && select.size() < kUuidDigits;
}

// With the domain, or without if it is 0: "0000:81:00.0", "81:00.0".
bool is_address(const std::string& pci, const std::string& select) {
  return !pci.empty() && (select == pci || "0000:" + select == pci);
}

// An index; otherwise a UUID, an address or part of a name.
std::vector<size_t> matches(std::span<const DeviceInfo> devices, const std::string& select) {
  std::vector<size_t> found;
  if (is_index(select)) {
    for (size_t i = 0; i < devices.size(); ++i) {
      if (std::to_string(devices[i].index) == select) found.push_back(i);
    }
    return found;
  }
  std::string digits = lower(select);
  digits.erase(std::remove(digits.begin(), digits.end(), '-'), digits.end());
  for (size_t i = 0; i < devices.size(); ++i) {
    if (has_uuid(devices[i].caps) && uuid_digits(devices[i].caps) == digits) found.push_back(i);
    if (is_address(devices[i].pci, lower(select))) found.push_back(i);
  }
  if (!found.empty()) return found;
  for (size_t i = 0; i < devices.size(); ++i) {
    const std::string name = lower(devices[i].caps.device_name + " " + devices[i].caps.driver_name);
    if (name.find(lower(select)) != std::string::npos) found.push_back(i);
  }
  return found;
}

Result<size_t> take_selected(std::span<DeviceInfo> devices, const std::string& select) {
  const std::vector<size_t> found = matches(devices, select);
  if (found.empty()) {
    return fail(ErrorCode::no_device, "no device has the %s '%s'; there are:%s",
                is_index(select) ? "index" : "UUID or name", select, table_of(devices));
  }
  const auto is_match = [&](const DeviceInfo& d) {
    return std::any_of(found.begin(), found.end(), [&](size_t i) { return &devices[i] == &d; });
  };
  const int i = best(devices, is_match);
  if (i < 0) {
    const DeviceInfo& d = devices[found[0]];
    return fail(ErrorCode::no_device, "device '%s' (%s) cannot be used: %s", select, describe(d.caps), d.refusal);
  }
  for (DeviceInfo& d : devices) {
    if (d.refusal.empty() && &d != &devices[static_cast<size_t>(i)]) {
      d.refusal = is_match(d) ? "another device that '" + select + "' names has a higher score"
                              : "'" + select + "' was asked for";
    }
  }
  return static_cast<size_t>(i);
}

// Keeps only the best of several drivers for one GPU.
void pass_over_duplicates(std::span<DeviceInfo> devices) {
  for (DeviceInfo& a : devices) {
    for (const DeviceInfo& b : devices) {
      if (&a == &b || !a.refusal.empty() || !b.refusal.empty() || !same_gpu(a, b)) continue;
      if (b.score > a.score || (b.score == a.score && &b < &a)) {
        a.refusal = format("the same GPU as device %u, whose driver (%s) is preferred", b.index, b.caps.driver_name);
      }
    }
  }
}

}  // namespace

std::string describe(const Capabilities& caps) {
  std::string driver =
      lower(caps.device_name).find(lower(caps.driver_name)) == std::string::npos ? caps.driver_name : "";
  if (!driver.empty() && !caps.driver_info.empty()) driver += " ";
  driver += caps.driver_info;
  return driver.empty() ? caps.device_name : caps.device_name + ", " + driver;
}

int64_t score_device(const Capabilities& caps, std::string* reason) {
  int64_t score = 0;
  std::string why;
  const auto add = [&](const std::string& name, int64_t points) {
    if (points == 0) return;
    if (!why.empty()) why += points < 0 ? " - " : " + ";
    why += name + " " + std::to_string(points < 0 ? -points : points);
    score += points;
  };
  switch (caps.type) {
    case DeviceType::discrete: add("discrete GPU", 4000); break;
    case DeviceType::integrated: add("integrated GPU", 3000); break;
    case DeviceType::virtual_gpu: add("virtual GPU", 2000); break;
    case DeviceType::other: add("other device", 1000); break;
    case DeviceType::cpu: add("CPU", 100); break;
  }
  add("GiB of memory", static_cast<int64_t>(std::min<uint64_t>(caps.heap_bytes >> 30, 256)));
  add("fp16", caps.arithmetic_fp16 ? 50 : 0);
  add("16-bit storage", caps.storage_16bit ? 20 : 0);
  add("integer dot", caps.integer_dot ? 20 : 0);
  add("subgroups", caps.subgroup_size > 1 ? 20 : 0);
  add("timeline", caps.timeline_semaphore ? 10 : 0);
  if (layered(caps)) add("translating driver", -500);
  if (reason) *reason = std::move(why);
  return score;
}

Result<size_t> choose_device(std::span<DeviceInfo> devices, const std::string& select) {
  for (DeviceInfo& d : devices) {
    d.chosen = false;
    d.score = score_device(d.caps, &d.score_reason);
  }
  if (devices.empty()) return fail(ErrorCode::no_device, "there is no Vulkan device");
  if (!select.empty()) {
    LAPILLI_TRY(const size_t i, take_selected(devices, select));
    devices[i].chosen = true;
    return i;
  }
  pass_over_duplicates(devices);
  int i = best(devices, [](const DeviceInfo& d) { return d.caps.type != DeviceType::cpu; });
  if (i >= 0) {
    for (DeviceInfo& d : devices) {
      if (d.refusal.empty() && d.caps.type == DeviceType::cpu) {
        d.refusal = "a CPU driver: taken only if it is asked for or alone";
      }
    }
  } else {
    i = best(devices, [](const DeviceInfo&) { return true; });
  }
  if (i < 0) {
    return fail(ErrorCode::no_device, "no Vulkan device can be used:%s", table_of(devices));
  }
  DeviceInfo& chosen = devices[static_cast<size_t>(i)];
  chosen.chosen = true;
  for (DeviceInfo& d : devices) {
    if (d.refusal.empty() && &d != &chosen) d.refusal = format("device %u has a higher score", chosen.index);
  }
  return static_cast<size_t>(i);
}

namespace {

// Every GPU once; where there is none, the CPU. The devices have their scores.
Result<std::vector<size_t>> all_gpus(std::span<DeviceInfo> devices) {
  pass_over_duplicates(devices);
  std::vector<size_t> gpus;
  for (size_t i = 0; i < devices.size(); ++i) {
    devices[i].chosen = devices[i].refusal.empty() && devices[i].caps.type != DeviceType::cpu;
    if (devices[i].chosen) gpus.push_back(i);
  }
  if (!gpus.empty()) return gpus;
  LAPILLI_TRY(const size_t only, choose_device(devices, ""));
  return std::vector<size_t>{only};
}

// Refuses what was not assigned, and checks the others.
Status take_assigned(std::span<DeviceInfo> devices, const std::vector<size_t>& taken, const std::string& why) {
  for (size_t i = 0; i < devices.size(); ++i) {
    DeviceInfo& d = devices[i];
    d.chosen = std::find(taken.begin(), taken.end(), i) != taken.end();
    if (d.chosen && !d.refusal.empty())
      return fail(ErrorCode::no_device, "%s assigns %s to this process, which cannot be used: %s", why,
                  describe(d.caps), d.refusal);
    if (!d.chosen && d.refusal.empty()) d.refusal = "it is not assigned to this process (" + why + ")";
  }
  return {};
}

// No GPU is assigned, and one that is there belongs to another process.
Result<DeviceChoice> take_cpu(std::span<DeviceInfo> devices, const std::string& why) {
  for (DeviceInfo& d : devices)
    if (d.caps.type != DeviceType::cpu && d.refusal.empty())
      d.refusal = "no GPU is assigned to this process (" + why + ")";
  LAPILLI_TRY(const size_t i, choose_device(devices, ""));
  return DeviceChoice{{i}, why + ": no GPU is assigned", false};
}

Result<DeviceChoice> choose_assigned(std::span<DeviceInfo> devices, bool all, const Environment& environment) {
  for (DeviceInfo& d : devices) d.score = score_device(d.caps, &d.score_reason);
  LAPILLI_TRY(const Assignment assigned, assigned_devices(devices, environment));
  if (assigned.given && assigned.devices.empty()) return take_cpu(devices, assigned.why);
  if (assigned.given) {
    const auto taken = all ? assigned.devices : std::vector<size_t>{assigned.devices[assigned.own]};
    LAPILLI_CHECK(take_assigned(devices, taken, assigned.why));
    return DeviceChoice{taken, assigned.why, false};
  }
  DeviceChoice choice;
  if (all) {
    LAPILLI_TRY(choice.devices, all_gpus(devices));
    return choice;
  }
  LAPILLI_TRY(const size_t best_one, choose_device(devices, ""));
  return DeviceChoice{{best_one}, "", true};
}

std::vector<std::string> words_of(const std::string& list) {
  std::vector<std::string> words(1);
  for (const char c : list) {
    if (c == ',')
      words.emplace_back();
    else if (c != ' ' || !words.back().empty())
      words.back() += c;
  }
  return words;
}

// A device may be named twice: it is then opened twice.
Result<DeviceChoice> choose_listed(std::span<DeviceInfo> devices, const std::vector<std::string>& words) {
  DeviceChoice choice;
  const std::vector<DeviceInfo> before(devices.begin(), devices.end());
  for (const std::string& word : words) {
    std::copy(before.begin(), before.end(), devices.begin());
    if (word.empty()) return fail(ErrorCode::invalid_argument, "a device in the list has no name");
    LAPILLI_TRY(const size_t i, choose_device(devices, word));
    choice.devices.push_back(i);
  }
  for (size_t i = 0; i < devices.size(); ++i) {
    const auto& taken = choice.devices;
    devices[i].chosen = std::find(taken.begin(), taken.end(), i) != taken.end();
    if (devices[i].chosen) devices[i].refusal.clear();
  }
  return choice;
}

}  // namespace

// Names hold commas, too.
Result<DeviceChoice> choose_devices(std::span<DeviceInfo> devices, const std::string& select,
                                    const Environment& environment) {
  if (select == "assigned" || select == "all") return choose_assigned(devices, select == "all", environment);
  const auto words = words_of(select);
  if (words.size() > 1 && matches(devices, select).empty()) return choose_listed(devices, words);
  LAPILLI_TRY(const size_t i, choose_device(devices, select));
  return DeviceChoice{{i}, "", select.empty()};
}

}  // namespace lapilli::vulkan
