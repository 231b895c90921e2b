#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/worst.hpp"
#include "conformance/folder.hpp"
#include "conformance/table.hpp"
#include "generate/generate.hpp"
#include "search/network_on_device.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;
using IdRows = std::vector<std::vector<int32_t>>;

// -infinity must meet -infinity.
double difference(double ours, double expected) {
  if (std::isinf(expected) && expected < 0) return ours <= -1e29 ? 0 : std::numeric_limits<double>::infinity();
  return std::abs(ours - expected);
}

// Compares over the reference's index space; positions that a mask rules out may be missing from ours.
Outcome compare_tensor(const ForwardTensor& ours, const Matrix& expected, const IdRows* mask, size_t mask_dim,
                       double tolerance) {
  Outcome o;
  if (ours.shape.size() != expected.shape.size()) return Outcome::failed(ours.name + " has another rank");
  const size_t rank = expected.shape.size();
  double worst = 0;
  std::vector<uint64_t> at(rank, 0);
  for (size_t i = 0; i < expected.values.size(); ++i) {
    size_t rest = i;
    for (size_t d = rank; d-- > 0;) {
      at[d] = rest % expected.shape[d];
      rest /= expected.shape[d];
    }
    if (mask && (*mask)[at[0]][at[mask_dim]] == 0) continue;
    size_t index = 0;
    bool inside = true;
    const size_t before = mask ? padding_before((*mask)[at[0]]) : 0;
    for (size_t d = 0; d < rank; ++d) {
      // Positions are in the masked dimension, and in the last one of attention weights. Ours begin behind the padding.
      const size_t skipped = d == mask_dim || (mask_dim == 2 && d == 3) ? before : 0;
      inside = inside && at[d] >= skipped && at[d] - skipped < ours.shape[d];
      index = index * ours.shape[d] + at[d] - skipped;
    }
    // Keys before and beyond our longest row are padding: the reference has zeros there.
    const double value = inside ? ours.values[index] : 0.0;
    const double d = difference(value, expected.values[i]);
    worst = worse(worst, d);
  }
  o.compare(worst, tolerance, ours.name);
  return o;
}

void merge(Outcome& into, const Outcome& o) {
  if (o.verdict != Verdict::passed) {
    into.fail(o.reason);
  }
  if (o.tolerance > 0) into.compare(o.deviation, o.tolerance, o.reason);
}

// The part of a case that an output belongs to.
const char* part_of(const std::string& path) {
  if (path.find("attentions") != std::string::npos) return "attention";
  return path.find("logits") != std::string::npos ? "logits" : "states";
}

bool asks_for_attention(const Json& outputs) {
  bool asks = false;
  for (const auto& [path, spec] : outputs.items()) asks = asks || std::string_view(part_of(path)) == "attention";
  return asks;
}

// Positions that a global_attention_mask (LED) marks; none without one.
Result<std::vector<std::vector<uint32_t>>> global_positions(const Record& record, const Json& inputs) {
  std::vector<std::vector<uint32_t>> positions;
  if (!inputs.contains("global_attention_mask")) return positions;
  LAPILLI_TRY(const auto mask, read_ids(record, inputs["global_attention_mask"].get<std::string>()));
  for (const auto& row : mask) {
    auto& list = positions.emplace_back();
    for (size_t i = 0; i < row.size(); ++i)
      if (row[i] != 0) list.push_back(static_cast<uint32_t>(i));
  }
  return positions;
}

// Token types of the sources' ids, without the padding's; none without token_type_ids.
Result<std::vector<std::vector<uint32_t>>> source_types(const Record& record, const Json& inputs,
                                                        const IdRows& sources) {
  std::vector<std::vector<uint32_t>> types;
  if (!inputs.contains("token_type_ids")) return types;
  LAPILLI_TRY(const auto rows, read_ids(record, inputs["token_type_ids"].get<std::string>()));
  if (rows.size() != sources.size()) return fail(ErrorCode::invalid_data, "token_type_ids of other rows");
  IdRows masks;
  if (inputs.contains("attention_mask")) {
    LAPILLI_TRY(masks, read_ids(record, inputs["attention_mask"].get<std::string>()));
  }
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto begin = rows[i].begin() + static_cast<ptrdiff_t>(masks.empty() ? 0 : padding_before(masks[i]));
    types.emplace_back(begin, begin + static_cast<ptrdiff_t>(sources[i].size()));
  }
  return types;
}

