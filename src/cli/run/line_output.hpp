// Formats the output for a line: text, ids or JSON.
#pragma once

#include <optional>
#include <string>

#include "cli/arguments/text_arguments.hpp"
#include "cli/run/text_model.hpp"
#include "cli/run/vector_output.hpp"

namespace lapilli::cli {

// Keeps one line for each text, whatever the model writes.
std::string in_one_line(std::string text);

// Ends an object of JSON: "error" and a brace.
std::string error_json(const LineResult& result);

// A vector in the format asked for, with a line end if it is JSON. `dimensions`: of a row that has none.
std::string vector_output(const LineResult& result, uint64_t number, VectorFormat format, uint32_t dimensions);

// The classes of a text: "POSITIVE 0.998", several with tabs between; or JSON.
std::string classes_output(const LineResult& result, uint64_t number, bool json);
// [{"class":1,"label":"POSITIVE","probability":0.998,"score":4.2}]
std::string classes_json(const std::vector<Class>& classes);

// Tags ("Anna PER 0.998"), answers ("Porto 0.93 at 12-17", in characters) or words for masks ("red 0.2") of a text,
// several with tabs between, masks with bars; or JSON.
std::string spans_output(const LineResult& result, uint64_t number, Makes makes, bool json);
// A list of spans; of masks, each with its words.
std::string spans_json(const std::vector<Span>& spans, Makes makes);

// Without line end. `number`: the line's number in JSON; `unsure_below`: the sureness below which JSON says "unsure".
std::string line_output(const LineResult& result, uint64_t number, const TextArguments& arguments,
                        const std::optional<double>& unsure_below);

}  // namespace lapilli::cli
