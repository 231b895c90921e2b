#include "generate/encoders/encoding_task.hpp"

#include <algorithm>
#include <utility>

#include "generate/verbs.hpp"
#include "search/network_on_device.hpp"

namespace lapilli {

namespace {

// A pass of more rows takes memory and is hardly faster.
constexpr uint32_t kRows = 4096, kSources = 256;
// Longer sources are refused: a pool's invocation reads all rows of one.
constexpr size_t kLongest = 32768;

// Numbers of a head that come back from a pass, as far as rows are chosen: 32 MiB.
constexpr uint32_t kChosenNumbers = 1 << 23;

bool fits(const PassRoom& room, const PassRoom& need) {
  return need.sources <= room.sources && need.rows <= room.rows && need.longest <= room.longest &&
         need.head_rows <= room.head_rows;
}

const char* output_name(model::HeadKind kind) {
  return kind == model::HeadKind::sentences ? "sentence_embedding" : "logits";
}

const char* lacking(model::HeadKind kind) {
  switch (kind) {
    case model::HeadKind::sentences: return "has no head that makes vectors of texts";
    case model::HeadKind::classes:
    case model::HeadKind::regression: return "has no head that scores texts (tensors called \"classifier\")";
    case model::HeadKind::tags: return "has no head that tags words (tensors called \"classifier\")";
    case model::HeadKind::spans: return "has no head that finds answers (tensors called \"qa_outputs\")";
    case model::HeadKind::tokens:
      return "has no head that fills masks (tensors called \"cls.predictions\" or \"lm_head\")";
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
  if (kind == model::HeadKind::tokens && c.encoder.segments)
    return fail(ErrorCode::unsupported,
                "this %s model scores ids that it sees, and fills in none; take one with a masked language model",
                c.family);
  if (c.head(kind) && c.kind().reads == model::Reads::ids) return {};
  return fail(ErrorCode::unsupported, "this %s model %s; what serves it: %s", c.family, lacking(kind), verbs_for(c));
}

EncodingTask::EncodingTask(std::shared_ptr<Model> model, EncodingRequest request)
    : Task(std::move(model)), request_(std::move(request)), over_(request_.sources) {
  const uint32_t columns = std::max(info().target_vocabulary, 1u);
  head_rows_at_most_ = std::clamp(kChosenNumbers / columns, 1u, kSources);
}

Result<std::unique_ptr<EncodingTask>> EncodingTask::start(std::shared_ptr<Model> model, EncodingRequest request) {
  LAPILLI_CHECK(check_head(model->on_device().config(), request.head));
  return std::unique_ptr<EncodingTask>(new EncodingTask(std::move(model), std::move(request)));
}

Result<std::vector<EncodedText>> one_text(Result<EncodedText> text) {
  if (!text) return std::move(text).error();
  std::vector<EncodedText> texts;
  texts.push_back(std::move(*text));
  return texts;
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
  return coming_.pieces.empty() ? end() : begin();
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
  if (held_.empty() && !hold()) return;
  EncodedText& text = held_[held_from_];
  coming_.full = !has_room_for(text);
  if (coming_.full) return;
  add(text);
  if (++held_from_ < held_.size()) return;
  held_.clear();
  ++next_;
}

// False: the source has failed.
bool EncodingTask::hold() {
  auto texts = request_.source(next_);
  if (texts && texts->empty()) texts = fail(ErrorCode::internal, "a source without a text");
  for (size_t i = 0; texts && i < texts->size(); ++i)
    if ((*texts)[i].ids.size() > kLongest)
      texts = fail(ErrorCode::invalid_argument, "the text has %u tokens; at most %u are taken: cut it into parts",
                   (*texts)[i].ids.size(), kLongest);
  if (!texts) return finish(next_++, std::move(texts).error()), false;
  held_ = std::move(*texts);
  held_from_ = 0;
  pending_[next_] = {HeadNumbers(held_.size()), held_.size()};
  return true;
}

// A decoder behind the encoder takes its sources padded: one at a time, nothing is computed for padding.
uint32_t EncodingTask::at_a_time() const {
  if (info().decoder_layers != 0) return 1;
  return request_.batch ? std::min(request_.batch, kSources) : kSources;
}

// An empty round takes any text.
bool EncodingTask::has_room_for(const EncodedText& text) const {
  if (coming_.pieces.empty()) return true;
  const size_t rows = coming_.need.rows + text.ids.size(), head_rows = coming_.need.head_rows + text.head_rows.size();
  return coming_.pieces.size() < at_a_time() && rows <= kRows && head_rows <= head_rows_at_most_;
}

void EncodingTask::add(EncodedText& text) {
  const auto rows = static_cast<uint32_t>(text.ids.size()), chosen = static_cast<uint32_t>(text.head_rows.size());
  coming_.pieces.push_back({next_, held_from_, rows, chosen});
  coming_.ids.push_back(std::move(text.ids));
  coming_.types.push_back(std::move(text.types));
  coming_.head_rows.push_back(std::move(text.head_rows));
  PassRoom& need = coming_.need;
  need = {need.sources + 1, need.rows + rows, std::max(need.longest, rows), need.head_rows + chosen};
}

// ---- on the device -------------------------------------------------------------------------------------------------

// The room of a full round, unless these are all texts: then the next ones need no other pass.
PassRoom EncodingTask::room() const {
  PassRoom room = coming_.need;
  const bool alone = info().decoder_layers != 0;
  if (alone || (!coming_.full && !request_.deterministic)) return room;
  room.sources = kSources;
  room.rows = std::max(room.rows, kRows);
  room.longest = std::max(room.longest, request_.most_ids ? std::min(request_.most_ids, kRows) : kRows);
  if (room.head_rows) room.head_rows = std::max(room.head_rows, head_rows_at_most_);
  return room;
}

ForwardRequest EncodingTask::take_round() {
  round_ = std::exchange(coming_, {});
  ForwardRequest request;
  request.sources = std::exchange(round_.ids, {});
  if (model()->on_device().config().encoder.row_types >= 2) request.source_types = std::move(round_.types);
  if (round_.need.head_rows) request.head_rows = std::move(round_.head_rows);
  request.without_gaps = true;
  request.only = request_.head;
  request.prompt_rows = request_.prompt_rows;
  request.deterministic = request_.deterministic;
  return request;
}

Status EncodingTask::begin() {
  const PassRoom made = room();
  begun_ = Clock::now();
  ForwardRequest request = take_round();
  const bool usual = pass_room_.rows <= kRows;  // a pass that was made for a giant text serves that one alone
  if (pass_ && usual && fits(pass_room_, round_.need)) return pass_->again(std::move(request));
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
  stats_.encode_ms += ms_since(begun_);
  round_ = {};
  return {};
}

// The numbers of the texts lie one behind the other.
Status EncodingTask::hand_over(const ForwardTensor& output) {
  const model::HeadConfig* head = model()->on_device().config().head(request_.head);
  auto from = output.values.begin();
  for (const Piece& piece : round_.pieces) {
    const uint64_t rows = !head->every_row ? 1 : piece.head_rows ? piece.head_rows : piece.rows;
    const auto to = from + static_cast<ptrdiff_t>(rows * output.shape.back());
    if (to > output.values.end()) return fail(ErrorCode::internal, "a head gave fewer numbers than rows");
    tokens_ += piece.rows;
    keep(piece, {from, to});
    from = to;
  }
  return {};
}

void EncodingTask::keep(const Piece& piece, std::vector<float> numbers) {
  const auto pending = pending_.find(piece.source);
  if (pending == pending_.end()) return;
  pending->second.numbers[piece.number] = std::move(numbers);
  if (--pending->second.missing == 0) finish(piece.source, std::move(pending->second.numbers));
}

void EncodingTask::finish(size_t source, Result<HeadNumbers> numbers) {
  ++done_;
  over_[source] = true;
  pending_.erase(source);
  request_.on_result(source, std::move(numbers));
}

// ---- the end, and after a lost device ------------------------------------------------------------------------------

// Sources with texts on the device are encoded again after it was lost.
void EncodingTask::release() {
  if (!pending_.empty()) next_ = pending_.begin()->first;
  pending_.clear();
  held_.clear();
  coming_ = round_ = {};
  pass_.reset();
}

Status EncodingTask::begin_again(const FrontEnd&) { return check_head(model()->on_device().config(), request_.head); }

}  // namespace lapilli
