// The C interface: attention and alignment of results.
#include "api/handles.hpp"
#include "generate/attention.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::Status;
using lapilli::api::guarded;

struct lapilli_attention {
  lapilli::Attention attention;
  // Buffers returned by the last call.
  std::string json, svg;
  std::vector<uint8_t> png;
  lapilli::Alignment alignment;
};

namespace {

Result<const lapilli::TextSequence*> find_sequence(const lapilli_result* result, size_t input, size_t sequence) {
  if (!result) return fail(ErrorCode::invalid_argument, "result is null");
  const auto& outputs = result->output.outputs;
  if (input >= outputs.size()) return fail(ErrorCode::invalid_argument, "input %u of %u", input, outputs.size());
  LAPILLI_CHECK(Status(outputs[input].status));
  const auto& sequences = outputs[input].sequences;
  if (sequence >= sequences.size()) {
    return fail(ErrorCode::invalid_argument, "sequence %u of %u", sequence, sequences.size());
  }
  return &sequences[sequence];
}

Result<lapilli::AttentionKind> kind_of(int32_t kind) {
  switch (kind) {
    case LAPILLI_ATTENTION_CROSS: return lapilli::AttentionKind::cross;
    case LAPILLI_ATTENTION_ENCODER: return lapilli::AttentionKind::encoder;
    case LAPILLI_ATTENTION_DECODER: return lapilli::AttentionKind::decoder;
    default: return fail(ErrorCode::invalid_argument, "attention kind %d; 0 is cross, 1 encoder, 2 decoder", kind);
  }
}

Result<lapilli::AttentionChoice> read_choice(const lapilli_attention_choice* choice) {
  lapilli_attention_choice given = lapilli_default_attention_choice();
  LAPILLI_CHECK(lapilli::api::read_struct(choice, given, "lapilli_attention_choice"));
  lapilli::AttentionChoice out;
  LAPILLI_TRY(out.kind, kind_of(given.kind));
  out.layer = given.layer;
  out.head = given.head;
  return out;
}

Status check(const void* attention, const void* out, const char* where) {
  if (!attention) return fail(ErrorCode::invalid_argument, "%s: attention is null", where);
  if (!out) return fail(ErrorCode::invalid_argument, "%s: there is no place for the result", where);
  return {};
}

}  // namespace

extern "C" {

lapilli_status lapilli_result_parts(const lapilli_result* result, size_t input, size_t sequence, size_t* parts) {
  if (parts) *parts = 0;
  return guarded([&]() -> Status {
    if (!parts) return fail(ErrorCode::invalid_argument, "lapilli_result_parts: parts is null");
    LAPILLI_TRY(const auto* found, find_sequence(result, input, sequence));
    *parts = found->parts.size();
    return {};
  });
}

lapilli_status lapilli_attention_run(lapilli_model* model, const lapilli_result* result, size_t input, size_t sequence,
                                     size_t part, lapilli_attention** attention) {
  if (attention) *attention = nullptr;
  return guarded([&]() -> Status {
    if (!model) return fail(ErrorCode::invalid_argument, "lapilli_attention_run: model is null");
    if (!attention) return fail(ErrorCode::invalid_argument, "lapilli_attention_run: attention is null");
    const auto held = model->place->held();
    const lapilli::LogScope log(held.model->device()->log_sink());
    LAPILLI_CHECK(lapilli::api::check_running(*held.model->device(), "lapilli_attention_run"));
    LAPILLI_TRY(const auto* found, find_sequence(result, input, sequence));
    if (part >= found->parts.size()) {
      return fail(ErrorCode::invalid_argument, "lapilli_attention_run: part %u of %u", part, found->parts.size());
    }
    if (input < result->segments.size() || input < result->classes.size())
      return fail(ErrorCode::unsupported,
                  "lapilli_attention_run: input %u is sound or a picture, which has no attention as numbers; "
                  "lapilli_job_draw_attention and lapilli_result_draw_attention draw it, and "
                  "lapilli_speech_options.word_times gives the times of words",
                  input);
    auto handle = std::make_unique<lapilli_attention>();
    const std::string_view source = input < result->sources.size() ? std::string_view(result->sources[input]) : "";
    const auto run = [&](const auto& on) { return lapilli::attend(on, found->parts[part], source, found->text); };
    LAPILLI_TRY(handle->attention, lapilli::api::run_replaced(*model->place, held, run));
    *attention = handle.release();
    return {};
  });
}

void lapilli_attention_free(lapilli_attention* attention) { delete attention; }

lapilli_status lapilli_attention_get_map(const lapilli_attention* attention, int32_t kind, lapilli_attention_map* map) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check(attention, map, "lapilli_attention_get_map"));
    LAPILLI_TRY(const auto which, kind_of(kind));
    LAPILLI_CHECK(lapilli::has_maps(attention->attention));
    const lapilli::AttentionMap& from = attention->attention.map(which);
    lapilli_attention_map to{};
    to.layers = from.layers;
    to.heads = from.heads;
    to.rows = from.rows;
    to.columns = from.cols;
    to.values = from.values.data();
    return lapilli::api::write_struct(to, map, "lapilli_attention_map");
  });
}

