// The pieces of a SentencePiece model in the order of their ids: Marian's vocabularies are such models.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli::doors::marian {

Result<std::vector<std::string>> read_pieces(const FileName& file);

}  // namespace lapilli::doors::marian
