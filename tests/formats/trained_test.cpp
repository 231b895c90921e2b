// Checkpoints of fairseq and OpenNMT-py through the door: recorded ones, ones that the test writes, and each kind of
// damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "formats/checkpoint.hpp"
#include "formats/doors/door.hpp"
#include "formats/hf_config.hpp"
#include "formats/hostile.hpp"
#include "formats/pickle.hpp"
#include "support/temp_directory.hpp"
#include "text/kinds/own_tokenizers.hpp"
#include "text/kinds/piece_cutting.hpp"

namespace lapilli {
namespace {

using namespace pickled;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string folder_of(const std::string& name) { return LAPILLI_TEST_DATA "/formats/" + name; }

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A copy of a recorded folder, whose files may be changed.
class Copied {
 public:
  explicit Copied(const std::string& name) {
    for (const auto& entry : fs::directory_iterator(folder_of(name)))
      if (entry.path().filename() != "expected.json")
        folder_.write(entry.path().filename().string(), content_of(entry.path()));
  }
  void write(const std::string& name, const std::string& content) const { folder_.write(name, content); }
  void remove(const std::string& name) const { fs::remove(fs::path(folder_.path()) / name); }
  [[nodiscard]] std::string text(const std::string& name) const { return content_of(fs::path(folder_.path()) / name); }
  [[nodiscard]] std::string path() const { return folder_.path(); }
  [[nodiscard]] Result<doors::Entered> enter() const { return doors::enter(folder_.path()); }
  void refused(const std::string& why, ErrorCode code = ErrorCode::invalid_data) const {
    const auto in = enter();
    ASSERT_FALSE(in.ok()) << "expected: " << why;
    EXPECT_EQ(in.error().code, code) << in.error().message;
    EXPECT_THAT(in.error().message, HasSubstr(why));
  }

