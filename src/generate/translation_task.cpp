#include "generate/translation_task.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "generate/repeats.hpp"
#include "generate/verbs.hpp"
#include "search/engine_pool.hpp"
#include "search/network_on_device.hpp"
#include "text/sentences/neutral_text.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

// Enough rows to keep a device busy, few enough to show progress and lose little to a cancellation.
constexpr uint32_t kDefaultBatch = 32;
// New ids of an answer, and of a translation, where neither the caller nor the model's files say how many.
constexpr uint32_t kAnswerTokens = 512, kFramedTokens = 1024;

// Time limit for one call's work on the host, which does at least one of many things.
class HostTime {
 public:
  explicit HostTime(double microseconds) : microseconds_(microseconds) {}
  [[nodiscard]] bool is_over() const { return ms_since(since_) * 1000 >= microseconds_; }

 private:
  double microseconds_;
  Clock::time_point since_ = Clock::now();
};

}  // namespace

TranslationTask::TranslationTask(std::shared_ptr<Model> model, TranslateRequest request)
    : Task(std::move(model)),
      tokenizer_(this->model()->shared_tokenizer()),
      request_(std::move(request)),
      total_(request_.inputs.size()),
      alone_(this->model()->on_device().config().kind().reads == model::Reads::nothing) {}

Result<std::unique_ptr<TranslationTask>> TranslationTask::start(std::shared_ptr<Model> model,
                                                                TranslateRequest request) {
  LAPILLI_CHECK(check_reads_text(model->on_device().config()));
  LAPILLI_CHECK(check_writes_text(model->on_device().config()));
  std::unique_ptr<TranslationTask> job(new TranslationTask(std::move(model), std::move(request)));
  LAPILLI_CHECK(job->read_options());
  LAPILLI_CHECK(job->read_inputs());
  return job;
}

Result<std::unique_ptr<TranslationTask>> TranslationTask::prepare(std::shared_ptr<Model> model,
                                                                  TranslateRequest request, const JobShape& shape) {
  std::unique_ptr<TranslationTask> job(new TranslationTask(std::move(model), std::move(request)));
  LAPILLI_CHECK(job->read_options());
  job->shape_ = shape;
  LAPILLI_CHECK(job->begin_preparation());
  return job;
}

Status TranslationTask::begin_preparation() {
  LAPILLI_TRY(auto wanted, prepared_request());
  LAPILLI_TRY(auto checked, CheckedRequest::check(*model(), std::move(wanted)));
  LAPILLI_TRY(preparation_, Search::prepare(model(), std::move(checked), shape_.target_tokens));
  phase_ = Phase::prepare;
  return {};
}

// As many sources as there will be at a time, of any ids.
Result<GenerateRequest> TranslationTask::prepared_request() const {
  constexpr uint32_t kUsualSource = 128, kMostTokens = 1u << 16;
  const JobShape& shape = shape_;
  const uint32_t positions = alone_ ? info().max_target_positions : info().max_source_positions;
  const uint32_t most = positions ? std::min(positions, kMostTokens) : kMostTokens;
  const uint32_t tokens = shape.source_tokens ? shape.source_tokens : std::min(most, kUsualSource);
  if (tokens > most || shape.target_tokens > kMostTokens)
    return fail(ErrorCode::invalid_argument,
                "a shape of %u source and %u target tokens; at most %u and %u are possible", tokens,
                shape.target_tokens, most, kMostTokens);
  const uint32_t inputs = std::max(1u, shape.inputs), rows = search_.beams * search_.copies();
  if (inputs > state::MAX_ROWS / rows)
    return fail(ErrorCode::invalid_argument,
                "a shape of %u inputs at a time with %u rows each; at most %u are possible", inputs, rows,
                state::MAX_ROWS / rows);
  GenerateRequest g = plain_request(inputs);
  (alone_ ? g.decoder_ids : g.sources).assign(inputs, std::vector<int32_t>(tokens, 0));
  g.batch = inputs;
  return g;
}

