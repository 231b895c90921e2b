#include "tools/locate.hpp"

#include <exception>
#include <utility>

#include "base/path.hpp"
#include "fetched/present.hpp"
#include "formats/doors/door.hpp"

#if defined(_WIN32)
#include <windows.h>
#elif defined(__APPLE__)
#include <dlfcn.h>
#include <mach-o/dyld.h>
#else
#include <dlfcn.h>
#endif

// Declared in lapilli.h; defined if the program was compiled with a package that says where its models are.
#if defined(__APPLE__)
// The linker there refuses undefined symbols: defines an empty default, which the program's own definition replaces.
extern "C" {
extern __attribute__((weak, visibility("default"))) const char lapilli_package_models[];
const char lapilli_package_models[] = "";
}
#define LAPILLI_PACKAGE_MODELS lapilli_package_models
#elif defined(__GNUC__) && !defined(_WIN32)
extern "C" __attribute__((weak, visibility("default"))) const char lapilli_package_models[];
#define LAPILLI_PACKAGE_MODELS lapilli_package_models
#else
#define LAPILLI_PACKAGE_MODELS static_cast<const char*>(nullptr)
#endif

namespace lapilli {

namespace {

constexpr const char* kBundled = "en-fr";

// Path of the running program; "" if the system does not tell.
std::string program_path() {
#if defined(_WIN32)
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return to_utf8(path);
#elif defined(__APPLE__)
  uint32_t size = 0;
  _NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  if (_NSGetExecutablePath(path.data(), &size) != 0) return {};
  return path.c_str();
#else
  return link_target("/proc/self/exe");
#endif
}

// Path of the shared library with this code, or of the program.
std::string library_path() {
#if defined(_WIN32)
  return {};
#else
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&default_model_directory), &info) == 0 || !info.dli_fname) return {};
  // For a program dli_fname may be its name as invoked, relative to the directory of that time: a model below the
  // current directory must not pass for the bundled one.
  const std::string path = info.dli_fname;
  return path.starts_with('/') ? path : "";
#endif
}

// The folder of models that holds `wanted`: as installed (bin, or lib with up to one folder for the architecture),
// beside the program, and in the build folder. "" if there is none; `looked_at` then lists the places.
std::string find_models_folder(const char* wanted, std::string& looked_at) {
  const char* const places[] = {
      "../share/lapilli/models", "../../share/lapilli/models", "models", "../models", "../../models",
      "../../../models"};
  for (const std::string& binary : {program_path(), library_path()}) {
    if (binary.empty()) continue;
    const std::string folder = real_folder(binary);
    for (const char* place : places) {
      const std::string directory = normal_path(folder + "/" + place);
      if (file_is_named(directory + "/" + wanted)) return directory;
    }
    looked_at += (looked_at.empty() ? "" : " and ") + folder;
  }
  // A relative path would refer to the compiler's working directory.
  if (const char* const package = LAPILLI_PACKAGE_MODELS; package && *package == '/') {
    const std::string directory = normal_path(package);
    if (file_is_named(directory + "/" + wanted)) return directory;
    looked_at += (looked_at.empty() ? "" : " and in ") + directory;
  }
  return "";
}

Result<std::string> find_bundled() {
  std::string looked_at;
  const std::string folder = find_models_folder((kBundled + std::string("/config.json")).c_str(), looked_at);
  if (!folder.empty()) return folder + "/" + kBundled;
  return fail(ErrorCode::not_found,
              "the bundled model %s was not found near %s; name a model directory, or set LAPILLI_MODEL to one",
              kBundled, looked_at.empty() ? "the program" : looked_at.c_str());
}

// Reports a wrong directory here, where its origin is known.
Result<std::string> check_named(const std::string& name) {
  auto found = find_model_directory(name);
  if (!found) return std::move(found).error().in("LAPILLI_MODEL");
  const std::string& directory = *found;
  // The network of a directory with modules.json may lie in a folder.
  for (const char* file : {"/config.json", "/modules.json"})
    if (directory_exists(directory) && file_kind(directory + file) != FileKind::none) return directory;
  // Other programs' models may have neither, or be one file; what is wrong with one, its load says.
  const auto entered = doors::enter(directory);
  if (!entered || !entered->origin.program.empty()) return directory;
  return fail(ErrorCode::not_found, "LAPILLI_MODEL names %s, which is not %s; set it to one with a published model",
              directory, directory_exists(directory) ? "a directory with a config.json" : "a directory");
}

}  // namespace

Result<std::string> find_model_directory(const std::string& name) {
  const auto parsed = hub::parse_model_name(name);
  if (!parsed || file_kind(name) != FileKind::none) return name;  // if it is no model, its load says why
  const hub::Places places = hub::places_of_environment();
  std::string found = hub::find_present(places, *parsed);
  if (!found.empty()) return found;
  return fail(ErrorCode::not_found, "%s is not a directory%s", name, hub::how_to_get(places, *parsed));
}

Result<std::string> default_model_directory() {
  try {
    std::string named = environment("LAPILLI_MODEL");
    if (!named.empty()) return check_named(named);
    return find_bundled();
  } catch (const std::exception& e) {
    return fail(ErrorCode::internal, "looking for the bundled model: %s", e.what());
  }
}

std::string bundled_file(const char* name) {
  try {
    std::string looked_at;
    const std::string folder = find_models_folder(name, looked_at);
    return folder.empty() ? "" : folder + "/" + name;
  } catch (const std::exception&) {
    return "";
  }
}

}  // namespace lapilli
