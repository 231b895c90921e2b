#include "runtime/tune/device_limits.hpp"

#include <algorithm>

#include "ops/core/case_util.hpp"
#include "ops/products/matmul.hpp"
#include "ops/rows/basic.hpp"
#include "runtime/check/self_test.hpp"

namespace lapilli {

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint32_t kHalf = 0x3f000000;  // 0.5: keeps sums of products finite
constexpr double kLongEnoughUs = 2000;  // a product that takes this long shows the device's throughput
constexpr uint32_t kLeastN = 128, kMostN = 4096;

// Other programs may be running: with few runs, all might be disturbed.
constexpr uint32_t kRuns = 15;
ProfileOptions best_of(uint32_t runs) { return {runs, ProfileOptions::Take::best}; }

// A graph's weights and arena in separate buffers, filled with 0.5.
class Memory {
 public:
  static Result<Memory> make(const std::shared_ptr<vulkan::Device>& device, const Plan& plan) {
    Memory m;
    LAPILLI_CHECK(m.add(device, graph::Space::arena, 0, plan.arena_bytes()));
    for (const auto& t : plan.graph.tensors())
      if (t.space == graph::Space::weight) LAPILLI_CHECK(m.add(device, t.space, t.id, t.bytes()));
    return m;
  }
  [[nodiscard]] MemoryMap map() const {
    return [this](graph::Space space, uint32_t id) {
      for (const One& one : all_)
        if (one.space == space && (one.id == id || space == graph::Space::arena))
          return BufferRef{&one.buffer, 0, one.buffer.size()};
      return BufferRef{};
    };
  }

