// Lexical shortlists of Marian's students: for each id of a source the ids that often stand for it in the target, so
// that the product of the logits needs few columns.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// Ids of the vocabularies; with a shared one a source's own ids may be written, too.
struct ShortlistIds {
  uint64_t source = 0, target = 0;
  bool shared = false;
};

// Its name in a directory of ours.
constexpr const char* kShortlistFile = "lex.s2t.bin";
// In config.json: both languages have one vocabulary, whether or not the network has one table for them.
constexpr const char* kSharedVocabulary = "shared_vocabulary";

class Shortlist {
 public:
  // A file in Marian's binary form ("lex.50.50.enpt.s2t.bin"). Errors name it, and what does not fit the vocabularies.
  static Result<Shortlist> read(const FileName& file, const ShortlistIds& ids);

  // A bit for each id that may be written after this source, 32 ids a word, the first in the lowest bit: the most
  // frequent ids, those of the source's lists, and more until their number is a multiple of 8.
  [[nodiscard]] std::vector<uint32_t> mask(std::span<const int32_t> source) const;

 private:
  ShortlistIds vocabulary_;
  uint64_t frequent_ = 0;  // first ids, which all sources allow
  std::vector<uint64_t> offsets_;
  std::vector<uint32_t> ids_;
};

}  // namespace lapilli
