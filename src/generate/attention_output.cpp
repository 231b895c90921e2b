// Attention as JSON and as pictures.
#include <cmath>
#include <nlohmann/json.hpp>

#include "drawing/heat_map.hpp"
#include "generate/attention.hpp"
#include "image/stb.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

const char* name_of(AttentionKind kind) {
  return kind == AttentionKind::cross ? "cross" : kind == AttentionKind::encoder ? "encoder" : "decoder";
}

// Labels of the shown map. Rows of cross attention are labelled with the token that a step writes; the last row, of the
// step after the end, is left out.
struct Axes {
  std::vector<AttentionToken> rows, columns;
  bool next = false;  // rows are one ahead of the map's
};

Axes axes_of(const Attention& a, AttentionKind kind) {
  if (kind == AttentionKind::encoder) return {a.source, a.source, false};
  if (kind == AttentionKind::decoder) return {a.target, a.target, false};
  Axes axes{{}, a.source, true};
  if (!a.target.empty()) axes.rows.assign(a.target.begin() + 1, a.target.end());
  return axes;
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_tokens(std::string& out, const char* key, const std::vector<AttentionToken>& tokens) {
  out += std::string("\"") + key + "\":[";
  for (const AttentionToken& t : tokens) {
    if (out.back() != '[') out += ',';
    out += format("{\"id\":%d,\"token\":", t.id) + quoted(t.label);
    if (!t.special) {
      out += format(",\"begin\":%u,\"end\":%u", t.bytes.begin, t.bytes.end);
    }
    out += '}';
  }
  out += ']';
}

void append_matrix(std::string& out, std::span<const float> values, size_t rows, size_t cols) {
  out += '[';
  for (size_t r = 0; r < rows; ++r) {
    out += r == 0 ? "[" : ",[";
    for (size_t c = 0; c < cols; ++c) {
      const float v = values[r * cols + c];
      if (c > 0) out += ',';
      out += std::isfinite(v) ? format("%.7g", static_cast<double>(v)) : "null";
    }
    out += ']';
  }
  out += ']';
}

std::string index_json(int32_t index) {
  return index == kAttentionAll ? "\"all\"" : index == kAttentionMean ? "\"mean\"" : std::to_string(index);
}

// All indexes, or the chosen one.
std::vector<int32_t> indexes(int32_t chosen, uint32_t count) {
  if (chosen != kAttentionAll) return {chosen};
  std::vector<int32_t> all(count);
  for (uint32_t i = 0; i < count; ++i) all[i] = static_cast<int32_t>(i);
  return all;
}

std::vector<std::u32string> labels(const std::vector<AttentionToken>& tokens) {
  std::vector<std::u32string> out;
  for (const AttentionToken& t : tokens) out.push_back(to_utf32(t.label));
  return out;
}

Result<drawing::HeatMap> heat_map_of(const Attention& attention, const AttentionChoice& choice) {
  if (choice.layer == kAttentionAll || choice.head == kAttentionAll) {
    return fail(ErrorCode::invalid_argument,
                "a picture shows one layer and head or their mean; take all of them as JSON");
  }
  LAPILLI_CHECK(has_maps(attention));
  const AttentionMap& map = attention.map(choice.kind);
  const Axes axes = axes_of(attention, choice.kind);
  drawing::HeatMap heat;
  LAPILLI_TRY(heat.values, map.select(choice.layer, choice.head));
  heat.values.resize(axes.rows.size() * map.cols);
  heat.title = to_utf32(name_of(choice));
  heat.row_title = choice.kind == AttentionKind::encoder ? U"source (reads)" : U"target";
  heat.column_title = choice.kind == AttentionKind::decoder ? U"target (read)" : U"source";
  heat.rows = labels(axes.rows);
  heat.columns = labels(axes.columns);
  return heat;
}

}  // namespace

std::string name_of(const AttentionChoice& choice) {
  const auto which = [](const char* what, int32_t index) {
    return index < 0 ? std::string("mean of all ") + what + "s" : std::string(what) + " " + std::to_string(index);
  };
  return std::string(name_of(choice.kind)) + " attention, " + which("layer", choice.layer) + ", " +
         which("head", choice.head);
}

Result<std::string> attention_json(const Attention& attention, const AttentionChoice& choice) {
  LAPILLI_CHECK(has_maps(attention));
  const AttentionMap& map = attention.map(choice.kind);
  if (map.layers == 0) return map.select(kAttentionMean, kAttentionMean).error();
  const Axes axes = axes_of(attention, choice.kind);
  std::string out = std::string("{\"kind\":\"") + name_of(choice.kind) +
                    "\",\"source\":" + quoted(attention.source_text) + ",\"target\":" + quoted(attention.target_text) +
                    ",\"layer\":" + index_json(choice.layer) + ",\"head\":" + index_json(choice.head) + ",";
  append_tokens(out, "rows", axes.rows);
  out += ',';
  append_tokens(out, "columns", axes.columns);
  out += ",\"weights\":";
  if (choice.layer == kAttentionAll) out += '[';
  const char* between_layers = "";
  for (const int32_t layer : indexes(choice.layer, map.layers)) {
    out += between_layers;
    between_layers = ",";
    if (choice.head == kAttentionAll) out += '[';
    const char* between_heads = "";
    for (const int32_t head : indexes(choice.head, map.heads)) {
      LAPILLI_TRY(const auto values, map.select(layer, head));
      out += between_heads;
      between_heads = ",";
      append_matrix(out, values, axes.rows.size(), map.cols);
    }
    if (choice.head == kAttentionAll) out += ']';
  }
  if (choice.layer == kAttentionAll) out += ']';
  return out + "}";
}

Result<std::string> attention_svg(const Attention& attention, const AttentionChoice& choice) {
  LAPILLI_TRY(const auto heat, heat_map_of(attention, choice));
  return drawing::heat_map_svg(heat);
}

Result<std::vector<uint8_t>> attention_png(const Attention& attention, const AttentionChoice& choice) {
  constexpr float kTextPixels = 15;
  LAPILLI_TRY(const auto heat, heat_map_of(attention, choice));
  drawing::Typeface typeface(drawing::find_font(), kTextPixels);
  LAPILLI_TRY(const auto picture, drawing::draw_heat_map(heat, typeface));
  return image::encode_png(picture.width, picture.height, 3, picture.rgb);
}

}  // namespace lapilli
