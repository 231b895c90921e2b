// The texts of apps in XML, element by element. Each kind says which elements are texts.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "documents/apps/entry_comments.hpp"
#include "documents/apps/messages.hpp"
#include "documents/office/xml_tokens.hpp"

namespace lapilli::documents {

// The root element that a kind has, and what is said where it is missing.
struct XmlRoot {
  std::string_view name;
  const char* missing;
};

class XmlTexts {
 public:
  XmlTexts(std::string_view bytes, size_t begin, const Options& options);
  virtual ~XmlTexts() = default;
  XmlTexts(const XmlTexts&) = delete;
  XmlTexts& operator=(const XmlTexts&) = delete;

  Result<Found> read(const XmlRoot& root);

 protected:
  struct Text {
    WrittenText words;
    bool cdata = false;
  };

  // A start tag; where it is read on, `token` becomes what was read last.
  virtual Status element(XmlToken& token) = 0;
  virtual void end(const XmlToken& token) = 0;

  // Reads to the end tag of the element that `token` begins. What stands in CDATA is a text of its own.
  Result<std::vector<Text>> content(XmlToken& token, bool backslashes);
  void add(const Text& text);
  Notes& notes() { return messages_.notes; }
  // Says which plural forms the target's language has, and these are not.
  void tell_lacking(size_t at, std::span<const std::string_view> categories);

  std::string_view bytes_;
  XmlTokens tokens_;
  EntryComments comments_;

 private:
  Found found_;
  Messages messages_;
  MessageRules rules_;
};

}  // namespace lapilli::documents
