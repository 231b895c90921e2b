#include "generate/translate.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "generate/model_impl.hpp"

namespace lapilli {

namespace {

// Enough rows to keep a device busy, few enough that progress is seen and a cancellation loses little.
constexpr uint32_t kDefaultBatch = 32;

double ms_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

// Ids with the bytes of the text that they stand for; of given ids nothing is known.
Result<Encoding> source_ids(const Model& model, const TextInput& input) {
  if (!input.has_ids) return model.tokenizer()->encode_with_offsets(input.text);
  Encoding given;
  for (int32_t id : input.ids) given.push_special(id);
  return given;
}

// What would make the whole batch fail is found here, where it can be said of the one input.
Status check_source(const ModelInfo& info, const std::vector<int32_t>& ids) {
  if (ids.empty()) {
    return fail(ErrorCode::invalid_argument, "no token ids; an input has at least the end token");
  }
  for (int32_t id : ids) {
    if (id < 0 || static_cast<uint32_t>(id) >= info.source_vocabulary) {
      return fail(ErrorCode::invalid_argument, "token id %d is outside the model's source vocabulary of %u", id,
                  info.source_vocabulary);
    }
  }
  if (info.max_source_positions != 0 && ids.size() > info.max_source_positions) {
    return fail(ErrorCode::invalid_argument,
                "%zu tokens are more than the %u positions of the model; split the text into shorter pieces",
                ids.size(), info.max_source_positions);
  }
  return {};
}

// One call of translate().
class Translation {
 public:
  Translation(const std::shared_ptr<Model>& model, const TranslateRequest& request)
      : model_(model), request_(request), total_(request.inputs.size()) {}

  Result<TranslateOutput> run() {
    const auto start = std::chrono::steady_clock::now();
    LAPILLI_CHECK(check_options());
    LAPILLI_CHECK(tokenize());
    const size_t batch = request_.batch != 0 ? request_.batch : kDefaultBatch;
    for (size_t first = 0; first < order_.size() && !out_.cancelled; first += batch) {
      LAPILLI_CHECK(generate_batch(std::span(order_).subspan(first, std::min(batch, order_.size() - first))));
      if (!report(0)) out_.cancelled = finished_ < total_;
    }
    out_.stats.total_ms = ms_since(start);
    return std::move(out_);
  }

 private:
  // What is wrong with the options is no input's fault.
  [[nodiscard]] Status check_options() const {
    const auto& prompt = request_.decoder_prompt;
    const bool start_in_front = prompt.empty() || prompt.front() != decoder_start();
    const auto given = static_cast<uint32_t>(std::min<size_t>(prompt.size(), 1u << 20) + (start_in_front ? 1 : 0));
    const Model::Impl& m = *model_->impl();
    const auto options = resolve_options(m.generation, request_.options, given, m.network.config);
    if (!options) return options.error();
    return {};
  }

  Status tokenize() {
    out_.outputs.resize(total_);
    sources_.resize(total_);
    source_bytes_.resize(total_);
    for (size_t i = 0; i < total_; ++i) {
      const TextInput& input = request_.inputs[i];
      if (!input.has_ids && !model_->tokenizer()) {
        return Error(model_->tokenizer_error()).in("this model takes token ids only, for its tokenizer cannot be used");
      }
      auto encoding = source_ids(*model_, input);
      Status status = encoding ? check_source(model_->info(), encoding->ids) : Status(std::move(encoding).error());
      if (!status) {
        out_.outputs[i].status = std::move(status);
        ++finished_;
        continue;
      }
      out_.outputs[i].status = fail(ErrorCode::cancelled, "cancelled before it was finished");
      out_.stats.source_tokens += encoding->ids.size();
      sources_[i] = std::move(encoding->ids);
      source_bytes_[i] = std::move(encoding->offsets);
      order_.push_back(i);
    }
    // Rows of one length make the least padding; long ones first, so that too little memory shows at once.
    std::stable_sort(order_.begin(), order_.end(),
                     [this](size_t a, size_t b) { return sources_[a].size() > sources_[b].size(); });
    return {};
  }

