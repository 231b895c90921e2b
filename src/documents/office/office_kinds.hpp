// The kinds of documents that are XML, alone or in an archive.
#pragma once

#include "documents/kinds.hpp"
#include "documents/office/xml_text.hpp"

namespace lapilli::documents {

Result<Found> find_xliff_passages(std::string_view bytes, size_t begin, const Options& options);
Result<Found> find_qt_passages(std::string_view bytes, size_t begin, const Options& options);
Result<Found> find_ttml_passages(std::string_view bytes, size_t begin, const Options& options);

}  // namespace lapilli::documents
