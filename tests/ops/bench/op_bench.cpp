// Speed of the ops' variants on a device, of the matrix product by shapes, of other ops by their cases: by the wall
// clock and per CPU second (on a CPU driver the machine may be shared, and CPU time is the honest figure).
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "ops/core/op.hpp"
#include "ops/core/registry.hpp"
#include "ops/core/shader_table.hpp"
#include "ops/core/tuning.hpp"
#include "ops/products/matmul.hpp"
#include "ops/products/matmul_cases.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {
namespace {

constexpr const char* kUsage =
    "usage: op_bench [--device SELECT] [--caps MASK] [--shape M,N,K]... [--dtype D] [--local N] [--runs N] [--filter "
    "VARIANT]\n"
    "       op_bench --op NAME [--filter CASE] ...\n"
    "  --local N   workgroup size instead of the variant's own (for kernels that take any)\n"
    "  --memory N  takes turns with copies of all operands, N MiB together, so that no cache holds them\n"
    "  --sweep     every size of a workgroup, and every share of it, that a variant can have\n";

struct Shape {
  uint32_t m = 1, n = 1, k = 1;
};
struct Options {
  std::string device, mask = "full", filter, op;
  std::vector<Shape> shapes;
  std::optional<WeightFormat> format = WeightFormat::fp32;  // none: as the device's class has it
  uint32_t local = 0, runs = 9, memory = 0;
  bool sweep = false;
};

Result<Options> parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--sweep") {
      o.sweep = true;
      continue;
    }
    const std::string v = i + 1 < argc ? argv[++i] : "";
    if (a == "--device")
      o.device = v;
    else if (a == "--caps")
      o.mask = v;
    else if (a == "--filter")
      o.filter = v;
    else if (a == "--op")
      o.op = v;
    else if (a == "--dtype") {
      LAPILLI_TRY(o.format, parse_format(v));
    } else if (a == "--local")
      o.local = static_cast<uint32_t>(std::atoi(v.c_str()));
    else if (a == "--memory")
      o.memory = static_cast<uint32_t>(std::max(0, std::atoi(v.c_str())));
    else if (a == "--runs")
      o.runs = static_cast<uint32_t>(std::max(1, std::atoi(v.c_str())));
    else if (a == "--shape") {
      Shape s;
      if (std::sscanf(v.c_str(), "%u,%u,%u", &s.m, &s.n, &s.k) != 3)
        return fail(ErrorCode::invalid_argument, "--shape takes M,N,K");
      o.shapes.push_back(s);
    } else
      return fail(ErrorCode::invalid_argument, "%s", kUsage);
  }
  if (o.sweep && o.local != 0)
    return fail(ErrorCode::invalid_argument, "--local is one of the sizes that --sweep tries");
  if (o.shapes.empty()) o.shapes = {{1, 2048, 512}, {16, 512, 512}, {64, 2048, 512}, {128, 512, 2048}, {512, 512, 512}};
  return o;
}

double cpu_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
         static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

class Bench {
 public:
  Bench(const Options& options, std::shared_ptr<vulkan::Device> device, Capabilities caps)
      : options_(options),
        device_(std::move(device)),
        caps_(std::move(caps)),
        format_(options.format.value_or(default_format(caps_))) {}

  Status run(const Shape& shape) {
    OpCase c;
    c.name = format("M=%u N=%u K=%u %s", shape.m, shape.n, shape.k, name(format_));
    const auto x = c.graph.activation("x", shape.m, shape.k);
    const WeightLayout layout(shape.n, shape.k, format_);
    const auto w = add_packed(c.graph, "weight", layout);
    ops::linear(c.graph, "y", x, w, shape.n);
    HostTensor value;
    for (uint64_t i = 0; i < c.graph.tensor(x).elements(); ++i) value.f.push_back(static_cast<double>(i % 97) * 0.01);
    c.inputs.emplace_back(x, std::move(value));
    CaseRandom random(1);
    c.inputs.emplace_back(w, packed_values(layout, random, 1));
    return run(matmul_op, c, options_.filter, 2.0 * shape.m * shape.n * shape.k);
  }

