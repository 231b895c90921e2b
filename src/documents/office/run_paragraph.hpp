// A paragraph of Office Open XML as a row of items: texts, and what stands between them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "documents/office/run_reader.hpp"
#include "documents/office/xml_tokens.hpp"

namespace lapilli::documents {

inline constexpr size_t kNoRun = SIZE_MAX;

struct Run {
  Range whole, look;
  size_t items = 0;  // in it
};

struct RunItem {
  enum Kind { text, other, open, close, divider } kind = other;
  Range bytes;             // of the whole element
  Range content;           // of a text: its words; of a wrapper: from its start tag to its end tag
  std::string words;       // of a field: the model sees them
  size_t run = kNoRun;     // a text may lie in the paragraph itself
  size_t number = 0;       // in its run
  size_t wrapper = 0;      // of open and close
  bool whole_text = true;  // the content is all of a text element
};

class RunParagraph {
 public:
  // `fields`: how many are open that earlier paragraphs began.
  RunParagraph(std::string_view bytes, XmlTokens& tokens, const RunRules& rules, size_t fields)
      : bytes_(bytes), tokens_(tokens), rules_(rules), fields_(fields), stays_(fields > 0) {}

  // Reads to the end of the element that `token` begins.
  Status read(XmlToken& token);

  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] const std::vector<RunItem>& items() const { return items_; }
  [[nodiscard]] size_t wrappers() const { return wrappers_; }
  [[nodiscard]] size_t open_fields() const { return fields_; }
  // It is part of a field, or a field in it has no run of its own.
  [[nodiscard]] bool stays() const { return stays_ || fields_ > 0; }

 private:
  Status element(XmlToken& token);
  [[nodiscard]] bool wraps(const XmlToken& token) const;
  Status run(XmlToken& token);
  void end_item(size_t end);
  Status run_element(XmlToken& token, size_t number);
  Status text(XmlToken& token, size_t run);
  void add_texts(Range whole, Range content, size_t run);
  Range find_break(std::string_view text, size_t from, std::vector<size_t>& next) const;
  Status thing(XmlToken& token, size_t run);
  Status skip_with_words(XmlToken& token, std::string& words);
  void open_wrapper(Range bytes);
  void close_wrapper(Range bytes);
  void begin_field(size_t run);
  bool begin_result(size_t run);
  void end_field(size_t run);
  void end_link(size_t run);
  [[nodiscard]] bool stands_level() const;
  RunItem& add(RunItem::Kind kind, Range bytes, size_t run);

  std::string_view bytes_;
  XmlTokens& tokens_;
  const RunRules& rules_;
  std::vector<Run> runs_;
  std::vector<RunItem> items_;
  std::vector<size_t> wrapper_items_;  // the open ones
  size_t wrappers_ = 0;
  size_t fields_;
  bool stays_;
  size_t field_item_ = 0, field_run_ = kNoRun, field_wrappers_ = 0;  // where the outer field begins
  size_t result_item_ = 0;                                           // what it shows
  size_t field_end_run_ = kNoRun;                                    // where the last one ends
  std::string instruction_;                                          // of the outer field
  std::vector<size_t> links_;                                        // items of the fields that are open as wrappers
};

}  // namespace lapilli::documents