 private:
  TempDirectory folder_;
};

nlohmann::json json_of(const doors::Entered& entered, const char* name) {
  const auto json = read_json_file(entered.files / name);
  EXPECT_TRUE(json.ok()) << (json ? "" : json.error().message);
  return json ? *json : nlohmann::json::object();
}

// ---- objects in pickles ---------------------------------------------------------------------------------------------

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string dict(const Fields& fields) {
  std::string out = empty_dict + mark;
  for (const auto& [name, value] : fields) out += text(name) + value;
  return out + setitems;
}

std::string object(const std::string& module, const std::string& name, const Fields& fields) {
  return global(module, name) + empty_tuple + "\x81" + dict(fields) + build;
}

std::string settings(const Fields& fields) { return object("argparse", "Namespace", fields); }

TEST(TrainingPickle, ObjectsAreDictsOfTheirFields) {
  const std::string bytes = proto + settings({{"arch", text("t")}, {"lr", "G\x3f\xe0" + std::string(6, '\0')}}) + stop;
  const auto pickle = read_pickle(std::as_bytes(std::span(bytes)), "file", PickleUse::training);
  ASSERT_TRUE(pickle.ok()) << pickle.error().message;
  EXPECT_EQ(pickle->containers[pickle->root.index].type, "Namespace");
  ASSERT_NE(pickle->at(pickle->root, "lr"), nullptr);
  EXPECT_EQ(pickle->at(pickle->root, "lr")->real(), 0.5);
  EXPECT_EQ(pickle->text(*pickle->at(pickle->root, "arch")), "t");
  EXPECT_FALSE(read_pickle(std::as_bytes(std::span(bytes)), "file").ok());  // weights have no such objects
}

TEST(TrainingPickle, WhatRunsCodeIsRefusedByName) {
  constexpr std::pair<const char*, const char*> kCalls[] = {{"os", "system"},
                                                            {"builtins", "eval"},
                                                            {"builtins", "exec"},
                                                            {"builtins", "getattr"},
                                                            {"__builtin__", "open"},
                                                            {"posix", "system"},
                                                            {"torch.storage", "_load_from_bytes"}};
  for (const auto& [module, name] : kCalls) {
    const std::string bytes = proto + global(module, name) + mark + text("x") + tuple + reduce + stop;
    const auto pickle = read_pickle(std::as_bytes(std::span(bytes)), "file", PickleUse::training);
    ASSERT_FALSE(pickle.ok()) << name;
    EXPECT_THAT(pickle.error().message, HasSubstr(std::string(module) + "." + name));
  }
}

TEST(TrainingPickle, CirclesAndDepthsEnd) {
  const std::string circle =
      proto + empty_dict + "q" + std::string(1, '\0') + text("self") + "h" + std::string(1, '\0') + setitem + stop;
  EXPECT_TRUE(read_pickle(std::as_bytes(std::span(circle)), "file", PickleUse::training).ok());
  std::string deep = proto + empty_tuple;
  for (int i = 0; i < 1'000'000; ++i) deep += "\x85";
  EXPECT_FALSE(read_pickle(std::as_bytes(std::span(deep)), "file", PickleUse::training).ok());
  std::string copies = proto + empty_list + "q" + std::string(1, '\0') + mark;
  for (int i = 0; i < 1000; ++i) copies += none;
  copies += appends;
  const std::string recalled = copies + "h" + std::string(1, '\0') + stop;
  EXPECT_FALSE(read_pickle(std::as_bytes(std::span(recalled)), "file", PickleUse::training).ok());  // two values
}

// ---- fairseq --------------------------------------------------------------------------------------------------------

TEST(Fairseq, ThreeFormsOfSettingsSayTheNetwork) {
  struct Expected {
    const char *name, *positions, *activation, *version;
    bool pre_norm, tied;
    int heads;
  };
  for (const Expected& e : {Expected{"fairseq-args", "sinusoid_fairseq", "relu", "settings in args", false, true, 4},
                            Expected{"fairseq-cfg", "sinusoid_fairseq", "relu", "settings in cfg", true, true, 2},
                            Expected{"fairseq-omegaconf", "learned", "gelu", "settings in cfg", false, false, 4}}) {
    const auto entered = doors::enter(folder_of(e.name));
    ASSERT_TRUE(entered.ok()) << entered.error().message;
    EXPECT_EQ(entered->origin.program, "fairseq");
    EXPECT_THAT(entered->origin.version, HasSubstr(e.version));
    const auto config = json_of(*entered, "config.json");
    EXPECT_EQ(config["model_type"], "transformer");
    EXPECT_EQ(config["encoder_positions"], e.positions) << e.name;
    EXPECT_EQ(config["activation_function"], e.activation) << e.name;
    EXPECT_EQ(config["encoder_normalize_before"], e.pre_norm) << e.name;
    EXPECT_EQ(config["tie_word_embeddings"], e.tied) << e.name;
    EXPECT_EQ(config["encoder_attention_heads"], e.heads) << e.name;
  }
}

// Queries, keys and values of a file of 2018 stand one behind the other.
TEST(Fairseq, StackedProjectionsArePartsOfTheirTensor) {
  const auto entered = doors::enter(folder_of("fairseq-args"));
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const auto checkpoint = Checkpoint::open(entered->files);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  std::vector<std::vector<float>> parts;
  for (const char* name : {"q_proj", "k_proj", "v_proj"}) {
    const StoredTensor* t = checkpoint->find("model.encoder.layers.0.self_attn." + std::string(name) + ".weight");
    ASSERT_NE(t, nullptr);
    EXPECT_EQ(t->shape, (std::vector<uint64_t>{32, 32}));
    const auto values = read_floats(*t);
    ASSERT_TRUE(values.ok());
    parts.push_back(*values);
  }
  EXPECT_NE(parts[0], parts[1]);
  EXPECT_NE(parts[1], parts[2]);
}

std::string without_lines(const std::string& text, size_t count) {
  std::string out = text;
  for (size_t i = 0; i < count; ++i) out.erase(out.rfind('\n', out.size() - 2) + 1);
  return out;
}

// Case 35 of the record of what users do: the dictionary decides which row is whose, so nothing is guessed.
TEST(Fairseq, DictionariesFitTheirTables) {
  const Copied model("fairseq-args");
  const std::string whole = model.text("dict.en.txt");
  const auto with = [&](const std::string& text) { model.write("dict.en.txt", text); };
  with(without_lines(whole, 3));  // fillers up to a multiple of 8 are filled in
  ASSERT_TRUE(model.enter().ok());
  with(without_lines(whole, 5));  // a word is cut off with the fillers
  model.refused("has 207 lines");
  with(without_lines(whole, 12));
  model.refused("dict.en.txt has 200 lines, with the four special pieces 204 ids, and the network has 216 rows");
  with(whole + "more 1\n");
  model.refused("has 213 lines");
  const std::string first = whole.substr(0, whole.find('\n') + 1);
  with(first + without_lines(whole, 1));
  model.refused("line 2 has the piece");
  with("noline\n" + without_lines(whole, 1));
  model.refused("line 1 has no count");
  with("piece x\n" + without_lines(whole, 1));
  model.refused("line 1 has 'x' for a count");
}

TEST(Fairseq, WithoutADictionaryIdsRun) {
  const Copied model("fairseq-args");
  model.remove("dict.en.txt");
  model.remove("dict.pt.txt");
  const auto entered = model.enter();
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  EXPECT_FALSE((entered->files / "pieces.json").there());
}

TEST(Fairseq, MissingCodesAreNamed) {
  const Copied model("fairseq-args");
  model.remove("bpecodes");
  const auto entered = model.enter();
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  EXPECT_THAT(json_of(*entered, "pieces.json")["missing"].get<std::string>(), HasSubstr("bpecodes, bpe.codes"));
}

std::string fairseq_file(const Fields& args, const Fields& model) {
  return torch_zip(proto + dict({{"args", settings(args)}, {"model", dict(model)}}) + stop,
                   {{"0", floats_as_bytes({1, 2, 3, 4})}});
}

TEST(Fairseq, OtherNetworksAreRefusedWithAllReasons) {
  TempDirectory dir;
  dir.write("model.pt", fairseq_file({{"arch", text("lstm")}}, {{"encoder.w", tensor({})}}));
  auto entered = doors::enter(dir.path());
  ASSERT_FALSE(entered.ok());
  EXPECT_EQ(entered.error().code, ErrorCode::unsupported);
  EXPECT_THAT(entered.error().message, HasSubstr("architecture 'lstm', which is not read; these are: transformer,"));
  dir.write("model.pt", fairseq_file({{"arch", text("transformer")},
                                      {"adaptive_input", "\x88"},
                                      {"no_cross_attention", "\x88"},
                                      {"adaptive_softmax_cutoff", integer(7)}},
                                     {{"encoder.strange", tensor({})}}));
  entered = doors::enter(dir.path());
  ASSERT_FALSE(entered.ok());
  for (const char* why : {"adaptive_input is on", "no_cross_attention is on", "adaptive_softmax_cutoff is set",
                          "it has encoder.strange", "it lacks encoder.embed_tokens.weight"})
    EXPECT_THAT(entered.error().message, HasSubstr(why));
}

TEST(Fairseq, SeveralCheckpointsAskForAName) {
  const Copied model("fairseq-args");
  model.write("a.pt", model.text("model.pt"));
  model.write("b.pt", model.text("model.pt"));
  ASSERT_TRUE(model.enter().ok());  // model.pt is the one
  model.remove("model.pt");
  model.refused("holds 2 checkpoints ('a.pt' and 'b.pt', say); name the file", ErrorCode::invalid_argument);
  const auto one = doors::enter(model.path() + "/b.pt");
  ASSERT_TRUE(one.ok()) << one.error().message;
  EXPECT_EQ(one->origin.program, "fairseq");
}

// ---- networks that are families already: files that the test writes ------------------------------------------------

// Writes tensors of zeros by name and shape.
class TensorFile {
 public:
  void add(const std::string& name, const std::vector<int64_t>& shape) {
    int64_t elements = 1;
    std::vector<int64_t> strides(shape.size());
    for (size_t i = shape.size(); i-- > 0; elements *= shape[i]) strides[i] = elements;
    const std::string key = std::to_string(storages_.size());
    tensors_.emplace_back(name, tensor({"FloatStorage", key, elements, 0, shape, strides}));
    std::vector<float> numbers(static_cast<size_t>(elements));
    for (float& n : numbers) n = static_cast<float>(++count_ % 97) / 97;
    storages_.emplace_back(key, floats_as_bytes(numbers));
  }
  void add_linear(const std::string& name, int64_t rows, int64_t columns) {
    add(name + ".weight", {rows, columns});
    add(name + ".bias", {rows});
  }
  void add_norm(const std::string& name, int64_t width) {
    add(name + ".weight", {width});
    add(name + ".bias", {width});
  }
  void add_layer(const std::string& name, bool cross) {
    for (const char* attention : {"self_attn", "encoder_attn"}) {
      if (!cross && std::string(attention) == "encoder_attn") continue;
      for (const char* part : {"q_proj", "k_proj", "v_proj", "out_proj"})
        add_linear(name + "." + attention + "." + part, 8, 8);
      add_norm(name + "." + attention + "_layer_norm", 8);
    }
    add_linear(name + ".fc1", 12, 8);
    add_linear(name + ".fc2", 8, 12);
    add_norm(name + ".final_layer_norm", 8);
  }
  [[nodiscard]] std::string model() const { return dict(tensors_); }
  [[nodiscard]] std::string whole(const std::string& root) const { return torch_zip(proto + root + stop, storages_); }
  [[nodiscard]] std::string bytes(const Fields& args) const {
    return whole(dict({{"args", settings(args)}, {"model", model()}}));
  }

