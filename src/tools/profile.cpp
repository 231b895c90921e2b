// Output of `lapilli bench --per-op`: time, bytes and operations of every dispatch, beside the device's own limits.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "ops/core/shader_table.hpp"
#include "runtime/tune/device_limits.hpp"
#include "tools/guard.hpp"
#include "tools/profile_session.hpp"

namespace lapilli::tools {

namespace {

using nlohmann::json;

// Figures of one dispatch, or the sum of several.
struct Figures {
  double us = 0, bytes = 0, operations = 0;
  double least_us = 0;  // by whichever limit is closer
  unsigned dispatches = 0;

  [[nodiscard]] double gb_per_s() const { return bytes / us * 1e-3; }
  [[nodiscard]] double gop_per_s() const { return operations / us * 1e-3; }
  // Least time by the device's limits, as a percentage of the time measured.
  [[nodiscard]] double percent() const { return 100 * least_us / us; }
};
void add(Figures& sum, const Figures& one) {
  sum.us += one.us;
  sum.bytes += one.bytes;
  sum.operations += one.operations;
  sum.least_us += one.least_us;
  sum.dispatches += one.dispatches;
}
json to_json(const Figures& f) {
  return {{"us", f.us},
          {"bytes", f.bytes},
          {"operations", f.operations},
          {"gb_per_s", f.gb_per_s()},
          {"gop_per_s", f.gop_per_s()},
          {"percent_of_limit", f.percent()}};
}

struct Line {
  std::string label, op, shader;
  uint64_t groups = 1;
  const char* limited_by = "";  // whichever limit is closer
  Figures figures;
};

// A plan as lines in program order, and summed by kind of op, most time first.
struct Table {
  std::string title, name;
  unsigned rows = 0;
  std::vector<Line> lines, by_op;
  Figures all;
};

std::vector<Line> sums_by_op(const std::vector<Line>& lines) {
  std::vector<Line> sums;
  for (const Line& line : lines) {
    auto it = std::find_if(sums.begin(), sums.end(), [&](const Line& l) { return l.op == line.op; });
    if (it == sums.end()) it = sums.insert(sums.end(), {"", line.op, "", 0, "", {}});
    add(it->figures, line.figures);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const Line& a, const Line& b) { return a.figures.us > b.figures.us; });
  return sums;
}

Table table_of(const ProfiledPlan& profiled, const DeviceLimits& limits) {
  Table t;
  const Plan& plan = *profiled.plan;
  for (size_t i = 0; i < plan.dispatches.size(); ++i) {
    const PlannedDispatch& d = plan.dispatches[i];
    const graph::Node& node = plan.graph.node(d.node);
    Line line;
    line.label = node.label;
    line.op = format("%s (%s)", node.op->name, plan.variants[d.node].name);
    line.shader = shader_code(plan.pipelines[d.pipeline].shader).name;
    line.groups = uint64_t{d.groups[0]} * d.groups[1] * d.groups[2];
    Figures& f = line.figures;
    f.us = profiled.times.us[i];
    f.bytes = static_cast<double>(graph::covered_bytes(plan.commands[i]));
    f.operations = plan.commands[i].cost;
    const double bytes_us = 1e6 * f.bytes / limits.bytes.per_second;
    const double operations_us = 1e6 * f.operations / limits.operations.per_second;
    f.least_us = std::max(bytes_us, operations_us);
    line.limited_by = bytes_us >= operations_us ? "bytes" : "ops";
    f.dispatches = 1;
    add(t.all, f);
    t.lines.push_back(std::move(line));
  }
  t.by_op = sums_by_op(t.lines);
  return t;
}

// ---- text ---------------------------------------------------------------------------------------------------------

// Figures of a line: us, MB, Mop, GB/s, Gop/s, % of limit.
std::string columns(const Figures& f, const char* limited_by = "") {
  return format("%10.1f  %9.3f  %10.3f  %8.2f  %8.2f  %6.1f%s%s\n", f.us, f.bytes * 1e-6, f.operations * 1e-6,
                f.gb_per_s(), f.gop_per_s(), f.percent(), *limited_by ? " " : "", limited_by);
}
constexpr const char* kColumns = "        us         MB         Mop      GB/s     Gop/s   limit\n";

int width(const std::vector<Line>& lines, std::string Line::*text, size_t least) {
  for (const Line& l : lines) least = std::max(least, (l.*text).size());
  return static_cast<int>(least);
}

std::string text_of(const Table& t) {
  const int label = width(t.lines, &Line::label, 5), op = width(t.lines, &Line::op, 2);
  const int shader = width(t.lines, &Line::shader, 6);
  std::string s = "\n" + t.title + "\n\n";
  s += format("%-*s  %-*s  %-*s  %7s  %s", label, "label", op, "op", shader, "shader", "groups", kColumns);
  for (const Line& l : t.lines)
    s += format("%-*s  %-*s  %-*s  %7u  ", label, l.label, op, l.op, shader, l.shader, l.groups) +
         columns(l.figures, l.limited_by);
  s += format("\n%-*s  %10s  %5s  %s", op, "by op", "dispatches", "share", kColumns);
  for (const Line& l : t.by_op)
    s += format("%-*s  %10u  %4.1f%%  ", op, l.op, l.figures.dispatches, 100 * l.figures.us / t.all.us) +
         columns(l.figures);
  return s + format("%-*s  %10u  %4.1f%%  ", op, "all", t.all.dispatches, 100.0) + columns(t.all);
}

std::string heading(const BenchRequest& r, const BenchModel& loaded, const DeviceLimits& limits) {
  const auto& caps = loaded.device->caps();
  std::string s = format("%s on %s (%s)\n", loaded.name, caps.device_name, caps.driver_info);
  if (limits.by == TimedBy::device)
    s += format("Times: timestamps of the device, a barrier between any two dispatches; medians of %u runs.\n", r.runs);
  else
    s += format(
        "Times: this device has no timestamps. Each dispatch is a submission of its own, timed by the host; medians of "
        "%u runs.\n",
        r.runs);
  s += format(
      "A dispatch that does next to nothing takes %.1f us in this way: about so much of every time is no work.\n",
      limits.least_us);
  s += format("Limits, the best of %u runs: %.2f GB/s (%s); %.2f Gop/s (%s).\n", limits.runs,
              limits.bytes.per_second * 1e-9, limits.bytes.how, limits.operations.per_second * 1e-9,
              limits.operations.how);
  s += "MB: what the bindings cover, twice if read and written; tables, lists and caches that a dispatch reads in\n"
       "part count as a whole, so that GB/s is then too high. Mop: as plans estimate. limit: the time that the\n"
       "nearer limit leaves, in % of the time taken. Above 100: by bytes, they came from a cache or were not\n"
       "touched; by ops, the kernel does better at this size than at the square ones that the limit comes from.\n";
  return s;
}

// ---- JSON ---------------------------------------------------------------------------------------------------------

json to_json(const Table& t) {
  json dispatches = json::array(), ops = json::array();
  for (const Line& l : t.lines) {
    json one = to_json(l.figures);
    one.update(
        {{"label", l.label}, {"op", l.op}, {"shader", l.shader}, {"groups", l.groups}, {"limited_by", l.limited_by}});
    dispatches.push_back(std::move(one));
  }
  for (const Line& l : t.by_op) {
    json one = to_json(l.figures);
    one.update({{"op", l.op}, {"dispatches", l.figures.dispatches}});
    ops.push_back(std::move(one));
  }
  json all = to_json(t.all);
  all.update({{"plan", t.name}, {"rows", t.rows}, {"dispatches", dispatches}, {"ops", ops}});
  return all;
}

json to_json(const BenchRequest& r, const BenchModel& loaded, const DeviceLimits& limits) {
  const auto limit = [](const MeasuredLimit& l, const char* unit) {
    return json{{unit, l.per_second}, {"measured_by", l.how}};
  };
  return {{"model", loaded.name},
          {"device", loaded.device->caps().device_name},
          {"driver", loaded.device->caps().driver_info},
          {"timed_by", limits.by == TimedBy::device ? "device timestamps" : "host, one submission per dispatch"},
          {"least_us", limits.least_us},
          {"source_ids", r.source},
          {"target_ids", r.target},
          {"runs", r.runs},
          {"limits",
           {{"runs", limits.runs},
            {"bytes", limit(limits.bytes, "bytes_per_s")},
            {"operations", limit(limits.operations, "operations_per_s")}}}};
}

// ---- all of it ----------------------------------------------------------------------------------------------------

// The encode pass, if there is one, and the step.
std::vector<Table> tables_of(const SearchProfile& p, const DeviceLimits& limits) {
  std::vector<Table> tables;
  const std::string search = format("batch %u, beams %u", p.batch, p.beams);
  if (p.encode_rows > 0) {
    Table& encode = tables.emplace_back(table_of(p.encode, limits));
    encode.name = "encode";
    encode.rows = p.encode_rows;
    encode.title = format("Encode pass, %s: %u sources of %u rows", search, p.batch, p.source_rows);
  }
  Table& step = tables.emplace_back(table_of(p.step, limits));
  step.name = "step";
  step.rows = p.step_rows;
  step.title = format("Decoder step, %s: %u live rows, from position %u on, caches for %u", search, p.step_rows,
                      p.first_position, p.positions);
  return tables;
}

Result<std::string> run(const BenchRequest& r) {
  LAPILLI_TRY(const auto loaded, load_bench_model(r));
  LAPILLI_TRY(const auto limits, measure_limits(loaded.device));
  std::string text = heading(r, loaded, limits);
  json all = to_json(r, loaded, limits);
  all["profiles"] = json::array();
  for (const unsigned batch : r.batches)
    for (const unsigned beams : r.beams) {
      LAPILLI_TRY(const auto profile, profile_search(r, loaded, batch, beams));
      json plans = json::array();
      for (const Table& t : tables_of(profile, limits)) {
        text += text_of(t);
        plans.push_back(to_json(t));
      }
      all["profiles"].push_back({{"batch", batch},
                                 {"beams", beams},
                                 {"first_position", profile.first_position},
                                 {"positions", profile.positions},
                                 {"plans", plans}});
    }
  end_trace(r, *loaded.device);
  return r.json ? all.dump(1, ' ', false, json::error_handler_t::replace) + "\n" : text;
}

}  // namespace

Outcome bench_per_op(const BenchRequest& request) {
  return guarded("bench", [&] { return run(request); });
}

}  // namespace lapilli::tools
