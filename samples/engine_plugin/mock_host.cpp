// Stands for the engine: owns the Vulkan device, a render thread that alone submits (and late), and a game thread,
// which is main's. It knows the plugin by its functions' names only.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "library.hpp"
#include "translator_plugin.h"

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

namespace engine {

// ---- Vulkan

#ifdef _WIN32
constexpr const char* kLoader = "vulkan-1.dll";
#elif defined(__APPLE__)
constexpr const char* kLoader = "libvulkan.1.dylib";
#else
constexpr const char* kLoader = "libvulkan.so.1";
#endif

void check(VkResult result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": Vulkan error " + std::to_string(result));
}

// The engine's device: no extensions, no features. Throws where there is none.
class Vulkan {
 public:
  Vulkan() : loader_(kLoader) {
    loader_.find("vkGetInstanceProcAddr", get_);
    make_instance();
    make_device();
  }
  ~Vulkan() {
    if (device_) function<PFN_vkDestroyDevice>("vkDestroyDevice")(device_, nullptr);
    if (instance_) function<PFN_vkDestroyInstance>("vkDestroyInstance")(instance_, nullptr);
  }
  Vulkan(const Vulkan&) = delete;
  Vulkan& operator=(const Vulkan&) = delete;

  host_vulkan handles() const {
    return {VK_API_VERSION_1_1, family_, reinterpret_cast<void*>(get_), instance_, physical_, device_, queue_};
  }
  void wait_idle() const { check(function<PFN_vkDeviceWaitIdle>("vkDeviceWaitIdle")(device_), "vkDeviceWaitIdle"); }

 private:
  template <typename Function>
  Function function(const char* name) const {
    const auto found = reinterpret_cast<Function>(get_(instance_, name));
    if (!found) throw std::runtime_error(std::string("Vulkan has no ") + name);
    return found;
  }
  void make_instance() {
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_1;
    VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    check(function<PFN_vkCreateInstance>("vkCreateInstance")(&info, nullptr, &instance_), "vkCreateInstance");
    uint32_t one = 1;
    const auto enumerate = function<PFN_vkEnumeratePhysicalDevices>("vkEnumeratePhysicalDevices");
    check(enumerate(instance_, &one, &physical_), "vkEnumeratePhysicalDevices");
    if (one == 0) throw std::runtime_error("there is no Vulkan device");
  }
  void make_device() {
    family_ = find_family();
    const float priority = 1;
    VkDeviceQueueCreateInfo queue{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queue.queueFamilyIndex = family_;
    queue.queueCount = 1;
    queue.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queue;
    check(function<PFN_vkCreateDevice>("vkCreateDevice")(physical_, &info, nullptr, &device_), "vkCreateDevice");
    function<PFN_vkGetDeviceQueue>("vkGetDeviceQueue")(device_, family_, 0, &queue_);
  }
  uint32_t find_family() const {
    const auto ask = function<PFN_vkGetPhysicalDeviceQueueFamilyProperties>("vkGetPhysicalDeviceQueueFamilyProperties");
    uint32_t count = 0;
    ask(physical_, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    ask(physical_, &count, families.data());
    for (uint32_t i = 0; i < count; ++i)
      if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) return i;
    throw std::runtime_error("the device has no queue that computes");
  }

  Library loader_;
  PFN_vkGetInstanceProcAddr get_ = nullptr;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  uint32_t family_ = 0;
};

// ---- the render thread

// Runs tasks in their order, each kLate of its frames after it came.
class RenderThread {
 public:
  RenderThread() : thread_([this] { run(); }) {}
  ~RenderThread() {
    stop_ = true;
    thread_.join();
  }
  RenderThread(const RenderThread&) = delete;
  RenderThread& operator=(const RenderThread&) = delete;

  void add(host_task task, void* data) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back({task, data, frame_ + kLate});
  }
  uint64_t tasks() const { return tasks_; }

 private:
  static constexpr uint64_t kLate = 3;
  struct Entry {
    host_task task;
    void* data;
    uint64_t frame;
  };

  void run() {
    while (!stop_) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
      for (Entry entry; next(entry);) {
        entry.task(entry.data);
        ++tasks_;
      }
    }
  }
  bool next(Entry& entry) {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || waiting_.front().frame > frame_) return ++frame_, false;
    entry = waiting_.front();
    waiting_.pop_front();
    return true;
  }

  std::mutex mutex_;
  std::deque<Entry> waiting_;
  uint64_t frame_ = 0;
  std::atomic<uint64_t> tasks_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// ---- the plugin, by name

