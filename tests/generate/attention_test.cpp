// Attention of finished sequences, against recorded weights and the reference interpreter; words that belong together.
#include "generate/attention.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/worst.hpp"
#include "formats/hf_config.hpp"
#include "generate/searches.hpp"
#include "support/shared_device.hpp"

namespace lapilli {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;

std::vector<float> expected_values(const Checkpoint& tensors, const std::string& name) {
  const auto* stored = tensors.find(name);
  if (!stored) return {};
  std::vector<float> values(stored->bytes.size() / sizeof(float));
  std::memcpy(values.data(), stored->bytes.data(), values.size() * sizeof(float));
  return values;
}

std::vector<int32_t> expected_ids(const Checkpoint& tensors, const std::string& name) {
  const auto* stored = tensors.find(name);
  if (!stored) return {};
  const auto values = read_integers(*stored);
  return values ? std::vector<int32_t>(values->begin(), values->end()) : std::vector<int32_t>();
}

void expect_near(std::span<const float> ours, std::span<const float> theirs, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(ours.size(), theirs.size()) << what;
  double worst = 0;
  for (size_t i = 0; i < ours.size(); ++i) worst = worse(worst, std::abs(double{ours[i]} - double{theirs[i]}));
  EXPECT_LE(worst, tolerance) << what;
}

// The reference implementation's weights for one source and target.
TEST(DeviceAttention, EqualsRecordedWeights) {
  const std::string base = std::string(LAPILLI_TEST_DATA) + "/models/marian";
  LAPILLI_ASSERT_VALUE(const auto device, shared_device());
  LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, base + "/model"));
  LAPILLI_ASSERT_VALUE(const auto tensors, Checkpoint::open_file(base + "/expected.safetensors"));
  LAPILLI_ASSERT_VALUE(const auto json, read_json_file(base + "/expected.json"));
  const auto& cases = json["cases"];
  const auto found =
      std::find_if(cases.begin(), cases.end(), [](const auto& c) { return c["name"] == "forward_single"; });
  ASSERT_NE(found, cases.end());
  const auto& record = *found;
  SequencePart part;
  part.source_ids = expected_ids(tensors, record["inputs"]["input_ids"]);
  part.decoder_ids = expected_ids(tensors, record["inputs"]["decoder_input_ids"]);
  ASSERT_FALSE(part.source_ids.empty());
  LAPILLI_ASSERT_VALUE(const auto a, attend(model, part, "", ""));
  int compared = 0;
  for (const auto& [name, output] : record["outputs"].items()) {
    const size_t at = name.find("_attentions.");
    if (at == std::string::npos) continue;
    const auto kind = name.starts_with("cross")     ? AttentionKind::cross
                      : name.starts_with("encoder") ? AttentionKind::encoder
                                                    : AttentionKind::decoder;
    const AttentionMap& map = a.map(kind);
    const size_t size = size_t{map.heads} * map.rows * map.cols, layer = std::stoul(name.substr(at + 12));
    ASSERT_LE((layer + 1) * size, map.values.size());
    expect_near(std::span(map.values).subspan(layer * size, size), expected_values(tensors, output["tensor"]),
                output["atol_fp32"], name);
    ++compared;
  }
  EXPECT_EQ(compared, static_cast<int>(2 * model->info().decoder_layers + model->info().encoder_layers));
}

// A row of a map.
std::vector<float> row_of(const AttentionMap& map, uint32_t layer, uint32_t head, uint32_t row) {
  const size_t at = ((size_t{layer} * map.heads + head) * map.rows + row) * map.cols;
  return {map.values.begin() + static_cast<ptrdiff_t>(at), map.values.begin() + static_cast<ptrdiff_t>(at + map.cols)};
}

