#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "generate/checked_request.hpp"
#include "generate/forward_run.hpp"
#include "generate/segment_memory.hpp"
#include "generate/verbs.hpp"
#include "ops/core/spans.hpp"
#include "runtime/check/self_test.hpp"
#include "runtime/run/paced_submitter.hpp"
#include "runtime/run/upload.hpp"
#include "search/encode_pass.hpp"
#include "search/engine_pool.hpp"
#include "search/globals.hpp"

namespace lapilli {

namespace {

uint32_t longest(const std::vector<std::vector<int32_t>>& rows) {
  size_t n = 1;
  for (const auto& r : rows) n = std::max(n, r.size());
  return static_cast<uint32_t>(n);
}

// Writes a state's words before a pass.
using StateWriter = std::function<Status(StateKind kind, std::span<const uint32_t> words)>;

// Where the keys of a source begin, behind its memory's absent rows, and its rows.
struct KeySpan {
  uint32_t begin = 0, memory = 0;
};

Status write_lengths(const StateWriter& write, StateKind kind, std::span<const uint32_t> lengths,
                     std::span<const KeySpan> before = {}) {
  std::vector<uint32_t> words(2 * uint64_t{state::MAX_ROWS}, 0);
  for (size_t i = 0; i < lengths.size(); ++i) {
    const KeySpan keys = before.empty() ? KeySpan() : before[i];
    words[2 * i] = keys.begin;
    words[2 * i + 1] = keys.begin + keys.memory + lengths[i];
  }
  return write(kind, words);
}

Status write_rows(const StateWriter& write, StateKind ids_kind, StateKind lengths_kind,
                  const std::vector<std::vector<int32_t>>& rows, uint32_t stride,
                  std::span<const KeySpan> before = {}) {
  std::vector<uint32_t> ids(rows.size() * stride, 0), lengths;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::transform(rows[i].begin(), rows[i].end(), ids.begin() + static_cast<ptrdiff_t>(i * stride),
                   [](int32_t id) { return static_cast<uint32_t>(id); });
    lengths.push_back(static_cast<uint32_t>(rows[i].size()));
  }
  LAPILLI_CHECK(write(ids_kind, ids));
  return write_lengths(write, lengths_kind, lengths, before);
}

// A bit for each pair of a source's ids; in the first of two streams ids see themselves.
Status write_key_masks(const StateWriter& write, const ForwardRequest& request, const model::ForwardShape& shape) {
  const uint64_t row = mask_words(shape.source_length), stream = row * shape.batch * shape.source_length;
  std::vector<uint32_t> words(stream * (shape.two_streams ? 2 : 1) + kBiasWords, 0);
  for (size_t i = 0; i < request.hidden_ids.size(); ++i)
    for (uint64_t at = 0, n = request.sources[i].size(); at < n * n; ++at) {
      if (request.hidden_ids[i][at] == 0) continue;
      const uint64_t query = at / n, key = at % n, word = (i * shape.source_length + query) * row + key / 32;
      if (query != key) words[word] |= 1u << key % 32;
      if (shape.two_streams) words[stream + word] |= 1u << key % 32;
    }
  return write(StateKind::key_masks, words);
}

// Behind the ids' types, each row of the states has zeros.
Status write_types(const StateWriter& write, const ForwardRequest& request, uint32_t stride) {
  std::vector<uint32_t> types(request.sources.size() * stride, 0);
  for (size_t i = 0; i < request.source_types.size(); ++i)
    std::ranges::copy(request.source_types[i], types.begin() + static_cast<ptrdiff_t>(i * stride));
  return write(StateKind::source_types, types);
}

// The rows of each source begin where they would if all were as long as the longest.
Status write_features(const StateWriter& write, const model::FeatureInput& input, const ForwardRequest& request,
                      uint32_t longest) {
  const uint64_t stride = model::feature_stride(input);
  std::vector<uint32_t> values(request.features.size() * longest * stride, 0), lengths;
  std::vector<model::FeatureRows> rows;
  for (size_t i = 0; i < request.features.size(); ++i) {
    const model::Features& f = *request.features[i];
    rows.push_back(rows_of(f));
    lengths.push_back(model::counted_rows(input, rows.back()));
    for (uint64_t r = 0; r < f.rows; ++r)
      std::memcpy(&values[(i * longest + r) * stride], &f.values[r * f.width], uint64_t{f.width} * sizeof(float));
  }
  LAPILLI_CHECK(write(StateKind::features, values));
  LAPILLI_CHECK(
      write(StateKind::feature_spans, model::feature_span_words(input, rows, model::level_rows(input, longest))));
  return write_lengths(write, StateKind::lengths, lengths);
}

// The sources of a packed pass, in their order.
std::vector<PassSource> pass_sources(const ForwardRequest& r) {
  std::vector<PassSource> sources;
  for (uint32_t i = 0; i < std::max(r.sources.size(), r.features.size()); ++i) {
    PassSource& s = sources.emplace_back();
    s.slot = i;
    if (!r.sources.empty()) s.ids = r.sources[i];
    if (!r.features.empty()) s.features = r.features[i].get();
    if (!r.global_positions.empty()) s.globals = r.global_positions[i];
    if (!r.source_types.empty()) s.types = r.source_types[i];
  }
  return sources;
}

// Rows of each source in the encoder.
std::vector<uint32_t> rows_of_sources(const model::Config& c, const ForwardRequest& r) {
  std::vector<uint32_t> rows;
  for (const auto& source : r.sources) rows.push_back(static_cast<uint32_t>(source.size()));
  for (const auto& f : r.features) rows.push_back(model::counted_rows(c.features, rows_of(*f)));
  return rows;
}

// Where the rows of sources begin that are as far apart as the longest is long; heads read this.
Status write_spans_apart(const StateWriter& write, std::span<const uint32_t> rows, uint32_t apart) {
  std::vector<Span> spans;
  for (size_t i = 0; i < rows.size(); ++i) spans.push_back({static_cast<uint32_t>(i) * apart, 0, rows[i], 0});
  return write(StateKind::spans, span_words(spans));
}

// The rows that a head reads, each as a source of one row. Sources follow one another, or are `apart` rows apart.
Status write_head_spans(const StateWriter& write, const ForwardRequest& r, uint32_t apart) {
  std::vector<Span> spans;
  uint32_t from = 0;
  for (size_t i = 0; i < r.head_rows.size(); ++i) {
    for (const uint32_t row : r.head_rows[i]) spans.push_back({from + row, 0, 1, 0});
    from += apart ? apart : static_cast<uint32_t>(r.sources[i].size());
  }
  return write(StateKind::head_spans, span_words(spans));
}

// The reference's shape of an output: hidden states [batch, length, d], attention weights [batch, heads, queries,
// keys].
std::vector<uint64_t> output_shape(const std::string& name, const model::ForwardShape& s, const model::Config& c,
                                   const graph::Tensor& t) {
  const uint64_t cols = t.cols, batch = s.batch, source = s.source_length, target = s.target_length;
  if (t.live_rows) return {batch, source, cols};
  if (name == "sentence_embedding") return {batch, cols};
  if (name.starts_with("token_scores")) return {t.rows, cols};
  if (s.head_rows && name == "logits") return {t.rows, cols};
  const bool of_source = !c.kind().writes && !c.heads.empty() && !c.heads.front().every_row;
  if (of_source && (name == "pooler_output" || name == "logits")) return {batch, cols};
  const uint64_t memory = s.memory_rows;
  if (name.starts_with("encoder_attentions")) return {batch, c.encoder.heads, source, memory + source};
  if (name.starts_with("decoder_attentions")) return {batch, c.decoder.heads, target, memory + target};
  if (name.starts_with("cross_attentions")) return {batch, c.decoder.heads, target, source};
  return {batch, t.rows / batch, cols};  // an encoder's stages have numbers of rows of their own
}

// Joins the outputs of several predicting streams, [batch, length, vocabulary] each, to the reference's "logits_ngram"
// [batch, streams, length, vocabulary].
void join_streams(std::vector<ForwardTensor>& outputs) {
  ForwardTensor all;
  all.name = "logits_ngram";
  const auto is_part = [&](const ForwardTensor& t) { return t.name.starts_with(all.name + "."); };
  std::vector<const ForwardTensor*> parts;
  for (const auto& t : outputs)
    if (is_part(t)) parts.push_back(&t);
  if (parts.empty()) return;
  const auto& shape = parts.front()->shape;
  all.shape = {shape[0], parts.size(), shape[1], shape[2]};
  const auto one = static_cast<ptrdiff_t>(shape[1] * shape[2]);
  for (uint64_t i = 0; i < shape[0]; ++i)
    for (const auto* part : parts) {
      const auto begin = part->values.begin() + static_cast<ptrdiff_t>(i) * one;
      all.values.insert(all.values.end(), begin, begin + one);
    }
  std::erase_if(outputs, is_part);
  outputs.push_back(std::move(all));
}

// Splits the scores of spans, [batch, length, 2], into the reference's "start_logits" and "end_logits".
void split_spans(const model::Config& c, std::vector<ForwardTensor>& outputs) {
  const auto it = std::ranges::find(outputs, "logits", &ForwardTensor::name);
  if (!c.head(model::HeadKind::spans) || it == outputs.end()) return;
  const ForwardTensor both = std::move(*it);
  outputs.erase(it);
  for (const size_t column : {size_t{0}, size_t{1}}) {
    ForwardTensor& one = outputs.emplace_back();
    one.name = column == 0 ? "start_logits" : "end_logits";
    one.shape = {both.shape[0], both.shape[1]};
    for (size_t i = column; i < both.values.size(); i += 2) one.values.push_back(both.values[i]);
  }
}

// Uses the reference's names for outputs of a model with one side: "hidden_states.0".
void name_as_alone(std::vector<ForwardTensor>& outputs) {
  for (ForwardTensor& f : outputs)
    for (const std::string_view side : {"encoder_", "decoder_"})
      if (f.name.starts_with(side)) f.name.erase(0, side.size());
}

// A session for one plan, counted against the model's memory limit.
Result<std::unique_ptr<Session>> make_room(const Model& model, const Plan& plan) {
  std::map<uint32_t, uint64_t> states;
  for (const auto& t : plan.graph.tensors())
    if (t.space == graph::Space::state) states[t.id] = std::max(states[t.id], t.bytes());
  uint64_t bytes = plan.arena_bytes();
  for (const auto& [id, size] : states) bytes += size;
  LAPILLI_TRY(
      auto share,
      model.memory().reserve({.bytes = bytes, .what = "this batch", .advice = "use a smaller batch or shorter input"}));
  LAPILLI_TRY(auto session, Session::create(model.device(), std::make_shared<vulkan::MemoryShare>(std::move(share))));
  session->require(plan);
  LAPILLI_CHECK(session->allocate());
  return session;
}

// Drops unused engines if memory is short; it is free once earlier submissions are done.
Result<std::unique_ptr<Session>> find_room(const Model& model, const Plan& plan) {
  auto room = make_room(model, plan);
  if (room || room.error().code != ErrorCode::out_of_memory) return room;
  model.engines().drop_free();
  model.device()->settle();
  return make_room(model, plan);
}

// The decoder's ids: given ones, or the sources behind the start instead of their last ids.
std::vector<std::vector<int32_t>> targets_of(const model::Config& c, const ForwardRequest& r) {
  if (c.shifted_start == model::kNoPositionId) return r.targets;
  std::vector<std::vector<int32_t>> targets = r.sources;
  for (auto& ids : targets) {
    if (ids.empty()) continue;  // refused as a source
    ids.pop_back();
    ids.insert(ids.begin(), static_cast<int32_t>(c.shifted_start));
  }
  return targets;
}

// Checks that the model takes this kind of sources and targets, and their numbers.
Status check_numbers(const model::Config& c, const ForwardRequest& r) {
  const model::Kind kind = c.kind();
  const bool ids = kind.reads == model::Reads::ids, none = kind.reads == model::Reads::nothing;
  const size_t given = none ? r.targets.size() : ids ? r.sources.size() : r.features.size();
  const size_t others = none ? r.sources.size() + r.features.size() : ids ? r.features.size() : r.sources.size();
  const size_t targets = kind.decodes && c.shifted_start == model::kNoPositionId ? given : 0;
  if (given > 0 && others == 0 && targets == r.targets.size() && given <= state::MAX_ROWS) return {};
  return fail(ErrorCode::invalid_argument, "%u sources of %s and %u targets; 1 to %u%s are needed",
              none ? r.sources.size() : given, ids || none ? "ids" : "features", r.targets.size(), state::MAX_ROWS,
              none      ? " targets alone"
              : targets ? " of each"
                        : " sources");
}

// Checks that each id of a source has a type that the model knows, or none has any.
Status check_types(const model::Config& c, const ForwardRequest& r, size_t source) {
  const auto& types = r.source_types[source];
  if (!types.empty() && types.size() != r.sources[source].size())
    return fail(ErrorCode::invalid_argument, "source %u has %u ids, but %u token types", source,
                r.sources[source].size(), types.size());
  const uint32_t known = std::max(c.encoder.row_types, 1u), most = types.empty() ? 0 : std::ranges::max(types);
  if (most < known) return {};
  return fail(ErrorCode::invalid_argument, "source %u has token type %u; this model knows %u, from 0 on", source, most,
              known);
}

Status check_types(const model::Config& c, const ForwardRequest& r) {
  if (!r.source_types.empty() && r.source_types.size() != r.sources.size())
    return fail(ErrorCode::invalid_argument, "token types of %u sources for %u sources", r.source_types.size(),
                r.sources.size());
  for (size_t i = 0; i < r.source_types.size(); ++i) LAPILLI_CHECK(check_types(c, r, i));
  return {};
}

// Checks the rows that heads read, and counts them.
Result<uint32_t> count_head_rows(const model::Config& c, const ForwardRequest& r) {
  uint32_t all = 0;
  if (r.head_rows.empty()) return all;
  if (r.head_rows.size() != r.sources.size() || c.kind().decodes || r.want_attentions)
    return fail(ErrorCode::invalid_argument, "a head's rows of %u sources for %u", r.head_rows.size(),
                r.sources.size());
  for (size_t i = 0; i < r.head_rows.size(); ++i)
    for (const uint32_t row : r.head_rows[i]) {
      if (row >= r.sources[i].size() || ++all > state::MAX_ROWS)
        return fail(ErrorCode::invalid_argument, "source %u: row %u is not within its %u ids, or one of more than %u",
                    i, row, r.sources[i].size(), state::MAX_ROWS);
    }
  return all;
}

// Adds the shape of masks, and of a second stream.
Status check_hidden(const model::Config& c, const ForwardRequest& r, model::ForwardShape& shape) {
  shape.masked = !r.hidden_ids.empty() || r.second_stream;
  shape.two_streams = r.second_stream;
  if (!shape.masked) return {};
  if (!c.encoder.segments || !r.memories.empty() || (r.second_stream && r.want_attentions))
    return fail(ErrorCode::invalid_argument,
                "hidden ids or a second stream, which XLNet alone has, without memories and attention weights");
  if (!r.hidden_ids.empty() && r.hidden_ids.size() != r.sources.size())
    return fail(ErrorCode::invalid_argument, "hidden ids of %u sources for %u", r.hidden_ids.size(), r.sources.size());
  for (size_t i = 0; i < r.hidden_ids.size(); ++i)
    if (const uint64_t n = r.sources[i].size(); r.hidden_ids[i].size() != n * n)
      return fail(ErrorCode::invalid_argument, "source %u has %u ids, but %u pairs may be hidden", i, n,
                  r.hidden_ids[i].size());
  return {};
}

// Room for more and longer targets than there are; what is not there has no keys.
Status take_room(const model::Config& c, const ForwardRequest& r, model::ForwardShape& shape) {
  LAPILLI_CHECK(check_writes_text(c));
  const auto longest = [&](uint32_t positions) {
    return positions ? std::min(r.room.longest, positions) : r.room.longest;
  };
  shape.batch = std::max(shape.batch, r.room.sources);
  shape.target_length = std::max(shape.target_length, longest(c.decoder.max_positions));
  if (c.kind().encodes) shape.source_length = std::max(shape.source_length, longest(c.encoder.max_positions));
  return {};
}

// Distances reach from the last row to the first one of the memory. Without a memory rows were checked by themselves.
Status check_memory_room(const model::Config& c, const model::ForwardShape& shape) {
  const model::StackConfig& s = c.last_stack();
  const uint32_t length = std::max(shape.source_length, shape.target_length);
  // The positions of a recurrent decoder leave room for its memory.
  const uint32_t most = s.max_positions == 0 ? 0 : s.max_positions + (s.recurrent ? s.memory : 0);
  if (most == 0 || shape.memory_rows == 0 || uint64_t{shape.memory_rows} + length <= most) return {};
  return fail(ErrorCode::invalid_argument,
              "a segment of %u ids behind a memory of %u; at most %u in all are supported. Use shorter segments",
              length, shape.memory_rows, most);
}

// Also finds the longest one.
Status check_forward(const model::Config& c, const ForwardRequest& r, model::ForwardShape& shape) {
  LAPILLI_CHECK(check_numbers(c, r));
  const auto targets = targets_of(c, r);
  LAPILLI_CHECK(check_rows(targets, c.target_vocabulary, c.decoder.max_positions, "target"));
  shape.batch = static_cast<uint32_t>(std::max({r.sources.size(), r.features.size(), r.targets.size()}));
  shape.target_length = longest(targets);
  shape.source_length = longest(r.sources);
  LAPILLI_CHECK(check_rows(r.sources, c.source_vocabulary, c.encoder.max_positions, "source"));
  LAPILLI_CHECK(check_types(c, r));
  uint32_t all = 0;
  for (const auto& source : r.sources) all += static_cast<uint32_t>(source.size());
  for (size_t i = 0; i < r.features.size(); ++i) {
    if (!r.features[i]) return fail(ErrorCode::invalid_argument, "source %u has no features", i);
    LAPILLI_TRY(const auto rows, model::check_features(c, *r.features[i], format("source %u", i).c_str()));
    shape.source_length = std::max(shape.source_length, rows);
    shape.features = std::max(shape.features, r.features[i]->rows);
    all += rows;
  }
  LAPILLI_TRY(shape.head_rows, count_head_rows(c, r));
  LAPILLI_TRY(shape.memory_rows, check_memories(c, r, shape.batch));
  LAPILLI_CHECK(check_memory_room(c, shape));
  LAPILLI_CHECK(check_hidden(c, r, shape));
  if (r.want_token_scores) return take_room(c, r, shape);
  if (c.kind().decodes || r.want_attentions || shape.memory_rows || shape.masked) return {};
  if (shape.head_rows) shape.head_rows = std::max(shape.head_rows, r.room.head_rows);
  shape.rows = std::max(all, r.room.rows);
  shape.batch = std::max(shape.batch, r.room.sources);
  shape.source_length = std::max(shape.source_length, r.room.longest);
  return {};
}

}  // namespace