struct Plugin {
  explicit Plugin(const char* path) : library(path) {
    library.find("translator_load", load);
    library.find("translator_unload", unload);
    library.find("translator_update", update);
    library.find("translator_request", request);
    library.find("translator_poll", poll);
    library.find("translator_release", release);
    library.find("translator_error", error);
  }
  Library library;
  decltype(&translator_load) load = nullptr;
  decltype(&translator_unload) unload = nullptr;
  decltype(&translator_update) update = nullptr;
  decltype(&translator_request) request = nullptr;
  decltype(&translator_poll) poll = nullptr;
  decltype(&translator_release) release = nullptr;
  decltype(&translator_error) error = nullptr;
};

// ---- the game

constexpr uint32_t kBudgetUs = 1000;

// The rest of a frame: what else a game does.
void frame() { std::this_thread::sleep_for(std::chrono::milliseconds(1)); }

class Game {
 public:
  Game(const Plugin& plugin, const Vulkan& vulkan, RenderThread& render)
      : plugin_(plugin), vulkan_(vulkan), render_(render) {}
  // Also after an error: while the render thread goes on.
  ~Game() { plugin_.unload(); }
  Game(const Game&) = delete;
  Game& operator=(const Game&) = delete;

  // While the plugin is loaded.
  void translate(const char* model, const std::vector<std::string>& lines);
  // The player leaves while the model loads.
  void leave_early(const char* model);

 private:
  void load(const char* model);
  void wait_for_model();
  std::string wait_for(int32_t request);
  [[noreturn]] void give_up(const char* what) { throw std::runtime_error(std::string(what) + ": " + plugin_.error()); }

  const Plugin& plugin_;
  const Vulkan& vulkan_;
  RenderThread& render_;
};

void Game::load(const char* model) {
  host_interface host{};
  host.engine = this;
  host.get_vulkan = [](void* game, host_vulkan* vulkan) { *vulkan = static_cast<Game*>(game)->vulkan_.handles(); };
  host.on_render_thread = [](void* game, host_task task, void* data) {
    static_cast<Game*>(game)->render_.add(task, data);
  };
  if (!plugin_.load(&host, model)) give_up("loading");
}

void Game::wait_for_model() {
  int32_t state = TRANSLATOR_WORKING;
  while ((state = plugin_.update(kBudgetUs)) == TRANSLATOR_WORKING) frame();
  if (state != TRANSLATOR_READY) give_up("loading");
}

std::string Game::wait_for(int32_t request) {
  char text[2048];
  int32_t state = TRANSLATOR_WORKING;
  while ((state = plugin_.poll(request, text, sizeof text)) == TRANSLATOR_WORKING) {
    plugin_.update(kBudgetUs);
    frame();
  }
  if (state != TRANSLATOR_READY) give_up("translating");
  plugin_.release(request);
  return text;
}

void Game::translate(const char* model, const std::vector<std::string>& lines) {
  load(model);
  wait_for_model();
  // One that nobody waits for: it goes while it is at work.
  const int32_t unwanted = plugin_.request("This line is skipped before it is complete.");
  if (unwanted == 0) give_up("asking");
  plugin_.update(kBudgetUs);
  plugin_.release(unwanted);
  // Two at a time.
  std::deque<int32_t> asked;
  for (size_t next = 0; next < lines.size() || !asked.empty();) {
    while (next < lines.size() && asked.size() < 2) {
      asked.push_back(plugin_.request(lines[next++].c_str()));
      if (asked.back() == 0) give_up("asking");
    }
    std::printf("%s\n", wait_for(asked.front()).c_str());
    asked.pop_front();
  }
  plugin_.unload();
}

void Game::leave_early(const char* model) {
  load(model);
  for (int i = 0; i < 3; ++i) {
    plugin_.update(kBudgetUs);
    frame();
  }
  plugin_.unload();
}

int run(const char* plugin_path, const char* model, const std::vector<std::string>& lines) {
  const Plugin plugin(plugin_path);
  const Vulkan vulkan;
  RenderThread render;
  Game game(plugin, vulkan, render);
  game.leave_early(model);
  game.translate(model, lines);
  vulkan.wait_idle();
  std::fprintf(stderr, "%llu submissions by the render thread\n", static_cast<unsigned long long>(render.tasks()));
  return render.tasks() == 0;
}

}  // namespace engine

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: sample_engine_host PLUGIN MODEL TEXT...   (MODEL \"\": the bundled one)\n");
    return 2;
  }
  try {
    return engine::run(argv[1], argv[2], {argv + 3, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sample_engine_host: %s\n", error.what());
    return 1;
  }
}
