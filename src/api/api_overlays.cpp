// The C interface: attention overlays of words, drawn over pictures and spectrograms.
#include "api/handles.hpp"
#include "drawing/overlay_sheet.hpp"
#include "generate/picture_overlays.hpp"
#include "speech/segment_overlays.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli::api {

namespace {

struct Drawing {
  drawing::OverlayFormat format = drawing::OverlayFormat::svg;
  AttentionChoice choice;
  std::function<bool()> go_on;
};

std::function<bool()> unless_cancelled(const lapilli_cancel_token* token) {
  if (!token) return [] { return true; };
  return [cancelled = token->cancelled] { return !cancelled->load(); };
}

Result<Drawing> read_drawing(const lapilli_attention_drawing* from) {
  lapilli_attention_drawing given = lapilli_default_attention_drawing();
  LAPILLI_CHECK(read_struct(from, given, "lapilli_attention_drawing"));
  if (given.format != LAPILLI_DRAWING_SVG && given.format != LAPILLI_DRAWING_PNG)
    return fail(ErrorCode::invalid_argument,
                "lapilli_attention_drawing.format is %d; it is LAPILLI_DRAWING_SVG (%d) or _PNG (%d)", given.format,
                LAPILLI_DRAWING_SVG, LAPILLI_DRAWING_PNG);
  if (given.layer < LAPILLI_ATTENTION_MEAN || given.head < LAPILLI_ATTENTION_MEAN)
    return fail(ErrorCode::invalid_argument,
                "lapilli_attention_drawing.%s is %d; it is a number from 0, or LAPILLI_ATTENTION_MEAN (%d)",
                given.layer < LAPILLI_ATTENTION_MEAN ? "layer" : "head", std::min(given.layer, given.head),
                LAPILLI_ATTENTION_MEAN);
  Drawing to;
  if (given.format == LAPILLI_DRAWING_PNG) to.format = drawing::OverlayFormat::png;
  to.choice = {AttentionKind::cross, given.layer, given.head};
  to.go_on = unless_cancelled(given.cancel_token);
  return to;
}

// A picture of the result, and the text about it.
struct Answer {
  const OverlayInput* input = nullptr;
  PictureResult result;
};

Result<Answer> find_answer(const lapilli_result& result, size_t input) {
  const auto& outputs = result.output.outputs;
  if (input >= outputs.size()) return fail(ErrorCode::invalid_argument, "input %u of %u", input, outputs.size());
  LAPILLI_CHECK(Status(outputs[input].status));
  if (input >= result.overlay_inputs.size() || !result.overlay_inputs[input])
    return fail(ErrorCode::invalid_argument,
                "input %u is no picture whose attention was kept; set lapilli_options.keep_attention", input);
  const TextSequence& best = outputs[input].sequences.front();
  Answer answer;
  answer.input = &*result.overlay_inputs[input];
  answer.result.text = best.text;
  answer.result.ids = best.ids;
  answer.result.start = answer.input->start;
  return answer;
}

// Overlays need words, which only a decoder with a tokenizer writes.
Status check_words(const PictureReader& reader) {
  if (reader.classifies())
    return fail(ErrorCode::unsupported, "the model writes no words, and only words have attention to draw");
  return reader.model()->tokenizer() ? Status() : Status(reader.model()->tokenizer_error());
}

Result<std::string> draw(const std::shared_ptr<const PictureReader>& reader, const Answer& answer, const Drawing& how) {
  LAPILLI_CHECK(check_words(*reader));
  LAPILLI_TRY(auto source, reader->source_of(answer.input->picture.prepared));
  std::vector<int32_t> ids{answer.result.start};
  ids.insert(ids.end(), answer.result.ids.begin(), answer.result.ids.end());
  LAPILLI_TRY(const auto attention, attention_of_ids(reader->model(), std::move(source), ids, how.choice, how.go_on));
  LAPILLI_TRY(auto sheet, overlay_sheet_of(*reader, answer.input->picture, answer.result, attention));
  sheet.title = to_utf32(name_of(how.choice));
  return drawing::overlay_sheet_file(sheet, how.format);
}

}  // namespace

Result<std::string> draw_segment(const lapilli_attention_drawing* from, const speech::Segment& segment) {
  LAPILLI_TRY(const auto how, read_drawing(from));
  if (how.choice.layer >= 0 || how.choice.head >= 0)
    return fail(ErrorCode::invalid_argument,
                "lapilli_attention_drawing.layer and head: segments have only LAPILLI_ATTENTION_MEAN, the mean "
                "of the heads that give the times of words");
  if (!segment.attention)
    return fail(ErrorCode::invalid_argument,
                "the attention of segments was not kept; set lapilli_options.keep_attention");
  if (!speech::has_overlays(segment))
    return fail(ErrorCode::invalid_data, "the segment has no words, or no sound, that could be drawn");
  LAPILLI_TRY(const auto sheet, speech::overlay_sheet_of(segment));
  return drawing::overlay_sheet_file(sheet, how.format);
}

namespace {

Status draw_answer(lapilli_model& model, lapilli_result& result, size_t input,
                   const lapilli_attention_drawing* drawing) {
  const auto held = model.place->held();
  const LogScope log(held.model->device()->log_sink());
  LAPILLI_CHECK(check_running(*held.model->device(), "lapilli_result_draw_attention"));
  LAPILLI_TRY(const auto how, read_drawing(drawing));
  LAPILLI_TRY(const auto answer, find_answer(result, input));
  if (!model.front->pictures) return fail(ErrorCode::invalid_argument, "the model reads no pictures");
  const auto run = [&](const std::shared_ptr<Model>& on) {
    return draw(std::make_shared<const PictureReader>(on, *model.front->pictures), answer, how);
  };
  LAPILLI_TRY(result.drawing, run_replaced(*model.place, held, run));
  return {};
}

}  // namespace

}  // namespace lapilli::api

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Status;

extern "C" {

lapilli_status lapilli_result_draw_attention(lapilli_model* model, lapilli_result* result, size_t input,
                                             const lapilli_attention_drawing* drawing, const uint8_t** file,
                                             size_t* bytes) {
  if (file) *file = nullptr;
  if (bytes) *bytes = 0;
  return lapilli::api::guarded([&]() -> Status {
    constexpr const char* kFunction = "lapilli_result_draw_attention";
    if (!model || !result) return fail(ErrorCode::invalid_argument, "%s: model or result is null", kFunction);
    if (!file || !bytes) return fail(ErrorCode::invalid_argument, "%s: file or bytes is null", kFunction);
    auto drawn = lapilli::api::draw_answer(*model, *result, input, drawing);
    if (!drawn) return std::move(drawn).error().in(kFunction);
    *file = reinterpret_cast<const uint8_t*>(result->drawing.data());
    *bytes = result->drawing.size();
    return {};
  });
}

}  // extern "C"
