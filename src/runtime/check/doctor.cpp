#include "runtime/check/doctor.hpp"

#include <algorithm>
#include <map>

#include "ops/core/case_util.hpp"
#include "runtime/check/execute.hpp"

namespace lapilli {
namespace {

constexpr uint64_t kExaminedWords = 1 << 15;  // over all tensors of a case; larger ones are left to the op suite

// A case of an op, and the variants to run it with.
struct Examined {
  OpCase c;
  std::vector<Variant> variants;
};

// Examines one op on one device.
class OpExaminer {
 public:
  OpExaminer(const OpDef& op, const std::shared_ptr<vulkan::Device>& device, const DoctorOptions& options)
      : op_(op), device_(device), options_(options), caps_(device->caps()) {}

  Status run(KernelReport& report) {
    std::vector<Examined> all = choose(report);
    for (Examined& one : all) {
      if (one.c.prepare) one.c.prepare(one.c);
      LAPILLI_CHECK(examine(one, report));
    }
    return {};
  }

 private:
  // The largest small cases of each variant that this device's limits allow.
  std::vector<Examined> choose(KernelReport& report) {
    std::vector<Examined> all;
    for (OpCase& c : op_.cases())
      if (!c.slow && case_words(c) <= kExaminedWords) all.push_back({std::move(c), {}});
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return case_words(a.c) > case_words(b.c); });
    std::map<std::string, uint32_t> taken;
    for (Examined& one : all) {
      if (!op_.infer(one.c.graph, one.c.graph.node(0))) continue;
      for (const Variant& v : op_.variants(caps_, one.c.graph, one.c.graph.node(0))) {
        uint32_t& times = taken[v.name];
        if (times >= options_.cases || !lowers(one.c, v)) continue;
        ++times;
        one.variants.push_back(v);
      }
    }
    ++report.ops;
    for (const auto& [name, times] : taken) {
      report.variants += times > 0 ? 1 : 0;
      if (times == 0) report.not_tried.push_back(std::string(op_.name) + "/" + name);
    }
    std::erase_if(all, [](const Examined& one) { return one.variants.empty(); });
    return all;
  }

  [[nodiscard]] bool lowers(const OpCase& c, const Variant& v) const {
    std::vector<Dispatch> dispatches;
    return lower_node({c.graph, caps_}, c.graph.node(0), v, dispatches).ok();
  }

  Status examine(Examined& one, KernelReport& report) {
    const HostTensors inputs = host_tensors(one.c);
    HostTensors want = inputs;
    op_.reference(one.c.graph, one.c.graph.node(0), want);
    for (const Variant& v : one.variants) {
      KernelFinding found{op_.name, v.name, one.c.name, {}, is_floor(one.c, v), false};
      LAPILLI_CHECK(run_variant({one.c, v}, inputs, want, found));
      ++report.cases;
      report.runs += options_.runs;
      if (!found.problem.empty()) add(report, std::move(found));
    }
    return {};
  }

  [[nodiscard]] bool is_floor(const OpCase& c, const Variant& v) const {
    return op_.variants(caps_, c.graph, c.graph.node(0)).back().id == v.id;
  }

  struct Trial {
    const OpCase& c;
    const Variant& v;
  };
  Status run_variant(const Trial& trial, const HostTensors& inputs, HostTensors& want, KernelFinding& found) {
    std::vector<Dispatch> dispatches;
    LAPILLI_CHECK(lower_node({trial.c.graph, caps_}, trial.c.graph.node(0), trial.v, dispatches));
    runtime::HostRunOptions run;
    run.runs = options_.runs;
    run.execute.live_rows = trial.c.live_rows;
    run.execute.live_tiles = trial.c.live_tiles;
    HostTensors got = inputs;
    auto outcome = runtime::execute_on_host(device_, caps_, dispatches, got, run);
    if (!outcome) return refused(std::move(outcome).error(), found);
    found.problem = compare_case(trial.c, got, want).problem;
    if (found.problem.empty()) found.problem = outcome->violation;
    return {};
  }

  // Errors that are not a kernel's fault stay errors.
  Status refused(Error error, KernelFinding& found) {
    LAPILLI_CHECK(device_->health());
    if (error.code == ErrorCode::out_of_memory || error.code == ErrorCode::timeout) return error;
    found.refused = true;
    found.problem = std::move(error.message);
    return {};
  }

  static void add(KernelReport& report, KernelFinding found) {
    const bool known = std::any_of(report.findings.begin(), report.findings.end(), [&](const KernelFinding& f) {
      return f.op == found.op && f.variant == found.variant;
    });
    if (!known) report.findings.push_back(std::move(found));
  }

  const OpDef& op_;
  const std::shared_ptr<vulkan::Device>& device_;
  const DoctorOptions& options_;
  const Capabilities& caps_;
};

}  // namespace

Result<KernelReport> examine_kernels(const std::shared_ptr<vulkan::Device>& device, const DoctorOptions& options,
                                     const std::function<bool(uint32_t done, uint32_t total)>& go_on) {
  KernelReport report;
  const auto total = static_cast<uint32_t>(all_ops().size());
  for (uint32_t i = 0; i < total; ++i) {
    if (go_on && !go_on(i, total)) return fail(ErrorCode::cancelled, "cancelled");
    LAPILLI_CHECK(OpExaminer(*all_ops()[i], device, options).run(report));
  }
  return report;
}

}  // namespace lapilli
