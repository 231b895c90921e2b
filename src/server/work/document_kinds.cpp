#include "server/work/document_kinds.hpp"

#include "documents/kind.hpp"

namespace lapilli::server {

namespace {

DocumentKind with_ending(documents::Kind kind, const std::string& ending) {
  return {"." + ending, documents::kind_name(kind), documents::media_type(kind, ending)};
}

}  // namespace

std::vector<DocumentKind> document_kinds() {
  std::vector<DocumentKind> all;
  for (const documents::Kind kind : documents::all_kinds()) {
    if (!documents::kind_available(kind)) continue;
    for (const auto ending : documents::kind_endings(kind)) all.push_back(with_ending(kind, std::string(ending)));
  }
  return all;
}

std::string document_endings() {
  std::string all;
  for (const DocumentKind& kind : document_kinds()) all += (all.empty() ? "" : ", ") + kind.ending;
  return all;
}

// A kind that this build does not read is refused by its reader, which names what is missing.
std::optional<DocumentKind> document_kind_of(const std::string& name) {
  const auto kind = documents::kind_of_name(name);
  if (!kind) return std::nullopt;
  return with_ending(*kind, name.substr(name.find_last_of('.') + 1));
}

std::string translated_name(const std::string& name, const DocumentKind& kind, const std::string& to) {
  const std::string plain = name.substr(name.find_last_of("/\\") + 1);
  return plain.substr(0, plain.size() - kind.ending.size()) + "_" + to + kind.ending;
}

}  // namespace lapilli::server