// Errors in the options belong to no input.
Status TranslationTask::read_options() {
  if (info().feature_width != 0)
    return fail(ErrorCode::unsupported, "%s is a model of the family %s, which does not read text", info().directory,
                info().family);
  LAPILLI_TRY(conventions_, find_conventions(*model(), request_.task, request_.chat_template.get()));
  options_ = merge(request_.options, conventions_.options);
  LAPILLI_CHECK(read_chat());
  const GenerationConfig merged = merge(options_, model()->generation_config());
  if (!alone_) start_ = merged.decoder_start_token_id.value_or(merged.bos_token_id.value_or(-1));
  prompt_ = request_.decoder_prompt;
  const bool start_in_front = prompt_.empty() || prompt_.front() != start_;
  const auto given = static_cast<uint32_t>(std::min<size_t>(prompt_.size(), 1u << 20) + (start_in_front ? 1 : 0));
  if (!start_in_front) prompt_.erase(prompt_.begin());
  LAPILLI_TRY(auto resolved, resolve_options(model()->generation_config(), options_, model()->on_device().config()));
  if (default_new_ != 0) resolved.set_default_new_tokens(default_new_);
  LAPILLI_TRY(search_, resolved.for_prompt(given));
  resolved_ = std::make_shared<ResolvedOptions>(std::move(resolved));
  return {};
}

// Answers end at every end that the files name: the list of generation_config.json, the tokenizer's, and the template's
// end of a turn.
std::vector<int32_t> TranslationTask::chat_ends() const {
  std::vector<int32_t> ends = model()->generation_config().eos_token_id.value_or(std::vector<int32_t>());
  const auto add = [&ends](int32_t id) {
    if (id >= 0 && std::find(ends.begin(), ends.end(), id) == ends.end()) ends.push_back(id);
  };
  add(tokenizer_->special().eos);
  EncodeOptions bare;
  bare.add_special = false;
  const std::string written = request_.chat_template->turn_end();
  const auto turn = tokenizer_->encode(strip(written), bare);  // Llama 2's has a blank in front, which is text
  if (!turn || turn->empty()) return ends;
  const auto text = tokenizer_->decode(std::span(*turn).first(1), true);
  if (text && text->empty()) add(turn->front());  // a token that is no text
  return ends;
}

// Once, with the first input of a caller that spreads its inputs over several calls.
void TranslationTask::tell_undrawn() const {
  const bool first = !request_.inputs.empty() && request_.inputs.front().number.value_or(0) == 0;
  if (!first || request_.options.do_sample || !model()->generation_config().do_sample.value_or(false)) return;
  log(LogLevel::note,
      info().directory + ": its files ask for drawn tokens (do_sample); translations take the best " + "ones instead");
}

Status TranslationTask::read_chat() {
  const GenerationConfig& own = model()->generation_config();
  const bool limited = options_.max_new_tokens || options_.max_length || own.max_new_tokens || own.max_length;
  if (conventions_.frame) {
    request_.answer.trimmed = true;
    if (conventions_.frame->first_line) request_.answer.stops.emplace_back("\n");
    if (!limited) default_new_ = kFramedTokens;
    const bool by_template = !conventions_.frame->add_special && request_.chat_template && tokenizer_;
    if (by_template && !options_.eos_token_id) options_.eos_token_id = chat_ends();
    tell_undrawn();
  }
  if (!request_.chat) return {};
  if (!alone_)
    return fail(ErrorCode::unsupported, "%s models do not chat: decoders with a chat template do; leave chat away",
                info().family);
  if (request_.task.task != TextTask::none)
    return fail(ErrorCode::invalid_argument, "chat is for the task generate; translators have prompts of their own");
  if (!request_.chat_template)
    return fail(ErrorCode::unsupported,
                "%s has no chat template (chat_template.jinja, or chat_template in tokenizer_config.json): it "
                "continues texts; leave chat away, or take the model that was trained for chats",
                info().directory);
  if (!tokenizer_) return Error(model()->tokenizer_error()).in("a chat needs the tokenizer");
  if (!options_.eos_token_id) options_.eos_token_id = chat_ends();
  if (!limited) default_new_ = kAnswerTokens;
  return {};
}

