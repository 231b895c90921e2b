// Valid small files with bytes changed, cut and repeated at random: each opens or is refused, and what opens can be
// read. Run under AddressSanitizer and UndefinedBehaviorSanitizer this covers every read of the formats.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "formats/hostile.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using namespace pickled;

constexpr int rounds = 3000;  // at least one in a hundred must open, or the changes are too coarse to reach the readers

std::string mutated(std::string s, std::mt19937& random) {
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  constexpr uint8_t telling[] = {0x00, 0x01, 0x7f, 0x80, 0xff, '[', '{', '"', '(', '.', 'c', 'R', 'Q', '9', '-'};
  const size_t changes = 1 + pick(4);
  for (size_t i = 0; i < changes && !s.empty(); ++i) {
    const size_t at = pick(s.size());
    switch (pick(6)) {
      case 0: s[at] = static_cast<char>(pick(256)); break;
      case 1: s[at] = static_cast<char>(telling[pick(std::size(telling))]); break;
      case 2: s[at] = static_cast<char>(s[at] ^ (1 << pick(8))); break;
      case 3: s.erase(at, 1 + pick(8)); break;
      case 4: s.insert(at, s.substr(pick(s.size()), 1 + pick(16))); break;
      default:
        for (size_t k = at; k < s.size() && k < at + 8; ++k) s[k] = '\xff';
    }
  }
  if (pick(20) == 0) s.resize(pick(s.size() + 1));
  return s;
}

// How many of the mutants opened.
int try_mutants(const std::string& good, uint32_t seed, int count) {
  TempDirectory dir;
  std::mt19937 random(seed);
  int opened = 0;
  volatile double sum = 0;  // so that no read is left out
  for (int i = 0; i < count; ++i) {
    const auto path = dir.write("model.bin", mutated(good, random));
    const auto c = Checkpoint::open_file(path);
    if (!c) {
      EXPECT_FALSE(c.error().message.empty());
      continue;
    }
    ++opened;
    for (const auto& t : c->tensors()) {
      EXPECT_LE(t.elements(), std::max<uint64_t>(good.size() + 64, t.bytes.size())) << t.describe();
      if (const auto v = read_floats(t); v && !v->empty()) sum = sum + v->back();
      if (const auto v = read_integers(t); v && !v->empty()) sum = sum + static_cast<double>(v->back());
    }
  }
  return opened;
}

TEST(Mutation, Safetensors) {
  const std::string good = safetensors(
      R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]},)"
      R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]},"c":{"dtype":"I64","shape":[],"data_offsets":[22,30]}})",
      std::string(30, '\x3f'));
  const int opened = try_mutants(good, 1, rounds);
  EXPECT_GT(opened, rounds / 100);
  EXPECT_LT(opened, rounds * 3 / 4);
}

std::string small_state(const std::string& view = "") {
  return state_dict(
      {{"a", tensor({}, view)},
       {"t", tensor({.strides = {1, 2}}, view)},
       {"i", tensor({.type = "LongStorage", .key = "1", .storage_elements = 2, .shape = {2}, .strides = {1}}, view)}});
}

TEST(Mutation, PytorchZip) {
  const int opened =
      try_mutants(torch_zip(small_state(), {{"0", std::string(16, '\x3f')}, {"1", std::string(16, '\1')}}), 2, rounds);
  EXPECT_GT(opened, rounds / 100);
  EXPECT_LT(opened, rounds * 3 / 4);
}

TEST(Mutation, PytorchZip64) {
  const auto good = zip({{.name = "a/data.pkl", .data = small_state(), .zip64 = true},
                         {.name = "a/data/0", .data = std::string(16, '\x3f'), .zip64 = true},
                         {.name = "a/data/1", .data = std::string(16, '\x3f'), .zip64 = true}},
                        true);
  EXPECT_GT(try_mutants(good, 3, rounds), rounds / 100);
}

TEST(Mutation, PytorchStream) {
  const TorchStream s{
      .state = small_state(none),
      .keys = {"0", "1"},
      .data = little<int64_t>(4) + std::string(16, '\x3f') + little<int64_t>(2) + std::string(16, '\1')};
  const int opened = try_mutants(s.bytes(), 4, rounds);
  EXPECT_GT(opened, rounds / 100);
  EXPECT_LT(opened, rounds * 3 / 4);
}

TEST(Mutation, PublishedPickle) {
  EXPECT_GT(try_mutants(read_file(model_directory("marian/model-pytorch/pytorch_model.bin")), 5, 200), 0);
  EXPECT_GT(try_mutants(read_file(model_directory("marian/model-pytorch-legacy/pytorch_model.bin")), 6, 200), 0);
}

TEST(Mutation, GenerationConfig) {
  const std::string good =
      R"({"max_length": 24, "num_beams": 6, "eos_token_id": [0, 2], "bad_words_ids": [[256], [1, 2]],
    "early_stopping": "never", "length_penalty": 0.6, "sequence_bias": [[[1], 2.5]],
    "exponential_decay_length_penalty": [4, 1.3], "do_sample": false, "d_model": 32, "activation_function": "swish"})";
  std::mt19937 random(7);
  int parsed = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto json = parse_json(mutated(good, random), "config.json");
    if (!json) continue;
    parsed += parse_generation_config(*json, "config.json").ok();
    const JsonView view{*json, "config.json"};
    for (const char* key : {"max_length", "d_model", "length_penalty", "activation_function", "do_sample"}) {
      (void)get_u32(view, key, 1).ok();
      (void)get_float(view, key, 1).ok();
      (void)get_string(view, key, "").ok();
      (void)get_bool(view, key, true).ok();
    }
  }
  EXPECT_GT(parsed, rounds / 100);
}

}  // namespace
}  // namespace lapilli
