// What Lapilli makes of texts, ids and pieces with a SentencePiece model, for comparisons with the library.
#pragma once

#include <string>

#include "text/sentencepiece_model.hpp"

namespace lapilli {

// "e HEX" encodes the text of these bytes and gives "ID:BEGIN-END ID:BEGIN-END ..."; "d ID ID ..." and "p HEX HEX ..."
// join ids or pieces and give the text's bytes in hexadecimal. Errors give "error: MESSAGE".
std::string sentencepiece_answer(const SentencePieceModel& model, const std::string& question);

}  // namespace lapilli
