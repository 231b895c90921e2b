// Arguments that were meant for a file, but name none.
#pragma once

#include <string>

namespace lapilli::cli {

// What is wrong with an argument that would be taken for a text, and what to do: it names a directory, or has no blanks
// in it and reads as the name of a file (kFileNameRule). Empty if it may well be a text.
std::string why_no_text(const std::string& argument);

inline constexpr const char* kFileNameRule =
    R"(An argument that names a file is that file. One that is written like the name of a file which is not there, or
names a directory, is an error, unless --text says that it is a text: one without blanks that begins with /, ./, ../ or
~/, is in a directory that is there, or ends in .txt, .md, .csv, .srt, .html, .json, .pdf or the like. Addresses (with
://) and words such as and/or, 24/7, e.g. and 3.14 are texts.
)";

}  // namespace lapilli::cli
