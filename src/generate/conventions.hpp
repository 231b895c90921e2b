// Conventions of families: words before the input, language tokens, settings per task. A caller states a task
// ("translate to French") and need not know them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "generate/chat/translators.hpp"
#include "generate/generate.hpp"

namespace lapilli {

enum class TextTask : uint8_t {
  none,  // the model as it is: no conventions
  translate,
  summarize,
};
// "translate", "summarize", "generate" or "" (none).
Result<TextTask> parse_task(std::string_view name);

struct TaskRequest {
  TextTask task = TextTask::none;
  // Languages as in the model's files ("fr_XX", "fra_Latn"), or as ISO codes ("fr", "fra"); empty: not given.
  std::string from, to;
};

struct Conventions {
  std::string prefix;  // precedes every input
  // The texts may begin with words for the model that cannot be told from the text ("translate English to German: "),
  // which later parts of a split text would lack.
  bool texts_bring_words = false;
  // Marks (">>fr<<") that a text may begin with to choose the model's target: all the model's marks. Needed if nothing
  // else chooses it.
  std::vector<std::string> marks;
  bool needs_mark = false;
  // The family's models are trained on single sentences: two sentences of a text are translated in two runs.
  bool one_sentence = false;
  // For LED's summaries: the first token has global attention (by its model cards and docs).
  bool global_first = false;
  // For the tokenizer; empty: the files' languages.
  std::string source_language, target_language;
  GenerationConfig options;  // override the model's own, overridden by the caller's
  // Stands around every text of a translator that is a decoder; `prefix` is empty then. Tokens that are spelled out in
  // a text stay text.
  std::optional<TextFrame> frame;
};

// Families whose published models only translate.
bool only_translates(const std::string& family);

// Codes as in the model's files; for models with several, each list has all of them. Empty: unknown.
struct ModelLanguages {
  std::vector<std::string> sources, targets;
};
ModelLanguages languages_of(const Tokenizer& tokenizer);

// Options for the tokenizer.
EncodeOptions encode_options(const Conventions& conventions);

// Refuses, by name, languages that the model does not have, a summary by a family that only translates, and a
// translation by a multilingual model whose target is neither given nor set in the model's files. `chat`: the model's
// template, or null.
Result<Conventions> find_conventions(const Model& model, const TaskRequest& request,
                                     const ChatTemplate* chat = nullptr);

}  // namespace lapilli
