#include "generate/translate.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "generate/pieces.hpp"
#include "generate/repeats.hpp"
#include "search/network_on_device.hpp"
#include "search/search_options.hpp"
#include "search/token_stream.hpp"
#include "text/sentences/neutral_text.hpp"

namespace lapilli {

namespace {

// Enough rows to keep a device busy, few enough that progress is seen and a cancellation loses little.
constexpr uint32_t kDefaultBatch = 32;

// One call of translate().
class Translation {
 public:
  Translation(const std::shared_ptr<Model>& model, const TranslateRequest& request)
      : model_(model), request_(request), total_(request.inputs.size()) {}

  Result<TranslateOutput> run() {
    const auto start = Clock::now();
    LAPILLI_CHECK(prepare());
    LAPILLI_CHECK(tokenize());
    LAPILLI_CHECK(generate_all());
    if (!report(0)) out_.cancelled = out_.cancelled || units_done_ < units_.size();
    out_.stats.total_ms = ms_since(start);
    return std::move(out_);
  }

 private:
  // A piece of an input.
  struct Unit {
    size_t input = 0, piece = 0;
    bool streamed = false;
  };
  struct Input {
    InputPieces pieces;
    std::vector<std::vector<TextSequence>> said;  // per piece
    size_t left = 0;                              // pieces that are not done
    std::optional<InputStream> stream;
  };

  // What is wrong with the options is no input's fault.
  Status prepare() {
    LAPILLI_TRY(conventions_, find_conventions(*model_, request_.task));
    options_ = merge(request_.options, conventions_.options);
    const GenerationConfig merged = merge(options_, model_->generation_config());
    start_ = merged.decoder_start_token_id.value_or(merged.bos_token_id.value_or(-1));
    prompt_ = request_.decoder_prompt;
    const bool start_in_front = prompt_.empty() || prompt_.front() != start_;
    const auto given = static_cast<uint32_t>(std::min<size_t>(prompt_.size(), 1u << 20) + (start_in_front ? 1 : 0));
    if (!start_in_front) prompt_.erase(prompt_.begin());
    LAPILLI_TRY(auto resolved, resolve_options(model_->generation_config(), options_, model_->on_device().config()));
    LAPILLI_TRY(search_, resolved.for_given(given));
    resolved_ = std::make_shared<ResolvedOptions>(std::move(resolved));
    return {};
  }

  Status tokenize() {
    out_.outputs.resize(total_);
    inputs_.resize(total_);
    PieceOptions how;
    if (request_.split)
      how.split = *request_.split ? Split::always : Split::never;
    else if (request_.task.task == Task::translate)
      how.split = Split::long_texts;
    how.keep = request_.task.task == Task::translate && request_.decoder_prompt.empty();
    how.language = request_.task.from;
    how.conventions = &conventions_;
    for (size_t i = 0; i < total_; ++i) {
      const TextInput& input = request_.inputs[i];
      if (!input.has_ids && !model_->tokenizer()) {
        return Error(model_->tokenizer_error()).in("this model takes token ids only, for its tokenizer cannot be used");
      }
      auto pieces = make_pieces(*model_, input, how);
      if (!pieces) {
        out_.outputs[i].status = std::move(pieces).error();
        ++failed_;
        continue;
      }
      out_.outputs[i].status = fail(ErrorCode::cancelled, "cancelled before it was finished");
      Input& in = inputs_[i];
      in.pieces = std::move(*pieces);
      in.left = in.pieces.pieces.size();
      in.said.resize(in.left);
      if (request_.stream) in.stream.emplace(model_->tokenizer(), input.text, in.pieces.ranges);
      add_units(i);
    }
    stream_.emplace([this](size_t unit, std::span<const int32_t> ids) { return pass_on(unit, ids); }, units_.size());
    // Rows of one length make the least padding; long ones first, so that too little memory shows at once. Who wants to
    // see the text as it comes wants the first of it first.
    if (!request_.stream)
      std::stable_sort(order_.begin(), order_.end(),
                       [this](size_t a, size_t b) { return source(a).ids.size() > source(b).ids.size(); });
    return {};
  }

  void add_units(size_t input) {
    const auto& pieces = inputs_[input].pieces.pieces;
    for (size_t i = 0; i < pieces.size(); ++i) {
      const InputPiece& piece = pieces[i];
      out_.stats.source_tokens += piece.ids.size();
      out_.outputs[input].word_tokens += piece.word_tokens;
      out_.outputs[input].unknown_tokens += piece.unknown_tokens;
      (piece.kept ? kept_ : order_).push_back(units_.size());
      units_.push_back({input, i, false});
    }
  }

