// Decoders that judge a document for a query by the word that they would write next, "yes" or "no". Their files hold no
// head that scores, and nothing of the text that they were trained with: only models whose publishers tell it, which
// are known by their names, are judges.
#pragma once

#include <string>
#include <string_view>

#include "base/files.hpp"
#include "formats/checkpoint.hpp"
#include "model/config.hpp"

namespace lapilli {

// The text is: front, "<Instruct>: ", instruction, "\n<Query>: ", query, "\n<Document>: ", document, behind.
struct Judge {
  const char* family;       // model_type
  const char* name;         // stands in the bare_name() of the directory
  const char* instruction;  // unless the caller gives one
  const char *front, *behind;
  uint32_t most_ids;
};

// Null: no such model.
const Judge* find_judge(std::string_view family, std::string_view directory);

// Makes the decoder an encoder with one score: the logit of "yes" less that of "no", at the last row.
void add_judging_head(model::Config& config, model::Names& names);

// Makes that score's weights of the two rows of the output projection, and a part of the checkpoint. `network`: the
// files of the tokenizer.
Status join_judging_weights(const Files& network, const model::Config& config, const model::Names& names,
                            Checkpoint& checkpoint);

// The text between Judge::front and Judge::behind.
std::string judged_text(std::string_view instruction, std::string_view query, std::string_view document);

}  // namespace lapilli
