// The page's files, which the program holds; cmake/PageTable.cmake writes them.
#pragma once

#include <cstddef>
#include <string_view>

namespace lapilli::server {

struct PageFile {
  const char* name;  // "app.js"
  const char* type;  // Content-Type
  const char* hash;  // of the bytes, in hexadecimal
  const unsigned char* bytes;
  size_t size;

  [[nodiscard]] std::string_view view() const { return {reinterpret_cast<const char*>(bytes), size}; }
};

extern const PageFile kPageFiles[];
extern const size_t kPageFileCount;

}  // namespace lapilli::server
