// The scalars of YAML: their texts, and how words are written in them.
#pragma once

#include <string>
#include <string_view>

#include "documents/kinds.hpp"
#include "documents/written_text.hpp"

namespace lapilli::documents {

enum class YamlScalar { plain, single_quoted, double_quoted, literal, folded };

// A scalar without its quotes; a block scalar's lines, which are indented by `indent`.
WrittenText yaml_text(std::string_view bytes, Range range, YamlScalar scalar, size_t indent);

// null, true, no, 12, 0x1f, :symbol: not words.
bool is_yaml_value(std::string_view plain);
// True if the words mean themselves without quotes.
bool is_plain_yaml(std::string_view words, bool in_flow);
void append_yaml_quoted(std::string& out, std::string_view words, char quote);

}  // namespace lapilli::documents