// A decoder whose layers attend to their own text and to the source at once: weights that the reference gives (5.24)
// for the ids of the record, which has none, of a layer with a window and of one without.
TEST(DeviceAttention, SharesOfAMergedAttention) {
  const std::string base = std::string(LAPILLI_TEST_DATA) + "/models/t5gemma2";
  LAPILLI_ASSERT_VALUE(const auto device, shared_device());
  LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, base + "/model"));
  LAPILLI_ASSERT_VALUE(const auto tensors, Checkpoint::open_file(base + "/expected.safetensors"));
  SequencePart part;
  part.source_ids = expected_ids(tensors, "single.input_ids");
  part.decoder_ids = expected_ids(tensors, "forward_single.decoder_input_ids");
  ASSERT_EQ(part.source_ids.size(), 15u);
  ASSERT_EQ(part.decoder_ids.size(), 12u);
  LAPILLI_ASSERT_VALUE(const auto a, attend(model, part, "", ""));
  const std::vector<float> near_own = {0, 0, 0, 0, 0, 0, 0.037611f, 0.083396f, 0.044558f, 0.007181f, 0, 0},
                           near_source = {0.024276f, 0.008469f, 0.018009f, 0.011253f, 0.027246f,
                                          0.037223f, 0.137177f, 0.203475f, 0.154018f, 0.134523f,
                                          0.026795f, 0.011286f, 0.010495f, 0.015266f, 0.007744f},
                           own = {0.043197f, 0.115892f, 0.153883f, 0.103636f, 0.003778f, 0.019702f,
                                  0.133300f, 0.019031f, 0.104134f, 0.016627f, 0.052121f, 0.056049f},
                           source = {0.003239f, 0.006046f, 0.002412f, 0.010837f, 0.003339f,
                                     0.005285f, 0.046335f, 0.031076f, 0.034867f, 0.009805f,
                                     0.006467f, 0.007375f, 0.004999f, 0.002815f, 0.003755f};
  expect_near(row_of(a.decoder, 0, 1, 9), near_own, 2e-6, "own keys within the window");
  expect_near(row_of(a.cross, 0, 1, 9), near_source, 2e-6, "keys of the source beside a window");
  expect_near(row_of(a.decoder, 1, 2, 11), own, 2e-6, "own keys");
  expect_near(row_of(a.cross, 1, 2, 11), source, 2e-6, "keys of the source");
}

// The chosen hypothesis of a beam search: a forward pass of the interpreter in double precision sees the same.
TEST(DeviceAttention, FollowsTheChosenHypothesisOfABeamSearch) {
  LAPILLI_ASSERT_VALUE(const auto device, shared_device());
  LAPILLI_ASSERT_VALUE(const auto model, Model::load(device, marian()));
  TranslateRequest request;
  const auto sources = random_sources({9}, 200, 3);
  request.inputs.push_back({{}, sources[0], true});
  request.options.num_beams = request.options.num_return_sequences = 4;
  request.options.max_new_tokens = 12;
  LAPILLI_ASSERT_VALUE(const auto out, translate(model, request));
  ASSERT_EQ(out.outputs[0].sequences.size(), 4u);
  std::set<std::vector<int32_t>> different;
  for (const TextSequence& sequence : out.outputs[0].sequences) {
    ASSERT_EQ(sequence.parts.size(), 1u);
    const SequencePart& part = sequence.parts[0];
    different.insert(part.decoder_ids);
    // The ids that the search gave, start token in front.
    ASSERT_EQ(std::vector<int32_t>(part.decoder_ids.end() - static_cast<ptrdiff_t>(sequence.ids.size()),
                                   part.decoder_ids.end()),
              sequence.ids);
    LAPILLI_ASSERT_VALUE(const auto a, attend(model, part, "", ""));

    LAPILLI_ASSERT_VALUE(const auto loaded, load_network(marian()));
    model::ForwardShape shape;
    shape.batch = 1;
    shape.source_length = static_cast<uint32_t>(part.source_ids.size());
    shape.target_length = static_cast<uint32_t>(part.decoder_ids.size());
    shape.attentions = true;
    shape.logits = false;
    graph::Graph g;
    model::Builder b(loaded.network, g);
    model::build_forward(b, shape);
    SearchInput input;
    input.sources = {part.source_ids};
    input.options.max_length = shape.target_length;
    LAPILLI_ASSERT_VALUE(auto interpreter, make_interpreter(loaded.network, exact_key(input), input));
    interpreter.states[state_id(StateKind::source_ids)].u.assign(part.source_ids.begin(), part.source_ids.end());
    interpreter.states[state_id(StateKind::lengths)].u = {0, shape.source_length};
    interpreter.states[state_id(StateKind::target_ids)].u.assign(part.decoder_ids.begin(), part.decoder_ids.end());
    interpreter.states[state_id(StateKind::target_lengths)].u = {0, shape.target_length};
    for (const StateKind kind : {StateKind::lengths, StateKind::target_lengths})
      interpreter.states[state_id(kind)].u.resize(2 * uint64_t{state::MAX_ROWS});
    interpreter.begin(g);
    for (graph::NodeId node = 0; node < g.nodes().size(); ++node) interpreter.run_node(node);
    std::map<std::string, size_t> layers;
    for (const auto& o : b.outputs()) {
      if (o.name.find("_attentions.") == std::string::npos) continue;
      const auto& t = g.tensor(o.tensor);
      const auto& values = interpreter.tensor(g.root(o.tensor)).f;
      std::vector<float> plain;
      for (uint64_t r = 0; r < t.rows; ++r)
        for (uint64_t c = 0; c < t.cols; ++c) plain.push_back(static_cast<float>(values[r * t.ld + c]));
      const std::string kind = o.name.substr(0, o.name.find('.'));
      const AttentionMap& map = kind == "cross_attentions"     ? a.cross
                                : kind == "encoder_attentions" ? a.encoder
                                                               : a.decoder;
      const size_t size = size_t{map.heads} * map.rows * map.cols;
      expect_near(std::span(map.values).subspan(layers[kind]++ * size, size), plain, 2e-5, o.name);
    }
    EXPECT_EQ(layers.size(), 3u);
  }
  EXPECT_EQ(different.size(), 4u);
}

