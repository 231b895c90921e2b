// lapilli_options converted to the search's settings.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "api/handles.hpp"
#include "formats/hf_config.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli::api {

namespace {

Status read_count(int32_t from, const char* name, std::optional<uint32_t>& to) {
  if (from == LAPILLI_MODEL_DEFAULT) return {};
  if (from < 0) return fail(ErrorCode::invalid_argument, "%s is %d; it must not be negative", name, from);
  to = static_cast<uint32_t>(from);
  return {};
}

Status read_number(float from, const char* name, std::optional<double>& to) {
  if (std::isnan(from)) return {};
  if (std::isinf(from)) return fail(ErrorCode::invalid_argument, "%s must be a finite number", name);
  to = decimal_of(from);
  return {};
}

Status read_ids(const lapilli_ids& from, const char* name, std::optional<std::vector<int32_t>>& to) {
  if (!from.ids) {
    if (from.count == 0) return {};
    return fail(ErrorCode::invalid_argument, "%s: %u ids at a null pointer", name, from.count);
  }
  if (from.count > (size_t{1} << 24)) {
    return fail(ErrorCode::invalid_argument, "%s: %u ids are too many", name, from.count);
  }
  to.emplace(from.ids, from.ids + from.count);
  return {};
}

Status read_bad_words(const lapilli_options& from, GenerationConfig& to) {
  if (!from.bad_words) {
    if (from.bad_word_count == 0) return {};
    return fail(ErrorCode::invalid_argument, "bad_words: %u entries at a null pointer", from.bad_word_count);
  }
  to.bad_words_ids.emplace();
  const auto read = [&to](size_t i, const lapilli_phrase& phrase) -> Status {
    std::optional<std::vector<int32_t>> ids;
    LAPILLI_CHECK(read_ids(phrase.ids, "bad_words", ids));
    if (!ids || ids->empty()) return fail(ErrorCode::invalid_argument, "bad_words: entry %u is empty", i);
    to.bad_words_ids->push_back(std::move(*ids));
    return {};
  };
  return read_array(from.bad_words, from.bad_word_count, "lapilli_phrase", read);
}

Status read_early_stopping(int32_t from, std::optional<EarlyStopping>& to) {
  switch (from) {
    case LAPILLI_MODEL_DEFAULT: return {};
    case LAPILLI_EARLY_STOPPING_FALSE: to = EarlyStopping::no; return {};
    case LAPILLI_EARLY_STOPPING_TRUE: to = EarlyStopping::yes; return {};
    case LAPILLI_EARLY_STOPPING_NEVER: to = EarlyStopping::never; return {};
    default: return fail(ErrorCode::invalid_argument, "early_stopping is %d; it is 0, 1 or 2", from);
  }
}

Result<GenerationConfig> parse_options(const char* json) {
  const std::string where = "the options given as JSON";
  LAPILLI_TRY(const auto parsed, parse_json(json, where));
  if (const auto it = parsed.find("forced_decoder_ids"); it != parsed.end() && !it->empty())
    return fail(ErrorCode::unsupported, "forced_decoder_ids: not supported; give decoder ids instead");
  return parse_generation_config(parsed, where);
}

Status read_json_options(const char* json, GenerationConfig& to) {
  if (!json || !*json) return {};
  auto parsed = parse_options(json);
  // Bad data in a file would be invalid_data; here it is the caller's argument.
  if (!parsed && parsed.error().code == ErrorCode::invalid_data)
    return Error{ErrorCode::invalid_argument, parsed.error().message};
  LAPILLI_TRY(to, std::move(parsed));
  if (!to.unknown.empty()) {
    return fail(ErrorCode::invalid_argument, "the options given as JSON: %s is not known", to.unknown.front());
  }
  return {};
}

Status read_tokens(const lapilli_options& from, GenerationConfig& to) {
  struct Token {
    int32_t id;
    const char* name;
  };
  for (const Token& token :
       {Token{from.decoder_start_token, "decoder_start_token"}, Token{from.forced_bos_token, "forced_bos_token"},
        Token{from.forced_eos_token, "forced_eos_token"}}) {
    if (token.id < LAPILLI_NO_TOKEN) return fail(ErrorCode::invalid_argument, "%s is %d", token.name, token.id);
  }
  if (from.decoder_start_token == LAPILLI_NO_TOKEN) {
    return fail(ErrorCode::invalid_argument, "decoder_start_token: there must be one");
  }
  if (from.decoder_start_token >= 0) to.decoder_start_token_id = from.decoder_start_token;
  if (from.forced_bos_token >= 0) to.forced_bos_token_id = from.forced_bos_token;
  if (from.forced_bos_token == LAPILLI_NO_TOKEN) to.forced_bos_token_id = -1;
  if (from.forced_eos_token >= 0) to.forced_eos_token_id = {from.forced_eos_token};
  if (from.forced_eos_token == LAPILLI_NO_TOKEN) to.forced_eos_token_id.emplace();
  return {};
}

Status read_task(const lapilli_options& from, TranslateRequest& to) {
  LAPILLI_TRY(to.task.task, parse_task(from.task ? from.task : ""));
  if (from.source_language) to.task.from = from.source_language;
  if (from.target_language) to.task.to = from.target_language;
  if (from.split_sentences < LAPILLI_MODEL_DEFAULT) {
    return fail(ErrorCode::invalid_argument, "split_sentences is %d; it is 0, 1 or LAPILLI_MODEL_DEFAULT",
                from.split_sentences);
  }
  if (from.split_sentences != LAPILLI_MODEL_DEFAULT) to.split = from.split_sentences != 0;
  return {};
}

// Refuses options that only models of other kinds take.
Status refuse_other_kinds(const CallOptions& from) {
  const lapilli_options& o = from.general;
  const bool prompt = o.prompt && *o.prompt;
  const char* field = prompt                  ? "lapilli_options.prompt"
                      : o.keep_attention != 0 ? "lapilli_options.keep_attention"
                                              : from.speech_field();
  if (!field) field = from.picture_field();
  if (!field) field = from.encoder_field();
  if (!field) return {};
  return fail(ErrorCode::invalid_argument, "%s is for models of another kind, and this one writes text%s", field,
              prompt ? "; decoder_prompt sets the beginning of its output" : "");
}

}  // namespace

