#include "search/search_options.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lapilli {

namespace {

constexpr uint32_t kDefaultTopK = 50;         // the reference's default whenever it samples
constexpr uint64_t kMaxLength = 1u << 20;     // limit if the model has none of its own
constexpr uint64_t kMaxListWords = 1u << 20;  // ids of bad words, biases and suppressed tokens together
// Bad words and biases together: every invocation loops over them, and CPU drivers end loops after 65,535 iterations.
constexpr uint64_t kMaxEntries = 1u << 14;
constexpr double kMinTemperature = 1e-6;  // division by less would take allowed scores out of range
constexpr uint32_t kMaxCopies = 256;      // sequences drawn for one source

Failure bad(const char* what) { return Error{ErrorCode::invalid_argument, what}; }

Status check_ids(const std::vector<int32_t>& ids, uint32_t vocabulary, const char* option) {
  for (const int32_t id : ids)
    if (id < 0 || static_cast<uint32_t>(id) >= vocabulary)
      return fail(ErrorCode::invalid_argument, "%s: id %d is outside the vocabulary of %u", option, id, vocabulary);
  return {};
}

// Converts to the shaders' type; refuses values outside its range.
Status read_float(std::optional<double> from, double otherwise, const char* option, float& to) {
  const double value = from.value_or(otherwise);
  if (!(std::abs(value) <= 1e30))  // also catches NaN
    return fail(ErrorCode::invalid_argument, "%s: %g is not a number between -1e30 and 1e30", option, value);
  to = static_cast<float>(value);
  return {};
}

enum class NumberRange : uint8_t { any, positive, share, positive_share, temperature };

Status read_number(std::optional<double> from, double otherwise, NumberRange range, const char* option, float& to) {
  LAPILLI_CHECK(read_float(from, otherwise, option, to));
  const auto value = static_cast<double>(to);
  const bool is_share = range == NumberRange::share || range == NumberRange::positive_share;
  if (is_share && !(value >= 0 && value <= 1))
    return fail(ErrorCode::invalid_argument, "%s: %g is not between 0 and 1", option, value);
  if ((range == NumberRange::positive || range == NumberRange::positive_share) && !(value > 0))
    return fail(ErrorCode::invalid_argument, "%s: must be greater than 0", option);
  if (range == NumberRange::temperature && value < 0.999 * kMinTemperature)
    return fail(ErrorCode::invalid_argument, "%s: %g is not above %g; for the most likely ids set do_sample to false",
                option, value, kMinTemperature);
  return {};
}

Status refuse_unsupported(const GenerationConfig& c) {
  if (!c.modes.empty())
    return fail(ErrorCode::unsupported,
                "%s: not supported; there are greedy search, beam search (num_beams) and sampling (do_sample), with or "
                "without beams. Leave it out%s",
                c.modes.front(), c.source.empty() ? "" : ", or set it to null over the model's own");
  return {};
}

class Resolver {
 public:
  Resolver(const GenerationConfig& c, const model::Config& config) : c_(c), m_(config) {}

  Result<SearchOptions> run() {
    LAPILLI_CHECK(refuse_unsupported(c_));
    LAPILLI_CHECK(ids());
    LAPILLI_CHECK(beams());
    LAPILLI_CHECK(numbers());
    LAPILLI_CHECK(processors());
    LAPILLI_CHECK(timestamps());
    if (o_.sample) LAPILLI_CHECK(sampling());
    return o_;
  }

