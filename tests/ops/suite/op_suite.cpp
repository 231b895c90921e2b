// Runs every case of every op on a device, over all eligible variants and the given capability masks, and compares all
// outputs with the op's reference. Guard regions around every tensor and the inputs must stay untouched.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ops/core/case_util.hpp"
#include "ops/core/op.hpp"
#include "ops/core/shader_table.hpp"
#include "ops/suite/value_cover.hpp"
#include "runtime/check/execute.hpp"
#include "support/other_numbers.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {
namespace {

constexpr const char* kUsage =
    "usage: op_suite [options]\n"
    "  --device SELECT   index, part of a name, or UUID\n"
    "  --caps MASK       capability mask; may be repeated, or a list separated by spaces (default: full)\n"
    "  --filter TEXT     only those whose 'op/case/variant' contains TEXT\n"
    "  --part I/N        only every Nth case, from the Ith on: for N processes side by side\n"
    "  --repeat N        run each N times from the same values; the bits must be equal (default 1)\n"
    "  --numbers         instead, small cases with other workgroup sizes than those of the device's class\n"
    "  --values          leave out kernels with no new value of a constant: a CPU driver translates a kernel far\n"
    "                    longer than it runs\n"
    "  --no-slow         leave out cases marked slow (they count as skipped)\n"
    "  --validation      with the Khronos validation layer\n"
    "  --list            print the cases and stop\n"
    "  --json FILE       write one record per case, variant and mask\n"
    "  --verbose         print passed lines too\n";

struct Options {
  std::string device, filter, json;
  std::vector<std::string> masks;
  uint32_t repeat = 1, part = 1, parts = 1;
  bool list = false, verbose = false, slow = true, numbers = false, values = false, validation = false, help = false;
};

Result<Options> parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (a == "--device")
      o.device = value();
    else if (a == "--filter")
      o.filter = value();
    else if (a == "--json")
      o.json = value();
    else if (a == "--part") {
      if (std::sscanf(value().c_str(), "%u/%u", &o.part, &o.parts) != 2 || o.part == 0 || o.part > o.parts)
        return fail(ErrorCode::invalid_argument, "--part takes I/N, such as 2/8");
    } else if (a == "--repeat")
      o.repeat = static_cast<uint32_t>(std::max(1, std::atoi(value().c_str())));
    else if (a == "--list")
      o.list = true;
    else if (a == "--verbose")
      o.verbose = true;
    else if (a == "--numbers")
      o.numbers = true;
    else if (a == "--values")
      o.values = true;
    else if (a == "--no-slow")
      o.slow = false;
    else if (a == "--validation")
      o.validation = true;
    else if (a == "--help")
      o.help = true;
    else if (a == "--caps") {
      std::istringstream words(value());
      for (std::string m; words >> m;) o.masks.push_back(m);
    } else
      return fail(ErrorCode::invalid_argument, "unknown option %s\n%s", a.c_str(), kUsage);
  }
  if (o.masks.empty()) o.masks = {"full"};
  return o;
}

// Equal fingerprints mean that two runs of a case are the same.
std::string fingerprint(const std::vector<Dispatch>& dispatches, const Capabilities& caps) {
  std::string key;
  const auto add = [&](const void* p, size_t n) { key.append(static_cast<const char*>(p), n); };
  for (const auto& d : dispatches) {
    add(&d.shader, sizeof(d.shader));
    add(d.constants.data(), d.constants.size() * 4);
    add(d.push.data(), d.push_bytes);
    const auto grid = fold_groups(caps, d.groups);
    if (grid.ok()) add(grid->data(), 12);
    const bool follows = caps.indirect_dispatch && d.groups_per_tile != 0;
    add(&follows, sizeof(follows));
    for (const auto& o : d.operands) {
      add(&o.binding, 4), add(&o.tensor, 4), add(&o.begin, 8), add(&o.end, 8);
    }
  }
  return key;
}

std::string case_name(const OpDef& op, const OpCase& c, const Variant& v) {
  return std::string(op.name) + "/" + c.name + "/" + v.name;
}

