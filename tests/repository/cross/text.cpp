// cross_text REPOSITORY - what needs no device, on another system: the bundled model's tokenizer and recorded
// SentencePiece models. scripts/cross builds it and runs it in an emulator.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/sentencepiece_answers.hpp"
#include "text/tokenizer.hpp"

namespace {

using nlohmann::json;
using Ids = std::vector<int32_t>;

int checks = 0;
int failures = 0;

void check(bool holds, const std::string& what) {
  ++checks;
  failures += holds ? 0 : 1;
  if (!holds) std::printf("wrong: %s\n", what.c_str());
}

void check_bundled_model(const std::string& directory) {
  const auto tokenizer = lapilli::load_tokenizer(directory, "marian");
  if (!tokenizer) return check(false, tokenizer.error().message);
  std::ifstream file(directory + "/expected.json", std::ios::binary);
  const json expected = json::parse(file, nullptr, false);
  if (expected.is_discarded()) return check(false, directory + "/expected.json is not there");
  for (const json& c : expected["cases"]) {
    const auto text = c["text"].get<std::string>();
    const auto ids = (*tokenizer)->encode(text);
    check(ids.ok() && *ids == c["input_ids"].get<Ids>(), text);
    const auto translation = (*tokenizer)->decode(c["beam4"]["ids"].get<Ids>(), true);
    check(translation.ok() && *translation == c["beam4"]["text"].get<std::string>(), "the translation of " + text);
  }
}

void check_records(const std::string& root) {
  for (const auto& entry : std::filesystem::directory_iterator(root + "/tests/data/sentencepiece")) {
    if (entry.path().extension() != ".txt") continue;
    const auto record = lapilli::compare_sentencepiece_record(entry.path().string(), root);
    checks += static_cast<int>(record.questions);
    for (const std::string& wrong : record.wrong) check(false, wrong);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string root = argc > 1 ? argv[1] : ".";
  check_bundled_model(root + "/models/en-fr");
  check_records(root);
  std::printf("text: %d checks, %d wrong\n", checks, failures);
  return failures == 0 && checks > 600 ? 0 : 1;
}
