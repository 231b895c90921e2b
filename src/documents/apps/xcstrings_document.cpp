// Apple's .xcstrings: a localization of the target language is added to each string that has none. It is a copy of the
// source's with other texts, or, where a key is its own text, made from nothing.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "documents/apps/app_kinds.hpp"
#include "documents/apps/json_tree.hpp"
#include "documents/apps/messages.hpp"
#include "documents/plurals.hpp"

namespace lapilli::documents {

namespace {

// Collects what is written at one place: bytes that are fixed, and texts among them.
class Composition {
 public:
  Composition(std::string_view bytes, Messages& messages, Found& found)
      : bytes_(bytes), messages_(messages), found_(found), first_(found.passages.size()) {}

  void write(std::string_view fixed) { pending_ += fixed; }
  // The state of the next text; a text that fails is new.
  void state(std::string_view state) {
    state_at_ = pending_.size();
    state_ = state;
    pending_ += state;
  }

  void text(Range string, const MessageRules& rules) {
    const size_t begin = found_.passages.size();
    messages_.add(json_text(bytes_, string), rules);
    size_t at = string.begin;
    for (size_t i = begin; i < found_.passages.size(); ++i) {
      Passage& passage = found_.passages[i];
      passage.before = std::exchange(pending_, {}) + std::string(Range{at, passage.source().begin}.of(bytes_));
      passage.if_failed = passage.before + std::string(passage.source().of(bytes_));
      at = passage.source().end;
    }
    if (found_.passages.size() == begin + 1) fail_empty(found_.passages.back(), string);
    if (found_.passages.size() > begin) state_at_.reset();
    pending_ += Range{at, string.end}.of(bytes_);
  }

  // Places all of it; false if no words are in it.
  bool place(Range at) {
    if (found_.passages.size() == first_) return false;
    for (size_t i = first_; i < found_.passages.size(); ++i)
      found_.passages[i].place = i == first_ ? at : Range{at.end, at.end};
    Passage& last = found_.passages.back();
    last.after = pending_;
    last.if_failed += pending_;
    if (found_.passages.size() == first_ + 1) last.if_failed.clear();
    return true;
  }

 private:
  // One text that failed among several.
  void fail_empty(Passage& passage, Range string) {
    passage.if_failed = passage.before;
    passage.if_failed.resize(passage.if_failed.size() - (passage.source().begin - string.begin));
    if (state_at_) passage.if_failed.replace(*state_at_, state_.size(), "new");
  }

  std::string_view bytes_;
  Messages& messages_;
  Found& found_;
  size_t first_;
  std::string pending_;
  std::string_view state_;
  std::optional<size_t> state_at_;
};

class XcstringsReader {
 public:
  XcstringsReader(const JsonTree& tree, const Options& options)
      : tree_(tree), options_(options), messages_(tree.bytes, found_) {
    rules_.target_language = options.target_language;
    state_ = options.fuzzy ? "needs_review" : "translated";
    lines_ = tree.bytes.find('\n') != std::string_view::npos;
  }

  Result<Found> read() {
    const JsonNode& root = tree_.nodes.front();
    const JsonNode* strings = root.type == JsonNode::object ? tree_.member(root, "strings") : nullptr;
    const JsonNode* language = strings ? tree_.member(root, "sourceLanguage") : nullptr;
    if (!language || strings->type != JsonNode::object)
      return fail(ErrorCode::unsupported, "it has no sourceLanguage and strings, so it is no .xcstrings of Xcode");
    source_ = language->value.of(tree_.bytes);
    if (options_.target_language.empty())
      return fail(ErrorCode::invalid_argument, "a localization needs a language: name it with --to");
    if (source_ == options_.target_language)
      return fail(ErrorCode::invalid_argument, "its texts are in '%s' already", options_.target_language);
    SeenKeys keys;
    for (const JsonNode* entry = tree_.first(*strings); entry; entry = tree_.next(*entry)) {
      keys.add(tree_.key(*entry), entry->key.begin, messages_.notes);
      add(*entry);
    }
    found_.notes = messages_.notes.sentences();
    return std::move(found_);
  }

 private:
  [[nodiscard]] const JsonNode* object_in(const JsonNode* node, std::string_view key) const {
    const JsonNode* member = node ? tree_.member(*node, key) : nullptr;
    return member && member->type == JsonNode::object ? member : nullptr;
  }

  void add(const JsonNode& entry) {
    if (entry.type != JsonNode::object || entry.ignored) return;
    const JsonNode* translate = tree_.member(entry, "shouldTranslate");
    if (translate && translate->value.of(tree_.bytes) == "false") return;
    const JsonNode* all = object_in(&entry, "localizations");
    const JsonNode* target = object_in(all, options_.target_language);
    if (target && !options_.all && !is_untranslated(*target)) return;
    compose(entry, all, target, object_in(all, source_));
  }

  // Xcode's mark of a text that is not there yet.
  [[nodiscard]] bool is_untranslated(const JsonNode& localization) const {
    const JsonNode* state = tree_.first(localization) ? tree_.member(localization, "stringUnit") : nullptr;
    if (!tree_.first(localization)) return true;
    state = state && state->type == JsonNode::object ? tree_.member(*state, "state") : nullptr;
    return state && state->value.of(tree_.bytes) == "new";
  }

