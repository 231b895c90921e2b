// Texts as Python's str has them: counted and cut by characters, in valid UTF-8. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli::jinja {

size_t character_count(std::string_view text);
// Places in bytes at which characters begin, and the end.
std::vector<size_t> character_starts(std::string_view text);
// The place of one of them; the end for any behind the last.
size_t character_start(std::string_view text, uint64_t index);

// repr(): 'text', with escapes.
std::string quote(std::string_view text);
// A JSON string; `ascii`: other letters as \u escapes.
std::string json_text(std::string_view text, bool ascii);

enum class Side : uint8_t { both, left, right };
// Without `which`: white space. The view is a part of `text`.
std::string_view trimmed(std::string_view text, Side side, const std::optional<std::string>& which = {});
std::string stripped(std::string_view text, Side side, const std::optional<std::string>& which = {});
// Without a separator: at white space. At most `most` cuts; below 0: any number.
std::vector<std::string> split(std::string_view text, const std::optional<std::string>& separator, int64_t most);
std::vector<std::string> split_right(std::string_view text, const std::optional<std::string>& separator, int64_t most);
// How many parts a split without a limit has, without making them.
size_t word_count(std::string_view text);
size_t line_count(std::string_view text);  // or some more
// How often a part that is not empty stands in the text.
size_t part_count(std::string_view text, std::string_view part);
std::vector<std::string> split_lines(std::string_view text, bool keep_ends);
std::string replaced(std::string_view text, std::string_view old, std::string_view fresh, int64_t most);

std::string lower(std::string_view text);
std::string upper(std::string_view text);
std::string capitalized(std::string_view text);
std::string title(std::string_view text);           // str.title()
std::string title_by_words(std::string_view text);  // the filter title

// strftime() of the C locale; fails for a directive that it does not know.
Result<std::string> time_text(const std::tm& time, std::string_view format);

}  // namespace lapilli::jinja
