// Files by name. Names are UTF-8 on every system; here and nowhere else they become what the system takes, and what it
// gives becomes UTF-8 (scripts/check-paths looks for other places). No function throws because of a name.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace lapilli {

// As std::fopen, and as open() for reading; children do not inherit the descriptor. errno says why not.
std::FILE* open_stream(const std::string& path, const char* mode);
int open_to_read(const std::string& path);

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

// Where a link leads; "" if it is none.
std::string link_target(const std::string& path);
// The folder that a file lies in, with links followed as far as they are there.
std::string real_folder(const std::string& file);
// Without "." and "..", by its words alone.
std::string normal_path(const std::string& path);

// A variable of the environment, which may name a file; "" if it is not set.
std::string environment(const char* name);

#if defined(_WIN32)
std::wstring to_wide(std::string_view utf8);  // what is not UTF-8 becomes U+FFFD, which names no file
std::string to_utf8(std::wstring_view wide);
#endif

}  // namespace lapilli
