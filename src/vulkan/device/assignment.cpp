#include "vulkan/device/assignment.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/path.hpp"
#include "vulkan/device/choose.hpp"

namespace lapilli::vulkan {
namespace {

using Places = std::vector<size_t>;

constexpr uint32_t kNvidiaVendor = 0x10de, kAmdVendor = 0x1002, kIntelVendor = 0x8086, kAnyVendor = 0;
constexpr size_t kMostGpus = 4096;     // of a machine; longer lists are no lists of its GPUs
constexpr size_t kUnassigned = 10000;  // HTCondor's number for a job without a GPU

// The GPUs that a list names.
struct Found {
  Places places;
  std::string fault;  // why the list ends before its end, or names none; empty: it does not
};

std::vector<std::string> entries_of(const std::string& list) {
  std::vector<std::string> entries(1);
  for (const char c : list) {
    if (c == ',' && entries.size() == kMostGpus) break;
    if (c == ',')
      entries.emplace_back();
    else if (!std::isspace(static_cast<unsigned char>(c)))
      entries.back() += c;
  }
  return entries;
}

// The number that a text begins with, as strtoul reads it; nothing if it begins with none.
std::optional<size_t> number_at(const std::string& text, size_t at = 0) {
  size_t number = 0, digits = 0;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) && digits < 9; ++at, ++digits)
    number = number * 10 + static_cast<size_t>(text[at] - '0');
  if (digits == 0) return std::nullopt;
  return number;
}

// Words that end a list, and alone assign no GPU. Any other word may be a GPU that was assigned.
bool is_none(const std::string& entry) {
  std::string word;
  for (const char c : entry) word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word.empty() || word == "nodevfiles" || word == "none" || word == "void" ||
         (word[0] == '-' && number_at(word, 1)) || number_at(word) == kUnassigned;
}

std::string hexadecimal(const std::string& text) {
  std::string digits;
  for (const char c : text)
    if (c != '-') digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return digits;
}

// Values come from outside and stand in messages.
std::string shown(const std::string& value) {
  constexpr size_t kMost = 200;
  std::string text = value.substr(0, kMost);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  return value.size() > kMost ? text + "..." : text;
}

class Reading {
 public:
  Reading(std::span<const DeviceInfo> devices, const Environment& environment)
      : devices_(devices), environment_(environment) {}
  Result<Assignment> read();

 private:
  [[nodiscard]] const std::string* value(const char* name) const {
    const auto found = environment_.find(name);
    return found == environment_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const Capabilities& caps(size_t place) const { return devices_[place].caps; }
  [[nodiscard]] bool is_other_drivers(size_t place) const;
  [[nodiscard]] Places gpus_of(uint32_t vendor) const;
  [[nodiscard]] Places in_cudas_order() const;
  [[nodiscard]] Places node_gpus() const;
  [[nodiscard]] Found by_uuid(const std::string& entry, const Places& visible) const;
  [[nodiscard]] Found by_entry(const std::string& entry, const Places& visible) const;
  [[nodiscard]] Found named(const std::string& list, const Places& visible) const;
  [[nodiscard]] Found by_node(const std::string& list) const;
  [[nodiscard]] Found amds(const Places& visible) const;
  void add(const Found& found, std::initializer_list<const char*> variables);
  void read_vendors();
  void read_htcondor();
  void read_slurm();
  void drop_integrated();
  void take_own();

  const std::span<const DeviceInfo> devices_;
  const Environment& environment_;
  Assignment made_;
  std::string fault_;
};

// The same GPU under a driver that is preferred counts instead.
bool Reading::is_other_drivers(size_t place) const {
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (i == place || !devices_[i].refusal.empty() || !same_gpu(devices_[i], devices_[place])) continue;
    const int64_t other = score_device(caps(i), nullptr), own = score_device(caps(place), nullptr);
    if (!devices_[place].refusal.empty() || other > own || (other == own && i < place)) return true;
  }
  return false;
}

// By their addresses; those without one keep Vulkan's order behind them.
Places Reading::gpus_of(uint32_t vendor) const {
  Places places;
  for (size_t i = 0; i < devices_.size(); ++i) {
    const bool counts = vendor == kAnyVendor || caps(i).vendor_id == vendor;
    if (caps(i).type != DeviceType::cpu && counts && !is_other_drivers(i)) places.push_back(i);
  }
  std::stable_sort(places.begin(), places.end(), [&](size_t a, size_t b) {
    const std::string &left = devices_[a].pci, &right = devices_[b].pci;
    return left.empty() != right.empty() ? right.empty() : left < right;
  });
  return places;
}

