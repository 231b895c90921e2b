#include "generate/encoders/judging.hpp"

#include <utility>

#include "generate/chat/bare_name.hpp"
#include "generate/fitting_tokenizer.hpp"
#include "model/causal_encoder.hpp"

namespace lapilli {

namespace {

constexpr Judge kJudges[] = {
    {"qwen3", "qwen3reranker", "Given a web search query, retrieve relevant passages that answer the query",
     "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
     "provided. Note that the answer can only be \"yes\" or \"no\".<|im_end|>\n<|im_start|>user\n",
     "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n", 8192}};

constexpr const char* kHead = "judge";

Result<int32_t> id_of(const Tokenizer& tokenizer, const char* word) {
  EncodeOptions bare;
  bare.add_special = false;
  LAPILLI_TRY(const auto ids, tokenizer.encode(word, bare));
  if (ids.size() == 1) return ids.front();
  return fail(ErrorCode::invalid_data, "the tokenizer has no token \"%s\", by which such a model judges", word);
}

const StoredTensor* find_output(const model::Names& names, const Checkpoint& checkpoint) {
  for (const std::string& name : names.output) {
    if (const StoredTensor* t = checkpoint.find(name)) return t;
    if (!names.base_prefix.empty() && name.starts_with(names.base_prefix))
      if (const StoredTensor* t = checkpoint.find(name.substr(names.base_prefix.size()))) return t;
  }
  return nullptr;
}

// A row of the output projection.
Result<std::vector<float>> row_of(const StoredTensor& all, int32_t id, uint32_t width) {
  const bool fits = all.shape.size() == 2 && all.shape[1] == width && id >= 0 &&
                    static_cast<uint64_t>(id) < all.shape[0] && all.contiguous();
  if (!fits) return fail(ErrorCode::invalid_data, "tensor %s has no row %d of %u numbers", all.describe(), id, width);
  StoredTensor row = all;
  const uint64_t size = width * stored_bytes(all.type), begin = static_cast<uint64_t>(id) * size;
  row.shape = {width};
  row.strides = {1};
  if (!all.bytes.empty()) row.bytes = all.bytes.subspan(begin, size);
  row.stored.offset += begin;
  row.stored.bytes = size;
  return read_floats(row);
}

}  // namespace

const Judge* find_judge(std::string_view family, std::string_view directory) {
  const std::string name = bare_name(directory);
  for (const Judge& judge : kJudges)
    if (family == judge.family && name.find(judge.name) != std::string::npos) return &judge;
  return nullptr;
}

void add_judging_head(model::Config& c, model::Names& names) {
  model::make_causal_encoder(c, names);
  model::HeadConfig head;
  head.kind = model::HeadKind::classes;
  head.every_row = false;
  head.pooling = Pooling::last;
  head.columns = 1;
  c.heads.push_back(std::move(head));
  names.heads.emplace_back().result = kHead;
}

Status join_judging_weights(const Files& network, const model::Config& c, const model::Names& names,
                            Checkpoint& checkpoint) {
  if (checkpoint.find(std::string(kHead) + ".weight")) return {};  // a packed model
  const StoredTensor* output = find_output(names, checkpoint);
  if (!output) return fail(ErrorCode::invalid_data, "the checkpoint lacks the output projection (lm_head.weight)");
  LAPILLI_TRY(const auto tokenizer, load_fitting_tokenizer(network, c));
  LAPILLI_TRY(const int32_t yes, id_of(*tokenizer, "yes"));
  LAPILLI_TRY(const int32_t no, id_of(*tokenizer, "no"));
  LAPILLI_TRY(auto difference, row_of(*output, yes, c.encoder.d_model));
  LAPILLI_TRY(const auto less, row_of(*output, no, c.encoder.d_model));
  for (size_t i = 0; i < difference.size(); ++i) difference[i] -= less[i];
  const uint64_t width = difference.size();
  checkpoint.add_values(std::string(kHead) + ".weight", {1, width}, std::move(difference));
  checkpoint.add_values(std::string(kHead) + ".bias", {1}, {0.0f});
  return {};
}

std::string judged_text(std::string_view instruction, std::string_view query, std::string_view document) {
  std::string text = "<Instruct>: ";
  text.append(instruction).append("\n<Query>: ").append(query).append("\n<Document>: ").append(document);
  return text;
}

}  // namespace lapilli
