// Lapilli's answers for texts, ids and pieces with a SentencePiece model, for comparisons with the library.
#pragma once

#include <string>
#include <vector>

#include "text/sentencepiece/sentencepiece_model.hpp"

namespace lapilli {

// "e HEX" encodes the text of these bytes and gives "ID:BEGIN-END ID:BEGIN-END ..."; "d ID ID ..." and "p HEX HEX ..."
// join ids or pieces and give the text's bytes in hexadecimal. Errors give "error: MESSAGE".
std::string sentencepiece_answer(const SentencePieceModel& model, const std::string& question);

// A record of the library's answers: "model PATH" (from the repository's root), then lines "QUESTION = ANSWER".
struct SentencePieceRecord {
  size_t questions = 0;
  std::vector<std::string> wrong;  // lines that Lapilli answers otherwise, and files that cannot be read
};
SentencePieceRecord compare_sentencepiece_record(const std::string& path, const std::string& root);

}  // namespace lapilli
