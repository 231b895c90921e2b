// The kinds of documents that come as files: by their name.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace lapilli::server {

struct DocumentKind {
  std::string ending;  // ".html"
  std::string kind;    // TranslationRequest::kind
  std::string type;    // Content-Type
};

// One for each ending that this build reads.
std::vector<DocumentKind> document_kinds();
// ".txt, .md, ..."
std::string document_endings();
// Nothing for other names.
std::optional<DocumentKind> document_kind_of(const std::string& name);
// "letter_fr.txt" of "folder/letter.txt".
std::string translated_name(const std::string& name, const DocumentKind& kind, const std::string& to);

}  // namespace lapilli::server
