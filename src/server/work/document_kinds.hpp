// The kinds of documents that come as files: by the ending of their name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lapilli::server {

struct DocumentKind {
  const char* ending;  // ".html"
  const char* kind;    // TranslationRequest::kind
  const char* type;    // Content-Type
};

std::span<const DocumentKind> document_kinds();
// ".txt, .md, ..."
std::string document_endings();
// Null for other endings.
const DocumentKind* document_kind_of(std::string_view name);
// "letter_fr.txt" of "folder/letter.txt".
std::string translated_name(const std::string& name, const DocumentKind& kind, const std::string& to);

}  // namespace lapilli::server
