// The skeleton of a document, all but its words, by code of these tests and not of src/documents.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/document.hpp"

namespace lapilli::documents {

struct Skeleton {
  std::vector<std::string> order;   // in the order of the document
  std::vector<std::string> inside;  // what may change places among words: sorted, each with what is around it
  std::string error;                // "" if all that opens closes
  bool operator==(const Skeleton&) const = default;
};

Skeleton skeleton_of(Kind kind, std::string_view document);
// For HTML that may be any bytes: all tags as its standard cuts them, sorted.
std::vector<std::string> tags_of(std::string_view html);

}  // namespace lapilli::documents
