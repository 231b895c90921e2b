// What the words about a picture looked at: the cross attention of the steps that wrote them, brought back to where the
// encoder's rows lie in the picture. As with texts (attention.hpp) the chosen hypothesis is run once more.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "generate/attention.hpp"
#include "generate/picture_reader.hpp"
#include "image/look_sheet.hpp"

namespace lapilli {

// The encoder's rows are the parts of a grid over the prepared picture, row by row from the top, behind rows that
// stand for no part of it (class tokens).
struct PictureGrid {
  uint32_t front = 0;              // rows that are no part
  uint32_t rows = 0, columns = 0;  // of parts
  uint32_t height = 0, width = 0;  // pixels of all parts: less than the picture where some belong to no part, more
                                   // where it is filled up
  friend bool operator==(const PictureGrid&, const PictureGrid&) = default;
};
// Patches, or with stages the places of the last map.
PictureGrid grid_of(const model::Config& config);

// Of each decoder id behind the first: what was looked at when it was written, [rows, columns] of the grid; of
// `choice` layer and head. Errors: no such layer or head, `go_on` said false while it waited for the device.
Result<std::vector<std::vector<float>>> looks_of_ids(const std::shared_ptr<Model>& model,
                                                     std::shared_ptr<const model::Features> source,
                                                     std::span<const int32_t> decoder_ids,
                                                     const AttentionChoice& choice, const std::function<bool()>& go_on);
// What such a choice may be of this model.
Status check_looks(const Model& model, const AttentionChoice& choice);

// Ids put together to words: these begin behind white space, or with a token where a script has none; a field of
// Donut's is one. Ids of no text belong to none.
struct WrittenWord {
  std::string text;
  std::vector<size_t> ids;  // by their number
};
// `bytes` are those of `text` that each id gave; `fields`: which ids are fields.
std::vector<WrittenWord> written_words(std::string_view text, std::span<const ByteRange> bytes,
                                       const std::vector<bool>& fields);

// A picture as the model saw it, and the shape that its file has.
struct SeenPicture {
  image::Picture prepared;
  pictures::Size original;
};
// The prepared picture as a grid lies over it, as large as a sheet has room for. Where it was squeezed it has the
// file's shape again.
Result<image::Picture> picture_to_show(const SeenPicture& seen, const PictureGrid& grid, bool squeezed);

// The picture once for each word of `result`; `looks` are those of its ids. Refuses a text without words.
Result<image::LookSheet> look_sheet_of(const PictureReader& reader, const SeenPicture& seen,
                                       const PictureResult& result, const std::vector<std::vector<float>>& looks);

}  // namespace lapilli