  [[nodiscard]] const InputPiece& source(size_t unit) const {
    return inputs_[units_[unit].input].pieces.pieces[units_[unit].piece];
  }

  bool report(uint64_t units) {
    if (!request_.progress) return true;
    const uint64_t all = units_.size();
    return request_.progress(failed_ + std::min<uint64_t>(units_done_ + units, all), failed_ + all);
  }

  [[nodiscard]] GenerateRequest request() {
    GenerateRequest g;
    for (const size_t unit : order_) {
      g.sources.push_back(source(unit).ids);
      const Unit& u = units_[unit];  // what is drawn does not depend on the company
      g.sequences.push_back(draw_number(request_.inputs[u.input].number.value_or(u.input), u.piece));
    }
    if (!request_.decoder_prompt.empty()) g.decoder_ids.assign(order_.size(), request_.decoder_prompt);
    g.options = options_;
    g.resolved = resolved_;
    g.steps_in_flight = request_.steps_in_flight;
    g.batch = request_.batch != 0 ? request_.batch : kDefaultBatch;
    g.deterministic = request_.deterministic;
    g.keep_order = true;
    if (request_.stream)
      g.on_tokens = [this](size_t row, std::span<const int32_t> ids) { return stream_->push(order_[row], ids); };
    return g;
  }

  Status generate_all() {
    if (!kept_.empty() && !report(0)) {
      out_.cancelled = true;
      return {};
    }
    for (const size_t unit : kept_) {
      std::vector<TextSequence> same(search_.return_sequences, kept_sequence(unit));
      collect(std::move(same), unit);
      if (out_.cancelled) return {};
    }
    GenerateOutput made;
    auto status = generate_into(
        model_, request(), [this](uint64_t done, uint64_t) { return report(done); }, made);
    out_.stats.encode_ms += made.stats.encode_ms;
    out_.stats.decode_ms += made.stats.decode_ms;
    out_.stats.decoder_steps += made.stats.steps;
    out_.stats.submissions += made.stats.submissions;
    out_.stats.batches += made.stats.jobs;
    // What was finished before an error or a cancellation is there.
    for (size_t i = 0; i < made.hypotheses.size() && !out_.cancelled; ++i) {
      if (!made.hypotheses[i].empty())
        finish_search(made.hypotheses[i], order_[i]);
      else if (!made.errors[i] && made.errors[i].error().code != ErrorCode::cancelled)
        finish_unit(order_[i], std::move(made.errors[i]));
    }
    if (status || status.error().code != ErrorCode::cancelled) return status;
    out_.cancelled = true;
    return {};
  }

  // The first error of an input's pieces is the input's.
  void finish_unit(size_t unit, Status status) {
    Input& in = inputs_[units_[unit].input];
    TextOutput& out = out_.outputs[units_[unit].input];
    ++units_done_;
    --in.left;
    if (!status && (out.status || out.status.error().code == ErrorCode::cancelled)) out.status = std::move(status);
    if (in.left != 0 || (!out.status && out.status.error().code != ErrorCode::cancelled)) return;
    out.status = {};
    size_t count = ~size_t{0};
    for (const auto& said : in.said) count = std::min(count, said.size());
    for (size_t k = 0; k < count; ++k) {
      std::vector<TextSequence> parts;
      for (auto& said : in.said) parts.push_back(std::move(said[k]));
      out.sequences.push_back(
          join_pieces(request_.inputs[units_[unit].input].text, in.pieces, std::move(parts), search_.length_penalty));
    }
    if (!out.sequences.empty()) out_.stats.generated_tokens += out.sequences.front().ids.size();
    if (request_.task.task != Task::translate) return;
    for (TextSequence& s : out.sequences)
      s.lost_address = first_lost_address(request_.inputs[units_[unit].input].text, s.text);
  }

  void finish_search(std::vector<Hypothesis>& hypotheses, size_t unit) {
    std::vector<TextSequence> sequences;
    for (Hypothesis& hypothesis : hypotheses) {
      auto sequence = make_sequence(hypothesis, unit);
      if (!sequence) return finish_unit(unit, std::move(sequence).error());
      sequences.push_back(std::move(*sequence));
    }
    collect(std::move(sequences), unit);
  }

  void collect(std::vector<TextSequence> sequences, size_t unit) {
    Input& in = inputs_[units_[unit].input];
    in.said[units_[unit].piece] = std::move(sequences);
    Status streamed;
    if (in.stream) {
      const TextSequence& best = in.said[units_[unit].piece].front();
      streamed = hand_out(units_[unit].input, in.stream->finish(units_[unit].piece, best.text, best.ids));
    }
    finish_unit(unit, {});
    if (!streamed) out_.cancelled = true;
  }