struct ForwardPass::Impl {
  std::shared_ptr<Model> model;
  model::ForwardShape shape;
  std::vector<model::NamedOutput> outputs;
  std::shared_ptr<const Plan> plan;
  std::unique_ptr<Session> session;
  std::optional<BoundPlan> bound;

  Result<graph::Graph> build(const std::shared_ptr<Model>& of, const ForwardRequest& request);
  Status bind(std::shared_ptr<const Plan> compiled);
  Status write(const ForwardRequest& request, const StateWriter& to);
  Status write_sources(const ForwardRequest& request, const StateWriter& to) const;
  Status write_packed(const ForwardRequest& request, const StateWriter& to) const;
  Status write_memory(const ForwardRequest& request, const StateWriter& to) const;
  [[nodiscard]] std::vector<KeySpan> keys_before(const ForwardRequest& request) const;
  std::vector<uint32_t> rows;  // of each source in the encoder
  bool without_gaps = false;
  [[nodiscard]] Status check_again(const ForwardRequest& request) const;
  [[nodiscard]] uint64_t place(const model::NamedOutput& output) const {
    return plan->placement.offset[plan->graph.root(output.tensor)];
  }
  [[nodiscard]] ForwardTensor unpadded(const model::NamedOutput& output, const float* padded) const;
  Result<ForwardTensor> read(const model::NamedOutput& output) const;
};