 private:
  Status ids() {
    o_.end_ids = c_.eos_token_id.value_or(std::vector<int32_t>{});
    if (o_.end_ids.size() > state::MAX_END_TOKENS)
      return fail(ErrorCode::unsupported, "eos_token_id: %u end tokens; at most %u are supported", o_.end_ids.size(),
                  state::MAX_END_TOKENS);
    LAPILLI_CHECK(check_ids(o_.end_ids, m_.target_vocabulary, "eos_token_id"));
    const auto start = c_.decoder_start_token_id ? c_.decoder_start_token_id : c_.bos_token_id;
    // A decoder alone begins with its prompt.
    if (!start && m_.kind().encodes) return bad("decoder_start_token_id: neither the model nor the options give one");
    o_.decoder_start = start.value_or(kNoStart);
    if (start) LAPILLI_CHECK(check_ids({*start}, m_.target_vocabulary, "decoder_start_token_id"));
    o_.pad = c_.pad_token_id.value_or(o_.end_ids.empty() ? 0 : o_.end_ids.front());
    if (o_.pad < 0) o_.pad = o_.end_ids.empty() ? 0 : o_.end_ids.front();
    LAPILLI_CHECK(check_ids({o_.pad}, std::max(m_.source_vocabulary, m_.target_vocabulary), "pad_token_id"));
    o_.forced_eos = c_.forced_eos_token_id.value_or(std::vector<int32_t>{});
    if (o_.forced_eos.size() > state::MAX_END_TOKENS)
      return fail(ErrorCode::unsupported, "forced_eos_token_id: at most %u ids are supported", state::MAX_END_TOKENS);
    LAPILLI_CHECK(check_ids(o_.forced_eos, m_.target_vocabulary, "forced_eos_token_id"));
    o_.forced_bos = c_.forced_bos_token_id;
    if (o_.forced_bos && *o_.forced_bos < 0) o_.forced_bos.reset();  // a caller's "none" over the model's
    if (o_.forced_bos) LAPILLI_CHECK(check_ids({*o_.forced_bos}, m_.target_vocabulary, "forced_bos_token_id"));
    return {};
  }

  Status beams() {
    o_.beams = c_.num_beams.value_or(1);
    if (o_.beams < 1 || o_.beams > state::MAX_BEAMS)
      return fail(ErrorCode::invalid_argument, "num_beams: %u is not between 1 and %u", o_.beams, state::MAX_BEAMS);
    o_.return_sequences = c_.num_return_sequences.value_or(1);
    o_.sample = c_.do_sample.value_or(false);
    if (o_.sample && o_.beams == 1) {
      if (o_.return_sequences < 1 || o_.return_sequences > kMaxCopies)
        return fail(ErrorCode::invalid_argument, "num_return_sequences: %u is not between 1 and %u",
                    o_.return_sequences, kMaxCopies);
    } else if (o_.return_sequences < 1 || o_.return_sequences > o_.beams)
      return fail(ErrorCode::invalid_argument, "num_return_sequences: %u is not between 1 and the number of beams, %u",
                  o_.return_sequences, o_.beams);
    if (o_.needed_candidates() > state::MAX_CANDIDATES)
      return fail(ErrorCode::unsupported,
                  "num_beams: %u beams with %u end tokens need %u candidates a step; at most %u fit", o_.beams,
                  o_.end_ids.size(), o_.needed_candidates(), state::MAX_CANDIDATES);
    if (o_.needed_candidates() > 1 && o_.needed_candidates() > m_.target_vocabulary * o_.beams)
      return bad("num_beams: more candidates than the vocabulary has words");
    o_.early_stopping = c_.early_stopping.value_or(EarlyStopping::no);
    o_.shortlist = c_.shortlist.value_or(true);
    if (!c_.new_tokens_per_source_token) return {};
    return read_number(c_.new_tokens_per_source_token, 0, NumberRange::positive, "new_tokens_per_source_token",
                       o_.new_per_source_id);
  }

