#include "api/work.hpp"

#include <cmath>

#include "generate/repeats.hpp"
#include "generate/verbs.hpp"
#include "search/network_on_device.hpp"

namespace lapilli::api {

Status Work::append(size_t input, std::span<const float>) {
  return fail(ErrorCode::invalid_argument, "input %u is no recording that continues (lapilli_sample_stream())", input);
}

Status Work::end_recording(size_t input) { return append(input, {}); }

Result<std::unique_ptr<Work>> start_work(WorkRequest request) {
  LAPILLI_CHECK(check_kinds(request.function, request.inputs, *request.model));
  const model::Config& c = request.model->on_device().config();
  const bool texts = c.kind().reads_text() && !encodes_texts(c);
  const char* task = request.options.general.task;
  if (texts && task && std::string_view(task) == "score") return start_scores(std::move(request));
  if (texts) return start_texts(std::move(request));
  if (const char* field = request.options.chat_field())
    return fail(ErrorCode::invalid_argument, "%s is for models that write text, not for %s", field, c.family);
  if (const Status& status = request.front->status; !status) return status.error();
  if (c.kind().reads_text()) return start_encoder(std::move(request));
  return c.kind().reads == model::Reads::pictures ? start_pictures(std::move(request))
                                                  : start_recordings(std::move(request));
}

Result<std::unique_ptr<Work>> prepare_work(WorkRequest request, const JobShape& shape) {
  const model::Config& c = request.model->on_device().config();
  if (c.kind().reads_text() && !encodes_texts(c)) return prepare_texts(std::move(request), shape);
  if (c.kind().reads_text())
    return fail(ErrorCode::unsupported,
                "%s: no shape prepares for encoders of texts: run a job with a text of the usual length",
                request.function);
  const bool pictures = c.kind().reads == model::Reads::pictures;
  return fail(ErrorCode::unsupported,
              "%s: %s models read %s, and no shape prepares for that: run a job with %s, and what it makes is kept for "
              "those behind it",
              request.function, c.family, pictures ? "pictures" : "sound",
              pictures ? "any picture" : "a second of silence");
}

TextSequence sequence_of(std::string text, std::vector<int32_t> ids, std::vector<float> token_scores, Finish finish) {
  TextSequence s;
  s.text = std::move(text);
  s.ids = std::move(ids);
  s.finish = finish;
  const size_t ends = finish == Finish::stop && !s.ids.empty() ? 1 : 0;  // an end token or a timestamp
  s.repeats = ends_in_loop(std::span(s.ids).first(s.ids.size() - ends));
  // A prompt's ids have no scores.
  s.token_scores.assign(s.ids.size() - std::min(s.ids.size(), token_scores.size()), NAN);
  s.token_scores.insert(s.token_scores.end(), token_scores.begin(), token_scores.end());
  SequencePart& part = s.parts.emplace_back();
  part.target = {0, s.text.size()};
  part.finish = s.finish;
  part.repeats = s.repeats;
  return s;
}

TranslateStats stats_of(const GenerateStats& from, uint64_t tokens, double total_ms) {
  TranslateStats to;
  to.batches = from.searches;
  to.encode_ms = from.encode_ms;
  to.decode_ms = from.decode_ms;
  to.decoder_steps = from.steps;
  to.submissions = from.submissions;
  to.tuned_nodes = from.tuned_nodes;
  to.prompt_rows = from.prompt_rows;
  to.saved_prompt_rows = from.saved_prompt_rows;
  to.generated_tokens = tokens;
  to.total_ms = total_ms;
  return to;
}

}  // namespace lapilli::api
