#include "generate/batch.hpp"

#include <algorithm>
#include <numeric>

#include "search/engine_pool.hpp"

namespace lapilli {

namespace {

// Makes beam numbers count over the caller's batch, regardless of searches.
void renumber_beams(std::vector<Hypothesis>& hypotheses, size_t in_search, size_t in_batch, uint32_t beams) {
  const auto shift = (static_cast<int64_t>(in_batch) - static_cast<int64_t>(in_search)) * beams;
  for (Hypothesis& h : hypotheses)
    for (int32_t& beam : h.beam_indices) beam = static_cast<int32_t>(beam + shift);
}

}  // namespace

void add_stats(GenerateStats& total, const GenerateStats& s) {
  total.encode_ms += s.encode_ms;
  total.decode_ms += s.decode_ms;
  total.steps += s.steps;
  total.submissions += s.submissions;
  total.narrow_submissions += s.narrow_submissions;
  total.searches += s.searches;
  total.queued_rows += s.queued_rows;
  total.queued_room += s.queued_room;
  total.prompt_rows += s.prompt_rows;
  total.saved_prompt_rows += s.saved_prompt_rows;
  total.longest_gap = std::max(total.longest_gap, s.longest_gap);
  total.session_bytes = std::max(total.session_bytes, s.session_bytes);
  total.tuned_nodes = std::max(total.tuned_nodes, s.tuned_nodes);
}

bool concerns_one(const Error& error) {
  switch (error.code) {
    case ErrorCode::device_lost:
    case ErrorCode::timeout:
    case ErrorCode::cancelled:
    case ErrorCode::internal: return false;
    default: return true;
  }
}

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

// Sources whose lengths differ by more than this do not share a session, which has room for the longest.
constexpr size_t kLengthRatio = 4;
// Long prompts are closer: their positions are the memory.
constexpr size_t kLongPrompt = 512;
constexpr double kMostRoom = 1.375;  // for the positions that are there

// Too much for the memory, or for one of the device's binding limits.
bool is_too_much(const Error& error) {
  return error.code == ErrorCode::out_of_memory || error.code == ErrorCode::unsupported;
}

}  // namespace

Batch::Batch(std::shared_ptr<Model> model, CheckedRequest request)
    : model_(std::move(model)),
      checked_(std::move(request)),
      stream_(checked_.request().on_tokens, checked_.request().sources.size()),
      batch_(checked_.request().batch),
      order_(checked_.request().sources.size()) {
  const size_t n = order_.size();
  const SearchOptions& options = checked_.options().common();
  rows_each_ = options.beams * options.copies();
  // The longest come first, so that memory problems show early.
  std::iota(order_.begin(), order_.end(), size_t{0});
  const auto longer = [&](size_t a, size_t b) { return length(a) > length(b); };
  if (!this->request().keep_order) std::stable_sort(order_.begin(), order_.end(), longer);
  output_.hypotheses.resize(n);
  output_.errors.resize(n);
  output_.logits.resize(this->request().logits_at.empty() ? 0 : n);
  output_.encoded.resize(this->request().keep_encoded ? n : 0);
}

uint64_t Batch::sources_done() const {
  return std::min<uint64_t>(order_.size(), ended_sources_.size() + (search_ ? search_->sources_done() : 0));
}

void Batch::cancel() {
  cancelled_ = true;
  if (search_) search_->cancel();
}

void Batch::wait() {
  if (search_) return search_->wait();
  (void)model_->device()->wait_while_paused(vulkan::kPauseRound);
}

bool Batch::pump(double budget_us) {
  if (ended_) return true;
  status_ = step(budget_us);
  ended_ = !status_ || (!search_ && !find_part());
  return ended_;
}

Status Batch::step(double budget_us) {
  if (!search_) {
    if (!find_part()) return {};
    if (cancelled_) return fail(ErrorCode::cancelled, "cancelled");
    if (model_->device()->is_paused()) return {};
    if (auto begun = begin_part(); !begun) return end_part(std::move(begun));
  }
  return search_->pump(budget_us) ? end_part(search_->status()) : Status();
}

// Selects the sources that run next; false if there are none. Sources that were too much together are run alone.
bool Batch::find_part() {
  if (next_ < order_.size()) {
    begin_ = next_;
    end_ = end_of(begin_);
    return true;
  }
  if (next_again_ == again_.size()) return false;
  batch_ = 1;
  begin_ = again_[next_again_];
  end_ = begin_ + 1;
  return true;
}