  Status numbers() {
#define NUMBER(NAME, FIELD, OTHERWISE, RANGE, WORD) \
  LAPILLI_CHECK(read_number(c_.NAME, OTHERWISE, NumberRange::RANGE, #NAME, o_.FIELD));
#define SAMPLING(NAME, FIELD, OTHERWISE, RANGE, WORD) \
  if (o_.sample) NUMBER(NAME, FIELD, OTHERWISE, RANGE, WORD)
#include "formats/search_options.inc"
    return {};
  }

  Status processors() {
    o_.no_repeat_ngram = c_.no_repeat_ngram_size.value_or(0);
    o_.encoder_no_repeat_ngram = c_.encoder_no_repeat_ngram_size.value_or(0);
    o_.renormalize = c_.renormalize_logits.value_or(false);
    o_.suppress = c_.suppress_tokens.value_or(std::vector<int32_t>{});
    o_.begin_suppress = c_.begin_suppress_tokens.value_or(std::vector<int32_t>{});
    LAPILLI_CHECK(check_ids(o_.suppress, m_.target_vocabulary, "suppress_tokens"));
    LAPILLI_CHECK(check_ids(o_.begin_suppress, m_.target_vocabulary, "begin_suppress_tokens"));
    uint64_t words_in_lists = o_.suppress.size() + o_.begin_suppress.size();
    for (const auto& words : c_.bad_words_ids.value_or(std::vector<std::vector<int32_t>>{})) {
      LAPILLI_CHECK(check_ids(words, m_.target_vocabulary, "bad_words_ids"));
      // As in the reference, an entry that is a single end token is ignored.
      const bool end =
          words.size() == 1 && std::find(o_.end_ids.begin(), o_.end_ids.end(), words[0]) != o_.end_ids.end();
      if (words.empty() || end) continue;
      o_.bad_words.push_back(words);
      words_in_lists += 1 + words.size();
    }
    for (const auto& b : c_.sequence_bias.value_or(std::vector<SequenceBias>{})) {
      LAPILLI_CHECK(check_ids(b.ids, m_.target_vocabulary, "sequence_bias"));
      float bias = 0;
      LAPILLI_CHECK(read_float(b.bias, 0.0, "sequence_bias", bias));
      if (b.ids.empty()) continue;
      o_.sequence_bias.emplace_back(b.ids, bias);
      words_in_lists += 2 + b.ids.size();
    }
    if (const size_t entries = o_.bad_words.size() + o_.sequence_bias.size(); entries > kMaxEntries)
      return fail(ErrorCode::unsupported,
                  "bad_words_ids and sequence_bias have %u entries together; at most %u are supported", entries,
                  kMaxEntries);
    if (words_in_lists > kMaxListWords)
      return fail(ErrorCode::unsupported,
                  "suppress_tokens, bad_words_ids and sequence_bias hold %u ids together; at most %u are supported",
                  words_in_lists, kMaxListWords);
    if (const auto& decay = c_.exponential_decay_length_penalty) {
      float factor = 1;
      LAPILLI_CHECK(read_float(decay->factor, 1.0, "exponential_decay_length_penalty", factor));
      // A factor of 0 or below (powers of 0, alternating signs) is no penalty.
      if (!(factor > 0)) return bad("exponential_decay_length_penalty: the factor must be greater than 0");
      o_.exponential_decay = {decay->start, factor};
    }
    return {};
  }

  Status timestamps() {
    if (!c_.return_timestamps.value_or(false)) return {};
    if (!c_.no_timestamps_token_id)
      return bad("return_timestamps: the model has no timestamps (no_timestamps_token_id is not set)");
    LAPILLI_CHECK(check_ids({*c_.no_timestamps_token_id}, m_.target_vocabulary, "no_timestamps_token_id"));
    o_.timestamps.emplace(static_cast<uint32_t>(*c_.no_timestamps_token_id) + 1, std::nullopt);
    if (const auto latest = c_.max_initial_timestamp_index)
      o_.timestamps->second = o_.timestamps->first + std::min(*latest, m_.target_vocabulary);
    return {};
  }

  // The ranges are the reference's; values that it accepts without effect have none here either.
  Status sampling() {
    o_.seed = c_.seed.value_or(0);
    if (o_.epsilon == 1) o_.epsilon = 0;
    if (o_.eta == 1) o_.eta = 0;
    o_.top_k = c_.top_k.value_or(kDefaultTopK);
    if (o_.top_k != 0) o_.top_k = std::max(o_.top_k, o_.min_keep());
    return {};
  }

  const GenerationConfig& c_;
  const model::Config& m_;
  SearchOptions o_;
};

uint32_t bits(float f) { return std::bit_cast<uint32_t>(f); }

void encode_sampling(const SearchOptions& o, std::vector<uint32_t>& p) {
  if (!o.sample) return;
  p[state::P_SEED] = static_cast<uint32_t>(o.seed);
  p[state::P_SEED + 1] = static_cast<uint32_t>(o.seed >> 32);
  p[state::P_MIN_KEEP] = o.min_keep();
  p[state::P_TOP_K] = o.top_k;
}

void encode_numbers(const SearchOptions& o, std::vector<uint32_t>& p) {
#define NUMBER(NAME, FIELD, OTHERWISE, RANGE, WORD) p[state::WORD] = bits(o.FIELD);
#define SAMPLING(NAME, FIELD, OTHERWISE, RANGE, WORD) \
  if (o.sample) NUMBER(NAME, FIELD, OTHERWISE, RANGE, WORD)
#include "formats/search_options.inc"
  p[state::P_ENCODER_REPETITION_PENALTY] = bits(1.0f / o.encoder_repetition_penalty);  // it favours ids of the source
}

}  // namespace

ResolvedOptions::ResolvedOptions(SearchOptions common, const GenerationConfig& merged, const model::Config& config)
    : common_(std::move(common)),
      max_new_(merged.max_new_tokens),
      max_length_(merged.max_length),
      min_length_(merged.min_length),
      min_new_(merged.min_new_tokens),
      positions_(config.decoder.max_positions) {}

// Ids in total. A number of new ones counts alone; the length and the source's share bound each other.
uint64_t ResolvedOptions::longest(uint32_t given, uint64_t source) const {
  if (max_new_) return uint64_t{given} + *max_new_;
  const bool shared_out = common_.new_per_source_id > 0 && source > 0;
  const double share = std::ceil(double{common_.new_per_source_id} * static_cast<double>(source));
  const uint64_t by_source = given + static_cast<uint64_t>(std::min(share, static_cast<double>(kMaxLength)));
  if (max_length_) return shared_out ? std::min<uint64_t>(*max_length_, by_source) : *max_length_;
  return std::min<uint64_t>(shared_out ? by_source : uint64_t{given} + default_new_, positions_ ? positions_ : ~0u);
}

Result<SearchOptions> ResolvedOptions::for_prompt(uint32_t given, uint64_t source) const {
  SearchOptions o = common_;
  const uint64_t longest = this->longest(given, source);
  if (longest <= given && !max_new_ && !max_length_)
    return fail(ErrorCode::invalid_argument, "a prompt of %u ids leaves none of the model's %u positions; shorten it",
                given, positions_);
  if (longest <= given)
    return fail(ErrorCode::invalid_argument, "max_length: %u leaves nothing to generate after %u prompt ids", longest,
                given);
  if (longest > kMaxLength)
    return fail(ErrorCode::invalid_argument, "max_length: %u ids; at most %u are supported", longest, kMaxLength);
  // The last position fed back is longest - 2.
  if (positions_ && longest > uint64_t{positions_} + 1)
    return fail(ErrorCode::invalid_argument, "max_length: %u ids exceed the model's %u positions", longest, positions_);
  o.max_length = static_cast<uint32_t>(longest);
  o.min_length = min_length_.value_or(0);
  if (min_new_.value_or(0) > 0) o.min_new_length = given + std::min(*min_new_, o.max_length);
  // A start beyond the end never comes; the clamp keeps the sum in range.
  if (o.exponential_decay) o.exponential_decay->first = std::min(o.exponential_decay->first, o.max_length);
  return o;
}

Result<ResolvedOptions> resolve_options(const GenerationConfig& model, const GenerationConfig& request,
                                        const model::Config& config) {
  const GenerationConfig merged = merge(request, model);
  LAPILLI_TRY(auto common, Resolver(merged, config).run());
  return ResolvedOptions(std::move(common), merged, config);
}

namespace {

StopRule stop_rule(EarlyStopping early) {
  switch (early) {
    case EarlyStopping::no: return StopRule::no;
    case EarlyStopping::yes: return StopRule::yes;
    case EarlyStopping::never: return StopRule::never;
    case EarlyStopping::shrinking: return StopRule::shrinking;
  }
  return StopRule::no;
}

class Encoder {
 public:
  Encoder(const SearchOptions& o, uint32_t given) : o_(o), given_(given) { p_.assign(state::PARAM_WORDS, 0); }