Status TranslationTask::read_inputs() {
  const auto is_text = [](const TextInput& input) { return !input.has_ids; };
  if (!tokenizer_ && std::any_of(request_.inputs.begin(), request_.inputs.end(), is_text))
    return Error(model()->tokenizer_error()).in("this model takes token ids only, for its tokenizer cannot be used");
  out_.outputs.resize(total_);
  for (TextOutput& out : out_.outputs) out.status = fail(ErrorCode::cancelled, "cancelled before it was finished");
  inputs_.resize(total_);
  if (request_.split)
    how_.split = *request_.split ? Split::always : Split::never;
  else if (request_.task.task == TextTask::translate)
    how_.split = Split::long_texts;
  how_.keep = request_.task.task == TextTask::translate && request_.decoder_prompt.empty();
  how_.language = request_.task.from;
  how_.conventions = &conventions_;
  return {};
}

// ---- one step after the other -------------------------------------------------------------------------------------

Status TranslationTask::step(double budget_us) {
  switch (phase_) {
    case Phase::prepare: return go_on_preparing(budget_us);
    case Phase::tokenize: return tokenize(budget_us);
    case Phase::keep: return keep(budget_us);
    case Phase::search: return search(budget_us);
  }
  return {};
}

// A search ends with what its sentences have so far.
Status TranslationTask::step_cancelled(double budget_us) {
  if (!batch_) return end();
  batch_->cancel();
  return search(budget_us);
}

Status TranslationTask::wait_for_device() {
  if (batch_) batch_->wait();
  if (preparation_) preparation_->wait();
  return {};
}

Status TranslationTask::go_on_preparing(double budget_us) {
  if (!preparation_) LAPILLI_CHECK(begin_preparation());
  if (!preparation_->pump(budget_us)) return {};
  const auto prepared = std::move(preparation_);
  LAPILLI_CHECK(Status(prepared->status()));
  return end();
}

Status TranslationTask::tokenize(double budget_us) {
  const HostTime time(budget_us);
  while (next_input_ < total_) {
    LAPILLI_CHECK(tokenize_one(next_input_++));
    if (time.is_over()) break;
  }
  if (next_input_ < total_) return {};
  stream_.emplace([this](size_t unit, std::span<const int32_t> ids) { return pass_on(unit, ids); }, units_.size());
  // Similar lengths give the least padding; long ones come first, so that too little memory shows early. Streams go in
  // order, to show the beginning first.
  if (!request_.stream)
    std::stable_sort(order_.begin(), order_.end(),
                     [this](size_t a, size_t b) { return source(a).ids.size() > source(b).ids.size(); });
  phase_ = Phase::keep;
  return {};
}

// A text that a decoder continues must leave room for more.
Result<InputParts> TranslationTask::checked_parts(const TextInput& input) {
  LAPILLI_TRY(auto made, request_.chat ? chat_parts(input) : make_parts(*model(), input, how_));
  for (const InputPart& part : made.parts)
    if (alone_) LAPILLI_CHECK(resolved_->for_prompt(static_cast<uint32_t>(part.ids.size() + prompt_.size())));
  return made;
}

