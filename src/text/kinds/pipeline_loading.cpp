#include "text/kinds/pipeline_loading.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "text/pipeline/json_components.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

Result<TokenizerFiles> load_tokenizer_files(const Files& from) {
  LAPILLI_TRY(auto config, TokenizerConfig::load(from));
  TokenizerFiles files{from, std::move(config), {}};
  const FileName path = from / "tokenizer.json";
  if (path.there()) {
    LAPILLI_TRY(files.json, TokenizerJson::load(path));
  }
  return files;
}

Result<SpecialTokens> SpecialTokens::collect(const TokenizerFiles& files, std::initializer_list<NamedToken> names,
                                             const SubwordModel& model) {
  SpecialTokens special;
  LAPILLI_TRY(special.tokens_, files.config.added_tokens());
  // added_tokens.json does not say which of its tokens are special; other files do.
  std::unordered_set<std::string> silent;
  if (!files.config.has("added_tokens_decoder")) {
    for (const AddedToken& token : special.tokens_) silent.insert(token.text);
  }
  if (files.json) {
    LAPILLI_TRY(auto listed, files.json->added_tokens());
    // Older directories list their tokens only in tokenizer.json.
    if (special.tokens_.empty() || !files.config.has("added_tokens_decoder")) {
      for (const AddedToken& token : listed) silent.erase(token.text);
      for (AddedToken& token : special.tokens_) {
        if (std::none_of(listed.begin(), listed.end(), [&](const AddedToken& t) { return t.text == token.text; }))
          listed.push_back(std::move(token));
      }
      special.tokens_ = std::move(listed);
    }
  }
  int64_t next = static_cast<int64_t>(model.size());
  for (AddedToken& token : special.tokens_) {
    if (const int32_t known = model.id(token.text); known >= 0) token.id = known;
    next = std::max(next, int64_t{token.id} + 1);
  }
  // Named tokens are special whatever a list says; others keep its flag.
  const auto add = [&](AddedToken token, bool named) -> int32_t {
    for (AddedToken& known : special.tokens_) {
      if (known.text != token.text) continue;
      known.special = known.special || named || silent.contains(known.text);
      return known.id;
    }
    token.id = model.id(token.text);
    if (token.id < 0) token.id = static_cast<int32_t>(std::min<int64_t>(next++, INT32_MAX));
    special.tokens_.push_back(token);
    return token.id;
  };
  for (const NamedToken& name : names) {
    LAPILLI_TRY(const AddedToken token, files.config.special_entry(name.field, {name.text, -1, true, name.lstrip}));
    if (token.text.empty()) continue;
    special.named_.emplace_back(name.field, add(token, true));
  }
  LAPILLI_TRY(const auto further, files.config.extra_special_tokens());
  for (const AddedToken& token : further) add(token, false);
  return special;
}

int32_t SpecialTokens::id(const char* field) const {
  for (const auto& [name, id] : named_) {
    if (name == field) return id;
  }
  return -1;
}

SpecialIds SpecialTokens::ids() const {
  SpecialIds ids;
  ids.pad = id("pad_token");
  ids.eos = id("eos_token");
  ids.unk = id("unk_token");
  ids.bos = id("bos_token");
  ids.cls = id("cls_token");
  ids.sep = id("sep_token");
  ids.mask = id("mask_token");
  return ids;
}

Result<PipelineSettings> read_settings(const TokenizerFiles& files, const SpecialTokens& special, bool clean_up) {
  PipelineSettings settings;
  settings.special = special.ids();
  const bool left = files.json && files.json->pads_left();
  LAPILLI_TRY(const std::string side, files.config.text("padding_side", left ? "left" : "right"));
  if (side != "left" && side != "right")
    return fail(ErrorCode::invalid_data, "%s: padding_side is %s instead of left or right", files.config.path().c_str(),
                quote_text(side));
  settings.pad_left = side == "left";
  LAPILLI_TRY(settings.pad_type, files.config.count("pad_token_type_id", 0));
  LAPILLI_TRY(settings.clean_up, files.config.flag("clean_up_tokenization_spaces", clean_up));
  return settings;
}

Result<ModelPtr> load_bpe_model(const TokenizerFiles& files, const BpeOptions& options) {
  if (!files.json) {
    const FileName path = files.from / "vocab.json";
    LAPILLI_TRY(auto vocabulary, Vocabulary::load(path));
    LAPILLI_TRY(const auto merges, load_merges(files.from / "merges.txt"));
    return make_bpe(std::move(vocabulary), merges, options, path.path());
  }
  LAPILLI_TRY(const JsonReader model, model_reader(files.json->document(), files.json->path()));
  LAPILLI_TRY(auto vocabulary, read_vocabulary(model));
  LAPILLI_TRY(const auto merges, read_merges(model));
  return make_bpe(std::move(vocabulary), merges, options, model.where());
}

Result<ModelPtr> load_word_piece_model(const TokenizerFiles& files, const char* vocab_file,
                                       const WordPieceOptions& options) {
  if (!files.json) {
    const FileName path = files.from / vocab_file;
    LAPILLI_TRY(auto vocabulary, load_vocab_txt(path));
    return make_word_piece(std::move(vocabulary), options, path.path());
  }
  LAPILLI_TRY(const JsonReader model, model_reader(files.json->document(), files.json->path()));
  LAPILLI_TRY(auto vocabulary, read_vocabulary(model));
  return make_word_piece(std::move(vocabulary), options, model.where());
}

}  // namespace lapilli
