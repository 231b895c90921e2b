#include "generate/attention.hpp"

#include <algorithm>

#include "generate/generate.hpp"
#include "search/network_on_device.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

uint64_t common_prefix(std::string_view a, std::string_view b) {
  const size_t n = std::min(a.size(), b.size());
  size_t i =
      static_cast<size_t>(std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(n), b.begin()).first - a.begin());
  // Never cuts a character.
  while (i > 0 && i < b.size() && (static_cast<unsigned char>(b[i]) & 0xC0) == 0x80) --i;
  return i;
}

// Trims white space at the ends.
ByteRange stripped(std::string_view text, ByteRange r) {
  if (r.begin > r.end || r.end > text.size()) return {};
  const std::string_view all = text.substr(r.begin, r.end - r.begin);
  const std::string_view left = strip_left(all);
  const uint64_t begin = r.begin + (all.size() - left.size());
  return {begin, begin + strip_right(left).size()};
}

AttentionToken token_of(const Tokenizer* tokenizer, int32_t id, ByteRange bytes, std::string_view text) {
  AttentionToken t;
  t.id = id;
  t.bytes = stripped(text, bytes);
  if (t.bytes.begin < t.bytes.end) {
    t.label = text.substr(t.bytes.begin, t.bytes.end - t.bytes.begin);
    return t;
  }
  t.special = true;
  t.bytes = {};
  if (tokenizer) t.label = tokenizer->token(id);
  if (t.label.empty()) t.label = "#" + std::to_string(id);
  t.label = replace_invalid_utf8(t.label);
  return t;
}

// Joins the layers of the forward pass; an empty map if none has this size (windowed attention).
AttentionMap take(std::vector<ForwardTensor>& outputs, const std::string& prefix, uint32_t layers, size_t rows,
                  size_t cols) {
  AttentionMap map;
  map.layers = layers;
  map.rows = static_cast<uint32_t>(rows);
  map.cols = static_cast<uint32_t>(cols);
  for (uint32_t layer = 0; layer < layers; ++layer) {
    const std::string name = prefix + std::to_string(layer);
    const auto at =
        std::find_if(outputs.begin(), outputs.end(), [&](const ForwardTensor& t) { return t.name == name; });
    if (at == outputs.end() || at->shape.size() != 4) return {};
    const uint64_t heads = at->shape[1];
    if (at->shape != std::vector<uint64_t>{1, heads, rows, cols} || at->values.size() != heads * rows * cols) return {};
    if (layer > 0 && heads != map.heads) return {};
    map.heads = static_cast<uint32_t>(heads);
    map.values.insert(map.values.end(), at->values.begin(), at->values.end());
    at->values = {};
  }
  return map;
}

}  // namespace

Status has_maps(const Attention& attention) {
  if (!attention.kept) return {};
  return fail(
      ErrorCode::invalid_argument,
      "this text was kept as it is (nothing but addresses, numbers and signs): the model did not run on it, so it "
      "has no attention; ask for its alignment, or for the attention of other texts");
}

Result<std::vector<float>> AttentionMap::select(int32_t layer, int32_t head) const {
  if (recurrent)
    return fail(ErrorCode::unsupported,
                "this model's decoder has recurrent cells in place of self attention, so it has no such weights; ask "
                "for cross or encoder attention");
  if (layers == 0)
    return fail(ErrorCode::unsupported,
                "an encoder that attends within windows keeps no weights; ask for cross or decoder "
                "attention");
  if (layer < kAttentionMean || layer >= static_cast<int32_t>(layers)) {
    return fail(ErrorCode::invalid_argument, "attention layer %d: the model has layers 0 to %d", layer,
                static_cast<int32_t>(layers) - 1);
  }
  if (head < kAttentionMean || head >= static_cast<int32_t>(heads)) {
    return fail(ErrorCode::invalid_argument, "attention head %d: the model has heads 0 to %d", head,
                static_cast<int32_t>(heads) - 1);
  }
  const size_t size = size_t{rows} * cols;
  std::vector<double> sum(size, 0.0);
  double count = 0;
  for (uint32_t l = 0; l < layers; ++l) {
    if (layer >= 0 && l != static_cast<uint32_t>(layer)) continue;
    for (uint32_t h = 0; h < heads; ++h) {
      if (head >= 0 && h != static_cast<uint32_t>(head)) continue;
      const size_t from = (size_t{l} * heads + h) * size;
      for (size_t i = 0; i < size; ++i) sum[i] += values[from + i];
      ++count;
    }
  }
  std::vector<float> mean(size);
  std::transform(sum.begin(), sum.end(), mean.begin(), [count](double v) { return static_cast<float>(v / count); });
  return mean;
}

