#include "text/kinds/tokenizer_kinds.hpp"

#include <algorithm>

#include "text/kinds/marian_tokenizer.hpp"
#include "text/kinds/own_tokenizers.hpp"
#include "text/kinds/pipeline_tokenizers.hpp"
#include "text/kinds/rebuilt_tokenizer.hpp"
#include "text/tokenizer_config.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

constexpr TokenizerKind kKinds[] = {
    {"MarianTokenizer", "marian", load_marian_tokenizer, true},
    {"ByT5Tokenizer", "", load_byt5_tokenizer, true},
    {"BlenderbotSmallTokenizer", "blenderbot-small", load_blenderbot_small_tokenizer, true},
    {"FSMTTokenizer", "fsmt", load_fsmt_tokenizer, true},
    {"Speech2TextTokenizer", "speech_to_text", load_speech_to_text_tokenizer, true},
    {"T5Tokenizer", "t5 mt5 umt5", load_t5_tokenizer},
    {"PegasusTokenizer", "pegasus", load_pegasus_tokenizer},
    {"MBartTokenizer", "mbart", load_mbart_tokenizer},
    {"MBart50Tokenizer", "", load_mbart50_tokenizer},
    {"NllbTokenizer", "nllb-moe", load_nllb_tokenizer},
    {"XLMRobertaTokenizer", "xlm-roberta", load_xlm_roberta_tokenizer},
    {"XLNetTokenizer", "xlnet", load_xlnet_tokenizer},
    {"AlbertTokenizer", "albert", load_albert_tokenizer},
    {"DebertaV2Tokenizer", "deberta-v2", load_deberta_v2_tokenizer},
    {"M2M100Tokenizer", "m2m_100", load_m2m100_tokenizer, true},
    {"GPT2Tokenizer", "gpt2 opt gpt_neo", load_gpt2_tokenizer},
    {"RobertaTokenizer", "roberta", load_roberta_tokenizer},
    {"BartTokenizer", "bart", load_roberta_tokenizer},
    {"LEDTokenizer", "led", load_roberta_tokenizer},
    {"BlenderbotTokenizer", "blenderbot", load_blenderbot_tokenizer},
    {"WhisperTokenizer", "whisper", load_whisper_tokenizer},
    {"OpenAIGPTTokenizer", "openai-gpt", load_openai_gpt_tokenizer},
    {"LlamaTokenizer", "llama mistral", load_llama_tokenizer},
    {"BertTokenizer", "bert encoder-decoder", load_bert_tokenizer},
    {"DistilBertTokenizer", "distilbert", load_bert_tokenizer},
    {"ElectraTokenizer", "electra", load_bert_tokenizer},
    {"MobileBertTokenizer", "mobilebert", load_bert_tokenizer},
    {"ProphetNetTokenizer", "prophetnet", load_prophetnet_tokenizer},
    {"PreTrainedTokenizer", "", load_json_tokenizer},
    {"TokenizersBackend", "", load_json_tokenizer},
    {"tokenizers.Tokenizer", "", load_literal_tokenizer},
    {"PiecesTokenizer", "transformer", load_pieces_tokenizer},
};
// A SentencePiece model without further files.
constexpr TokenizerKind kSentencePiece = {"sentencepiece.SentencePieceProcessor", "", load_sentencepiece_tokenizer};

bool contains_word(std::string_view words, std::string_view word) {
  for (size_t at = 0; at <= words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (end > at && words.substr(at, end - at) == word) return true;
    at = end + 1;
  }
  return false;
}

const TokenizerKind* kind_of_class(std::string_view name) {
  constexpr std::string_view kFast = "Fast";
  if (name.ends_with(kFast)) name.remove_suffix(kFast.size());
  if (name == kSentencePiece.tokenizer_class) return &kSentencePiece;
  for (const TokenizerKind& kind : kKinds) {
    if (kind.tokenizer_class == name) return &kind;
  }
  return nullptr;
}

const TokenizerKind* kind_of_model_type(std::string_view type) {
  for (const TokenizerKind& kind : kKinds) {
    if (contains_word(kind.model_types, type)) return &kind;
  }
  return nullptr;
}

// Files of a kind, any set of which is enough.
struct KindFiles {
  std::string_view tokenizer_class, files;
};
constexpr KindFiles kKindFiles[] = {
    {"MarianTokenizer", "source.spm, target.spm and vocab.json"},
    {"T5Tokenizer", "tokenizer.json, or spiece.model"},
    {"PegasusTokenizer", "tokenizer.json, or spiece.model"},
    {"MBartTokenizer", "tokenizer.json, or sentencepiece.bpe.model"},
    {"M2M100Tokenizer", "sentencepiece.bpe.model and vocab.json"},
    {"GPT2Tokenizer", "tokenizer.json, or vocab.json and merges.txt"},
    {"BartTokenizer", "tokenizer.json, or vocab.json and merges.txt"},
    {"WhisperTokenizer", "tokenizer.json, or vocab.json and merges.txt"},
    {"BertTokenizer", "tokenizer.json, or vocab.txt"},
};

bool is_named_in(const Files& files, std::string_view names) {
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(' ', at), names.size());
    std::string name(names.substr(at, end - at));
    if (name.ends_with(',')) name.pop_back();
    // A reader of another program's files may have made the vocabulary.
    if (name.find('.') != std::string::npos && name != "vocab.json" && (files / name).there()) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

Status check_tokenizer_files(const Files& files, const TokenizerKind& kind) {
  for (const KindFiles& known : kKindFiles) {
    if (known.tokenizer_class != kind.tokenizer_class || is_named_in(files, known.files)) continue;
    return fail(ErrorCode::not_found,
                "%s has no tokenizer: looked for %s; put the files that were published with the model into the "
                "directory, or give ids of its vocabulary for texts (--ids)",
                files, known.files);
  }
  return {};
}

Result<const TokenizerKind*> choose_tokenizer_kind(const Files& files, const std::string& family) {
  if (const TokenizerKind* kind = kind_of_class(family)) return kind;
  LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
  LAPILLI_TRY(const std::string name, config.tokenizer_class());
  if (const TokenizerKind* kind = kind_of_class(name)) return kind;
  const auto there = [&](const char* file) { return (files / file).there(); };
  // NLLB has M2M100's model type, but a different vocabulary file.
  if (family == "m2m_100" && !there("vocab.json") && there("sentencepiece.bpe.model"))
    return kind_of_class("NllbTokenizer");
  if (const TokenizerKind* kind = kind_of_model_type(family)) return kind;
  if (there("tokenizer.json")) return kind_of_class("TokenizersBackend");
  if (name.empty() && there("spiece.model")) return &kSentencePiece;
  if (name.empty() && there("vocab.json") && there("merges.txt")) return kind_of_class("GPT2Tokenizer");
  if (name.empty() && there("vocab.txt")) return kind_of_class("BertTokenizer");
  std::string known;
  for (const TokenizerKind& kind : kKinds) {
    if (!kind.model_types.empty()) known += (known.empty() ? "" : " ") + std::string(kind.model_types);
  }
  return fail(ErrorCode::unsupported, "no tokenizer for model_type %s%s%s (%s); known: %s", quote_text(family),
              name.empty() ? "" : " with tokenizer_class ", name.empty() ? "" : quote_text(name).c_str(), files, known);
}

}  // namespace lapilli