ForwardPass::ForwardPass() : impl_(std::make_unique<Impl>()) {}
ForwardPass::ForwardPass(ForwardPass&&) noexcept = default;
ForwardPass& ForwardPass::operator=(ForwardPass&&) noexcept = default;
ForwardPass::~ForwardPass() = default;

Result<graph::Graph> ForwardPass::Impl::build(const std::shared_ptr<Model>& of, const ForwardRequest& request) {
  const NetworkOnDevice& on_device = of->on_device();
  model = of;
  LAPILLI_CHECK(check_forward(on_device.config(), request, shape));
  if (shape.two_streams && on_device.network.encoder.second_stream == model::kNoWeight)
    return fail(ErrorCode::invalid_argument, "a second stream, whose first vector (mask_emb) is not in the files");
  shape.hidden_states = request.want_hidden_states;
  shape.attentions = request.want_attentions;
  shape.logits = request.want_logits;
  shape.cross_layers = request.cross_layers;
  shape.only = request.only;
  shape.prompt_rows = request.prompt_rows;
  shape.token_scores = request.want_token_scores;
  graph::Graph g;
  model::Builder b(on_device.network, g);
  model::build_forward(b, shape);
  outputs = b.outputs();
  return g;
}

Status ForwardPass::Impl::bind(std::shared_ptr<const Plan> compiled) {
  const NetworkOnDevice& on_device = model->on_device();
  plan = std::move(compiled);
  LAPILLI_TRY(session, find_room(*model, *plan));
  LAPILLI_TRY(auto made, BoundPlan::bind(on_device.device, plan, session->memory(on_device.weight_map())));
  bound.emplace(std::move(made));
  return {};
}

