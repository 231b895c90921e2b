// Output of `lapilli doctor`: one page, and a report to attach to a bug report.
#include "runtime/check/doctor.hpp"

#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/counts.hpp"
#include "ops/core/shader_table.hpp"
#include "ops/core/work_limit.hpp"
#include "runtime/check/self_test.hpp"
#include "runtime/tune/device_limits.hpp"
#include "tools/bundled_sentences.hpp"
#include "tools/guard.hpp"
#include "tools/named_model.hpp"
#include "tools/tools.hpp"
#include "vulkan/caps/capabilities_json.hpp"
#include "vulkan/caps/persistent_cache.hpp"
#include "vulkan/device/choose.hpp"
#include "vulkan/device/memory_report.hpp"

namespace lapilli::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned kUsualRuns = 100, kQuickRuns = 5;
constexpr size_t kQuickSentences = 8;
constexpr size_t kListed = 8;  // findings on the page; the report lists all

std::string mib(uint64_t bytes) { return format("%.0f MiB", static_cast<double>(bytes) / (1u << 20)); }

std::string list_of(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string list_of(const std::vector<uint32_t>& numbers) {
  std::string text;
  for (const uint32_t n : numbers) text += (text.empty() ? "" : " ") + std::to_string(n);
  return text.empty() ? "none" : text;
}

// Drops the folder of a mask file, which is private.
std::string file_name(const std::string& path) {
  const size_t slash = path.find_last_of("/\\");
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// One examination: sections of the page and of the report, in order, and advice on the findings.
class Doctor {
 public:
  explicit Doctor(const DoctorRequest& request) : request_(request) {}

  Status run() {
    vulkan::DeviceOptions options;
    options.select = request_.select;
    options.mask = request_.caps;
    LAPILLI_TRY(device_, vulkan::Device::create(options));
    LAPILLI_CHECK(section("the device", [&] { return tell_device(); }));
    LAPILLI_CHECK(section("its memory", [&] { return tell_memory(), Status(); }));
    LAPILLI_CHECK(section("every kernel", [&] { return examine_all_kernels(); }));
    if (request_.model.empty())
      LAPILLI_CHECK(section("the bundled model", [&] { return examine_model(); }));
    else
      LAPILLI_CHECK(section("the model", [&] { return examine_named_model(); }));
    if (!request_.quick) LAPILLI_CHECK(section("rates", [&] { return tell_rates(); }));
    LAPILLI_CHECK(section("what is kept between runs", [&] { return examine_cache(), Status(); }));
    tell_advice();
    return {};
  }
  [[nodiscard]] DoctorOutcome outcome() {
    report_["healthy"] = advice_.empty();
    // Names come from drivers and may hold any bytes.
    return {0, std::move(page_), report_.dump(2, ' ', false, Json::error_handler_t::replace) + "\n", advice_.empty()};
  }

 private:
  Status section(const char* what, const std::function<Status()>& body) {
    if (request_.progress && !request_.progress(what)) return fail(ErrorCode::cancelled, "cancelled");
    return body();
  }
  void line(const char* what, const std::string& text) { page_ += format("%-12s %s\n", what, text); }
  void wrong(std::string advice) { advice_.push_back(std::move(advice)); }

  Status tell_device() {
    LAPILLI_TRY(const std::string indirect, try_indirect_dispatch());
    const Capabilities& caps = device_->caps();
    line("device", vulkan::describe(caps));
    std::string off = list_of(off_names(caps));
    line("off", off.empty() ? "nothing" : off);
    if (!indirect.empty()) line("", "indirect dispatch: " + indirect);
    if (!caps.quirks.empty()) line("quirks", list_of(caps.quirks) + " (known faults of the driver, worked around)");
    if (!caps.masks.empty()) line("masks", list_of(caps.masks) + " (--caps or LAPILLI_CAPS)");
    report_["lapilli"] = LAPILLI_VERSION;
    Capabilities reported = caps;
    for (std::string& mask : reported.masks) mask = file_name(mask);
    report_["device"] = Json::parse(to_json(reported));
    report_["work_limit"] = static_cast<uint64_t>(WorkLimit::of(caps).operations());
    return {};
  }

  // Problems with indirect dispatch. Runs first, as the device does without it if it fails.
  Result<std::string> try_indirect_dispatch() {
    const auto self_test = SelfTest::of(*device_);
    LAPILLI_TRY([[maybe_unused]] const bool good, self_test->check(device_, {}));
    const auto problem = self_test->no_groups();
    report_["indirect_dispatch"] = problem ? Json(problem->empty() ? "right" : *problem) : Json();
    if (!problem || problem->empty()) return std::string();
    wrong(
        "The driver cannot be relied on with indirect dispatches, so models go without them and take longer where few "
        "sentences are left. An update of the driver may mend it. Please report it.");
    return *problem;
  }

  // Features for faster variants that this device lacks or has had disabled.
  static std::vector<std::string> off_names(const Capabilities& caps) {
    std::vector<std::string> names;
    const auto add = [&](bool has, const char* name) {
      if (!has) names.emplace_back(name);
    };
    add(caps.subgroup_size > 1, "subgroups");
    add(caps.timeline_semaphore, "timeline semaphores");
    add(caps.indirect_dispatch, "indirect dispatch");
    add(caps.arithmetic_fp16, "fp16");
    add(caps.integer_dot, "integer dot products");
    add(has_cooperative_matrix(caps), "cooperative matrices");
    add(caps.memory_budget, "memory budget");
    add(caps.timestamps, "timestamps");
    return names;
  }

  void tell_memory() {
    const vulkan::MemoryReport memory = vulkan::memory_report(*device_);
    Json heaps = Json::array(), types = Json::array(), uses = Json::object();
    for (const auto& heap : memory.heaps)
      heaps.push_back({{"bytes", heap.bytes}, {"device_local", heap.device_local}, {"main", heap.main}});
    for (const auto& type : memory.types) types.push_back({{"heap", type.heap}, {"kind", type.kind}});
    line("memory",
         mib(memory.left) + " left" + (memory.budget_from_driver ? ", says the driver" : ", by the heap's size"));
    for (const auto& use : memory.uses) {
      uses[use.use] = use.types;
      const std::string kind = use.types.empty() ? "" : memory.types[use.types.front()].kind;
      line("", format("%-15s types %s (%s)", use.use, list_of(use.types), kind));
    }
    report_["memory"] = {{"heaps", heaps}, {"types", types}, {"uses", uses}, {"left", memory.left}};
  }

  Status examine_all_kernels() {
    DoctorOptions options;
    options.runs = request_.runs != 0 ? request_.runs : request_.quick ? kQuickRuns : kUsualRuns;
    if (request_.quick) options.cases = 1;
    LAPILLI_TRY(const auto kernels, examine_kernels(device_, options, [&](uint32_t, uint32_t) {
                  return !request_.progress || request_.progress("");
                }));
    line("kernels",
         format("%u variants of %u ops, %u cases, %u times each: %s", kernels.variants, kernels.ops, kernels.cases,
                options.runs, kernels.findings.empty() ? "all as the reference" : "SOME ARE WRONG"));
    Json findings = Json::array();
    for (const KernelFinding& f : kernels.findings) {
      findings.push_back({{"op", f.op},
                          {"variant", f.variant},
                          {"case", f.test},
                          {"problem", f.problem},
                          {"floor", f.floor},
                          {"refused", f.refused}});
      if (findings.size() <= kListed)
        line("", format("%s/%s, case %s: %s%s", f.op, f.variant, f.test, f.refused ? "the driver refuses it: " : "",
                        f.problem));
    }
    if (findings.size() > kListed) line("", format("and %u more, see --report", findings.size() - kListed));
    report_["kernels"] = {{"variants", kernels.variants},
                          {"cases", kernels.cases},
                          {"runs", options.runs},
                          {"findings", findings},
                          {"not_tried", kernels.not_tried}};
    advise_on(kernels);
    return {};
  }

  void advise_on(const KernelReport& kernels) {
    const auto floors =
        std::count_if(kernels.findings.begin(), kernels.findings.end(), [](const KernelFinding& f) { return f.floor; });
    if (floors > 0)
      return wrong(
          "This driver computes wrongly what there is no other way for: results cannot be trusted. Update the driver, "
          "or choose another device (lapilli devices, --device).");
    if (!kernels.findings.empty())
      wrong(
          "The driver computes some kernels wrongly. Models leave these out by themselves as far as their own test "
          "finds them; an update of the driver may mend them. Please report it.");
  }

  Status examine_model() {
    auto sentences = run_bundled_sentences(device_, request_.quick ? kQuickSentences : 0);
    if (!sentences && sentences.error().code == ErrorCode::not_found) {
      line("model", "the bundled model is not installed: not examined");
      report_["model"] = nullptr;
      return {};
    }
    Json entry;
    if (!sentences) {
      LAPILLI_CHECK(device_->health());
      line("model", "FAILS: " + sentences.error().message);
      entry["error"] = error_code_name(sentences.error().code);
      wrong("The bundled model does not run on this device: see above.");
    } else {
      line("model", format("%u of %u results as recorded%s", sentences->equal, sentences->total,
                           sentences->wrong.empty() ? "" : ", OTHERS ARE WRONG"));
      for (const std::string& text : sentences->wrong) line("", text);
      entry = {{"results", sentences->total}, {"equal", sentences->equal}, {"wrong", sentences->wrong}};
      if (!sentences->wrong.empty()) wrong("The bundled model gives other words than it should: please report it.");
    }
    add_verdicts(entry);
    report_["model"] = std::move(entry);
    return {};
  }

  // The report does not name it: it may be somebody's own.
  Status examine_named_model() {
    const auto ran = run_named_model(device_, request_.model);
    if (!ran) return ran.error();
    Json entry = {{"family", ran->family},
                  {"program", ran->program.empty() ? Json() : Json(ran->program)},
                  {"parameters", ran->parameters},
                  {"same_twice", ran->same}};
    line("model", format("%s%s, %s: %s", ran->family, ran->program.empty() ? "" : " of " + ran->program,
                         parameters_text(ran->parameters),
                         ran->same ? "it runs, twice with the same results" : "TWO RUNS DIFFER"));
    if (!ran->same) wrong("The model gives other results the second time: the driver cannot be relied on.");
    add_verdicts(entry);
    report_["model"] = std::move(entry);
    return {};
  }

  // Kernels that the self-test refused while the model ran.
  void add_verdicts(Json& entry) {
    Json refused = Json::array();
    for (const Disagreement& d : SelfTest::of(*device_)->disagreements()) {
      refused.push_back({{"op", d.op}, {"variant", d.variant}, {"problem", d.problem}, {"floor", d.floor}});
      line("", format("its own test %s %s/%s", d.floor ? "warns of" : "left out", d.op, d.variant));
    }
    entry["self_test"] = std::move(refused);
  }

  Status tell_rates() {
    LAPILLI_TRY(const auto limits, measure_limits(device_));
    line("rates", format("%.1f GB/s (%s), %.1f Gop/s (%s)", limits.bytes.per_second / 1e9, limits.bytes.how,
                         limits.operations.per_second / 1e9, limits.operations.how));
    report_["rates"] = {{"bytes_per_second", limits.bytes.per_second},
                        {"operations_per_second", limits.operations.per_second},
                        {"least_us", limits.least_us},
                        {"by_device", limits.by == TimedBy::device}};
    return {};
  }

  void examine_cache() {
    if (request_.cache.empty()) {
      line("cache", "none: nothing is kept between runs");
      report_["cache"] = nullptr;
      return;
    }
    Json entries = Json::object();
    const auto identity = vulkan::stored_identity(*device_, shaders_checksum());
    const char* label = "cache";
    for (const vulkan::CachedBlob& blob : vulkan::examine_persistent_cache(*folder_store(request_.cache), identity)) {
      const CacheWords words = words_of(blob.state);
      line(std::exchange(label, ""), format("%s: %s", blob.what, words.page));
      entries[blob.what] = {{"state", words.report}, {"bytes", blob.bytes}};
      if (blob.state == vulkan::CacheState::damaged)
        wrong(
            format("The %s that an earlier run kept are damaged. They are not used, and %s makes them anew; if this "
                   "comes back, look at the disk.",
                   blob.what, std::string_view(blob.what) == "tunings" ? "lapilli tune" : "the next run"));
    }
    report_["cache"] = std::move(entries);
  }

  struct CacheWords {
    const char *page, *report;
  };
  static CacheWords words_of(vulkan::CacheState state) {
    switch (state) {
      case vulkan::CacheState::good: return {"of an earlier run, right", "good"};
      case vulkan::CacheState::of_others: return {"of another driver or version, and not used", "of others"};
      case vulkan::CacheState::damaged: return {"DAMAGED, and not used", "damaged"};
      case vulkan::CacheState::none: break;
    }
    return {"none yet", "none"};
  }

  void tell_advice() {
    page_ += "\n";
    if (advice_.empty()) page_ += "All is well.\n";
    for (const std::string& advice : advice_) page_ += advice + "\n";
    if (!advice_.empty()) page_ += "To report it: lapilli doctor --report doctor.json, and attach that file.\n";
    report_["advice"] = advice_;
  }

  const DoctorRequest& request_;
  std::shared_ptr<vulkan::Device> device_;
  std::string page_;
  Json report_ = Json::object();
  std::vector<std::string> advice_;
};

}  // namespace

DoctorOutcome doctor(const DoctorRequest& request) {
  DoctorOutcome made;
  const Outcome outcome = guarded("doctor", [&]() -> Result<std::string> {
    Doctor doctor(request);
    LAPILLI_CHECK(doctor.run());
    made = doctor.outcome();
    return std::string();
  });
  if (outcome.status == 0) return made;
  return {outcome.status, outcome.text, {}, false};
}

}  // namespace lapilli::tools
