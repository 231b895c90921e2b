#include "formats/sound_config.hpp"

#include <nlohmann/json.hpp>

#include "formats/hf_config.hpp"
#include "formats/quote.hpp"

namespace lapilli {
namespace {

// Bounds of a number, inclusive.
struct Bounds {
  uint32_t least, most;
};
Result<uint32_t> bounded(const JsonView& v, const char* key, uint32_t missing, Bounds bounds) {
  LAPILLI_TRY(const uint32_t n, get_u32(v, key, missing));
  if (n >= bounds.least && n <= bounds.most) return n;
  return fail(ErrorCode::invalid_data, "%s: \"%s\" is %u, but must be from %u to %u", v.where, key, n, bounds.least,
              bounds.most);
}

// Settings that would change the features and that nobody publishes: refused unless they are off.
Status expect_zero(const JsonView& v, const char* key, const char* why) {
  LAPILLI_TRY(const float value, get_float(v, key, 0.0f));
  if (value == 0.0f) return {};
  return fail(ErrorCode::unsupported, "%s: \"%s\" is %g: %s; set it to 0", v.where, key, static_cast<double>(value),
              why);
}

Status read_common(const JsonView& v, SoundConfig& c) {
  LAPILLI_TRY(c.sampling_rate, bounded(v, "sampling_rate", 16000, {1000, 384000}));
  LAPILLI_CHECK(expect_zero(v, "dither", "noise on the samples would give other features every time"));
  return expect_zero(v, "padding_value", "features are filled up with zeros alone");
}

Status read_log_mel(const JsonView& v, SoundConfig& c) {
  c.kind = SoundKind::log_mel;
  LAPILLI_TRY(c.mel_bins, bounded(v, "feature_size", 80, {1, 512}));
  LAPILLI_TRY(c.frame_length, bounded(v, "n_fft", 400, {16, 4096}));
  if (c.frame_length % 2 != 0)
    return fail(ErrorCode::unsupported, "%s: \"n_fft\" is %u; it must be even", v.where, c.frame_length);
  c.fft_length = c.frame_length;
  LAPILLI_TRY(c.hop, bounded(v, "hop_length", 160, {1, c.frame_length}));
  LAPILLI_TRY(const uint32_t seconds, bounded(v, "chunk_length", 30, {1, 600}));
  c.chunk_samples = seconds * c.sampling_rate;
  if (c.chunk_samples > c.frame_length) return {};
  return fail(ErrorCode::invalid_data, "%s: a chunk of %u samples is no longer than a frame (\"n_fft\")", v.where,
              c.chunk_samples);
}

// Kaldi's frames: 25 ms every 10 ms, whatever the file says.
Status read_filter_banks(const JsonView& v, SoundConfig& c) {
  c.kind = SoundKind::filter_banks;
  LAPILLI_TRY(c.mel_bins, bounded(v, "num_mel_bins", 80, {1, 512}));
  LAPILLI_TRY(const uint32_t size, get_u32(v, "feature_size", c.mel_bins));
  if (size != c.mel_bins)
    return fail(ErrorCode::invalid_data, "%s: \"feature_size\" is %u and \"num_mel_bins\" %u; they must be equal",
                v.where, size, c.mel_bins);
  if (c.sampling_rate != 16000)
    return fail(ErrorCode::unsupported, "%s: \"sampling_rate\" is %u; filter banks are made of 16000 samples a second",
                v.where, c.sampling_rate);
  c.frame_length = 400;
  c.fft_length = 512;
  c.hop = 160;
  LAPILLI_TRY(const bool normalize, get_bool(v, "do_ceptral_normalize", true));
  LAPILLI_TRY(const bool means, get_bool(v, "normalize_means", true));
  LAPILLI_TRY(const bool deviations, get_bool(v, "normalize_vars", true));
  c.normalize_means = normalize && means;
  c.normalize_deviations = normalize && deviations;
  return {};
}

Status read_samples(const JsonView& v, SoundConfig& c) {
  c.kind = SoundKind::samples;
  LAPILLI_TRY(const uint32_t size, get_u32(v, "feature_size", 1));
  if (size != 1)
    return fail(ErrorCode::unsupported, "%s: \"feature_size\" is %u; samples have one channel", v.where, size);
  LAPILLI_TRY(const bool normalize, get_bool(v, "do_normalize", false));
  if (!normalize) return {};
  return fail(ErrorCode::unsupported, "%s: \"do_normalize\" is true, which no model that is supported here asks for",
              v.where);
}

// The class that makes the features: older files name only the whole processor's, those of early 2021 none.
Result<std::string> extractor(const JsonView& v, std::string_view model_type) {
  for (const char* key : {"feature_extractor_type", "processor_class"}) {
    LAPILLI_TRY(auto name, get_string(v, key, ""));
    if (!name.empty()) return name;
  }
  if (model_type == "speech_to_text") return std::string("Speech2TextFeatureExtractor");
  if (model_type == "whisper") return std::string("WhisperFeatureExtractor");
  if (model_type == "moonshine") return std::string("Wav2Vec2FeatureExtractor");
  return fail(ErrorCode::invalid_data, "%s does not say who makes the features (\"feature_extractor_type\")", v.where);
}

// Empty without a config.json that names it.
Result<std::string> model_type(const Files& files) {
  const FileName file = files / "config.json";
  if (!file.there()) return std::string();
  LAPILLI_TRY(const auto json, read_json_file(file));
  return get_string({json, file.path()}, "model_type", "");
}

}  // namespace

Result<SoundConfig> parse_sound_config(const nlohmann::json& json, const std::string& where,
                                       std::string_view model_type) {
  const JsonView v{json, where};
  SoundConfig c;
  c.where = where;
  LAPILLI_TRY(const auto name, extractor(v, model_type));
  LAPILLI_CHECK(read_common(v, c));
  if (name.starts_with("Whisper")) {
    LAPILLI_CHECK(read_log_mel(v, c));
  } else if (name.starts_with("Speech2Text") && !name.starts_with("Speech2Text2")) {
    LAPILLI_CHECK(read_filter_banks(v, c));
  } else if (name.starts_with("Moonshine") || name == "Wav2Vec2FeatureExtractor") {
    LAPILLI_CHECK(read_samples(v, c));
  } else {
    return fail(ErrorCode::unsupported,
                "%s: features by %s are not supported; those of Whisper, Speech2Text and "
                "Moonshine are",
                v.where, quote_name(name, 60));
  }
  return c;
}

Result<SoundConfig> read_sound_config(const Files& files) {
  const FileName own = files / "preprocessor_config.json", whole = files / "processor_config.json";
  if (own.there() || !whole.there()) {
    LAPILLI_TRY(const auto json, read_json_file(own));
    LAPILLI_TRY(const auto type, model_type(files));
    return parse_sound_config(json, own.path(), type);
  }
  LAPILLI_TRY(const auto json, read_json_file(whole));
  const auto part = json.find("feature_extractor");
  if (part == json.end() || !part->is_object())
    return fail(ErrorCode::not_found, "%s has no \"feature_extractor\", and there is no preprocessor_config.json",
                whole);
  return parse_sound_config(*part, whole.path() + ": feature_extractor");
}

Status check_sound_config(const SoundConfig& config, const SoundInput& model) {
  const char* where = config.where.c_str();
  const bool samples = config.kind == SoundKind::samples;
  if (samples != (model.mel_bins == 0))
    return fail(ErrorCode::invalid_data,
                "%s gives the model %s, but its weights take %s: take the file that was published with these weights",
                where, samples ? "samples" : "mel bands", samples ? "mel bands" : "samples");
  if (config.mel_bins != model.mel_bins)
    return fail(ErrorCode::invalid_data,
                "%s makes %u mel bands, but the model's weights take %u (\"num_mel_bins\" of config.json): take the "
                "file that was published with these weights",
                where, config.mel_bins, model.mel_bins);
  if (model.chunk_frames == 0) return {};
  const uint32_t frames = config.chunk_samples / config.hop;
  if (frames == model.chunk_frames) return {};
  return fail(ErrorCode::invalid_data,
              "%s makes chunks of %u frames (chunk_length * sampling_rate / hop_length), but the model takes %u (2 * "
              "\"max_source_positions\" of config.json): take the file that was published with these weights",
              where, frames, model.chunk_frames);
}

}  // namespace lapilli
