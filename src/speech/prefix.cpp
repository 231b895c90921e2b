#include "speech/prefix.hpp"

#include <algorithm>

#include "text/kinds/whisper_languages.hpp"

namespace lapilli::speech {

namespace {

std::string list(const std::map<std::string, int32_t>& names) {
  std::string text;
  for (const auto& [name, id] : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

Result<int32_t> task_id(const SpeechSettings& settings, const std::string& task) {
  const auto it = settings.tasks.find(task);
  if (it != settings.tasks.end()) return it->second;
  return fail(ErrorCode::invalid_argument, "task \"%s\" is not known; this model knows: %s", task,
              settings.tasks.empty() ? "none, it transcribes" : list(settings.tasks).c_str());
}

// A missing id at position 1 stands for the detected language.
Status put_forced(const SpeechSettings& settings, Prefix& prefix) {
  uint32_t position = 1;
  for (const ForcedDecoderId& f : settings.forced) {
    if (f.position != position++)
      return fail(ErrorCode::invalid_data,
                  "the model's forced_decoder_ids go on at position %u instead of %u; give a language or a task, and "
                  "they are not used",
                  f.position, position - 1);
    if (f.id)
      prefix.ids.push_back(*f.id);
    else if (f.position == 1)
      prefix.detect_language = !settings.languages.empty();
  }
  return {};
}

Status put_task(const SpeechSettings& settings, const std::string& task, Prefix& prefix) {
  LAPILLI_TRY(const auto id, task_id(settings, task));
  const auto is_task = [&](int32_t other) {
    return std::any_of(settings.tasks.begin(), settings.tasks.end(), [&](const auto& t) { return t.second == other; });
  };
  const auto there = std::find_if(prefix.ids.begin(), prefix.ids.end(), is_task);
  if (there != prefix.ids.end())
    *there = id;
  else
    prefix.ids.push_back(id);
  return {};
}

}  // namespace

std::vector<int32_t> ids_before(const std::vector<std::vector<int32_t>>& segments, int32_t timestamp_begin,
                                size_t most) {
  std::vector<int32_t> ids;
  for (const auto& segment : segments) {
    const bool doubled = segment.size() > 2 && segment[segment.size() - 2] >= timestamp_begin;
    ids.insert(ids.end(), segment.begin(), segment.end() - (doubled ? 1 : 0));
  }
  if (ids.size() > most) ids.erase(ids.begin(), ids.end() - static_cast<ptrdiff_t>(most));
  return ids;
}

Result<int32_t> language_id(const SpeechSettings& settings, const std::string& language) {
  const std::string code = whisper_language_code(language);
  for (const std::string& name : {language, "<|" + language + "|>", "<|" + code + "|>"})
    if (const auto it = settings.languages.find(name); it != settings.languages.end()) return it->second;
  return fail(
      ErrorCode::invalid_argument, "language \"%s\" is not known; this model knows: %s", language,
      settings.languages.empty() ? "English, or the one that it was trained for" : list(settings.languages).c_str());
}

std::string language_token(const SpeechSettings& settings, int32_t id) {
  for (const auto& [token, other] : settings.languages)
    if (other == id) return token;
  return "";
}

Result<Prefix> make_prefix(const SpeechSettings& settings, const PrefixRequest& request) {
  Prefix prefix{{request.start}};
  std::string language = request.language.empty() ? settings.language : request.language;
  // English is no option of a model of one language, but asking for it changes nothing.
  if (settings.languages.empty() && whisper_language_code(language) == "en") language.clear();
  const std::string& task = request.task.empty() ? settings.task : request.task;
  if (language.empty() && task.empty()) LAPILLI_CHECK(put_forced(settings, prefix));
  if (!language.empty()) {
    LAPILLI_TRY(const auto id, language_id(settings, language));
    prefix.ids.push_back(id);
  } else if (prefix.ids.size() == 1) {
    prefix.detect_language = !settings.languages.empty();
  }
  if (!task.empty())
    LAPILLI_CHECK(put_task(settings, task, prefix));
  else if (!language.empty() && !settings.tasks.empty())
    LAPILLI_CHECK(put_task(settings, "transcribe", prefix));
  if (!settings.no_timestamps) return prefix;
  const int32_t none = *settings.no_timestamps;
  if (request.timestamps && prefix.ids.back() == none) prefix.ids.pop_back();
  if (!request.timestamps && prefix.ids.back() != none) prefix.ids.push_back(none);
  return prefix;
}

}  // namespace lapilli::speech
