// A strict reader of simple XML: elements, attributes, text and the usual escapes; no comments, doctypes or CDATA.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/unicode/utf8.hpp"

namespace lapilli::test {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  std::string text;  // directly within it
};

class XmlReader {
 public:
  // All elements in the order in which they begin; nothing if `document` is not well-formed.
  static std::optional<std::vector<Element>> read(std::string_view document) {
    XmlReader reader(document);
    const bool good = find_invalid_utf8(document) == std::string_view::npos && allowed(document) && reader.element() &&
                      reader.rest_.find_first_not_of(" \n") == std::string_view::npos;
    return good ? std::optional(std::move(reader.elements_)) : std::nullopt;
  }

 private:
  explicit XmlReader(std::string_view document) : rest_(document) {}

  // No controls but tab and line break, no U+FFFE, no U+FFFF.
  static bool allowed(std::string_view document) {
    for (const char c : document) {
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') return false;
    }
    return document.find("\xEF\xBF\xBE") == document.npos && document.find("\xEF\xBF\xBF") == document.npos;
  }
  bool take(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  std::string_view take_until(std::string_view ends) {
    const std::string_view taken = rest_.substr(0, rest_.find_first_of(ends));
    rest_.remove_prefix(taken.size());
    return taken;
  }
  static bool unescape(std::string_view raw, std::string& text) {
    static const std::map<std::string_view, char> known = {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}};
    while (!raw.empty()) {
      const size_t at = raw.find('&');
      text += raw.substr(0, at);
      if (at == raw.npos) return true;
      const size_t end = raw.find(';', at);
      if (end == raw.npos || !known.contains(raw.substr(at + 1, end - at - 1))) return false;
      text += known.at(raw.substr(at + 1, end - at - 1));
      raw.remove_prefix(end + 1);
    }
    return true;
  }
  bool attributes(Element& element) {
    while (take(" ")) {
      const std::string name(take_until("= />\""));
      if (name.empty() || element.attributes.contains(name) || !take("=\"")) return false;
      if (!unescape(take_until("<\""), element.attributes[name]) || !take("\"")) return false;
    }
    return true;
  }
  bool element() {
    if (!take("<")) return false;
    const size_t index = elements_.size();
    Element& begun = elements_.emplace_back();
    begun.name = take_until(" />\n");
    if (begun.name.empty() || !attributes(begun)) return false;
    if (take("/>")) return true;
    if (!take(">")) return false;
    while (!take("</" + elements_[index].name + ">")) {
      std::string text;
      if (rest_.empty() || rest_.starts_with("</")) return false;
      if (rest_.front() == '<' ? !element() : !unescape(take_until("<"), text)) return false;
      elements_[index].text += text;
    }
    return true;
  }

  std::string_view rest_;
  std::vector<Element> elements_;
};

}  // namespace lapilli::test
