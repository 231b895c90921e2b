#include "text/kinds/whisper_tokenizer.hpp"

#include <algorithm>
#include <utility>

#include "text/kinds/pipeline_loading.hpp"
#include "text/kinds/pipeline_tokenizers.hpp"
#include "text/kinds/whisper_languages.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

constexpr double kTimePrecision = 0.02;  // seconds between timestamps
constexpr double kChunkSteps = 1500;     // timestamps per chunk of audio

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of a timestamp, <|1.00|>, at the start of `text`; 0 if there is none.
size_t timestamp_length(std::string_view text) {
  if (!text.starts_with("<|")) return 0;
  size_t at = 2;
  const auto digits = [&] {
    const size_t before = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > before;
  };
  if (!digits() || at >= text.size() || text[at] != '.') return 0;
  ++at;
  if (!digits() || !text.substr(at).starts_with("|>")) return 0;
  return at + 2;
}

std::string without_timestamps(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t mark = text.find("<|");
    out += text.substr(0, mark);
    if (mark == std::string_view::npos) break;
    text.remove_prefix(mark);
    const size_t length = timestamp_length(text);
    if (length == 0) out += text.substr(0, 2);
    text.remove_prefix(std::max<size_t>(length, 2));
  }
  return out;
}

std::string marked(std::string_view name) { return "<|" + std::string(name) + "|>"; }

}  // namespace

WhisperTokenizer::WhisperTokenizer(Pipeline pipeline, WhisperSettings settings)
    : PipelineTokenizer(std::move(pipeline), settings.pipeline), settings_(std::move(settings)) {
  const int32_t zero = token_id("<|0.00|>");
  // If the vocabulary has no timestamps, they follow the last special token.
  int32_t last = -1;
  for (const AddedToken& token : this->pipeline().added.all()) {
    if (token.special) last = std::max(last, token.id);
  }
  if (zero >= 0)
    timestamp_begin_ = zero;
  else if (last >= 0 && last < INT32_MAX)
    timestamp_begin_ = last + 1;
}

std::vector<std::string> WhisperTokenizer::languages() const {
  std::vector<std::string> out;
  for (const AddedToken& token : pipeline().added.all()) {
    const std::string_view text = token.text;
    if (!text.starts_with("<|") || !text.ends_with("|>") || text.size() < 5) continue;
    const std::string_view name = text.substr(2, text.size() - 4);
    if (whisper_language_code(name) == name) out.emplace_back(name);
  }
  return out;
}

int32_t WhisperTokenizer::language_id(std::string_view language) const {
  const std::string code = whisper_language_code(language);
  return code.empty() ? -1 : token_id(marked(code));
}

Result<std::vector<int32_t>> WhisperTokenizer::prefix(const EncodeOptions& options) const {
  std::vector<int32_t> ids{token_id("<|startoftranscript|>")};
  const std::string_view language = options.source_language.empty() ? settings_.language : options.source_language;
  const std::string_view task = options.task.empty() ? settings_.task : options.task;
  if (!language.empty()) {
    ids.push_back(language_id(language));
    if (ids.back() < 0)
      return fail(ErrorCode::invalid_argument, "Whisper has no language %s; codes (\"fr\") and English names are known",
                  quote_text(language));
  }
  if (!task.empty()) {
    if (task != "transcribe" && task != "translate")
      return fail(ErrorCode::invalid_argument, "Whisper has no task %s; it can transcribe and translate",
                  quote_text(task));
    ids.push_back(token_id(marked(task)));
  }
  if (!options.timestamps.value_or(settings_.timestamps)) ids.push_back(token_id("<|notimestamps|>"));
  if (std::any_of(ids.begin(), ids.end(), [](int32_t id) { return id < 0; }))
    return fail(ErrorCode::invalid_data, "the vocabulary lacks a token of Whisper's prefix");
  return ids;
}

Result<std::vector<int32_t>> WhisperTokenizer::prompt_ids(std::string_view text) const {
  const int32_t start = token_id("<|startofprev|>");
  if (start < 0) return fail(ErrorCode::invalid_data, "the vocabulary has no <|startofprev|>");
  EncodeOptions plain;
  plain.add_special = false;
  LAPILLI_TRY(auto ids, encode(" " + std::string(strip(text)), plain));
  for (const int32_t id : ids) {
    const AddedToken* token = pipeline().added.by_id(id);
    if (token != nullptr && token->special)
      return fail(ErrorCode::invalid_argument, "a prompt may not contain the special token %s",
                  quote_text(token->text));
  }
  ids.insert(ids.begin(), start);
  return ids;
}

Result<Encoding> WhisperTokenizer::surround(const Encoding& first, const Encoding* second,
                                            const EncodeOptions& options) const {
  Encoding out;
  if (options.add_special) {
    LAPILLI_TRY(const auto front, prefix(options));
    for (const int32_t id : front) out.push_special(id);
  }
  out.append(join_texts(first, second));
  if (options.add_special && special_.eos >= 0) out.push_special(special_.eos, second == nullptr ? 0 : 1);
  return out;
}

