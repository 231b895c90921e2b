#include "text/special_tokens.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

int32_t* special_slot(SpecialIds& ids, std::string_view name) {
  if (name == "pad_token") return &ids.pad;
  if (name == "eos_token") return &ids.eos;
  if (name == "unk_token") return &ids.unk;
  if (name == "bos_token") return &ids.bos;
  if (name == "cls_token") return &ids.cls;
  if (name == "sep_token") return &ids.sep;
  if (name == "mask_token") return &ids.mask;
  return nullptr;
}

// Collects tokens in the order in which they get their ids.
class Collector {
 public:
  explicit Collector(const SpecialTokenSources& sources)
      : sources_(sources), next_id_(static_cast<int32_t>(sources.vocabulary_size)) {}

  // Adds a token that has an id; the first of each text counts.
  void list(AddedToken token) {
    next_id_ = std::max(next_id_, token.id + 1);
    if (places_.emplace(token.text, tokens_.size()).second) tokens_.push_back(std::move(token));
  }
  // Adds a token that may need an id. A listed one keeps its id and flags, but may become special.
  int32_t take(AddedToken token, bool make_special) {
    const auto [place, fresh] = places_.emplace(token.text, tokens_.size());
    if (!fresh) {
      AddedToken& same = tokens_[place->second];
      same.special = same.special || make_special;
      return same.id;
    }
    token.id = sources_.id_of(token.text);
    if (token.id < 0) token.id = next_id_++;
    tokens_.push_back(std::move(token));
    return tokens_.back().id;
  }
  std::vector<AddedToken> finish() && { return std::move(tokens_); }

 private:
  const SpecialTokenSources& sources_;
  std::vector<AddedToken> tokens_;
  std::unordered_map<std::string, size_t> places_;
  int32_t next_id_;
};

}  // namespace

Result<CollectedTokens> collect_special_tokens(const TokenizerConfig& config, SpecialTokenSources sources) {
  constexpr uint64_t kMostBehind = 65536;
  Collector collector(sources);
  const auto list = [&](std::vector<AddedToken> tokens) -> Status {
    for (AddedToken& token : tokens) {
      if (static_cast<uint64_t>(token.id) >= sources.vocabulary_size + kMostBehind)
        return fail(ErrorCode::invalid_data, "%s: added token %s has id %d, far outside the vocabulary of %u",
                    config.path().c_str(), quote_text(token.text), token.id,
                    static_cast<size_t>(sources.vocabulary_size));
      collector.list(std::move(token));
    }
    return {};
  };
  LAPILLI_TRY(std::vector<AddedToken> listed, config.added_tokens());
  LAPILLI_CHECK(list(std::move(listed)));
  LAPILLI_CHECK(list(std::move(sources.listed)));
  CollectedTokens result;
  const auto take_named = [&](const NamedSpecial& named) -> Status {
    AddedToken fallback;
    if (named.fallback != nullptr) fallback.text = named.fallback;
    fallback.id = -1;
    fallback.lstrip = named.lstrip;
    fallback.rstrip = named.rstrip;
    LAPILLI_TRY(AddedToken token, config.special_entry(named.name, fallback));
    if (token.text.empty()) return {};
    if (std::string_view(named.name) == "unk_token") result.unknown = token.text;
    const int32_t id = collector.take(std::move(token), true);
    if (int32_t* slot = special_slot(result.ids, named.name)) *slot = id;
    return {};
  };
  for (const NamedSpecial& named : sources.named) {
    if (!named.last) LAPILLI_CHECK(take_named(named));
  }
  LAPILLI_TRY(std::vector<AddedToken> extra, config.extra_special_tokens());
  // The family knows better than a list of texts which tokens are special; of equal tokens the last counts.
  std::unordered_map<std::string, size_t> places;
  for (size_t i = 0; i < extra.size(); ++i) places.emplace(extra[i].text, i);
  for (AddedToken& token : sources.extra) {
    const auto [place, fresh] = places.emplace(token.text, extra.size());
    if (fresh)
      extra.push_back(std::move(token));
    else
      extra[place->second].special = token.special;
  }
  for (AddedToken& token : extra) collector.take(std::move(token), sources.extra_makes_special);
  for (const NamedSpecial& named : sources.named) {
    if (named.last) LAPILLI_CHECK(take_named(named));
  }
  result.tokens = std::move(collector).finish();
  return result;
}

}  // namespace lapilli
