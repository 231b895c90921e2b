// A shared library that is opened by name, as engines open their plugins.
#pragma once

#include <stdexcept>
#include <string>

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace engine {

// Stays open until the program ends: Vulkan's drivers are unloaded badly. Throws where a file or a function is missing.
class Library {
 public:
  explicit Library(const char* path) : name_(path) {
#ifdef _WIN32
    const int length = MultiByteToWideChar(CP_UTF8, 0, path, -1, nullptr, 0);
    std::wstring wide(static_cast<size_t>(length), L'\0');
    MultiByteToWideChar(CP_UTF8, 0, path, -1, wide.data(), length);
    handle_ = LoadLibraryW(wide.c_str());
    if (!handle_) throw std::runtime_error(name_ + " cannot be opened");
#else
    handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle_) throw std::runtime_error(dlerror());
#endif
  }

  template <typename Function>
  void find(const char* function, Function& to) const {
#ifdef _WIN32
    to = reinterpret_cast<Function>(reinterpret_cast<void*>(GetProcAddress(handle_, function)));
#else
    to = reinterpret_cast<Function>(dlsym(handle_, function));
#endif
    if (!to) throw std::runtime_error(name_ + " has no " + function);
  }

 private:
  std::string name_;
#ifdef _WIN32
  HMODULE handle_ = nullptr;
#else
  void* handle_ = nullptr;
#endif
};

}  // namespace engine
