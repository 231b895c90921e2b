// Detects arguments that were meant as files, but name none.
#pragma once

#include <string>

namespace lapilli::cli {

// Explains why an argument is probably no text: it names a directory, or contains no blanks and reads like a file name
// (kFileNameRule). Empty if it may be a text.
std::string why_no_text(const std::string& argument);

inline constexpr const char* kFileNameRule =
    R"(An argument that names a file is that file. One that is written like the name of a file which is not there, or
names a directory, is an error, unless --text says that it is a text: one without blanks that begins with /, ./, ../ or
~/, is in a directory that is there, or ends in .txt, .md, .csv, .srt, .html, .json, .pdf or the like. Addresses (with
://) and words such as and/or, 24/7, e.g. and 3.14 are texts.
)";

}  // namespace lapilli::cli
