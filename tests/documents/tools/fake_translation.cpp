// Translates a document without a model, for tests that read it with other tools:
//   fake_translation KIND MODE [LANGUAGE] < document
// MODE: `upper` (letters of ASCII in upper case, each word linked to itself), `same`, `list` (the texts), or a number:
// no document is read, a random one is written. LANGUAGE: the target's.
#include <cctype>
#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>

#include "documents/document.hpp"
#include "random_documents.hpp"

namespace {

using lapilli::documents::Document;
using lapilli::documents::Segment;
using lapilli::documents::Translation;

bool in_word(const std::string& text, size_t i) {
  return i < text.size() && (isalnum(static_cast<unsigned char>(text[i])) || (text[i] & 0x80));
}

Translation in_upper_case(const Segment& segment) {
  Translation t{segment.text, {}};
  for (char& c : t.text) c = static_cast<char>(toupper(static_cast<unsigned char>(c)));
  for (const auto& mark : segment.marks)
    if (mark.kept) t.text.replace(mark.begin, mark.end - mark.begin, segment.text, mark.begin, mark.end - mark.begin);
  for (size_t at = 0; at < t.text.size();) {
    size_t end = at;
    while (in_word(t.text, end)) ++end;
    if (end > at) t.links.push_back({at, end, at, end, 1});
    at = end + 1;
  }
  return t;
}

int run(const std::string& kind_name, const std::string& mode, const std::string& language) {
  const auto kind = lapilli::documents::kind_called(kind_name);
  if (!kind) return std::cerr << "no kind is called " << kind_name << "\n", 2;
  if (isdigit(static_cast<unsigned char>(mode[0]))) {
    lapilli::documents::Chance chance(static_cast<unsigned>(std::stoul(mode)));
    std::cout << lapilli::documents::random_document(*kind, chance);
    return 0;
  }
  std::string bytes{std::istreambuf_iterator<char>(std::cin), {}};
  lapilli::documents::Options options;
  options.target_language = language;
  const auto document = Document::parse(*kind, std::move(bytes), options);
  if (!document) return std::cerr << document.error().message << "\n", 1;
  std::vector<Translation> translations;
  for (const Segment& s : document->segments()) {
    if (mode == "list") std::cout << s.text << "\n";
    translations.push_back(mode == "upper" ? in_upper_case(s) : Translation{s.text, {}});
  }
  for (const std::string& note : document->notes()) std::cerr << note << "\n";
  if (mode == "list") return 0;
  const auto out = document->render(translations);
  if (!out) return std::cerr << out.error().message << "\n", 1;
  std::cout << *out;
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4 || !*argv[2])
    return std::cerr << "usage: fake_translation KIND upper|same|list|NUMBER [LANGUAGE] < document\n", 2;
  return run(argv[1], argv[2], argc > 3 ? argv[3] : "");
}