 private:
  Fields tensors_;
  std::vector<std::pair<std::string, std::string>> storages_;
  int count_ = 0;
};

TEST(Fairseq, LanguageModelsAreOpt) {
  TensorFile file;
  file.add("decoder.embed_tokens.weight", {16, 8});
  file.add_layer("decoder.layers.0", false);
  file.add_norm("decoder.layer_norm", 8);
  TempDirectory dir;
  dir.write("model.pt", file.bytes({{"arch", text("transformer_lm")},
                                    {"decoder_attention_heads", integer(2)},
                                    {"share_decoder_input_output_embed", "\x88"},
                                    {"tokens_per_sample", integer(30)}}));
  dir.write("dict.txt", "a 3\nb@@ 2\n");
  dir.write("bpecodes", "#version: 0.2\na b\n");
  const auto entered = doors::enter(dir.path());
  ASSERT_FALSE(entered.ok());
  EXPECT_THAT(entered.error().message, HasSubstr("dict.txt has 2 lines"));
  std::string lines;
  for (int i = 0; i < 12; ++i) lines += "piece" + std::to_string(i) + " 1\n";
  dir.write("dict.txt", lines);
  const auto again = doors::enter(dir.path());
  ASSERT_TRUE(again.ok()) << again.error().message;
  const auto config = json_of(*again, "config.json");
  EXPECT_EQ(config["model_type"], "opt");
  EXPECT_EQ(config["num_attention_heads"], 2);
  EXPECT_EQ(config["max_position_embeddings"], 30);
  EXPECT_EQ(config["tie_word_embeddings"], false);  // its embeddings are scaled, OPT's are not
  const auto checkpoint = Checkpoint::open(again->files);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  const StoredTensor *table = checkpoint->find("model.decoder.embed_tokens.weight"),
                     *head = checkpoint->find("lm_head.weight"),
                     *positions = checkpoint->find("model.decoder.embed_positions.weight");
  ASSERT_TRUE(table && head && positions);
  const auto scaled = read_floats(*table), plain = read_floats(*head), rows = read_floats(*positions);
  ASSERT_TRUE(scaled.ok() && plain.ok() && rows.ok());
  for (size_t i = 0; i < plain->size(); ++i) ASSERT_FLOAT_EQ((*scaled)[i], (*plain)[i] * std::sqrt(8.0f));
  EXPECT_EQ(positions->shape, (std::vector<uint64_t>{32, 8}));
  EXPECT_FLOAT_EQ((*rows)[2 * 8], std::sin(2.0f));  // the first position is the row behind padding's
}

TEST(Fairseq, OtherCuttingsAndLanguagesAreNamed) {
  TensorFile file;
  file.add("decoder.embed_tokens.weight", {16, 8});
  file.add_layer("decoder.layers.0", false);
  TempDirectory dir;
  const auto enter = [&](const char* key, const std::string& value, const std::string& piece) {
    const Fields args = {{"arch", text("transformer_lm")}, {"share_decoder_input_output_embed", "\x88"}};
    dir.write("model.pt", file.bytes({args[0], args[1], {key, value}}));
    std::string lines;
    for (int i = 10; i < 22; ++i) lines += piece + std::to_string(i) + " 1\n";
    dir.write("dict.txt", lines);
    return doors::enter(dir.path());
  };
  const auto missing = [&](const char* key, const std::string& value, const std::string& piece) {
    const auto entered = enter(key, value, piece);
    return entered ? json_of(*entered, "pieces.json").value("missing", "") : entered.error().message;
  };
  EXPECT_EQ(missing("bpe", none, "word"), "");
  EXPECT_THAT(missing("bpe", text("gpt2"), "word"), HasSubstr("fairseq's bpe 'gpt2', which is not read"));
  EXPECT_THAT(missing("bpe", none, ""), HasSubstr("whose pieces are numbers"));
  EXPECT_THAT(missing("bpe", none, "\uffed"), HasSubstr("pyonmttok's joiners"));
  EXPECT_THAT(missing("decoder_langtok", "\x88", "word"), HasSubstr("decoder_langtok is set"));
  EXPECT_EQ(missing("decoder_langtok", "\x89", "word"), "");
  EXPECT_THAT(missing("task", text("multilingual_translation"), "word"), HasSubstr("multilingual_translation"));
}

TEST(Fairseq, BartHasNormsOfEmbeddingsAndLearnedPositions) {
  TensorFile file;
  for (const char* side : {"encoder", "decoder"}) {
    const std::string name = side;
    file.add(name + ".embed_tokens.weight", {16, 8});
    file.add(name + ".embed_positions.weight", {34, 8});
    file.add_norm(name + ".layernorm_embedding", 8);
    file.add_layer(name + ".layers.0", name == "decoder");
  }
  TempDirectory dir;
  dir.write("model.pt", file.bytes({{"arch", text("bart_base")},
                                    {"encoder_attention_heads", integer(2)},
                                    {"decoder_attention_heads", integer(4)}}));
  const auto entered = doors::enter(dir.path());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const auto config = json_of(*entered, "config.json");
  EXPECT_EQ(config["normalize_embedding"], true);
  EXPECT_EQ(config["scale_embedding"], false);
  EXPECT_EQ(config["activation_function"], "gelu");
  EXPECT_EQ(config["encoder_positions"], "learned");
  EXPECT_EQ(config["encoder_max_positions"], 32);
  EXPECT_EQ(config["decoder_attention_heads"], 4);
}

// ---- OpenNMT-py -----------------------------------------------------------------------------------------------------

TEST(OpenNmt, EachVersionSaysItself) {
  const std::pair<const char*, const char*> kVersions[] = {
      {"opennmt-v1-shaw", "version 1"},
      {"opennmt-v2-sinusoid", "version 2"},
      {"opennmt-v3-shaw", "version 3"},
      {"opennmt-v3.5-safetensors", "version 3.4 or later, in safetensors"}};
  for (const auto& [name, version] : kVersions) {
    const auto entered = doors::enter(folder_of(name));
    ASSERT_TRUE(entered.ok()) << entered.error().message;
    EXPECT_EQ(entered->origin.program, "OpenNMT-py");
    EXPECT_EQ(entered->origin.version, version);
    const auto config = json_of(*entered, "config.json");
    EXPECT_EQ(config["decoder_start_token_id"], 2);
    EXPECT_EQ(config["eos_token_id"], 3);
    EXPECT_EQ(config.contains("max_relative_positions"), std::string(name).ends_with("shaw"));
  }
}

// Settings of a checkpoint, which are changed in place: texts of the same length.
std::string with(std::string bytes, const std::string& from, const std::string& to) {
  const size_t at = bytes.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? bytes : bytes.replace(at, from.size(), to);
}

TEST(OpenNmt, OtherNetworksAreRefusedByTheirOptions) {
  const Copied model("opennmt-v3.5-safetensors");
  const std::string good = model.text("model_step_7.pt");
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& why) {
    model.write("model_step_7.pt", with(good, from, to));
    model.refused(why, ErrorCode::unsupported);
  };
  refused("standard", "stranger", "layer_norm is stranger, and standard is read");
  refused("scaled-dot", "averaged-d", "self_attn_type is averaged-d");
  model.write("model_step_7.pt", good);
  ASSERT_TRUE(model.enter().ok());
}

TEST(OpenNmt, ShardsAreWhole) {
  const Copied model("opennmt-v3.5-safetensors");
  model.write("model_step_7.01.safetensors", model.text("model_step_7.00.safetensors"));
  model.refused("lies in another shard, too");
  model.remove("model_step_7.01.safetensors");
  model.refused("it lacks encoder.embeddings", ErrorCode::unsupported);
  model.remove("model_step_7.00.safetensors");
  model.refused("has no tensors in it, and model_step_7.00.safetensors is not beside it", ErrorCode::not_found);
}

// Case 32: neither sinusoids nor relative positions is no reason to add either.
TEST(OpenNmt, NoPositionsStayNone) {
  const Copied model("opennmt-v3.5-safetensors");
  const std::string good = model.text("model_step_7.pt"), key = "position_encoding";
  const size_t at = good.find(key), flag = good.find('\x88', at);
  ASSERT_NE(at, std::string::npos);
  ASSERT_LT(flag, at + key.size() + 6);
  std::string changed = good;
  changed[flag] = '\x89';
  model.write("model_step_7.pt", changed);
  const auto entered = model.enter();
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const auto config = json_of(*entered, "config.json");
  EXPECT_EQ(config["encoder_positions"], "none");
  EXPECT_EQ(config["decoder_positions"], "none");
  EXPECT_EQ(config["scale_embedding"], false);
  EXPECT_FALSE(config.contains("max_relative_positions"));
}

std::string list(const std::vector<std::string>& pieces) {
  std::string out = empty_list + mark;
  for (const std::string& piece : pieces) out += text(piece);
  return out + appends;
}

// The network of OpenNMT-py with a layer each, for 5 source pieces and 7 target pieces.
class OnmtFile : public TensorFile {
 public:
  OnmtFile() {
    add_side("encoder", "encoder.transformer.0", 5);
    add_side("decoder", "decoder.transformer_layers.0", 7);
    add_linear("generator.0", 7, 8);
  }
  void add_heads(const std::string& name) {
    for (const char* part : {"linear_query", "linear_keys", "linear_values", "final_linear"})
      add_linear(name + "." + part, 8, 8);
  }
  [[nodiscard]] Fields fields(const Fields& opt) const {
    Fields all = {{"heads", integer(2)}, {"position_encoding", "\x88"}};
    all.insert(all.end(), opt.begin(), opt.end());
    const Fields sides = {{"src", list({"<unk>", "<blank>", "one", "two", "three"})},
                          {"tgt", list({"<unk>", "<blank>", "<s>", "</s>", "un", "deux", "trois"})}};
    return {{"opt", settings(all)}, {"vocab", dict(sides)}, {"model", model()}};
  }