  // All variants of a case; `flops` 0: as the lowering estimates.
  Status run(const OpDef& op, const OpCase& c, const std::string& filter, double flops) {
    auto values = host_tensors(c);
    copies_.clear();
    copies_.resize(copies_of(c.graph));
    for (Copy& copy : copies_) LAPILLI_CHECK(make_copy(c.graph, values, copy));
    double best = 0;
    for (const auto& v : op.variants(caps_, c.graph, c.graph.node(0)))
      if (std::string(v.name).find(filter) != std::string::npos) LAPILLI_CHECK(measure_all(op, c, v, flops, best));
    if (flops > 0) std::printf("best of %s: %.2f GFLOP/s per CPU second\n", c.name.c_str(), best);
    return {};
  }

 private:
  static constexpr uint64_t kMostRepeats = 1000;  // of a submission

  // The tensors of a case.
  struct Copy {
    std::vector<vulkan::Buffer> buffers;  // one a root tensor
    std::vector<const vulkan::Buffer*> places;
  };
  [[nodiscard]] size_t copies_of(const graph::Graph& g) const {
    uint64_t bytes = 0;
    for (graph::TensorId id = 0; id < g.tensors().size(); ++id) bytes += g.root(id) == id ? g.tensor(id).bytes() : 0;
    return std::clamp<uint64_t>((uint64_t{options_.memory} << 20) / std::max<uint64_t>(1, bytes), 1, kMostRepeats);
  }
  Status make_copy(const graph::Graph& g, HostTensors& values, Copy& copy) {
    copy.places.assign(g.tensors().size(), {});
    copy.buffers.reserve(copy.places.size());
    for (graph::TensorId id = 0; id < copy.places.size(); ++id) {
      if (g.root(id) == id) {
        LAPILLI_TRY(auto buffer, make_buffer(g.tensor(id), values.at(id)));
        copy.buffers.push_back(std::move(buffer));
      }
      copy.places[id] = g.root(id) == id ? &copy.buffers.back() : copy.places[g.root(id)];
    }
    return {};
  }
  Result<vulkan::Buffer> make_buffer(const graph::Tensor& t, const HostTensor& value) {
    LAPILLI_TRY(auto buffer, device_->make_buffer(t.bytes(), vulkan::MemoryUse::device, "bench"));
    std::vector<uint32_t> words(t.elements());
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = t.dtype == graph::DType::f32 ? std::bit_cast<uint32_t>(static_cast<float>(value.f[i])) : value.u[i];
    LAPILLI_CHECK(device_->write(buffer, 0, std::as_bytes(std::span(words))));
    return buffer;
  }

  // By its own numbers, or by all of them that can be lowered.
  Status measure_all(const OpDef& op, const OpCase& c, const Variant& v, double flops, double& best) {
    if (!options_.sweep) return measure(op, c, v, flops, best);
    std::vector<Dispatch> dispatches;
    for (uint32_t local = 32; local <= 512; local *= 2)
      for (uint32_t each = 1; each <= (v.numbers.each == 0 ? 1 : 8); each *= 2) {
        Variant other = v;
        other.numbers = {local, v.numbers.each == 0 ? 0 : each};
        dispatches.clear();
        if (!lower_node({c.graph, caps_}, c.graph.node(0), other, dispatches)) continue;
        LAPILLI_CHECK(measure(op, c, other, flops, best));
      }
    return {};
  }

