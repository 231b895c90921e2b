// A model is loaded and prepared on a thread of its own, while frames go on.
#pragma once

#include <atomic>
#include <string>
#include <thread>
#include <utility>

#include "lapilli/lapilli.h"

namespace game {

// The options of this game's translations; a model is prepared for exactly these.
lapilli_options translation_options();

class Loader {
 public:
  // `directory` as lapilli_model_load takes it; "": the bundled model.
  Loader(lapilli_device* device, std::string directory);
  // Ends early what has not ended. Waits for the thread, at most for one step of it.
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  bool ended() const { return ended_; }
  double progress() const { return progress_; }  // of the weights: 0 to 1
  // After the end: the model, which becomes the caller's, or null and the reason.
  lapilli_model* take();
  const std::string& error() const { return error_; }

 private:
  void work();
  bool load();
  bool prepare();
  bool failed();

  lapilli_device* device_;
  std::string directory_, error_;
  lapilli_model* model_ = nullptr;
  std::atomic<double> progress_{0};
  std::atomic<bool> stop_{false}, ended_{false};
  std::thread thread_;
};

}  // namespace game
