// The model of a command on pictures, and its results for files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

struct PictureRequest {
  std::string model;  // directory
  std::string select, caps, dtype = "fp32", kv_dtype = "fp32";
  bool require_gpu = false;
  std::string cache;                   // folder of data kept between runs; "": none
  unsigned long memory_mib = 0;        // limit of device memory; 0: none
  bool classes = false;                // the model must classify; otherwise it must write
  std::string prompt;                  // for models that write
  unsigned beams = 0, max_length = 0;  // 0: as the model says
  unsigned top = 5, batch = 8;         // for models that classify
  std::string attention;               // PictureAnswer::attention: "svg", "png"; "": none
  int attention_layer = LAPILLI_ATTENTION_MEAN, attention_head = LAPILLI_ATTENTION_MEAN;
};

// The result for one file.
struct PictureAnswer {
  Output output;
  std::string attention;  // content of a file that shows each word's attention
};

struct PictureFigures {
  double load_ms = 0, read_ms = 0, run_ms = 0;  // read_ms: reading files and preparing pictures on the host
  unsigned long long pictures = 0;              // answered ones
};

class PictureModel {
 public:
  explicit PictureModel(PictureRequest request) : request_(std::move(request)) {}
  // For a model of another kind, the error says which command serves it.
  Result<void> load();
  // Gives an answer for each file, or for those before the error; none if the run was interrupted.
  Result<void> run(const std::vector<std::string>& files, std::vector<PictureAnswer>& answers);

  [[nodiscard]] lapilli_model_info info() const { return model_.info().value(); }
  [[nodiscard]] lapilli_device_usage usage() const { return device_.usage().value(); }
  [[nodiscard]] const PictureFigures& figures() const { return figures_; }

 private:
  Result<void> open();
  [[nodiscard]] Result<void> check() const;
  [[nodiscard]] Result<void> check_kind() const;
  [[nodiscard]] Options options() const;
  [[nodiscard]] Error as_typed(const Error& error) const;
  [[nodiscard]] AttentionDrawing drawing() const;
  Result<void> draw(const Results& results, std::vector<PictureAnswer>& answers);

  const PictureRequest request_;
  Device device_;
  Model model_;
  PictureFigures figures_;
};

}  // namespace lapilli::cli