// True for inputs that a case may have.
bool is_known_input(const std::string& key) {
  constexpr const char* kKnown[] = {
      "input_ids",         "attention_mask",         "input_features",        "input_values",   "pixel_values",
      "decoder_input_ids", "decoder_attention_mask", "global_attention_mask", "token_type_ids", "position_ids",
      "perm_mask",         "target_mapping"};
  return std::any_of(std::begin(kKnown), std::end(kKnown), [&](const char* known) { return key == known; });
}

// The model for pictures of another size, where a case has such.
Result<std::shared_ptr<Model>> for_pictures(const std::shared_ptr<Model>& model, const Record& record, const Json& c) {
  if (!c.value("flags", Json::object()).value("interpolate_pos_encoding", false)) return model;
  LAPILLI_TRY(const auto pixels, read_matrix(record, c["inputs"].at("pixel_values").get<std::string>()));
  if (pixels.shape.size() != 4) return fail(ErrorCode::invalid_data, "pixel_values are no pictures");
  LoadOptions options;
  options.kv_format = model->info().kv_format;
  options.pictures = {static_cast<uint32_t>(pixels.shape[2]), static_cast<uint32_t>(pixels.shape[3])};
  return Model::load(model->device(), model->info().directory, options);
}

bool is_decoder_alone(const Model& model) { return model.on_device().config().kind().reads == model::Reads::nothing; }

// The rows that the decoder reads; position_ids count them behind the padding, as it does.
Result<IdRows> read_targets(const Model& model, const Record& record, const Json& inputs) {
  if (is_decoder_alone(model)) return masked_rows(record, inputs, "input_ids", "attention_mask");
  return masked_rows(record, inputs, "decoder_input_ids", "decoder_attention_mask");
}

Result<std::vector<SegmentMemory>> memories_behind(const std::shared_ptr<Model>& model, const Record& record,
                                                   const std::string& name);

Result<ForwardRequest> forward_request(const std::shared_ptr<Model>& model, const Record& record, const Json& c) {
  ForwardRequest request;
  if (!is_decoder_alone(*model)) {
    LAPILLI_TRY(auto sources, read_sources(record, c["inputs"], model->on_device().config()));
    request.sources = std::move(sources.ids);
    request.features = std::move(sources.features);
  }
  LAPILLI_TRY(request.global_positions, global_positions(record, c["inputs"]));
  if (model->on_device().config().encoder.row_types > 0) {  // the reference ignores types that a model has not
    LAPILLI_TRY(request.source_types, source_types(record, c["inputs"], request.sources));
  }
  if (model->info().decoder_layers > 0 && model->on_device().config().kind().writes) {
    LAPILLI_TRY(request.targets, read_targets(*model, record, c["inputs"]));
  }
  LAPILLI_CHECK(read_streams(record, c["inputs"], request));
  request.want_hidden_states = true;
  // Without attention, an encoder alone runs packed.
  request.want_attentions = asks_for_attention(c["outputs"]);
  if (c.contains("memory_from")) {
    LAPILLI_TRY(request.memories, memories_behind(model, record, c["memory_from"].get<std::string>()));
  }
  return request;
}

// The memory that the segment of the named case leaves for the next one.
Result<std::vector<SegmentMemory>> memories_behind(const std::shared_ptr<Model>& model, const Record& record,
                                                   const std::string& name) {
  for (const auto& c : record.json["cases"]) {
    if (c.value("name", std::string()) != name) continue;
    LAPILLI_TRY(const auto request, forward_request(model, record, c));
    LAPILLI_TRY(const auto outputs, forward(model, request));
    return remember(*model, request, outputs);
  }
  return fail(ErrorCode::invalid_data, "no case %s", name);
}

