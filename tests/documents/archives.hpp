// Zip archives for tests, by code of these tests and not of src/documents.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lapilli::documents {

using ArchiveFiles = std::vector<std::pair<std::string, std::string>>;

// All files are stored; their checksums are right.
std::string archive_of(const ArchiveFiles& files);
// A stored or deflated file of an archive that was written here; "" if it is not there.
std::string file_in(std::string_view archive, std::string_view name);

}  // namespace lapilli::documents
