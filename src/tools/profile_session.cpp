#include "tools/profile_session.hpp"

#include <algorithm>
#include <bit>

#include "search/encode_pass.hpp"
#include "search/engine_pool.hpp"
#include "search/inbox.hpp"
#include "search/list_room.hpp"

namespace lapilli::tools {

namespace {

constexpr uint32_t kMark = 1;  // of the session; no other shares its memory

}  // namespace

struct MiddleOfSearch::Impl {
 public:
  Impl(const SearchesRequest& request, const BenchModel& loaded, unsigned batch, unsigned beams, unsigned steps)
      : r_(request),
        loaded_(loaded),
        network_(loaded.model->on_device()),
        batch_(batch),
        beams_(beams),
        steps_(r_.target / 2 + steps) {}

  Status prepare() {
    LAPILLI_CHECK(check());
    LAPILLI_CHECK(make_sentences());
    LAPILLI_TRY(w_, loaded_.model->workspaces().make(key()));
    return restart();
  }
  // The admission resets the session to its initial state.
  Status restart() {
    LAPILLI_CHECK(admit());
    if (!w_->encode.empty()) LAPILLI_CHECK(w_->encode.front()->run());
    LAPILLI_CHECK(w_->start->run());
    for (uint32_t i = 0; i < steps_before(); ++i) LAPILLI_CHECK(w_->step->run());
    return {};
  }
  [[nodiscard]] uint32_t steps_before() const { return r_.target / 2; }
  [[nodiscard]] const Workspace& workspace() const { return *w_; }
  [[nodiscard]] const std::vector<Sentence>& sentences() const { return sentences_; }
  [[nodiscard]] MemoryMap memory(ArenaOf arena) const { return w_->session->memory(network_.weight_map(), arena); }

  // Checks in the log that the steps were as expected: as many as were run, and all rows live.
  [[nodiscard]] Status check_steps(uint32_t ran) const {
    const uint32_t tick = steps_before() + ran - 1;
    const uint64_t row = state::log_row_at(tick, w_->key.shape.log_ticks, w_->key.shape.rows());
    std::vector<uint32_t> header(state::LOG_HEADER);
    LAPILLI_CHECK(
        w_->session->read(w_->session->state(StateKind::log), row * 4, std::as_writable_bytes(std::span(header))));
    if (header[state::LOG_TICK] != tick || header[state::LOG_RAN] != w_->key.shape.rows())
      return fail(ErrorCode::internal, "the log has step %u with %u rows; step %u with %u were to be timed",
                  header[state::LOG_TICK], header[state::LOG_RAN], tick, w_->key.shape.rows());
    return {};
  }

 private:
  Status check() const {
    const model::Config& c = network_.config();
    if (beams_ == 0 || beams_ > state::MAX_BEAMS || batch_ * beams_ > state::MAX_ROWS)
      return fail(ErrorCode::invalid_argument,
                  "batch %u with %u beams is out of range; together at most %u rows, and at most %u beams", batch_,
                  beams_, state::MAX_ROWS, state::MAX_BEAMS);
    if (!c.kind().writes)
      return fail(ErrorCode::unsupported,
                  "%s models are an encoder alone, which is measured as a whole: without --per-op", c.family);
    if (c.kind().reads == model::Reads::ids && c.encoder.max_positions && r_.source > c.encoder.max_positions)
      return fail(ErrorCode::invalid_argument, "source: %u ids; the model has positions for %u", r_.source,
                  c.encoder.max_positions);
    return {};
  }

  // No sentence ends while it is timed: ending is forbidden for more steps than are run.
  Status make_sentences() {
    const auto wanted = exact_steps(beams_, std::max(r_.target, steps_ + 1));
    LAPILLI_TRY(const auto resolved, resolve_options(loaded_.model->generation_config(), wanted, network_.config()));
    LAPILLI_TRY(const auto options, resolved.for_prompt(1));
    const auto sources = random_sources(r_, *loaded_.model, batch_);
    const auto features = random_features(r_, *loaded_.model, batch_);
    for (uint32_t i = 0; i < batch_; ++i) {
      Sentence s;
      s.prompt = {options.decoder_start};
      if (!features.empty())
        LAPILLI_CHECK(take_features(s, features[i]));
      else if (network_.config().kind().encodes)
        s.source = sources[i];
      else
        s.prompt = {sources[i].front()};
      s.options = options;
      s.words = encode_options(options, 1, s.source, i);
      s.mark = i + 1;
      sentences_.push_back(std::move(s));
    }
    return {};
  }

  Status take_features(Sentence& s, std::shared_ptr<const model::Features> features) const {
    s.features = std::move(features);
    LAPILLI_TRY(s.feature_positions, model::check_features(network_.config(), *s.features, "the source"));
    s.feature_length = model::counted_rows(network_.config().features, rows_of(*s.features));
    return {};
  }