class DeviceAlignment : public testing::Test {
 protected:
  void SetUp() override {
    LAPILLI_ASSERT_VALUE(device_, shared_device());
    LAPILLI_ASSERT_VALUE(model_, Model::load(device_, LAPILLI_SOURCE_DIR "/models/en-fr"));
    ASSERT_NE(model_->tokenizer(), nullptr) << model_->tokenizer_error().message;
  }
  void run(const std::string& text) {
    text_ = text;
    TranslateRequest request;
    request.inputs.push_back({text_, {}, false});
    LAPILLI_ASSERT_VALUE(const auto out, translate(model_, request));
    ASSERT_FALSE(out.outputs[0].sequences.empty());
    best_ = out.outputs[0].sequences[0];
    LAPILLI_ASSERT_VALUE(attention_, attend(model_, best_.parts.at(0), text_, best_.text));
  }
  std::set<std::pair<std::string, std::string>> pairs() {
    std::set<std::pair<std::string, std::string>> found;
    const auto alignment = align(attention_);
    EXPECT_TRUE(alignment.ok()) << message_of(alignment);
    if (!alignment) return found;
    for (const WordLink& link : alignment->links) {
      const ByteRange s = alignment->source[link.source].bytes, t = alignment->target[link.target].bytes;
      found.insert({text_.substr(s.begin, s.end - s.begin), best_.text.substr(t.begin, t.end - t.begin)});
    }
    return found;
  }
  std::shared_ptr<vulkan::Device> device_;
  std::shared_ptr<Model> model_;
  std::string text_;
  TextSequence best_;
  Attention attention_;
};

TEST_F(DeviceAlignment, ObviousPairsOfTheBundledModel) {
  struct Case {
    std::string text;
    std::vector<std::pair<std::string, std::string>> pairs;
  };
  const Case cases[] = {
      {"The cat sleeps.", {{"The", "Le"}, {"cat", "chat"}, {"sleeps", "dort"}, {".", "."}}},
      {"Where is the station?", {{"Where", "Où"}, {"is", "est"}, {"the", "la"}, {"station", "gare"}, {"?", "?"}}},
      {"I have a big house near the river.",
       {{"big", "grande"}, {"house", "maison"}, {"near", "près"}, {"river", "rivière"}}},
      {"My brother bought a new car yesterday.",
       {{"My", "Mon"},
        {"brother", "frère"},
        {"bought", "acheté"},
        {"new", "nouvelle"},
        {"car", "voiture"},
        {"yesterday", "hier"}}},
      {"The children read two books in the garden.",
       {{"children", "enfants"},
        {"read", "lu"},
        {"two", "deux"},
        {"books", "livres"},
        {"in", "dans"},
        {"garden", "jardin"}}},
      // The order differs between the languages.
      {"The black dog eats the red apple.", {{"dog", "chien"}, {"apple", "pomme"}, {"red", "rouge"}}},
  };
  for (const Case& c : cases) {
    run(c.text);
    if (HasFatalFailure()) return;
    const auto found = pairs();
    for (const auto& pair : c.pairs) {
      EXPECT_TRUE(found.count(pair)) << c.text << " -> " << best_.text << ": " << pair.first << " ~ " << pair.second;
    }
  }
}

