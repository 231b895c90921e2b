#include "generate/scores/scoring_task.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "generate/verbs.hpp"
#include "search/network_on_device.hpp"

namespace lapilli {

namespace {

// A pass of more rows takes memory and is hardly faster. Windows of lengths alike share a pass, so that little of it is
// padding; so many wait until there are enough of each length.
constexpr uint32_t kScoreRows = 4096, kShortest = 32;
constexpr size_t kWaiting = 512, kMostWindows = 64;

Status check_window(const ModelInfo& info, const ScoreWindowOptions& windows) {
  LAPILLI_CHECK(check_score_windows(windows));
  const uint32_t most = info.max_target_positions;
  if (most == 0 || windows.most_ids <= most) return {};
  return fail(ErrorCode::invalid_argument, "a window of %u tokens; the model reads %u", windows.most_ids, most);
}

uint32_t usual_window(const ModelInfo& info) {
  return info.max_target_positions ? std::min(info.max_target_positions, kScoreWindow) : kScoreWindow;
}

// The ids of a window, behind the begin token if the text has one.
std::vector<int32_t> ids_of(const TextToScore& text, const ScoreWindow& window) {
  std::vector<int32_t> ids;
  if (text.marked) ids.push_back(text.ids.front());
  ids.insert(ids.end(), text.ids.begin() + static_cast<ptrdiff_t>(window.begin),
             text.ids.begin() + static_cast<ptrdiff_t>(window.end));
  return ids;
}

}  // namespace

ScoringTask::ScoringTask(std::shared_ptr<Model> model, ScoringRequest request)
    : Task(std::move(model)), request_(std::move(request)), most_rows_(kScoreRows), over_(request_.texts) {}

Result<std::unique_ptr<ScoringTask>> ScoringTask::start(std::shared_ptr<Model> model, ScoringRequest request) {
  LAPILLI_CHECK(check_reads_text(model->on_device().config()));
  LAPILLI_CHECK(check_writes_text(model->on_device().config()));
  if (request.windows.most_ids == 0) request.windows.most_ids = usual_window(model->info());
  LAPILLI_CHECK(check_window(model->info(), request.windows));
  return std::unique_ptr<ScoringTask>(new ScoringTask(std::move(model), std::move(request)));
}

// ---- one step after the other --------------------------------------------------------------------------------------

// The host cuts the next texts while the device works on a round.
Status ScoringTask::step(double budget_us) {
  if (is_in_flight()) {
    auto done = pass_->poll();
    if (!done) return retry(std::move(done).error());
    if (!*done) return gather(budget_us), Status();
    LAPILLI_CHECK(collect());
  }
  if (!gather(budget_us)) return {};
  return waiting_.empty() ? end() : begin();
}

Status ScoringTask::wait_for_device() { return is_in_flight() ? pass_->wait() : Status(); }

// True: enough windows wait for a round, or there are no more. Cuts at least one text.
bool ScoringTask::gather(double budget_us) {
  const auto since = Clock::now();
  const auto enough = [&] { return sorted_ || waiting_.size() >= kWaiting || next_ == request_.texts; };
  while (!enough()) {
    const size_t text = next_++;
    if (!over_[text]) cut(text, request_.text(text));
    if (ms_since(since) * 1000 >= budget_us) break;
  }
  return enough();
}

void ScoringTask::cut(size_t number, Result<TextToScore> made) {
  if (!made) return finish(number, std::move(made).error());
  const TextToScore text = std::move(made).value();
  if (auto wrong = check(text); !wrong) return finish(number, std::move(wrong).error());
  ScoreWindowOptions how = request_.windows;
  if (!text.source.empty()) how.most_ids = std::max(static_cast<uint32_t>(text.ids.size()), 2u);
  const auto windows = score_windows(text.ids.size(), text.marked, how);
  TextScores scores;
  scores.log_probabilities.assign(text.ids.size(), std::numeric_limits<float>::quiet_NaN());
  scores.windows = static_cast<uint32_t>(windows.size());
  if (windows.empty()) return finish(number, std::move(scores));
  for (const ScoreWindow& window : windows) waiting_.push_back({number, window, text.source, ids_of(text, window)});
  pending_[number] = {std::move(scores), windows.size()};
}

// An error that would fail a whole pass is the text's own fault.
Status ScoringTask::check(const TextToScore& text) const {
  const auto in_vocabulary = [](const std::vector<int32_t>& ids, uint32_t vocabulary) -> Status {
    for (const int32_t id : ids)
      if (id < 0 || static_cast<uint32_t>(id) >= vocabulary)
        return fail(ErrorCode::invalid_argument, "token id %d is outside the vocabulary of %u", id, vocabulary);
    return {};
  };
  LAPILLI_CHECK(in_vocabulary(text.ids, info().target_vocabulary));
  LAPILLI_CHECK(in_vocabulary(text.source, info().source_vocabulary));
  const uint32_t most = info().max_source_positions;
  if (most && text.source.size() > most)
    return fail(ErrorCode::invalid_argument, "the source has %u tokens, and the model reads %u", text.source.size(),
                most);
  const uint32_t written = info().max_target_positions;
  if (text.source.empty() || written == 0 || text.ids.size() <= written) return {};
  return fail(ErrorCode::invalid_argument, "the text has %u tokens with the start, and the model writes %u",
              text.ids.size(), written);
}

// ---- on the device -------------------------------------------------------------------------------------------------

// A power of two, so that a few passes serve all lengths.
uint32_t ScoringTask::length_class(size_t ids) const {
  uint32_t length = kShortest;
  while (length < ids) length *= 2;
  return length;
}

uint32_t ScoringTask::at_a_time(uint32_t longest) const {
  const uint32_t fit = std::clamp<uint32_t>(most_rows_ / longest, 1, kMostWindows);
  return request_.batch ? std::min(request_.batch, fit) : fit;
}

// The longest windows, as many as share a pass.
void ScoringTask::take_round() {
  if (!std::exchange(sorted_, true))
    std::ranges::stable_sort(waiting_, std::greater<>(), [](const Piece& piece) { return piece.longest(); });
  const uint32_t longest = length_class(waiting_.front().longest());
  size_t count = 1;
  while (count < at_a_time(longest) && count < waiting_.size() && length_class(waiting_[count].longest()) == longest)
    ++count;
  const auto last = waiting_.begin() + static_cast<ptrdiff_t>(count);
  round_.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(last));
  waiting_.erase(waiting_.begin(), last);
  sorted_ = !waiting_.empty();
  const bool full = count == at_a_time(longest) || request_.deterministic;
  room_ = {};
  room_.sources = full ? at_a_time(longest) : static_cast<uint32_t>(count);
  room_.longest = longest;
}

