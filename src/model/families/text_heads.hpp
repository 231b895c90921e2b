// Heads of text encoders alone. `architectures` selects one: the reference's classes of a family are called
// "BertModel", "BertForMaskedLM", "BertForSequenceClassification" and so on.
#pragma once

#include <string>

#include "model/families/family.hpp"
#include "model/families/parse.hpp"

namespace lapilli::model {

// A family's heads. Names of tensors are full ones; empty: the family has no such layer.
struct TextHeads {
  const char* classes;                       // beginnings of the classes' names, with blanks between them
  const char* pooler = "";                   // of the bare model: a layer on the first row
  const char* dense = "";                    // of the classification of whole sources: a layer before `classifier`
  const char* classifier = "classifier";     // of whole sources; that of rows is always "classifier"
  Activation activation = Activation::tanh;  // of `pooler` and `dense`
  bool pretrained_scores = true;             // "...ForPreTraining" scores ids; otherwise it counts as a bare model
};
// Reads the head into a Config that has the encoder. A file without `architectures` is a bare model. Refuses other
// classes by name.
Status read_text_head(const JsonView& view, const TextHeads& heads, Config& config);
// Names of the head's tensors but those of scores of ids.
HeadNames text_head_names(const Config& config, const TextHeads& heads);

// Sets scores of ids behind a linear layer, an activation and a normalization; the output may be tied.
Status read_id_scores(const JsonView& view, Config& config);
// The output projection is the embedding unless the file has its own, and the other way round.
void tie_encoder_output(Names& names);

}  // namespace lapilli::model