// Adds the memories as the reference has them, "mems.0" and so on [rows, batch, width]; those of all sources have as
// many rows.
Status add_memories(const Model& model, const ForwardRequest& request, std::vector<ForwardTensor>& outputs) {
  LAPILLI_TRY(const auto memories, remember(model, request, outputs));
  const uint64_t rows = memories.front().rows, batch = memories.size();
  for (size_t l = 0; l < memories.front().layers.size(); ++l) {
    const uint64_t width = memories.front().layers[l].size() / rows;
    ForwardTensor t{format("mems.%u", l), {rows, batch, width}, {}};
    for (uint64_t r = 0; r < rows; ++r)
      for (const SegmentMemory& m : memories) {
        const auto row = m.layers[l].begin() + static_cast<ptrdiff_t>(r * width);
        t.values.insert(t.values.end(), row, row + static_cast<ptrdiff_t>(width));
      }
    outputs.push_back(std::move(t));
  }
  return {};
}

Result<Outcome> run_forward(const std::shared_ptr<Model>& given, const Record& record, const Json& c) {
  LAPILLI_TRY(const auto model, for_pictures(given, record, c));
  for (const auto& [key, value] : c["inputs"].items())
    if (!is_known_input(key)) return Outcome::unsupported("input " + key);
  LAPILLI_TRY(const auto request, forward_request(model, record, c));
  LAPILLI_TRY(auto ours, forward(model, request));
  rows_by_source(request, ours);
  if (c["outputs"].contains("mems.0")) LAPILLI_CHECK(add_memories(*model, request, ours));
  Outcome outcome;
  for (const auto& [path, spec] : c["outputs"].items()) {
    const auto it = std::find_if(ours.begin(), ours.end(), [&](const auto& t) { return t.name == path; });
    if (it == ours.end()) return Outcome::unsupported("output " + path);
    LAPILLI_TRY(const auto expected, read_matrix(record, spec["tensor"].get<std::string>()));
    IdRows mask;
    size_t dim = 1;
    if (spec.contains("compare_where")) {
      LAPILLI_TRY(mask, read_ids(record, spec["compare_where"]["mask"].get<std::string>()));
      dim = spec["compare_where"]["dim"].get<size_t>();
    }
    const Outcome o =
        compare_tensor(*it, expected, mask.empty() ? nullptr : &mask, dim, spec["atol_fp32"].get<double>());
    outcome.add_part(part_of(path), o.deviation, o.tolerance);
    merge(outcome, o);
  }
  return outcome;
}

// The padding before each prompt of a decoder alone; none for other models.
Result<std::vector<size_t>> prompt_padding(const Model& model, const Record& record, const Json& inputs) {
  std::vector<size_t> padding;
  if (!is_decoder_alone(model) || !inputs.contains("attention_mask")) return padding;
  LAPILLI_TRY(const auto masks, read_ids(record, inputs["attention_mask"].get<std::string>()));
  for (const auto& mask : masks) padding.push_back(padding_before(mask));
  return padding;
}

// The reference counts the padding before prompts as ids: its lengths in total become numbers of new ids.
Status count_padding(const Model& model, size_t padded, GenerationConfig& options) {
  const auto given = [](const auto& own, const auto& file) { return own ? own : file; };
  const auto& file = model.generation_config();
  const auto most = given(options.max_length, file.max_length), least = given(options.min_length, file.min_length);
  if (!options.max_new_tokens && !file.max_new_tokens && most) {
    if (*most <= padded) return fail(ErrorCode::unsupported, "max_length %u after %u ids", *most, padded);
    options.max_new_tokens = static_cast<uint32_t>(*most - padded);
  }
  if (!options.min_new_tokens && !file.min_new_tokens && least && *least > padded) {
    options.min_new_tokens = static_cast<uint32_t>(*least - padded);
    options.min_length = 0;
  }
  return {};
}

