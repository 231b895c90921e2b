// Speed of the matrix product's variants on a device: GFLOP/s by the wall clock and per CPU second (on a CPU driver the
// machine may be shared, and CPU time is the honest figure).
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ops/matmul.hpp"
#include "ops/matmul_cases.hpp"
#include "ops/op.hpp"
#include "ops/registry.hpp"
#include "ops/shader_table.hpp"
#include "vulkan/device.hpp"

namespace lapilli {
namespace {

constexpr const char* kUsage =
    "usage: op_bench [--device SELECT] [--caps MASK] [--shape M,N,K]... [--local N] [--runs N] [--filter VARIANT]\n"
    "  --local N   workgroup size instead of the variant's own (for kernels that take any)\n";

struct Shape {
  uint32_t m = 1, n = 1, k = 1;
};
struct Options {
  std::string device, mask = "full", filter;
  std::vector<Shape> shapes;
  uint32_t local = 0, runs = 9;
};

Result<Options> parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const std::string v = i + 1 < argc ? argv[++i] : "";
    if (a == "--device") o.device = v;
    else if (a == "--caps") o.mask = v;
    else if (a == "--filter") o.filter = v;
    else if (a == "--local") o.local = static_cast<uint32_t>(std::atoi(v.c_str()));
    else if (a == "--runs") o.runs = static_cast<uint32_t>(std::max(1, std::atoi(v.c_str())));
    else if (a == "--shape") {
      Shape s;
      if (std::sscanf(v.c_str(), "%u,%u,%u", &s.m, &s.n, &s.k) != 3)
        return fail(ErrorCode::invalid_argument, "--shape takes M,N,K");
      o.shapes.push_back(s);
    } else return fail(ErrorCode::invalid_argument, "%s", kUsage);
  }
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
      : options_(options), device_(std::move(device)), caps_(std::move(caps)) {}

  Status run(const Shape& shape) {
    graph::Graph g;
    const auto x = g.activation("x", shape.m, shape.k);
    const auto w = add_weight(g, "weight", packed::words(shape.n, shape.k));
    const auto y = ops::linear(g, "y", x, w, shape.n);
    buffers_.clear();
    for (const auto id : {x, w, y}) {
      LAPILLI_TRY(auto buffer, device_->make_buffer(g.tensor(id).bytes(), vulkan::MemoryUse::device, "bench"));
      std::vector<float> values(g.tensor(id).elements());
      for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 97) * 0.01f;
      LAPILLI_CHECK(device_->write(buffer, 0, std::as_bytes(std::span(values))));
      buffers_.push_back(std::move(buffer));
    }
    double best = 0;
    for (const auto& v : matmul_op.variants(caps_, g, g.node(0)))
      if (std::string(v.name).find(options_.filter) != std::string::npos) LAPILLI_CHECK(measure(g, shape, v, best));
    std::printf("best of M=%u N=%u K=%u: %.2f GFLOP/s per CPU second\n", shape.m, shape.n, shape.k, best);
    return {};
  }

 private:
  Status measure(const graph::Graph& g, const Shape& shape, const Variant& v, double& best) {
    std::vector<Dispatch> dispatches;
    LAPILLI_CHECK(matmul_op.lower({g, caps_}, g.node(0), v, dispatches));
    if (options_.local != 0)
      for (auto& d : dispatches) d.constants[0] = options_.local;
    std::vector<vulkan::PipelineRequest> requests;
    for (const auto& d : dispatches) {
      const auto& code = shader_code(d.shader);
      requests.push_back({code.words, code.word_count, code.name, d.constants});
    }
    LAPILLI_TRY(const auto pipelines, device_->pipelines(requests));
    LAPILLI_TRY(auto arena, vulkan::DescriptorArena::create(device_, static_cast<uint32_t>(dispatches.size())));
    std::vector<const vulkan::DescriptorSet*> sets;
    for (const auto& d : dispatches) {
      std::vector<vulkan::BufferBinding> bindings;
      for (const auto& o : d.operands) bindings.push_back({o.binding, &buffers_[o.tensor], o.begin, o.end - o.begin});
      LAPILLI_TRY(const auto* set, arena.write(bindings));
      sets.push_back(set);
    }
    const double flops = 2.0 * shape.m * shape.n * shape.k;
    const int repeats = std::max(1, static_cast<int>(1e8 / flops));
    LAPILLI_TRY(auto recording, vulkan::CommandRecording::create(device_));
    LAPILLI_CHECK(recording.begin());
    for (int i = 0; i < repeats; ++i) {
      for (size_t d = 0; d < dispatches.size(); ++d) {
        LAPILLI_TRY(const auto grid, fold_groups(caps_, dispatches[d].groups));
        recording.bind(pipelines[d], sets[d], std::span(dispatches[d].push).first(dispatches[d].push_bytes));
        recording.dispatch(grid[0], grid[1], grid[2]);
      }
      recording.barrier();
    }
    LAPILLI_CHECK(recording.end());
    return submit(recording, flops * repeats, shape, v, best);
  }

  Status submit(const vulkan::CommandRecording& recording, double flops, const Shape& shape, const Variant& v,
                double& best) {
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
    const double per_cpu = flops / cpu[cpu.size() / 2] * 1e-9;
    best = std::max(best, per_cpu);
    std::printf("matmul M=%-4u N=%-5u K=%-5u %-10s best %8.2f median %8.2f GFLOP/s wall; %8.2f per CPU second\n", shape.m,
                shape.n, shape.k, v.name, flops / wall[0] * 1e-9, flops / wall[wall.size() / 2] * 1e-9, per_cpu);
    std::fflush(stdout);
    return {};
  }

  const Options& options_;
  std::shared_ptr<vulkan::Device> device_;
  Capabilities caps_;
  std::vector<vulkan::Buffer> buffers_;  // x, weight, y, as their tensors are numbered
};

Status start(const Options& options) {
  vulkan::DeviceOptions device_options;
  device_options.select = options.device;
  device_options.mask = "full";
  LAPILLI_TRY(auto device, vulkan::Device::create(device_options));
  LAPILLI_TRY(auto caps, apply_mask(device->caps(), options.mask));
  std::printf("device: %s\n", caps.device_name.c_str());
  Bench bench(options, device, std::move(caps));
  for (const auto& shape : options.shapes) LAPILLI_CHECK(bench.run(shape));
  return {};
}

}  // namespace
}  // namespace lapilli

int main(int argc, char** argv) {
  auto options = lapilli::parse(argc, argv);
  if (!options.ok()) return std::fprintf(stderr, "%s\n", options.error().message.c_str()), 2;
  if (auto s = lapilli::start(*options); !s) return std::fprintf(stderr, "op_bench: %s\n", s.error().message.c_str()), 1;
  return 0;
}
