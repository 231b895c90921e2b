#include "generate/encoders/encoding_task.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "generate/verbs.hpp"
#include "search/network_on_device.hpp"

namespace lapilli {

namespace {

// A pass of more rows takes memory and is hardly faster.
constexpr uint32_t kRows = 4096, kSources = 256;
// Longer sources are refused: a pool's invocation reads all rows of one.
constexpr size_t kLongest = 32768;

bool fits(const PassRoom& room, const PassRoom& need) {
  return need.sources <= room.sources && need.rows <= room.rows && need.longest <= room.longest;
}

const char* output_name(model::HeadKind kind) {
  return kind == model::HeadKind::sentences ? "sentence_embedding" : "logits";
}

const char* lacking(model::HeadKind kind) {
  switch (kind) {
    case model::HeadKind::sentences: return "makes no vectors of texts";
    case model::HeadKind::classes:
    case model::HeadKind::regression: return "scores no texts";
    case model::HeadKind::spans: return "finds no answers";
    default: break;
  }
  return "has no such head";
}

}  // namespace

uint32_t embedding_width(const model::Config& c) {
  const model::HeadConfig* head = c.head(model::HeadKind::sentences);
  if (!head) return 0;
  uint32_t width = c.encoder.d_model * static_cast<uint32_t>(1 + head->beside.size());
  for (const model::SentenceStep& step : head->steps)
    if (step.columns) width = step.columns;
  return width;
}

Status check_head(const model::Config& c, model::HeadKind kind) {
  if (c.head(kind) && c.kind().reads == model::Reads::ids) return {};
  return fail(ErrorCode::unsupported, "this %s model %s; what serves it: %s", c.family, lacking(kind), verbs_for(c));
}

EncodingTask::EncodingTask(std::shared_ptr<Model> model, EncodingRequest request)
    : Task(std::move(model)), request_(std::move(request)), over_(request_.sources) {}

Result<std::unique_ptr<EncodingTask>> EncodingTask::start(std::shared_ptr<Model> model, EncodingRequest request) {
  LAPILLI_CHECK(check_head(model->on_device().config(), request.head));
  return std::unique_ptr<EncodingTask>(new EncodingTask(std::move(model), std::move(request)));
}

// ---- one step after the other --------------------------------------------------------------------------------------

// The host encodes the next texts while the device works on a round.
Status EncodingTask::step(double budget_us) {
  if (is_in_flight()) {
    LAPILLI_TRY(const bool done, pass_->poll());
    if (!done) return gather(budget_us), Status();
    LAPILLI_CHECK(collect());
  }
  if (!gather(budget_us)) return {};
  return coming_.sources.empty() ? end() : begin();
}

Status EncodingTask::wait_for_device() { return is_in_flight() ? pass_->wait() : Status(); }

// True: the next round is complete. Encodes at least one text.
bool EncodingTask::gather(double budget_us) {
  const auto since = Clock::now();
  while (!coming_.full && next_ < request_.sources) {
    gather_one();
    if (ms_since(since) * 1000 >= budget_us) break;
  }
  return coming_.full || next_ == request_.sources;
}

void EncodingTask::gather_one() {
  if (over_[next_]) {
    ++next_;
    return;
  }
  if (!held_) {
    auto text = request_.source(next_);
    if (text && text->ids.size() > kLongest)
      text = fail(ErrorCode::invalid_argument, "the text has %u tokens; at most %u are taken: cut it into parts",
                  text->ids.size(), kLongest);
    if (!text) return finish(next_++, std::move(text).error());
    held_ = std::move(*text);
  }
  if (!add(next_, *held_)) return;
  held_.reset();
  ++next_;
}

// A decoder behind the encoder takes its sources padded: one at a time, nothing is computed for padding.
uint32_t EncodingTask::at_a_time() const {
  if (info().decoder_layers != 0) return 1;
  return request_.batch ? std::min(request_.batch, kSources) : kSources;
}

// False: the round is full, and the text goes into the next one.
bool EncodingTask::add(size_t source, EncodedText& text) {
  const auto rows = static_cast<uint32_t>(text.ids.size());
  const uint32_t most = at_a_time();
  coming_.full = coming_.sources.size() == most || (coming_.rows > 0 && coming_.rows + rows > kRows);
  if (coming_.full) return false;
  coming_.sources.push_back(source);
  coming_.ids.push_back(std::move(text.ids));
  coming_.types.push_back(std::move(text.types));
  coming_.lengths.push_back(rows);
  coming_.rows += rows;
  coming_.longest = std::max(coming_.longest, rows);
  return true;
}

// ---- on the device -------------------------------------------------------------------------------------------------

// The room of a full round, unless these are all texts: then the next ones need no other pass.
PassRoom EncodingTask::room() const {
  PassRoom room = coming_.need();
  const bool alone = info().decoder_layers != 0;
  if (alone || (!coming_.full && !request_.deterministic)) return room;
  room.sources = kSources;
  room.rows = std::max(room.rows, kRows);
  room.longest = std::max(room.longest, request_.most_ids ? std::min(request_.most_ids, kRows) : kRows);
  return room;
}

Status EncodingTask::begin() {
  const PassRoom need = coming_.need(), made = room();
  round_ = std::exchange(coming_, {});
  ForwardRequest request;
  request.sources = std::move(round_.ids);
  request.source_types = std::move(round_.types);
  if (model()->on_device().config().encoder.row_types < 2) request.source_types.clear();
  request.only = request_.head;
  request.prompt_rows = request_.prompt_rows;
  request.deterministic = request_.deterministic;
  round_.ids.clear();
  const bool usual = pass_room_.rows <= kRows;  // a pass that was made for a giant text serves that one alone
  if (pass_ && usual && fits(pass_room_, need)) return pass_->again(std::move(request));
  pass_.reset();
  pass_room_ = request.room = made;
  LAPILLI_TRY(pass_, ForwardRun::start(model(), std::move(request)));
  return {};
}

Status EncodingTask::collect() {
  LAPILLI_CHECK(pass_->take([this](const ForwardTensor& output) {
    return output.name == output_name(request_.head) ? hand_over(output) : Status();
  }));
  stats_.searches += 1;
  round_ = {};
  return {};
}

// The numbers of each source lie equally far apart.
Status EncodingTask::hand_over(const ForwardTensor& output) {
  const size_t numbers = output.values.size() / output.shape.front();
  for (size_t k = 0; k < round_.sources.size(); ++k) {
    tokens_ += round_.lengths[k];
    const auto begin = output.values.begin() + static_cast<ptrdiff_t>(k * numbers);
    finish(round_.sources[k], std::vector<float>(begin, begin + static_cast<ptrdiff_t>(numbers)));
  }
  return {};
}

void EncodingTask::finish(size_t source, Result<std::vector<float>> numbers) {
  ++done_;
  over_[source] = true;
  request_.on_result(source, std::move(numbers));
}

// ---- the end, and after a lost device ------------------------------------------------------------------------------

// Texts that were on the device are encoded again after it was lost.
void EncodingTask::release() {
  if (!coming_.sources.empty()) next_ = coming_.sources.front();
  if (!round_.sources.empty()) next_ = round_.sources.front();
  held_.reset();
  coming_ = round_ = {};
  pass_.reset();
}

Status EncodingTask::begin_again(const FrontEnd&) { return check_head(model()->on_device().config(), request_.head); }

}  // namespace lapilli
