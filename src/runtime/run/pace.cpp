#include "runtime/run/pace.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lapilli {

namespace {

constexpr double kHourUs = 3.6e9;
// Kernels differ: an unmeasured one may be this much slower than measured ones. Those of the lab's devices differ by
// ten; with 4 and with 6, submissions there took 22 and 21.5 ms where the limit was 16.
constexpr double kUnseen = 10;
// Fraction by which an expectation moves towards a faster measurement. Small for a segment, since steps with few rows
// left (others have ended) say nothing about the next full one.
constexpr double kFasterSegment = 0.01, kFasterRates = 0.05;
// Initial rates: a slow phone. Only the proportions outlast the first measurement.
constexpr Pace::Rates kSlow{5e3, 5e4, 20};
// Lower limits would cut nothing further.
constexpr double kLeastOperations = 1e6, kLeastBytes = 262144;
// The finest part of the first limit. A device that others kept busy for a while looks slow without end, and each part
// is a descriptor set: some drivers map memory for each, which a system bounds (65,530 in Linux).
constexpr double kFinestPart = 1.0 / 64;
// Target time for a segment that must be cut, relative to a submission's limit.
constexpr double kCutTo = 0.5;

// Moves an expectation towards a measurement: at once if that is longer, by a fraction if it is shorter.
double corrected(double expected_us, const TimeBounds& took, double faster) {
  if (took.least_us > expected_us) return took.least_us;
  if (took.most_us < expected_us) return expected_us + faster * (took.most_us - expected_us);
  return expected_us;
}

WorkLimit least_limit(const WorkLimit& first) {
  return WorkLimit(std::max(kLeastOperations, first.operations() * kFinestPart),
                   std::max(kLeastBytes, first.bytes() * kFinestPart));
}

double power_of_two_below(double x) { return std::exp2(std::floor(std::log2(x))); }

// A boundary between two segments takes some 15 us on a desktop GPU, since a step's kernels are fetched again
// (measured, docs/decisions/segments.md). Where submissions may be long, as by default, there are fewer boundaries: at
// 50 GB/s one takes a fifth of the time. Callers that want short submissions, to draw frames in between, get the finest
// limit.
WorkLimit first_limit(const Capabilities& caps, double max_submit_us) {
  constexpr double kFinestUs = 6250, kMostTimes = 8;
  const WorkLimit finest = WorkLimit::finest(caps);
  if (caps.type != DeviceType::discrete) return finest;
  const double times = std::clamp(power_of_two_below(max_submit_us / kFinestUs), 1.0, kMostTimes);
  return WorkLimit(std::min(finest.operations() * times, WorkLimit::of(caps).operations()), finest.bytes() * times);
}

}  // namespace

bool TimeBounds::plausible() const { return least_us >= 0 && most_us > 0 && least_us <= most_us && most_us < kHourUs; }

void SegmentTime::learn(double expected_us, const TimeBounds& took) {
  if (us > 0)
    us = corrected(us, took, kFasterSegment);
  else
    us = std::clamp(expected_us, took.least_us, took.most_us);
}

std::shared_ptr<Pace> Pace::of(vulkan::Device& device) {
  const auto make = [&] { return std::make_shared<Pace>(device.caps(), device.max_submit_us()); };
  return std::static_pointer_cast<Pace>(device.companion(make, vulkan::Device::Companion::pace));
}

Pace::Pace(const Capabilities& caps, double max_submit_us)
    : max_submit_us_(max_submit_us),
      cut_level_(caps.type == DeviceType::cpu ? LogLevel::verbose : LogLevel::note),
      compiles_late_(caps.type == DeviceType::cpu),
      fixed_(std::find(caps.masks.begin(), caps.masks.end(), "small-work") != caps.masks.end()),
      rates_(kSlow),
      limit_(first_limit(caps, max_submit_us)),
      least_(least_limit(limit_)) {}

bool Pace::knows() const {
  const std::lock_guard lock(mutex_);
  return counts_.measured > 0 && !fixed_;
}

double Pace::guess_us(const graph::Cost& cost) const {
  return cost.bytes / rates_.bytes_per_us + cost.operations / rates_.operations_per_us +
         cost.commands * rates_.command_us;
}

double Pace::expect_us(const SegmentTime& segment) const {
  if (segment.us > 0) return segment.us;
  const std::lock_guard lock(mutex_);
  return kUnseen * guess_us(segment.cost);
}