// Reads the prompts of a decoder alone.
Status read_prompts(const Model& model, const Record& record, const Json& inputs, GenerateRequest& request) {
  LAPILLI_TRY(request.decoder_ids, masked_rows(record, inputs, "input_ids", "attention_mask"));
  LAPILLI_TRY(const auto padding, prompt_padding(model, record, inputs));
  for (size_t i = 0; i < padding.size(); ++i)
    if (padding[i] > 0) return count_padding(model, padding[i] + request.decoder_ids[i].size(), request.options);
  return {};
}

Result<GenerateRequest> generate_request(const Model& model, const Record& record, const Json& c) {
  GenerateRequest request;
  request.deterministic = true;
  for (const auto& [key, value] : c["inputs"].items())
    if (!is_known_input(key) || key == "decoder_attention_mask" || key == "token_type_ids" || key == "perm_mask" ||
        key == "target_mapping")
      return fail(ErrorCode::unsupported, "input %s", key.c_str());
  if (!is_decoder_alone(model)) {
    LAPILLI_TRY(auto sources, read_sources(record, c["inputs"], model.on_device().config()));
    request.sources = std::move(sources.ids);
    request.features = std::move(sources.features);
  }
  LAPILLI_TRY(request.global_positions, global_positions(record, c["inputs"]));
  if (c["inputs"].contains("decoder_input_ids")) {
    LAPILLI_TRY(request.decoder_ids, read_ids(record, c["inputs"]["decoder_input_ids"].get<std::string>()));
  }
  Json args = c.value("args", Json::object());
  args.erase("use_cache");  // the reference's own affair
  LAPILLI_TRY(request.options, parse_generation_config(args, "args"));
  if (!request.options.unknown.empty())
    return fail(ErrorCode::unsupported, "argument %s", request.options.unknown.front().c_str());
  if (is_decoder_alone(model)) LAPILLI_CHECK(read_prompts(model, record, c["inputs"], request));
  return request;
}

std::string text(const std::vector<int32_t>& ids) {
  std::string t;
  for (const int32_t id : ids) t += (t.empty() ? "" : " ") + std::to_string(id);
  return t;
}

// The ids that end a sequence of the case, and what the reference fills its rows with behind that.
struct Ending {
  std::vector<int32_t> ends;
  int32_t fill = 0;
};

// A field of what the search ran with, or of what the caller gave.
Json setting(const Json& c, const char* name) {
  for (const char* group : {"effective", "args"})
    if (c.contains(group) && c[group].contains(name) && !c[group][name].is_null()) return c[group][name];
  return nullptr;
}

Ending ending_of(const Record& record, const Json& c) {
  const auto special = record.json.value("special_tokens", Json::object());
  Json ends = setting(c, "eos_token_id"), pad = setting(c, "pad_token_id"), beams = setting(c, "num_beams");
  if (ends.is_null()) ends = special.at("eos");
  Ending e;
  e.ends = ends.is_array() ? ends.get<std::vector<int32_t>>() : std::vector<int32_t>{ends.get<int32_t>()};
  // A search without a pad fills rows with the first end.
  if (pad.is_null()) pad = c.contains("effective") ? Json(e.ends.at(0)) : special.value("pad", Json(e.ends.at(0)));
  e.fill = pad.get<int32_t>();
  // The reference's beam search takes a pad of 0 for none.
  if (e.fill == 0 && beams.is_number() && beams.get<int64_t>() > 1) e.fill = e.ends.at(0);
  return e;
}

