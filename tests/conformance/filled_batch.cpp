#include "conformance/filled_batch.hpp"

#include <algorithm>
#include <map>

#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "search/network_on_device.hpp"
#include "speech/prefix.hpp"
#include "support/safetensors_file.hpp"

namespace lapilli::conformance {

namespace {

using testing_support::SafetensorsFile;

constexpr const char* kPositions = "model.decoder.embed_positions.weight";

// The directory's model whose decoder reads row `first` of its table of positions at its first one.
class LaterModel {
 public:
  static Result<std::shared_ptr<Model>> load(const Model& model, uint32_t first) {
    LaterModel later;
    LAPILLI_TRY(const auto tensors, Checkpoint::open(model.info().directory));
    for (const StoredTensor& t : tensors.tensors()) {
      LAPILLI_TRY(auto values, read_floats(t));
      later.file_.tensors[t.name] = {t.shape, std::move(values)};
    }
    LAPILLI_CHECK(later.cut_positions(first));
    later.file_.write();
    LAPILLI_CHECK(later.write_config(model.info(), first));
    LoadOptions options;
    options.format = model.info().format;
    options.kv_format = model.info().kv_format;
    return Model::load(model.device(), later.file_.directory(), options);
  }

 private:
  Status cut_positions(uint32_t first) {
    const auto it = file_.tensors.find(kPositions);
    if (it == file_.tensors.end() || it->second.shape.size() != 2 || it->second.shape[0] <= first)
      return fail(ErrorCode::unsupported, "%s has no row %u", kPositions, first);
    auto& [shape, values] = it->second;
    shape[0] -= first;
    values.erase(values.begin(), values.begin() + static_cast<ptrdiff_t>(first * shape[1]));
    return {};
  }

  Status write_config(const ModelInfo& info, uint32_t first) const {
    for (const char* name : {"generation_config.json", "preprocessor_config.json"})
      std::filesystem::copy(info.directory + "/" + name, file_.directory() + "/" + name);
    LAPILLI_TRY(auto config, read_json_file(info.directory + "/config.json"));
    config["max_target_positions"] = info.max_target_positions - first;
    std::ofstream(file_.directory() + "/config.json") << config;
    return {};
  }

  SafetensorsFile file_;
};

class FilledBatch {
 public:
  FilledBatch(std::shared_ptr<Model> model, const speech::TranscribeRequest& request, int32_t filling)
      : request_(request), filling_(filling), rows_(request.recordings.size()) {
    models_[0] = std::move(model);
    out_.transcripts.resize(rows_.size());
  }

  Result<speech::TranscribeOutput> run() {
    if (!request_.temperatures.empty() || !request_.prompt_ids.empty() || request_.word_times)
      return fail(ErrorCode::unsupported, "prompts, temperatures and times of a batch that is filled on the left");
    for (auto round = next_round(); !round.empty(); round = next_round()) {
      size_t longest = 0;
      for (const size_t row : round) longest = std::max(longest, before(row).size());
      for (const size_t row : round)
        LAPILLI_CHECK(transcribe_window(row, static_cast<uint32_t>(longest - before(row).size())));
    }
    return std::move(out_);
  }

 private:
  struct Row {
    uint64_t seek = 0;
    std::vector<std::vector<int32_t>> written;
  };

  [[nodiscard]] const Model& model() const { return *models_.at(0); }
  [[nodiscard]] uint64_t frames(size_t row) const { return request_.recordings[row].frames->extent().frames; }

  [[nodiscard]] std::vector<size_t> next_round() const {
    std::vector<size_t> round;
    for (size_t row = 0; row < rows_.size(); ++row)
      if (rows_[row].seek < frames(row)) round.push_back(row);
    return round;
  }

  [[nodiscard]] std::vector<int32_t> before(size_t row) const {
    if (rows_[row].written.empty()) return {};
    const SpeechSettings& settings = model().speech();
    auto ids = speech::ids_before(rows_[row].written, settings.no_timestamps.value_or(0) + 1,
                                  speech::most_ids_before(model().info().max_target_positions));
    ids.insert(ids.begin(), settings.previous_start.value_or(0));
    return ids;
  }

  Result<std::shared_ptr<Model>> model_at(uint32_t first) {
    auto& made = models_[first];
    if (!made) {
      LAPILLI_TRY(made, LaterModel::load(model(), first));
    }
    return made;
  }

  Result<std::shared_ptr<const model::Features>> window_of(size_t row) const {
    auto f = std::make_shared<model::Features>();
    const ModelInfo& info = model().info();
    f->width = info.feature_width;
    f->rows = static_cast<uint32_t>(std::min<uint64_t>(info.feature_rows, frames(row) - rows_[row].seek));
    f->values.resize(uint64_t{f->rows} * f->width);
    LAPILLI_TRY(const bool read, request_.recordings[row].frames->read(rows_[row].seek, f->values));
    if (!read) return fail(ErrorCode::internal, "frames that lie in memory are not there");
    return std::shared_ptr<const model::Features>(std::move(f));
  }

  // A recording of one window; where it goes on behind the first one is not looked at.
  Status transcribe_window(size_t row, uint32_t filled) {
    speech::TranscribeRequest r = request_;
    LAPILLI_TRY(const auto window, window_of(row));
    r.recordings = {speech::recording_of(window)};
    r.condition_on_previous = false;
    r.prompt_ids = before(row);
    if (r.languages.size() > 1) r.languages = {request_.languages[row]};
    LAPILLI_TRY(const auto filled_model, model_at(filled));
    LAPILLI_TRY(auto output, speech::transcribe(filled_model, r));
    keep(row, filled, output);
    return {};
  }

  void keep(size_t row, uint32_t filled, speech::TranscribeOutput& output) {
    speech::Window w = std::move(output.windows.front());
    w.recording = row;
    w.seek = rows_[row].seek;
    w.decoder_ids.insert(w.decoder_ids.begin(), filled, filling_);
    for (uint32_t i = 0; i < w.segments; ++i) {
      auto& s = out_.transcripts[row].segments.emplace_back(std::move(output.transcripts.front().segments[i]));
      s.recording = row;
      s.begin += static_cast<double>(w.seek) * 0.01;
      s.end += static_cast<double>(w.seek) * 0.01;
      rows_[row].written.push_back(s.ids);
    }
    rows_[row].seek += w.skipped ? model().info().feature_rows : w.advance;
    out_.windows.push_back(std::move(w));
  }

  const speech::TranscribeRequest& request_;
  int32_t filling_;
  std::vector<Row> rows_;
  std::map<uint32_t, std::shared_ptr<Model>> models_;  // by their first row of positions
  speech::TranscribeOutput out_;
};

}  // namespace

Result<speech::TranscribeOutput> transcribe_filled(const std::shared_ptr<Model>& model,
                                                   const speech::TranscribeRequest& request, int32_t filling) {
  return FilledBatch(model, request, filling).run();
}

}  // namespace lapilli::conformance
