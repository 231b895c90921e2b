// The model of a command on pictures, and what it makes of some files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

struct PictureRequest {
  std::string model;  // directory
  std::string select, caps, dtype = "fp32", kv_dtype = "fp32";
  std::string cache;                   // the folder of what is kept between runs; "": nothing is
  unsigned long memory_mib = 0;        // of the device at most; 0: what there is
  bool classes = false;                // the model must classify; otherwise it must write
  std::string prompt;                  // of models that write
  unsigned beams = 0, max_length = 0;  // 0: as the model says
  unsigned top = 5, batch = 8;         // of models that classify
  std::string attention;               // PictureAnswer::attention: "svg", "png"; "": none
  int attention_layer = LAPILLI_ATTENTION_MEAN, attention_head = LAPILLI_ATTENTION_MEAN;
};

// What became of one file.
struct PictureAnswer {
  Output output;
  std::string attention;  // a file's content: what each word looked at
};

struct PictureFigures {
  double load_ms = 0, read_ms = 0, run_ms = 0;  // read: files, and what is made of them on the host
  unsigned long long pictures = 0;              // that were answered
};

class PictureModel {
 public:
  explicit PictureModel(PictureRequest request) : request_(std::move(request)) {}
  // A model of another kind is told what serves it.
  std::optional<Error> load();
  // An answer for each file, or for those before the error; none of an interrupted run.
  std::optional<Error> run(const std::vector<std::string>& files, std::vector<PictureAnswer>& answers);

  [[nodiscard]] lapilli_model_info info() const { return model_->info(); }
  [[nodiscard]] lapilli_device_usage usage() const { return device_->usage(); }
  [[nodiscard]] const PictureFigures& figures() const { return figures_; }

 private:
  std::optional<Error> open();
  [[nodiscard]] std::optional<Error> check() const;
  [[nodiscard]] std::optional<Error> check_kind() const;
  [[nodiscard]] Options options() const;
  [[nodiscard]] Error as_typed(const Error& error) const;
  [[nodiscard]] Drawing drawing() const;
  std::optional<Error> draw(const Results& results, std::vector<PictureAnswer>& answers);

  const PictureRequest request_;
  std::optional<Device> device_;
  std::optional<Model> model_;
  PictureFigures figures_;
};

}  // namespace lapilli::cli
