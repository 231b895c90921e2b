// Derives the names of output files from those of input files.
#pragma once

#include <string>
#include <string_view>

namespace lapilli::cli {

// "letter.txt" for "a/letter.txt".
std::string_view last_part(std::string_view path);
// "a/" for "a/letter.txt"; "" for "letter.txt".
std::string folder_of(std::string_view path);
// ".txt" for "a/letter.txt"; "" for "a/letter", ".profile" and "..".
std::string_view extension(std::string_view path);
// True if the name ends with a separator, like a folder's.
bool names_folder(std::string_view path);
std::string path_in(std::string_view folder, std::string_view name);

// "a/letter.fr.txt" for "a/letter.txt" and ".fr".
std::string with_suffix(std::string_view path, std::string_view suffix);
// True if with_suffix may have made the name.
bool has_suffix(std::string_view path, std::string_view suffix);

// Files beside one that is being written: its content so far, and the journal of its progress.
inline std::string part_of(const std::string& path) { return path + ".part"; }
inline std::string journal_of(const std::string& path) { return path + ".part.journal"; }
inline bool is_part(std::string_view path) { return path.ends_with(".part") || path.ends_with(".part.journal"); }

}  // namespace lapilli::cli
