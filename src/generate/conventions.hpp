// What families expect of who uses them: words before the input, language tokens, settings per task. A caller says what
// it wants ("translate to French") and need not know.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "generate/generate.hpp"

namespace lapilli {

enum class Task : uint8_t {
  none,  // the model as it is: no conventions
  translate,
  summarize,
};
// "translate", "summarize", "generate" or "" (none).
Result<Task> parse_task(std::string_view name);

struct TaskRequest {
  Task task = Task::none;
  // Languages as the model's files write them ("fr_XX", "fra_Latn"), or as ISO codes ("fr", "fra"); empty: not given.
  std::string from, to;
};

struct Conventions {
  std::string prefix;  // stands before every input
  // The texts may begin with words for the model that nobody else can tell from the text ("translate English to
  // German: "), so that a part of one would lack them.
  bool texts_bring_words = false;
  // A text may begin with a mark of the model (">>fr<<") that says what it is to become: all that it has. It must where
  // nothing else says so.
  std::vector<std::string> marks;
  bool needs_mark = false;
  // The family's models are trained on single sentences: a text of two is translated in two runs.
  bool one_sentence = false;
  // Summaries by LED: the first token sees everything and is seen by all (its model cards and docs).
  bool global_first = false;
  // For the tokenizer; empty: what the files say.
  std::string source_language, target_language;
  GenerationConfig options;  // over the model's own, under the caller's
};

// Families whose published models translate and do nothing else.
bool only_translates(const std::string& family);

// Codes as the model's files write them; of models that take several each list has all of them. Empty: they do not say.
struct ModelLanguages {
  std::vector<std::string> sources, targets;
};
ModelLanguages languages_of(const Tokenizer& tokenizer);

// What the tokenizer is told.
EncodeOptions encode_options(const Conventions& conventions);

// Refuses by name languages that the model does not have, a summary by a family that only translates, and a translation
// by a multilingual model whose target is neither given nor set in the model's files.
Result<Conventions> find_conventions(const Model& model, const TaskRequest& request);

}  // namespace lapilli