lapilli_status lapilli_attention_get_token(const lapilli_attention* attention, int32_t target, size_t index,
                                           lapilli_attention_token* token) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check(attention, token, "lapilli_attention_get_token"));
    const auto& tokens = target != 0 ? attention->attention.target : attention->attention.source;
    if (index >= tokens.size()) {
      return fail(ErrorCode::invalid_argument, "lapilli_attention_get_token: token %u of %u", index, tokens.size());
    }
    const lapilli::AttentionToken& from = tokens[index];
    lapilli_attention_token to{};
    to.id = from.id;
    to.special = from.special ? 1 : 0;
    to.label = from.label.c_str();
    to.begin = from.bytes.begin;
    to.end = from.bytes.end;
    return lapilli::api::write_struct(to, token, "lapilli_attention_token");
  });
}

lapilli_status lapilli_attention_json(lapilli_attention* attention, const lapilli_attention_choice* choice,
                                      const char** json) {
  if (json) *json = nullptr;
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check(attention, json, "lapilli_attention_json"));
    LAPILLI_TRY(const auto which, read_choice(choice));
    LAPILLI_TRY(attention->json, lapilli::attention_json(attention->attention, which));
    *json = attention->json.c_str();
    return {};
  });
}

lapilli_status lapilli_attention_svg(lapilli_attention* attention, const lapilli_attention_choice* choice,
                                     const char** svg) {
  if (svg) *svg = nullptr;
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check(attention, svg, "lapilli_attention_svg"));
    LAPILLI_TRY(const auto which, read_choice(choice));
    LAPILLI_TRY(attention->svg, lapilli::attention_svg(attention->attention, which));
    *svg = attention->svg.c_str();
    return {};
  });
}

lapilli_status lapilli_attention_png(lapilli_attention* attention, const lapilli_attention_choice* choice,
                                     const uint8_t** png, size_t* bytes) {
  if (png) *png = nullptr;
  if (bytes) *bytes = 0;
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check(attention, png, "lapilli_attention_png"));
    LAPILLI_CHECK(check(attention, bytes, "lapilli_attention_png"));
    LAPILLI_TRY(const auto which, read_choice(choice));
    LAPILLI_TRY(attention->png, lapilli::attention_png(attention->attention, which));
    *png = attention->png.data();
    *bytes = attention->png.size();
    return {};
  });
}

lapilli_status lapilli_attention_align(lapilli_attention* attention, int32_t layer, size_t* links) {
  if (links) *links = 0;
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check(attention, links, "lapilli_attention_align"));
    attention->alignment = {};
    LAPILLI_TRY(attention->alignment, lapilli::align(attention->attention, {layer}));
    *links = attention->alignment.links.size();
    return {};
  });
}

lapilli_status lapilli_attention_get_link(const lapilli_attention* attention, size_t index, lapilli_word_link* link) {
  return guarded([&]() -> Status {
    LAPILLI_CHECK(check(attention, link, "lapilli_attention_get_link"));
    const lapilli::Alignment& alignment = attention->alignment;
    if (index >= alignment.links.size()) {
      return fail(ErrorCode::invalid_argument,
                  "lapilli_attention_get_link: link %u of %u; lapilli_attention_align finds them", index,
                  alignment.links.size());
    }
    const lapilli::WordLink& from = alignment.links[index];
    const auto &source = alignment.source[from.source].bytes, &target = alignment.target[from.target].bytes;
    lapilli_word_link to{};
    to.weight = from.weight;
    to.source_begin = source.begin;
    to.source_end = source.end;
    to.target_begin = target.begin;
    to.target_end = target.end;
    to.source_word = from.source;
    to.target_word = from.target;
    return lapilli::api::write_struct(to, link, "lapilli_word_link");
  });
}

}  // extern "C"
