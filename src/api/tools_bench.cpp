// What `lapilli bench` measures: encoder and decoder of a model on random ids, as whole jobs.
#include <ctime>
#include <nlohmann/json.hpp>

#include "api/bench_model.hpp"
#include "api/tools_guard.hpp"
#include "base/clock.hpp"
#include "generate/generate.hpp"
#include "runtime/plan.hpp"
#include "runtime/profile.hpp"
#include "search/network_on_device.hpp"
#include "search/search_graph.hpp"

#if !defined(_WIN32)
#include <sys/resource.h>
#endif

namespace lapilli::tools {

namespace {

struct Usage {
  double cpu_ms = 0, peak_mib = 0;
};
// Of the whole process, driver threads included.
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

struct Row {
  unsigned batch = 1, beams = 1;
  double first_ms = 0, encode_ms = 0, step_ms = 0, total_ms = 0, cpu_ms = 0;
  uint64_t dispatches = 0;  // of one decoder step
};

class Bench {
 public:
  explicit Bench(const BenchRequest& request) : r_(request) {}

  Result<std::string> run() {
    LAPILLI_TRY(loaded_, load_bench_model(r_));
    for (const unsigned batch : r_.batches)
      for (const unsigned beams : r_.beams) {
        LAPILLI_TRY(auto row, measure(batch, beams));
        rows_.push_back(row);
      }
    return text();
  }

 private:
  GenerateRequest request(unsigned batch, unsigned beams) const {
    GenerateRequest g;
    g.sources = random_sources(r_, *loaded_.model, batch);
    g.options = exact_steps(beams, r_.target);
    g.steps_in_flight = r_.steps_in_flight;
    return g;
  }

  Result<Row> measure(unsigned batch, unsigned beams) {
    Row row;
    row.batch = batch;
    row.beams = beams;
    std::vector<double> encode, step, total, cpu;
    for (unsigned i = 0; i <= r_.runs; ++i) {
      const Usage before = usage();
      const auto start = Clock::now();
      LAPILLI_TRY(auto job, Job::start(loaded_.model, request(batch, beams)));
      LAPILLI_CHECK(job->wait());
      LAPILLI_TRY(const auto out, job->take());
      const double elapsed = ms_since(start);
      if (i == 0) {
        row.first_ms = elapsed;
        continue;
      }
      encode.push_back(out.stats.encode_ms);
      step.push_back(out.stats.decode_ms / out.stats.steps);
      total.push_back(elapsed);
      cpu.push_back(usage().cpu_ms - before.cpu_ms);
    }
    row.encode_ms = median(encode);
    row.step_ms = median(step);
    row.total_ms = median(total);
    row.cpu_ms = median(cpu);
    const WorkspaceKey key = plain_key(batch, beams, r_.source, r_.target + 8);
    const StepGraph step_of = step_graph(loaded_.model->on_device().network, key);
    LAPILLI_TRY(const auto plan, compile(step_of.graph, loaded_.device->caps()));
    row.dispatches = plan->dispatches.size();
    return row;
  }

  std::string text() const {
    const auto& caps = loaded_.device->caps();
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
                        {"dispatches_per_step", r.dispatches}});
      const nlohmann::json all = {{"model", loaded_.name},
                                  {"device", caps.device_name},
                                  {"driver", caps.driver_info},
                                  {"dtype", name(loaded_.model->info().format)},
                                  {"load_ms", loaded_.load_ms},
                                  {"source_ids", r_.source},
                                  {"target_ids", r_.target},
                                  {"runs", r_.runs},
                                  {"peak_rss_mib", usage().peak_mib},
                                  {"device_bytes_peak", loaded_.device->counters().device_bytes_peak},
                                  {"pipelines", loaded_.device->counters().pipelines_created},
                                  {"rows", rows}};
      return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    }
    std::string t;
    if (r_.tsv) {
      for (const Row& r : rows_)
        t += format("lapilli %s, batch %u beam %u\t%.3f\t%.2f\t%.3f\t%.1f\t%.1f\t%.1f\t%.0f\t%.1f\n",
                    loaded_.name.c_str(), r.batch, r.beams, loaded_.load_ms / 1e3, r.encode_ms, r.step_ms, r.total_ms,
                    r.batch * r_.target * 1e3 / r.total_ms, r.cpu_ms, usage().peak_mib, r.first_ms);
      return t;
    }
    t = format(
        "%s in %s on %s (%s)\n%u source ids, exactly %u generated; medians of %u runs; load %.0f ms, %llu pipelines, "
        "peak "
        "%.0f MiB (device memory %.0f MiB)\n\n",
        loaded_.name.c_str(), name(loaded_.model->info().format), caps.device_name.c_str(), caps.driver_info.c_str(),
        r_.source, r_.target, r_.runs, loaded_.load_ms,
        static_cast<unsigned long long>(loaded_.device->counters().pipelines_created), usage().peak_mib,
        static_cast<double>(loaded_.device->counters().device_bytes_peak) / (1 << 20));
    t += "batch  beams  first ms  encode ms  ms/step  ms/token  total ms  CPU ms  dispatches/step  per layer\n";
    for (const Row& r : rows_)
      t += format("%5u  %5u  %8.1f  %9.2f  %7.3f  %8.3f  %8.1f  %6.1f  %15llu  %9.1f\n", r.batch, r.beams, r.first_ms,
                  r.encode_ms, r.step_ms, r.step_ms / r.batch, r.total_ms, r.cpu_ms,
                  static_cast<unsigned long long>(r.dispatches),
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
