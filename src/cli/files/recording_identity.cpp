#include "cli/files/recording_identity.hpp"

#include <utility>

#include "base/path.hpp"
#include "cli/files/run_identity.hpp"

namespace lapilli::cli {

Identity settings_of_transcripts(const TranscribeArguments& a) {
  Identity all;
  const auto add = [&all](const char* what, std::string value) { all.emplace_back(what, std::move(value)); };
  add("--language or --to", a.how.language + " " + a.how.task);
  add("--prompt", a.how.prompt);
  add("--beam", std::to_string(a.how.beams));
  add("--max-new-tokens", std::to_string(a.how.new_tokens));
  add("--batch", std::to_string(a.how.batch));
  add("--fallback", a.how.fallback ? "fallback" : "");
  add("--vad", a.vad ? "vad" : "");
  add("--words or --ids", std::string(a.style.words ? "words " : "") + (a.style.ids ? "ids" : ""));
  add("--max-line-width or --max-line-count",
      std::to_string(a.style.line_width) + " " + std::to_string(a.style.line_count));
  add("--offset or --duration", std::to_string(a.excerpt.offset) + " " +
                                    (a.excerpt.duration ? std::to_string(*a.excerpt.duration) : std::string()));
  add("--dtype", a.model.dtype);
  add("--kv-dtype", a.model.kv_dtype);
  add("--caps", a.model.caps);
  add("--raw", a.raw);
  return all;
}

Identity identity_of_recording(const TranscribeArguments& a, const lapilli_model_info& model, const std::string& name) {
  Identity all = identity_of_run("transcribe", model);
  for (auto& setting : settings_of_transcripts(a)) all.push_back(std::move(setting));
  all.emplace_back("input " + name, std::to_string(file_size(name)) + " " + std::to_string(file_time(name)));
  return all;
}

}  // namespace lapilli::cli