constexpr uint64_t kSmallWords = 1 << 15;

// Counts all threads: a CPU driver's, too.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

// Nothing smaller than what every device has is asked of the ops: there they must not refuse a case.
bool below_floor(const Capabilities& caps) {
  const Capabilities floor;
  return caps.max_storage_range < floor.max_storage_range || max_groups(caps) < max_groups(floor) ||
         !caps.packed_halves;
}

class Suite {
 public:
  Suite(Options options, std::shared_ptr<vulkan::Device> device)
      : options_(std::move(options)), device_(std::move(device)) {}
  Status run();

 private:
  [[nodiscard]] bool runs(const OpDef& op, const OpCase& c, uint64_t number) const;
  Status choose_kernels(const OpDef& op, std::vector<OpCase>& cases);
  Status run_case(const OpDef& op, OpCase& c);
  void check_lowered(const OpDef& op);
  void run_variant(const OpDef& op, const OpCase& c, const Variant& v, const std::string& mask);
  void run_numbers(const OpDef& op, const OpCase& c, Variant v, const std::string& mask);
  void run_dispatches(const std::string& what, const OpDef& op, const OpCase& c, const std::string& mask,
                      const std::vector<Dispatch>& dispatches);
  [[nodiscard]] const Capabilities& caps_of(const std::string& mask) const;
  void report(const std::string& what, const std::string& mask, const char* result, const std::string& detail,
              double worst);
  bool wanted(const OpDef& op, const OpCase& c) const;
  [[nodiscard]] bool is_whole() const { return options_.filter.empty() && options_.parts == 1; }

  Options options_;
  std::shared_ptr<vulkan::Device> device_;
  std::vector<std::pair<std::string, Capabilities>> masked_;
  std::set<std::string> seen_;                    // of the current case
  std::set<std::string> lowered_;                 // masks under which a case of the current op ran as the floor
  uint64_t other_numbers_ = 0, numbers_ran_ = 0;  // of the current op: asked for, and lowered
  uint64_t turn_ = 0, cases_ = 0;
  double cpu_before_ = 0;                     // a record says how long it took, the reference as well
  std::optional<HostTensors> inputs_, want_;  // of the current case; made when first needed
  uint64_t passed_ = 0, failed_ = 0, skipped_ = 0, same_ = 0, left_out_ = 0, kernels_ = 0;
  ValueCover cover_;  // of the current op
  nlohmann::json records_ = nlohmann::json::array();
};

void Suite::report(const std::string& what, const std::string& mask, const char* result, const std::string& detail,
                   double worst) {
  const bool pass = std::string(result) == "pass";
  if (!pass || options_.verbose)
    std::printf("%-5s %s [%s]%s%s  (%.3f of tolerance)\n", result, what.c_str(), mask.c_str(),
                detail.empty() ? "" : ": ", detail.c_str(), worst);
  std::fflush(stdout);
  if (options_.json.empty()) return;
  records_.push_back({{"case", what},
                      {"mask", mask},
                      {"result", result},
                      {"cpu", cpu_seconds() - cpu_before_},
                      {"detail", detail},
                      {"of_tolerance", std::isfinite(worst) ? worst : 1e30}});
}

void Suite::run_variant(const OpDef& op, const OpCase& c, const Variant& v, const std::string& mask) {
  const std::string what = case_name(op, c, v);
  const Capabilities& caps = caps_of(mask);
  const auto& node = c.graph.node(0);
  std::vector<Dispatch> dispatches;
  if (auto s = lower_node({c.graph, caps}, node, v, dispatches); !s) {
    const bool refused = s.error().code == ErrorCode::unsupported && below_floor(caps);
    ++(refused ? skipped_ : failed_);
    return report(what, mask, refused ? "skip" : "FAIL", s.error().message, 0);
  }
  if (v.id == op.variants(caps, c.graph, node).back().id) lowered_.insert(mask);
  run_dispatches(what, op, c, mask, dispatches);
}

