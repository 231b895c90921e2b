#include "cli/files/cache_folder.hpp"

#include "base/path.hpp"

namespace lapilli::cli {

std::string cache_folder(bool no_cache) {
  if (no_cache || !environment("LAPILLI_NO_CACHE").empty()) return "";
  const std::string caches = cache_directory();
  return caches.empty() ? "" : caches + "/devices";
}

}  // namespace lapilli::cli
