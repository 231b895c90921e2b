#include "speech/feature_pass.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "audio/spectrum.hpp"
#include "ops/basic.hpp"
#include "ops/sound.hpp"
#include "runtime/self_test.hpp"

namespace lapilli::speech {
namespace {

// A window alone stands before the transform, and that is of a size for "spectrum". Otherwise a product with a table.
bool takes_spectrum(const SoundConfig& c) {
  return c.kind == SoundKind::log_mel && c.fft_length == c.frame_length && c.frame_length <= kMostSpectrum;
}

// Columns of the packed table: cosines, a gap to whole vectors, sines.
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
  shape.scale = 32768;  // Kaldi reads whole numbers of 16 bits
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
    return ops::spectrum(g, "power", samples, table, frames, {c.frame_length, c.hop, spectrum_factor(c.frame_length)});
  const auto rows = ops::frames(g, "frames", samples, frames, c.frame_length, c.hop);
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

Result<std::shared_ptr<const Weights>> load_tables(const std::shared_ptr<vulkan::Device>& device,
                                                   const SoundConfig& config) {
  std::array<WeightSource, 2> tables{
      transform_table(config),
      packed_table("filters", filters_of(config), config.mel_bins, [](uint64_t c) { return c; })};
  return Weights::load(device, tables);
}

Result<std::unique_ptr<FeaturePass>> FeaturePass::create(const std::shared_ptr<vulkan::Device>& device,
                                                         std::shared_ptr<const Weights> tables,
                                                         const SoundConfig& config, const PassShape& shape) {
  graph::Graph g;
  const auto bands = add_bands(g, config, shape.frames);
  const auto output =
      shape.output == FrameOutput::loudest ? ops::row_max(g, "loudest", bands) : add_features(g, config, bands);
  g.tensor(output).keep = true;
  std::unique_ptr<FeaturePass> pass(new FeaturePass());
  pass->shape_ = shape;
  pass->tables_ = std::move(tables);
  LAPILLI_TRY(const auto plan, compile_tested(device, g, true));
  LAPILLI_TRY(pass->session_, Session::create(device));
  pass->session_->require(*plan);
  LAPILLI_CHECK(pass->session_->allocate());
  const auto find = [w = pass->tables_](graph::Space, uint32_t id) { return w->find(id); };
  LAPILLI_TRY(auto bound, BoundPlan::bind(device, plan, pass->session_->memory(find)));
  pass->plan_ = std::make_unique<BoundPlan>(std::move(bound));
  LAPILLI_TRY(pass->area_, UploadArea::create(*pass->session_,
                                              std::array{StateKind::samples, StateKind::floors, StateKind::frames}));
  LAPILLI_CHECK(pass->make_readback(output));
  return pass;
}

Status FeaturePass::make_readback(graph::TensorId output) {
  const Plan& plan = plan_->plan();
  const graph::Tensor& t = plan.graph.tensor(output);
  cols_ = t.cols;
  stride_ = t.ld;
  const auto& device = session_->device();
  LAPILLI_TRY(results_, device->make_buffer(t.bytes(), vulkan::MemoryUse::readback, "features"));
  LAPILLI_TRY(auto copy, vulkan::CommandRecording::create(device));
  LAPILLI_CHECK(copy.begin());
  const BufferRef arena = session_->arena();
  copy.copy(*arena.buffer, arena.offset + plan.placement.offset[plan.graph.root(output)], results_, 0, t.bytes());
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

Status FeaturePass::run(const PassInput& input, std::span<float> to) {
  if (to.size() != input.frames * cols_) return fail(ErrorCode::internal, "no room for the features of a pass");
  LAPILLI_CHECK(put(input));
  const auto& device = session_->device();
  while (!device->wait_while_paused(vulkan::kPauseRound)) {
  }
  PacedSubmitter submitter(device);
  submitter.add(area_->copy(), {});
  plan_->add_to(submitter);
  submitter.add(*copy_, {});
  LAPILLI_CHECK(submitter.submit_all());
  LAPILLI_CHECK(device->wait(submitter.last()));
  if (!results_.mapped()) return fail(ErrorCode::internal, "features cannot be read");
  LAPILLI_CHECK(results_.invalidate(0, results_.size()));
  const auto* from = reinterpret_cast<const float*>(results_.mapped());
  for (uint64_t r = 0; r < input.frames; ++r)
    std::copy_n(from + r * stride_, cols_, to.begin() + static_cast<std::ptrdiff_t>(r * cols_));
  return {};
}

}  // namespace lapilli::speech
