#include "runtime/plan/tuning_space.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "ops/core/tuning.hpp"

namespace lapilli {

namespace {

constexpr uint32_t kLeastLocal = 4, kMostLocal = 256, kMostEach = 64;
constexpr double kHopeless = 4;    // multiple of the cheapest estimate
constexpr size_t kMostTried = 32;  // per node
// Multiple of an invocation's share under the variant's own numbers: drivers that count loop iterations abandon long
// loops.
constexpr double kMostShare = 4;

// The starting number, and powers of two within the limits.
std::vector<uint32_t> tried(uint32_t from, uint32_t least, uint32_t most) {
  std::vector<uint32_t> all{from};
  for (uint32_t n = least; from != 0 && n <= most; n *= 2)
    if (n != from) all.push_back(n);
  return all;
}

double octaves(uint32_t a, uint32_t b) { return a == b ? 0 : std::abs(std::log2(a) - std::log2(b)); }

struct Entry {
  Variant variant;
  double cycles = 0, distance = 0;  // distance: from the numbers that the variant begins with
};
bool cheaper(const Entry& a, const Entry& b) {
  return a.cycles != b.cycles ? a.cycles < b.cycles : a.distance < b.distance;
}

// Numbers that lead to the same dispatches count as one way.
using Signature = std::vector<uint32_t>;
Signature signature_of(std::span<const Dispatch> dispatches) {
  Signature s;
  for (const Dispatch& d : dispatches) {
    s.insert(s.end(), {static_cast<uint32_t>(d.shader), static_cast<uint32_t>(d.constants.size())});
    s.insert(s.end(), d.constants.begin(), d.constants.end());
    s.insert(s.end(), {static_cast<uint32_t>(d.groups), static_cast<uint32_t>(d.groups >> 32)});
    for (uint32_t i = 0; i < d.push_bytes / 4; ++i) {
      uint32_t word = 0;
      std::memcpy(&word, d.push.data() + uint64_t{4} * i, 4);
      s.push_back(word);
    }
  }
  return s;
}

double local_of(const Dispatch& d) { return d.constants.empty() ? 1 : std::max(1u, d.constants.front()); }
// Operations per invocation.
double share_of(const Dispatch& d) { return d.cost / (static_cast<double>(d.groups) * local_of(d)); }
double share_of(std::span<const Dispatch> dispatches) {
  double most = 0;
  for (const Dispatch& d : dispatches) most = std::max(most, share_of(d));
  return most;
}

class Space {
 public:
  Space(const LowerContext& context, const graph::Node& node, const CompileOptions& options)
      : context_(context), node_(node), options_(options) {}

  TuningSpace around(const Variant& standing) {
    const auto dispatches = lowered(standing);
    most_dispatches_ = dispatches.size();
    seen_.insert(signature_of(dispatches));
    best_ = estimated_cycles(context_.caps, dispatches);
    if (!dispatches.empty())
      for (const Variant& v : node_.op->variants(context_.caps, context_.graph, node_))
        if (is_allowed(v)) add_numbers(v);
    return pruned();
  }

 private:
  [[nodiscard]] bool is_allowed(const Variant& v) const {
    if (options_.deterministic && !(v.sums_in_order && node_.op->tuning.numbers_keep_order)) return false;
    return !options_.verdicts || !options_.verdicts->refused(node_.op->name, v.name);
  }
  [[nodiscard]] std::vector<Dispatch> lowered(const Variant& v) const {
    std::vector<Dispatch> list;
    if (!lower_node(context_, node_, v, list)) list.clear();
    return list;
  }
  void add_numbers(const Variant& from) {
    most_share_ = kMostShare * share_of(lowered(from));
    for (const uint32_t local : tried(from.numbers.local, kLeastLocal, kMostLocal))
      for (const uint32_t each : tried(from.numbers.each, 1, kMostEach)) {
        Variant v = from;
        v.numbers = {local, each};
        add(v, octaves(local, from.numbers.local) + octaves(each, from.numbers.each));
      }
  }
  void add(const Variant& v, double distance) {
    const auto dispatches = lowered(v);
    if (dispatches.empty() || dispatches.size() > most_dispatches_) return;
    if (share_of(dispatches) > most_share_) return;
    if (!seen_.insert(signature_of(dispatches)).second) return;
    entries_.push_back({v, estimated_cycles(context_.caps, dispatches), distance});
    best_ = std::min(best_, entries_.back().cycles);
  }
  TuningSpace pruned() {
    std::stable_sort(entries_.begin(), entries_.end(), cheaper);
    TuningSpace space;
    for (const Entry& e : entries_)
      if (e.cycles <= kHopeless * best_ && space.candidates.size() < kMostTried) space.candidates.push_back(e.variant);
    space.pruned = entries_.size() - space.candidates.size();
    return space;
  }

  const LowerContext& context_;
  const graph::Node& node_;
  const CompileOptions& options_;
  size_t most_dispatches_ = 0;
  double best_ = 0, most_share_ = 0;
  std::set<Signature> seen_;
  std::vector<Entry> entries_;
};

double bytes_of(const Dispatch& d) {
  double bytes = 0;
  for (const Operand& o : d.operands)
    if (o.used) bytes += static_cast<double>(o.end - o.begin) * (o.access == graph::Access::read_write ? 2 : 1);
  return bytes;
}

}  // namespace

// An invocation does its share alone, so a grid that does not fill the device takes as long as one invocation's share.
double estimated_cycles(const Capabilities& caps, std::span<const Dispatch> dispatches) {
  const CycleModel model = cycle_model(caps);
  double cycles = 0;
  for (const Dispatch& d : dispatches) {
    const double wide = std::max(1u, caps.subgroup_size);
    const double lanes = static_cast<double>(d.groups) * std::ceil(local_of(d) / wide) * wide;
    cycles +=
        model.dispatch + std::max(share_of(d) / 2 * std::max(1.0, lanes / model.lanes), bytes_of(d) / model.bytes);
  }
  return cycles;
}

TuningSpace tuning_space(const LowerContext& context, const graph::Node& node, const Variant& standing,
                         const CompileOptions& options) {
  return Space(context, node, options).around(standing);
}

}  // namespace lapilli