Decoding decoding_by(const Tokenizer& tokenizer) {
  return [&tokenizer](std::span<const int32_t> ids) { return tokenizer.decode(ids); };
}

Result<std::vector<ByteRange>> decoded_bytes(const Decoding& decode, std::span<const int32_t> ids,
                                             std::string_view text, uint64_t base) {
  std::vector<ByteRange> bytes(ids.size());
  std::vector<bool> partial(ids.size(), false);
  uint64_t done = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    LAPILLI_TRY(const std::string begun, decode(ids.first(i + 1)));
    const uint64_t reached = std::max(done, common_prefix(begun, text));
    bytes[i] = {base + done, base + reached};
    partial[i] = done == reached && begun.ends_with("\xEF\xBF\xBD");
    done = reached;
  }
  // Tokens with only the first bytes of a character stand for all of it.
  for (size_t i = ids.size(); i-- > 1;) {
    if (partial[i - 1]) bytes[i - 1] = bytes[i];
  }
  return bytes;
}

Result<Attention> attend(const std::shared_ptr<Model>& model, const SequencePart& part, std::string_view source_text,
                         std::string_view target_text) {
  if (part.finish == Finish::kept) {
    Attention kept;
    kept.kept = {part.source, part.target};
    kept.source_text = source_text;
    kept.target_text = target_text;
    return kept;
  }
  if (!model->on_device().config().kind().attends)
    return fail(ErrorCode::unsupported,
                "%s models have no encoder to which a decoder attends: their outputs have no attention to an input and "
                "no alignment",
                model->info().family);
  ForwardRequest request;
  request.sources = {part.source_ids};
  request.targets = {part.decoder_ids};
  request.want_attentions = true;
  request.want_logits = false;
  LAPILLI_TRY(auto outputs, forward(model, request));
  const ModelInfo& info = model->info();
  Attention a;
  const size_t source = part.source_ids.size(), target = part.decoder_ids.size();
  a.cross = take(outputs, "cross_attentions.", info.decoder_layers, target, source);
  a.encoder = take(outputs, "encoder_attentions.", info.encoder_layers, source, source);
  a.decoder = take(outputs, "decoder_attentions.", info.decoder_layers, target, target);
  a.decoder.recurrent = model->on_device().config().decoder.cells;
  a.source_text = source_text;
  a.target_text = target_text;
  const Tokenizer* tokenizer = model->tokenizer();
  for (size_t i = 0; i < part.source_ids.size(); ++i) {
    const ByteRange bytes = i < part.source_bytes.size() ? part.source_bytes[i] : ByteRange{};
    // Source names are known only if both sides share a vocabulary.
    const bool named =
        tokenizer && tokenizer->vocabulary_size(TextSide::source) == tokenizer->vocabulary_size(TextSide::target);
    a.source.push_back(token_of(named ? tokenizer : nullptr, part.source_ids[i], bytes, a.source_text));
  }
  std::vector<ByteRange> bytes(part.decoder_ids.size());
  if (tokenizer && part.target.end <= target_text.size() && part.target.begin <= part.target.end) {
    LAPILLI_TRY(bytes, decoded_bytes(decoding_by(*tokenizer), part.decoder_ids,
                                     target_text.substr(part.target.begin, part.target.end - part.target.begin),
                                     part.target.begin));
  }
  for (size_t i = 0; i < part.decoder_ids.size(); ++i) {
    a.target.push_back(token_of(tokenizer, part.decoder_ids[i], bytes[i], a.target_text));
  }
  return a;
}

}  // namespace lapilli