  [[nodiscard]] WorkspaceKey key() const {
    const SearchOptions& options = sentences_.front().options;
    WorkspaceKey key =
        plain_key(batch_, beams_, sentences_.front().source_positions(), length_bucket(options.max_length));
    key.candidates = options.candidates();
    key.sample = options.sample;
    key.renormalize = options.renormalize;
    uint64_t lists = 0;
    for (const Sentence& s : sentences_) lists += s.words.lists.size();
    key.shape.list_words = static_cast<uint32_t>(std::bit_ceil(std::max<uint64_t>(lists, key.shape.list_words)));
    complete_key(key, 0);
    return key;
  }

  Status admit() {
    UploadArea& area = *w_->admissions.front();
    LAPILLI_CHECK(put_inbox(area));
    if (!w_->encode.empty()) put_sources(area);
    LAPILLI_CHECK(w_->first->flush());
    LAPILLI_CHECK(area.flush());
    const vulkan::CommandRecording* list[] = {&w_->first->copy(), &area.copy()};
    LAPILLI_TRY(const auto ticket, loaded_.device->submit(list));
    LAPILLI_CHECK(loaded_.device->wait(ticket));
    return w_->admit->run();
  }

  Status put_inbox(UploadArea& area) const {
    InboxWriter inbox(area.words(StateKind::inbox), w_->key.shape.running);
    ListRoom lists(w_->key.shape.list_words);
    for (uint32_t i = 0; i < batch_; ++i) {
      const auto block = lists.hold(sentences_[i].words.lists);
      if (!block) return fail(ErrorCode::internal, "there is no room for the lists of sentence %u", i);
      inbox.enter(sentences_[i], i, block->offset, block->fresh);
    }
    inbox.finish(kMark, {});
    return {};
  }

  void put_sources(UploadArea& area) const {
    std::vector<PassSource> sources;
    for (uint32_t i = 0; i < batch_; ++i)
      sources.push_back({sentences_[i].source, i, {}, sentences_[i].features.get()});
    put_pass(area, *w_->plans.encode.front(), sources, network_.config(), w_->key.shape.source_positions);
  }

  const SearchesRequest& r_;
  const BenchModel& loaded_;
  const NetworkOnDevice& network_;
  uint32_t batch_, beams_, steps_;
  std::vector<Sentence> sentences_;
  std::unique_ptr<Workspace> w_;
};

MiddleOfSearch::MiddleOfSearch() = default;
MiddleOfSearch::~MiddleOfSearch() = default;
Status MiddleOfSearch::restart() { return impl_->restart(); }
const Workspace& MiddleOfSearch::workspace() const { return impl_->workspace(); }
MemoryMap MiddleOfSearch::memory(ArenaOf arena) const { return impl_->memory(arena); }
unsigned MiddleOfSearch::source_rows() const { return impl_->sentences().front().source_positions(); }
unsigned MiddleOfSearch::steps_before() const { return impl_->steps_before(); }
Status MiddleOfSearch::check_steps(unsigned ran) const { return impl_->check_steps(ran); }

Result<std::unique_ptr<MiddleOfSearch>> MiddleOfSearch::make(const SearchesRequest& request, const BenchModel& loaded,
                                                             unsigned batch, unsigned beams, unsigned steps) {
  std::unique_ptr<MiddleOfSearch> search(new MiddleOfSearch());
  search->impl_ = std::make_unique<Impl>(request, loaded, batch, beams, steps);
  LAPILLI_CHECK(search->impl_->prepare());
  return search;
}

Result<SearchProfile> profile_search(const BenchRequest& request, const BenchModel& loaded, unsigned batch,
                                     unsigned beams) {
  const unsigned steps = request.runs + 1;  // the first run warms up
  LAPILLI_TRY(const auto search, MiddleOfSearch::make(request, loaded, batch, beams, steps));
  const Workspace& w = search->workspace();
  const auto profiled = [&](const std::shared_ptr<const Plan>& plan, ArenaOf arena) -> Result<ProfiledPlan> {
    LAPILLI_TRY(auto times, profile(loaded.device, *plan, search->memory(arena), {.runs = request.runs}));
    return ProfiledPlan{plan, std::move(times)};
  };
  SearchProfile p;
  p.batch = batch;
  p.beams = beams;
  LAPILLI_TRY(p.step, profiled(w.plans.step, ArenaOf::steps));
  LAPILLI_CHECK(search->check_steps(steps));
  if (!w.plans.encode.empty()) {
    LAPILLI_TRY(p.encode, profiled(w.plans.encode.front(), ArenaOf::admission));
    p.encode_rows = w.key.encode_rows;
  }
  p.source_rows = search->source_rows();
  p.step_rows = w.key.shape.rows();
  p.first_position = search->steps_before() + 1;
  p.positions = w.key.shape.target_positions;
  return p;
}

}  // namespace lapilli::tools
