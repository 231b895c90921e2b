// Kinds "features" (samples in a record) and "audio_features" (recordings beside it): what a model's encoder takes.
#include <algorithm>
#include <cmath>
#include <memory>

#include "base/worst.hpp"
#include "conformance/folder.hpp"
#include "recordings/recording.hpp"
#include "speech/sound_features.hpp"

namespace lapilli::conformance {
namespace {

using Json = nlohmann::json;

// Numbers of frames, one frame after the other.
struct Frames {
  uint64_t count = 0, width = 0;
  std::vector<float> values;
  uint64_t mask = 0;  // frames that are said to hold sound
};

// The feature extractor's settings: the file's, with the case's arguments over them.
Result<SoundConfig> config_of(const FileName& file, const Json& c) {
  LAPILLI_TRY(auto json, read_json_file(file));
  const Json args = c.value("args", Json::object());
  for (const auto& [key, value] : args.items()) {
    json[key] = value;
    if (key == "num_mel_bins") json["feature_size"] = value;
  }
  return parse_sound_config(json, file.path());
}

Result<Frames> make_frames(const std::shared_ptr<vulkan::Device>& device, const SoundConfig& config,
                           const std::vector<float>& samples, uint64_t length) {
  LAPILLI_TRY(const auto maker, speech::SoundFeatures::create(device, config));
  audio::SamplesInMemory source{std::span(samples).first(std::min<uint64_t>(samples.size(), length))};
  Frames made;
  LAPILLI_TRY(made.values, maker->make_all({&source, length}));
  made.count = maker->frames(length);
  made.width = config.mel_bins;
  made.mask = (std::min<uint64_t>(samples.size(), length) + config.hop - 1) / config.hop;
  return made;
}

// The place of band b of frame f in a recorded tensor: tensors are [mels, frames], except those of filter banks.
struct Order {
  uint64_t frame_stride, band_stride;
};

// Recorded frames are the first of ours.
double worst_of(const Frames& ours, const float* recorded, uint64_t frames, Order order) {
  double worst = 0;
  for (uint64_t f = 0; f < frames; ++f)
    for (uint64_t b = 0; b < ours.width; ++b) {
      const float expected = recorded[f * order.frame_stride + b * order.band_stride];
      worst = worse(worst, std::abs(static_cast<double>(ours.values[f * ours.width + b] - expected)));
    }
  return worst;
}

// Frames behind the recorded ones all hold the same value.
void compare_tail(const Frames& ours, uint64_t recorded, const Json& c, Outcome& outcome) {
  const uint64_t total = c.value("total_frames", recorded);
  if (ours.count != total) return outcome.fail(std::to_string(ours.count) + " frames, not " + std::to_string(total));
  if (!c.contains("tail_value")) return;
  double worst = 0;
  for (uint64_t i = recorded * ours.width; i < ours.values.size(); ++i)
    worst = worse(worst, std::abs(static_cast<double>(ours.values[i]) - c.at("tail_value").get<double>()));
  outcome.compare(worst, c.at("atol_fp32").get<double>(), "the silence behind");
}

Result<Outcome> compare_features(const Frames& ours, SoundKind kind, const Record& record, const Json& c) {
  LAPILLI_TRY(const auto expected, read_matrix(record, c.at("output").get<std::string>()));
  const bool by_band = kind == SoundKind::log_mel;
  if (expected.shape.size() != 2) return Outcome::failed("the recorded features are no matrix");
  const uint64_t frames = expected.shape[by_band ? 1 : 0], width = expected.shape[by_band ? 0 : 1];
  if (width != ours.width || frames > ours.count)
    return Outcome::failed(std::to_string(ours.width) + " bands of " + std::to_string(ours.count) + " frames");
  Outcome outcome;
  const double worst = worst_of(ours, expected.values.data(), frames, by_band ? Order{1, frames} : Order{width, 1});
  outcome.compare(worst, c.at("atol_fp32").get<double>(), "features");
  compare_tail(ours, frames, c, outcome);
  if (c.contains("attention_mask_sum") && c.at("attention_mask_sum").get<uint64_t>() != ours.mask)
    outcome.fail(std::to_string(ours.mask) + " frames of sound in the mask");
  return outcome;
}

// Whole numbers, times a scale.
Result<std::vector<float>> read_waveform(const Record& record, const std::string& name, float scale) {
  const StoredTensor* t = record.has_tensors ? record.tensors.find(name) : nullptr;
  if (!t) return fail(ErrorCode::invalid_data, "tensor %s is missing", name.c_str());
  LAPILLI_TRY(const auto values, read_integers(*t));
  std::vector<float> samples(values.size());
  std::transform(values.begin(), values.end(), samples.begin(), [&](auto v) { return static_cast<float>(v) * scale; });
  return samples;
}

Result<Outcome> run_features(const std::string& directory, const std::shared_ptr<vulkan::Device>& device,
                             const Record& record, const Json& c) {
  LAPILLI_TRY(const auto config, config_of(Files(directory + "/files") / "preprocessor_config.json", c));
  LAPILLI_TRY(const auto wave,
              read_waveform(record, c.at("inputs").at("waveform").get<std::string>(), c.value("scale", 1.0f)));
  const bool chunk = config.kind == SoundKind::log_mel;
  LAPILLI_TRY(const auto ours, make_frames(device, config, wave, chunk ? config.chunk_samples : wave.size()));
  return compare_features(ours, config.kind, record, c);
}

Result<std::vector<float>> read_recording(const std::string& path, uint32_t rate) {
  LAPILLI_TRY(const auto recording,
              recordings::Recording::open([&] { return recordings::open_sound_file(path); }, path, rate));
  LAPILLI_TRY(const uint64_t n, recording->count());
  std::vector<float> samples(n);
  LAPILLI_CHECK(recording->read(0, samples));
  return samples;
}

// Row r of the recorded [rows, mels, frames], and of the mask where there is one.
Status compare_row(const Frames& ours, size_t row, const Record& record, const Json& c, Outcome& outcome) {
  const Json& outputs = c.at("outputs");
  LAPILLI_TRY(const auto expected, read_matrix(record, outputs.at("input_features").get<std::string>()));
  if (expected.shape.size() != 3 || row >= expected.shape[0] || expected.shape[1] != ours.width ||
      expected.shape[2] != ours.count)
    return fail(ErrorCode::invalid_data, "%llu bands of %llu frames, unlike the record",
                static_cast<unsigned long long>(ours.width), static_cast<unsigned long long>(ours.count));
  const float* values = expected.values.data() + row * ours.width * ours.count;
  outcome.compare(worst_of(ours, values, ours.count, {1, ours.count}), c.at("atol_fp32").get<double>(), "features");
  if (!outputs.contains("attention_mask")) return {};
  LAPILLI_TRY(const auto masks, read_ids(record, outputs.at("attention_mask").get<std::string>()));
  const auto ones = static_cast<uint64_t>(std::count(masks.at(row).begin(), masks.at(row).end(), 1));
  if (ones != std::min<uint64_t>(ours.mask, masks.at(row).size()))
    outcome.fail("the mask has " + std::to_string(ones) + " frames, not " + std::to_string(ours.mask));
  return {};
}

Result<Outcome> run_audio_features(const std::string& directory, const SoundConfig& config,
                                   const std::shared_ptr<vulkan::Device>& device, const Record& record, const Json& c) {
  if (c.value("scale", 1.0 / 32768) != 1.0 / 32768) return Outcome::unsupported("a scale other than 1 / 32768");
  std::vector<std::vector<float>> rows;
  size_t longest = 0;
  for (const auto& name : c.at("audio")) {
    LAPILLI_TRY(auto samples, read_recording(directory + "/" + name.get<std::string>(), config.sampling_rate));
    longest = std::max(longest, samples.size());
    rows.push_back(std::move(samples));
  }
  Outcome outcome;
  for (size_t r = 0; r < rows.size(); ++r) {
    LAPILLI_TRY(const auto ours, make_frames(device, config, rows[r], longest));
    LAPILLI_CHECK(compare_row(ours, r, record, c, outcome));
  }
  return outcome;
}

Outcome from(const Result<Outcome>& result) {
  if (result) return *result;
  const Error& e = result.error();
  return e.code == ErrorCode::unsupported ? Outcome::unsupported(e.message) : Outcome::failed(e.message);
}

}  // namespace

Outcome run_sound_case(const std::string& directory, const std::string& model, const RunOptions& options,
                       const Record& record, const nlohmann::json& c) {
  try {  // records are read with nlohmann::json's checked accessors
    const auto device = the_device(options);
    if (!device) return Outcome::failed(device.error().message);
    if (c.value("kind", std::string()) == "features") return from(run_features(directory, *device, record, c));
    const auto config = read_sound_config(model);
    if (!config) return from(config.error());
    return from(run_audio_features(directory, *config, *device, record, c));
  } catch (const std::exception& e) {
    return Outcome::failed(std::string("the record is damaged: ") + e.what());
  }
}

void run_features_folder(const std::string& directory, const RunOptions& options, Report& report) {
  const auto record = read_record(directory, "expected");
  if (!record) return report.add(directory, "record", Outcome::failed(record.error().message));
  for (const auto& c : record->json.value("cases", Json::array())) {
    const std::string name = c.value("name", std::string("?")), kind = c.value("kind", std::string("?"));
    if (name.find(options.filter) == std::string::npos) continue;
    report.add(
        directory, name,
        kind == "features" ? run_sound_case(directory, "", options, *record, c) : Outcome::unsupported("kind " + kind));
  }
}

}  // namespace lapilli::conformance
