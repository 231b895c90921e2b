#include <algorithm>
#include <bit>
#include <cstring>

#include "base/clock.hpp"
#include "generate/globals.hpp"
#include "generate/model_impl.hpp"
#include "generate/token_stream.hpp"
#include "generate/trace_back.hpp"
#include "runtime/runner.hpp"

namespace lapilli {

namespace {

// Few distinct shapes keep plans few: 1, 2, 4, 8...; lengths in steps that grow with the length.
uint32_t sentence_bucket(size_t n) { return static_cast<uint32_t>(std::bit_ceil(n)); }
uint32_t length_bucket(uint64_t n) {
  const uint64_t step = n <= 32 ? 8 : n <= 128 ? 32 : n <= 512 ? 128 : 512;
  return static_cast<uint32_t>(round_up(n, step));
}

// More steps in one submission win nothing and make every cancellation wait.
constexpr uint32_t kMaxStepsInFlight = 64;

// Of no other attempt in memory that this one may get; not 0, as fresh memory is.
uint32_t next_log_mark() {
  static std::atomic<uint32_t> last{0};
  const uint32_t mark = ++last;
  return mark ? mark : ++last;
}

// Positions that a translation of this many source ids hardly ever exceeds. A search that does is run again with room
// for max_length, so that caches are sized by what is usual.
// By the source's bucket, so that one source bucket has one target bucket.
uint32_t likely_positions(uint64_t source, uint32_t prefix) { return 2 * length_bucket(source) + 32 + prefix; }

}  // namespace

struct Job::Impl {
  std::shared_ptr<Model> model;
  GenerateRequest request;
  SearchOptions options;
  std::vector<std::vector<int32_t>> prefix;
  std::unique_ptr<Workspace> workspace;
  std::unique_ptr<StepRunner> runner;
  std::vector<uint32_t> log;  // every harvested step
  std::optional<OnceStream> stream;
  std::optional<SettledIds> settled;
  Status stream_status;
  std::optional<vulkan::Ticket> fetch;  // of the copy of the search state for the host
  std::atomic<bool> cancelled{false};
  bool ended = false, search_done = false, taken = false;
  uint32_t position_limit = 0;  // ids this attempt has room for
  uint32_t log_mark = 0;        // of this attempt
  Status status;
  GenerateOutput output;
  Clock::time_point started, encoded;
  std::vector<CapturedStep> captured;
  std::vector<uint32_t> captured_slots;  // row_slot before the step that is captured next

