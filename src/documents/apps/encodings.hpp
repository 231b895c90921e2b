// Files that may be in another encoding than UTF-8: ISO-8859-1 (Java), UTF-16 (Apple).
#pragma once

#include <string>
#include <string_view>

namespace lapilli::documents {

std::string utf8_of_latin1(std::string_view bytes);
// Characters that ISO-8859-1 lacks become \uXXXX.
std::string latin1_of_utf8(std::string_view text);

enum class Utf16 { none, little, big };
// By the byte order mark.
Utf16 utf16_order(std::string_view bytes);
// False for half a character. The byte order mark becomes that of UTF-8.
bool utf8_of_utf16(std::string_view bytes, Utf16 order, std::string& text);
std::string utf16_of_utf8(std::string_view text, Utf16 order);

// Appends \uXXXX, twice for a character beyond the first 65,536.
void append_u_escape(std::string& out, char32_t c);

}  // namespace lapilli::documents