// CUDA's own default puts the fastest first, by a measure that is not published, and the others by their addresses.
Places Reading::in_cudas_order() const {
  Places places = gpus_of(kNvidiaVendor);
  const std::string* order = value("CUDA_DEVICE_ORDER");
  if (places.empty() || (order && *order == "PCI_BUS_ID")) return places;
  const auto fastest = std::max_element(places.begin(), places.end(), [&](size_t a, size_t b) {
    return score_device(caps(a), nullptr) < score_device(caps(b), nullptr);
  });
  std::rotate(places.begin(), fastest, fastest + 1);
  return places;
}

// Those that a scheduler counts: cards, and integrated ones only where there are no cards.
Places Reading::node_gpus() const {
  Places all = gpus_of(kAnyVendor), cards;
  for (const size_t place : all)
    if (caps(place).type != DeviceType::integrated) cards.push_back(place);
  return cards.empty() ? all : cards;
}

Found Reading::by_uuid(const std::string& entry, const Places& visible) const {
  const bool slice = entry.starts_with("MIG-");
  const std::string digits = hexadecimal(entry.substr(4));
  Found found;
  for (const size_t place : visible) {
    const std::string uuid = uuid_digits(caps(place));
    if (digits.empty() || (!uuid.starts_with(digits) && !devices_[place].serial.starts_with(digits))) continue;
    found.places.push_back(place);
  }
  if (found.places.size() > 1) found = {{}, format("%u GPUs have a UUID that begins so", found.places.size())};
  if (!found.places.empty() || !found.fault.empty()) return found;
  return {{}, slice ? "it is a slice of a GPU (MIG), and no Vulkan device stands for it" : "no Vulkan device has it"};
}

// One entry: a place, or none and perhaps why.
Found Reading::by_entry(const std::string& entry, const Places& visible) const {
  if (entry.starts_with("GPU-") || entry.starts_with("MIG-")) return by_uuid(entry, visible);
  if (is_none(entry)) return {};
  const auto index = number_at(entry);
  if (!index) return {{}, "it is no number and no UUID of a GPU"};
  if (entry.find('.') != std::string::npos) return {{}, "it is a part of a GPU, and no Vulkan device stands for it"};
  if (*index >= visible.size())
    return {{},
            visible.empty() ? std::string("Vulkan shows none of them")
                            : format("it counts from 0, and Vulkan shows %u of them", visible.size())};
  return {{visible[*index]}, ""};
}

// As CUDA reads its list: it ends before the first entry that is wrong, and one that names a GPU twice names none.
Found Reading::named(const std::string& list, const Places& visible) const {
  Found all;
  for (const std::string& entry : entries_of(list)) {
    if (all.places.size() >= kMostGpus) break;
    const Found one = by_entry(entry, visible);
    if (one.places.empty()) {
      if (!one.fault.empty()) all.fault = format("'%s': %s", shown(entry), one.fault);
      break;
    }
    if (std::find(all.places.begin(), all.places.end(), one.places[0]) != all.places.end())
      return {{}, format("'%s' names a GPU a second time, and such a list names none", shown(entry))};
    all.places.push_back(one.places[0]);
  }
  return all;
}

// Numbers and ranges of the node's GPUs; nothing if it is no such list.
std::optional<std::vector<size_t>> node_numbers(const std::string& list) {
  std::vector<size_t> numbers;
  for (const std::string& entry : entries_of(list)) {
    const auto first = number_at(entry);
    const size_t dash = entry.find('-');
    const auto last = dash == std::string::npos ? first : number_at(entry, dash + 1);
    if (!first || !last || *last < *first || *last >= kMostGpus) return std::nullopt;
    for (size_t number = *first; number <= *last && numbers.size() < kMostGpus; ++number) numbers.push_back(number);
  }
  return numbers;
}

// In a cgroup exactly the assigned ones are seen, whatever their numbers on the node are.
Found Reading::by_node(const std::string& list) const {
  const auto entries = entries_of(list);
  if (entries.size() == 1 && is_none(entries[0])) return {};
  const auto numbers = node_numbers(list);
  if (!numbers) return {{}, "it is no list of GPUs' numbers"};
  Found found;
  const Places visible = node_gpus();
  if (visible.size() == numbers->size()) return {visible, ""};
  for (const size_t number : *numbers) {
    if (number >= visible.size() || visible.size() < numbers->size())
      return {{}, format("it names GPU %u of the node, and Vulkan shows %u", number, visible.size())};
    found.places.push_back(visible[number]);
  }
  return found;
}

