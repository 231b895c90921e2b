#include "generate/embedding_task.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.hpp"
#include "generate/verbs.hpp"
#include "search/network_on_device.hpp"

namespace lapilli {

namespace {

// A pass of more rows takes memory and is hardly faster.
constexpr uint32_t kRows = 4096, kSources = 256;

double length_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float v : values) sum += double{v} * v;
  return std::sqrt(sum);
}

bool fits(const PassRoom& room, const PassRoom& need) {
  return need.sources <= room.sources && need.rows <= room.rows && need.longest <= room.longest;
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

EmbeddingTask::EmbeddingTask(std::shared_ptr<Model> model, EmbeddingRequest request)
    : Task(std::move(model)),
      request_(std::move(request)),
      over_(request_.inputs.size()),
      results_(request_.inputs.size()) {
  for (EmbeddingResult& r : results_) r.status = fail(ErrorCode::cancelled, "cancelled before it was finished");
}

Result<std::unique_ptr<EmbeddingTask>> EmbeddingTask::start(std::shared_ptr<Model> model,
                                                            const SentenceSettings& settings,
                                                            EmbeddingRequest request) {
  std::unique_ptr<EmbeddingTask> task(new EmbeddingTask(std::move(model), std::move(request)));
  LAPILLI_CHECK(task->read_options(settings));
  return task;
}

Status EmbeddingTask::read_options(const SentenceSettings& settings) {
  const model::Config& c = model()->on_device().config();
  width_ = embedding_width(c);
  if (width_ == 0)
    return fail(ErrorCode::unsupported, "this %s model makes no vectors of texts; what serves it: %s", c.family,
                verbs_for(c));
  if (request_.options.dimensions > width_)
    return fail(ErrorCode::invalid_argument, "%u dimensions are wanted of vectors that have %u",
                request_.options.dimensions, width_);
  LAPILLI_TRY(encoder_, TextEncoder::make(model(), settings, request_.options.prompt));
  return {};
}

// ---- one step after the other --------------------------------------------------------------------------------------

// The host encodes the next texts while the device works on a round.
Status EmbeddingTask::step(double budget_us) {
  if (is_in_flight()) {
    LAPILLI_TRY(const bool done, pass_->poll());
    if (!done) return gather(budget_us), Status();
    LAPILLI_CHECK(collect());
  }
  if (!gather(budget_us)) return {};
  return coming_.inputs.empty() ? end() : begin();
}

Status EmbeddingTask::wait_for_device() { return is_in_flight() ? pass_->wait() : Status(); }

// True: the next round is complete. Encodes at least one text.
bool EmbeddingTask::gather(double budget_us) {
  const auto since = Clock::now();
  while (!coming_.full && next_ < request_.inputs.size()) {
    gather_one();
    if (ms_since(since) * 1000 >= budget_us) break;
  }
  return coming_.full || next_ == request_.inputs.size();
}

void EmbeddingTask::gather_one() {
  if (over_[next_]) {
    ++next_;
    return;
  }
  if (!held_) {
    auto text = ids_of(next_);
    if (!text) return finish(next_++, std::move(text).error());
    held_ = std::move(*text);
  }
  if (!add(next_, *held_)) return;
  held_.reset();
  ++next_;
}

Result<EncodedText> EmbeddingTask::ids_of(size_t input) const {
  const TextInput& given = request_.inputs[input];
  if (!given.has_ids) return encoder_->encode(given.text);
  LAPILLI_CHECK(encoder_->check(given.ids));
  return EncodedText{{given.ids.begin(), given.ids.end()}};
}

// False: the round is full, and the text goes into the next one.
bool EmbeddingTask::add(size_t input, EncodedText& text) {
  const auto rows = static_cast<uint32_t>(text.ids.size());
  const uint32_t most = request_.options.batch ? std::min(request_.options.batch, kSources) : kSources;
  coming_.full = coming_.inputs.size() == most || (coming_.rows > 0 && coming_.rows + rows > kRows);
  if (coming_.full) return false;
  EmbeddingResult& result = results_[input];
  result.tokens = rows;
  result.cut = text.cut;
  coming_.inputs.push_back(input);
  coming_.ids.push_back(std::move(text.ids));
  coming_.rows += rows;
  coming_.longest = std::max(coming_.longest, rows);
  return true;
}

// ---- on the device -------------------------------------------------------------------------------------------------

// The room of a full round, unless these are all texts: then the next ones need no other pass.
PassRoom EmbeddingTask::room() const {
  PassRoom room{static_cast<uint32_t>(coming_.inputs.size()), coming_.rows, coming_.longest};
  if (!coming_.full && !request_.options.deterministic) return room;
  const uint32_t longest = encoder_->most_ids() ? std::min(encoder_->most_ids(), kRows) : kRows;
  room.sources = kSources;
  room.rows = std::max(room.rows, kRows);
  room.longest = std::max(room.longest, longest);
  return room;
}

Status EmbeddingTask::begin() {
  const PassRoom need{static_cast<uint32_t>(coming_.inputs.size()), coming_.rows, coming_.longest};
  const PassRoom made = room();
  round_ = std::exchange(coming_, {});
  ForwardRequest request;
  request.sources = std::move(round_.ids);
  request.only = model::HeadKind::sentences;
  request.prompt_rows = encoder_->prompt_rows();
  request.deterministic = request_.options.deterministic;
  if (pass_ && fits(pass_room_, need)) return pass_->again(std::move(request));
  pass_.reset();
  pass_room_ = request.room = made;
  LAPILLI_TRY(pass_, ForwardRun::start(model(), std::move(request)));
  return {};
}

Status EmbeddingTask::collect() {
  LAPILLI_CHECK(pass_->take([this](const ForwardTensor& f) {
    return f.name == "sentence_embedding" ? keep_vectors(f) : Status();
  }));
  stats_.searches += 1;
  for (const size_t input : round_.inputs) finish(input, finish_vector(results_[input]));
  round_ = {};
  return {};
}

Status EmbeddingTask::keep_vectors(const ForwardTensor& vectors) {
  const size_t width = vectors.shape.back();
  for (size_t k = 0; k < round_.inputs.size(); ++k) {
    const auto begin = vectors.values.begin() + static_cast<ptrdiff_t>(k * width);
    results_[round_.inputs[k]].values.assign(begin, begin + static_cast<ptrdiff_t>(width));
  }
  return {};
}

// Cuts before normalizing, so that the vector that remains has length 1.
Status EmbeddingTask::finish_vector(EmbeddingResult& result) const {
  auto& values = result.values;
  if (request_.options.dimensions) values.resize(request_.options.dimensions);
  const double length = length_of(values);
  if (!std::isfinite(length)) {
    values.clear();
    return fail(ErrorCode::invalid_data,
                "the model's vector of this text holds numbers that are not finite; a dtype of more range may hold "
                "them (fp32)");
  }
  if (request_.options.normalize && length > 0)
    for (float& v : values) v = static_cast<float>(v / length);
  return {};
}

void EmbeddingTask::finish(size_t input, Status status) {
  ++done_;
  over_[input] = true;
  results_[input].status = std::move(status);
  tokens_ += results_[input].tokens;
  if (request_.on_result) request_.on_result(input, results_[input]);
}

// ---- the end, and after a lost device ------------------------------------------------------------------------------

// Texts that were on the device are encoded again after it was lost.
void EmbeddingTask::release() {
  if (!coming_.inputs.empty()) next_ = coming_.inputs.front();
  if (!round_.inputs.empty()) next_ = round_.inputs.front();
  held_.reset();
  coming_ = round_ = {};
  pass_.reset();
  encoder_.reset();
}

Status EmbeddingTask::begin_again(const FrontEnd& front) {
  if (!front.sentences)
    return fail(ErrorCode::invalid_argument, "the job cannot go on with this model, which makes no vectors");
  return read_options(*front.sentences);
}

}  // namespace lapilli