Result<ForwardPass> ForwardPass::make(const std::shared_ptr<Model>& model, const ForwardRequest& request) {
  ForwardPass pass;
  LAPILLI_TRY(const auto g, pass.impl_->build(model, request));
  LAPILLI_TRY(auto plan, compile_tested(model->device(), g, request.deterministic));
  LAPILLI_CHECK(pass.impl_->bind(std::move(plan)));
  return pass;
}

Status ForwardPass::Impl::write(const ForwardRequest& request, const StateWriter& to) {
  rows = rows_of_sources(model->on_device().config(), request);
  without_gaps = request.without_gaps;
  if (shape.rows != 0) return write_packed(request, to);
  const model::Config& c = model->on_device().config();
  LAPILLI_CHECK(write_memory(request, to));
  if (c.kind().encodes) LAPILLI_CHECK(write_sources(request, to));
  if (shape.masked) LAPILLI_CHECK(write_key_masks(to, request, shape));
  if (shape.head_rows) LAPILLI_CHECK(write_head_spans(to, request, shape.source_length));
  if (!c.kind().decodes) return {};
  if (!c.kind().writes) LAPILLI_CHECK(write_spans_apart(to, rows, shape.target_length));
  return write_rows(to, StateKind::target_ids, StateKind::target_lengths, targets_of(c, request), shape.target_length,
                    keys_before(request));
}

