#include "api/locate.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#if defined(_WIN32)
#include <windows.h>
#elif defined(__APPLE__)
#include <dlfcn.h>
#include <mach-o/dyld.h>
#else
#include <dlfcn.h>
#endif

namespace lapilli {

namespace fs = std::filesystem;

namespace {

constexpr const char* kBundled = "en-fr";

// The running program; empty if the system does not tell.
fs::path program_path() {
#if defined(_WIN32)
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return path;
#elif defined(__APPLE__)
  uint32_t size = 0;
  _NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  if (_NSGetExecutablePath(path.data(), &size) != 0) return {};
  return path.c_str();
#else
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);
#endif
}

// The shared library that this code is in, or the program again.
fs::path library_path() {
#if defined(_WIN32)
  return {};
#else
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&default_model_directory), &info) == 0 || !info.dli_fname) return {};
  // Without a directory it is the program's name as it was called, and relative to the directory of that time: a model
  // of the current one is not to be taken for the bundled one.
  const fs::path path = info.dli_fname;
  return path.is_absolute() ? path : fs::path();
#endif
}

std::string utf8(const fs::path& path) {
  const auto u8 = path.u8string();
  return {u8.begin(), u8.end()};
}

Result<std::string> find_bundled() {
  // As installed (bin, or lib with up to one folder for the architecture), beside the program, and in the build folder.
  const char* const places[] = {
      "../share/lapilli/models", "../../share/lapilli/models", "models", "../models", "../../models",
      "../../../models"};
  std::string looked_at;
  for (const fs::path& binary : {program_path(), library_path()}) {
    if (binary.empty()) continue;
    std::error_code error;
    const fs::path folder = fs::weakly_canonical(binary, error).parent_path();
    for (const char* place : places) {
      const fs::path directory = (folder / place / kBundled).lexically_normal();
      if (fs::is_regular_file(directory / "config.json", error)) return utf8(directory);
    }
    looked_at += (looked_at.empty() ? "" : " and ") + utf8(folder);
  }
  return fail(ErrorCode::not_found,
              "the bundled model %s was not found near %s; name a model directory, or set LAPILLI_MODEL to one",
              kBundled, looked_at.empty() ? "the program" : looked_at.c_str());
}

}  // namespace

Result<std::string> default_model_directory() {
  try {
    const char* named = std::getenv("LAPILLI_MODEL");
    if (named && *named) return std::string(named);
    return find_bundled();
  } catch (const std::exception& e) {
    return fail(ErrorCode::internal, "looking for the bundled model: %s", e.what());
  }
}

}  // namespace lapilli