Result<std::string> WhisperTokenizer::decode_valid(std::span<const int32_t> ids, const DecodeOptions& options) const {
  // A prompt at the start is not part of the transcript.
  if (options.skip_special && !ids.empty() && ids[0] == token_id("<|startofprev|>")) {
    const auto start = std::find(ids.begin(), ids.end(), token_id("<|startoftranscript|>"));
    ids = ids.subspan(static_cast<size_t>(start - ids.begin()));
  }
  if (options.timestamps) return decode_with_timestamps(ids, options);
  LAPILLI_TRY(const std::string text, PipelineTokenizer::decode_valid(ids, options));
  return without_timestamps(text);
}

// Timestamps restart with each chunk of audio; the result's continue.
Result<std::string> WhisperTokenizer::decode_with_timestamps(std::span<const int32_t> ids,
                                                             const DecodeOptions& options) const {
  struct Run {
    std::string stamp;  // precedes the ids
    std::vector<int32_t> ids;
  };
  std::vector<Run> runs(1);
  double latest = 0;
  double before = 0;  // the timestamp before the latest
  double offset = 0;  // of the chunks completed
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!is_timestamp(ids[i])) {
      runs.back().ids.push_back(ids[i]);
      continue;
    }
    const double time = (ids[i] - timestamp_begin_) * kTimePrecision;
    if (time < latest) {
      const bool single_ending = i >= 2 && !(is_timestamp(ids[i - 1]) && is_timestamp(ids[i - 2]));
      if (single_ending) {
        offset += kTimePrecision * kChunkSteps;
      } else {
        // The last segment begun is unfinished: the next chunk begins where it began.
        latest = before;
        offset += before;
        if (runs.size() > 1) runs.pop_back();
      }
    }
    before = latest;
    latest = time;
    runs.push_back({format("<|%.2f|>", time + offset), {}});
  }
  std::string out;
  for (const Run& run : runs) {
    out += run.stamp;
    if (run.ids.empty()) continue;
    LAPILLI_TRY(const std::string text, PipelineTokenizer::decode_valid(run.ids, options));
    out += text;
  }
  return out;
}

Result<std::vector<WhisperSegment>> WhisperTokenizer::segments(std::span<const int32_t> ids) const {
  std::vector<size_t> stamps;  // positions of timestamps
  std::vector<size_t> ends;    // ends of slices: between two consecutive timestamps, and after the last
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!is_timestamp(ids[i])) continue;
    if (!stamps.empty() && stamps.back() + 1 == i) ends.push_back(i);
    stamps.push_back(i);
  }
  std::vector<WhisperSegment> out;
  if (stamps.empty() || (ends.empty() && stamps.size() <= 1)) return out;
  if (ends.empty() || ends.back() != stamps.back() + 1) ends.push_back(stamps.back() + 1);
  size_t begin = stamps.front();
  double latest = 0;
  double offset = 0;
  for (const size_t end : ends) {
    const auto slice = ids.subspan(begin, end - begin);
    if (slice.size() > 1) {
      const double from = slice.front() - timestamp_begin_;
      const double to = slice.back() - timestamp_begin_;
      if (from < latest) {
        const bool single_ending = begin >= 2 && !(is_timestamp(ids[begin - 2]) && is_timestamp(ids[begin - 1]));
        offset += single_ending ? kChunkSteps : latest;
      }
      latest = to;
      DecodeOptions options;
      options.skip_special = false;
      LAPILLI_TRY(std::string text, decode(slice, options));
      out.push_back({std::move(text), from * kTimePrecision + offset * kTimePrecision,
                     to * kTimePrecision + offset * kTimePrecision});
    }
    begin = end;
  }
  return out;
}

Result<std::unique_ptr<Tokenizer>> load_whisper_tokenizer(const Files& from) {
  LAPILLI_TRY(const auto files, load_tokenizer_files(from));
  Pipeline p;
  LAPILLI_TRY(p.model, load_bpe_model(files, {}));
  LAPILLI_TRY(const bool prefix_space, files.config.flag("add_prefix_space", false));
  LAPILLI_TRY(p.pre_tokenizer, make_byte_level(prefix_space, true));
  p.decoder = make_byte_level_decoder();
  LAPILLI_TRY(const auto special, SpecialTokens::collect(files,
                                                         {{"unk_token", "<|endoftext|>"},
                                                          {"bos_token", "<|endoftext|>"},
                                                          {"eos_token", "<|endoftext|>"},
                                                          {"pad_token", ""}},
                                                         *p.model));
  LAPILLI_TRY(p.added, AddedVocabulary::make(special.tokens(), *p.model, nullptr));
  WhisperSettings settings;
  LAPILLI_TRY(settings.pipeline, read_settings(files, special, false));
  LAPILLI_TRY(settings.language, files.config.text("language", ""));
  LAPILLI_TRY(settings.task, files.config.text("task", ""));
  LAPILLI_TRY(settings.timestamps, files.config.flag("predict_timestamps", false));
  return std::unique_ptr<Tokenizer>(std::make_unique<WhisperTokenizer>(std::move(p), std::move(settings)));
}

}  // namespace lapilli