// Rows of the reference are filled up on the right. A row that is shorter than others has ended: its end token is part
// of it, also where the fill is the same id.
bool same_row(const std::vector<int32_t>& ours, const std::vector<int32_t>& expected, const Ending& ending) {
  if (ours.size() > expected.size() || !std::equal(ours.begin(), ours.end(), expected.begin())) return false;
  if (ours.size() == expected.size()) return true;
  const auto is_end = [&](int32_t id) {
    return std::find(ending.ends.begin(), ending.ends.end(), id) != ending.ends.end();
  };
  if (ours.size() < 2 || !is_end(ours.back())) return false;
  return std::all_of(expected.begin() + static_cast<ptrdiff_t>(ours.size()), expected.end(),
                     [&](int32_t id) { return id == ending.fill; });
}

// The sequences of a case without the padding before prompts.
IdRows expected_sequences(const Json& c, const std::vector<size_t>& padding) {
  auto rows = c["sequences"].get<IdRows>();
  for (size_t i = 0; i < rows.size() && !padding.empty(); ++i) {
    const size_t n = padding[i * padding.size() / rows.size()];
    rows[i].erase(rows[i].begin(), rows[i].begin() + static_cast<ptrdiff_t>(std::min(n, rows[i].size())));
  }
  return rows;
}

// The reference takes the padding before prompts for ids that were said. Where it is the end, too, a repetition penalty
// then changes when such a row ends, and where scores are normalized after it, each score: the row is not what it is
// alone, and is not compared.
bool penalizes_padding(const Json& c, const Ending& ending) {
  const Json penalty = setting(c, "repetition_penalty");
  if (!penalty.is_number() || penalty.get<double>() == 1) return false;
  return setting(c, "renormalize_logits") == true ||
         std::find(ending.ends.begin(), ending.ends.end(), ending.fill) != ending.ends.end();
}

void compare_sequences(const Record& record, const Json& c, const std::vector<size_t>& padding,
                       const GenerateOutput& ours, Outcome& o) {
  const Ending ending = ending_of(record, c);
  const IdRows expected = expected_sequences(c, padding);
  const bool penalized = penalizes_padding(c, ending);
  std::vector<const Hypothesis*> rows;
  for (const auto& list : ours.hypotheses)
    for (const auto& h : list) rows.push_back(&h);
  if (rows.size() != expected.size())
    return o.fail(std::to_string(rows.size()) + " sequences, not " + std::to_string(expected.size()));
  for (size_t i = 0; i < rows.size(); ++i) {
    if (penalized && !padding.empty() && padding[i * padding.size() / rows.size()] > 0) continue;
    if (!same_row(rows[i]->ids, expected[i], ending))
      o.fail("sequence " + std::to_string(i) + " is " + text(rows[i]->ids) + ", not " + text(expected[i]));
    if (c.contains("sequences_scores")) {
      const double score = c["sequences_scores"][i].is_null() ? -INFINITY : c["sequences_scores"][i].get<double>();
      o.compare(difference(rows[i]->score, score), c.value("scores_atol_fp32", 1e-4) * std::max(1.0, std::abs(score)),
                "score " + std::to_string(i));
    }
    if (c.contains("beam_indices")) {
      auto beams = c["beam_indices"][i].get<std::vector<int32_t>>();
      while (!beams.empty() && beams.back() == -1) beams.pop_back();
      if (beams != rows[i]->beam_indices) o.fail("sequence " + std::to_string(i) + " came through other beams");
    }
  }
}

Result<Outcome> run_generate(const std::shared_ptr<Model>& model, const Record& record, const Json& c) {
  LAPILLI_TRY(const auto request, generate_request(*model, record, c));
  LAPILLI_TRY(const auto ours, generate(model, request));
  LAPILLI_TRY(const auto padding, prompt_padding(*model, record, c["inputs"]));
  Outcome outcome;
  compare_sequences(record, c, padding, ours, outcome);
  return outcome;
}