Status ForwardPass::Impl::write_sources(const ForwardRequest& request, const StateWriter& to) const {
  const model::Config& c = model->on_device().config();
  if (!c.kind().decodes) LAPILLI_CHECK(write_spans_apart(to, rows, shape.source_length));
  if (c.kind().reads != model::Reads::ids) return write_features(to, c.features, request, shape.features);
  if (c.encoder.row_types) LAPILLI_CHECK(write_types(to, request, shape.source_length));
  const auto globals = global_words(c, request.global_positions, shape.batch, shape.source_length);
  if (!globals.empty()) LAPILLI_CHECK(to(StateKind::globals, globals));
  return write_rows(to, StateKind::source_ids, StateKind::lengths, request.sources, shape.source_length,
                    keys_before(request));
}

Status ForwardPass::Impl::write_memory(const ForwardRequest& request, const StateWriter& to) const {
  if (shape.memory_rows == 0) return {};
  return to(StateKind::memory, memory_words(model->on_device().config(), request, shape.batch, shape.memory_rows));
}

// Memories end where the segments begin.
std::vector<KeySpan> ForwardPass::Impl::keys_before(const ForwardRequest& request) const {
  std::vector<KeySpan> spans;
  for (size_t i = 0; i < shape.batch && shape.memory_rows; ++i) {
    const uint32_t own = memory_rows(model->on_device().config(), request, i);
    spans.push_back({shape.memory_rows - own, own});
  }
  return spans;
}

