// Detection of the language spoken in the first window of each recording.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "generate/batch.hpp"
#include "speech/frame_source.hpp"

namespace lapilli::speech {

// For one thread. The recordings' frames must be complete.
class LanguageDetection {
 public:
  LanguageDetection(std::shared_ptr<Model> model, std::vector<Recording> recordings);
  // Continues without waiting for the device. True: found() is valid. An error of one recording fails all.
  Result<bool> poll(double budget_us);
  // Waits, bounded, for what poll() waits for.
  Status wait();
  // The id of each recording's language.
  [[nodiscard]] const std::vector<int32_t>& found() const { return found_; }

 private:
  Result<bool> read();
  Status begin();
  Status end();

  const std::shared_ptr<Model> model_;
  const std::vector<Recording> recordings_;
  std::vector<std::shared_ptr<const model::Features>> windows_;  // the windows read so far
  std::shared_ptr<model::Features> reading_;
  std::unique_ptr<Batch> batch_;
  std::vector<int32_t> found_;
};

}  // namespace lapilli::speech