// Whatever numbers lowering lets pass must give the same values. Each case takes a third of them: a pipeline each costs
// CPU drivers more than running it.
void Suite::run_numbers(const OpDef& op, const OpCase& c, Variant v, const std::string& mask) {
  for (const Numbers& n : testing_support::other_numbers(v.numbers)) {
    if (turn_++ % 3 != 0) continue;
    v.numbers = n;
    ++other_numbers_;
    std::vector<Dispatch> dispatches;
    const std::string what = case_name(op, c, v) + format(" of %u x %u", n.local, n.each);
    if (auto s = lower_node({c.graph, caps_of(mask)}, c.graph.node(0), v, dispatches); !s) {
      if (s.error().code == ErrorCode::unsupported) continue;
      ++failed_;
      report(what, mask, "FAIL", s.error().message, 0);
      continue;
    }
    ++numbers_ran_;
    run_dispatches(what, op, c, mask, dispatches);
  }
}

const Capabilities& Suite::caps_of(const std::string& mask) const {
  const auto is = [&](const auto& m) { return m.first == mask; };
  return std::find_if(masked_.begin(), masked_.end(), is)->second;
}

void Suite::run_dispatches(const std::string& what, const OpDef& op, const OpCase& c, const std::string& mask,
                           const std::vector<Dispatch>& dispatches) {
  const Capabilities& caps = caps_of(mask);
  const auto& node = c.graph.node(0);
  cpu_before_ = cpu_seconds();
  if (!seen_.insert(fingerprint(dispatches, caps)).second) {
    ++same_;
    return;
  }
  if (options_.values && !cover_.holds(dispatches)) {
    ++left_out_;
    return;
  }
  if (!want_) {
    inputs_ = host_tensors(c);
    want_ = *inputs_;
    op.reference(c.graph, node, *want_);
  }
  HostTensors got = *inputs_;
  runtime::HostRunOptions run;
  run.runs = options_.repeat;
  run.execute.live_rows = c.live_rows;
  run.execute.live_tiles = c.live_tiles;
  auto outcome = runtime::execute_on_host(device_, caps, dispatches, got, run);
  if (!outcome.ok()) {
    ++failed_;
    return report(what, mask, "FAIL", outcome.error().message, 0);
  }
  auto comparison = compare_case(c, got, *want_);
  if (comparison.problem.empty()) comparison.problem = outcome->violation;
  ++(comparison.problem.empty() ? passed_ : failed_);
  report(what, mask, comparison.problem.empty() ? "pass" : "FAIL", comparison.problem, comparison.worst);
}

bool Suite::wanted(const OpDef& op, const OpCase& c) const {
  if (options_.filter.empty()) return true;
  for (const auto& [mask, caps] : masked_)
    for (const auto& v : op.variants(caps, c.graph, c.graph.node(0)))
      if (case_name(op, c, v).find(options_.filter) != std::string::npos) return true;
  return false;
}

bool Suite::runs(const OpDef& op, const OpCase& c, uint64_t number) const {
  return number % options_.parts == options_.part - 1 && wanted(op, c);
}

// Chooses the kernels of these cases that hold each value of a constant.
Status Suite::choose_kernels(const OpDef& op, std::vector<OpCase>& cases) {
  cover_ = ValueCover();
  uint64_t number = cases_;
  for (auto& c : cases) {
    if (!runs(op, c, number++) || (c.slow && !options_.slow)) continue;
    LAPILLI_CHECK(op.infer(c.graph, c.graph.node(0)));
    for (const auto& [mask, caps] : masked_)
      for (const auto& v : op.variants(caps, c.graph, c.graph.node(0))) {
        std::vector<Dispatch> dispatches;
        if (lower_node({c.graph, caps}, c.graph.node(0), v, dispatches)) cover_.add(dispatches);
      }
  }
  cover_.choose();
  kernels_ += cover_.chosen();
  return {};
}

