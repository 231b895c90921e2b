// Values of a rendering. They are small handles; a Heap owns all that they stand for until the rendering ends, and
// counts it, so that a template can take neither memory nor time without end.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace lapilli::jinja {

enum class Kind : uint8_t { undefined, none, boolean, integer, real, text, list, dict, space, loop, function };

struct List;
struct Dict;
struct Loop;
struct Function;

struct Value {
  Kind kind = Kind::undefined;
  union {
    const std::string* text = nullptr;  // of an undefined value: why it is undefined, or null
    bool boolean;
    int64_t integer;
    double real;
    List* list;
    Dict* dict;  // of a namespace, too
    Loop* loop;
    const Function* function;
  };

  [[nodiscard]] bool is(Kind k) const { return kind == k; }
  [[nodiscard]] bool defined() const { return kind != Kind::undefined; }
  [[nodiscard]] bool whole() const { return kind == Kind::integer || kind == Kind::boolean; }
  [[nodiscard]] bool number() const { return whole() || kind == Kind::real; }
  // Only for numbers.
  [[nodiscard]] int64_t as_integer() const { return kind == Kind::boolean ? (boolean ? 1 : 0) : integer; }
  [[nodiscard]] double as_real() const { return kind == Kind::real ? real : static_cast<double>(as_integer()); }
};

Value none_value();
Value boolean_value(bool b);
Value integer_value(int64_t i);
Value real_value(double d);
// The text must live as long as the value.
Value text_value(const std::string& text);

// Python's sequences that behave alike: a generator gives its items once and has no length, a view (dict.items()) has
// one but no places.
enum class Flavor : uint8_t { list, tuple, range, view, generator };

struct List {
  std::vector<Value> items;
  Flavor flavor = Flavor::list;
  bool consumed = false;  // of a generator
};

// Keys keep their order.
struct Dict {
  std::vector<std::pair<Value, Value>> entries;
  std::map<std::string, size_t, std::less<>> places;

  [[nodiscard]] const Value* find(std::string_view name) const;  // a text as the key
};

// The variable "loop" of a loop.
struct Loop {
  const std::vector<Value>* items = nullptr;
  size_t at = 0;
  uint32_t depth = 1;
  std::vector<Value> last_changed;
  bool changed_before = false;
};

struct Macro;
struct Scope;

// A macro with the scope that it was written in, a function of the environment by its name, or a method of a value.
struct Function {
  const Macro* macro = nullptr;
  Scope* scope = nullptr;
  std::string name;
  Value self;
};

class Heap {
 public:
  Heap(uint64_t steps, uint64_t memory) : steps_(steps), memory_(memory), most_steps_(steps), most_memory_(memory) {}

  Status step(uint64_t count = 1);
  Status look_through(std::string_view text) { return step(1 + text.size() / 64); }
  // Letter by letter, for letters that are escaped or mapped.
  Status look_closely(std::string_view text) { return step(1 + text.size() / 16); }
  // A text is looked through for a part that may nearly match at every place.
  Status search(std::string_view text, std::string_view part) {
    return step((1 + text.size() / 64) * (1 + part.size() / 64));
  }
  // Fails if so many more bytes are too many. To be asked before they are made.
  Status room_for(uint64_t bytes);
  Status take(uint64_t bytes);
  // For texts that a cut makes, and the list of them.
  Status room_for_parts(std::string_view text, size_t count);
  // For another case of a text, which is made by way of its code points.
  Status room_for_case(std::string_view text);

  Result<Value> text(std::string text);
  Result<Value> list(std::vector<Value> items, Flavor flavor = Flavor::list);
  Result<Value> dict();
  Result<Value> space();
  Result<Value> loop(const std::vector<Value>& items, uint32_t depth);
  Result<Value> function(Function function);
  // An undefined value that says why it is.
  Result<Value> undefined(std::string why);
  Status put(Dict& dict, const Value& key, const Value& value);
  // JSON of the caller.
  Result<Value> from_json(const nlohmann::ordered_json& json);

 private:
  uint64_t steps_, memory_;
  const uint64_t most_steps_, most_memory_;
  std::deque<std::string> texts_;
  std::deque<List> lists_;
  std::deque<Dict> dicts_;
  std::deque<Loop> loops_;
  std::deque<Function> functions_;
};

// The key under which a dict keeps a value, equal for equal values; fails for lists and the like.
Result<std::string> key_of(const Value& value);

bool is_true(const Value& value);
// "str object", as messages call it.
std::string type_name(const Value& value);
// Python's ==; fails where values nest too deep.
Result<bool> equal(Heap& heap, const Value& a, const Value& b, int depth = 0);
// Below, equal or above zero; fails for values without an order.
Result<int> compare(Heap& heap, const Value& a, const Value& b, int depth = 0);
// Python's str() and repr().
Result<std::string> printed(Heap& heap, const Value& value);
Result<std::string> quoted(Heap& heap, const Value& value, int depth = 0);
// The text in quotes.
Result<std::string> quoted_text(Heap& heap, std::string_view text);
std::string printed_real(double value);
// Fails for an undefined value, with the reason.
Status require_defined(const Value& value);

// How deep lists and dicts may nest where they are walked.
inline constexpr int kDeepestValue = 64;

struct JsonForm {
  bool ascii = false, sorted = false;
  std::string indent;  // of a level; with none all stands in one line, unless `lines`
  bool lines = false;
  std::string comma = ", ", colon = ": ";
};
// Python's json.dumps().
Result<std::string> to_json(Heap& heap, const Value& value, const JsonForm& form, int depth = 0);

}  // namespace lapilli::jinja
