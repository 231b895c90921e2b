// Every family's config.json with bytes and values changed at random: each mutant binds or is refused with words,
// whatever it claims. Run under AddressSanitizer and UndefinedBehaviorSanitizer this covers what families and the
// binder read.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "model/families/family.hpp"
#include "model/network.hpp"

namespace lapilli::model {
namespace {

constexpr int kMutants = 10000;  // of all folders together

using Random = std::mt19937;
size_t pick(Random& random, size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); }

std::string with_other_bytes(std::string s, Random& random) {
  const char telling[] = "{}[]\":,0123456789.-eE\\\xff";
  for (size_t i = 0, changes = 1 + pick(random, 3); i < changes && !s.empty(); ++i) {
    const size_t at = pick(random, s.size());
    if (pick(random, 3) == 0)
      s.erase(at, 1 + pick(random, 6));
    else
      s[at] = telling[pick(random, sizeof telling - 1)];
  }
  return s;
}

// One value, here or in an object below, becomes something that nobody expects.
void change_value(nlohmann::json& object, Random& random) {
  if (object.empty()) return;
  auto it = object.begin();
  std::advance(it, static_cast<ptrdiff_t>(pick(random, object.size())));
  if (it->is_object() && pick(random, 4) != 0) return change_value(*it, random);
  const nlohmann::json values[] = {0,
                                   1,
                                   2,
                                   3,
                                   5,
                                   7,
                                   31,
                                   33,
                                   64,
                                   65,
                                   255,
                                   4096,
                                   65535,
                                   65536,
                                   1u << 24,
                                   4294967295u,
                                   -1,
                                   1e30,
                                   0.5,
                                   true,
                                   false,
                                   nullptr,
                                   "",
                                   "gelu",
                                   "rms",
                                   std::string(300, 'x'),
                                   nlohmann::json::array(),
                                   nlohmann::json::object(),
                                   {1, 2}};
  if (pick(random, 6) == 0)
    object.erase(it);
  else
    *it = values[pick(random, std::size(values))];
}

struct Folder {
  std::string config;
  Checkpoint checkpoint;
};

std::vector<Folder> folders() {
  std::vector<Folder> all;
  for (const auto& entry : std::filesystem::directory_iterator(LAPILLI_TEST_DATA "/models")) {
    const auto model = entry.path() / "model";
    if (!std::filesystem::exists(model / "config.json")) continue;
    std::ifstream in(model / "config.json", std::ios::binary);
    auto checkpoint = Checkpoint::open(model.string());
    EXPECT_TRUE(checkpoint.ok()) << model;
    if (checkpoint) all.push_back({{std::istreambuf_iterator<char>(in), {}}, std::move(checkpoint).value()});
  }
  return all;
}

// As a model is opened.
Status open(const std::string& text, const Checkpoint& checkpoint) {
  LAPILLI_TRY(const auto json, parse_json(text, "config.json"));
  LAPILLI_TRY(const auto type, get_string({json, "config.json"}, "model_type"));
  const Family* family = find_family(type);
  if (!family) return fail(ErrorCode::unsupported, "no family");
  LAPILLI_TRY(const auto config, family->config(json, "config.json"));
  LAPILLI_TRY(const auto network, bind_weights(config, family->names(config), checkpoint));
  // The size on the device is bounded by the size of the file, and by tables of positions.
  uint64_t words = 0;
  for (const auto& w : network.weights) words += w.words;
  EXPECT_LT(words, uint64_t{1} << 26) << text;
  return {};
}

TEST(Mutations, ConfigsOfAllFamilies) {
  const auto all = folders();
  ASSERT_GE(all.size(), 6u);
  Random random(7);
  int opened = 0;
  for (int i = 0; i < kMutants; ++i) {
    const Folder& folder = all[static_cast<size_t>(i) % all.size()];
    std::string text;
    if (pick(random, 2) == 0) {
      text = with_other_bytes(folder.config, random);
    } else {
      auto json = nlohmann::json::parse(folder.config);
      for (size_t n = 1 + pick(random, 2); n > 0; --n) change_value(json, random);
      text = json.dump();
    }
    const Status status = open(text, folder.checkpoint);
    if (status)
      ++opened;
    else
      EXPECT_FALSE(status.error().message.empty());
  }
  // Both ends must be reached: mutants that still bind, and mutants that do not.
  EXPECT_GT(opened, kMutants / 20);
  EXPECT_LT(opened, kMutants * 19 / 20);
}

}  // namespace
}  // namespace lapilli::model