Status ForwardPass::Impl::write_packed(const ForwardRequest& request, const StateWriter& to) const {
  const model::Config& c = model->on_device().config();
  const auto sources = pass_sources(request);
  const auto pass = pack_pass(sources, pass_options(c, shape.source_length));
  for (const auto& [kind, words] : words_of(pass))
    if (!words->empty()) LAPILLI_CHECK(to(kind, *words));
  if (shape.head_rows) LAPILLI_CHECK(write_head_spans(to, request, 0));
  return to(StateKind::encode_grids, encode_grid_words(*plan, pass));
}

ForwardTensor ForwardPass::Impl::unpadded(const model::NamedOutput& output, const float* padded) const {
  const auto& t = plan->graph.tensor(output.tensor);
  ForwardTensor f;
  f.name = output.name;
  f.shape = output_shape(output.name, shape, model->on_device().config(), t);
  if (t.live_rows && without_gaps) f.shape = {std::accumulate(rows.begin(), rows.end(), uint64_t{0}), t.cols};
  const uint64_t apart = shape.source_length;
  f.values.resize(std::accumulate(f.shape.begin(), f.shape.end(), uint64_t{1}, std::multiplies<>()));
  const auto copy = [&](uint64_t from, uint64_t to) {
    std::copy_n(padded + from * t.ld, t.cols, f.values.begin() + static_cast<ptrdiff_t>(to * t.cols));
  };
  if (!t.live_rows)
    for (uint64_t r = 0; r < t.rows; ++r) copy(r, r);
  uint64_t from = 0;
  for (size_t i = 0; t.live_rows && i < rows.size(); from += rows[i++])
    for (uint64_t r = 0; r < rows[i]; ++r) copy(from + r, without_gaps ? from + r : i * apart + r);
  return f;
}