  Status check();
  void copy_sources();
  Status begin(uint32_t positions);
  Status write_inputs();
  void start_runner();
  void finish(Status s);
  Result<bool> fetched();
  Status collect();
  Status trace(std::span<const uint32_t> search);
  Status give_tokens();
  Status capture_step();
  Status capture_status;
  bool step_once();
};

Status Job::Impl::check() {
  const model::Config& c = model->impl()->network.config;
  if (request.sources.empty()) return fail(ErrorCode::invalid_argument, "no sources");
  if (!request.sequences.empty() && request.sequences.size() != request.sources.size())
    return fail(ErrorCode::invalid_argument, "sequence numbers for %zu of %zu sources", request.sequences.size(),
                request.sources.size());
  if (request.steps_in_flight > kMaxStepsInFlight)
    return fail(ErrorCode::invalid_argument, "steps_in_flight: %u is more than %u", request.steps_in_flight,
                kMaxStepsInFlight);
  if (request.sources.size() > kMaxRows)
    return fail(ErrorCode::invalid_argument, "%zu sources in one job; at most %u fit", request.sources.size(),
                kMaxRows);
  for (size_t i = 0; i < request.sources.size(); ++i) {
    const auto& ids = request.sources[i];
    if (ids.empty()) return fail(ErrorCode::invalid_argument, "source %zu has no ids", i);
    if (c.encoder.max_positions && ids.size() > c.encoder.max_positions)
      return fail(ErrorCode::invalid_argument, "source %zu has %zu ids, the model has positions for %u; split the text",
                  i, ids.size(), c.encoder.max_positions);
    for (const int32_t id : ids)
      if (id < 0 || static_cast<uint32_t>(id) >= c.source_vocabulary)
        return fail(ErrorCode::invalid_argument, "source %zu: id %d is outside the vocabulary of %u", i, id,
                    c.source_vocabulary);
  }
  return check_globals(c, request.sources, request.global_positions);
}

namespace {

// The decoder start goes in front if every row starts with something else.
Result<std::vector<std::vector<int32_t>>> complete_prefix(const GenerateRequest& request, int32_t start,
                                                          uint32_t vocabulary) {
  auto prefix = request.decoder_ids;
  if (prefix.empty()) prefix.assign(request.sources.size(), {start});
  if (prefix.size() != request.sources.size())
    return fail(ErrorCode::invalid_argument, "decoder ids for %zu of %zu sources", prefix.size(),
                request.sources.size());
  bool none_starts = true;
  for (const auto& row : prefix) {
    if (row.empty() || row.size() != prefix.front().size())
      return fail(ErrorCode::invalid_argument, "decoder ids must be of one length for all sources, and not empty");
    for (const int32_t id : row)
      if (id < 0 || static_cast<uint32_t>(id) >= vocabulary)
        return fail(ErrorCode::invalid_argument, "decoder id %d is outside the vocabulary of %u", id, vocabulary);
    none_starts = none_starts && row.front() != start;
  }
  if (none_starts)
    for (auto& row : prefix) row.insert(row.begin(), start);
  return prefix;
}

}  // namespace

Result<std::unique_ptr<Job>> Job::start(std::shared_ptr<Model> model, GenerateRequest request) {
  std::unique_ptr<Job> job(new Job());
  job->impl_ = std::make_unique<Impl>();
  Impl& j = *job->impl_;
  j.model = std::move(model);
  j.request = std::move(request);
  LAPILLI_CHECK(j.check());
  const Model::Impl& m = *j.model->impl();
  // The start id is needed for the prefix, the prefix's length for the other options.
  LAPILLI_TRY(const auto start, resolve_options(m.generation, j.request.options, 1, m.network.config));
  LAPILLI_TRY(j.prefix, complete_prefix(j.request, start.decoder_start, m.network.config.target_vocabulary));
  const auto given = static_cast<uint32_t>(j.prefix.front().size());
  LAPILLI_TRY(j.options, resolve_options(m.generation, j.request.options, given, m.network.config));
  j.copy_sources();
  if (j.request.sources.size() * j.options.beams > kMaxRows)
    return fail(ErrorCode::invalid_argument, "%zu sources with %u beams: at most %u rows fit in one job",
                j.request.sources.size(), j.options.beams, kMaxRows);
  uint64_t longest = 0;
  for (const auto& s : j.request.sources) longest = std::max<uint64_t>(longest, s.size());
  LAPILLI_CHECK(j.begin(std::min(j.options.max_length, likely_positions(longest, given))));
  return job;
}

// Where every returned sequence is drawn for itself, each is a sentence; their draws go by numbers of their own.
void Job::Impl::copy_sources() {
  const uint32_t copies = options.copies();
  if (copies == 1) return;
  const size_t n = request.sources.size();
  std::vector<std::vector<int32_t>> sources, prefixes;
  std::vector<uint32_t> sequences;
  for (size_t i = 0; i < n * copies; ++i) {
    sources.push_back(request.sources[i / copies]);
    prefixes.push_back(prefix[i / copies]);
    const auto number = static_cast<uint32_t>(request.sequences.empty() ? i / copies : request.sequences[i / copies]);
    sequences.push_back(number * copies + static_cast<uint32_t>(i % copies));
  }
  if (request.on_tokens)  // of a source's sequences the first one is told
    request.on_tokens = [tell = request.on_tokens, copies](size_t source, std::span<const int32_t> ids) {
      return source % copies == 0 ? tell(source / copies, ids) : Status();
    };
  request.sources = std::move(sources);
  request.sequences = std::move(sequences);
  prefix = std::move(prefixes);
}

Status Job::Impl::begin(uint32_t positions) {
  Model::Impl& m = *model->impl();
  uint64_t longest = 0;
  for (const auto& s : request.sources) longest = std::max<uint64_t>(longest, s.size());
  SearchWords words = encode_options(options, m.network.config, prefix, request.sources, request.sequences);
  log_mark = words.params[ParamWords::log_mark] = next_log_mark();
  WorkspaceKey key;
  key.candidates = options.candidates();
  key.sample = options.sample;
  key.renormalize = options.renormalize;
  key.capture = request.capture_scores;
  const bool cpu = m.device->caps().type == DeviceType::cpu;
  key.steps_per_submit = request.capture_scores ? 1 : request.steps_in_flight ? request.steps_in_flight : (cpu ? 4 : 8);
  key.shape.beams = options.beams;
  key.shape.sentences = sentence_bucket(request.sources.size());
  if (key.shape.slots() > kMaxRows) key.shape.sentences = static_cast<uint32_t>(request.sources.size());
  key.shape.source_positions = length_bucket(longest);
  // Room for whole submissions: steps behind the last one that counts may still write.
  position_limit = positions;
  key.shape.target_positions = length_bucket(round_up<uint64_t>(positions, key.steps_per_submit) + 1);
  key.shape.list_words = static_cast<uint32_t>(std::bit_ceil(std::max<size_t>(words.lists.size(), 256)));
  LAPILLI_TRY(workspace, m.take_workspace(key));
  const Session& s = *workspace->session;
  LAPILLI_CHECK(s.write(StateKind::params, words.params));
  LAPILLI_CHECK(s.write(StateKind::lists, words.lists));
  LAPILLI_CHECK(write_inputs());
  start_runner();
  return {};
}

Status Job::Impl::write_inputs() {
  const auto& shape = workspace->key.shape;
  std::vector<uint32_t> ids(uint64_t{shape.sentences} * shape.source_positions, static_cast<uint32_t>(0));
  std::vector<uint32_t> lengths(2 * uint64_t{kMaxRows}, 0);
  for (size_t i = 0; i < request.sources.size(); ++i) {
    const auto& source = request.sources[i];
    std::transform(source.begin(), source.end(), ids.begin() + static_cast<ptrdiff_t>(i * shape.source_positions),
                   [](int32_t id) { return static_cast<uint32_t>(id); });
    lengths[2 * i + 1] = static_cast<uint32_t>(source.size());
  }
  LAPILLI_CHECK(workspace->session->write(StateKind::source_ids, ids));
  LAPILLI_CHECK(write_globals(*workspace->session, model->impl()->network.config, request.global_positions,
                              shape.sentences, shape.source_positions));
  return workspace->session->write(StateKind::lengths, lengths);
}

void Job::Impl::start_runner() {
  RunnerOptions o;
  o.steps_per_submit = workspace->key.steps_per_submit;
  o.submits_in_flight = request.capture_scores ? 1 : 2;
  o.log_stride = LogLayout::stride(workspace->key.shape.slots());
  o.log_mark = log_mark;
  o.max_steps = position_limit - 1;
  o.work_limit = static_cast<double>(model->impl()->device->caps().work_limit);
  log.clear();
  search_done = false;
  fetch.reset();
  if (request.on_tokens) {
    if (!stream) stream.emplace(request.on_tokens, request.sources.size());
    for (size_t i = 0; i < request.sources.size(); ++i) stream->restart(i);
    settled.emplace(SettledIds::Setup{workspace->key.shape, static_cast<uint32_t>(request.sources.size()),
                                      static_cast<uint32_t>(prefix.front().size()), options.max_length,
                                      options.end_ids});
  }
  runner = std::make_unique<StepRunner>(*workspace->session, *workspace->step, o);
  std::vector<NarrowStep> narrow;
  for (const auto& [step, rows] : workspace->narrow_steps) narrow.push_back({step.get(), rows});
  runner->narrow(std::move(narrow));
  runner->prologue({workspace->encode.get(), workspace->init.get()});
  started = encoded = Clock::now();
  runner->on_prologue = [this] { encoded = Clock::now(); };
  runner->on_step = [this](uint32_t step, std::span<const uint32_t> row) {
    log.insert(log.end(), row.begin(), row.end());
    if (row[1] != 0) search_done = true;
    if (settled) settled->read(step, log);
    // Here nothing is in flight: the next step is submitted after this call.
    if (request.capture_scores && capture_status) capture_status = capture_step();
  };
}

void Job::Impl::finish(Status s) {
  status = std::move(s);
  ended = true;
  // After an error nobody knows what the session holds: it is not used again.
  const bool sound = status || status.error().code == ErrorCode::cancelled;
  if (sound && workspace && !runner->in_flight()) model->impl()->give_back(std::move(workspace));
}

bool Job::Impl::step_once() {
  if (ended) return true;
  if (cancelled) runner->stop();
  auto over = runner->pump();
  if (!over) {
    finish(std::move(over).error());
    return true;
  }
  if (stream_status) stream_status = give_tokens();
  if (!capture_status || !stream_status) {
    runner->stop();
    if (!*over) return false;
    finish(capture_status ? std::move(stream_status) : std::move(capture_status));
    return true;
  }
  if (!*over) return false;
  if (cancelled) {
    finish(fail(ErrorCode::cancelled, "cancelled"));
    return true;
  }
  if (!search_done && position_limit < options.max_length) {
    // Longer than is usual: once more with room for everything.
    model->impl()->give_back(std::move(workspace));
    captured.clear();
    if (auto s = begin(options.max_length); !s) finish(std::move(s));
    return ended;
  }
  auto here = fetched();
  if (!here) {
    finish(std::move(here).error());
    return true;
  }
  if (!*here) return false;
  finish(collect());
  return true;
}

// What was settled by the steps that came back.
Status Job::Impl::give_tokens() {
  if (!settled) return {};
  for (uint32_t i = 0; i < request.sources.size(); ++i) {
    const auto ids = settled->take(i);
    if (!ids.empty()) LAPILLI_CHECK(stream->push(i, ids));
  }
  return {};
}

Status Job::Impl::capture_step() {
  const auto& shape = workspace->key.shape;
  const Plan& plan = *workspace->plans.step;
  const auto step = static_cast<uint32_t>(captured.size());
  // Rows that ran: all before the first step, afterwards what the previous step left.
  const uint64_t stride = LogLayout::stride(shape.slots());
  CapturedStep c;
  c.rows = step == 0 ? static_cast<uint32_t>(request.sources.size()) * shape.beams : log[(step - 1) * stride];
  if (c.rows > shape.slots())
    return fail(ErrorCode::internal, "the step log has %u live rows of %llu", c.rows,
                static_cast<unsigned long long>(shape.slots()));
  c.vocabulary = model->impl()->network.config.target_vocabulary;
  for (auto [tensor, values] :
       {std::pair{workspace->plans.logits, &c.logits}, std::pair{workspace->plans.scores, &c.scores}}) {
    const auto& t = plan.graph.tensor(tensor);
    std::vector<float> padded(uint64_t{c.rows} * t.ld);
    LAPILLI_CHECK(workspace->session->read(workspace->session->arena(), plan.placement.offset[plan.graph.root(tensor)],
                                           std::as_writable_bytes(std::span(padded))));
    values->resize(uint64_t{c.rows} * c.vocabulary);
    for (uint64_t r = 0; r < c.rows; ++r)
      std::copy_n(padded.begin() + static_cast<ptrdiff_t>(r * t.ld), c.vocabulary,
                  values->begin() + static_cast<ptrdiff_t>(r * c.vocabulary));
  }
  const SearchRecord record{shape, static_cast<uint32_t>(prefix.front().size()), step, log, {}, 1};
  for (uint32_t r = 0; r < c.rows; ++r) {
    LAPILLI_TRY(auto ids, slot_history(record, step == 0 ? r : captured_slots[r], prefix));
    c.histories.push_back(std::move(ids));
  }
  captured.push_back(std::move(c));
  captured_slots.resize(kMaxRows);
  return workspace->session->read(workspace->session->state(StateKind::step), uint64_t{StepWords::row_slot} * 4,
                                  std::as_writable_bytes(std::span(captured_slots)));
}

// Asks for the search state where it is not mapped; true once it is here.
Result<bool> Job::Impl::fetched() {
  if (!workspace->fetch) return true;
  if (!fetch) {
    const vulkan::CommandRecording* copy = workspace->fetch.get();
    LAPILLI_TRY(fetch, model->impl()->device->submit(std::span(&copy, 1)));
  }
  return model->impl()->device->done(*fetch);
}

// Nothing of the job is in flight: other jobs of the device are not waited for.
Status Job::Impl::collect() {
  if (!search_done) return fail(ErrorCode::internal, "the search did not end within %u ids", options.max_length);
  std::vector<uint32_t> search(request.sources.size() * SearchLayout::stride(workspace->key.shape.beams));
  const BufferRef state = workspace->session->state(StateKind::search);
  const BufferRef from = workspace->fetch ? BufferRef{&workspace->found, 0, workspace->found.size()} : state;
  if (!from.buffer->mapped() || from.size < search.size() * 4)
    return fail(ErrorCode::internal, "the search state cannot be read");
  LAPILLI_CHECK(from.buffer->invalidate(from.offset, search.size() * 4));
  std::memcpy(search.data(), from.buffer->mapped() + from.offset, search.size() * 4);
  LAPILLI_CHECK(trace(search));
  output.stats.encode_ms = milliseconds(encoded - started);
  output.stats.decode_ms = ms_since(encoded);
  output.stats.steps = runner->steps_done();
  output.stats.submissions = runner->submissions();
  output.stats.narrow_submissions = runner->narrow_submissions();
  output.stats.session_bytes = workspace->session->bytes();
  output.captured = std::move(captured);
  return {};
}

Status Job::Impl::trace(std::span<const uint32_t> search) {
  const SearchRecord record{
      workspace->key.shape,  static_cast<uint32_t>(prefix.front().size()), runner->steps_done(), log, search,
      options.length_penalty};
  const uint32_t copies = options.copies();
  for (uint32_t i = 0; i < request.sources.size(); ++i) {
    LAPILLI_TRY(auto h, trace_back(record, i, prefix[i], copies > 1 ? 1 : options.return_sequences));
    if (h.empty()) return fail(ErrorCode::internal, "source %u has no hypothesis", i);
    if (stream) LAPILLI_CHECK(stream->complete(i, std::span(h.front().ids).subspan(prefix[i].size())));
    if (i % copies == 0) output.hypotheses.emplace_back();
    std::move(h.begin(), h.end(), std::back_inserter(output.hypotheses.back()));
  }
  return {};
}

bool Job::pump() { return impl_->step_once(); }

Status Job::wait(const std::function<bool()>& go_on) {
  while (!impl_->step_once()) {
    if (go_on && !go_on()) cancel();
    const auto& fetch = impl_->fetch;
    if (auto s = fetch ? impl_->model->impl()->device->wait(*fetch) : impl_->runner->wait_oldest(); !s) {
      impl_->finish(std::move(s));
      break;
    }
  }
  return impl_->status;
}

void Job::cancel() { impl_->cancelled = true; }
uint32_t Job::steps_done() const { return impl_->runner ? impl_->runner->steps_done() : 0; }

Result<GenerateOutput> Job::take() {
  if (!impl_->ended) return fail(ErrorCode::invalid_argument, "the job has not ended");
  if (!impl_->status) return impl_->status.error();
  if (impl_->taken) return fail(ErrorCode::invalid_argument, "the result was taken already");
  impl_->taken = true;
  return std::move(impl_->output);
}

Job::~Job() {
  if (!impl_ || !impl_->runner || !impl_->workspace) return;
  // A job that ended with an error gave up waiting already: what the device still works on is kept by the device.
  if (impl_->ended && !impl_->status) return;
  try {
    // So that the session can be used again. What the steps chose interests nobody now.
    impl_->runner->on_step = {};
    impl_->runner->on_prologue = {};
    impl_->runner->stop();
    while (impl_->runner->in_flight()) {
      if (!impl_->runner->wait_oldest() || !impl_->runner->pump()) return;
    }
    impl_->model->impl()->give_back(std::move(impl_->workspace));
  } catch (...) {  // no memory: the session goes
  }
}

}  // namespace lapilli
