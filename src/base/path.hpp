// Files by name. Names are UTF-8 on every system; here and nowhere else they become what the system takes, and what it
// gives becomes UTF-8 (scripts/check-paths looks for other places). No function throws because of a name.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli {

// As std::fopen, and as open() for reading; children do not inherit the descriptor. errno says why not.
std::FILE* open_stream(const std::string& path, const char* mode);
int open_to_read(const std::string& path);
int open_to_lock(const std::string& path);  // made if it is not there, and left as it is if it is

enum class FileKind { none, regular, directory, other };  // other: a pipe, a device
// Links are followed. After `none` errno says why.
FileKind file_kind(const std::string& path);
bool file_exists(const std::string& path);  // a regular file
// Anything but a directory has that name: a file, or what only opening it tells apart (a link that leads nowhere, a
// pipe).
bool file_is_named(const std::string& path);
bool directory_exists(const std::string& path);

uint64_t file_size(const std::string& path);  // 0 if it cannot be seen
bool resize_file(const std::string& path, uint64_t bytes);
bool remove_file(const std::string& path);
bool remove_empty_folder(const std::string& path);
// With all that is in it; of links the link alone. Adds the bytes of its files to `bytes`. On failure errno says why.
bool remove_folder(const std::string& path, uint64_t& bytes);
// Replaces what has the name `to`, all at once. On failure errno says why.
bool rename_file(const std::string& from, const std::string& to);
// With the directories above it; true also if it is there. On failure errno says why.
bool make_directories(const std::string& path);
std::vector<std::string> names_in(const std::string& directory);  // sorted; none if it cannot be read
// What may still be written to the file system of a directory; nothing if it does not tell.
std::optional<uint64_t> free_bytes(const std::string& directory);

// A descriptor to write to: behind what the file holds, or to a file that is empty then. errno says why not.
int open_to_write(const std::string& path, bool append);
// What was written to it is on the disk, as far as the system says so. On failure errno says why.
bool flush_to_disk(std::FILE* stream);
// Two names of one file or folder that is there.
bool same_file(const std::string& a, const std::string& b);
uint64_t file_time(const std::string& path);  // when it was written last, by a clock of the system's; 0 if unknown

struct FolderEntry {
  std::string name;  // without the folder's
  FileKind kind;     // of what a link leads to, but a link to a folder is `other`
};
// Sorted by name. errno says why not.
bool list_folder(const std::string& path, std::vector<FolderEntry>& entries);

// Where a link leads; "" if it is none.
std::string link_target(const std::string& path);
// The folder that a file lies in, with links followed as far as they are there.
std::string real_folder(const std::string& file);
// Without "." and "..", by its words alone.
std::string normal_path(const std::string& path);

// A variable of the environment, which may name a file; "" if it is not set.
std::string environment(const char* name);
// The user's folder for what programs of ours keep and could make again: LAPILLI_CACHE, or XDG_CACHE_HOME/lapilli, or
// ~/.cache/lapilli, on Windows %LOCALAPPDATA%\lapilli. "" if there is no place. It may not be there yet.
std::string cache_directory();

#if defined(_WIN32)
std::wstring to_wide(std::string_view utf8);  // what is not UTF-8 becomes U+FFFD, which names no file
std::string to_utf8(std::wstring_view wide);
#endif

}  // namespace lapilli