Result<CallOptions> CallOptions::read(const lapilli_options* from) {
  CallOptions to;
  LAPILLI_CHECK(read_struct(from, to.general, "lapilli_options"));
  LAPILLI_CHECK(read_struct(to.general.speech, to.speech, "lapilli_speech_options"));
  LAPILLI_CHECK(read_struct(to.general.picture, to.picture, "lapilli_picture_options"));
  LAPILLI_CHECK(read_struct(to.general.encoder, to.encoder, "lapilli_encoder_options"));
  LAPILLI_CHECK(read_struct(to.general.chat, to.chat, "lapilli_chat_options"));
  if (to.picture.classes == 0)
    return fail(ErrorCode::invalid_argument, "lapilli_picture_options.classes is 0; ask for at least 1");
  if (to.encoder.top_classes == 0)
    return fail(ErrorCode::invalid_argument, "lapilli_encoder_options.top_classes is 0; ask for at least 1");
  if (to.encoder.max_answer_tokens == 0)
    return fail(ErrorCode::invalid_argument, "lapilli_encoder_options.max_answer_tokens is 0; allow at least 1");
  return to;
}

const char* CallOptions::speech_field() const {
  if (speech.word_times != 0) return "lapilli_speech_options.word_times";
  if (speech.condition_on_previous != 0) return "lapilli_speech_options.condition_on_previous";
  if (!std::isnan(speech.compression_ratio_threshold)) return "lapilli_speech_options.compression_ratio_threshold";
  if (!std::isnan(speech.logprob_threshold)) return "lapilli_speech_options.logprob_threshold";
  if (!std::isnan(speech.no_speech_threshold)) return "lapilli_speech_options.no_speech_threshold";
  if (speech.interim_samples != 0) return "lapilli_speech_options.interim_samples";
  if (speech.chunks != 0) return "lapilli_speech_options.chunks";
  return speech.temperature_count != 0 ? "lapilli_speech_options.temperatures" : nullptr;
}

