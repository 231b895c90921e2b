#include "text/vocabulary.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using Entry = std::pair<std::string, int32_t>;

// Reads entries as a stream: a document object would hide duplicate tokens and take twice the memory.
class EntryReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool start_object(size_t) override { return ++depth_ == 1 || wrong("an object"); }
  bool end_object() override { return --depth_, true; }
  bool key(string_t& text) override { return token_ = std::move(text), true; }
  bool number_unsigned(number_unsigned_t value) override {
    if (depth_ == 0) return wrong("a number");
    if (value > static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) return wrong_id(std::to_string(value));
    entries.emplace_back(std::move(token_), static_cast<int32_t>(value));
    return true;
  }
  bool number_integer(number_integer_t value) override { return wrong_id(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return wrong_id(text.substr(0, 32)); }
  bool null() override { return wrong("null"); }
  bool boolean(bool) override { return wrong("a boolean"); }
  bool string(string_t&) override { return wrong("a string"); }
  bool binary(binary_t&) override { return wrong("binary data"); }
  bool start_array(size_t) override { return wrong("an array"); }
  bool end_array() override { return true; }
  bool parse_error(size_t position, const std::string&, const nlohmann::detail::exception&) override {
    problem = format("not valid JSON, at byte %u", position);
    return false;
  }

  std::vector<Entry> entries;
  std::string problem;

 private:
  bool wrong(const char* what) {
    problem = depth_ == 0 ? format("expected an object of token: id, found %s", what)
                          : format("the id of token %s is %s instead of an integer", quote_text(token_), what);
    return false;
  }
  bool wrong_id(const std::string& value) {
    if (depth_ == 0) return wrong("a number");
    problem = format("the id of token %s is %s; ids are integers from 0 to 2147483647", quote_text(token_), value);
    return false;
  }
  int depth_ = 0;
  std::string token_;
};

}  // namespace

Result<Vocabulary> Vocabulary::load(const FileName& path) {
  LAPILLI_TRY(const std::string text, read_text_file(path));
  EntryReader reader;
  bool parsed = false;
  try {
    parsed = nlohmann::json::sax_parse(text, &reader);
  } catch (const nlohmann::json::exception& e) {
    reader.problem = e.what();
  }
  if (!parsed) return fail(ErrorCode::invalid_data, "%s: %s", path, reader.problem);
  return make(std::move(reader.entries), path.path());
}

Result<Vocabulary> Vocabulary::make(std::vector<Entry> entries, const std::string& where) {
  if (entries.empty()) return fail(ErrorCode::invalid_data, "%s: no token in it", where);
  int32_t largest = 0;
  for (const Entry& e : entries) largest = std::max(largest, e.second);
  // A few unused ids are normal; a table that is mostly empty indicates a damaged file and must not take gigabytes.
  const uint64_t limit = 4 * entries.size() + 65536;
  if (static_cast<uint64_t>(largest) >= limit)
    return fail(ErrorCode::invalid_data, "%s: id %d in a vocabulary of %u tokens; the ids are too far apart", where,
                largest, entries.size());

  Vocabulary v;
  v.tokens_.resize(static_cast<size_t>(largest) + 1);
  v.by_text_.reserve(entries.size());
  std::vector<bool> taken(v.tokens_.size());
  for (Entry& e : entries) {
    const auto id = static_cast<size_t>(e.second);
    if (taken[id])
      return fail(ErrorCode::invalid_data, "%s: tokens %s and %s have the same id %d", where, quote_text(v.tokens_[id]),
                  quote_text(e.first), e.second);
    taken[id] = true;
    v.tokens_[id] = std::move(e.first);
    if (!v.by_text_.emplace(v.tokens_[id], e.second).second)
      return fail(ErrorCode::invalid_data, "%s: token %s is given twice", where, quote_text(v.tokens_[id]));
  }
  return v;
}

Vocabulary Vocabulary::from_list(std::vector<std::string> tokens) {
  Vocabulary v;
  v.tokens_ = std::move(tokens);
  v.by_text_.reserve(v.tokens_.size());
  for (size_t i = 0; i < v.tokens_.size(); ++i) v.by_text_[v.tokens_[i]] = static_cast<int32_t>(i);
  return v;
}

int32_t Vocabulary::id(std::string_view token) const {
  const auto it = by_text_.find(token);
  return it == by_text_.end() ? -1 : it->second;
}

const std::string* Vocabulary::token(int32_t id) const {
  if (id < 0 || static_cast<uint64_t>(id) >= tokens_.size()) return nullptr;
  const std::string& text = tokens_[static_cast<size_t>(id)];
  // Unused ids hold an empty string, which may also be a real token.
  if (text.empty() && this->id(text) != id) return nullptr;
  return &text;
}

}  // namespace lapilli