  [[nodiscard]] TextSequence kept_sequence(size_t unit) const {
    const TextRange range = *source(unit).kept;
    TextSequence sequence;
    sequence.text = request_.inputs[units_[unit].input].text.substr(range.begin, range.end - range.begin);
    sequence.finish = Finish::kept;
    SequencePiece piece;
    piece.source = {range.begin, range.end};
    piece.target = {0, sequence.text.size()};
    piece.finish = Finish::kept;
    sequence.pieces.push_back(std::move(piece));
    return sequence;
  }

  Result<TextSequence> make_sequence(Hypothesis& hypothesis, size_t unit) {
    TextSequence sequence;
    sequence.score = hypothesis.score;
    SequencePiece piece;
    piece.source_ids = source(unit).ids;
    piece.source_bytes = source(unit).bytes;
    piece.decoder_ids = hypothesis.ids;
    sequence.finish = piece.finish = hypothesis.finish;
    sequence.ids = std::move(hypothesis.ids);
    if (!sequence.ids.empty() && sequence.ids.front() == start_) sequence.ids.erase(sequence.ids.begin());
    const size_t given = sequence.ids.size() - std::min(sequence.ids.size(), hypothesis.token_scores.size());
    sequence.repeats = piece.repeats = loops(sequence.ids) && !loops(piece.source_ids);
    sequence.token_scores.assign(given, std::numeric_limits<float>::quiet_NaN());
    sequence.token_scores.insert(sequence.token_scores.end(), hypothesis.token_scores.begin(),
                                 hypothesis.token_scores.end());
    if (model_->tokenizer()) {
      LAPILLI_TRY(sequence.text, model_->tokenizer()->decode(sequence.ids));
    }
    piece.source = {source(unit).range.begin, source(unit).range.end};
    piece.target = {0, sequence.text.size()};
    sequence.pieces.push_back(std::move(piece));
    return sequence;
  }

  // Behind the end token that may stand there.
  [[nodiscard]] bool loops(std::span<const int32_t> ids) const {
    const auto& ends = search_.end_ids;
    if (!ids.empty() && std::find(ends.begin(), ends.end(), ids.back()) != ends.end()) ids = ids.first(ids.size() - 1);
    return ends_in_loop(ids);
  }

  Status pass_on(size_t unit, std::span<const int32_t> ids) {
    Unit& u = units_[unit];
    InputStream& stream = *inputs_[u.input].stream;
    if (!std::exchange(u.streamed, true) && !prompt_.empty()) {
      LAPILLI_TRY(const auto before, stream.push(u.piece, prompt_, false));
      LAPILLI_CHECK(hand_out(u.input, before));
    }
    const auto& ends = search_.end_ids;
    const bool ended = std::find(ends.begin(), ends.end(), ids.back()) != ends.end();
    LAPILLI_TRY(const auto fresh, stream.push(u.piece, ids, ended));
    return hand_out(u.input, fresh);
  }

  Status hand_out(size_t input, const InputStream::Output& out) {
    if (out.text.empty() && out.ids.empty()) return {};
    if (request_.stream(input, out.text, out.ids)) return {};
    return fail(ErrorCode::cancelled, "cancelled");
  }

  const std::shared_ptr<Model>& model_;
  const TranslateRequest& request_;
  const uint64_t total_;
  Conventions conventions_;
  GenerationConfig options_;
  std::shared_ptr<const ResolvedOptions> resolved_;
  SearchOptions search_;
  int32_t start_ = -1;
  std::vector<int32_t> prompt_;  // without the start token
  uint64_t failed_ = 0, units_done_ = 0;
  std::vector<Input> inputs_;
  std::vector<Unit> units_;
  std::vector<size_t> order_, kept_;  // units that run, in this order, and those that do not
  std::optional<OnceStream> stream_;
  TranslateOutput out_;
};

}  // namespace

// Multiples of 2^32 divided by the golden ratio keep away from each other: the first thousand are more than a million
// apart.
uint32_t draw_number(uint64_t input, uint64_t piece) {
  constexpr uint32_t kGolden = 0x9e3779b1;
  return static_cast<uint32_t>(input ^ (input >> 32)) + static_cast<uint32_t>(piece) * kGolden;
}

Result<TranslateOutput> translate(const std::shared_ptr<Model>& model, const TranslateRequest& request) {
  return Translation(model, request).run();
}

}  // namespace lapilli