TEST_F(DeviceAlignment, TokensWeightsAndJson) {
  run("The cat sleeps.");
  if (HasFatalFailure()) return;
  const Attention& a = attention_;
  // Every row is a distribution; the decoder never looks ahead.
  for (const AttentionMap* map : {&a.cross, &a.encoder, &a.decoder}) {
    ASSERT_EQ(map->values.size(), size_t{map->layers} * map->heads * map->rows * map->cols);
    for (size_t row = 0; row < map->values.size() / map->cols; ++row) {
      double sum = 0;
      for (size_t c = 0; c < map->cols; ++c) sum += double{map->values[row * map->cols + c]};
      EXPECT_NEAR(sum, 1, 1e-5);
    }
  }
  for (size_t r = 0; r < a.decoder.rows; ++r)
    for (size_t c = r + 1; c < a.decoder.cols; ++c) EXPECT_EQ(a.decoder.values[r * a.decoder.cols + c], 0.0f);
  // Labels and bytes agree; together they are the text without its blanks.
  std::string source, target;
  for (const AttentionToken& t : a.source)
    source += t.special ? "" : text_.substr(t.bytes.begin, t.bytes.end - t.bytes.begin);
  for (const AttentionToken& t : a.target) target += t.special ? "" : t.label;
  EXPECT_EQ(source, "Thecatsleeps.");
  EXPECT_EQ(target, "Lechatdort.");
  EXPECT_TRUE(a.source.back().special);
  EXPECT_EQ(a.source.back().label, "</s>");

  LAPILLI_ASSERT_VALUE(const auto text, attention_json(a, {AttentionKind::cross, kAttentionAll, kAttentionAll}));
  const auto json = nlohmann::json::parse(text);
  ASSERT_EQ(json["weights"].size(), a.cross.layers);
  ASSERT_EQ(json["weights"][0].size(), a.cross.heads);
  ASSERT_EQ(json["weights"][0][0].size(), json["rows"].size());
  ASSERT_EQ(json["rows"].size() + 1, a.target.size());  // the token that each step writes
  ASSERT_EQ(json["columns"].size(), a.source.size());
  EXPECT_EQ(json["rows"][1]["token"], "chat");
  EXPECT_EQ(json["rows"][1]["begin"], 3);
  EXPECT_NEAR(json["weights"][1][2][1][0].get<float>(),
              a.cross.values[((1 * a.cross.heads + 2) * a.cross.rows + 1) * a.cross.cols], 1e-6);
  LAPILLI_ASSERT_VALUE(const auto mean, attention_json(a, {AttentionKind::encoder}));
  EXPECT_EQ(nlohmann::json::parse(mean)["weights"].size(), a.source.size());
  EXPECT_EQ(nlohmann::json::parse(mean)["layer"], "mean");

  LAPILLI_ASSERT_VALUE(const auto png, attention_png(a, {AttentionKind::decoder, 0, 1}));
  EXPECT_EQ(std::string(png.begin() + 1, png.begin() + 4), "PNG");
  EXPECT_FALSE(attention_png(a, {AttentionKind::cross, kAttentionAll, 0}).ok());
  const auto layer = attention_json(a, {AttentionKind::cross, static_cast<int32_t>(a.cross.layers), 0});
  ASSERT_FALSE(layer.ok());
  EXPECT_THAT(layer.error().message, HasSubstr("layers 0 to"));
  EXPECT_FALSE(align(a, {99}).ok());
}

TEST_F(DeviceAlignment, IdsAloneHaveNoWords) {
  run("The cat sleeps.");
  if (HasFatalFailure()) return;
  LAPILLI_ASSERT_VALUE(const auto a, attend(model_, best_.parts[0], "", ""));
  const auto alignment = align(a);
  ASSERT_FALSE(alignment.ok());
  EXPECT_THAT(alignment.error().message, HasSubstr("texts"));
}

// ---- without a device ----

std::vector<std::string> words(const std::string& text, std::vector<ByteRange> tokens = {}) {
  std::vector<AttentionToken> list;
  for (const ByteRange& t : tokens) list.push_back({1, false, t, ""});
  std::vector<std::string> out;
  for (const Word& w : find_words(text, {0, text.size()}, list))
    out.push_back(text.substr(w.bytes.begin, w.bytes.end - w.bytes.begin));
  return out;
}

TEST(Alignment, Words) {
  using testing::ElementsAre;
  EXPECT_THAT(words("Où est la gare ?"), ElementsAre("Où", "est", "la", "gare", "?"));
  EXPECT_THAT(words("l'eau, vis-à-vis... 5%"), ElementsAre("l'eau", ",", "vis-à-vis", "...", "5", "%"));
  EXPECT_THAT(words("- a -"), ElementsAre("-", "a", "-"));
  EXPECT_THAT(words("e\xCC\x81t\xC3\xA9 नमस्ते"), ElementsAre("e\xCC\x81t\xC3\xA9", "नमस्ते"));
  EXPECT_THAT(words("你好世界", {{0, 6}, {6, 12}}), ElementsAre("你好", "世界"));
  EXPECT_THAT(words("abc你def", {{0, 3}, {3, 6}, {6, 9}}), ElementsAre("abc", "你", "def"));
  EXPECT_TRUE(words("").empty());
}

