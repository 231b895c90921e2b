// Walks a template and writes its text. One object for one rendering.
#pragma once

#include <ctime>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/registry.hpp"
#include "jinja/syntax.hpp"
#include "jinja/template.hpp"

namespace lapilli::jinja {

// Variables of a block; what is not here is in the one around it.
struct Scope {
  std::map<std::string, Value, std::less<>> names;
  Scope* around = nullptr;
};

// How a block went on.
enum class Flow : uint8_t { on, leave, next };

class Interpreter {
 public:
  Interpreter(const RenderOptions& options, const std::tm& now)
      : heap_(options.limits.steps, options.limits.memory), most_output_(options.limits.output), now_(now) {}

  Result<std::string> render(const Syntax& syntax, const nlohmann::ordered_json& variables);

  [[nodiscard]] Heap& heap() { return heap_; }
  [[nodiscard]] const std::tm& now() const { return now_; }

  // The items of a value that a loop can walk; fails for others.
  Result<std::vector<Value>> items_of(const Value& value);
  // a.name and a[key]: undefined where there is none.
  Result<Value> attribute(const Value& of, const std::string& name);
  Result<Value> item(const Value& of, const Value& key);
  Result<Value> call(const Value& function, const Arguments& arguments);
  // `wanted` in `all`.
  Result<bool> contains(const Value& all, const Value& wanted);
  // Asks for what it takes to remove characters from the ends; unset: white space.
  Status room_to_strip(std::string_view text, const std::optional<std::string>& which);
  Result<Value> add(const Value& a, const Value& b);
  // printf's formats with the values of a tuple, or one.
  Result<Value> formatted(const std::string& pattern, const std::vector<Value>& values);

 private:
  // A level of the walk, which bounds the stack.
  class Level {
   public:
    explicit Level(Interpreter& in) : in_(in) { ++in_.depth_; }
    ~Level() { --in_.depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Interpreter& in_;
  };
  Status check_depth();

  Result<Flow> run(const Block& block, Scope& scope);
  Result<Flow> run(const Statement& s, Scope& scope);
  Result<Flow> run_plainly(const Statement& s, Scope& scope);
  Status output(const Statement& s, Scope& scope);
  Result<Flow> run_condition(const Statement& s, Scope& scope);
  Result<Flow> run_loop(const Statement& s, Scope& scope);
  Result<std::vector<Value>> loop_items(const Statement& s, Scope& scope);
  Status run_set(const Statement& s, Scope& scope);
  Status run_set_block(const Statement& s, Scope& scope);
  Status run_macro(const Statement& s, Scope& scope);
  Status run_call(const Statement& s, Scope& scope);
  Status run_filter(const Statement& s, Scope& scope);
  Result<Flow> run_scope(const Statement& s, Scope& scope);
  // The text that a block writes.
  Result<Value> text_of(const Block& block, Scope& scope);
  Status write(std::string_view text);

  Scope& scope_in(Scope* around);
  Status set(Scope& scope, std::string_view name, const Value& value);
  Status assign(const Target& target, const Value& value, Scope& scope);
  Status unpack(const Target& target, const Value& value, Scope& scope);

  Result<Value> eval(const Node& n, Scope& scope);
  Result<Value> eval_name(const Node& n, const Scope& scope);
  Result<std::vector<Value>> eval_all(const std::vector<NodePtr>& nodes, Scope& scope);
  Result<Value> eval_dict(const Node& n, Scope& scope);
  Result<Value> eval_slice(const Node& n, Scope& scope);
  Result<Value> eval_call(const Node& n, Scope& scope);
  Result<Value> eval_filter(const Node& n, Scope& scope, const Value* head = nullptr);
  Result<Value> eval_test(const Node& n, Scope& scope);
  Result<Value> eval_sign(const Node& n, Scope& scope);
  Result<Value> eval_compare(const Node& n, Scope& scope);
  Result<bool> holds(const std::string& mark, const Value& a, const Value& b);
  Result<Value> eval_condition(const Node& n, Scope& scope);
  Result<Value> eval_join(const Node& n, Scope& scope);
  Result<Value> eval_math(const Node& n, Scope& scope);
  Result<Arguments> eval_arguments(const CallArguments& arguments, Scope& scope);

  Result<Value> multiply(const Value& a, const Value& b);
  Result<Value> repeated(const Value& what, int64_t times);
  Result<Value> call_macro(const Function& f, const Arguments& arguments);
  Status fill_parameters(const Macro& m, const Arguments& arguments, Scope& scope);
  Status fill_more(const Macro& m, const Arguments& arguments, Scope& scope);
  Result<std::vector<Value>> characters_of(const std::string& text);
  Status room_for_name(const std::string& name);
  Result<Value> loop_member(const Value& loop, const std::string& name);

  Heap heap_;
  const uint64_t most_output_;
  const std::tm now_;
  std::deque<Scope> scopes_;
  std::string* out_ = nullptr;
  uint32_t depth_ = 0, loops_ = 0;
};

}  // namespace lapilli::jinja
