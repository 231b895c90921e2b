// What `lapilli bench` measures: encoder and decoder of a model on random ids, as whole jobs.
#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <random>

#include "api/locate.hpp"
#include "api/tools.hpp"
#include "api/tools_guard.hpp"
#include "base/clock.hpp"
#include "generate/model_impl.hpp"

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

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
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
    if (r_.runs == 0 || r_.source == 0 || r_.target == 0)
      return fail(ErrorCode::invalid_argument, "runs, source and target must be at least 1");
    constexpr unsigned kMost = 1u << 16;
    if (r_.runs > kMost || r_.source > kMost || r_.target > kMost)
      return fail(ErrorCode::invalid_argument, "runs, source and target must be at most %u", kMost);
    for (const unsigned batch : r_.batches)
      if (batch == 0 || batch > kMaxRows)
        return fail(ErrorCode::invalid_argument, "batch %u is not between 1 and %u", batch, kMaxRows);
    LAPILLI_CHECK(load());
    for (const unsigned batch : r_.batches)
      for (const unsigned beams : r_.beams) {
        LAPILLI_TRY(auto row, measure(batch, beams));
        rows_.push_back(row);
      }
    return text();
  }

 private:
  Status load() {
    vulkan::DeviceOptions options;
    options.select = r_.select;
    options.mask = r_.caps;
    name_ = r_.model;
    if (name_.empty()) {
      LAPILLI_TRY(name_, default_model_directory());
    }
    const auto start = Clock::now();
    LAPILLI_TRY(device_, vulkan::Device::create(options));
    if (name_.starts_with("shape:")) {
      LAPILLI_TRY(model_, Model::random(device_, name_.substr(6)));
    } else {
      LAPILLI_TRY(model_, Model::load(device_, name_));
    }
    load_ms_ = ms_since(start);
    return {};
  }

  GenerateRequest request(unsigned batch, unsigned beams) const {
    GenerateRequest g;
    std::mt19937 random(7);
    const uint32_t vocabulary = model_->info().source_vocabulary;
    for (unsigned i = 0; i < batch; ++i) {
      g.sources.emplace_back();
      for (unsigned k = 0; k < r_.source; ++k)
        g.sources.back().push_back(static_cast<int32_t>(vocabulary > 1 ? 1 + random() % (vocabulary - 1) : 0));
    }
    g.options.num_beams = beams;
    g.options.max_new_tokens = g.options.min_new_tokens = r_.target;
    g.options.forced_eos_token_id = std::vector<int32_t>{};
    g.options.num_return_sequences = 1;
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
      LAPILLI_TRY(auto job, Job::start(model_, request(batch, beams)));
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
    WorkspaceKey key;
    key.shape = {batch, beams, r_.source, r_.target + 8, 256};
    key.candidates = beams == 1 ? 1 : 2 * beams;
    LAPILLI_TRY(const auto plan, compile(step_graph(model_->impl()->network, key).graph, device_->caps()));
    row.dispatches = plan->dispatches.size();
    return row;
  }

  std::string text() const {
    const auto& caps = device_->caps();
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
      const nlohmann::json all = {{"model", name_},
                                  {"device", caps.device_name},
                                  {"driver", caps.driver_info},
                                  {"load_ms", load_ms_},
                                  {"source_ids", r_.source},
                                  {"target_ids", r_.target},
                                  {"runs", r_.runs},
                                  {"peak_rss_mib", usage().peak_mib},
                                  {"device_bytes_peak", device_->counters().device_bytes_peak},
                                  {"pipelines", device_->counters().pipelines_created},
                                  {"rows", rows}};
      return all.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    }
    std::string t;
    if (r_.tsv) {
      for (const Row& r : rows_)
        t += format("lapilli %s, batch %u beam %u\t%.3f\t%.2f\t%.3f\t%.1f\t%.1f\t%.1f\t%.0f\t%.1f\n", name_.c_str(),
                    r.batch, r.beams, load_ms_ / 1e3, r.encode_ms, r.step_ms, r.total_ms,
                    r.batch * r_.target * 1e3 / r.total_ms, r.cpu_ms, usage().peak_mib, r.first_ms);
      return t;
    }
    t = format(
        "%s on %s (%s)\n%u source ids, exactly %u generated; medians of %u runs; load %.0f ms, %llu pipelines, peak "
        "%.0f MiB (device memory %.0f MiB)\n\n",
        name_.c_str(), caps.device_name.c_str(), caps.driver_info.c_str(), r_.source, r_.target, r_.runs, load_ms_,
        static_cast<unsigned long long>(device_->counters().pipelines_created), usage().peak_mib,
        static_cast<double>(device_->counters().device_bytes_peak) / (1 << 20));
    t += "batch  beams  first ms  encode ms  ms/step  ms/token  total ms  CPU ms  dispatches/step  per layer\n";
    for (const Row& r : rows_)
      t += format("%5u  %5u  %8.1f  %9.2f  %7.3f  %8.3f  %8.1f  %6.1f  %15llu  %9.1f\n", r.batch, r.beams, r.first_ms,
                  r.encode_ms, r.step_ms, r.step_ms / r.batch, r.total_ms, r.cpu_ms,
                  static_cast<unsigned long long>(r.dispatches),
                  static_cast<double>(r.dispatches) / model_->info().decoder_layers);
    return t;
  }

  const BenchRequest& r_;
  std::string name_;
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
  double load_ms_ = 0;
  std::vector<Row> rows_;
};

}  // namespace

Outcome bench(const BenchRequest& request) {
  return guarded("bench", [&] { return Bench(request).run(); });
}

}  // namespace lapilli::tools