  void compose(const JsonNode& entry, const JsonNode* all, const JsonNode* target, const JsonNode* source) {
    Composition out(tree_.bytes, messages_, found_);
    const Range inside{entry.value.begin + 1, entry.value.end - 1};
    if (!target && all) out.write(member_head(*all, options_.target_language, 8));
    if (!all) out.write(member_head(entry, "localizations", 6) + "{" + line(8) + quoted(options_.target_language));
    source ? copy(out, *source) : make(out, entry.key);
    if (!all) out.write(line(6) + "}" + (tree_.first(entry) ? "" : line(4)));
    if (target)
      out.place(target->value);
    else if (all)
      out.place(behind_members(*all));
    else
      out.place(tree_.first(entry) ? behind_members(entry) : inside);
  }

  // Behind the last member; all between the braces if there is none.
  [[nodiscard]] Range behind_members(const JsonNode& object) const {
    const JsonNode* last = object.last_child == JsonNode::kNone ? nullptr : &tree_.nodes[object.last_child];
    if (!last) return {object.value.begin + 1, object.value.end - 1};
    const size_t end = last->value.end + (last->type == JsonNode::string ? 1 : 0);
    return {end, end};
  }

  [[nodiscard]] std::string member_head(const JsonNode& object, const std::string& key, size_t indent) const {
    return (tree_.first(object) ? "," : "") + line(indent) + quoted(key);
  }
  [[nodiscard]] std::string line(size_t indent) const { return lines_ ? "\n" + std::string(indent, ' ') : ""; }
  // A name of a member, with Xcode's blanks.
  [[nodiscard]] std::string quoted(const std::string& key) const {
    std::string name = "\"";
    append_json_escapes(name, key);
    return name + (lines_ ? "\" : " : "\":");
  }

  void make(Composition& out, Range key) {
    out.write("{" + line(10) + quoted("stringUnit") + "{" + line(12) + quoted("state") + '"');
    out.state(state_);
    out.write("\"," + line(12) + quoted("value") + '"');
    out.text(key, rules_);
    out.write("\"" + line(10) + "}" + line(8) + "}");
  }

  // Copies the source's localization; recursion is bounded by the tree's depth.
  void copy(Composition& out, const JsonNode& node) {
    if (node.type == JsonNode::string) return out.write('"' + std::string(node.value.of(tree_.bytes)) + '"');
    if (node.type != JsonNode::object) return out.write(node.value.of(tree_.bytes));
    const bool plural = tree_.key(node) == "plural" && tree_.first(node) && !in_plural_;
    const bool unit = tree_.key(node) == "stringUnit";
    size_t at = plural ? behind_members(node).begin : node.value.begin;
    if (plural) copy_forms(out, node);
    for (const JsonNode* child = plural ? nullptr : tree_.first(node); child; child = tree_.next(*child)) {
      const Range value = whole(*child);
      out.write(Range{at, value.begin}.of(tree_.bytes));
      unit && child->type == JsonNode::string ? copy_unit(out, *child) : copy(out, *child);
      at = value.end;
    }
    out.write(Range{at, node.value.end}.of(tree_.bytes));
  }

  // With the quotes of a string.
  static Range whole(const JsonNode& node) {
    const size_t quote = node.type == JsonNode::string ? 1 : 0;
    return {node.value.begin - quote, node.value.end + quote};
  }

  void copy_unit(Composition& out, const JsonNode& child) {
    out.write("\"");
    if (tree_.key(child) == "value")
      out.text(child.value, rules_);
    else if (tree_.key(child) == "state")
      out.state(state_);
    else
      out.write(child.value.of(tree_.bytes));
    out.write("\"");
  }

  // The forms that the target language has, each made from its namesake or from "other".
  void copy_forms(Composition& out, const JsonNode& plural) {
    const JsonNode* other = tree_.member(plural, "other");
    std::vector<std::string_view> forms = plural_categories(options_.target_language);
    if (forms.empty() || !other) {
      forms.assign(all_plural_categories().begin(), all_plural_categories().end());
      std::erase_if(forms, [&](std::string_view form) { return !tree_.member(plural, form); });
    }
    std::sort(forms.begin(), forms.end());  // as Xcode does
    const size_t first = plural.value.begin;
    in_plural_ = true;
    for (size_t i = 0; i < forms.size(); ++i) {
      const JsonNode* named = tree_.member(plural, forms[i]);
      const JsonNode* form = named ? named : other;
      out.write(i == 0 ? "{" : ",");
      const JsonNode* opening = tree_.first(plural);
      out.write(Range{first + 1, opening->key.begin - 1}.of(tree_.bytes));
      out.write('"' + std::string(forms[i]) + '"');
      out.write(Range{form->key.end + 1, whole(*form).begin}.of(tree_.bytes));
      copy(out, *form);
    }
    in_plural_ = false;
  }

  const JsonTree& tree_;
  const Options& options_;
  Found found_;
  Messages messages_;
  MessageRules rules_;
  std::string_view source_, state_;
  bool lines_ = false, in_plural_ = false;
};

}  // namespace

Result<Found> find_xcstrings(std::string_view bytes, size_t begin, const Options& options) {
  LAPILLI_TRY(const JsonTree tree, read_json_tree(bytes, begin));
  if (tree.nodes.empty()) return Found();
  return XcstringsReader(tree, options).read();
}

}  // namespace lapilli::documents