 private:
  struct One {
    graph::Space space;
    uint32_t id;
    vulkan::Buffer buffer;
  };
  Status add(const std::shared_ptr<vulkan::Device>& device, graph::Space space, uint32_t id, uint64_t bytes) {
    LAPILLI_TRY(auto buffer, device->make_buffer(std::max<uint64_t>(bytes, 256), vulkan::MemoryUse::device, "limits"));
    LAPILLI_TRY(auto fill, vulkan::CommandRecording::create(device));
    LAPILLI_CHECK(fill.begin(vulkan::RecordingUse::single));
    fill.fill(buffer, 0, round_up<uint64_t>(bytes, 4), kHalf);
    LAPILLI_CHECK(fill.end());
    const vulkan::CommandRecording* list[] = {&fill};
    LAPILLI_TRY(const auto ticket, device->submit(list));
    LAPILLI_CHECK(device->wait(ticket));
    all_.push_back({space, id, std::move(buffer)});
    return {};
  }
  std::vector<One> all_;
};

// Adds a weight; ids count the weights in order.
graph::TensorId add_matrix(graph::Graph& g, uint32_t id, uint64_t rows, uint64_t cols) {
  graph::Tensor t;
  t.name = "x";
  t.rows = rows;
  t.cols = t.ld = cols;
  t.space = graph::Space::weight;
  t.id = id;
  return g.add_tensor(std::move(t));
}

double total_us(const PlanTimes& times) {
  double us = 0;
  for (const double one : times.us) us += one;
  return us;
}

// ---- bytes --------------------------------------------------------------------------------------------------------

Result<double> buffer_copy_rate(const std::shared_ptr<vulkan::Device>& device, uint64_t bytes, uint32_t runs) {
  LAPILLI_TRY(const auto from, device->make_buffer(bytes, vulkan::MemoryUse::device, "limits"));
  LAPILLI_TRY(const auto to, device->make_buffer(bytes, vulkan::MemoryUse::device, "limits"));
  LAPILLI_CHECK(device->zero(from));
  LAPILLI_TRY(auto copy, vulkan::CommandRecording::create(device));
  LAPILLI_CHECK(copy.enable_timestamps(2));
  LAPILLI_CHECK(copy.begin());
  copy.timestamp(0);
  copy.copy(from, 0, to, 0, bytes);
  copy.timestamp(1);
  LAPILLI_CHECK(copy.end());
  LAPILLI_TRY(const auto us, time_recording(*device, copy, best_of(runs)));
  return 2e6 * static_cast<double>(bytes) / us.front();
}

// `copies` copies of a matrix in sequence.
Result<PlanTimes> kernel_copies(const std::shared_ptr<vulkan::Device>& device, uint64_t rows, uint64_t columns,
                                uint32_t copies, uint32_t runs) {
  graph::Graph g;
  auto y = add_matrix(g, 0, rows, columns);
  for (uint32_t i = 0; i < copies; ++i) y = ops::copy(g, "copy", y);
  g.tensor(y).keep = true;
  LAPILLI_TRY(const auto plan, compile_tested(device, g));
  LAPILLI_TRY(const auto memory, Memory::make(device, *plan));
  return profile(device, *plan, memory.map(), best_of(runs));
}

Result<MeasuredLimit> measure_bytes(const std::shared_ptr<vulkan::Device>& device, uint32_t runs) {
  const uint64_t bytes = std::clamp(device->memory_left() / 32, kMiB, 128 * kMiB) / kMiB * kMiB;
  LAPILLI_TRY(const double buffer, buffer_copy_rate(device, bytes, runs));
  constexpr uint64_t kColumns = 4096;
  LAPILLI_TRY(const auto times, kernel_copies(device, bytes / 4 / kColumns, kColumns, 1, runs));
  const double kernel = 2e6 * static_cast<double>(bytes) / total_us(times);
  return MeasuredLimit{
      std::max(buffer, kernel),
      format("%s of %u MiB, read and written", buffer >= kernel ? "buffer copy" : "copy kernel", bytes / kMiB)};
}

// ---- operations ---------------------------------------------------------------------------------------------------

struct Product {
  uint32_t n = 0;
  double us = 0, per_second = 0;
  const char* variant = "";
};
bool slower(const Product& a, const Product& b) { return a.per_second < b.per_second; }

Result<Product> time_product(const std::shared_ptr<vulkan::Device>& device, const Plan& plan, uint32_t runs) {
  LAPILLI_TRY(const auto memory, Memory::make(device, plan));
  LAPILLI_TRY(const auto times, profile(device, plan, memory.map(), best_of(runs)));
  Product p;
  for (const auto& command : plan.commands) p.per_second += command.cost;
  p.us = total_us(times);
  p.per_second *= 1e6 / p.us;
  p.variant = plan.variants.front().name;
  return p;
}

graph::Graph product_graph(uint32_t n) {
  graph::Graph g;
  graph::Tensor w;
  w.name = "w";
  w.cols = w.ld = WeightLayout(n, n).words();
  w.space = graph::Space::weight;
  w.id = 1;
  const auto x = add_matrix(g, 0, n, n);
  const auto y = ops::linear(g, "product", x, g.add_tensor(std::move(w)), n);
  g.tensor(y).keep = true;
  return g;
}

// Times all variants that the device's self-test left, except those that were less than half as fast as the best
// `before`, which would take longest. Each is refused once timed, so that the next one is chosen.
Result<std::vector<Product>> time_products(const std::shared_ptr<vulkan::Device>& device, uint32_t n, uint32_t runs,
                                           const std::vector<Product>& before) {
  const auto self_test = SelfTest::of(*device);
  const auto best = std::max_element(before.begin(), before.end(), slower);
  std::vector<Product> products;
  double fastest = 0;
  Verdicts verdicts = self_test->verdicts();
  for (const char* last = "";;) {
    CompileOptions options;
    options.verdicts = &verdicts;
    LAPILLI_TRY(const auto plan, compile(product_graph(n), device->caps(), options));
    const char* variant = plan->variants.front().name;
    if (variant == last) return products;
    last = variant;
    verdicts.refuse("matmul", variant);
    const bool slow = std::any_of(before.begin(), before.end(), [&](const Product& p) {
      return p.variant == variant && 2 * p.per_second < best->per_second;
    });
    if (slow) continue;
    LAPILLI_TRY(const bool good, self_test->check(device, {plan}));
    if (!good) continue;
    // One run of each, many of those that may be the best.
    LAPILLI_TRY(auto p, time_product(device, *plan, 1));
    fastest = std::max(fastest, p.per_second);
    if (2 * p.per_second >= fastest) {
      LAPILLI_TRY(p, time_product(device, *plan, runs));
    }
    p.n = n;
    products.push_back(p);
  }
}

Result<MeasuredLimit> measure_operations(const std::shared_ptr<vulkan::Device>& device, uint32_t runs) {
  // Three matrices of the largest product, with padding.
  const uint64_t room = std::min(device->memory_left() / 16, device->caps().max_storage_range);
  Product best;
  std::vector<Product> products;
  for (uint32_t n = kLeastN; n <= kMostN && (n == kLeastN || uint64_t{16} * n * n <= room); n *= 2) {
    LAPILLI_TRY(products, time_products(device, n, runs, products));
    if (products.empty()) break;
    const Product here = *std::max_element(products.begin(), products.end(), slower);
    if (slower(best, here)) best = here;
    if (here.us >= kLongEnoughUs) break;
  }
  if (best.per_second <= 0) return fail(ErrorCode::internal, "no matmul kernel could be measured");
  return MeasuredLimit{best.per_second, format("matmul (%s) of %u x %u x %u", best.variant, best.n, best.n, best.n)};
}

}  // namespace

Result<DeviceLimits> measure_limits(const std::shared_ptr<vulkan::Device>& device) {
  DeviceLimits limits;
  limits.by = device->caps().timestamps ? TimedBy::device : TimedBy::host;
  limits.runs = kRuns;
  LAPILLI_TRY(limits.bytes, measure_bytes(device, kRuns));
  LAPILLI_TRY(limits.operations, measure_operations(device, kRuns));
  // Several, since the first dispatch of a recording is not representative of later ones.
  LAPILLI_TRY(const auto least, kernel_copies(device, 1, 4, 8, kRuns));
  limits.least_us = *std::min_element(least.us.begin(), least.us.end());
  return limits;
}

}  // namespace lapilli