// The template writes the special tokens, the tokenizer adds none.
Result<InputParts> TranslationTask::chat_parts(const TextInput& input) {
  if (input.has_ids) return fail(ErrorCode::invalid_argument, "a chat takes texts, not ids");
  const std::string user(input.text);
  const bool none = user.empty() && !request_.chat->messages.empty();  // the last message is answered
  LAPILLI_TRY(const std::string prompt, request_.chat_template->prompt(*request_.chat, none ? nullptr : &user));
  if (request_.answer.without_thoughts) request_.answer.begins_in_thought = strip(prompt).ends_with("<think>");
  EncodeOptions bare;
  bare.add_special = false;
  LAPILLI_TRY(auto ids, tokenizer_->encode(prompt, bare));
  InputParts made = {};
  LAPILLI_TRY(made, make_parts(*model(), {{}, ids, true, {}}, how_));
  made.parts.front().range = {0, input.text.size()};
  return made;
}

Status TranslationTask::tokenize_one(size_t index) {
  const TextInput& input = request_.inputs[index];
  auto parts = checked_parts(input);
  if (!parts) {
    out_.outputs[index].status = std::move(parts).error();
    ++failed_;
    tell(index);
    return {};
  }
  Input& in = inputs_[index];
  in.parts = std::move(*parts);
  in.left = in.parts.parts.size();
  in.results.resize(in.left);
  if (watches()) in.stream.emplace(tokenizer_.get(), input.text, in.parts.ranges, request_.answer);
  add_units(index);
  return {};
}

void TranslationTask::add_units(size_t input) {
  const auto& parts = inputs_[input].parts.parts;
  for (size_t i = 0; i < parts.size(); ++i) {
    const InputPart& part = parts[i];
    out_.stats.source_tokens += part.ids.size();
    out_.outputs[input].word_tokens += part.word_tokens;
    out_.outputs[input].unknown_tokens += part.unknown_tokens;
    (part.kept ? kept_ : order_).push_back(units_.size());
    units_.push_back({.input = input, .part = i});
  }
}

const InputPart& TranslationTask::source(size_t unit) const {
  return inputs_[units_[unit].input].parts.parts[units_[unit].part];
}

// Delivers units that are the same in every language; the rest then goes to the device.
Status TranslationTask::keep(double budget_us) {
  const HostTime time(budget_us);
  while (next_kept_ < kept_.size()) {
    const size_t unit = kept_[next_kept_++];
    collect(std::vector<TextSequence>(search_.return_sequences, kept_sequence(unit)), unit);
    if (stopped_) return end();
    if (time.is_over()) break;
  }
  if (next_kept_ < kept_.size()) return {};
  if (order_.empty()) return end();
  LAPILLI_CHECK(begin_search());
  return search(budget_us);
}

Status TranslationTask::begin_search() {
  LAPILLI_TRY(auto checked, CheckedRequest::check(*model(), request()));
  batch_ = std::make_unique<Batch>(model(), std::move(checked));
  done_before_ = units_done_;
  next_ended_ = 0;
  phase_ = Phase::search;
  return {};
}

// On another device, or beside other rows, a nearly equal score may win. Output already given out stands: these units'
// searches continue after it.
Status TranslationTask::begin_search_again() {
  count(batch_->output().stats);
  batch_.reset();
  order_ = std::exchange(departed_, {});
  std::erase_if(order_, [this](size_t unit) { return finish_if_complete(unit); });
  if (stopped_ || order_.empty()) return end();
  for (const size_t unit : order_) {
    units_[unit].departed = false;
    stream_->go_on(unit);
  }
  forced_ = true;
  return begin_search();
}

GenerateRequest TranslationTask::plain_request(size_t sources) const {
  GenerateRequest g;
  g.keep_answers = request_.chat.has_value();
  if (!request_.decoder_prompt.empty() && !alone_) g.decoder_ids.assign(sources, request_.decoder_prompt);
  if (conventions_.global_first) g.global_positions.assign(sources, {0});
  g.options = options_;
  g.resolved = resolved_;
  g.steps_in_flight = request_.steps_in_flight;
  g.deterministic = request_.deterministic;
  g.keep_order = true;
  return g;
}

