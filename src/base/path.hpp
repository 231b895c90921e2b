// The file system by UTF-8 names on every system. Only here are names converted to and from the system's own encoding
// (scripts/check-paths looks for other places). No function throws because of a name.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli {

// Like std::fopen, and open() for reading; children do not inherit the descriptor. On failure errno says why.
std::FILE* open_stream(const std::string& path, const char* mode);
int open_to_read(const std::string& path);
int open_to_lock(const std::string& path);  // creates the file if it does not exist; keeps its content if it does

enum class FileKind { none, regular, directory, other };  // other: a pipe, a device
// Links are followed. After `none` errno says why.
FileKind file_kind(const std::string& path);
bool file_exists(const std::string& path);  // true for a regular file
// True if the name is taken by anything but a directory: a file, or something that only opening it would reveal (a
// dangling link, a pipe).
bool file_is_named(const std::string& path);
bool directory_exists(const std::string& path);

uint64_t file_size(const std::string& path);  // 0 if it cannot be determined
bool resize_file(const std::string& path, uint64_t bytes);
bool remove_file(const std::string& path);
bool remove_empty_folder(const std::string& path);
// Recursive; removes links, not their targets. Adds the sizes of removed files to `bytes`. On failure errno says why.
bool remove_folder(const std::string& path, uint64_t& bytes);
// Replaces `to` atomically. On failure errno says why.
bool rename_file(const std::string& from, const std::string& to);
// Makes parent directories as needed; true also if it exists. On failure errno says why.
bool make_directories(const std::string& path);
std::vector<std::string> names_in(const std::string& directory);  // sorted; empty if it cannot be read
// Bytes that may still be written to a directory's file system; nothing if the system does not tell.
std::optional<uint64_t> free_bytes(const std::string& directory);

// Opens a descriptor for writing: appending, or truncating the file. On failure errno says why.
int open_to_write(const std::string& path, bool append);
// Flushes to disk, as far as the system reports it. On failure errno says why.
bool flush_to_disk(std::FILE* stream);
// True if both names refer to one existing file or folder.
bool same_file(const std::string& a, const std::string& b);
uint64_t file_time(const std::string& path);  // last modification by a system clock; 0 if unknown

struct FolderEntry {
  std::string name;  // without the folder
  FileKind kind;     // of a link's target, except that a link to a folder is `other`
};
// Sorted by name. On failure errno says why.
bool list_folder(const std::string& path, std::vector<FolderEntry>& entries);

// The target of a link; "" if it is none.
std::string link_target(const std::string& path);
// The folder of a file, with links resolved as far as they exist.
std::string real_folder(const std::string& file);
// Without "." and ".."; purely lexical.
std::string normal_path(const std::string& path);

// An environment variable, which may name a file; "" if it is not set.
std::string environment(const char* name);
// The same, told apart from a variable that is set to nothing.
std::optional<std::string> environment_if_set(const char* name);
// The user's cache folder, for data that our programs can recreate: LAPILLI_CACHE, XDG_CACHE_HOME/lapilli, on Windows
// %LOCALAPPDATA%\lapilli, elsewhere ~/.cache/lapilli. "" if there is none. It may not exist yet.
std::string cache_directory();

#if defined(_WIN32)
std::wstring to_wide(std::string_view utf8);  // invalid UTF-8 becomes U+FFFD, which names no file
std::string to_utf8(std::wstring_view wide);
#endif

}  // namespace lapilli
