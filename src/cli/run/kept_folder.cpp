#include "cli/run/kept_folder.hpp"

#include "base/path.hpp"

namespace lapilli::cli {

std::string kept_folder(bool no_cache) {
  if (no_cache || !environment("LAPILLI_NO_CACHE").empty()) return "";
  const std::string caches = cache_directory();
  return caches.empty() ? "" : caches + "/devices";
}

}  // namespace lapilli::cli
