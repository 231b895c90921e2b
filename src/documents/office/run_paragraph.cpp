#include "documents/office/run_paragraph.hpp"

#include <algorithm>

#include "documents/office/xml_text.hpp"

namespace lapilli::documents {

namespace {

// A field whose result is a link's text, and no text that the program computes.
bool is_link(std::string_view instruction) {
  constexpr std::string_view kLink = "hyperlink";
  const size_t begin = std::min(instruction.find_first_not_of(" \t\r\n"), instruction.size());
  return ascii_lower(instruction.substr(begin, kLink.size())) == kLink;
}

}  // namespace

Status RunParagraph::read(XmlToken& token) {
  const size_t outside = tokens_.depth() - 1;
  while (tokens_.depth() > outside) {
    LAPILLI_TRY(const bool more, tokens_.next(token));
    if (!more) break;
    const XmlToken::Type type = token.type;  // element() reads on
    if (type == XmlToken::end_tag && tokens_.depth() > outside) close_wrapper(token.range);
    if (type == XmlToken::start_tag) LAPILLI_CHECK(element(token));
  }
  fields_ += links_.size();  // a link that goes on in the next paragraph stays
  return {};
}

Status RunParagraph::element(XmlToken& token) {
  if (token.name == rules_.run) return run(token);
  if (token.name == rules_.text) return text(token, kNoRun);
  if (!wraps(token)) return thing(token, kNoRun);
  if (!token.closed) open_wrapper(token.range);
  return {};
}

bool RunParagraph::wraps(const XmlToken& token) const {
  return is_one_of(rules_.wrappers, token.name) ||
         (is_one_of(rules_.fields, token.name) && is_link(token.value("w:instr", bytes_)));
}

void RunParagraph::open_wrapper(Range bytes) {
  wrapper_items_.push_back(items_.size());
  RunItem& item = add(RunItem::open, bytes, kNoRun);
  item.wrapper = wrappers_++;
  item.content = bytes;
}

void RunParagraph::close_wrapper(Range bytes) {
  if (wrapper_items_.empty()) return;
  stays_ |= !links_.empty() && links_.back() == wrapper_items_.back();  // a link ends in another element than it begins
  RunItem& opening = items_[wrapper_items_.back()];
  opening.content.end = bytes.end;
  const Range whole = opening.content;
  const size_t wrapper = opening.wrapper;
  wrapper_items_.pop_back();
  RunItem& item = add(RunItem::close, bytes, kNoRun);
  item.wrapper = wrapper;
  item.content = whole;
}

Status RunParagraph::run(XmlToken& token) {
  if (token.closed) return {};
  const size_t number = runs_.size(), outside = tokens_.depth() - 1;
  runs_.push_back({token.range, {}, 0});
  while (tokens_.depth() > outside) {
    LAPILLI_TRY(const bool more, tokens_.next(token));
    if (!more) break;
    if (token.type == XmlToken::start_tag) LAPILLI_CHECK(run_element(token, number));
  }
  runs_[number].whole.end = token.range.end;
  if (field_end_run_ == number && !stays_) end_item(token.range.end);
  return {};
}

// The last item is all of a run, whose end was not known.
void RunParagraph::end_item(size_t end) {
  RunItem& item = items_.back();
  item.bytes.end = end;
  if (item.kind == RunItem::close) item.content.end = end;
}

Status RunParagraph::run_element(XmlToken& token, size_t number) {
  if (token.name == rules_.text) return text(token, number);
  if (token.name != rules_.look) return thing(token, number);
  const size_t begin = token.range.begin;
  LAPILLI_CHECK(tokens_.skip_element(token));
  runs_[number].look = {begin, token.range.end};
  return {};
}

// A text with comments in it stays as it is.
Status RunParagraph::text(XmlToken& token, size_t run) {
  const XmlToken tag = token;
  LAPILLI_CHECK(tokens_.skip_element(token));
  const Range whole{tag.range.begin, token.range.end};
  const Range content{tag.range.end, tag.closed ? tag.range.end : token.range.begin};
  if (content.of(bytes_).find('<') == std::string_view::npos)
    add_texts(whole, content, run);
  else
    add(RunItem::divider, whole, run);
  return {};
}

// The next line end in a text; an empty range at its end if there is none. The same one is found again until it is
// passed.
Range RunParagraph::find_break(std::string_view text, size_t from, std::vector<size_t>& next) const {
  Range first{text.size(), text.size()};
  for (size_t i = 0; i < rules_.breaks.size(); ++i) {
    if (next[i] < from || from == 0) next[i] = std::min(text.find(rules_.breaks[i], from), text.size());
    if (next[i] < first.begin) first = {next[i], next[i] + rules_.breaks[i].size()};
  }
  return first;
}

void RunParagraph::add_texts(Range whole, Range content, size_t run) {
  const std::string_view text = content.of(bytes_);
  std::vector<size_t> next(rules_.breaks.size());
  for (size_t at = 0; at <= text.size();) {
    const Range end = find_break(text, at, next);
    RunItem& item = add(RunItem::text, whole, run);
    item.content = {content.begin + at, content.begin + end.begin};
    item.whole_text = at == 0 && end.begin == text.size();
    if (end.empty()) break;
    add(RunItem::divider, {content.begin + end.begin, content.begin + end.end}, run);
    at = end.end;
  }
}

// Everything but text stays.
Status RunParagraph::thing(XmlToken& token, size_t run) {
  const XmlToken tag = token;
  std::string words;
  LAPILLI_CHECK(skip_with_words(token, words));
  const Range whole{tag.range.begin, token.range.end};
  if (tag.name == "w:instrText" && fields_ == 1) instruction_ += Range{tag.range.end, token.range.begin}.of(bytes_);
  const std::string_view field = tag.name == "w:fldChar" ? tag.value("w:fldCharType", bytes_) : "";
  if (field == "begin")
    begin_field(run);
  else if (field == "end")
    end_field(run);
  else if (field == "separate" && begin_result(run))
    return {};
  else if (is_one_of(rules_.dividers, tag.name))
    add(RunItem::divider, whole, run);
  else if (!is_one_of(rules_.dropped, tag.name))
    add(RunItem::other, whole, run).words = is_one_of(rules_.fields, tag.name) ? words : "";
  return {};
}

Status RunParagraph::skip_with_words(XmlToken& token, std::string& words) {
  if (token.closed) return {};
  const size_t outside = tokens_.depth() - 1;
  bool in_text = false;
  while (tokens_.depth() > outside) {
    LAPILLI_TRY(const bool more, tokens_.next(token));
    if (!more) break;
    if (token.type == XmlToken::text && in_text) words += decode_xml(token.range.of(bytes_));
    in_text = token.type == XmlToken::start_tag && token.name == rules_.text;
  }
  return {};
}

// A field goes from a run with its beginning to a run with its end; all of these runs become one item.
void RunParagraph::begin_field(size_t run) {
  if (fields_++ > 0) return;
  field_item_ = result_item_ = items_.size();
  field_run_ = run;
  field_wrappers_ = wrapper_items_.size();
  instruction_.clear();
  stays_ |= run == kNoRun || run == field_end_run_ || runs_[run].items > 0;
}

// Nothing opened in the field that is not closed, and nothing closed that was open before.
bool RunParagraph::stands_level() const {
  return wrapper_items_.size() == field_wrappers_ && (wrapper_items_.empty() || wrapper_items_.back() < field_item_);
}

// Behind a link's instruction stands its text, so the runs up to here are a wrapper's beginning. False: no link.
bool RunParagraph::begin_result(size_t run) {
  if (fields_ == 1) result_item_ = items_.size();
  if (fields_ != 1 || stays_ || run == kNoRun || !is_link(instruction_) || !stands_level()) return false;
  items_.resize(field_item_);
  --fields_;
  open_wrapper({runs_[field_run_].whole.begin, runs_[run].whole.end});
  links_.push_back(items_.size() - 1);
  field_end_run_ = run;
  return true;
}

void RunParagraph::end_link(size_t run) {
  stays_ |= run == kNoRun || run == field_end_run_ || runs_[run].items > 0 || wrapper_items_.empty() ||
            wrapper_items_.back() != links_.back();
  links_.pop_back();
  if (stays_) return;
  close_wrapper(runs_[run].whole);
  field_end_run_ = run;
}

void RunParagraph::end_field(size_t run) {
  if (fields_ == 0) return links_.empty() ? void(stays_ = true) : end_link(run);
  if (--fields_ > 0 || stays_) return;
  stays_ |= !stands_level() || run == kNoRun;
  if (stays_) return;
  std::string words;
  for (size_t i = result_item_; i < items_.size(); ++i)
    if (items_[i].kind == RunItem::text) words += decode_xml(items_[i].content.of(bytes_));
  items_.resize(field_item_);
  add(RunItem::other, runs_[field_run_].whole, kNoRun).words = words;
  field_end_run_ = run;
}

RunItem& RunParagraph::add(RunItem::Kind kind, Range bytes, size_t run) {
  stays_ |= run != kNoRun && run == field_end_run_;  // the field's last run has more in it
  RunItem& item = items_.emplace_back();
  item.kind = kind;
  item.bytes = bytes;
  item.run = run;
  if (run != kNoRun) item.number = runs_[run].items++;
  return item;
}

}  // namespace lapilli::documents
