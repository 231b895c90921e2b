// Measurements of `lapilli bench`: a model's encoder and decoder on random ids, as whole searches.
#include <chrono>
#include <ctime>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "generate/generate.hpp"
#include "runtime/plan/plan.hpp"
#include "runtime/run/pace.hpp"
#include "runtime/run/profile.hpp"
#include "search/network_on_device.hpp"
#include "search/search_graph.hpp"
#include "tools/bench_model.hpp"
#include "tools/guard.hpp"
#include "vulkan/device/memory_ledger.hpp"

#if !defined(_WIN32)
#include <sys/resource.h>
#endif

namespace lapilli::tools {

namespace {

struct Usage {
  double cpu_ms = 0, peak_mib = 0;
};
// For the whole process, driver threads included.
Usage usage() {
#if defined(_WIN32)
  return {1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC, 0};
#else
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  const auto t = [](const timeval& v) {
    return 1e3 * static_cast<double>(v.tv_sec) + 1e-3 * static_cast<double>(v.tv_usec);
  };
  return {t(u.ru_utime) + t(u.ru_stime), static_cast<double>(u.ru_maxrss) / 1024};
#endif
}

// Runs before anything counts: idle GPUs take some tenths of a second to reach their clock (an H200 goes from 345 to
// 1,980 MHz). Begins after the first run, which may mostly make pipelines while the device idles.
class WarmUp {
 public:
  void begin() { begin_ = Clock::now(); }
  // True if a run that has ended counts: it began late enough, or was so long that its beginning hardly matters.
  [[nodiscard]] bool lets_count(Clock::time_point run_began) const {
    return run_began >= begin_ + kTime || Clock::now() - run_began >= 2 * kTime;
  }

 private:
  static constexpr std::chrono::milliseconds kTime{300};
  Clock::time_point begin_{};
};

struct Row {
  unsigned batch = 1, beams = 1;
  double first_ms = 0, encode_ms = 0, step_ms = 0, total_ms = 0, cpu_ms = 0;
  uint64_t dispatches = 0;    // per decoder step
  uint64_t tuned = 0;         // of its nodes, those with variants that `tune` found
  uint64_t device_bytes = 0;  // weights and the pass, for an encoder alone
};

class Bench {
 public:
  explicit Bench(const BenchRequest& request) : r_(request) {}

  Result<std::string> run() {
    LAPILLI_TRY(loaded_, load_bench_model(r_));
    auto figures = kind().writes ? searches() : encoder_alone();
    end_trace(r_, *loaded_.device);
    return figures;
  }

 private:
  [[nodiscard]] model::Kind kind() const { return loaded_.model->on_device().config().kind(); }

  Result<std::string> searches() {
    for (const unsigned batch : r_.batches)
      for (const unsigned beams : r_.beams) {
        LAPILLI_TRY(auto row, measure(batch, beams));
        rows_.push_back(row);
      }
    return text();
  }

  GenerateRequest request(unsigned batch, unsigned beams) const {
    GenerateRequest g;
    g.features = random_features(r_, *loaded_.model, batch);
    if (g.features.empty()) (kind().encodes ? g.sources : g.decoder_ids) = random_sources(r_, *loaded_.model, batch);
    g.options = exact_steps(beams, r_.target);
    g.steps_in_flight = r_.steps_in_flight;
    return g;
  }