GenerateRequest TranslationTask::request() {
  GenerateRequest g = plain_request(order_.size());
  for (const size_t unit : order_) {
    if (!alone_) g.sources.push_back(source(unit).ids);
    const Unit& u = units_[unit];  // draws do not depend on what runs beside it
    g.sequences.push_back(draw_number(request_.inputs[u.input].number.value_or(u.input), u.part));
  }
  g.batch = request_.batch != 0 ? request_.batch : model()->engines().usual_sources(kDefaultBatch);
  if (alone_) set_prompts(g);
  if (forced_) force_prompt(g);
  if (watches()) g.on_tokens = [this](size_t row, std::span<const int32_t> ids) { return take_ids(order_[row], ids); };
  return g;
}

// The decoder's ids before its output: its start, or the text that it continues.
std::vector<int32_t> TranslationTask::before_output(size_t unit) const {
  return alone_ ? source(unit).ids : std::vector<int32_t>{search_.decoder_start};
}

void TranslationTask::set_prompts(GenerateRequest& g) const {
  for (const size_t unit : order_) {
    std::vector<int32_t>& ids = g.decoder_ids.emplace_back(before_output(unit));
    ids.insert(ids.end(), prompt_.begin(), prompt_.end());
  }
}

// Makes the decoder begin with the output already given out.
void TranslationTask::force_prompt(GenerateRequest& g) const {
  g.decoder_ids.clear();
  for (const size_t unit : order_) {
    const auto written = stream_->given(unit);
    std::vector<int32_t>& ids = g.decoder_ids.emplace_back(before_output(unit));
    ids.insert(ids.end(), prompt_.begin(), prompt_.end());
    ids.insert(ids.end(), written.begin(), written.end());
    g.written.push_back(static_cast<uint32_t>(written.size()));
  }
}

Status TranslationTask::take_ids(size_t unit, std::span<const int32_t> ids) {
  Unit& u = units_[unit];
  u.departed = u.departed || (resumed_ && !stream_->agrees(unit, ids));
  return u.departed ? Status() : stream_->push(unit, ids);
}

Status TranslationTask::search(double budget_us) {
  const bool ended = batch_->pump(budget_us);
  const HostTime time(budget_us);
  while (!harvest_one() && !time.is_over()) {
  }
  if (stopped_) return end();
  if (!ended || next_ended_ < batch_->ended().size()) return {};
  if (stopping_) {
    finish_stopped();
    return end();
  }
  if (batch_->status() && !departed_.empty()) return begin_search_again();
  if (batch_->status() || batch_->status().error().code == ErrorCode::cancelled) return end();
  return batch_->status();
}

// Nothing that the search still does counts: the search ends early, with what its texts have so far.
void TranslationTask::stop_if_all_are_stopped() {
  if (stopping_ || search_.beams > 1 || search_.return_sequences > 1) return;
  for (const size_t unit : order_)
    if (!units_[unit].done && !units_[unit].stopped) return;
  stopping_ = true;
  batch_->cancel();
}

void TranslationTask::finish_stopped() {
  for (const size_t unit : order_) {
    if (units_[unit].done) continue;
    const auto written = stream_->given(unit);
    Hypothesis whole;
    whole.ids = before_output(unit);
    whole.ids.insert(whole.ids.end(), prompt_.begin(), prompt_.end());
    whole.ids.insert(whole.ids.end(), written.begin(), written.end());
    whole.score = std::numeric_limits<float>::quiet_NaN();
    whole.finish = Finish::stop;
    std::vector<Hypothesis> one(1, std::move(whole));
    finish_search(one, unit);
  }
}

// True if a rerun search gave another result than what was given out before.
bool TranslationTask::departs(const std::vector<Hypothesis>& hypotheses, size_t unit) {
  if (!resumed_ || !watches()) return false;
  const auto written = stream_->given(unit);
  std::span<const int32_t> ids = hypotheses.front().ids;
  ids = ids.subspan(std::min(ids.size(), before_output(unit).size() + prompt_.size()));
  return units_[unit].departed || ids.size() < written.size() ||
         !std::equal(written.begin(), written.end(), ids.begin());
}