Result<ForwardTensor> ForwardPass::Impl::read(const model::NamedOutput& output) const {
  std::vector<float> padded(plan->graph.tensor(output.tensor).elements());
  LAPILLI_CHECK(session->read(session->arena(), place(output), std::as_writable_bytes(std::span(padded))));
  return unpadded(output, padded.data());
}

// The pass has room for this request as well.
Status ForwardPass::Impl::check_again(const ForwardRequest& request) const {
  const model::Config& c = model->on_device().config();
  model::ForwardShape now;
  LAPILLI_CHECK(check_forward(c, request, now));
  LAPILLI_CHECK(check_globals(c, request.sources, request.global_positions));
  if ((now.head_rows == 0) != (shape.head_rows == 0))
    return fail(ErrorCode::invalid_argument, "a pass for all rows is asked for chosen ones, or the other way round");
  const bool as_many = shape.rows != 0 || shape.token_scores ? now.batch <= shape.batch : now.batch == shape.batch;
  if (as_many && now.source_length <= shape.source_length && now.features <= shape.features &&
      now.target_length <= shape.target_length && now.memory_rows == shape.memory_rows && now.rows <= shape.rows &&
      now.head_rows <= shape.head_rows && now.masked == shape.masked && now.two_streams == shape.two_streams)
    return {};
  return fail(ErrorCode::invalid_argument, "a pass made for %u sources is asked for %u, or for longer ones",
              shape.batch, now.batch);
}

Result<std::vector<ForwardTensor>> ForwardPass::run(const ForwardRequest& request) {
  LAPILLI_CHECK(impl_->check_again(request));
  LAPILLI_CHECK(impl_->write(
      request, [&](StateKind kind, std::span<const uint32_t> words) { return impl_->session->write(kind, words); }));
  LAPILLI_CHECK(impl_->bound->run());
  std::vector<ForwardTensor> outputs;
  for (const auto& o : impl_->outputs) {
    LAPILLI_TRY(auto f, impl_->read(o));
    outputs.push_back(std::move(f));
  }
  join_streams(outputs);
  split_spans(impl_->model->on_device().config(), outputs);
  const model::Kind kind = impl_->model->on_device().config().kind();
  if (!kind.encodes || !kind.decodes) name_as_alone(outputs);
  return outputs;
}

Result<std::vector<ForwardTensor>> forward(const std::shared_ptr<Model>& model, const ForwardRequest& request) {
  LAPILLI_CHECK(check_globals(model->on_device().config(), request.sources, request.global_positions));
  LAPILLI_TRY(auto pass, ForwardPass::make(model, request));
  return pass.run(request);
}

// ---- without waiting ------------------------------------------------------------------------------------------------

struct ForwardRun::Impl {
  ForwardPass::Impl pass;
  ForwardRequest request;
  graph::Graph graph;
  std::optional<TestedCompilation> compilation;  // until there is a plan
  std::unique_ptr<UploadArea> area;
  vulkan::Buffer results;
  std::unique_ptr<vulkan::CommandRecording> copy;
  std::optional<PacedSubmitter> submitter;

  Result<bool> submit();
  Status prepare();
  Status write();
  Status record_results();
  void begin();
  [[nodiscard]] vulkan::Device& device() const { return *pass.model->device(); }
};

ForwardRun::ForwardRun() : impl_(std::make_unique<Impl>()) {}
ForwardRun::~ForwardRun() = default;

Result<std::unique_ptr<ForwardRun>> ForwardRun::start(const std::shared_ptr<Model>& model, ForwardRequest request) {
  LAPILLI_CHECK(check_globals(model->on_device().config(), request.sources, request.global_positions));
  std::unique_ptr<ForwardRun> job(new ForwardRun());
  Impl& j = *job->impl_;
  LAPILLI_TRY(j.graph, j.pass.build(model, request));
  j.request = std::move(request);
  j.compilation.emplace(model->device(), j.graph, j.request.deterministic);
  return job;
}

