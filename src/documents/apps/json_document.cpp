// JSON of apps: i18next and its like (all values), Chrome's messages.json and FormatJS (the message of each entry),
// Flutter's .arb (keys with @ stay, @@locale becomes the target's).
#include <array>

#include "documents/apps/app_kinds.hpp"
#include "documents/apps/json_tree.hpp"
#include "documents/apps/messages.hpp"
#include "documents/plurals.hpp"

namespace lapilli::documents {

namespace {

constexpr std::array<std::string_view, 2> kMessageKeys = {"message", "defaultMessage"};

// The key that holds the text of each entry, where all entries are objects with such a key; "" if they are not.
std::string_view message_key_of(const JsonTree& tree) {
  const JsonNode& root = tree.nodes.front();
  if (root.type != JsonNode::object || !tree.first(root)) return {};
  for (const std::string_view key : kMessageKeys) {
    bool all = true;
    for (const JsonNode* entry = tree.first(root); entry && all; entry = tree.next(*entry)) {
      const JsonNode* message = entry->type == JsonNode::object ? tree.member(*entry, key) : nullptr;
      all = message && message->type == JsonNode::string;
    }
    if (all) return key;
  }
  return {};
}

class JsonTexts {
 public:
  JsonTexts(const JsonTree& tree, const Options& options)
      : tree_(tree), options_(options), messages_(tree.bytes, found_), message_key_(message_key_of(tree)) {
    rules_.dollars = message_key_ == "message";
    rules_.target_language = options.target_language;
    stays_.resize(tree.nodes.size());
  }

  Found read() {
    for (size_t i = 0; i < tree_.nodes.size(); ++i) {
      const JsonNode& node = tree_.nodes[i];
      stays_[i] = node.ignored || (node.parent != JsonNode::kNone && stays_[node.parent]) || stays_by_key(node);
      if (node.type == JsonNode::object) check_keys(node, stays_[i]);
      if (node.type == JsonNode::string && !stays_[i]) messages_.add(json_text(tree_.bytes, node.value), rules_);
    }
    found_.notes = messages_.notes.sentences();
    return std::move(found_);
  }

 private:
  bool stays_by_key(const JsonNode& node) {
    const std::string_view key = tree_.key(node);
    const bool in_root = node.parent == 0;
    if (in_root && key == "@@locale" && node.type == JsonNode::string) name_language(node.value);
    if (key.starts_with('@') || (in_root && key == "$schema")) return true;
    const bool in_entry = !message_key_.empty() && !in_root && node.parent != JsonNode::kNone;
    return in_entry && key != message_key_;
  }

  void name_language(Range value) {
    if (options_.target_language.empty()) return;
    found_.edits.push_back({value, underscored(options_.target_language)});
  }

  void check_keys(const JsonNode& object, bool stays) {
    SeenKeys keys;
    PluralKeys plurals;
    for (const JsonNode* child = tree_.first(object); child; child = tree_.next(*child)) {
      const std::string_view key = tree_.key(*child);
      keys.add(key, child->key.begin, messages_.notes);
      if (child->type == JsonNode::string) plurals.add(key, child->key.begin);
    }
    if (!stays && message_key_.empty()) plurals.tell(options_.target_language, messages_.notes);
  }

  const JsonTree& tree_;
  const Options& options_;
  Found found_;
  Messages messages_;
  MessageRules rules_;
  std::string_view message_key_;
  std::vector<char> stays_;
};

void encode_json(std::string& out, std::string_view text, Range range, bool, const Passage& passage) {
  append_json_escapes(out, message_words(text, range, passage.escapes));
}

}  // namespace

const Style kJsonStyle = {encode_json};

Result<Found> find_json(std::string_view bytes, size_t begin, const Options& options) {
  LAPILLI_TRY(const JsonTree tree, read_json_tree(bytes, begin));
  return tree.nodes.empty() ? Found() : JsonTexts(tree, options).read();
}

}  // namespace lapilli::documents