// [step, row, ...] of the record against one step's rows.
void compare_step(const Matrix& expected, size_t step, const std::vector<float>& ours, double tolerance,
                  const char* what, Outcome& o) {
  const size_t n = expected.values.size() / expected.shape[0];
  if (ours.size() != n) return o.fail(std::string(what) + ": step " + std::to_string(step) + " has another size");
  double worst = 0;
  for (size_t i = 0; i < n; ++i) {
    const double d = difference(ours[i], expected.values[step * n + i]);
    worst = worse(worst, d);
  }
  o.compare(worst, tolerance, what);
}

// Cross attention of each row's newest token in the last layer, by a pass over the row's ids.
Result<std::vector<float>> last_cross_attention(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                                                const CapturedStep& step) {
  ForwardRequest f;
  const size_t rows_per_source = step.rows / std::max(request.sources.size(), request.features.size());
  for (size_t r = 0; r < step.rows; ++r) {
    if (!request.sources.empty()) f.sources.push_back(request.sources[r / rows_per_source]);
    if (!request.features.empty()) f.features.push_back(request.features[r / rows_per_source]);
    f.targets.push_back(step.histories[r]);
  }
  f.want_attentions = true;
  f.want_logits = false;
  LAPILLI_TRY(const auto outputs, forward(model, f));
  const std::string name = "cross_attentions." + std::to_string(model->info().decoder_layers - 1);
  std::vector<float> values;
  for (const auto& t : outputs) {
    if (t.name != name) continue;
    const uint64_t heads = t.shape[1], queries = t.shape[2], keys = t.shape[3];
    for (uint64_t r = 0; r < step.rows; ++r)
      for (uint64_t h = 0; h < heads; ++h) {
        const auto begin = t.values.begin() + static_cast<ptrdiff_t>(((r * heads + h) * queries + queries - 1) * keys);
        values.insert(values.end(), begin, begin + static_cast<ptrdiff_t>(keys));
      }
  }
  return values;
}

Result<Outcome> run_trace(const std::shared_ptr<Model>& model, const Record& record, const Json& c) {
  LAPILLI_TRY(auto request, generate_request(*model, record, c));
  request.capture_scores = true;
  LAPILLI_TRY(const auto ours, generate(model, request));
  Outcome outcome;
  compare_sequences(record, c, {}, ours, outcome);
  const double tolerance = c["atol_fp32"].get<double>();
  LAPILLI_TRY(const auto logits, read_matrix(record, c["logits"].get<std::string>()));
  LAPILLI_TRY(const auto scores, read_matrix(record, c["scores"].get<std::string>()));
  if (ours.captured.size() < logits.shape[0])
    return Outcome::failed(std::to_string(ours.captured.size()) + " steps, not " + std::to_string(logits.shape[0]));
  for (size_t t = 0; t < logits.shape[0]; ++t) {
    compare_step(logits, t, ours.captured[t].logits, tolerance, "logits", outcome);
    compare_step(scores, t, ours.captured[t].scores, tolerance, "scores", outcome);
  }
  if (c.contains("cross_attentions_last_layer")) {
    LAPILLI_TRY(const auto cross, read_matrix(record, c["cross_attentions_last_layer"].get<std::string>()));
    for (size_t t = 0; t < cross.shape[0]; ++t) {
      LAPILLI_TRY(const auto values, last_cross_attention(model, request, ours.captured[t]));
      compare_step(cross, t, values, tolerance, "cross attention", outcome);
    }
  }
  return outcome;
}

bool is_speech(const std::string& kind) { return kind.starts_with("asr") || kind == "detect_language"; }