  Result<Row> measure(unsigned batch, unsigned beams) {
    Row row;
    row.batch = batch;
    row.beams = beams;
    std::vector<double> encode, step, total, cpu;
    WarmUp warm_up;
    while (encode.size() < r_.runs) {
      const Usage before = usage();
      const auto start = Clock::now();
      LAPILLI_TRY(auto job, Search::start(loaded_.model, request(batch, beams)));
      LAPILLI_CHECK(job->run_to_end());
      LAPILLI_TRY(const auto out, job->take());
      const double elapsed = ms_since(start);
      if (row.first_ms == 0) {
        row.first_ms = elapsed;
        warm_up.begin();
        continue;
      }
      if (!warm_up.lets_count(start)) continue;
      encode.push_back(out.stats.encode_ms);
      step.push_back(out.stats.decode_ms / out.stats.steps);
      total.push_back(elapsed);
      cpu.push_back(usage().cpu_ms - before.cpu_ms);
    }
    row.encode_ms = median(encode);
    row.step_ms = median(step);
    row.total_ms = median(total);
    row.cpu_ms = median(cpu);
    const unsigned source =
        loaded_.model->info().feature_width ? loaded_.model->info().max_source_positions : r_.source;
    const uint32_t positions = kind().encodes ? (source ? source : r_.source) : 0;
    const WorkspaceKey key = plain_key(batch, beams, positions, r_.target + 8);
    const StepGraph step_of = step_graph(loaded_.model->on_device().network, key);
    CompileOptions options;
    options.tunings = loaded_.model->on_device().tunings.get();
    options.work = Pace::of(*loaded_.device)->limit();
    LAPILLI_TRY(const auto plan, compile(step_of.graph, loaded_.device->caps(), options));
    row.dispatches = plan->dispatches.size();
    row.tuned = plan->tuned();
    return row;
  }

  // A pass is made once per batch, as `classify` does.
  Result<std::string> encoder_alone() {
    for (const unsigned batch : r_.batches) {
      LAPILLI_TRY(auto row, measure_encoder(batch));
      rows_.push_back(row);
    }
    return r_.json ? encoder_json() : encoder_text();
  }

  static Status run_pass(ForwardPass& pass, const ForwardRequest& request) {
    const auto outputs = pass.run(request);
    return outputs ? Status() : Status(outputs.error());
  }

  Result<Row> measure_encoder(unsigned batch) {
    ForwardRequest request;
    request.features = random_features(r_, *loaded_.model, batch);
    if (request.features.empty()) request.sources = random_sources(r_, *loaded_.model, batch);
    Row row;
    row.batch = batch;
    auto start = Clock::now();
    LAPILLI_TRY(auto pass, ForwardPass::make(loaded_.model, request));
    LAPILLI_CHECK(run_pass(pass, request));
    row.first_ms = ms_since(start);
    WarmUp warm_up;
    warm_up.begin();
    std::vector<double> encode, cpu;
    while (encode.size() < r_.runs) {
      const Usage before = usage();
      start = Clock::now();
      LAPILLI_CHECK(run_pass(pass, request));
      if (!warm_up.lets_count(start)) continue;
      encode.push_back(ms_since(start));
      cpu.push_back(usage().cpu_ms - before.cpu_ms);
    }
    row.encode_ms = median(encode);
    row.cpu_ms = median(cpu);
    row.device_bytes = loaded_.model->memory().held();
    return row;
  }

  std::string encoder_json() const {
    nlohmann::json rows = nlohmann::json::array();
    for (const Row& r : rows_)
      rows.push_back({{"batch", r.batch},
                      {"first_ms", r.first_ms},
                      {"encode_ms", r.encode_ms},
                      {"cpu_ms", r.cpu_ms},
                      {"device_bytes", r.device_bytes}});
    nlohmann::json all = common_json();
    all["rows"] = std::move(rows);
    return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }

  std::string encoder_text() const {
    std::string t;
    for (const Row& r : rows_)
      if (r_.tsv)
        t += format("lapilli %s, batch %u\t%.3f\t%.2f\t%.1f\t%.0f\t%.1f\n", loaded_.name, r.batch,
                    loaded_.load_ms / 1e3, r.encode_ms, r.cpu_ms, usage().peak_mib, r.first_ms);
    if (r_.tsv) return t;
    t = heading("an encoder alone") + "batch  first ms  encode ms  ms/source  CPU ms  weights and pass, MiB\n";
    for (const Row& r : rows_)
      t += format("%5u  %8.1f  %9.2f  %9.2f  %6.1f  %23.1f\n", r.batch, r.first_ms, r.encode_ms, r.encode_ms / r.batch,
                  r.cpu_ms, static_cast<double>(r.device_bytes) / (1 << 20));
    return t;
  }

