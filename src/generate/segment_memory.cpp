#include "generate/segment_memory.hpp"

#include <algorithm>
#include <bit>

#include "search/network_on_device.hpp"

namespace lapilli {

namespace {

Status check_memory(const model::StackConfig& s, const SegmentMemory& m, size_t source) {
  const bool sizes =
      std::ranges::all_of(m.layers, [&](const auto& values) { return values.size() == uint64_t{m.rows} * s.d_model; });
  if (m.rows == 0 || (m.layers.size() == s.layers && sizes && m.rows <= s.memory)) return {};
  return fail(
      ErrorCode::invalid_argument,
      "source %u: a memory of %u rows for %u layers; this model has %u layers of %u numbers a row, and remembers "
      "up to %u rows",
      source, m.rows, m.layers.size(), s.layers, s.d_model, s.memory);
}

}  // namespace

uint32_t memory_rows(const model::Config& c, const ForwardRequest& r, size_t source) {
  if (c.last_stack().recurrent) return c.last_stack().memory;
  return source < r.memories.size() ? r.memories[source].rows : 0;
}

Result<uint32_t> check_memories(const model::Config& c, const ForwardRequest& r, size_t sources) {
  const model::StackConfig& s = c.last_stack();
  if (!r.memories.empty() && (s.memory == 0 || r.memories.size() != sources))
    return fail(ErrorCode::invalid_argument, "memories of %u sources for %u; %s models %s", r.memories.size(), sources,
                c.family, s.memory ? "take one for each" : "have none");
  uint32_t most = s.recurrent ? s.memory : 0;
  for (size_t i = 0; i < r.memories.size(); ++i) {
    LAPILLI_CHECK(check_memory(s, r.memories[i], i));
    most = std::max(most, r.memories[i].rows);
  }
  return most;
}

std::vector<uint32_t> memory_words(const model::Config& c, const ForwardRequest& r, uint32_t sources, uint32_t rows) {
  const uint64_t d = c.last_stack().d_model, each = rows * d;
  std::vector<uint32_t> words(c.last_stack().layers * sources * each, 0);
  for (size_t i = 0; i < r.memories.size(); ++i)
    for (size_t l = 0; l < r.memories[i].layers.size(); ++l) {
      const auto& values = r.memories[i].layers[l];
      const uint64_t end = (l * sources + i + 1) * each;
      std::ranges::transform(values, words.begin() + static_cast<ptrdiff_t>(end - values.size()),
                             [](float v) { return std::bit_cast<uint32_t>(v); });
    }
  return words;
}

namespace {

// Appends a segment's rows to a memory and keeps the last ones.
void keep_last(std::vector<float>& memory, std::span<const float> segment, uint64_t most) {
  memory.insert(memory.end(), segment.begin(), segment.end());
  if (memory.size() > most) memory.erase(memory.begin(), memory.end() - static_cast<ptrdiff_t>(most));
}

// The memory before the segment; zeros in a recurrent decoder.
SegmentMemory memory_before(const model::Config& c, const ForwardRequest& r, size_t source) {
  const model::StackConfig& s = c.last_stack();
  SegmentMemory m = source < r.memories.size() ? r.memories[source] : SegmentMemory();
  m.layers.resize(s.layers);
  const uint64_t rows = memory_rows(c, r, source);
  for (auto& values : m.layers) values.insert(values.begin(), rows * s.d_model - values.size(), 0.0f);
  m.rows = static_cast<uint32_t>(rows);
  return m;
}

}  // namespace

Result<std::vector<SegmentMemory>> remember(const Model& model, const ForwardRequest& r,
                                            const std::vector<ForwardTensor>& outputs) {
  const model::Config& c = model.on_device().config();
  const model::StackConfig& s = c.last_stack();
  const auto& rows = c.kind().encodes ? r.sources : r.targets;
  std::vector<SegmentMemory> memories;
  for (size_t i = 0; i < rows.size(); ++i) {
    SegmentMemory& m = memories.emplace_back(memory_before(c, r, i));
    const uint64_t counted = s.reused ? std::min<uint64_t>(s.reused, rows[i].size()) : rows[i].size();
    for (uint32_t l = 0; l < s.layers; ++l) {
      const auto states = std::ranges::find(outputs, format("hidden_states.%u", l), &ForwardTensor::name);
      if (states == outputs.end())
        return fail(ErrorCode::invalid_argument, "a memory is made of hidden states, which this pass did not return");
      const uint64_t one = states->shape[1] * s.d_model;
      keep_last(m.layers[l], std::span(states->values).subspan(i * one, counted * s.d_model),
                uint64_t{s.memory} * s.d_model);
    }
    m.rows = static_cast<uint32_t>(m.layers.front().size() / s.d_model);
  }
  return memories;
}

}  // namespace lapilli