 private:
  void add_side(const std::string& side, const std::string& layer, int64_t pieces) {
    const bool decoder = side == "decoder";
    add(side + ".embeddings.make_embedding.emb_luts.0.weight", {pieces, 8});
    add_heads(layer + ".self_attn");
    add_norm(layer + (decoder ? ".layer_norm_1" : ".layer_norm"), 8);
    if (decoder) {
      add_heads(layer + ".context_attn");
      add_norm(layer + ".layer_norm_2", 8);
    }
    add_linear(layer + ".feed_forward.w_1", 12, 8);
    add_linear(layer + ".feed_forward.w_2", 8, 12);
    add_norm(layer + ".feed_forward.layer_norm", 8);
    add_norm(side + ".layer_norm", 8);
  }
};

TEST(OpenNmt, ContainersOfOmegaconfMayBeAroundAll) {
  const OnmtFile file;
  const std::string inside = dict(file.fields({}));
  TempDirectory dir;
  const auto check = [&](const std::string& root) {
    dir.write("model.pt", file.whole(root));
    const auto entered = doors::enter(dir.path());
    ASSERT_TRUE(entered.ok()) << entered.error().message;
    EXPECT_EQ(entered->origin.version, "version 3");
    EXPECT_EQ(json_of(*entered, "pieces.json")["source"].size(), 5u);
  };
  check(inside);
  check(object("omegaconf.dictconfig", "DictConfig", {{"_content", inside}}));
  check(object("fairseq.data", "AnyNode", {{"_val", inside}}));
}

EncodeOptions for_side(TextSide side) {
  EncodeOptions options;
  options.side = side;
  return options;
}

// Sources of versions 1 and 2 have neither a start nor an end.
TEST(OpenNmt, ASourceMayLackStartAndEnd) {
  TempDirectory dir;
  dir.write("model.pt", OnmtFile().whole(dict(OnmtFile().fields({}))));
  const auto entered = doors::enter(dir.path());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const auto words = load_pieces_tokenizer(entered->files);
  ASSERT_TRUE(words.ok()) << words.error().message;
  const auto source = (*words)->encode("one four two", for_side(TextSide::source)),
             target = (*words)->encode("un quatre", for_side(TextSide::target));
  ASSERT_TRUE(source.ok() && target.ok());
  EXPECT_EQ(*source, (std::vector<int32_t>{2, 0, 3}));
  EXPECT_EQ(*target, (std::vector<int32_t>{4, 0, 3}));
}

TEST(OpenNmt, EachSideHasItsUnknown) {
  TempDirectory dir;
  const nlohmann::json pieces = {{"source", {"one", "<unk>"}}, {"target", {"<unk>", "</s>", "un"}},
                                 {"unknown", "<unk>"},         {"end", "</s>"},
                                 {"source_end", false},        {"cut", "words"}};
  const auto load = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json changed = pieces;
    changed[key] = value;
    dir.write("pieces.json", changed.dump());
    return load_pieces_tokenizer(Files(dir.path()));
  };
  const auto words = load("cut", "words");
  ASSERT_TRUE(words.ok()) << words.error().message;
  const auto source = (*words)->encode("one two", for_side(TextSide::source));
  ASSERT_TRUE(source.ok());
  EXPECT_EQ(*source, (std::vector<int32_t>{0, 1}));
  EXPECT_THAT(load("source_end", true).error().message, HasSubstr("has no id that both sides share"));
  EXPECT_THAT(load("source", {"one"}).error().message, HasSubstr("has no id in the source"));
  EXPECT_THAT(load("end", "<end>").error().message, HasSubstr("has no id in the target"));
}