// After an end token, or at the last length, there is nothing to search.
bool TranslationTask::finish_if_complete(size_t unit) {
  const auto written = stream_->given(unit);
  const auto& ends = search_.end_ids;
  const bool ended = !written.empty() && std::find(ends.begin(), ends.end(), written.back()) != ends.end();
  Hypothesis whole;
  whole.ids = before_output(unit);
  const size_t given = whole.ids.size() + prompt_.size(), length = given + written.size();
  const auto options = resolved_->for_prompt(static_cast<uint32_t>(given), alone_ ? 0 : source(unit).ids.size());
  if (!ended && length < (options ? options->max_length : search_.max_length)) return false;
  whole.ids.insert(whole.ids.end(), prompt_.begin(), prompt_.end());
  whole.ids.insert(whole.ids.end(), written.begin(), written.end());
  whole.score = std::numeric_limits<float>::quiet_NaN();
  whole.finish = ended ? Finish::stop : Finish::length;
  std::vector<Hypothesis> same(search_.return_sequences, whole);
  finish_search(same, unit);
  return true;
}

// True if there is nothing to do. Keeps what was finished before an error or a cancellation. A lost device is no
// input's error.
bool TranslationTask::harvest_one() {
  const auto ended = batch_->ended();
  if (stopped_ || next_ended_ == ended.size()) return true;
  const size_t row = ended[next_ended_++];
  auto& hypotheses = batch_->output().hypotheses[row];
  auto& error = batch_->output().errors[row];
  const ErrorCode code = error ? ErrorCode::cancelled : error.error().code;
  if (!hypotheses.empty() && departs(hypotheses, order_[row]))
    departed_.push_back(order_[row]);
  else if (!hypotheses.empty())
    finish_search(hypotheses, order_[row]);
  else if (code != ErrorCode::cancelled && code != ErrorCode::device_lost)
    finish_unit(order_[row], std::move(error));
  return false;
}

void TranslationTask::conclude() {
  const bool all = units_done_ == units_.size() && next_input_ == total_ && !preparation_;
  const bool cut = batch_ && !stopping_;  // a search that stop texts ended is cancelled, and the job is not
  out_.cancelled = stopped_ || (cut ? !batch_->status().ok() : !all);
  out_.stats.total_ms = ms_since(started_);
  for (size_t i = 0; i < total_; ++i) tell(i);
}

void TranslationTask::release() {
  if (batch_) count(batch_->output().stats);
  batch_.reset();
  preparation_.reset();
}

void TranslationTask::count(const GenerateStats& made) {
  out_.stats.encode_ms += made.encode_ms;
  out_.stats.decode_ms += made.decode_ms;
  out_.stats.decoder_steps += made.steps;
  out_.stats.submissions += made.submissions;
  out_.stats.batches += made.searches;
  out_.stats.prompt_rows += made.prompt_rows;
  out_.stats.saved_prompt_rows += made.saved_prompt_rows;
  out_.stats.tuned_nodes = std::max(out_.stats.tuned_nodes, made.tuned_nodes);
}

TaskProgress TranslationTask::progress() const {
  const uint64_t done = batch_ ? done_before_ + batch_->sources_done() : units_done_;
  return {failed_ + done, failed_ + units_.size() + (total_ - next_input_), tokens_};
}

Result<TranslateOutput> TranslationTask::take() {
  if (!has_ended()) return fail(ErrorCode::invalid_argument, "the job has not ended");
  LAPILLI_CHECK(Status(status()));
  if (std::exchange(taken_, true)) return fail(ErrorCode::invalid_argument, "the result was taken already");
  return std::move(out_);
}

// ---- after a lost device ------------------------------------------------------------------------------------------

