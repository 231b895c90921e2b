// fairseq's dictionaries: dict.LANGUAGE.txt, a piece and its count in each line.
#pragma once

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/doors/trained/trained_texts.hpp"

namespace lapilli::doors::trained {

// Pieces by id, behind the four that every dictionary has. A network's table may have more rows than the file has lines
// only as far as these fill up a multiple of 8; `rows` is their number.
Result<Pieces> read_dictionary(const FileName& name, uint64_t rows);

}  // namespace lapilli::doors::trained
