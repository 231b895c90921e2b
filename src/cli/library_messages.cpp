#include "cli/library_messages.hpp"

#include <cstdio>
#include <ctime>
#include <string>
#include <string_view>

#include "base/path.hpp"
#include "lapilli/lapilli.h"

namespace lapilli::cli {

namespace {

constexpr std::string_view kNoGpu = "no GPU with Vulkan was found";

std::string first_line_of(const std::string& file) {
  std::FILE* stream = open_stream(file, "rb");
  if (!stream) return "";
  char line[32] = "";
  const bool any = std::fgets(line, sizeof line, stream) != nullptr;
  std::fclose(stream);
  return any ? line : "";
}

// True once a day: the file then contains the day's number.
bool first_today() {
  const std::string folder = cache_directory();
  if (folder.empty()) return true;
  const std::string file = folder + "/no-gpu-told", today = std::to_string(std::time(nullptr) / (24 * 60 * 60));
  if (first_line_of(file) == today) return false;
  std::FILE* stream = make_directories(folder) ? open_stream(file, "wb") : nullptr;
  if (!stream) return true;
  std::fputs(today.c_str(), stream);
  std::fclose(stream);
  return true;
}

extern "C" void lapilli_show_message(void* remember, int32_t level, const char* message) {
  const bool once = remember && level == LAPILLI_LOG_NOTE && std::string_view(message).starts_with(kNoGpu);
  if (!once || first_today()) std::fprintf(stderr, "lapilli: %s\n", message);
}

}  // namespace

void show_library_messages(int32_t level, bool remember) {
  static char remembers;
  lapilli_set_log(level, lapilli_show_message, remember ? &remembers : nullptr);
}

}  // namespace lapilli::cli
