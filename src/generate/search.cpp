#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

#include "base/clock.hpp"
#include "generate/checked_request.hpp"
#include "search/allowed_ids.hpp"
#include "search/engine_pool.hpp"
#include "search/globals.hpp"
#include "search/token_stream.hpp"
#include "search/trace_back.hpp"

namespace lapilli {

namespace {

uint32_t sentence_bucket(size_t n) { return static_cast<uint32_t>(std::bit_ceil(n)); }

static_assert(kMostLogits <= model::kMostPromptRows, "what one source asks for fits one admission");

// Each sentence of a decoder alone takes room by itself: no more of it than an eighth is unused.
uint32_t fine_bucket(size_t n) {
  return static_cast<uint32_t>(round_up<uint64_t>(n, std::max<uint64_t>(1, std::bit_ceil(n) / 8)));
}

// Positions that a translation of this many source ids hardly ever exceeds: caches get the usual size. By the source's
// bucket, so that one source bucket has one target bucket.
uint32_t likely_positions(uint32_t source_bucket, uint32_t given) { return 2 * source_bucket + 32 + given; }

}  // namespace

struct Search::Impl {
  std::shared_ptr<Model> model;
  CheckedRequest checked;
  [[nodiscard]] const GenerateRequest& request() const { return checked.request(); }
  SearchOptions options;                             // of the first source
  std::vector<std::shared_ptr<Sentence>> sentences;  // `copies` for each source
  WorkspaceKey wanted;
  std::optional<uint32_t> reserved_ids;      // new ids per source, for a search that only prepares others
  std::optional<EnginePool::Taking> taking;  // until its kernels are proven
  std::shared_ptr<SearchEngine> engine;      // set after that
  SearchEngine::Counts before;               // the engine's counts when the search began
  std::optional<OnceStream> stream;
  std::vector<CommittedIds> settled;
  std::vector<bool> reported;  // sentences whose end was seen
  std::atomic<bool> cancelled{false};
  bool ended = false, taken = false;
  size_t left = 0;
  Status status;
  GenerateOutput output;
  Clock::time_point started, encoded;
  std::vector<CapturedStep> captured;

