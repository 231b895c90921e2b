// Names of files that are written, made of those that are read.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::cli {

// "letter.txt" of "a/letter.txt".
std::string_view last_part(std::string_view path);
// "a/" of "a/letter.txt"; "" of "letter.txt".
std::string folder_of(std::string_view path);
// ".txt" of "a/letter.txt"; "" of "a/letter", ".profile" and "..".
std::string_view extension(std::string_view path);
// Ends like the name of a folder: with a separator.
bool names_folder(std::string_view path);
std::string path_in(std::string_view folder, std::string_view name);

// "a/letter.fr.txt" of "a/letter.txt" and ".fr".
std::string with_suffix(std::string_view path, std::string_view suffix);
// It may have come from with_suffix.
bool has_suffix(std::string_view path, std::string_view suffix);

// Beside a file that is being written: what there is of it, and how far it is.
inline std::string part_of(const std::string& path) { return path + ".part"; }
inline std::string journal_of(const std::string& path) { return path + ".part.journal"; }
inline bool is_part(std::string_view path) { return path.ends_with(".part") || path.ends_with(".part.journal"); }

}  // namespace lapilli::cli
