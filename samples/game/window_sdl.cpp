#define SDL_MAIN_HANDLED
#include <SDL.h>
#include <SDL_vulkan.h>

#include "window.hpp"

namespace game {
namespace {

void check_sdl(bool worked, const char* what) {
  if (!worked) throw std::runtime_error(std::string(what) + ": " + SDL_GetError());
}

class SdlWindow : public Window {
 public:
  explicit SdlWindow(VkExtent2D size) {
    SDL_SetMainReady();
    check_sdl(SDL_Init(SDL_INIT_VIDEO) == 0, "no window");
    constexpr uint32_t kFlags = SDL_WINDOW_VULKAN | SDL_WINDOW_RESIZABLE | SDL_WINDOW_ALLOW_HIGHDPI;
    window_ = SDL_CreateWindow("Lapilli: the lighthouse", SDL_WINDOWPOS_CENTERED, SDL_WINDOWPOS_CENTERED,
                               static_cast<int>(size.width), static_cast<int>(size.height), kFlags);
    if (!window_) SDL_Quit();
    check_sdl(window_ != nullptr, "no window");
  }
  ~SdlWindow() override {
    SDL_DestroyWindow(window_);
    SDL_Quit();
  }
  SdlWindow(const SdlWindow&) = delete;
  SdlWindow& operator=(const SdlWindow&) = delete;

  std::vector<const char*> instance_extensions() const override {
    unsigned count = 0;
    check_sdl(SDL_Vulkan_GetInstanceExtensions(window_, &count, nullptr), "asking SDL for extensions");
    std::vector<const char*> names(count);
    check_sdl(SDL_Vulkan_GetInstanceExtensions(window_, &count, names.data()), "asking SDL for extensions");
    return names;
  }
  VkSurfaceKHR make_surface(VkInstance instance) const override {
    VkSurfaceKHR surface = VK_NULL_HANDLE;
    check_sdl(SDL_Vulkan_CreateSurface(window_, instance, &surface), "making the surface");
    return surface;
  }
  VkExtent2D size() const override {
    int wide = 0, high = 0;
    SDL_Vulkan_GetDrawableSize(window_, &wide, &high);
    return {static_cast<uint32_t>(wide), static_cast<uint32_t>(high)};
  }
  Keys keys() override {
    Keys keys;
    for (SDL_Event event; SDL_PollEvent(&event);) {
      if (event.type == SDL_QUIT) keys.quit = true;
      if (event.type == SDL_KEYDOWN && !event.key.repeat) press(keys, event.key.keysym.sym);
    }
    return keys;
  }

 private:
  static void press(Keys& keys, SDL_Keycode key) {
    keys.skip |= key == SDLK_SPACE || key == SDLK_RETURN;
    keys.language |= key == SDLK_l;
    keys.quit |= key == SDLK_ESCAPE;
  }

  SDL_Window* window_ = nullptr;
};

}  // namespace

std::unique_ptr<Window> open_window(VkExtent2D size) { return std::make_unique<SdlWindow>(size); }

}  // namespace game
