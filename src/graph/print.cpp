#include "graph/print.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

namespace lapilli::graph {
namespace {

using Json = nlohmann::ordered_json;

const char* space_name(Space s) { return s == Space::arena ? "arena" : s == Space::weight ? "weight" : "state"; }
const char* access_name(Access a) { return a == Access::read ? "read" : a == Access::write ? "write" : "read_write"; }

std::string op_name(const PlanPicture& p, NodeId n) { return p.op_name ? p.op_name(n) : std::string(); }
std::string command_name(const PlanPicture& p, uint32_t c) {
  return p.command_name ? p.command_name(c) : std::string();
}

// The level and segment of each command, and the cost of each level.
struct Layout {
  std::vector<uint32_t> level;                     // by command
  std::vector<uint32_t> segment;                   // by level
  std::vector<double> cost;                        // by level
  std::vector<std::vector<uint32_t>> commands_of;  // by node

  explicit Layout(const PlanPicture& p)
      : level(p.commands.size(), 0),
        segment(p.schedule.levels.size(), 0),
        cost(p.schedule.levels.size(), 0),
        commands_of(p.graph.nodes().size()) {
    const Schedule& s = p.schedule;
    for (uint32_t l = 0, at = 0; l < s.levels.size(); ++l) {
      while (at + 1 < s.segments.size() && s.segments[at + 1] <= l) ++at;
      segment[l] = at;
      for (uint32_t i = s.levels[l].begin; i < s.levels[l].end; ++i) {
        level[s.order[i]] = l;
        cost[l] += p.commands[s.order[i]].cost;
      }
    }
    for (uint32_t c = 0; c < p.commands.size(); ++c)
      if (p.commands[c].node < commands_of.size()) commands_of[p.commands[c].node].push_back(c);
  }
};

// ---- JSON
// -------------------------------------------------------------------------------------------------------------

Json id_or_null(uint32_t id) { return id == kNone ? Json(nullptr) : Json(id); }
Json ids(const std::vector<uint32_t>& list) {
  Json out = Json::array();
  for (uint32_t id : list) out.push_back(id_or_null(id));
  return out;
}

Json arena_json(const PlanPicture& p, const std::vector<Lifetime>& lives) {
  std::vector<TensorId> placed;
  for (TensorId id = 0; id < lives.size(); ++id)
    if (lives[id].first <= lives[id].last) placed.push_back(id);
  std::stable_sort(placed.begin(), placed.end(),
                   [&](TensorId a, TensorId b) { return p.placement.offset[a] < p.placement.offset[b]; });
  Json map = Json::array();
  for (TensorId id : placed) {
    const uint64_t begin = p.placement.offset[id];
    map.push_back({{"begin", begin},
                   {"end", begin + p.graph.tensor(id).bytes()},
                   {"tensor", id},
                   {"name", p.graph.tensor(id).name},
                   {"first_node", lives[id].first},
                   {"last_node", lives[id].last}});
  }
  return {{"bytes", p.placement.arena_bytes}, {"map", std::move(map)}};
}

Json tensors_json(const PlanPicture& p) {
  Json list = Json::array();
  for (TensorId id = 0; id < p.graph.tensors().size(); ++id) {
    const Tensor& t = p.graph.tensor(id);
    Json j = {{"name", t.name},     {"dtype", name(t.dtype)},      {"rows", t.rows}, {"cols", t.cols}, {"ld", t.ld},
              {"bytes", t.bytes()}, {"space", space_name(t.space)}};
    if (t.space == Space::arena)
      j["offset"] = p.placement.offset[id];
    else
      j["id"] = t.id;
    j["alias"] = id_or_null(t.alias);
    j["keep"] = t.keep;
    j["live_rows"] = t.live_rows;
    list.push_back(std::move(j));
  }
  return list;
}

Json nodes_json(const PlanPicture& p, const Layout& layout) {
  Json list = Json::array();
  for (NodeId n = 0; n < p.graph.nodes().size(); ++n) {
    const Node& node = p.graph.node(n);
    list.push_back({{"op", op_name(p, n)},
                    {"label", node.label},
                    {"inputs", ids(node.inputs)},
                    {"outputs", ids(node.outputs)},
                    {"commands", ids(layout.commands_of[n])}});
  }
  return list;
}

Json commands_json(const PlanPicture& p, const Layout& layout) {
  Json list = Json::array();
  for (uint32_t c = 0; c < p.commands.size(); ++c) {
    Json ranges = Json::array();
    for (const Range& r : p.commands[c].ranges)
      ranges.push_back({{"space", space_name(r.space)},
                        {"id", r.id},
                        {"begin", r.begin},
                        {"end", r.end},
                        {"access", access_name(r.access)},
                        {"step_stride", r.step_stride}});
    list.push_back({{"name", command_name(p, c)},
                    {"node", id_or_null(p.commands[c].node)},
                    {"level", layout.level[c]},
                    {"cost", p.commands[c].cost},
                    {"ranges", std::move(ranges)}});
    if (!p.command_shape) continue;
    const CommandShape shape = p.command_shape(c);
    list.back()["groups"] = shape.groups;
    list.back()["constants"] = shape.constants;
  }
  return list;
}

Json levels_json(const PlanPicture& p, const Layout& layout) {
  Json list = Json::array();
  const auto& order = p.schedule.order;
  for (uint32_t l = 0; l < p.schedule.levels.size(); ++l) {
    const Level& level = p.schedule.levels[l];
    const bool opens = l == 0 || layout.segment[l] != layout.segment[l - 1];
    list.push_back({{"segment", layout.segment[l]},
                    {"barrier_before", opens ? "opening" : "between"},
                    {"cost", layout.cost[l]},
                    {"commands", std::vector<uint32_t>(order.begin() + level.begin, order.begin() + level.end)}});
  }
  return list;
}

Json segments_json(const PlanPicture& p, const Layout& layout) {
  Json list = Json::array();
  for (uint32_t s = 0; s < p.schedule.segments.size(); ++s) {
    const uint32_t first = p.schedule.segments[s];
    uint32_t last = first, commands = 0;
    double cost = 0;
    for (uint32_t l = first; l < layout.segment.size() && layout.segment[l] == s; ++l) {
      cost += layout.cost[l];
      commands += p.schedule.levels[l].end - p.schedule.levels[l].begin;
      last = l;
    }
    list.push_back({{"first_level", first}, {"last_level", last}, {"commands", commands}, {"cost", cost}});
  }
  return list;
}

double total(const std::vector<double>& costs) {
  double sum = 0;
  for (double c : costs) sum += c;
  return sum;
}

// ---- Graphviz
// ---------------------------------------------------------------------------------------------------------

// Escapes for a quoted string of the dot language; names may come from files.
std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string human(double value) {
  const char* units[] = {"", " k", " M", " G", " T"};
  int unit = 0;
  for (; value >= 1000 && unit < 4; ++unit) value /= 1000;
  return format("%.*f%s", value == static_cast<double>(static_cast<long>(value)) ? 0 : 1, value, units[unit]);
}

std::string node_label(const PlanPicture& p, const Layout& layout, NodeId n) {
  const Node& node = p.graph.node(n);
  const std::string op = op_name(p, n);
  std::string label = escaped(op.empty() ? node.label : op);
  if (!op.empty() && !node.label.empty()) label += "\\n" + escaped(node.label);
  for (TensorId id : node.outputs)
    if (id != kNone)
      label += format("\\n%s%u x %u", p.graph.tensor(id).live_rows ? "up to " : "", p.graph.tensor(id).rows,
                      p.graph.tensor(id).cols);
  const auto& commands = layout.commands_of[n];
  if (commands.size() < 2) return label;
  label += format("\\n%u commands", commands.size());
  uint32_t first = kNone, last = 0;
  for (uint32_t c : commands) {
    first = std::min(first, layout.level[c]);
    last = std::max(last, layout.level[c]);
  }
  if (first < last) label += format(" to level %u", last);
  return label;
}

// The edges, from the nodes that wrote a value to those that read it.
std::string flow(const PlanPicture& p) {
  struct Value {
    TensorId tensor = kNone;
    std::vector<NodeId> writers;
  };
  using Key = std::pair<Space, uint32_t>;  // arena: the root; state: its id
  std::map<Key, Value> values;
  const auto key = [&](TensorId id) {
    const Tensor& t = p.graph.tensor(id);
    return Key{t.space, t.space == Space::arena ? p.graph.root(id) : t.id};
  };
  std::string out;
  for (NodeId n = 0; n < p.graph.nodes().size(); ++n) {
    const Node& node = p.graph.node(n);
    std::vector<Key> read;
    for (TensorId id : node.inputs) {
      if (id == kNone) continue;
      read.push_back(key(id));
      if (std::count(read.begin(), read.end(), read.back()) > 1) continue;
      for (NodeId writer : values[read.back()].writers)
        out += format("  n%u -> n%u [tooltip=\"%s\"%s];\n", writer, n, escaped(p.graph.tensor(id).name),
                      p.graph.tensor(id).space == Space::state ? ", style=dashed" : "");
    }
    for (TensorId id : node.outputs) {
      if (id == kNone) continue;
      Value& value = values[key(id)];
      // Several nodes may fill parts of one tensor; a node that has read it creates a new value.
      const bool part = value.tensor == id && std::count(read.begin(), read.end(), key(id)) == 0;
      if (!part) value.writers.clear();
      value.tensor = id;
      value.writers.push_back(n);
    }
  }
  return out;
}

}  // namespace

std::string to_dot(const PlanPicture& p) {
  const Layout layout(p);
  const Schedule& s = p.schedule;
  // By level: its dot nodes. A node of several commands is placed at its first one.
  std::vector<std::string> ranks(s.levels.size());
  std::string loose;
  for (NodeId n = 0; n < p.graph.nodes().size(); ++n) {
    const std::string text = format("n%u [label=\"%s\"];", n, node_label(p, layout, n));
    uint32_t first = kNone;
    for (uint32_t c : layout.commands_of[n]) first = std::min(first, layout.level[c]);
    (first < ranks.size() ? ranks[first] : loose) += "      " + text + "\n";
  }
  for (uint32_t c = 0; c < p.commands.size(); ++c)
    if (p.commands[c].node >= p.graph.nodes().size())
      ranks[layout.level[c]] += format("      c%u [label=\"%s\"];\n", c, escaped(command_name(p, c)));

  std::string out = format(
      "digraph plan {\n  label=\"%s\\narena %s bytes, %u commands in %u levels and %u segments\";\n", escaped(p.title),
      human(static_cast<double>(p.placement.arena_bytes)), p.commands.size(), s.levels.size(), s.segments.size());
  out +=
      "  labelloc=t; newrank=true; rankdir=TB; nodesep=0.25; ranksep=0.35; fontname=\"sans-serif\";\n"
      "  node [shape=box, style=\"rounded,filled\", fillcolor=\"#eef3f8\", color=\"#5b7a99\", fontname=\"sans-serif\", "
      "fontsize=10];\n  edge [color=\"#5b7a99\", arrowsize=0.6];\n" +
      loose;
  for (uint32_t l = 0; l < s.levels.size(); ++l) {
    const bool opens = l == 0 || layout.segment[l] != layout.segment[l - 1];
    if (opens) {
      if (l > 0) out += "  }\n";
      out +=
          format("  subgraph cluster_%u {\n    label=\"segment %u\"; style=rounded; color=\"#b0b8c0\"; fontsize=11;\n",
                 layout.segment[l], layout.segment[l]);
    }
    out += format(
        "    { rank=same;\n      l%u [shape=plaintext, style=\"\", fontcolor=\"#808890\", "
        "label=\"level %u\\n%s\"];\n%s    }\n",
        l, l, human(layout.cost[l]), ranks[l]);
  }
  if (!s.levels.empty()) out += "  }\n";
  // Stack the levels even where no tensor connects them.
  for (uint32_t l = 1; l < s.levels.size(); ++l) out += format("  l%u -> l%u [style=invis];\n", l - 1, l);
  return out + flow(p) + "}\n";
}

std::string to_json(const PlanPicture& p) {
  const Layout layout(p);
  uint32_t widest = 0;
  for (const Level& l : p.schedule.levels) widest = std::max(widest, l.end - l.begin);
  Json j;
  j["title"] = p.title;
  j["summary"] = {{"nodes", p.graph.nodes().size()},       {"commands", p.commands.size()},
                  {"levels", p.schedule.levels.size()},    {"segments", p.schedule.segments.size()},
                  {"most_commands_in_a_level", widest},    {"cost", total(layout.cost)},
                  {"arena_bytes", p.placement.arena_bytes}};
  j["arena"] = arena_json(p, lifetimes(p.graph));
  j["tensors"] = tensors_json(p);
  j["nodes"] = nodes_json(p, layout);
  j["commands"] = commands_json(p, layout);
  j["levels"] = levels_json(p, layout);
  j["segments"] = segments_json(p, layout);
  return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace lapilli::graph