  SearchWords run(const std::vector<int32_t>& source, uint32_t sequence) {
    lengths();
    numbers();
    encode_numbers(o_, p_);
    ids(o_.forced_eos, state::P_FORCED_EOS_IDS, state::P_FORCED_EOS_COUNT);
    ids(o_.end_ids, state::P_END_IDS, state::P_END_COUNT);
    list(o_.suppress, state::P_SUPPRESS_OFFSET);
    list(o_.begin_suppress, state::P_BEGIN_SUPPRESS_OFFSET);
    entries();
    if (o_.needs_source_ids()) list(source, state::P_SOURCE_OFFSET);
    encode_sampling(o_, p_);
    p_[state::P_SEQUENCE] = sequence;
    return std::move(words_);
  }

 private:
  void lengths() {
    p_[state::P_MAX_LENGTH] = o_.max_length;
    p_[state::P_PREFIX] = given_;
    p_[state::P_MIN_LENGTH] = o_.min_length;
    p_[state::P_MIN_NEW_LENGTH] = o_.min_new_length;
    // The first generated token, or the second if the first is forced.
    p_[state::P_BEGIN_SUPPRESS_LENGTH] = given_ + (o_.forced_bos && given_ == 1 ? 1 : 0);
    p_[state::P_DECAY_START] = o_.exponential_decay ? o_.exponential_decay->first + given_ : 0;
    p_[state::P_DECAY_FACTOR] = bits(o_.exponential_decay ? o_.exponential_decay->second : 1.0f);
    if (!o_.timestamps) return;
    p_[state::P_TIMESTAMP_BEGIN] = o_.timestamps->first;
    p_[state::P_TIMESTAMP_LATEST] = o_.timestamps->second.value_or(0);
    p_[state::P_TIMESTAMP_AFTER] = given_;
  }
  void numbers() {
    p_[state::P_EARLY_STOPPING] = static_cast<uint32_t>(stop_rule(o_.early_stopping));
    p_[state::P_NO_REPEAT_NGRAM] = o_.no_repeat_ngram;
    p_[state::P_FORCED_BOS] = o_.forced_bos ? static_cast<uint32_t>(*o_.forced_bos) + 1 : 0;
    p_[state::P_PAD] = static_cast<uint32_t>(o_.pad);
    p_[state::P_ENCODER_NO_REPEAT_NGRAM] = o_.encoder_no_repeat_ngram;
  }
  void ids(const std::vector<int32_t>& from, uint32_t first, uint32_t count) {
    p_[count] = static_cast<uint32_t>(from.size());
    for (size_t i = 0; i < from.size(); ++i) p_[first + i] = static_cast<uint32_t>(from[i]);
  }
  void append(const std::vector<int32_t>& from) {
    for (const int32_t id : from) words_.lists.push_back(static_cast<uint32_t>(id));
  }
  // Offset and count are adjacent words.
  void list(const std::vector<int32_t>& from, uint32_t offset) {
    p_[offset] = static_cast<uint32_t>(words_.lists.size());
    p_[offset + 1] = static_cast<uint32_t>(from.size());
    append(from);
  }
  void entries() {
    p_[state::P_BAD_WORDS_OFFSET] = static_cast<uint32_t>(words_.lists.size());
    p_[state::P_BAD_WORDS_COUNT] = static_cast<uint32_t>(o_.bad_words.size());
    for (const auto& word : o_.bad_words) {
      words_.lists.push_back(static_cast<uint32_t>(word.size()));
      append(word);
    }
    p_[state::P_BIAS_OFFSET] = static_cast<uint32_t>(words_.lists.size());
    p_[state::P_BIAS_COUNT] = static_cast<uint32_t>(o_.sequence_bias.size());
    for (const auto& [word, bias] : o_.sequence_bias) {
      words_.lists.push_back(static_cast<uint32_t>(word.size()));
      words_.lists.push_back(bits(bias));
      append(word);
    }
  }

  const SearchOptions& o_;
  uint32_t given_;
  SearchWords words_;
  std::vector<uint32_t>& p_ = words_.params;
};

}  // namespace

SearchWords encode_options(const SearchOptions& options, uint32_t given, const std::vector<int32_t>& source,
                           uint32_t sequence) {
  return Encoder(options, given).run(source, sequence);
}

void place_lists(std::vector<uint32_t>& params, uint32_t offset) {
  for (const uint32_t word : {state::P_SUPPRESS_OFFSET, state::P_BEGIN_SUPPRESS_OFFSET, state::P_BAD_WORDS_OFFSET,
                              state::P_BIAS_OFFSET, state::P_SOURCE_OFFSET})
    params[word] += offset;
  if (params[state::P_SHORTLIST] != 0) params[state::P_SHORTLIST] += offset;
}

void add_shortlist(SearchWords& words, std::span<const uint32_t> mask) {
  words.params[state::P_SHORTLIST] = static_cast<uint32_t>(words.lists.size()) + 1;
  words.lists.insert(words.lists.end(), mask.begin(), mask.end());
}

}  // namespace lapilli
