#include "documents/office/flow_reader.hpp"

#include <algorithm>
#include <utility>

#include "documents/office/xml_text.hpp"

namespace lapilli::documents {

namespace {

class FlowReader {
 public:
  FlowReader(std::string_view bytes, size_t begin, const FlowRules& rules, const Options& options)
      : bytes_(bytes), tokens_(bytes, begin), rules_(rules), options_(options) {}

  Result<Found> read() {
    for (;;) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      LAPILLI_CHECK(block_ > 0 ? block_token() : outer_token());
    }
    return std::move(found_);
  }

 private:
  // ---- between blocks ----
  Status outer_token() {
    if (tokens_.depth() < cell_) cell_ = 0, computed_ = false;
    if (token_.type != XmlToken::start_tag) return {};
    if (is_one_of(rules_.aside, token_.name)) return tokens_.skip_element(token_);
    if (token_.name == rules_.language) return language();
    if (token_.closed) return {};
    if (token_.name == rules_.cell) cell();
    if (!is_one_of(rules_.blocks, token_.name)) return {};
    if (computed_ && is_own(tokens_.depth())) return tokens_.skip_element(token_);
    block_ = tokens_.depth();
    block_passages_ = found_.passages.size();
    return {};
  }

  // A cell whose own words are a number's, a date's or a formula's; it may have an annotation.
  void cell() {
    const std::string_view type = token_.value("office:value-type", bytes_);
    cell_ = tokens_.depth();
    computed_ = token_.attribute("table:formula") || (!type.empty() && type != "string");
    begins_ = true;
  }
  // True for the depth of the cell's own blocks.
  [[nodiscard]] bool is_own(size_t depth) const { return cell_ > 0 && depth == cell_ + 1; }

  // A cell that shows a formula as a text.
  void begin_cell() {
    if (!is_own(block_) || !std::exchange(begins_, false)) return;
    computed_ = is_formula(decode_xml(token_.range.of(bytes_)));
  }

  Status language() {
    const size_t begin = token_.range.end;
    LAPILLI_CHECK(tokens_.skip_element(token_));
    const Range content{begin, token_.range.begin};
    if (options_.target_language.empty() || content.empty() || !found_.edits.empty()) return {};
    std::string name;
    append_xml(name, options_.target_language);
    found_.edits.push_back({content, name});
    return {};
  }

  // ---- in a block ----
  Status block_token() {
    switch (token_.type) {
      case XmlToken::start_tag: return block_tag();
      case XmlToken::end_tag: end_tag(); break;
      case XmlToken::text:
      case XmlToken::cdata:
        begin_cell();
        add_xml_text(builder_, bytes_, token_);
        break;
      default: builder_.point(token_.range);
    }
    return {};
  }

  Status block_tag() {
    const std::string_view name = token_.name;
    if (is_one_of(rules_.blocks, name)) {
      flush();
    } else if (is_one_of(rules_.dividers, name)) {
      flush();
      return tokens_.skip_element(token_);
    } else if (is_one_of(rules_.pairs, name) && !token_.closed) {
      builder_.open(token_.range, 0);
    } else {
      if (!rules_.blank.empty() && name == rules_.blank) add_blank();
      return whole_element(is_one_of(rules_.aside, name) || is_point(name));
    }
    return {};
  }

  [[nodiscard]] bool is_point(std::string_view name) const {
    return std::any_of(rules_.points.begin(), rules_.points.end(),
                       [&](std::string_view beginning) { return name.starts_with(beginning); });
  }

  // The words on both sides are two for the model.
  void add_blank() {
    const bool there = !builder_.empty() && builder_.items().back().text.ends_with(' ');
    if (!there) builder_.words({token_.range.begin, token_.range.begin}, " ");
  }

  Status whole_element(bool silent) {
    const size_t begin = token_.range.begin, outside = tokens_.depth() - (token_.closed ? 0 : 1);
    std::string text;
    while (tokens_.depth() > outside) {
      LAPILLI_TRY(const bool more, tokens_.next(token_));
      if (!more) break;
      if (token_.type == XmlToken::text && !silent) text += decode_xml(token_.range.of(bytes_));
    }
    builder_.kept({begin, token_.range.end}, text);
    return {};
  }

  void end_tag() {
    if (tokens_.depth() >= block_) return builder_.close(token_.range, 0);
    flush();
    if (computed_ && is_own(block_)) found_.passages.resize(block_passages_);
    block_ = 0;
  }

  void flush() {
    Passage passage;
    if (builder_.finish(passage.parts)) found_.passages.push_back(std::move(passage));
  }

  std::string_view bytes_;
  XmlTokens tokens_;
  XmlToken token_;
  const FlowRules& rules_;
  const Options& options_;
  PartBuilder builder_;
  Found found_;
  size_t block_ = 0;           // depth in the block that is read; 0: none
  size_t block_passages_ = 0;  // found before it
  size_t cell_ = 0;            // depth in the cell that is read; 0: none
  bool computed_ = false;      // the cell's own words stay
  bool begins_ = false;        // the cell has had no text of its own
};

}  // namespace

Result<Found> find_flow_passages(std::string_view bytes, size_t begin, const FlowRules& rules, const Options& options) {
  return FlowReader(bytes, begin, rules, options).read();
}

}  // namespace lapilli::documents
