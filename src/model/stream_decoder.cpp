#include "model/blocks/embedding.hpp"
#include "model/blocks/feed_forward.hpp"
#include "model/blocks/norm.hpp"
#include "model/blocks/output.hpp"
#include "model/blocks/stream_attention.hpp"
#include "model/decoder.hpp"

namespace lapilli::model {

namespace {

// A predicting stream sees its position, which is that of the next token, but no embedding.
graph::TensorId embed_stream(Builder& b, uint32_t stream, const IdRows& rows, EmbedAttributes e) {
  const StackConfig& s = b.config().decoder;
  const StackWeights& w = b.network().decoder;
  const std::string label = format("decoder.stream%u", stream);
  e.scale = 0;
  e.position_offset += 1;
  const auto x =
      ops::embed(b.g(), label + ".embed",
                 {rows.ids, b.weight(w.embedding), b.weight(w.streams[stream]), rows.step_or_spans, rows.rows}, e);
  return normalize(b, label + ".embed_norm", {s, w.embedding_norm}, x);
}

// Cross attention and feed-forward of one stream in one layer, from the sum after self attention.
struct StreamLayer {
  uint32_t layer;
  std::string label, keep_cross;
};
graph::TensorId rest_of_layer(Builder& b, const StreamLayer& at, graph::TensorId x, DecoderRun& run) {
  const StackConfig& s = b.config().decoder;
  const LayerWeights& w = b.network().decoder.layers[at.layer];
  x = normalize(b, at.label + ".self.norm", {s, w.self.norm}, x);
  const Sublayer in{x, x, run.cross_kv[at.layer]};
  if (run.step) {
    x = cross_attention_step(b, at.label + ".cross", {s, w.cross}, in, run.in_step);
  } else {
    run.cross.keep_weights = at.keep_cross;
    x = cross_attention(b, at.label + ".cross", {s, w.cross}, in, run.cross);
  }
  x = normalize(b, at.label + ".cross.norm", {s, w.cross.norm}, x);
  x = feed_forward(b, at.label, s, w, {x, x});
  return normalize(b, at.label + ".norm", {s, w.norm}, x);
}

}  // namespace

std::vector<graph::TensorId> stream_decoder(Builder& b, const IdRows& rows, const EmbedAttributes& attributes,
                                            uint32_t streams, DecoderRun& run) {
  const StackConfig& s = b.config().decoder;
  Streams x;
  x.main = embed_rows(b, "decoder", rows, attributes);
  if (run.keep_hidden_states) b.keep_copy("decoder_hidden_states.0", x.main);
  for (uint32_t i = 0; i < streams; ++i) x.predicting.push_back(embed_stream(b, i, rows, attributes));
  for (uint32_t i = 0; i < s.layers; ++i) {
    const std::string label = format("decoder.%u", i);
    StreamRun how;
    run.self.keep_weights = run.keep_attentions ? format("decoder_attentions.%u", i) : "";
    // The last layer's main stream is needed only for its keys and values.
    how.keep_main = i + 1 < s.layers || run.keep_hidden_states || run.keep_attentions;
    if (run.step) {
      how.step = &run.in_step;
      how.kv = run.self_kv[i];
    } else {
      how.sequence = &run.self;
    }
    x = stream_attention(b, label + ".self", {s, b.network().decoder.layers[i].self}, x, how);
    if (x.main != graph::kNone) x.main = rest_of_layer(b, {i, label, ""}, x.main, run);
    for (uint32_t j = 0; j < x.predicting.size(); ++j) {
      const bool keep = run.keep_attentions && j == 0;
      x.predicting[j] = rest_of_layer(
          b, {i, label + format(".stream%u", j), keep ? format("cross_attentions.%u", i) : ""}, x.predicting[j], run);
    }
    if (run.keep_hidden_states) b.keep_copy(format("decoder_hidden_states.%u", i + 1), x.main);
  }
  return x.predicting;
}

void keep_stream_logits(Builder& b, const std::vector<graph::TensorId>& predicting) {
  for (uint32_t i = 0; i < predicting.size(); ++i)
    b.keep(i == 0 ? "logits" : format("logits_ngram.%u", i), output_logits(b, predicting[i]));
}

}  // namespace lapilli::model