void Pace::learn(SegmentTime& segment, double expected_us, const TimeBounds& took) {
  if (!took.plausible()) return;
  const bool compiled = !std::exchange(segment.ran, true) && compiles_late_;
  bool first_cut = false;
  if (compiled) {
    learn_no_slower(segment.cost, took);
  } else {
    segment.learn(expected_us, took);
    const std::lock_guard lock(mutex_);
    learn_rates(segment.cost, took);
    ++counts_.measured;
    if (took.least_us > max_submit_us_) {
      ++counts_.too_long;
      first_cut = cut_limit(segment.cost, took.least_us) && counts_.limit_cuts++ == 0;
    }
  }
  if (first_cut)
    log(cut_level_, format("a part of the work took %.1f ms on the device at once, more than the %.1f ms that a "
                           "submission may: later work is cut finer",
                           took.least_us * 1e-3, max_submit_us_ * 1e-3));
}

// Even with the driver's compilation it was faster than guessed, so it is faster still without.
void Pace::learn_no_slower(const graph::Cost& cost, const TimeBounds& took) {
  const std::lock_guard lock(mutex_);
  if (took.most_us >= guess_us(cost)) return;
  learn_rates(cost, took);
  ++counts_.measured;
}

void Pace::learn(std::span<const TimedSegment> recordings, std::span<const double> device_us, const TimeBounds& whole) {
  double all_us = 0;
  for (const TimedSegment& r : recordings) all_us += r.expected_us;
  if (all_us <= 0) return;
  for (size_t i = 0; i < recordings.size(); ++i) {
    const auto& [segment, expected] = recordings[i];
    if (!segment) continue;
    const double share = expected / all_us;
    const bool timed = i < device_us.size();
    learn(*segment, expected,
          timed ? TimeBounds{device_us[i], device_us[i]} : TimeBounds{whole.least_us * share, whole.most_us * share});
  }
}

TimeBounds ObservedTimes::done(Clock::time_point submitted) {
  const auto now = Clock::now();
  const auto us = [](Clock::duration d) { return std::max(0.0, std::chrono::duration<double, std::micro>(d).count()); };
  TimeBounds took;
  took.most_us = us(now - std::max(submitted, seen_pending_before_));
  took.least_us = std::min(us(seen_pending_ - std::max(submitted, seen_done_before_)), took.most_us);
  seen_pending_before_ = seen_pending_;
  seen_done_before_ = now;
  return took;
}

// The first measurement scales all rates, keeping their proportions; later ones change the rate that dominates the
// measured work.
void Pace::learn_rates(const graph::Cost& cost, const TimeBounds& took) {
  const double guess = guess_us(cost);
  if (!(guess > 0)) return;
  if (counts_.measured == 0) {
    const double times = std::clamp(guess, took.least_us, took.most_us) / guess;
    rates_ = {rates_.bytes_per_us / times, rates_.operations_per_us / times, rates_.command_us * times};
    return;
  }
  const double change = corrected(guess, took, kFasterRates) - guess;
  const double bytes = cost.bytes / rates_.bytes_per_us, operations = cost.operations / rates_.operations_per_us;
  const double commands = cost.commands * rates_.command_us;
  if (bytes >= std::max(operations, commands))
    rates_.bytes_per_us = cost.bytes / std::max(bytes + change, bytes / 2);
  else if (operations >= commands)
    rates_.operations_per_us = cost.operations / std::max(operations + change, operations / 2);
  else
    rates_.command_us = std::max(commands + change, commands / 2) / cost.commands;
}

// The same cost gives the same limit, however often it is found too long. Copies belong to no plan, and work smaller
// than any limit was slow for another reason.
bool Pace::cut_limit(const graph::Cost& cost, double took_us) {
  if (cost.operations <= 0 || (cost.operations < kLeastOperations && cost.bytes < kLeastBytes)) return false;
  const double part = kCutTo * max_submit_us_ / took_us;
  const auto cut = [&](double now, double cost_now, double least) {
    return std::min(now, std::max(least, power_of_two_below(std::max(1.0, cost_now * part))));
  };
  const WorkLimit before = limit_;
  limit_ = WorkLimit(cut(before.operations(), cost.operations, least_.operations()),
                     cut(before.bytes(), cost.bytes, least_.bytes()));
  return limit_ != before;
}

WorkLimit Pace::limit() const {
  const std::lock_guard lock(mutex_);
  return limit_;
}

Pace::Counts Pace::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

Pace::Rates Pace::rates() const {
  const std::lock_guard lock(mutex_);
  return rates_;
}

}  // namespace lapilli