  Status measure(const OpDef& op, const OpCase& c, const Variant& v, double flops, double& best) {
    std::vector<Dispatch> dispatches;
    LAPILLI_CHECK(lower_node({c.graph, caps_}, c.graph.node(0), v, dispatches));
    std::vector<vulkan::PipelineRequest> requests;
    double cost = 0;
    for (auto& d : dispatches) {
      if (options_.local != 0) d.constants[0] = options_.local;
      const auto& code = shader_code(d.shader);
      requests.push_back({code.words, code.word_count, code.name, d.constants});
      cost += d.cost;
    }
    if (flops == 0) flops = cost;
    LAPILLI_TRY(const auto pipelines, device_->pipelines(requests));
    LAPILLI_TRY(auto arena,
                vulkan::DescriptorArena::create(device_, static_cast<uint32_t>(dispatches.size() * copies_.size())));
    std::vector<const vulkan::DescriptorSet*> sets;
    for (const Copy& copy : copies_)
      for (const auto& d : dispatches) {
        std::vector<vulkan::BufferBinding> bindings;
        for (const auto& o : d.operands)
          bindings.push_back({o.binding, copy.places[o.tensor], o.begin, o.end - o.begin});
        LAPILLI_TRY(const auto* set, arena.write(bindings));
        sets.push_back(set);
      }
    const auto repeats = std::clamp<uint64_t>(static_cast<uint64_t>(work_of_a_run() / flops), 1, kMostRepeats);
    LAPILLI_TRY(auto recording, vulkan::CommandRecording::create(device_));
    LAPILLI_CHECK(recording.begin());
    for (uint64_t i = 0; i < repeats; ++i) {
      const size_t first = i % copies_.size() * dispatches.size();
      for (size_t d = 0; d < dispatches.size(); ++d) {
        LAPILLI_TRY(const auto grid, fold_groups(caps_, dispatches[d].groups));
        recording.bind(pipelines[d], sets[first + d], std::span(dispatches[d].push).first(dispatches[d].push_bytes));
        recording.dispatch(grid[0], grid[1], grid[2]);
      }
      recording.barrier();
    }
    LAPILLI_CHECK(recording.end());
    LAPILLI_TRY(const auto seconds, time(recording));
    const double per_cpu = flops * static_cast<double>(repeats) / seconds[2] * 1e-9;
    best = std::max(best, per_cpu);
    const std::string numbers = options_.sweep ? format(" %u/%u", v.numbers.local, v.numbers.each) : "";
    const double gflop = flops * static_cast<double>(repeats) * 1e-9, us = 1e6 / static_cast<double>(repeats);
    std::printf(
        "%-16s %-44s %-18s best %8.2f median %8.2f GFLOP/s wall, %9.2f us; %8.2f per CPU second; %9.1f us CPU\n",
        op.name, c.name.c_str(), (v.name + numbers).c_str(), gflop / seconds[0], gflop / seconds[1], seconds[1] * us,
        per_cpu, seconds[2] * us);
    std::fflush(stdout);
    return {};
  }

  // Operations of a submission: milliseconds of it, beside which submitting and waiting are little.
  [[nodiscard]] double work_of_a_run() const { return device_traits(caps_).parallel ? 2e10 : 1e8; }

  // Best and median wall time, median CPU time of one submission.
  Result<std::array<double, 3>> time(const vulkan::CommandRecording& recording) {
    std::vector<double> wall, cpu;
    for (uint32_t r = 0; r < options_.runs + 1; ++r) {
      const double c = cpu_seconds();
      const auto t = std::chrono::steady_clock::now();
      const vulkan::CommandRecording* list[] = {&recording};
      LAPILLI_TRY(const auto ticket, device_->submit(list));
      LAPILLI_CHECK(device_->wait(ticket));
      if (r == 0) continue;  // the first one warms up
      wall.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count());
      cpu.push_back(std::max(1e-9, cpu_seconds() - c));
    }
    std::sort(wall.begin(), wall.end());
    std::sort(cpu.begin(), cpu.end());
    return std::array<double, 3>{wall[0], wall[wall.size() / 2], cpu[cpu.size() / 2]};
  }

  const Options& options_;
  std::shared_ptr<vulkan::Device> device_;
  Capabilities caps_;
  const WeightFormat format_;
  std::vector<Copy> copies_;
};

Status start(const Options& options) {
  vulkan::DeviceOptions device_options;
  device_options.select = options.device;
  device_options.mask = "full";
  LAPILLI_TRY(auto device, vulkan::Device::create(device_options));
  LAPILLI_TRY(auto caps, apply_mask(device->caps(), options.mask));
  std::printf("device: %s\n", caps.device_name.c_str());
  Bench bench(options, device, std::move(caps));
  if (options.op.empty()) {
    for (const auto& shape : options.shapes) LAPILLI_CHECK(bench.run(shape));
    return {};
  }
  for (const OpDef* op : all_ops()) {
    if (options.op != op->name) continue;
    for (auto& c : op->cases()) {
      // Slow ones are timed if they are asked for.
      if ((c.slow && options.filter.empty()) || c.name.find(options.filter) == std::string::npos) continue;
      if (c.prepare) c.prepare(c);
      LAPILLI_CHECK(bench.run(*op, c, "", 0));
    }
    return {};
  }
  return fail(ErrorCode::not_found, "no op %s", options.op.c_str());
}

}  // namespace
}  // namespace lapilli

int main(int argc, char** argv) {
  auto options = lapilli::parse(argc, argv);
  if (!options.ok()) return std::fprintf(stderr, "%s\n", options.error().message.c_str()), 2;
  if (auto s = lapilli::start(*options); !s)
    return std::fprintf(stderr, "op_bench: %s\n", s.error().message.c_str()), 1;
  return 0;
}