TEST(OpenNmt, LayersThatDifferAreRefused) {
  const auto refused = [](const std::string& tensor, const std::vector<int64_t>& shape, const std::string& why) {
    OnmtFile file;
    file.add(tensor, shape);
    TempDirectory dir;
    dir.write("model.pt", file.whole(dict(file.fields({}))));
    const auto entered = doors::enter(dir.path());
    ASSERT_FALSE(entered.ok()) << tensor;
    EXPECT_EQ(entered.error().code, ErrorCode::unsupported);
    EXPECT_THAT(entered.error().message, HasSubstr(why));
  };
  const std::string layer = "decoder.transformer_layers.0", table = ".self_attn.relative_positions_embeddings.weight";
  refused(layer + table, {5, 4}, "it has " + layer + table);  // max_relative_positions is not set
  refused(layer + ".feed_forward.w_3.weight", {12, 8}, "w_3.weight is there, unlike in the encoder's first layer");
  refused("generator.0.bias", {7}, "it has generator.0.bias twice");
}

// Case 26 of the record of what users do: files under a checkpoint's name that hold none.
TEST(TrainedFiles, PointersAndPagesAreNamed) {
  TempDirectory dir;
  const auto refused = [&](const std::string& content, const char* why) {
    dir.write("model.pt", content);
    const auto entered = doors::enter(dir.path());
    ASSERT_FALSE(entered.ok()) << why;
    EXPECT_THAT(entered.error().message, HasSubstr(why));
  };
  refused("version https://git-lfs.github.com/spec/v1\n", "is a Git LFS pointer");
  refused("<!DOCTYPE html>", "is a web page and not a checkpoint");
  const Fields all = OnmtFile().fields({});
  refused(OnmtFile().whole(dict({all[1], all[2]})), "lacks \"opt\"");
}

