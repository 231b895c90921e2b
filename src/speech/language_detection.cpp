#include "speech/language_detection.hpp"

#include <algorithm>

#include "speech/languages.hpp"

namespace lapilli::speech {

LanguageDetection::LanguageDetection(std::shared_ptr<Model> model, std::vector<Recording> recordings)
    : model_(std::move(model)), recordings_(std::move(recordings)) {}

Result<bool> LanguageDetection::poll(double budget_us) {
  if (!batch_) {
    LAPILLI_TRY(const bool all, read());
    if (!all) return false;
    LAPILLI_CHECK(begin());
  }
  if (!batch_->pump(budget_us)) return false;
  LAPILLI_CHECK(end());
  return true;
}

Status LanguageDetection::wait() {
  if (!batch_) return recordings_[windows_.size()].frames->wait();
  batch_->wait();
  return {};
}

// Reads each recording's first window, with zeros after its end.
Result<bool> LanguageDetection::read() {
  const ModelInfo& info = model_->info();
  while (windows_.size() < recordings_.size()) {
    FrameSource& frames = *recordings_[windows_.size()].frames;
    if (!reading_) {
      reading_ = std::make_shared<model::Features>();
      reading_->rows = info.feature_rows;
      reading_->width = info.feature_width;
      reading_->values.assign(uint64_t{reading_->rows} * reading_->width, 0.0f);
    }
    const uint64_t there = std::min<uint64_t>(reading_->rows, frames.extent().frames);
    LAPILLI_TRY(const bool done, frames.read(0, std::span(reading_->values).first(there * reading_->width)));
    if (!done) return false;
    windows_.push_back(std::move(reading_));
  }
  return true;
}

Status LanguageDetection::begin() {
  LAPILLI_TRY(auto request, language_request(*model_, windows_));
  LAPILLI_TRY(auto checked, CheckedRequest::check(*model_, std::move(request)));
  batch_ = std::make_unique<Batch>(model_, std::move(checked));
  return {};
}

Status LanguageDetection::end() {
  LAPILLI_CHECK(batch_->status());  // a failed batch has no output
  const GenerateOutput& out = batch_->output();
  for (size_t i = 0; i < recordings_.size(); ++i) {
    LAPILLI_CHECK(Status(out.errors[i]));
    LAPILLI_TRY(found_.emplace_back(), likeliest_language(model_->speech(), out.logits[i].front()));
  }
  return {};
}

}  // namespace lapilli::speech
