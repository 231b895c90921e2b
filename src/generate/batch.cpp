#include <algorithm>
#include <numeric>

#include "generate/checked_request.hpp"
#include "search/engine_pool.hpp"
#include "search/token_stream.hpp"

namespace lapilli {

namespace {

// Beams are counted over the caller's batch, whatever jobs it was run in.
void renumber_beams(std::vector<Hypothesis>& hypotheses, size_t in_job, size_t in_batch, uint32_t beams) {
  const auto shift = (static_cast<int64_t>(in_batch) - static_cast<int64_t>(in_job)) * beams;
  for (Hypothesis& h : hypotheses)
    for (int32_t& beam : h.beam_indices) beam = static_cast<int32_t>(beam + shift);
}

void add(GenerateStats& total, const GenerateStats& s) {
  total.encode_ms += s.encode_ms;
  total.decode_ms += s.decode_ms;
  total.steps += s.steps;
  total.submissions += s.submissions;
  total.narrow_submissions += s.narrow_submissions;
  total.jobs += 1;
  total.queued_rows += s.queued_rows;
  total.queued_room += s.queued_room;
  total.session_bytes = std::max(total.session_bytes, s.session_bytes);
}

}  // namespace

Result<GenerateOutput> generate(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                                const std::function<bool(uint64_t done, uint64_t total)>& progress) {
  GenerateOutput out;
  LAPILLI_CHECK(generate_into(model, request, progress, out));
  const auto failed = [](const Status& error) { return !error.ok(); };
  if (!out.errors.empty() && std::all_of(out.errors.begin(), out.errors.end(), failed))
    return out.errors.front().error();
  return out;
}

namespace {

// Sources of so different lengths do not share a session, whose room is the longest one's.
constexpr size_t kLengthRatio = 4;

// One call of generate_into().
class Batches {
 public:
  Batches(const std::shared_ptr<Model>& model, const CheckedRequest& request,
          const std::function<bool(uint64_t done, uint64_t total)>& progress, GenerateOutput& out)
      : model_(model),
        checked_(request),
        request_(request.request()),
        progress_(progress),
        out_(out),
        stream_(request_.on_tokens, request_.sources.size()),
        batch_(request_.batch) {}

  Status run() {
    prepare();
    const size_t n = order_.size();
    for (size_t begin = 0; begin < n;) {
      const size_t end = end_of(begin);
      LAPILLI_TRY(const size_t done, run_part(begin, end));
      begin += done;
    }
    // What was too much beside others may do alone.
    batch_ = 1;
    for (const size_t at : again_) {
      LAPILLI_TRY([[maybe_unused]] const size_t one, run_part(at, at + 1));
    }
    if (progress_) progress_(n, n);
    return {};
  }

 private:
  void prepare() {
    const size_t n = request_.sources.size();
    const SearchOptions& options = checked_.options().common();
    rows_each_ = options.beams * options.copies();
    // The longest come first, so that memory problems show at once.
    order_.resize(n);
    std::iota(order_.begin(), order_.end(), size_t{0});
    if (!request_.keep_order)
      std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) { return length(a) > length(b); });
    out_.hypotheses.resize(n);
    out_.errors.resize(n);
    out_.logits.resize(request_.logits_at.empty() ? 0 : n);
    out_.encoded.resize(request_.keep_encoded ? n : 0);
  }

  [[nodiscard]] size_t length(size_t source) const { return request_.sources[source].size(); }

  [[nodiscard]] size_t end_of(size_t begin) const {
    size_t end = begin + 1;
    const size_t most = std::max<size_t>(32, length(order_[begin])), least = most / kLengthRatio;
    while (end < order_.size() && (length(order_[end]) >= least || most <= 32) && length(order_[end]) <= most) ++end;
    if (request_.capture_scores) end = std::min(end, begin + std::max(1u, kMaxRows / rows_each_));
    return end;
  }

  // Sources [begin, end) of the order. Returns how many are done with; none if they are to be run again, fewer at a
  // time.
  Result<size_t> run_part(size_t begin, size_t end) {
    const size_t n = order_.size();
    if (progress_ && !progress_(done_, n)) return fail(ErrorCode::cancelled, "cancelled");
    CheckedRequest part = checked_.part(std::span(order_).subspan(begin, end - begin));
    part.settings().batch = batch_;
    if (request_.on_tokens) {
      for (size_t i = begin; i < end; ++i) stream_.restart(order_[i]);
      part.settings().on_tokens = [&, begin](size_t source, std::span<const int32_t> ids) {
        return stream_.push(order_[begin + source], ids);
      };
    }
    auto job = Job::start(model_, std::move(part));
    Status status;
    if (job) {
      status = (*job)->wait([&, before = done_] {
        done_ = before + (*job)->sources_done();
        return !progress_ || progress_(done_, n);
      });
      done_ = begin;
    } else {
      status = job.error();
    }
    if (!status && is_too_much(status.error())) {
      if (fewer_at_a_time(end - begin)) return 0;
      // The longest comes first: what one source needs is its own fault.
      out_.errors[order_[begin]] = std::move(status);
      done_ = begin + 1;
      return 1;
    }
    if (job) take((*job)->take_finished(), begin, end);
    LAPILLI_CHECK(std::move(status));
    done_ = end;
    return end - begin;
  }

  // For the memory, or for one of the device's binding limits.
  static bool is_too_much(const Error& error) {
    return error.code == ErrorCode::out_of_memory || error.code == ErrorCode::unsupported;
  }

  bool fewer_at_a_time(size_t sources) {
    const size_t now = std::min<size_t>({batch_ ? batch_ : ~0u, sources, kMaxRows / rows_each_});
    if (now <= 1) return false;
    batch_ = static_cast<uint32_t>((now + 1) / 2);
    model_->engines().drop_free();
    return true;
  }

  void take(GenerateOutput&& part, size_t begin, size_t end) {
    for (size_t i = begin; i < end && i - begin < part.hypotheses.size(); ++i) {
      out_.hypotheses[order_[i]] = std::move(part.hypotheses[i - begin]);
      if (!part.logits.empty()) out_.logits[order_[i]] = std::move(part.logits[i - begin]);
      if (!part.encoded.empty()) out_.encoded[order_[i]] = std::move(part.encoded[i - begin]);
      Status& error = out_.errors[order_[i]] = std::move(part.errors[i - begin]);
      if (!error && is_too_much(error.error()) && end - begin > 1) again_.push_back(i);
      renumber_beams(out_.hypotheses[order_[i]], i - begin, order_[i], rows_each_);
    }
    std::move(part.captured.begin(), part.captured.end(), std::back_inserter(out_.captured));
    add(out_.stats, part.stats);
  }

  const std::shared_ptr<Model>& model_;
  const CheckedRequest& checked_;
  const GenerateRequest& request_;
  const std::function<bool(uint64_t done, uint64_t total)>& progress_;
  GenerateOutput& out_;
  // What is run again does not give again what it gave.
  OnceStream stream_;
  uint32_t batch_, rows_each_ = 1;
  std::vector<size_t> order_, again_;
  size_t done_ = 0;
};

}  // namespace

Status generate_into(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                     const std::function<bool(uint64_t done, uint64_t total)>& progress, GenerateOutput& out) {
  out = {};
  if (request.sources.empty() && request.encoded.empty()) return {};
  LAPILLI_TRY(const auto checked, CheckedRequest::check(*model, request));
  return Batches(model, checked, progress, out).run();
}

}  // namespace lapilli