TEST(OpenNmt, LanguagesAreNoPaths) {
  TempDirectory dir;
  const auto language = [&](const std::string& name) {
    dir.write("model.pt", OnmtFile().whole(dict(OnmtFile().fields({{"src_lang", text(name)}}))));
    const auto entered = doors::enter(dir.path());
    return entered ? json_of(*entered, "pieces.json").value("source_language", "") : entered.error().message;
  };
  EXPECT_EQ(language("en_XX"), "en_XX");
  EXPECT_EQ(language("../../x"), "");
}

TEST(OpenNmt, OtherCuttingsAreNamed) {
  const OnmtFile file;
  TempDirectory dir;
  dir.write("model.pt", file.whole(dict(file.fields({{"transforms", list({"onmt_tokenize"})}}))));
  const auto entered = doors::enter(dir.path());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const auto pieces = json_of(*entered, "pieces.json");
  EXPECT_FALSE(pieces.contains("cut"));
  EXPECT_THAT(pieces["missing"].get<std::string>(), HasSubstr("onmt_tokenize (pyonmttok), which is not read"));
}

// ---- codes ----------------------------------------------------------------------------------------------------------

std::vector<std::string> cut_by(const std::string& codes, const std::string& text) {
  TempDirectory dir;
  dir.write("codes", codes);
  const auto cutting = load_code_cutting(Files(dir.path()) / "codes", {});
  EXPECT_TRUE(cutting.ok());
  std::vector<std::string> texts;
  const auto pieces = (*cutting)->cut(text);
  EXPECT_TRUE(pieces.ok());
  for (const CutPiece& piece : *pieces) texts.push_back(piece.text);
  return texts;
}