// A byte per id, as byte-level vocabularies may have; id 0 is special.
class Bytes final : public Tokenizer {
 public:
  std::string_view token(int32_t) const override { return "?"; }
  uint64_t vocabulary_size(TextSide) const override { return 256; }

 private:
  Result<Encoding> encode_plain(std::string_view, const EncodeOptions&) const override { return Encoding(); }
  Result<Encoding> surround(const Encoding& first, const Encoding*, const EncodeOptions&) const override {
    return first;
  }
  Result<std::string> decode_valid(std::span<const int32_t> ids, const DecodeOptions&) const override {
    std::string text;
    for (const int32_t id : ids) {
      if (id != 0) text += static_cast<char>(id);
    }
    return text;
  }
};

TEST(Attention, BytesOfDecodedTokens) {
  const Bytes tokenizer;
  const std::string text =
      "a\xE4\xBD\xA0"
      "b";
  std::vector<int32_t> ids = {0};
  for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
  ids.push_back(0);
  LAPILLI_ASSERT_VALUE(const auto bytes, decoded_bytes(decoding_by(tokenizer), ids, text, 10));
  // The three bytes of one character stand for all of it.
  EXPECT_EQ(bytes, (std::vector<ByteRange>{{10, 10}, {10, 11}, {11, 14}, {11, 14}, {11, 14}, {14, 15}, {15, 15}}));
}

TEST(Attention, MapsThatAModelDoesNotHave) {
  const AttentionMap none;
  const auto selected = none.select(kAttentionMean, 0);
  ASSERT_FALSE(selected.ok());
  EXPECT_EQ(selected.error().code, ErrorCode::unsupported);
}

// Synthetic weights: two source words, the target in the other order, a word left over.
TEST(Alignment, FollowsTheWeights) {
  Attention a;
  a.source_text = "red apple the .";
  a.target_text = "pomme rouge .";
  a.source = {{1, false, {0, 3}, "red"},
              {2, false, {4, 9}, "apple"},
              {3, false, {10, 13}, "the"},
              {4, false, {14, 15}, "."},
              {0, true, {}, "</s>"}};
  a.target = {{9, true, {}, "<pad>"},       {5, false, {0, 3}, "pom"}, {6, false, {3, 5}, "me"},
              {7, false, {6, 11}, "rouge"}, {8, false, {12, 13}, "."}, {0, true, {}, "</s>"}};
  a.cross.layers = a.cross.heads = 1;
  a.cross.rows = 6;
  a.cross.cols = 5;
  a.cross.values = {0.1f, 0.5f, 0.3f, 0.1f, 0.0f,  // writes pom
                    0.1f, 0.5f, 0.3f, 0.0f, 0.1f,  // me
                    0.6f, 0.1f, 0.1f, 0.1f, 0.1f,  // rouge
                    0.4f, 0.1f, 0.0f, 0.2f, 0.3f,  // .
                    0.0f, 0.0f, 0.0f, 0.0f, 1.0f,  // </s>
                    0.2f, 0.2f, 0.2f, 0.2f, 0.2f};
  LAPILLI_ASSERT_VALUE(const auto alignment, align(a));
  std::vector<std::pair<uint32_t, uint32_t>> links;
  for (const WordLink& l : alignment.links) links.emplace_back(l.source, l.target);
  // the ~ pomme: left over, and more than half of apple's weight. "." ~ ".", though "red" has more.
  EXPECT_THAT(links, testing::ElementsAre(std::pair(1u, 0u), std::pair(2u, 0u), std::pair(0u, 1u), std::pair(3u, 2u)));
  EXPECT_NEAR(alignment.links[0].weight, 0.5, 1e-6);
}

TEST(Alignment, NothingSaidHasNoLinks) {
  Attention a;
  a.source_text = "red";
  a.source = {{1, false, {0, 3}, "red"}, {0, true, {}, "</s>"}};
  a.target = {{9, true, {}, "<pad>"}, {0, true, {}, "</s>"}};
  a.cross = {1, 1, 2, 2, {0.5f, 0.5f, 0.5f, 0.5f}};
  LAPILLI_ASSERT_VALUE(const auto alignment, align(a));
  EXPECT_EQ(alignment.source.size(), 1u);
  EXPECT_TRUE(alignment.links.empty());
  EXPECT_FALSE(align(a, {7}).ok());
}

}  // namespace
}  // namespace lapilli