Status ScoringTask::begin() {
  take_round();
  begun_ = Clock::now();
  return begin_pass();
}

Status ScoringTask::begin_pass() {
  ForwardRequest request;
  for (const Piece& piece : round_) {
    if (!piece.source.empty()) request.sources.push_back(piece.source);
    request.targets.push_back(piece.ids);
  }
  request.want_logits = false;
  request.want_token_scores = true;
  request.deterministic = request_.deterministic;
  request.room = room_;
  const bool serves = pass_ && pass_room_.longest == room_.longest && pass_room_.sources >= room_.sources;
  if (serves) return pass_->again(std::move(request));
  pass_.reset();
  pass_room_ = room_;
  LAPILLI_TRY(pass_, ForwardRun::start(model(), std::move(request)));
  return {};
}

// Where memory lacks for a round, fewer windows run at a time.
Status ScoringTask::retry(Status failed) {
  const bool smaller = failed.error().code == ErrorCode::out_of_memory && pass_room_.sources > 1;
  if (!smaller) return failed;
  most_rows_ = pass_room_.sources / 2 * pass_room_.longest;
  pass_.reset();
  waiting_.insert(waiting_.begin(), std::make_move_iterator(round_.begin()), std::make_move_iterator(round_.end()));
  round_.clear();
  sorted_ = true;
  return begin();
}

Status ScoringTask::collect() {
  std::vector<float> scores;
  LAPILLI_CHECK(pass_->take([&](const ForwardTensor& output) {
    if (output.name.starts_with("token_scores"))
      scores.insert(scores.end(), output.values.begin(), output.values.end());
    return Status();
  }));
  stats_.searches += 1;
  stats_.decode_ms += ms_since(begun_);
  const size_t apart = scores.size() / pass_room_.sources;
  const std::vector<Piece> round = std::exchange(round_, {});
  for (size_t i = 0; i < round.size(); ++i) keep(round[i], std::span(scores).subspan(i * apart, apart));
  return {};
}

// Number i is that of the window's id i + 1.
void ScoringTask::keep(const Piece& piece, std::span<const float> scores) {
  const auto pending = pending_.find(piece.text);
  if (pending == pending_.end()) return;
  const ScoreWindow& w = piece.window;
  const size_t in_front = piece.ids.size() - (w.end - w.begin);  // the begin token
  auto& all = pending->second.scores.log_probabilities;
  for (size_t i = w.scored; i < w.end; ++i) all[i] = scores[in_front + i - w.begin - 1];
  tokens_ += piece.ids.size();
  if (--pending->second.missing == 0) finish(piece.text, std::move(pending->second.scores));
}

void ScoringTask::finish(size_t text, Result<TextScores> scores) {
  ++done_;
  over_[text] = true;
  pending_.erase(text);
  request_.on_result(text, std::move(scores));
}

// ---- the end, and after a lost device ------------------------------------------------------------------------------

// Texts with windows that are not back are cut again.
void ScoringTask::release() {
  if (!pending_.empty()) next_ = pending_.begin()->first;
  pending_.clear();
  waiting_.clear();
  round_.clear();
  sorted_ = false;
  pass_.reset();
}

Status ScoringTask::begin_again(const FrontEnd&) { return check_writes_text(model()->on_device().config()); }

}  // namespace lapilli
