#include "generate/fitting_tokenizer.hpp"

namespace lapilli {

namespace {

// Allowance for tokens added to a tokenizer without training.
constexpr uint64_t kMostAdded = 1024;

struct Side {
  TextSide side;
  const char* name;
  uint64_t rows;
};

Status check_side(const Tokenizer& tokenizer, const Files& files, const Side& s) {
  const uint64_t ids = tokenizer.vocabulary_size(s.side);
  if (ids <= s.rows + kMostAdded && ids >= s.rows / 2) return {};
  return fail(ErrorCode::invalid_data,
              "the tokenizer in %s does not fit the model: it has %u tokens, the model %u rows for the %s; one of "
              "the two is another model's",
              files, ids, s.rows, s.name);
}

// Checks the ids that are put around every text.
Status check_special(const Tokenizer& tokenizer, const Files& files, uint64_t rows) {
  const SpecialIds& special = tokenizer.special();
  for (const int32_t id : {special.eos, special.pad, special.bos, special.cls, special.sep}) {
    if (id < 0 || static_cast<uint64_t>(id) < rows) continue;
    return fail(ErrorCode::invalid_data,
                "the tokenizer in %s does not fit the model: it marks texts with the id %d, and the model has %u rows",
                files, id, rows);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> load_fitting_tokenizer(const Files& files, const model::Config& config) {
  if (!config.kind().writes && config.source_vocabulary == 0)
    return fail(ErrorCode::unsupported, "%s models have no words", config.family);
  LAPILLI_TRY(auto tokenizer, load_tokenizer(files, config.tokenizer));
  if (config.kind().reads == model::Reads::ids)
    LAPILLI_CHECK(check_side(*tokenizer, files, {TextSide::source, "source", config.source_vocabulary}));
  LAPILLI_CHECK(check_side(*tokenizer, files, {TextSide::target, "target", config.target_vocabulary}));
  LAPILLI_CHECK(
      check_special(*tokenizer, files, config.source_vocabulary ? config.source_vocabulary : config.target_vocabulary));
  return tokenizer;
}

}  // namespace lapilli