// Unfinished units are searched again from their beginning: the same device gives the same results, to the last bit of
// the scores.
Status TranslationTask::begin_again(const FrontEnd&) {
  resumed_ = true;
  forced_ = false;
  departed_.clear();
  if (phase_ == Phase::search) rewind();
  return {};
}

// Returns to the start of the search for unfinished units.
void TranslationTask::rewind() {
  std::erase_if(order_, [this](size_t unit) { return units_[unit].done; });
  for (const size_t unit : order_) {
    units_[unit].departed = false;
    stream_->restart(unit);
  }
  phase_ = Phase::keep;
}

// ---- finished units -----------------------------------------------------------------------------------------------

// The first error of an input's parts is the input's.
void TranslationTask::finish_unit(size_t unit, Status status) {
  Input& in = inputs_[units_[unit].input];
  TextOutput& out = out_.outputs[units_[unit].input];
  ++units_done_;
  units_[unit].done = true;
  --in.left;
  if (!status && (out.status || out.status.error().code == ErrorCode::cancelled)) out.status = std::move(status);
  if (in.left != 0) return;
  if (out.status || out.status.error().code == ErrorCode::cancelled) join(units_[unit].input);
  tell(units_[unit].input);
}

void TranslationTask::join(size_t input) {
  Input& in = inputs_[input];
  TextOutput& out = out_.outputs[input];
  const std::string_view text = request_.inputs[input].text;
  out.status = {};
  size_t count = ~size_t{0};
  for (const auto& part : in.results) count = std::min(count, part.size());
  for (size_t k = 0; k < count; ++k) {
    std::vector<TextSequence> parts;
    for (auto& part : in.results) parts.push_back(std::move(part[k]));
    out.sequences.push_back(join_parts(text, in.parts, std::move(parts), search_.length_penalty));
  }
  if (!out.sequences.empty()) out_.stats.generated_tokens += out.sequences.front().ids.size();
  if (request_.task.task != TextTask::translate) return;
  for (TextSequence& s : out.sequences) s.lost_address = first_lost_address(text, s.text);
}

void TranslationTask::tell(size_t input) {
  if (std::exchange(inputs_[input].reported, true) || !request_.input_ended) return;
  request_.input_ended(input, out_.outputs[input].status);
}

void TranslationTask::finish_search(std::vector<Hypothesis>& hypotheses, size_t unit) {
  std::vector<TextSequence> sequences;
  for (Hypothesis& hypothesis : hypotheses) {
    auto sequence = make_sequence(hypothesis, unit);
    if (!sequence) return finish_unit(unit, std::move(sequence).error());
    sequences.push_back(std::move(*sequence));
  }
  collect(std::move(sequences), unit);
}

void TranslationTask::collect(std::vector<TextSequence> sequences, size_t unit) {
  Input& in = inputs_[units_[unit].input];
  in.results[units_[unit].part] = std::move(sequences);
  Status streamed;
  if (in.stream) {
    const TextSequence& best = in.results[units_[unit].part].front();
    streamed = hand_out(units_[unit].input, in.stream->finish(units_[unit].part, best.text, best.ids));
  }
  finish_unit(unit, {});
  if (!streamed) stopped_ = true;
}

TextSequence TranslationTask::kept_sequence(size_t unit) const {
  const TextRange range = *source(unit).kept;
  TextSequence sequence;
  sequence.text = request_.inputs[units_[unit].input].text.substr(range.begin, range.end - range.begin);
  sequence.finish = Finish::kept;
  SequencePart part;
  part.source = {range.begin, range.end};
  part.target = {0, sequence.text.size()};
  part.finish = Finish::kept;
  sequence.parts.push_back(std::move(part));
  return sequence;
}