Status Suite::run_case(const OpDef& op, OpCase& c) {
  seen_.clear();
  inputs_.reset();
  want_.reset();
  if (!runs(op, c, cases_++)) return {};
  if (options_.numbers && (c.slow || case_words(c) > kSmallWords)) return {};
  if (c.slow && !options_.slow) {
    ++skipped_;
    report(std::string(op.name) + "/" + c.name, "any", "skip", "slow", 0);
    return {};
  }
  LAPILLI_CHECK(op.infer(c.graph, c.graph.node(0)));
  if (c.prepare) c.prepare(c);
  for (const auto& [mask, caps] : masked_)
    for (const auto& v : op.variants(caps, c.graph, c.graph.node(0))) {
      if (case_name(op, c, v).find(options_.filter) == std::string::npos) continue;
      if (options_.numbers)
        run_numbers(op, c, v, mask);
      else
        run_variant(op, c, v, mask);
      LAPILLI_CHECK(device_->health());
    }
  return {};
}

// Refusing whatever is asked would pass otherwise.
void Suite::check_lowered(const OpDef& op) {
  if (!is_whole()) return;
  if (options_.numbers) {
    if (other_numbers_ == 0 || numbers_ran_ > 0) return;
    ++failed_;
    return report(op.name, "any", "FAIL", "no numbers but its own are possible", 0);
  }
  for (const auto& [mask, caps] : masked_)
    if (!lowered_.contains(mask)) {
      ++failed_;
      report(op.name, mask, "FAIL", "no case of the op fits", 0);
    }
}

Status Suite::run() {
  for (const auto& mask : options_.masks) {
    LAPILLI_TRY(auto caps, apply_mask(device_->caps(), mask));
    masked_.emplace_back(mask, std::move(caps));
  }
  std::printf("device: %s (%s)\n", device_->caps().device_name.c_str(), device_->caps().driver_info.c_str());
  const auto start = std::chrono::steady_clock::now();
  for (const OpDef* op : all_ops()) {
    lowered_.clear();
    other_numbers_ = numbers_ran_ = 0;
    auto cases = op->cases();
    if (options_.values) LAPILLI_CHECK(choose_kernels(*op, cases));
    for (auto& c : cases) {
      LAPILLI_CHECK(run_case(*op, c));
      c.inputs.clear();
    }
    check_lowered(*op);
  }
  if (!options_.json.empty()) std::ofstream(options_.json) << records_.dump(1) << "\n";
  std::printf("%llu were the same as an earlier one; %.1f s\n", static_cast<unsigned long long>(same_),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  if (options_.values)
    std::printf("%llu were left out: the values of their constants are in the %llu kernels that ran\n",
                static_cast<unsigned long long>(left_out_), static_cast<unsigned long long>(kernels_));
  std::printf("%llu passed, %llu failed, %llu skipped\n", static_cast<unsigned long long>(passed_),
              static_cast<unsigned long long>(failed_), static_cast<unsigned long long>(skipped_));
  if (failed_ > 0) return fail(ErrorCode::internal, "%llu cases failed", static_cast<unsigned long long>(failed_));
  if (passed_ == 0) return fail(ErrorCode::invalid_argument, "nothing ran");
  return {};
}

Status start(const Options& options) {
  if (options.list) {
    for (const OpDef* op : all_ops())
      for (const auto& c : op->cases()) std::printf("%s/%s%s\n", op->name, c.name.c_str(), c.slow ? " (slow)" : "");
    return {};
  }
  vulkan::DeviceOptions device_options;
  device_options.select = options.device;
  device_options.mask = "full";
  device_options.validation = options.validation;
  LAPILLI_TRY(auto device, vulkan::Device::create(device_options));
  return Suite(options, std::move(device)).run();
}

}  // namespace
}  // namespace lapilli

int main(int argc, char** argv) {
  auto options = lapilli::parse(argc, argv);
  if (!options.ok()) return std::fprintf(stderr, "%s\n", options.error().message.c_str()), 2;
  if (options->help) return std::fputs(lapilli::kUsage, stdout), 0;
  if (auto s = lapilli::start(*options); !s)
    return std::fprintf(stderr, "op_suite: %s\n", s.error().message.c_str()), 1;
  return 0;
}
