#include "speech/feature_pass.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "audio/spectrum.hpp"
#include "ops/products/matmul.hpp"
#include "ops/rows/basic.hpp"
#include "ops/sound/sound.hpp"

namespace lapilli::speech {
namespace {

// "spectrum" needs a mere window before the transform, and a size it supports; otherwise a table is multiplied.
bool takes_spectrum(const SoundConfig& c) {
  return c.kind == SoundKind::log_mel && c.fft_length == c.frame_length && c.frame_length <= kMostSpectrum;
}

// Columns of the packed table: cosines, padding to whole vectors, sines.
uint64_t spectrum_columns(const SoundConfig& c) { return gate_value_column(c.bins()) + c.bins(); }

WeightSource packed_table(const char* name, const audio::Table& table, uint64_t columns,
                          const std::function<uint64_t(uint64_t)>& place) {
  WeightSource s;
  s.name = name;
  s.n = static_cast<uint32_t>(columns);
  s.k = static_cast<uint32_t>(table.rows);
  const WeightLayout layout = s.layout();
  s.words = layout.words();
  s.values.resize(s.words);
  for (uint64_t r = 0; r < table.rows; ++r)
    for (uint64_t c = 0; c < table.cols; ++c) s.values[layout.word(place(c), r)] = static_cast<float>(table.at(r, c));
  return s;
}

audio::Table transform_of(const SoundConfig& c) {
  audio::TransformShape shape{c.frame_length, c.fft_length};
  if (c.kind == SoundKind::log_mel) return audio::transform_table(shape, audio::Window::hann);
  shape.scale = 32768;  // Kaldi reads 16-bit integers
  shape.remove_mean = true;
  shape.preemphasis = 0.97;
  return audio::transform_table(shape, audio::Window::povey);
}

audio::Table filters_of(const SoundConfig& c) {
  audio::MelShape shape{c.mel_bins, c.bins(), c.sampling_rate};
  if (c.kind == SoundKind::log_mel) return audio::slaney_filters(shape);
  shape.lowest = 20;
  return audio::kaldi_filters(shape);
}

// The tables of "spectrum".
WeightSource spectrum_tables(const SoundConfig& c) {
  WeightSource s;
  s.name = "transform";
  s.values = audio::spectrum_tables(c.frame_length);
  s.words = s.values.size();
  return s;
}

WeightSource transform_table(const SoundConfig& c) {
  if (takes_spectrum(c)) return spectrum_tables(c);
  const uint64_t bins = c.bins(), sines = gate_value_column(bins);
  return packed_table("transform", transform_of(c), spectrum_columns(c),
                      [&](uint64_t column) { return column < bins ? column : sines + column - bins; });
}

graph::TensorId table_tensor(graph::Graph& g, const SoundConfig& c, SoundTable which) {
  const bool transform = which == SoundTable::transform;
  const WeightLayout layout =
      transform ? WeightLayout(spectrum_columns(c), c.frame_length) : WeightLayout(c.mel_bins, c.bins());
  const bool spectrum = transform && takes_spectrum(c);
  graph::Tensor t;
  t.name = transform ? "transform" : "filters";
  t.cols = t.ld = spectrum ? round_up<uint64_t>(uint64_t{3} * c.frame_length, 4) : layout.words();
  t.space = graph::Space::weight;
  t.id = static_cast<uint32_t>(which);
  return g.add_tensor(std::move(t));
}

graph::TensorId state_tensor(graph::Graph& g, const char* name, StateKind kind, uint64_t words,
                             graph::DType dtype = graph::DType::f32) {
  graph::Tensor t;
  t.name = name;
  t.dtype = dtype;
  t.cols = words;
  t.ld = round_up<uint64_t>(words, 4);
  t.space = graph::Space::state;
  t.id = state_id(kind);
  return g.add_tensor(std::move(t));
}

// Powers of the bins.
graph::TensorId add_power(graph::Graph& g, const SoundConfig& c, uint32_t frames) {
  const auto samples = state_tensor(g, "samples", StateKind::samples, uint64_t{frames - 1} * c.hop + c.frame_length);
  const auto table = table_tensor(g, c, SoundTable::transform);
  if (takes_spectrum(c))
    return ops::spectrum(g, "power", {samples, table}, frames,
                         {c.frame_length, c.hop, spectrum_factor(c.frame_length)});
  const auto rows = ops::frames(g, "frames", samples, {frames, c.frame_length, c.hop});
  const auto spectrum = ops::linear(g, "spectrum", rows, table, static_cast<uint32_t>(spectrum_columns(c)));
  return ops::power(g, "power", spectrum, c.bins());
}

// Powers of the mel bands.
graph::TensorId add_bands(graph::Graph& g, const SoundConfig& c, uint32_t frames) {
  const auto power = add_power(g, c, frames);
  return ops::linear(g, "bands", power, table_tensor(g, c, SoundTable::filters), c.mel_bins);
}

// log10(x) / 4 + 1, as (log10(x) + 4) / 4.
LogFloorAttributes log_mel_scale() { return {1e-10f, static_cast<float>(0.25 / std::log(10.0)), 1.0f}; }
constexpr LogFloorAttributes kFilterBankScale{1.192092955078125e-7f, 1.0f, 0.0f};

graph::TensorId add_features(graph::Graph& g, const SoundConfig& c, graph::TensorId bands) {
  const uint64_t frames = g.tensor(bands).rows;
  const auto floors = state_tensor(g, "floors", StateKind::floors, frames);
  const bool log_mel = c.kind == SoundKind::log_mel;
  const auto logs = ops::log_floor(g, "logarithms", bands, floors, log_mel ? log_mel_scale() : kFilterBankScale);
  if (!c.normalize_means && !c.normalize_deviations) return logs;
  const auto count = state_tensor(g, "frames", StateKind::frames, 1, graph::DType::u32);
  return ops::normalize_columns(g, "normalized", logs, count,
                                {c.normalize_means ? 1u : 0u, c.normalize_deviations ? 1u : 0u});
}

}  // namespace

std::vector<WeightSource> sound_tables(const SoundConfig& config) {
  std::vector<WeightSource> tables;
  tables.push_back(transform_table(config));
  tables.push_back(packed_table("filters", filters_of(config), config.mel_bins, [](uint64_t c) { return c; }));
  return tables;
}

FeaturePass::FeaturePass(std::shared_ptr<vulkan::Device> device, std::shared_ptr<const Weights> tables,
                         const SoundConfig& config, const PassShape& shape)
    : device_(std::move(device)), tables_(std::move(tables)), shape_(shape) {
  const auto bands = add_bands(graph_, config, shape.frames);
  output_ = shape.output == FrameOutput::loudest ? ops::row_max(graph_, "loudest", bands)
                                                 : add_features(graph_, config, bands);
  graph_.tensor(output_).keep = true;
  compilation_.emplace(device_, graph_, true);
}

// Continues a run that was never polled to its end.
Result<bool> FeaturePass::ready() {
  if (submitter_) return poll();
  if (!compilation_) return true;
  LAPILLI_TRY(auto plan, compilation_->poll());
  if (!plan) return false;
  compilation_.reset();
  LAPILLI_CHECK(bind(std::move(plan)));
  return true;
}

Status FeaturePass::bind(std::shared_ptr<const Plan> plan) {
  LAPILLI_TRY(session_, Session::create(device_));
  session_->require(*plan);
  LAPILLI_CHECK(session_->allocate());
  const auto find = [w = tables_](graph::Space, uint32_t id) { return w->find(id); };
  LAPILLI_TRY(auto bound, BoundPlan::bind(device_, std::move(plan), session_->memory(find)));
  plan_ = std::make_unique<BoundPlan>(std::move(bound));
  LAPILLI_TRY(area_,
              UploadArea::create(*session_, std::array{StateKind::samples, StateKind::floors, StateKind::frames}));
  return make_readback();
}

Status FeaturePass::make_readback() {
  const Plan& plan = plan_->plan();
  const uint64_t bytes = plan.graph.tensor(output_).bytes();
  LAPILLI_TRY(results_, device_->make_buffer(bytes, vulkan::MemoryUse::readback, "features"));
  LAPILLI_TRY(auto copy, vulkan::CommandRecording::create(device_));
  LAPILLI_CHECK(copy.begin());
  const BufferRef arena = session_->arena();
  copy.copy(*arena.buffer, arena.offset + plan.placement.offset[plan.graph.root(output_)], results_, 0, bytes);
  LAPILLI_CHECK(copy.end());
  copy_ = std::make_unique<vulkan::CommandRecording>(std::move(copy));
  return {};
}

Status FeaturePass::put(const PassInput& input) {
  const auto samples = area_->words(StateKind::samples), floors = area_->words(StateKind::floors);
  const auto count = area_->words(StateKind::frames);
  if (samples.size() < input.samples.size() || input.frames > shape_.frames)
    return fail(ErrorCode::internal, "a pass of %u frames was given %u", shape_.frames, input.frames);
  std::transform(input.samples.begin(), input.samples.end(), samples.begin(),
                 [](float v) { return std::bit_cast<uint32_t>(v); });
  std::fill(samples.begin() + static_cast<std::ptrdiff_t>(input.samples.size()), samples.end(), 0u);
  std::fill(floors.begin(), floors.end(), std::bit_cast<uint32_t>(input.floor));
  std::fill(count.begin(), count.end(), input.frames);
  return area_->flush();
}

Status FeaturePass::begin(const PassInput& input) {
  LAPILLI_CHECK(put(input));
  frames_ = input.frames;
  submitter_.emplace(device_);
  submitter_->add(area_->copy(), {});
  plan_->add_to(*submitter_);
  submitter_->add(*copy_, {});
  return {};
}

Result<bool> FeaturePass::poll() {
  LAPILLI_TRY(const bool submitted, submitter_->submit());
  return submitted ? device_->done(submitter_->last()) : Result<bool>(false);
}

Status FeaturePass::wait() {
  if (compilation_) return compilation_->wait();
  if (!submitter_) return {};
  return submitter_->all_submitted() ? device_->wait(submitter_->last()) : device_->wait_for_gap();
}

Status FeaturePass::rows(std::span<float> to) const {
  const graph::Tensor& t = plan_->plan().graph.tensor(output_);
  if (to.size() != frames_ * t.cols) return fail(ErrorCode::internal, "no room for the features of a pass");
  if (!results_.mapped()) return fail(ErrorCode::internal, "features cannot be read");
  LAPILLI_CHECK(results_.invalidate(0, results_.size()));
  const auto* from = reinterpret_cast<const float*>(results_.mapped());
  for (uint64_t r = 0; r < frames_; ++r)
    std::copy_n(from + r * t.ld, t.cols, to.begin() + static_cast<std::ptrdiff_t>(r * t.cols));
  return {};
}

}  // namespace lapilli::speech
