// Attention overlays of the words about a picture: the cross attention of the steps that wrote them, mapped to the
// places of the encoder's rows in the picture. As with texts (attention.hpp), the chosen hypothesis is run again.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "drawing/overlay_sheet.hpp"
#include "generate/attention.hpp"
#include "generate/picture_reader.hpp"

namespace lapilli {

// The encoder's rows are the parts of a grid over the prepared picture, row by row from the top, after rows that stand
// for no part of it (class tokens).
struct PictureGrid {
  uint32_t front = 0;              // rows that are no part
  uint32_t rows = 0, columns = 0;  // of parts
  // Pixels of all parts: less than the picture where a remainder is dropped, more where it is padded.
  uint32_t height = 0, width = 0;
  friend bool operator==(const PictureGrid&, const PictureGrid&) = default;
};
// Patches, or with stages the places of the last map.
PictureGrid grid_of(const model::Config& config);

// For each decoder id after the first: the attention when it was written, [rows, columns] of the grid, by the layer and
// head of `choice`. Errors: no such layer or head, `go_on` returned false while waiting for the device.
Result<std::vector<std::vector<float>>> attention_of_ids(const std::shared_ptr<Model>& model,
                                                         std::shared_ptr<const model::Features> source,
                                                         std::span<const int32_t> decoder_ids,
                                                         const AttentionChoice& choice,
                                                         const std::function<bool()>& go_on);
// Checks a choice for this model.
Status check_overlay_choice(const Model& model, const AttentionChoice& choice);

// Ids grouped into words: these begin after white space, or with each token in scripts without it; a field of Donut's
// is one. Ids without text belong to none.
struct WrittenWord {
  std::string text;
  std::vector<size_t> ids;  // by number
};
// `bytes` are the ranges of `text` that each id gave; `fields` tells which ids are fields.
std::vector<WrittenWord> written_words(std::string_view text, std::span<const ByteRange> bytes,
                                       const std::vector<bool>& fields);

// A picture as the model saw it, and the size of its file.
struct ShownPicture {
  image::Picture prepared;
  image::Size original;
};
// The prepared picture as the grid covers it, scaled to fit a sheet. A squeezed picture gets the file's aspect ratio
// back.
Result<image::Picture> picture_to_show(const ShownPicture& shown, const PictureGrid& grid, bool squeezed);

// The picture once for each word of `result`; `attention` is that of its ids. Refuses a text without words.
Result<drawing::OverlaySheet> overlay_sheet_of(const PictureReader& reader, const ShownPicture& shown,
                                               const PictureResult& result,
                                               const std::vector<std::vector<float>>& attention);

}  // namespace lapilli
