// What is written of a line: text, ids or JSON.
#pragma once

#include <optional>
#include <string>

#include "cli/arguments/text_arguments.hpp"
#include "cli/run/text_model.hpp"

namespace lapilli::cli {

// One text in, one line out, whatever the model says.
std::string in_one_line(std::string text);

// Without line end. `number`: what JSON calls the line; `unsure_below`: the sureness below which JSON says "unsure".
std::string line_output(const LineResult& result, uint64_t number, const TextArguments& arguments,
                        const std::optional<double>& unsure_below);

}  // namespace lapilli::cli
