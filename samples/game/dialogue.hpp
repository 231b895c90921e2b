// Lapilli's side of the game, and the part to copy: lines go in, words come out, a little in each frame.
#pragma once

#include <memory>
#include <string>

#include "gpu.hpp"
#include "loader.hpp"

namespace game {

// How the work reaches the device.
enum class Work {
  none,    // there are no translations
  queue,   // Lapilli submits to the game's queue, under the game's lock
  append,  // the game's own command buffers take it along
};

// Used by the frames' thread alone. Nothing here waits for the device, but the end. Where something fails there is a
// message, and the game goes on in its original language.
class Dialogue {
 public:
  enum class State {
    original,  // no model: nothing is translated
    loading,
    ready,      // for the first line
    working,    // on a line
    complete,   // it is all there
    cancelled,  // it will not come
    failed,     // message() says why
  };

  Dialogue(Gpu& gpu, Work work);
  // Tell completed() of all frames before.
  ~Dialogue();
  Dialogue(const Dialogue&) = delete;
  Dialogue& operator=(const Dialogue&) = delete;

  // Another model: "" is the bundled one. A line that is being translated is cancelled.
  void choose(const std::string& directory);
  // No model: the original.
  void choose_original();

  // One line at a time: the one before is cancelled. False: there is no model, or it failed.
  bool ask(const std::string& line);
  void cancel();  // the player is no longer interested; the state tells it after the next update()

  // Once a frame, before it is recorded: at most about so many microseconds of the device's time.
  void update(uint64_t budget_us);
  // Work::append only, otherwise 0. While the frame is recorded, outside of a render pass: what it says is to be told
  // to completed() once the frame's fence has signalled, unless it is 0.
  uint64_t append(VkCommandBuffer commands, uint64_t budget_us);
  void completed(uint64_t serial);

  State state() const { return state_; }
  double progress() const { return loader_ ? loader_->progress() : 1; }  // of State::loading
  // The translation as far as it is known, in whole words.
  std::string words() const;
  const std::string& message() const { return message_; }

 private:
  void adopt(Gpu& gpu);
  void fail(const std::string& what);
  void update_loading();
  void take_events();
  void take_result();
  void drop_model();

  Work work_;
  lapilli_device* device_ = nullptr;
  std::unique_ptr<Loader> loader_;
  lapilli_model* model_ = nullptr;
  lapilli_job* job_ = nullptr;
  State state_ = State::original;
  std::string text_, message_;
};

}  // namespace game