// The length of the source, or of the prompt if the model continues prompts.
size_t Batch::length(size_t source) const {
  const bool encodes = model_->on_device().config().kind().encodes;
  return encodes ? checked_.source_positions(source) : request().decoder_ids[source].size();
}

// So many long prompts would share a session whose room for the longest is much more than they need.
bool Batch::wastes(size_t longest, size_t sources, size_t sum) const {
  if (model_->on_device().config().kind().encodes || longest <= kLongPrompt) return false;
  return static_cast<double>(longest * sources) > kMostRoom * static_cast<double>(sum);
}

size_t Batch::end_of(size_t begin) const {
  size_t end = begin + 1, sum = length(order_[begin]);
  const size_t most = std::max<size_t>(32, length(order_[begin])), least = most / kLengthRatio;
  for (; end < order_.size(); ++end) {
    const size_t next = length(order_[end]);
    sum += next;
    if ((next < least && most > 32) || next > most || wastes(most, end + 1 - begin, sum)) break;
  }
  if (request().capture_scores) end = std::min(end, begin + std::max(1u, state::MAX_ROWS / rows_each_));
  return end;
}

Status Batch::begin_part() {
  CheckedRequest part = checked_.part(std::span(order_).subspan(begin_, end_ - begin_));
  part.settings().batch = batch_;
  if (request().on_tokens) {
    for (size_t i = begin_; i < end_; ++i) stream_.restart(order_[i]);
    part.settings().on_tokens = [this](size_t source, std::span<const int32_t> ids) {
      return stream_.push(order_[begin_ + source], ids);
    };
  }
  LAPILLI_TRY(search_, Search::start(model_, std::move(part)));
  return {};
}

// Reruns a part that was too much with fewer sources at a time; a source that is too much alone fails.
Status Batch::end_part(Status status) {
  const auto search = std::move(search_);
  if (!status && is_too_much(status.error())) {
    if (!fewer_at_a_time(end_ - begin_)) give_up(std::move(status));
    return {};
  }
  if (search) collect(search->take_finished());
  LAPILLI_CHECK(std::move(status));
  advance(end_ - begin_);
  return {};
}

bool Batch::fewer_at_a_time(size_t sources) {
  const size_t now = std::min<size_t>({batch_ ? batch_ : ~0u, sources, state::MAX_ROWS / rows_each_});
  if (now <= 1) return false;
  batch_ = static_cast<uint32_t>((now + 1) / 2);
  model_->engines().drop_free();
  return true;
}

// Fails the first source, which is the longest.
void Batch::give_up(Status status) {
  output_.errors[order_[begin_]] = std::move(status);
  ended_sources_.push_back(order_[begin_]);
  advance(1);
}

void Batch::advance(size_t done) { (next_ < order_.size() ? next_ : next_again_) += done; }

void Batch::collect(GenerateOutput&& part) {
  for (size_t i = begin_; i < end_ && i - begin_ < part.hypotheses.size(); ++i) {
    const size_t source = order_[i];
    output_.hypotheses[source] = std::move(part.hypotheses[i - begin_]);
    if (!part.logits.empty()) output_.logits[source] = std::move(part.logits[i - begin_]);
    if (!part.encoded.empty()) output_.encoded[source] = std::move(part.encoded[i - begin_]);
    const Status& error = output_.errors[source] = std::move(part.errors[i - begin_]);
    const bool again = !error && is_too_much(error.error()) && end_ - begin_ > 1;
    (again ? again_ : ended_sources_).push_back(again ? i : source);
    renumber_beams(output_.hypotheses[source], i - begin_, source, rows_each_);
  }
  std::move(part.captured.begin(), part.captured.end(), std::back_inserter(output_.captured));
  add_stats(output_.stats, part.stats);
  output_.stats.searches += 1;
}

Status generate_into(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                     const std::function<bool(uint64_t done, uint64_t total)>& progress, GenerateOutput& out) {
  out = {};
  if (request.sources.empty() && request.features.empty() && request.encoded.empty() && request.decoder_ids.empty())
    return {};
  LAPILLI_TRY(auto checked, CheckedRequest::check(*model, request));
  Batch batch(model, std::move(checked));
  const auto ask = [&] {
    if (progress && !progress(batch.sources_done(), batch.sources())) batch.cancel();
  };
  ask();
  while (!batch.pump()) {
    ask();
    batch.wait();
  }
  out = std::move(batch.output());
  if (batch.status() && progress) progress(batch.sources(), batch.sources());
  return batch.status();
}

}  // namespace lapilli