Result<TextSequence> TranslationTask::make_sequence(Hypothesis& hypothesis, size_t unit) {
  TextSequence sequence;
  sequence.score = hypothesis.score;
  SequencePart part;
  part.source_ids = source(unit).ids;
  part.source_bytes = source(unit).bytes;
  part.decoder_ids = hypothesis.ids;
  sequence.finish = part.finish = hypothesis.finish;
  sequence.ids = std::move(hypothesis.ids);
  if (alone_)
    sequence.ids.erase(sequence.ids.begin(), sequence.ids.begin() + static_cast<ptrdiff_t>(part.source_ids.size()));
  else if (!sequence.ids.empty() && sequence.ids.front() == start_)
    sequence.ids.erase(sequence.ids.begin());
  const size_t given = sequence.ids.size() - std::min(sequence.ids.size(), hypothesis.token_scores.size());
  sequence.repeats = part.repeats = loops(sequence.ids) && !loops(part.source_ids);
  sequence.token_scores.assign(given, std::numeric_limits<float>::quiet_NaN());
  sequence.token_scores.insert(sequence.token_scores.end(), hypothesis.token_scores.begin(),
                               hypothesis.token_scores.end());
  if (tokenizer_) {
    LAPILLI_TRY(sequence.text, tokenizer_->decode(sequence.ids));
  }
  if (request_.answer.any()) {
    AnswerText answer(request_.answer);
    std::string text = answer.push(sequence.text);
    sequence.text = text + answer.finish();
    if (answer.stopped()) {
      LAPILLI_CHECK(cut_at_stop(sequence));
      part.finish = sequence.finish;
      part.repeats = sequence.repeats;
    }
  }
  part.source = {source(unit).range.begin, source(unit).range.end};
  part.target = {0, sequence.text.size()};
  sequence.parts.push_back(std::move(part));
  return sequence;
}

// Keeps the fewest ids whose text has the stop: how many came behind it is a matter of time. Scores would be, too: a
// search that ends early has none.
Status TranslationTask::cut_at_stop(TextSequence& sequence) const {
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  size_t without = 0, with = sequence.ids.size();
  while (without + 1 < with) {
    const size_t count = without + (with - without) / 2;
    LAPILLI_TRY(const std::string text, tokenizer_->decode(std::span(sequence.ids).first(count)));
    AnswerText answer(request_.answer);
    answer.push(text);
    answer.finish();
    (answer.stopped() ? with : without) = count;
  }
  sequence.ids.resize(with);
  sequence.token_scores.assign(with, kUnknown);
  sequence.score = kUnknown;
  sequence.finish = Finish::stop;
  sequence.repeats = false;
  return {};
}

// Ignores an end token.
bool TranslationTask::loops(std::span<const int32_t> ids) const {
  const auto& ends = search_.end_ids;
  if (!ids.empty() && std::find(ends.begin(), ends.end(), ids.back()) != ends.end()) ids = ids.first(ids.size() - 1);
  return ends_in_loop(ids);
}

Status TranslationTask::pass_on(size_t unit, std::span<const int32_t> ids) {
  tokens_ += ids.size();
  Unit& u = units_[unit];
  InputStream& stream = *inputs_[u.input].stream;
  if (!std::exchange(u.streamed, true) && !prompt_.empty()) {
    LAPILLI_TRY(const auto before, stream.push(u.part, prompt_, false));
    LAPILLI_CHECK(hand_out(u.input, before));
  }
  const auto& ends = search_.end_ids;
  const bool ended = std::find(ends.begin(), ends.end(), ids.back()) != ends.end();
  LAPILLI_TRY(const auto fresh, stream.push(u.part, ids, ended));
  u.stopped = stream.stopped(u.part);
  LAPILLI_CHECK(hand_out(u.input, fresh));
  if (u.stopped) stop_if_all_are_stopped();
  return {};
}

Status TranslationTask::hand_out(size_t input, const InputStream::Output& out) {
  if (!request_.stream || (out.text.empty() && out.ids.empty())) return {};
  if (request_.stream(input, out.text, out.ids)) return {};
  return fail(ErrorCode::cancelled, "cancelled");
}

}  // namespace lapilli
