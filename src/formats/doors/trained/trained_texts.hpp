// The texts of a directory of ours for a model of a training program: settings, and the pieces of its vocabularies.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/doors/door.hpp"
#include "formats/doors/trained/trained_mapper.hpp"

namespace lapilli::doors::trained {

using Pieces = std::vector<std::string>;  // by id

// Content of pieces.json (src/text/kinds/pieces_tokenizer.cpp).
struct PieceFiles {
  Pieces source, target;  // no target: that of the source
  std::string unknown, end, start, padding;
  bool source_end = true;
  bool source_start = false;  // a text begins with the start's id
  std::string cut;            // "words", "codes", "sentencepiece", "subwords"; empty: none
  std::string missing;        // without a cut: what was looked for
  std::string unread;         // a way to cut that the settings name and that is not read
  bool moses = false;
  std::string source_language, target_language;
  // Files of the directory that hold the codes or the model of a side.
  std::string source_file, target_file;
};

// A language's name, of letters, digits, _ and -; nothing for other texts, which are no part of a file's name.
std::string language_of(const std::string& text);

// Looks for the file that cuts texts of the pieces: codes of subword-nmt where a piece ends with "@@", a SentencePiece
// model where one begins with its mark of a space, and none for whole words. Sets `cut` and its files, or `missing`,
// where settings or pieces are of another way.
void find_cut(const Files& files, PieceFiles& pieces);

// The names of a directory's files; nothing for files of a host, which has no list of them.
std::vector<std::string> file_names(const Files& files);

// Adds config.json, generation_config.json, pieces.json, and the files that cut texts under the names that the
// tokenizer asks for. Pieces stay away where there are none.
void add_texts(TrainedMapper& mapper, const PieceFiles& pieces, MadeFiles& made);

}  // namespace lapilli::doors::trained
