// Everything that the vectors of a search depend on, beside the texts.
#pragma once

#include <string>

#include "cli/arguments/text_arguments.hpp"
#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

// The options by which queries and lines become vectors, always with the same bits.
Options query_options(const TextArguments& arguments);
Options line_options(const TextArguments& arguments);

// A text of all that a line's vector depends on: the files of the model by their content, the prompt, dimensions and
// format of the weights.
std::string vector_settings(const TextArguments& arguments, const lapilli_model_info& model);

// The measure that the directory names (similarity_fn_name). Gives the exit code; an unsupported one is reported.
int find_similarity(const std::string& directory, Similarity& to);

}  // namespace lapilli::cli