  // Fields of the model and the device.
  [[nodiscard]] nlohmann::json common_json() const {
    const auto& caps = loaded_.device->caps();
    return {{"model", loaded_.name},
            {"device", caps.device_name},
            {"driver", caps.driver_info},
            {"dtype", name(loaded_.model->info().format)},
            {"kv_dtype", name(loaded_.model->info().kv_format)},
            {"load_ms", loaded_.load_ms},
            {"runs", r_.runs},
            {"peak_rss_mib", usage().peak_mib},
            {"device_bytes_peak", loaded_.device->counters().device_bytes_peak},
            {"pipelines", loaded_.device->counters().pipelines_created}};
  }

  // Empty for fp32.
  [[nodiscard]] const char* kv_text() const {
    return loaded_.model->info().kv_format == KvFormat::fp16 ? ", keys and values in fp16," : "";
  }

  [[nodiscard]] std::string heading(const std::string& what) const {
    const auto& caps = loaded_.device->caps();
    return format(
        "%s in %s%s on %s (%s)\n%s; medians of %u runs; load %.0f ms, %u pipelines, peak %.0f MiB (device memory "
        "%.0f "
        "MiB)\n\n",
        loaded_.name, name(loaded_.model->info().format), kv_text(), caps.device_name, caps.driver_info, what, r_.runs,
        loaded_.load_ms, loaded_.device->counters().pipelines_created, usage().peak_mib,
        static_cast<double>(loaded_.device->counters().device_bytes_peak) / (1 << 20));
  }

  std::string text() const {
    if (r_.json) {
      nlohmann::json rows = nlohmann::json::array();
      for (const Row& r : rows_)
        rows.push_back({{"batch", r.batch},
                        {"beams", r.beams},
                        {"first_ms", r.first_ms},
                        {"encode_ms", r.encode_ms},
                        {"step_ms", r.step_ms},
                        {"total_ms", r.total_ms},
                        {"cpu_ms", r.cpu_ms},
                        {"dispatches_per_step", r.dispatches},
                        {"tuned_nodes_per_step", r.tuned}});
      nlohmann::json all = common_json();
      all["source_ids"] = r_.source;
      all["target_ids"] = r_.target;
      all["rows"] = std::move(rows);
      return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    }
    std::string t;
    if (r_.tsv) {
      for (const Row& r : rows_)
        t += format("lapilli %s, batch %u beam %u\t%.3f\t%.2f\t%.3f\t%.1f\t%.1f\t%.1f\t%.0f\t%.1f\n", loaded_.name,
                    r.batch, r.beams, loaded_.load_ms / 1e3, r.encode_ms, r.step_ms, r.total_ms,
                    r.batch * r_.target * 1e3 / r.total_ms, r.cpu_ms, usage().peak_mib, r.first_ms);
      return t;
    }
    t = heading(format("%u source ids, exactly %u generated", r_.source, r_.target));
    t += "batch  beams  first ms  encode ms  ms/step  ms/token  total ms  CPU ms  dispatches/step  per layer\n";
    for (const Row& r : rows_)
      t += format("%5u  %5u  %8.1f  %9.2f  %7.3f  %8.3f  %8.1f  %6.1f  %15u  %9.1f\n", r.batch, r.beams, r.first_ms,
                  r.encode_ms, r.step_ms, r.step_ms / r.batch, r.total_ms, r.cpu_ms, r.dispatches,
                  static_cast<double>(r.dispatches) / loaded_.model->info().decoder_layers);
    return t;
  }

  const BenchRequest& r_;
  BenchModel loaded_;
  std::vector<Row> rows_;
};

}  // namespace

Outcome bench(const BenchRequest& request) {
  return guarded("bench", [&] { return Bench(request).run(); });
}

}  // namespace lapilli::tools
