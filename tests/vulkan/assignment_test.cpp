#include "vulkan/device/assignment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "vulkan/device/choose.hpp"

namespace lapilli::vulkan {
namespace {

using testing::HasSubstr;

// A device for the tables: its index is its place, its UUID begins with `uuid`.
struct Gpu {
  const char* pci;
  uint32_t vendor = 0x10de;
  const char* uuid = "";
  DeviceType type = DeviceType::discrete;
  uint32_t gib = 80;
  const char* serial = "";
};

uint8_t byte_of(const std::string& digits) { return static_cast<uint8_t>(std::stoul(digits, nullptr, 16)); }

std::vector<DeviceInfo> machine_of(const std::vector<Gpu>& gpus) {
  std::vector<DeviceInfo> devices;
  for (const Gpu& gpu : gpus) {
    DeviceInfo& d = devices.emplace_back();
    d.index = static_cast<uint32_t>(devices.size() - 1);
    d.pci = gpu.pci;
    d.serial = gpu.serial;
    d.caps.device_name = "GPU";
    d.caps.vendor_id = gpu.vendor;
    d.caps.type = gpu.type;
    d.caps.heap_bytes = uint64_t{gpu.gib} << 30;
    const std::string uuid = gpu.uuid;
    for (size_t i = 0; i + 1 < uuid.size(); i += 2) d.caps.uuid[i / 2] = byte_of(uuid.substr(i, 2));
    d.caps.uuid[15] = static_cast<uint8_t>(devices.size());
  }
  return devices;
}

constexpr uint32_t kAmdGpu = 0x1002, kIntelGpu = 0x8086, kMesa = 0x10005;

// Vulkan's order differs from that of the addresses: by them the places are 2, 0, 3, 1.
const std::vector<Gpu> kNode = {{"0000:41:00.0", 0x10de, "8932f937d72c4106"},
                                {"0000:c1:00.0", 0x10de, "8932f937aaaa0000"},
                                {"0000:01:00.0", 0x10de, "11223344d72c4106"},
                                {"0000:81:00.0", 0x10de, "55667788d72c4106"},
                                {"", kMesa, "", DeviceType::cpu}};
const std::vector<Gpu> kCgroup = {{"0000:c1:00.0", 0x10de, "8932f937aaaa0000"}, {"", kMesa, "", DeviceType::cpu}};
const std::vector<Gpu> kUnlike = {{"0000:01:00.0", 0x10de, "01", DeviceType::discrete, 8},
                                  {"0000:41:00.0", 0x10de, "02", DeviceType::discrete, 80}};
const std::vector<Gpu> kAmdNode = {{"0000:21:00.0", kAmdGpu, "", DeviceType::discrete, 64, "deadbeef00000001"},
                                   {"0000:01:00.0", kAmdGpu, "", DeviceType::discrete, 64, "deadbeef00000002"}};
const std::vector<Gpu> kIntelNode = {{"0000:4d:00.0", kIntelGpu}, {"0000:3a:00.0", kIntelGpu}};
const std::vector<Gpu> kLaptop = {{"0000:00:02.0", kIntelGpu, "07", DeviceType::integrated},
                                  {"0000:01:00.0", 0x10de, "09"}};
const std::vector<Gpu> kCpuAlone = {{"", kMesa, "", DeviceType::cpu}};

constexpr int kBest = -1;   // the environment says nothing
constexpr int kNone = -2;   // it assigns no GPU
constexpr int kFails = -3;  // it assigns one that is not there

struct Row {
  const char* what;
  const std::vector<Gpu>& machine;
  Environment environment;
  int chosen;
  std::vector<size_t> all = {};  // under --device all; nothing: the chosen one
  const char* said = "";         // in the reason or in the error
};

// The environments of the cluster's cases 51 to 53, and of vendors' pages.
std::vector<Row> rows() {
  using E = Environment;
  return {
      {"nothing is set", kNode, E{}, kBest},
      {"a task without GPUs sets no variable", kNode, E{{"SLURM_LOCALID", "2"}}, kBest},
      // 51: in a cgroup, and without one
      {"in a cgroup",
       kCgroup,
       E{{"SLURM_JOB_GPUS", "3"}, {"CUDA_VISIBLE_DEVICES", "0"}},
       0,
       {},
       "CUDA_VISIBLE_DEVICES=0"},
      {"without a cgroup",
       kNode,
       E{{"SLURM_JOB_GPUS", "3"}, {"CUDA_VISIBLE_DEVICES", "3"}},
       1,
       {},
       "CUDA_VISIBLE_DEVICES=3"},
      {"Slurm's list alone, in a cgroup", kCgroup, E{{"SLURM_JOB_GPUS", "3"}}, 0, {}, "SLURM_JOB_GPUS=3"},
      {"Slurm's list alone, without a cgroup", kNode, E{{"SLURM_JOB_GPUS", "3"}}, 1},
      {"the step's list comes before the job's", kNode, E{{"SLURM_JOB_GPUS", "0,1,2,3"}, {"SLURM_STEP_GPUS", "1"}}, 0},
      {"a range", kNode, E{{"SLURM_JOB_GPUS", "1-2"}}, 0, {0, 3}},
      {"more GPUs of the node than are seen", kUnlike, E{{"SLURM_JOB_GPUS", "5"}}, kFails, {}, "GPU 5 of the node"},
      {"no list of the node's", kNode, E{{"SLURM_JOB_GPUS", "gpu:0"}}, kFails, {}, "no list of GPUs' numbers"},
      {"an empty list of the node's", kNode, E{{"SLURM_JOB_GPUS", ""}}, kNone},
      // 52: tasks of one step
      {"task 0 of 4", kNode, E{{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"SLURM_LOCALID", "0"}}, 2, {2, 0, 3, 1}},
      {"task 1 of 4", kNode, E{{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"SLURM_LOCALID", "1"}}, 0, {2, 0, 3, 1}},
      {"task 2 of 4", kNode, E{{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"SLURM_LOCALID", "2"}}, 3, {2, 0, 3, 1}},
      {"task 3 of 4",
       kNode,
       E{{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"SLURM_LOCALID", "3"}},
       1,
       {2, 0, 3, 1},
       "SLURM_LOCALID=3"},
      {"task 7 of 8", kNode, E{{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"SLURM_LOCALID", "7"}}, 1, {2, 0, 3, 1}},
      {"task 2 with a GPU of its own", kNode, E{{"CUDA_VISIBLE_DEVICES", "1"}, {"SLURM_LOCALID", "2"}}, 0},
      // 53: what CUDA's guide says
      {"a whole UUID", kNode, E{{"CUDA_VISIBLE_DEVICES", "GPU-55667788-d72c-4106-0000-000000000004"}}, 3},
      {"an abbreviated UUID", kNode, E{{"CUDA_VISIBLE_DEVICES", "GPU-1122"}}, 2},
      {"an ambiguous UUID", kNode, E{{"CUDA_VISIBLE_DEVICES", "GPU-8932f937"}}, kFails, {}, "2 GPUs have a UUID"},
      {"a UUID of no device", kNode, E{{"CUDA_VISIBLE_DEVICES", "GPU-99"}}, kFails, {}, "no Vulkan device has it"},
      {"a slice, old form",
       kNode,
       E{{"CUDA_VISIBLE_DEVICES", "MIG-GPU-8932f937-d72c-4106/1/0"}},
       kFails,
       {},
       "slice of a GPU (MIG)"},
      {"a slice, new form",
       kNode,
       E{{"CUDA_VISIBLE_DEVICES", "MIG-c6d4f1ef-42e4-5de3-91c7"}},
       kFails,
       {},
       "slice of a GPU (MIG)"},
      {"a slice that a device stands for", kNode, E{{"CUDA_VISIBLE_DEVICES", "MIG-55667788-d72c"}}, 3},
      {"empty", kNode, E{{"CUDA_VISIBLE_DEVICES", ""}}, kNone, {}, "CUDA_VISIBLE_DEVICES="},
      {"-1", kNode, E{{"CUDA_VISIBLE_DEVICES", "-1"}}, kNone},
      {"NoDevFiles", kNode, E{{"CUDA_VISIBLE_DEVICES", "NoDevFiles"}}, kNone},
      // A list that is not understood is no empty one: the scheduler did assign.
      {"a word that is no GPU", kNode, E{{"CUDA_VISIBLE_DEVICES", "first"}}, kFails, {}, "no number and no UUID"},
      {"none", kNode, E{{"CUDA_VISIBLE_DEVICES", "none"}}, kNone},
      {"the list ends at -1", kNode, E{{"CUDA_VISIBLE_DEVICES", "0,2,-1,1"}}, 2, {2, 3}},
      {"a GPU twice", kNode, E{{"CUDA_VISIBLE_DEVICES", "1,1"}}, kFails, {}, "a second time"},
      {"the list's order counts", kNode, E{{"CUDA_VISIBLE_DEVICES", " 2, 1 "}}, 3, {3, 0}},
      {"an index beyond the last", kNode, E{{"CUDA_VISIBLE_DEVICES", "4"}}, kFails, {}, "Vulkan shows 4"},
      {"a list that ends beyond the last",
       kNode,
       E{{"CUDA_VISIBLE_DEVICES", "3,4,0"}, {"SLURM_LOCALID", "1"}},
       1,
       {1},
       "the list ends before '4'"},
      {"the fastest first", kUnlike, E{{"CUDA_VISIBLE_DEVICES", "0"}, {"CUDA_DEVICE_ORDER", "FASTEST_FIRST"}}, 1},
      {"by the addresses",
       kUnlike,
       E{{"CUDA_VISIBLE_DEVICES", "0"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}},
       0,
       {},
       "CUDA_DEVICE_ORDER=PCI_BUS_ID"},
      {"CUDA's default order", kUnlike, E{{"CUDA_VISIBLE_DEVICES", "1"}}, 0},
      // HTCondor
      {"HTCondor's names", kNode, E{{"_CONDOR_AssignedGPUs", "CUDA1,CUDA0"}}, 0, {0, 2}, "_CONDOR_AssignedGPUs"},
      {"HTCondor's UUIDs", kNode, E{{"_CONDOR_AssignedGPUs", "GPU-55667788"}}, 3},
      {"CUDA's variable before HTCondor's", kNode,
       E{{"_CONDOR_AssignedGPUs", "CUDA3"}, {"CUDA_VISIBLE_DEVICES", "GPU-1122"}}, 2},
      {"HTCondor's job without a GPU", kNode, E{{"CUDA_VISIBLE_DEVICES", "10000"}, {"_CONDOR_AssignedGPUs", "10000"}},
       kNone},
      {"HTCondor's own variable of such a job", kNode, E{{"_CONDOR_AssignedGPUs", "10000"}}, kNone},
      {"HTCondor's name without a number", kNode, E{{"_CONDOR_AssignedGPUs", "gpu"}}, kFails, {}, "no number"},
      // AMD and Intel
      {"ROCm counts by addresses", kAmdNode, E{{"ROCR_VISIBLE_DEVICES", "0"}}, 1},
      {"ROCm's UUID", kAmdNode, E{{"ROCR_VISIBLE_DEVICES", "GPU-DEADBEEF00000001"}}, 0},
      {"HIP counts what ROCm leaves", kAmdNode, E{{"ROCR_VISIBLE_DEVICES", "1"}, {"HIP_VISIBLE_DEVICES", "0"}}, 0},
      {"HIP's list of a cut one",
       kAmdNode,
       E{{"ROCR_VISIBLE_DEVICES", "0,7"}, {"HIP_VISIBLE_DEVICES", "0"}},
       1,
       {},
       "the list ends before '7'"},
      {"HIP heeds CUDA's variable", kAmdNode, E{{"CUDA_VISIBLE_DEVICES", "1"}}, 0},
      {"HIP heeds CUDA's empty one, too", kAmdNode, E{{"CUDA_VISIBLE_DEVICES", ""}}, kNone},
      {"Intel's mask", kIntelNode, E{{"ZE_AFFINITY_MASK", "1"}}, 0},
      {"Intel's tile", kIntelNode, E{{"ZE_AFFINITY_MASK", "0.1"}}, kFails, {}, "a part of a GPU"},
      // Slurm without AutoDetect sets the variables of all vendors.
      {"all vendors' variables, an integrated GPU beside", kLaptop,
       E{{"CUDA_VISIBLE_DEVICES", "0"}, {"ROCR_VISIBLE_DEVICES", "0"}, {"ZE_AFFINITY_MASK", "0"}}, 1},
      {"all vendors' variables on AMD's node", kAmdNode,
       E{{"CUDA_VISIBLE_DEVICES", "1"}, {"ROCR_VISIBLE_DEVICES", "1"}, {"ZE_AFFINITY_MASK", "1"}}, 0},
      {"a GPU without a Vulkan driver",
       kCpuAlone,
       E{{"CUDA_VISIBLE_DEVICES", "0"}},
       kFails,
       {},
       "not among the Vulkan devices"},
      {"a job's GPU without a Vulkan driver", kCpuAlone, E{{"SLURM_JOB_GPUS", "0"}}, kFails},
      {"no GPU on a machine without", kCpuAlone, E{{"CUDA_VISIBLE_DEVICES", ""}}, kNone},
  };
}

int chosen_under(const Row& row, const char* select, std::vector<size_t>& all, std::string& said) {
  auto devices = machine_of(row.machine);
  const auto choice = choose_devices(devices, select, row.environment);
  if (!choice) {
    EXPECT_EQ(choice.error().code, ErrorCode::no_device);
    said = choice.error().message;
    return kFails;
  }
  all = choice->devices;
  said = choice->why;
  if (choice->free) return kBest;
  return devices[all[0]].caps.type == DeviceType::cpu ? kNone : static_cast<int>(all[0]);
}

TEST(Assignment, OfManyEnvironments) {
  EXPECT_GE(rows().size(), 40u);
  for (const Row& row : rows()) {
    SCOPED_TRACE(row.what);
    const bool has_cpu = row.machine.back().type == DeviceType::cpu;
    std::vector<size_t> all;
    std::string said;
    const int chosen = chosen_under(row, "assigned", all, said);
    EXPECT_EQ(chosen, row.chosen == kNone && !has_cpu ? kFails : row.chosen) << said;
    EXPECT_THAT(said, HasSubstr(row.said));
    if (row.chosen < 0) continue;
    const auto wanted = row.all.empty() ? std::vector<size_t>{static_cast<size_t>(row.chosen)} : row.all;
    chosen_under(row, "all", all, said);
    EXPECT_EQ(all, wanted);
  }
}

TEST(Assignment, ANamedDeviceWins) {
  auto devices = machine_of(kNode);
  const auto choice = choose_devices(devices, "1", {{"CUDA_VISIBLE_DEVICES", "0"}});
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->devices, std::vector<size_t>{1});
  EXPECT_EQ(choice->why, "");
}

TEST(Assignment, NoOtherGpuTakesThePlaceOfOneThatCannotBeUsed) {
  auto devices = machine_of(kNode);
  devices[2].refusal = "it has Vulkan 1.0; 1.1 is needed";
  const auto choice = choose_devices(devices, "assigned", {{"CUDA_VISIBLE_DEVICES", "0"}});
  ASSERT_FALSE(choice);
  EXPECT_THAT(choice.error().message, HasSubstr("1.1 is needed"));
}

TEST(Assignment, OneGpuUnderTwoDriversCountsOnce) {
  auto devices = machine_of(kUnlike);
  devices.push_back(devices[0]);
  devices.back().caps.driver_name = "Dozen";
  const Environment second{{"CUDA_VISIBLE_DEVICES", "1"}, {"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}};
  const auto choice = choose_devices(devices, "assigned", second);
  ASSERT_TRUE(choice) << choice.error().message;
  EXPECT_EQ(choice->devices, std::vector<size_t>{1});
}

// AMDVLK and RADV make a UUID of their own each.
TEST(Assignment, OneGpuUnderTwoDriversOfOtherUuidsCountsOnce) {
  auto devices = machine_of({kAmdNode[0], kAmdNode[0], kAmdNode[1], kAmdNode[1]});
  for (const size_t place : {1, 3}) devices[place].caps.driver_name = "AMD open-source driver";
  EXPECT_EQ(choose_devices(devices, "assigned", {{"ROCR_VISIBLE_DEVICES", "1"}})->devices, std::vector<size_t>{0});
  auto fresh = machine_of({kAmdNode[0], kAmdNode[0], kAmdNode[1], kAmdNode[1]});
  for (const size_t place : {1, 3}) fresh[place].caps.driver_name = "AMD open-source driver";
  EXPECT_EQ(choose_devices(fresh, "all", {})->devices, (std::vector<size_t>{0, 2}));
}

// Slices of one GPU stand at its address.
TEST(Assignment, SlicesOfOneDriverCountEach) {
  auto devices = machine_of({kNode[0], kNode[0]});
  EXPECT_EQ(choose_devices(devices, "all", {})->devices, (std::vector<size_t>{0, 1}));
}

TEST(Assignment, HostileValuesEndInAnError) {
  for (const std::string& value : {std::string(1 << 20, ','), std::string(1 << 20, '7'), std::string("0-4000000000"),
                                   std::string("\x01\xff,,-"), std::string("GPU-"), std::string("MIG-")}) {
    auto devices = machine_of(kNode);
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "SLURM_JOB_GPUS", "_CONDOR_AssignedGPUs"}) {
      const auto choice = choose_devices(devices, "all", {{name, value}, {"SLURM_LOCALID", value}});
      EXPECT_LT(choice ? choice->why.size() : choice.error().message.size(), 2000u);
    }
  }
}

TEST(Choose, SeveralDevices) {
  const auto pick = [](const char* select) {
    auto devices = machine_of(kNode);
    devices[4].caps.device_name = "llvmpipe (LLVM 15, 256 bits)";
    const auto choice = choose_devices(devices, select, {});
    return choice ? choice->devices : std::vector<size_t>{99};
  };
  EXPECT_EQ(pick("0,1"), (std::vector<size_t>{0, 1}));
  EXPECT_EQ(pick("3, 4"), (std::vector<size_t>{3, 4}));
  EXPECT_EQ(pick("2,2"), (std::vector<size_t>{2, 2}));
  EXPECT_EQ(pick("all"), (std::vector<size_t>{0, 1, 2, 3}));
  EXPECT_EQ(pick("llvmpipe (LLVM 15, 256 bits)"), std::vector<size_t>{4});
  EXPECT_EQ(pick("0,,1"), std::vector<size_t>{99});
  EXPECT_EQ(pick("0,7"), std::vector<size_t>{99});
  EXPECT_EQ(pick("81:00.0"), std::vector<size_t>{3});
  EXPECT_EQ(pick("0000:01:00.0"), std::vector<size_t>{2});
}

TEST(Choose, AllOnAMachineWithoutGpus) {
  auto devices = machine_of(kCpuAlone);
  EXPECT_EQ(choose_devices(devices, "all", {})->devices, std::vector<size_t>{0});
}

}  // namespace
}  // namespace lapilli::vulkan