  bool report(uint64_t in_batch) { return !request_.progress || request_.progress(finished_ + in_batch, total_); }

  Status generate_batch(std::span<const size_t> rows) {
    GenerateRequest batch;
    for (size_t row : rows) batch.sources.push_back(sources_[row]);
    if (!request_.decoder_prompt.empty()) batch.decoder_ids.assign(rows.size(), request_.decoder_prompt);
    batch.options = request_.options;
    batch.steps_in_flight = request_.steps_in_flight;
    auto made = generate(model_, batch, [this](uint64_t done, uint64_t) { return report(done); });
    if (!made) return failed(rows, std::move(made).error());
    for (size_t i = 0; i < rows.size(); ++i) collect(made->hypotheses[i], rows[i]);
    finished_ += rows.size();
    out_.stats.batches += 1;
    out_.stats.encode_ms += made->stats.encode_ms;
    out_.stats.decode_ms += made->stats.decode_ms;
    out_.stats.decoder_steps += made->stats.steps;
    out_.stats.submissions += made->stats.submissions;
    return {};
  }

  // One input alone may be too much for the device; the others have not earned its error.
  Status failed(std::span<const size_t> rows, Error error) {
    if (error.code == ErrorCode::cancelled) {
      out_.cancelled = true;
      return {};
    }
    const bool too_much = error.code == ErrorCode::out_of_memory || error.code == ErrorCode::unsupported;
    if (!too_much || order_.size() == 1) return error;
    if (rows.size() == 1) {
      out_.outputs[rows.front()].status = std::move(error);
      ++finished_;
      return {};
    }
    for (size_t i = 0; i < rows.size() && !out_.cancelled; ++i) LAPILLI_CHECK(generate_batch(rows.subspan(i, 1)));
    return {};
  }

  void collect(std::vector<Hypothesis>& hypotheses, size_t input) {
    TextOutput& out = out_.outputs[input];
    out.status = {};
    for (Hypothesis& hypothesis : hypotheses) {
      TextSequence sequence;
      sequence.score = hypothesis.score;
      SequencePiece piece;
      piece.source_ids = sources_[input];
      piece.source_bytes = source_bytes_[input];
      piece.decoder_ids = hypothesis.ids;
      sequence.ids = std::move(hypothesis.ids);
      if (!sequence.ids.empty() && sequence.ids.front() == decoder_start()) sequence.ids.erase(sequence.ids.begin());
      if (model_->tokenizer()) {
        auto text = model_->tokenizer()->decode(sequence.ids);
        if (!text) {
          out.sequences.clear();
          out.status = std::move(text).error();
          return;
        }
        sequence.text = std::move(*text);
      }
      piece.source = {0, request_.inputs[input].text.size()};
      piece.target = {0, sequence.text.size()};
      sequence.pieces.push_back(std::move(piece));
      out.sequences.push_back(std::move(sequence));
    }
    if (!out.sequences.empty()) out_.stats.generated_tokens += out.sequences.front().ids.size();
  }

  [[nodiscard]] int32_t decoder_start() const {
    const GenerationConfig merged = merge(request_.options, model_->generation_config());
    return merged.decoder_start_token_id.value_or(merged.bos_token_id.value_or(-1));
  }

  const std::shared_ptr<Model>& model_;
  const TranslateRequest& request_;
  const uint64_t total_;
  uint64_t finished_ = 0;
  std::vector<std::vector<int32_t>> sources_;
  std::vector<std::vector<ByteRange>> source_bytes_;
  std::vector<size_t> order_;  // inputs that can be used, longest first
  TranslateOutput out_;
};

}  // namespace

Result<TranslateOutput> translate(const std::shared_ptr<Model>& model, const TranslateRequest& request) {
  return Translation(model, request).run();
}

}  // namespace lapilli