Result<Outcome> run_kind(const std::string& kind, const std::shared_ptr<Model>& model, const CaseFolders& folders,
                         const Record& record, const Json& c) {
  if (kind == "forward" || kind == "forward_with_memory") return run_forward(model, record, c);
  if (kind == "score_with_memory") return run_score_with_memory(model, record, c);
  if (kind == "generate") return run_generate(model, record, c);
  if (kind == "trace") return run_trace(model, record, c);
  if (kind == "score") return run_score(model, record, c);
  if (kind == "text") return run_text(model, folders.record, record, c);
  if (kind == "classify") return run_classify(model, folders.model, record, c);
  if (kind == "zero_shot") return run_zero_shot(model, folders.model, record, c);
  if (kind == "rerank") return run_rerank(model, folders.model, record, c);
  if (kind == "rank") return run_rank(model, folders.model, c);
  if (kind == "tag") return run_tag(model, folders.model, record, c);
  if (kind == "fill") return run_fill(model, folders.model, c);
  if (kind == "question_answering") return run_question_answering(model, folders.model, record, c);
  if (kind == "embed") return run_embed(model, folders.model, record, c);
  if (kind == "similarity") return run_similarity(model, folders.model, record, c);
  if (is_speech(kind)) return run_speech(model, record, c);
  return Outcome::unsupported("kind " + kind);
}

Outcome run_case(const std::shared_ptr<Model>& model, const CaseFolders& folders, const Record& record, const Json& c) {
  const std::string kind = c.value("kind", std::string("?"));
  try {  // records are read with nlohmann::json's checked accessors
    auto result = run_kind(kind, model, folders, record, c);
    return result ? *result : from_error(result.error());
  } catch (const std::exception& e) {
    return Outcome::failed(std::string("the record is damaged: ") + e.what());
  }
}

Subject subject_of(const Result<std::shared_ptr<Model>>& model, const std::string& folder) {
  Subject subject;
  if (model) {
    subject.family = (*model)->info().family;
    subject.checkpoint = (*model)->info().checkpoint_format;
    subject.dtype = (*model)->info().stored_dtype;
  } else if (const auto config = read_json_file(folder + "/config.json")) {
    subject.family = config->value("model_type", std::string());
  }
  return subject;
}

Outcome outcome_of(const Result<std::shared_ptr<Model>>& model, const CaseFolders& folders, const Record& record,
                   const RunOptions& options, const Json& c) {
  const std::string kind = c.value("kind", std::string());
  // Features need no weights.
  if (kind == "audio_features") return run_sound_case(folders.record, folders.model, options, record, c);
  if (kind == "refuse") return run_refuse(model, c);
  return model ? run_case(*model, folders, record, c) : from_error(model.error());
}

void run_directory(const std::string& directory, const Json& entry, const RunOptions& options, Report& report) {
  const std::string sub = entry.value("dir", std::string("model")), folder = directory + "/" + sub;
  const auto record = read_record(directory, entry.value("expected", std::string("expected")));
  if (!record) return report.add(folder, "record", Outcome::failed(record.error().message));
  const auto device = the_device(options);
  if (!device) return report.add(folder, "device", Outcome::failed(device.error().message));
  LoadOptions load;
  load.kv_format = options.kv_format;
  run_cases(Model::load(*device, folder, load), {directory, folder}, *record, options, report);
}

}  // namespace

void run_cases(const Result<std::shared_ptr<Model>>& model, const CaseFolders& folders, const Record& record,
               const RunOptions& options, Report& report) {
  Subject subject = subject_of(model, folders.model);
  const Json cases = record.json.value("cases", Json::array());
  if (cases.empty()) report.add(folders.model, "record", Outcome::failed("the record has no cases"));
  std::map<std::string, size_t> of_kind;
  for (const auto& c : cases) {
    const std::string name = c.value("name", std::string("?"));
    subject.group = case_group(c);
    if (name.find(options.filter) == std::string::npos || of_kind[subject.group]++ % options.every != 0) continue;
    report.add(folders.model, name, outcome_of(model, folders, record, options, c), subject);
  }
}

void run_model_folder(const std::string& directory, const RunOptions& options, Report& report) {
  const auto top = read_json_file(directory + "/expected.json", size_t{64} << 20);
  if (!top) return report.add(directory, "expected.json", Outcome::failed(top.error().message));
  for (const auto& entry : (*top)["model_dirs"]) run_directory(directory, entry, options, report);
}

}  // namespace lapilli::conformance