// HIP counts what ROCR leaves, and heeds CUDA's variable where its own is not set.
Found Reading::amds(const Places& visible) const {
  const std::string *rocr = value("ROCR_VISIBLE_DEVICES"), *hip = value("HIP_VISIBLE_DEVICES");
  if (!rocr && !hip) hip = value("CUDA_VISIBLE_DEVICES");
  Found found{visible, ""};
  if (rocr) found = named(*rocr, visible);
  if (!hip || found.places.empty()) return found;
  Found left = named(*hip, found.places);
  if (left.fault.empty()) left.fault = found.fault;
  return left;
}

void Reading::add(const Found& found, std::initializer_list<const char*> variables) {
  std::string said;
  for (const char* name : variables)
    if (const std::string* text = value(name)) said += (said.empty() ? "" : ", ") + (name + ("=" + shown(*text)));
  made_.given = true;
  if (!found.places.empty() || made_.why.empty()) made_.why += (made_.why.empty() ? "" : ", ") + said;
  if (!found.fault.empty() && !found.places.empty()) made_.why += " (the list ends before " + found.fault + ")";
  if (!found.fault.empty() && fault_.empty()) fault_ = said + ": " + found.fault;
  for (const size_t place : found.places)
    if (std::find(made_.devices.begin(), made_.devices.end(), place) == made_.devices.end())
      made_.devices.push_back(place);
}

// A scheduler that does not know the vendor sets the variables of all.
void Reading::read_vendors() {
  const Places nvidia = in_cudas_order(), amd = gpus_of(kAmdVendor), intel = gpus_of(kIntelVendor);
  const bool rocm = value("ROCR_VISIBLE_DEVICES") || value("HIP_VISIBLE_DEVICES");
  if (const std::string* list = value("CUDA_VISIBLE_DEVICES"); list && (!nvidia.empty() || amd.empty()))
    add(named(*list, nvidia), {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"});
  if (rocm)
    add(amds(amd), {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES"});
  else if (value("CUDA_VISIBLE_DEVICES") && !amd.empty())
    add(amds(amd), {"CUDA_VISIBLE_DEVICES"});
  if (const std::string* list = value("ZE_AFFINITY_MASK")) add(named(*list, intel), {"ZE_AFFINITY_MASK"});
  drop_integrated();
}

// "CUDA0", "GPU-1a2b3c4d", "0"
void Reading::read_htcondor() {
  const std::string* list = value("_CONDOR_AssignedGPUs");
  if (!list) return;
  std::string entries;
  for (std::string entry : entries_of(*list)) {
    if (!entry.starts_with("GPU-") && !entry.starts_with("MIG-")) {
      const size_t number = entry.find_first_of("-0123456789");
      if (number != std::string::npos) entry.erase(0, number);
    }
    entries += (entries.empty() ? "" : ",") + entry;
  }
  const Places nvidia = in_cudas_order();
  add(named(entries, nvidia.empty() ? node_gpus() : nvidia), {"_CONDOR_AssignedGPUs"});
}

void Reading::read_slurm() {
  for (const char* name : {"SLURM_STEP_GPUS", "SLURM_JOB_GPUS"}) {
    if (const std::string* list = value(name)) return add(by_node(*list), {name});
  }
}

void Reading::drop_integrated() {
  Places cards;
  for (const size_t place : made_.devices)
    if (caps(place).type != DeviceType::integrated) cards.push_back(place);
  if (!cards.empty()) made_.devices = std::move(cards);
}

void Reading::take_own() {
  const std::string* task = value("SLURM_LOCALID");
  const auto number = task ? number_at(*task) : std::nullopt;
  if (!number || made_.devices.size() < 2) return;
  made_.own = *number % made_.devices.size();
  made_.why += ", SLURM_LOCALID=" + shown(*task);
}

Result<Assignment> Reading::read() {
  read_vendors();
  if (!made_.given) read_htcondor();
  if (!made_.given) read_slurm();
  if (made_.devices.empty() && !fault_.empty())
    return fail(ErrorCode::no_device,
                "a GPU is assigned to this process that is not among the Vulkan devices (%s); there are:%s", fault_,
                table_of(devices_));
  take_own();
  return std::move(made_);
}

}  // namespace

Environment process_environment() {
  Environment environment;
  for (const char* name :
       {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ZE_AFFINITY_MASK",
        "_CONDOR_AssignedGPUs", "SLURM_STEP_GPUS", "SLURM_JOB_GPUS", "SLURM_LOCALID"}) {
    if (const auto value = environment_if_set(name)) environment[name] = *value;
  }
  return environment;
}

Result<Assignment> assigned_devices(std::span<const DeviceInfo> devices, const Environment& environment) {
  return Reading(devices, environment).read();
}

}  // namespace lapilli::vulkan
