// The models of a device: loaded when the first work wants them, by a thread of its own, and dropped when others need
// the memory or when nobody has used them for long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lapilli/lapilli.hpp"
#include "server/work/model_facts.hpp"

namespace lapilli::server {

// Thread-safe. A model whose pointer somebody else holds is at work and is not dropped.
class ModelShelf {
 public:
  struct Limits {
    ModelOptions model;  // of each
    double idle_s = 0;   // after which an unused model is dropped; 0: never
  };
  // `changed` is called on the loader's thread when a load has ended.
  ModelShelf(std::vector<ModelFacts> models, Device device, Limits limits, std::function<void()> changed);
  ~ModelShelf();  // waits for a running load
  ModelShelf(const ModelShelf&) = delete;
  ModelShelf& operator=(const ModelShelf&) = delete;

  [[nodiscard]] const std::vector<ModelFacts>& facts() const { return facts_; }
  [[nodiscard]] const Device& device() const { return device_; }
  // The model, or null while it is loaded, which this begins. A load goes on if nobody wants it any more.
  std::shared_ptr<const Model> get(const std::string& name);
  // Why the last load failed, once: the next get() tries again. Nothing: it has not failed.
  std::optional<Error> take_failure(const std::string& name);
  // The model was at work until now.
  void touch(const std::string& name);
  // Drops models that have been unused for too long.
  void drop_idle();
  // True while a model is loaded, which the destructor waits for.
  [[nodiscard]] bool is_loading() const;

  struct Loaded {
    std::string name;
    uint64_t weight_bytes = 0;
    double load_ms = 0;
  };
  [[nodiscard]] std::vector<Loaded> loaded() const;
  [[nodiscard]] uint64_t loads() const;  // since the start, also those that failed

 private:
  using Clock = std::chrono::steady_clock;
  struct Entry {
    std::shared_ptr<const Model> model;
    std::optional<Error> failure;
    Clock::time_point failed{};
    bool wanted = false;  // waits for the loader, or is loaded now
    Clock::time_point used = Clock::now();
  };
  size_t number_of(const std::string& name) const;
  void work();
  void load(size_t number);
  Result<Model> try_load(const std::string& directory);
  std::shared_ptr<const Model> oldest_unused();
  bool make_room();
  [[nodiscard]] bool has_others() const;

  const std::vector<ModelFacts> facts_;
  const Device device_;
  const Limits limits_;
  const std::function<void()> changed_;
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable woken_;
  std::vector<Entry> entries_;
  std::deque<size_t> wanted_;
  uint64_t loads_ = 0;
  bool over_ = false;
  std::thread loader_;
};

}  // namespace lapilli::server
