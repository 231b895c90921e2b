#include "vulkan.hpp"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace game {

PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;

#define GAME_DEFINE(name) PFN_##name name = nullptr;
GAME_LOADER_FUNCTIONS(GAME_DEFINE)
GAME_INSTANCE_FUNCTIONS(GAME_DEFINE)
GAME_WINDOW_FUNCTIONS(GAME_DEFINE)
#undef GAME_DEFINE

namespace {

// Stays open until the program ends, as drivers are unloaded badly.
void* find_entry() {
#ifdef _WIN32
  HMODULE loader = LoadLibraryW(L"vulkan-1.dll");
  return loader ? reinterpret_cast<void*>(GetProcAddress(loader, "vkGetInstanceProcAddr")) : nullptr;
#else
#ifdef __APPLE__
  const char* const names[] = {"libvulkan.1.dylib", "libMoltenVK.dylib"};
#else
  const char* const names[] = {"libvulkan.so.1", "libvulkan.so"};
#endif
  for (const char* name : names)
    if (void* loader = dlopen(name, RTLD_NOW)) return dlsym(loader, "vkGetInstanceProcAddr");
  return nullptr;
#endif
}

template <typename Function>
void load(Function& function, VkInstance instance, const char* name, bool needed) {
  function = reinterpret_cast<Function>(vkGetInstanceProcAddr(instance, name));
  if (!function && needed) throw std::runtime_error(std::string("the Vulkan loader has no ") + name);
}

}  // namespace

void open_vulkan() {
  vkGetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(find_entry());
  if (!vkGetInstanceProcAddr)
    throw std::runtime_error("no Vulkan loader (Debian: libvulkan1, and a driver such as mesa-vulkan-drivers)");
#define GAME_LOAD(name) load(name, VK_NULL_HANDLE, #name, true);
  GAME_LOADER_FUNCTIONS(GAME_LOAD)
#undef GAME_LOAD
}

void load_vulkan(VkInstance instance) {
#define GAME_LOAD(name) load(name, instance, #name, true);
  GAME_INSTANCE_FUNCTIONS(GAME_LOAD)
#undef GAME_LOAD
#define GAME_LOAD(name) load(name, instance, #name, false);
  GAME_WINDOW_FUNCTIONS(GAME_LOAD)
#undef GAME_LOAD
}

void check(VkResult result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": Vulkan error " + std::to_string(result));
}

}  // namespace game