// The letters of the end in a text are letters.
TEST(Codes, ATextMayHoldTheEndsLetters) {
  const std::string merges = "< /\n</ w\n</w >\n";
  using Texts = std::vector<std::string>;
  EXPECT_EQ(cut_by("#version: 0.2\n" + merges, "</w>a"), (Texts{"</w>@@", "a"}));
  EXPECT_EQ(cut_by("#version: 0.2\n" + merges, "a </w>b"), (Texts{"a", "</w>@@", "b"}));
  EXPECT_EQ(cut_by("#version: 0.1\n" + merges, "</w>a a</w>"), (Texts{"</w>@@", "a", "a@@", "</w>"}));
}

// Without a version: subword-nmt's first codes, or fastBPE's, which have counts.
TEST(Codes, MergesSayWhereTheEndIs) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(cut_by("e r</w> 1234\nn er</w> 7\n", "ner re"), (Texts{"ner", "r@@", "e"}));
  EXPECT_EQ(cut_by("r </w>\ne r</w>\nn er</w>\n", "ner re"), (Texts{"ner", "r@@", "e"}));
  EXPECT_EQ(cut_by("n e\nr </w>\n", "ner ne"), (Texts{"ne@@", "r", "ne"}));
  EXPECT_EQ(cut_by("n e 9\nr e</w> 8\n", "nex ne"), (Texts{"ne@@", "x", "n@@", "e"}));
}

