#include "window.hpp"

namespace game {

std::unique_ptr<Window> open_window(VkExtent2D) {
  throw std::runtime_error("built without SDL2 (Debian: libsdl2-dev): leave out --window");
}

}  // namespace game
