// lab_pipelines [-c CAPS.json] -o DIR MODEL... - the compute pipelines that Lapilli makes for models on a device, in
// every format of weights, and with keys and values in fp16 beside weights in fp32: the list that `pipestats` works
// off. MODEL: a directory, or shape:NAME (shape:transformer-base). Prints lines of DIR/SHADER.spv, entry, constants,
// label, each pipeline once, and writes the modules.
//   -c   a device's capabilities as `lab_caps` prints them (caps.cpp); without it, those of the device that Lapilli
//   would choose
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "generate/published.hpp"
#include "model/transformer.hpp"
#include "ops/core/op.hpp"
#include "ops/core/shader_table.hpp"
#include "runtime/plan/plan.hpp"
#include "search/search_graph.hpp"
#include "vulkan/caps/capabilities_json.hpp"
#include "vulkan/device/device.hpp"

namespace {

using namespace lapilli;

constexpr uint32_t kRowsOfAPrompt = 256;  // of a decoder alone

struct Arguments {
  std::string caps, folder;
  std::vector<std::string> models;
};

class Pipelines {
 public:
  explicit Pipelines(Capabilities caps) : caps_(std::move(caps)) {}

  // The kernels that bring weights into a format.
  Status add_loading() {
    for (const OpDef* op : all_ops()) {
      const std::string name = op->name;
      if (name != "convert" && name != "pack" && name != "pack_bias") continue;
      for (OpCase& c : op->cases()) LAPILLI_CHECK(add(std::move(c.graph)));
    }
    return {};
  }

  Status add_model(const std::string& model) {
    for (uint32_t f = 0; f <= static_cast<uint32_t>(kLastWeightFormat); ++f) {
      LAPILLI_TRY(const auto network, read_network(model, static_cast<WeightFormat>(f)));
      LAPILLI_CHECK(add_network(network));
    }
    LAPILLI_TRY(const auto halves, read_network(model, WeightFormat::fp32, KvFormat::fp16));
    return add_network(halves);
  }

  Status write(const std::string& folder) const {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    for (const ShaderId id : shaders()) {
      const ShaderCode& code = shader_code(id);
      std::ofstream file(folder + "/" + code.name + ".spv", std::ios::binary);
      file.write(reinterpret_cast<const char*>(code.words), static_cast<std::streamsize>(code.word_count * 4));
      if (!file.flush()) return fail(ErrorCode::not_found, "%s/%s.spv cannot be written", folder.c_str(), code.name);
    }
    return {};
  }

  void print(const std::string& folder) const {
    for (const auto& [shader, constants] : pipelines_) {
      std::string text;
      for (const uint32_t c : constants) text += (text.empty() ? "" : ",") + std::to_string(c);
      if (text.empty()) text = "-";
      const char* name = shader_code(shader).name;
      std::printf("%s/%s.spv\tmain\t%s\t%s %s\n", folder.c_str(), name, text.c_str(), name, text.c_str());
    }
  }

 private:
  Status add_network(const model::Network& network) {
    if (!network.config.kind().decodes) return add_encoder(network);
    for (const uint32_t sentences : {1u, 8u, 64u})
      for (const uint32_t beams : {1u, 4u}) LAPILLI_CHECK(add_job(network, sentences, beams));
    return {};
  }

  // Sources alone: packed, and apart with their attention, with masks and a second stream where a model has these.
  Status add_encoder(const model::Network& network) {
    model::ForwardShape shape;
    shape.batch = 8;
    shape.source_length = 64;
    shape.rows = 256;
    LAPILLI_CHECK(add_pass(network, shape));
    if (network.config.kind().reads != model::Reads::ids) return {};
    shape.rows = 0;
    shape.masked = network.config.encoder.segments;
    shape.two_streams = network.encoder.second_stream != model::kNoWeight;
    shape.attentions = !shape.two_streams;
    return add_pass(network, shape);
  }

  Status add_pass(const model::Network& network, const model::ForwardShape& shape) {
    graph::Graph graph;
    model::Builder builder(network, graph);
    model::build_forward(builder, shape);
    return add(std::move(graph));
  }

  Status add_job(const model::Network& network, uint32_t sentences, uint32_t beams) {
    const bool encodes = network.config.kind().encodes;
    WorkspaceKey key = plain_key(sentences, beams, encodes ? 32 : 0, 64);
    key.prompt_rows = encodes ? sentences : kRowsOfAPrompt;
    LAPILLI_CHECK(add(admit_graph(network, key.shape)));
    LAPILLI_CHECK(add(start_graph(network, key.shape)));
    if (encodes)
      for (const uint32_t rows : encode_rows(key)) LAPILLI_CHECK(add(encode_graph(network, key, rows)));
    LAPILLI_CHECK(add(prompt_graph(network, key)));
    LAPILLI_CHECK(add(step_graph(network, key).graph));
    key.sample = true;
    LAPILLI_CHECK(add(step_graph(network, key).graph));
    if (!network.config.decoder.cells) return {};
    key.shortlist = true;  // Firefox's students
    return add(step_graph(network, key).graph);
  }

  Status add(graph::Graph graph) {
    LAPILLI_TRY(const auto plan, compile(std::move(graph), caps_));
    for (const PlannedPipeline& p : plan->pipelines) pipelines_.emplace(p.shader, p.constants);
    return {};
  }

  [[nodiscard]] std::set<ShaderId> shaders() const {
    std::set<ShaderId> ids;
    for (const auto& p : pipelines_) ids.insert(p.first);
    return ids;
  }

  Capabilities caps_;
  std::set<std::pair<ShaderId, std::vector<uint32_t>>> pipelines_;
};

Result<Capabilities> read_capabilities(const std::string& path) {
  std::ifstream file(path);
  return capabilities_from_json({std::istreambuf_iterator<char>(file), {}});
}

// The first device, even if Lapilli would not use it.
Result<Capabilities> first_device() {
  LAPILLI_TRY(const auto devices, vulkan::list_devices({}));
  for (const auto& d : devices)
    if (d.chosen) return d.caps;
  if (devices.empty()) return fail(ErrorCode::no_device, "no device");
  return devices.front().caps;
}

Status run(const Arguments& a) {
  LAPILLI_TRY(auto caps, a.caps.empty() ? first_device() : read_capabilities(a.caps));
  Pipelines pipelines(std::move(caps));
  LAPILLI_CHECK(pipelines.add_loading());
  for (const std::string& model : a.models) LAPILLI_CHECK(pipelines.add_model(model));
  LAPILLI_CHECK(pipelines.write(a.folder));
  pipelines.print(a.folder);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i)
    if (!std::strcmp(argv[i], "-c") && i + 1 < argc)
      a.caps = argv[++i];
    else if (!std::strcmp(argv[i], "-o") && i + 1 < argc)
      a.folder = argv[++i];
    else
      a.models.emplace_back(argv[i]);
  if (a.folder.empty() || a.models.empty())
    return std::fprintf(stderr, "usage: lab_pipelines [-c CAPS.json] -o DIR MODEL...\n"), 2;
  if (const Status status = run(a); !status)
    return std::fprintf(stderr, "lab_pipelines: %s\n", status.error().message.c_str()), 1;
  return 0;
}