// ---- damage ---------------------------------------------------------------------------------------------------------

void read_all(const doors::Entered& entered) {
  const auto checkpoint = Checkpoint::open(entered.files);
  if (!checkpoint) return;
  for (const StoredTensor& t : checkpoint->tensors()) (void)read_floats(t);
}

void try_mutants(const std::string& folder, const std::string& file, int rounds) {
  const Copied model(folder);
  const std::string good = model.text(file);
  std::mt19937 random(7);
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  int opened = 0;
  for (int i = 0; i < rounds; ++i) {
    std::string bad = good;
    for (size_t n = 1 + pick(3); n > 0; --n)
      bad[pick(i % 2 ? std::min<size_t>(bad.size(), 30000) : bad.size())] ^= static_cast<char>(1 << pick(8));
    if (i % 10 == 0) bad.resize(pick(bad.size()));
    model.write(file, bad);
    const auto entered = model.enter();
    if (!entered) {
      EXPECT_FALSE(entered.error().message.empty());
      continue;
    }
    ++opened;
    read_all(*entered);
  }
  EXPECT_GT(opened, rounds / 100);
}

TEST(TrainedMutations, Fairseq) {
  for (const char* name : {"fairseq-args", "fairseq-cfg", "fairseq-omegaconf"}) try_mutants(name, "model.pt", 200);
}

TEST(TrainedMutations, OpenNmt) {
  for (const char* name : {"opennmt-v1-shaw", "opennmt-v3-shaw", "opennmt-v2-sinusoid"})
    try_mutants(name, "model_step_7.pt", 150);
}

TEST(TrainedMutations, Cuts) {
  for (const char* name : {"fairseq-args", "fairseq-cfg"}) {
    const Copied model(name);
    const std::string good = model.text("model.pt");
    for (size_t size = 0; size < good.size(); size += 1 + good.size() / 97) {
      model.write("model.pt", good.substr(0, size));
      const auto entered = model.enter();
      if (entered) read_all(*entered);
    }
  }
}

}  // namespace
}  // namespace lapilli