Status ForwardRun::Impl::write() {
  constexpr std::array kWritten = {StateKind::source_ids,    StateKind::lengths,    StateKind::features,
                                   StateKind::feature_spans, StateKind::target_ids, StateKind::target_lengths,
                                   StateKind::globals,       StateKind::spans,      StateKind::encode_grids,
                                   StateKind::source_types,  StateKind::head_spans, StateKind::memory,
                                   StateKind::key_masks};
  if (!area) {
    LAPILLI_TRY(area, UploadArea::create(*pass.session, kWritten));
  }
  LAPILLI_CHECK(pass.write(request, [&](StateKind kind, std::span<const uint32_t> words) -> Status {
    const auto to = area->words(kind);
    if (to.size() < words.size())
      return fail(ErrorCode::internal, "state %u: no room for %u words", static_cast<unsigned>(kind), words.size());
    std::copy(words.begin(), words.end(), to.begin());
    std::fill(to.begin() + static_cast<ptrdiff_t>(words.size()), to.end(), 0u);
    return {};
  }));
  return area->flush();
}

// An arena in host-visible memory needs no copy.
Status ForwardRun::Impl::record_results() {
  const BufferRef arena = pass.session->arena();
  if (arena.buffer->mapped()) return {};
  uint64_t bytes = 0;
  for (const auto& o : pass.outputs) bytes += pass.plan->graph.tensor(o.tensor).bytes();
  LAPILLI_TRY(results, device().make_buffer(std::max<uint64_t>(bytes, 16), vulkan::MemoryUse::readback, "results"));
  LAPILLI_TRY(auto recording, vulkan::CommandRecording::create(pass.model->device()));
  LAPILLI_CHECK(recording.begin());
  uint64_t to = 0;
  for (const auto& o : pass.outputs) {
    const uint64_t size = pass.plan->graph.tensor(o.tensor).bytes();
    recording.copy(*arena.buffer, arena.offset + pass.place(o), results, to, size);
    to += size;
  }
  LAPILLI_CHECK(recording.end());
  copy = std::make_unique<vulkan::CommandRecording>(std::move(recording));
  return {};
}

Status ForwardRun::Impl::prepare() {
  LAPILLI_CHECK(write());
  LAPILLI_CHECK(record_results());
  begin();
  return {};
}

void ForwardRun::Impl::begin() {
  submitter.emplace(pass.model->device());
  submitter->add(area->copy(), {});
  pass.bound->add_to(*submitter);
  if (copy) submitter->add(*copy, {});
}

Status ForwardRun::again(ForwardRequest request) {
  LAPILLI_CHECK(impl_->pass.check_again(request));
  impl_->request = std::move(request);
  LAPILLI_CHECK(impl_->write());
  impl_->begin();
  return {};
}

// True: all is submitted.
Result<bool> ForwardRun::Impl::submit() {
  if (compilation) {
    LAPILLI_TRY(auto plan, compilation->poll());
    if (!plan) return false;
    compilation.reset();
    LAPILLI_CHECK(pass.bind(std::move(plan)));
    LAPILLI_CHECK(prepare());
  }
  return submitter->submit();
}

Result<bool> ForwardRun::poll() {
  if (impl_->device().is_paused()) return false;
  LAPILLI_TRY(const bool submitted, impl_->submit());
  return submitted ? impl_->device().done(impl_->submitter->last()) : Result<bool>(false);
}

Status ForwardRun::wait() {
  const Impl& j = *impl_;
  if (j.compilation) return impl_->compilation->wait();
  return j.submitter->all_submitted() ? j.device().wait(j.submitter->last()) : j.device().wait_for_gap();
}

Status ForwardRun::take(const std::function<Status(ForwardTensor output)>& give) {
  const Impl& j = *impl_;
  const BufferRef arena = j.pass.session->arena();
  const vulkan::Buffer& from = j.copy ? j.results : *arena.buffer;
  if (!from.mapped()) return fail(ErrorCode::internal, "what a pass gave cannot be read");
  LAPILLI_CHECK(from.invalidate(0, from.size()));
  uint64_t packed = 0;
  for (const auto& o : j.pass.outputs) {
    const uint64_t at = j.copy ? packed : arena.offset + j.pass.place(o);
    LAPILLI_CHECK(give(j.pass.unpadded(o, reinterpret_cast<const float*>(from.mapped() + at))));
    packed += j.pass.plan->graph.tensor(o.tensor).bytes();
  }
  return {};
}

}  // namespace lapilli