const char* CallOptions::picture_field() const {
  const bool given = picture.classes != lapilli_default_picture_options().classes;
  return given ? "lapilli_picture_options.classes" : nullptr;
}

const char* CallOptions::encoder_field(uint32_t task) const {
  const lapilli_encoder_options none = lapilli_default_encoder_options();
  const lapilli_encoder_options& e = encoder;
  const auto has = [](const char* text) { return text && *text; };
  struct Field {
    const char* name;
    bool given;
    uint32_t tasks;  // that read it
  };
  const Field fields[] = {
      {"lapilli_encoder_options.dimensions", e.dimensions != 0, kEmbed},
      {"lapilli_encoder_options.normalize", e.normalize != 0, kEmbed},
      {"lapilli_encoder_options.top_classes", e.top_classes != none.top_classes, kClassify | kByLabels},
      {"lapilli_encoder_options.prompt_name", has(e.prompt_name), kEmbed | kClassify},
      {"lapilli_encoder_options.labels", e.label_count != 0, kByLabels},
      {"lapilli_encoder_options.hypothesis", has(e.hypothesis), kByLabels},
      {"lapilli_encoder_options.entailment", has(e.entailment), kByLabels},
      {"lapilli_encoder_options.multi_label", e.multi_label != 0, kByLabels},
      {"lapilli_encoder_options.top_spans", e.top_spans != 0, kAnswer | kFill},
      {"lapilli_encoder_options.aggregation", has(e.aggregation), kTag},
      {"lapilli_encoder_options.allow_empty", e.allow_empty != 0, kAnswer},
      {"lapilli_encoder_options.max_answer_tokens", e.max_answer_tokens != none.max_answer_tokens, kAnswer},
      {"lapilli_encoder_options.window", e.window != 0, kTag | kAnswer | kScore},
      {"lapilli_encoder_options.stride", e.stride != 0, kTag | kAnswer | kScore},
      {"lapilli_encoder_options.cut_texts", e.cut_texts != 0, kTag | kAnswer},
      {"lapilli_encoder_options.part_words", e.part_words != 0, kAnswer},
      {"lapilli_encoder_options.ignored_labels", e.ignored_labels != nullptr, kTag},
  };
  for (const Field& field : fields)
    if (field.given && (field.tasks & task) == 0) return field.name;
  return nullptr;
}

double decimal_of(float from) {
  char text[32];
  std::snprintf(text, sizeof text, "%.7g", static_cast<double>(from));
  return std::strtod(text, nullptr);
}

Status read_generation(const lapilli_options& from, GenerationConfig& to) {
  LAPILLI_CHECK(read_json_options(from.json, to));
  LAPILLI_CHECK(read_count(from.num_beams, "num_beams", to.num_beams));
  LAPILLI_CHECK(read_count(from.num_return_sequences, "num_return_sequences", to.num_return_sequences));
  LAPILLI_CHECK(read_count(from.max_length, "max_length", to.max_length));
  LAPILLI_CHECK(read_count(from.max_new_tokens, "max_new_tokens", to.max_new_tokens));
  LAPILLI_CHECK(read_count(from.min_length, "min_length", to.min_length));
  LAPILLI_CHECK(read_count(from.min_new_tokens, "min_new_tokens", to.min_new_tokens));
  LAPILLI_CHECK(read_count(from.no_repeat_ngram_size, "no_repeat_ngram_size", to.no_repeat_ngram_size));
  LAPILLI_CHECK(read_early_stopping(from.early_stopping, to.early_stopping));
  LAPILLI_CHECK(read_number(from.length_penalty, "length_penalty", to.length_penalty));
  LAPILLI_CHECK(read_number(from.repetition_penalty, "repetition_penalty", to.repetition_penalty));
  LAPILLI_CHECK(read_tokens(from, to));
  LAPILLI_CHECK(read_ids(from.end_tokens, "end_tokens", to.eos_token_id));
  LAPILLI_CHECK(read_ids(from.suppress_tokens, "suppress_tokens", to.suppress_tokens));
  LAPILLI_CHECK(read_ids(from.begin_suppress_tokens, "begin_suppress_tokens", to.begin_suppress_tokens));
  return read_bad_words(from, to);
}

