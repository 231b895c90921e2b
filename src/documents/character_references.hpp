// Character references of HTML: &eacute; &#233; &#xe9;
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lapilli::documents {

// Appends the meaning of the reference at the front of the text and gives its length; 0 if there is none. As in HTML,
// some names need no semicolon.
size_t decode_reference(std::string_view text, std::string& out);

}  // namespace lapilli::documents
