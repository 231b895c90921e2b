// A window and its keys, by SDL2 where that was found.
#pragma once

#include <memory>
#include <vector>

#include "gpu.hpp"

namespace game {

struct Keys {
  bool skip = false, language = false, quit = false;
};

// Throws where there is no window to be had.
class Window {
 public:
  virtual ~Window() = default;
  virtual std::vector<const char*> instance_extensions() const = 0;
  virtual VkSurfaceKHR make_surface(VkInstance instance) const = 0;
  virtual VkExtent2D size() const = 0;  // pixels; 0 while it is minimized
  virtual Keys keys() = 0;              // pressed since the last call
};

std::unique_ptr<Window> open_window(VkExtent2D size);

}  // namespace game