std::function<bool(uint64_t done, uint64_t total)> progress_of(const lapilli_options& from) {
  std::function<bool(uint64_t done, uint64_t total)> asked;
  if (from.progress) {
    asked = [function = from.progress, user = from.progress_user](uint64_t done, uint64_t total) {
      return function(user, done, total) == 0;
    };
  }
  if (!from.cancel_token) return asked;
  return [asked = std::move(asked), cancelled = from.cancel_token->cancelled](uint64_t done, uint64_t total) {
    return !cancelled->load() && (!asked || asked(done, total));
  };
}

StreamSink stream_of(const lapilli_options& from) {
  if (!from.stream) return {};
  return [function = from.stream, user = from.stream_user](size_t input, std::string_view text,
                                                           std::span<const int32_t> ids) {
    const std::string terminated(text);
    lapilli_stream_event event{};
    event.struct_size = sizeof event;
    event.input = input;
    event.text = terminated.c_str();
    event.text_bytes = terminated.size();
    event.ids = {ids.data(), ids.size()};
    return function(user, &event) == 0;
  };
}

const char* CallOptions::chat_field() const {
  const auto has = [](const char* text) { return text && *text; };
  if (chat.use != 0) return "lapilli_chat_options.use";
  if (chat.stop_count != 0) return "lapilli_chat_options.stops";
  if (chat.leave_out_thoughts != 0) return "lapilli_chat_options.leave_out_thoughts";
  if (has(chat.system)) return "lapilli_chat_options.system";
  if (has(chat.messages)) return "lapilli_chat_options.messages";
  if (has(chat.tools)) return "lapilli_chat_options.tools";
  return has(chat.arguments) ? "lapilli_chat_options.arguments" : nullptr;
}

ChatRequest chat_request(const lapilli_chat_options& from) {
  const auto text = [](const char* given) { return std::string(given ? given : ""); };
  return {text(from.system), text(from.messages), text(from.tools), text(from.arguments)};
}

namespace {

Status read_chat(const lapilli_chat_options& from, TranslateRequest& to) {
  if (from.stop_count > 0 && !from.stops) return fail(ErrorCode::invalid_argument, "stops: a null pointer");
  if (from.stop_count > 64) return fail(ErrorCode::invalid_argument, "stops: %u texts; at most 64", from.stop_count);
  for (size_t i = 0; i < from.stop_count; ++i) {
    const std::string stop = from.stops[i] ? from.stops[i] : "";
    if (stop.empty()) return fail(ErrorCode::invalid_argument, "stops: text %u is empty", i);
    LAPILLI_CHECK(check_utf8(stop, "a text of stops"));
    to.answer.stops.push_back(stop);
  }
  to.answer.without_thoughts = from.leave_out_thoughts != 0;
  if (from.use != 0) to.chat = chat_request(from);
  return {};
}

}  // namespace

Status read_options(const CallOptions& options, TranslateRequest& request) {
  const lapilli_options& from = options.general;
  LAPILLI_CHECK(read_generation(from, request.options));
  LAPILLI_CHECK(refuse_other_kinds(options));
  std::optional<std::vector<int32_t>> prompt;
  LAPILLI_CHECK(read_ids(from.decoder_prompt, "decoder_prompt", prompt));
  if (prompt) request.decoder_prompt = std::move(*prompt);
  LAPILLI_CHECK(read_task(from, request));
  LAPILLI_CHECK(read_chat(options.chat, request));
  for (size_t i = 0; from.input_numbers && i < request.inputs.size(); ++i)
    request.inputs[i].number = from.input_numbers[i];
  request.batch = from.batch;
  request.steps_in_flight = from.steps_in_flight;
  request.deterministic = from.deterministic != 0;
  return {};
}

}  // namespace lapilli::api