  Status make_sentences();
  [[nodiscard]] const Shortlist* shortlist() const;
  [[nodiscard]] std::vector<uint32_t> logits_rows(const std::vector<uint32_t>& asked, size_t ids) const;
  [[nodiscard]] std::vector<std::vector<float>> wanted_logits(size_t number,
                                                              std::vector<std::vector<float>> rows) const;
  Status take_source(Sentence& s, size_t number, bool first_copy);
  [[nodiscard]] WorkspaceKey key() const;
  [[nodiscard]] bool encodes() const { return model->on_device().config().kind().encodes; }
  [[nodiscard]] uint32_t likely(uint32_t source_bucket, uint32_t given) const;
  [[nodiscard]] uint32_t wanted_positions(uint32_t source_bucket, uint32_t given) const;
  Status check_capture() const;
  Status prepare();
  Result<bool> begin();
  void look_for_engine();
  Result<bool> find_engine();
  void keep_one_sentence();
  void finish(Status s);
  Status look();
  Status look_at(size_t number);
  Status collect();
  void count();
  Status capture(std::span<const uint32_t> log, const Workspace& workspace);
  bool step_once(double budget_us);
  Status wait();
};

Status Search::Impl::make_sentences() {
  const auto& given = request().decoder_ids;
  std::map<std::pair<uint32_t, size_t>, SearchOptions> by_lengths;  // of prompt and source
  size_t longest = 0;
  for (const auto& source : request().sources) longest = std::max(longest, source.size());
  const uint32_t copies = checked.options().common().copies();
  for (size_t i = 0; i < request().sources.size(); ++i) {
    const auto all = static_cast<uint32_t>(given[i].size());
    const uint32_t n = all - (request().written.empty() ? 0 : request().written[i]);
    // One entry serves all sources where lengths do not follow from them.
    const bool by_source = checked.options().common().new_per_source_id > 0;
    const std::pair lengths(n, by_source ? request().sources[i].size() : 0);
    if (!by_lengths.contains(lengths)) {
      LAPILLI_TRY(by_lengths[lengths], checked.options().for_prompt(n, lengths.second));
    }
    const SearchOptions& own = by_lengths[lengths];
    if (all >= own.max_length)
      return fail(ErrorCode::invalid_argument, "max_length: %u leaves nothing to generate after %u prompt ids",
                  own.max_length, all);
    // Options that depend on source ids see the padding of the caller's batch, as in the reference.
    std::vector<int32_t> padded = request().sources[i];
    padded.resize(longest, own.pad);
    // If each returned sequence is drawn separately, each is a sentence with its own draws.
    for (uint32_t copy = 0; copy < copies; ++copy) {
      auto s = std::make_shared<Sentence>();
      const auto number = static_cast<uint32_t>(request().sequences.empty() ? i : request().sequences[i]);
      s->prompt = given[i];
      s->keep_answer = request().keep_answers;
      LAPILLI_CHECK(take_source(*s, i, copy == 0));
      s->options = own;
      s->words = encode_options(s->options, n, padded, number * copies + copy);
      s->shortlist = shortlist();
      s->words.params[state::P_PREFIX] = all;
      sentences.push_back(std::move(s));
    }
  }
  options = sentences.front()->options;
  left = sentences.size();
  reported.resize(left);
  return {};
}

// Null: all ids may be written.
const Shortlist* Search::Impl::shortlist() const {
  return checked.options().common().shortlist ? model->shortlist() : nullptr;
}

// The positions of a prompt whose logits are computed. A cell follows from all before it, and only the last ones are
// kept: then these are all positions.
std::vector<uint32_t> Search::Impl::logits_rows(const std::vector<uint32_t>& asked, size_t ids) const {
  if (!model->on_device().config().decoder.cells || asked.empty()) return asked;
  std::vector<uint32_t> all(ids);
  std::iota(all.begin(), all.end(), 0u);
  return all;
}

// Those of `rows` that were asked for.
std::vector<std::vector<float>> Search::Impl::wanted_logits(size_t number, std::vector<std::vector<float>> rows) const {
  if (!model->on_device().config().decoder.cells || rows.empty()) return rows;
  std::vector<std::vector<float>> chosen;
  for (const uint32_t at : request().logits_at[number]) chosen.push_back(rows.at(at));
  return chosen;
}

// Sets the source's inputs, and on its first copy the outputs to return once.
Status Search::Impl::take_source(Sentence& s, size_t number, bool first_copy) {
  s.source = request().sources[number];
  if (!request().features.empty()) s.features = request().features[number];
  s.feature_positions = s.feature_length = checked.source_positions(number);
  if (s.features) s.feature_length = counted_rows(model->on_device().config().features, rows_of(*s.features));
  if (!request().global_positions.empty()) s.global_positions = request().global_positions[number];
  if (!request().encoded.empty()) s.encoded = request().encoded[number];
  if (!first_copy) return {};
  if (!request().logits_at.empty()) s.logits_at = logits_rows(request().logits_at[number], s.prompt.size());
  s.keep = s.encoded;
  if (!request().keep_encoded || s.encoded) return {};
  LAPILLI_TRY(s.keep, EncodedSource::create(model->on_device(), model->memory(), s.source, s.source_length()));
  return {};
}

// A decoder alone knows by prompt; one long answer does not give all prompts of its length as much room.
uint32_t Search::Impl::likely(uint32_t source_bucket, uint32_t given) const {
  const uint32_t likely = likely_positions(source_bucket, given);
  const EnginePool& engines = model->engines();
  if (encodes()) return std::max(likely, engines.known_positions(source_bucket));
  return std::clamp(engines.known_positions(length_bucket(given)), likely, 4 * likely);
}

// Reserves what was asked for, except that prompt ids must fit at once whatever the source's length.
uint32_t Search::Impl::wanted_positions(uint32_t source_bucket, uint32_t given) const {
  if (reserved_ids.value_or(0) == 0) return likely(source_bucket, given);
  return std::max(given > 1 ? likely_positions(source_bucket, given) : 0, *reserved_ids + given);
}

WorkspaceKey Search::Impl::key() const {
  const EnginePool& engines = model->engines();
  uint64_t source = 0, given = 0, all_given = 0, lists = 0, all_logits = 0;
  uint32_t longest = 0;
  const uint32_t mask_words = allowed_words(model->info().target_vocabulary);
  for (const auto& s : sentences) {
    source = std::max<uint64_t>(source, s->source_positions());
    given = std::max<uint64_t>(given, s->prompt.size());
    all_given += s->prompt.size() - 1;
    all_logits += s->logits_at.size();
    lists = std::max<uint64_t>(lists, s->words.lists.size() + (s->shortlist ? mask_words : 0));
    longest = std::max(longest, s->options.max_length);
  }
  WorkspaceKey key;
  key.candidates = options.candidates();
  key.sample = options.sample;
  key.renormalize = options.renormalize;
  key.timestamps = options.timestamps.has_value();
  key.shortlist = shortlist() != nullptr;
  key.capture = request().capture_scores;
  key.deterministic = request().deterministic;
  const bool cpu = model->device()->caps().type == DeviceType::cpu;
  const uint32_t steps = request().steps_in_flight ? request().steps_in_flight : (cpu ? 4 : 8);
  key.steps_per_submit = request().capture_scores ? 1 : steps;
  SessionShape& s = key.shape;
  s.beams = options.beams;
  const uint32_t most = state::MAX_ROWS / s.beams;
  const uint32_t batch = std::min(most, request().batch ? request().batch * options.copies() : most);
  s.running = std::min(batch, encodes() ? sentence_bucket(sentences.size()) : fine_bucket(sentences.size()));
  s.source_positions = length_bucket(source);
  const uint32_t positions = wanted_positions(s.source_positions, static_cast<uint32_t>(given));
  const uint32_t room = std::max(2u, std::min(longest, positions));
  s.target_positions = encodes() ? length_bucket(room) : cache_bucket(room);
  const uint64_t most_rows = engines.most_prompt_rows;
  if (given > 1) key.prompt_rows = static_cast<uint32_t>(std::min(std::bit_ceil(all_given), most_rows));
  if (all_logits > 0) key.logits_rows = std::min(sentence_bucket(all_logits), kMostLogits);
  uint64_t all_source = 0;
  for (const auto& one : sentences) all_source += one->source_positions();
  key.encode_rows = engines.encode_room(s.running, s.source_positions, all_source);
  // Lists are the same for all sentences unless they depend on source ids.
  const bool own_lists = options.needs_source_ids() || key.shortlist;
  s.list_words = list_room(lists, own_lists ? s.running : 0);
  complete_key(key, sentences.size() > s.running ? prepared_beside(s.running, encodes()) : 0);
  key.narrow = engines.narrow_pays(s);
  return key;
}

void Search::Impl::look_for_engine() {
  EnginePool::Wanted search{wanted, static_cast<uint32_t>(sentences.size()), std::nullopt};
  if (reserved_ids) search.reserve_for = static_cast<uint32_t>(request().sources.size());
  taking.emplace(model->engines(), search);
}

// Halves the positions of a single sentence while its usual caches exceed a binding. False: the kernels of its plans
// are still on trial.
Result<bool> Search::Impl::find_engine() {
  uint32_t least = 8;
  for (const auto& s : sentences) least = std::max(least, static_cast<uint32_t>(s->prompt.size()) + 1);
  uint32_t& positions = wanted.shape.target_positions;
  for (;; positions = length_bucket(positions / 2), look_for_engine()) {
    auto found = taking->poll();
    if (found) {
      engine = std::move(found).value();
      return engine != nullptr;
    }
    const bool alone = wanted.shape.running == 1;
    if (!alone || found.error().code != ErrorCode::unsupported || positions / 2 < least)
      return std::move(found).failure();
  }
}

// A search that only prepares others runs one sentence for two ids, which uses all of it.
void Search::Impl::keep_one_sentence() {
  sentences.resize(1);
  reported.resize(1);
  left = 1;
  Sentence& s = *sentences.front();
  const auto given = static_cast<uint32_t>(s.prompt.size());
  s.options.max_length = std::min(s.options.max_length, given + 2);
  s.options.min_length = std::min(s.options.min_length, s.options.max_length);
  s.options.min_new_length = std::min(s.options.min_new_length, s.options.max_length);
  s.words = encode_options(s.options, given, s.source, 0);
}

Status Search::Impl::check_capture() const {
  if (!wanted.capture || sentences.size() <= wanted.shape.running) return {};
  return fail(ErrorCode::invalid_argument, "scores are captured of at most %u sources with %u beams in one job",
              wanted.shape.running, options.beams);
}

Status Search::Impl::prepare() {
  wanted = key();
  LAPILLI_CHECK(check_capture());
  look_for_engine();
  if (reserved_ids) return {};  // preparation is finished later
  // Known limits fail here.
  auto begun = begin();
  return begun ? Status() : std::move(begun).error();
}

// False: the kernels of its plans are still on trial.
Result<bool> Search::Impl::begin() {
  LAPILLI_TRY(const bool found, find_engine());
  if (!found) return false;
  taking.reset();
  if (reserved_ids) keep_one_sentence();
  before = engine->counts();
  if (request().on_tokens) {
    const uint32_t copies = options.copies();
    stream.emplace(
        [tell = request().on_tokens, copies](size_t number, std::span<const int32_t> ids) {
          return number % copies == 0 ? tell(number / copies, ids) : Status();  // only a source's first sequence
        },
        sentences.size());
    settled.resize(sentences.size());
  }
  if (wanted.capture)
    engine->on_captured_step = [this](std::span<const uint32_t> log, const Workspace& w) { return capture(log, w); };
  started = encoded = Clock::now();
  engine->add(sentences);
  return true;
}

Result<std::unique_ptr<Search>> Search::start(std::shared_ptr<Model> model, GenerateRequest request) {
  LAPILLI_TRY(auto checked, CheckedRequest::check(*model, std::move(request)));
  return start(std::move(model), std::move(checked));
}

Result<std::unique_ptr<Search>> Search::start(std::shared_ptr<Model> model, CheckedRequest request) {
  std::unique_ptr<Search> search(new Search());
  search->impl_ = std::make_unique<Impl>();
  Impl& j = *search->impl_;
  j.model = std::move(model);
  j.checked = std::move(request);
  LAPILLI_CHECK(j.make_sentences());
  LAPILLI_CHECK(j.prepare());
  return search;
}

Result<std::unique_ptr<Search>> Search::prepare(std::shared_ptr<Model> model, CheckedRequest request,
                                                uint32_t target_tokens) {
  std::unique_ptr<Search> search(new Search());
  search->impl_ = std::make_unique<Impl>();
  Impl& j = *search->impl_;
  j.model = std::move(model);
  j.checked = std::move(request);
  j.reserved_ids = target_tokens;
  LAPILLI_CHECK(j.make_sentences());
  LAPILLI_CHECK(j.prepare());
  return search;
}

void Search::Impl::finish(Status s) {
  status = std::move(s);
  ended = true;
  if (!engine) return;  // the search had not begun
  engine->cancel(sentences);
  if (!status && output.hypotheses.empty()) (void)collect();
  if (request().capture_scores) engine->on_captured_step = {};
  count();
  engine.reset();
}

bool Search::Impl::step_once(double budget_us) {
  if (ended) return true;
  if (cancelled) {
    finish(fail(ErrorCode::cancelled, "cancelled"));
    return true;
  }
  if (model->device()->is_paused()) return false;
  if (!engine) {
    auto begun = begin();
    if (!begun) {
      finish(std::move(begun).error());
      return ended;
    }
    if (!*begun) return ended;
  }
  auto pumped = engine->pump(budget_us);
  if (pumped) pumped = look();
  if (!pumped)
    finish(std::move(pumped));
  else if (left == 0)
    finish(collect());
  return ended;
}

// Follows the search's sentences; calls the caller's function without the engine's lock.
Status Search::Impl::look() {
  for (size_t i = 0; i < sentences.size(); ++i)
    if (!reported[i]) LAPILLI_CHECK(look_at(i));
  return {};
}

Status Search::Impl::look_at(size_t number) {
  Sentence& s = *sentences[number];
  std::vector<int32_t> fresh;
  const bool over = engine->locked([&] {
    if (encoded == started && s.begun) encoded = Clock::now();
    if (stream) fresh = settled[number].take(s.log);
    return s.ended;
  });
  if (!fresh.empty()) LAPILLI_CHECK(stream->push(number, fresh));
  if (!over) return {};
  reported[number] = true;
  --left;
  return {};
}

// The sentences have ended: nothing else accesses them any more.
Status Search::Impl::collect() {
  Status first;
  bool alone = true;
  const uint32_t copies = options.copies();
  for (uint32_t i = 0; i < sentences.size(); ++i) {
    Sentence& s = *sentences[i];
    if (i % copies == 0) {
      output.hypotheses.emplace_back();
      output.errors.emplace_back();
      if (!request().logits_at.empty()) output.logits.push_back(wanted_logits(i / copies, std::move(s.logits)));
      if (request().keep_encoded) output.encoded.push_back(s.status ? s.keep : nullptr);
    }
    if (!s.status) {
      const ErrorCode code = s.status.error().code;
      if (first) first = s.status;
      alone = alone &&
              (code == ErrorCode::invalid_data || code == ErrorCode::out_of_memory || code == ErrorCode::unsupported);
      output.errors.back() = s.status;
      output.hypotheses.back().clear();
      continue;
    }
    LAPILLI_TRY(auto h, trace_back(s, i, copies > 1 ? 1 : options.return_sequences));
    if (stream) LAPILLI_CHECK(stream->complete(i, std::span(h.front().ids).subspan(s.prompt.size())));
    if (output.errors.back()) std::move(h.begin(), h.end(), std::back_inserter(output.hypotheses.back()));
  }
  output.captured = std::move(captured);
  // A source's own failure leaves the others their results.
  const bool any = std::any_of(output.errors.begin(), output.errors.end(), [](const Status& e) { return e.ok(); });
  return any && alone ? Status() : first;
}

void Search::Impl::count() {
  const SearchEngine::Counts now = engine->counts();
  output.stats.encode_ms = milliseconds(encoded - started);
  output.stats.decode_ms = ms_since(encoded);
  output.stats.steps = static_cast<uint32_t>(now.ticks - before.ticks);
  output.stats.submissions = static_cast<uint32_t>(now.submissions - before.submissions);
  output.stats.narrow_submissions = static_cast<uint32_t>(now.narrow_submissions - before.narrow_submissions);
  output.stats.queued_rows = now.queued_rows - before.queued_rows;
  output.stats.queued_room = now.queued_room - before.queued_room;
  output.stats.prompt_rows = now.prompt_rows - before.prompt_rows;
  output.stats.saved_prompt_rows = now.saved_prompt_rows - before.saved_prompt_rows;
  output.stats.longest_gap = now.longest_gap;
  output.stats.session_bytes = engine->session_bytes();
  output.stats.tuned_nodes = static_cast<uint32_t>(engine->tuned_nodes());
}

// Called by the engine, under its lock, with nothing in flight.
Status Search::Impl::capture(std::span<const uint32_t> log, const Workspace& w) {
  const Plan& plan = *w.plans.step;
  CapturedStep c;
  c.rows = log[state::LOG_RAN];
  c.vocabulary = model->on_device().config().target_vocabulary;
  for (auto [tensor, values] : {std::pair{w.plans.logits, &c.logits}, std::pair{w.plans.scores, &c.scores}}) {
    const auto& t = plan.graph.tensor(tensor);
    std::vector<float> padded(uint64_t{c.rows} * t.ld);
    LAPILLI_CHECK(w.session->read(w.session->arena(), plan.placement.offset[plan.graph.root(tensor)],
                                  std::as_writable_bytes(std::span(padded))));
    values->resize(uint64_t{c.rows} * c.vocabulary);
    for (uint64_t r = 0; r < c.rows; ++r)
      std::copy_n(padded.begin() + static_cast<ptrdiff_t>(r * t.ld), c.vocabulary,
                  values->begin() + static_cast<ptrdiff_t>(r * c.vocabulary));
  }
  for (uint32_t r = 0; r < c.rows; ++r) {
    const uint32_t* entry = log.data() + state::log_entry_at(r);
    const auto is_it = [&](const auto& s) { return s->mark == entry[state::LOG_OCCUPANT]; };
    const auto s = std::find_if(sentences.begin(), sentences.end(), is_it);
    if (s == sentences.end()) return fail(ErrorCode::internal, "a captured row belongs to nobody");
    const uint32_t step = (*s)->log.step_at(state::position_of(entry[state::LOG_ROW]));
    LAPILLI_TRY(auto ids, beam_history(**s, step, state::beam_slot_of(entry[state::LOG_ROW]) % options.beams));
    c.histories.push_back(std::move(ids));
  }
  captured.push_back(std::move(c));
  return {};
}

// Waits for the device, or for the end of a pause; bounded, so that callers can decide whether to continue.
Status Search::Impl::wait() {
  if (model->device()->is_paused() && !cancelled) {
    (void)model->device()->wait_while_paused(vulkan::kPauseRound);
    return {};
  }
  return engine ? engine->wait() : taking->wait();
}

bool Search::pump(double budget_us) { return impl_->step_once(budget_us); }

void Search::wait() {
  if (impl_->ended) return;
  if (auto s = impl_->wait(); !s) impl_->finish(std::move(s));
}

Status Search::run_to_end(const std::function<bool()>& go_on) {
  while (!pump()) {
    if (go_on && !go_on()) cancel();
    wait();
  }
  return impl_->status;
}

const Status& Search::status() const { return impl_->status; }

void Search::cancel() { impl_->cancelled = true; }

uint32_t Search::steps_done() const {
  if (!impl_->engine) return impl_->output.stats.steps;
  return static_cast<uint32_t>(impl_->engine->counts().ticks - impl_->before.ticks);
}

size_t Search::sources_done() const { return (impl_->sentences.size() - impl_->left) / impl_->options.copies(); }

GenerateOutput Search::take_finished() {
  impl_->taken = true;
  return std::move(impl_->output);
}

Result<GenerateOutput> Search::take() {
  if (!impl_->ended) return fail(ErrorCode::invalid_argument, "the job has not ended");
  if (!impl_->status) return impl_->status.error();
  if (impl_->taken) return fail(ErrorCode::invalid_argument, "the result was taken already");
  impl_->taken = true;
  return std::move(impl_->output);
}

// Results of work still on the device are dropped.
Search::~Search() {
  if (!impl_ || !impl_->engine) return;
  try {
    impl_->engine->cancel(impl_->sentences);
    if (impl_->request().capture_scores) impl_->engine->on_captured_step = {};
  } catch (...) {  // no memory: the engine keeps them until they end
  }
}

}  // namespace lapilli
