#include "text/special_tokens.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "text/utf8.hpp"

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

// Takes tokens in the order in which they get their ids.
class Collector {
 public:
  Collector(std::vector<AddedToken> listed, const SpecialTokenSources& sources)
      : tokens_(std::move(listed)), sources_(sources), next_id_(static_cast<int32_t>(sources.vocabulary_size)) {
    for (const AddedToken& t : tokens_) next_id_ = std::max(next_id_, t.id + 1);
  }
  // Of a token that a file lists with an id, id and flags stay as they are there.
  int32_t take(AddedToken token, bool make_special) {
    const auto same = std::find_if(tokens_.begin(), tokens_.end(), [&](const auto& t) { return t.text == token.text; });
    if (same != tokens_.end()) {
      same->special = same->special || make_special;
      return same->id;
    }
    token.id = sources_.id_of(token.text);
    if (token.id < 0) token.id = next_id_++;
    tokens_.push_back(std::move(token));
    return tokens_.back().id;
  }
  std::vector<AddedToken> finish() && { return std::move(tokens_); }

 private:
  std::vector<AddedToken> tokens_;
  const SpecialTokenSources& sources_;
  int32_t next_id_;
};

bool holds(const std::vector<AddedToken>& tokens, const std::string& text) {
  return std::any_of(tokens.begin(), tokens.end(), [&](const AddedToken& t) { return t.text == text; });
}

}  // namespace

Result<CollectedTokens> collect_special_tokens(const TokenizerConfig& config, SpecialTokenSources sources) {
  constexpr uint64_t kMostBehind = 65536;
  LAPILLI_TRY(std::vector<AddedToken> listed, config.added_tokens());
  for (AddedToken& token : sources.listed) {
    if (!holds(listed, token.text)) listed.push_back(std::move(token));
  }
  for (const AddedToken& token : listed) {
    if (static_cast<uint64_t>(token.id) >= sources.vocabulary_size + kMostBehind)
      return fail(ErrorCode::invalid_data, "%s: added token %s has id %d, far outside the vocabulary of %zu",
                  config.path().c_str(), quote_text(token.text).c_str(), token.id,
                  static_cast<size_t>(sources.vocabulary_size));
  }
  CollectedTokens result;
  Collector collector(std::move(listed), sources);
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
  for (const AddedToken& token : extra) result.extra_of_files.push_back(token.text);
  // The family knows better than a list of texts what is special.
  for (AddedToken& token : sources.extra) {
    const auto same = std::find_if(extra.begin(), extra.end(), [&](const auto& t) { return t.text == token.text; });
    if (same == extra.end())
      extra.push_back(std::move(token));
    else
      same->special = token.special;
  }
  for (AddedToken& token : extra) collector.take(std::move(token), sources.extra_makes_special);
  for (const NamedSpecial& named : sources.named) {
    if (named.last) LAPILLI_CHECK(take_named(named));
  }
  result.tokens = std::move(collector).finish();
  return result;
}

}  // namespace lapilli
