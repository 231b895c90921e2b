#include "jinja/interpreter.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "jinja/python_text.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli::jinja {

namespace {

// Levels of statements, expressions and calls within each other, each of at most some hundred bytes of stack.
constexpr uint32_t kDeepestWalk = 400;

}  // namespace

Status Interpreter::check_depth() {
  if (depth_ <= kDeepestWalk) return {};
  return fail(ErrorCode::unsupported, "calls and blocks nest deeper than %u levels", kDeepestWalk);
}

Result<std::string> Interpreter::render(const Syntax& syntax, const nlohmann::ordered_json& variables) {
  Scope& top = scope_in(nullptr);
  for (const auto& member : variables.items()) {
    LAPILLI_TRY(const Value v, heap_.from_json(member.value()));
    LAPILLI_CHECK(set(top, member.key(), v));
  }
  std::string out;
  out_ = &out;
  const auto flow = run(syntax.body, scope_in(&top));
  if (!flow) return Error(flow.error());
  return out;
}

// ---- statements ---------------------------------------------------------------------------------------------------

Result<Flow> Interpreter::run(const Block& block, Scope& scope) {
  const Level level(*this);
  LAPILLI_CHECK(check_depth());
  for (const Statement& s : block) {
    LAPILLI_TRY(const Flow flow, run(s, scope));
    if (flow != Flow::on) return flow;
  }
  return Flow::on;
}

// Errors get the line of the innermost statement; the words of raise_exception, the only ones of their code, stay
// alone.
Result<Flow> Interpreter::run(const Statement& s, Scope& scope) {
  auto flow = run_plainly(s, scope);
  if (flow || flow.error().code == ErrorCode::invalid_argument || flow.error().message.starts_with("line "))
    return flow;
  return Error(flow.error()).in("line " + std::to_string(s.line));
}

Result<Flow> Interpreter::run_plainly(const Statement& s, Scope& scope) {
  LAPILLI_CHECK(heap_.step());
  switch (s.command) {
    case Command::text: LAPILLI_CHECK(write(s.text)); break;
    case Command::output: LAPILLI_CHECK(output(s, scope)); break;
    case Command::condition: return run_condition(s, scope);
    case Command::loop: return run_loop(s, scope);
    case Command::set: LAPILLI_CHECK(run_set(s, scope)); break;
    case Command::set_block: LAPILLI_CHECK(run_set_block(s, scope)); break;
    case Command::macro: LAPILLI_CHECK(run_macro(s, scope)); break;
    case Command::call: LAPILLI_CHECK(run_call(s, scope)); break;
    case Command::filter: LAPILLI_CHECK(run_filter(s, scope)); break;
    case Command::scope: return run_scope(s, scope);
    case Command::leave: return Flow::leave;
    case Command::next: return Flow::next;
  }
  return Flow::on;
}

Status Interpreter::write(std::string_view text) {
  if (text.size() > most_output_ - std::min<uint64_t>(most_output_, out_->size()))
    return fail(ErrorCode::unsupported, "it writes more than %u bytes", most_output_);
  LAPILLI_CHECK(heap_.look_through(text));
  LAPILLI_CHECK(heap_.room_for(text.size()));
  *out_ += text;
  return {};
}

Status Interpreter::output(const Statement& s, Scope& scope) {
  for (const NodePtr& e : s.expressions) {
    LAPILLI_TRY(const Value v, eval(*e, scope));
    LAPILLI_TRY(const std::string text, printed(heap_, v));
    LAPILLI_CHECK(write(text));
  }
  return {};
}

Result<Flow> Interpreter::run_condition(const Statement& s, Scope& scope) {
  for (size_t i = 0; i < s.expressions.size(); ++i) {
    LAPILLI_TRY(const Value v, eval(*s.expressions[i], scope));
    if (is_true(v)) return run(*s.blocks[i], scope);
  }
  if (s.blocks.size() > s.expressions.size()) return run(*s.blocks.back(), scope);
  return Flow::on;
}

// The items that the loop's own condition lets through.
Result<std::vector<Value>> Interpreter::loop_items(const Statement& s, Scope& scope) {
  LAPILLI_TRY(const Value all, eval(*s.expressions[0], scope));
  LAPILLI_TRY(std::vector<Value> items, items_of(all));
  if (!s.expressions[1]) return items;
  std::vector<Value> chosen;
  for (const Value& v : items) {
    Scope& own = scope_in(&scope);
    LAPILLI_CHECK(assign(s.targets[0], v, own));
    LAPILLI_TRY(const Value test, eval(*s.expressions[1], own));
    if (is_true(test)) chosen.push_back(v);
  }
  return chosen;
}

Result<Flow> Interpreter::run_loop(const Statement& s, Scope& scope) {
  LAPILLI_TRY(auto found, loop_items(s, scope));
  LAPILLI_TRY(const Value all, heap_.list(std::move(found)));
  const std::vector<Value>& items = all.list->items;
  if (items.empty()) return s.blocks.size() > 1 ? run(*s.blocks[1], scope_in(&scope)) : Result<Flow>(Flow::on);
  LAPILLI_TRY(const Value loop, heap_.loop(items, ++loops_));
  for (; loop.loop->at < items.size(); ++loop.loop->at) {
    LAPILLI_CHECK(heap_.step());
    LAPILLI_CHECK(heap_.room_for(sizeof(Scope)));
    Scope& own = scope_in(&scope);
    LAPILLI_CHECK(set(own, "loop", loop));
    LAPILLI_CHECK(assign(s.targets[0], items[loop.loop->at], own));
    LAPILLI_TRY(const Flow flow, run(*s.blocks[0], own));
    if (flow == Flow::leave) break;
  }
  --loops_;
  return Flow::on;
}

Status Interpreter::run_set(const Statement& s, Scope& scope) {
  LAPILLI_TRY(const Value v, eval(*s.expressions[0], scope));
  return assign(s.targets[0], v, scope);
}

Result<Value> Interpreter::text_of(const Block& block, Scope& scope) {
  std::string text;
  std::string* const outer = std::exchange(out_, &text);
  const auto flow = run(block, scope);
  out_ = outer;
  if (!flow) return Error(flow.error());
  return heap_.text(std::move(text));
}

Status Interpreter::run_set_block(const Statement& s, Scope& scope) {
  LAPILLI_TRY(Value v, text_of(*s.blocks[0], scope_in(&scope)));
  if (s.expressions[0]) {
    LAPILLI_TRY(v, eval_filter(*s.expressions[0], scope, &v));
  }
  return assign(s.targets[0], v, scope);
}

Status Interpreter::run_macro(const Statement& s, Scope& scope) {
  LAPILLI_TRY(const Value macro, heap_.function({s.macro.get(), &scope, s.macro->name, {}}));
  return set(scope, s.macro->name, macro);
}

Status Interpreter::run_call(const Statement& s, Scope& scope) {
  LAPILLI_TRY(const Value caller, heap_.function({s.macro.get(), &scope, s.macro->name, {}}));
  const Node& n = *s.expressions[0];
  LAPILLI_TRY(const Value called, eval(*n.children[0], scope));
  LAPILLI_TRY(Arguments arguments, eval_arguments(n.arguments, scope));
  arguments.named.emplace_back("caller", caller);
  LAPILLI_TRY(const Value v, call(called, arguments));
  LAPILLI_TRY(const std::string text, printed(heap_, v));
  return write(text);
}

Status Interpreter::run_filter(const Statement& s, Scope& scope) {
  LAPILLI_TRY(const Value text, text_of(*s.blocks[0], scope_in(&scope)));
  LAPILLI_TRY(const Value v, eval_filter(*s.expressions[0], scope, &text));
  LAPILLI_TRY(const std::string out, printed(heap_, v));
  return write(out);
}

Result<Flow> Interpreter::run_scope(const Statement& s, Scope& scope) {
  Scope& own = scope_in(&scope);
  for (size_t i = 0; i < s.targets.size(); ++i) {
    LAPILLI_TRY(const Value v, eval(*s.expressions[i], scope));
    LAPILLI_CHECK(assign(s.targets[i], v, own));
  }
  return run(*s.blocks[0], own);
}

// ---- variables ----------------------------------------------------------------------------------------------------

// A macro may keep its scope, so all live as long as the rendering.
Scope& Interpreter::scope_in(Scope* around) {
  scopes_.push_back({{}, around});
  return scopes_.back();
}

Status Interpreter::set(Scope& scope, std::string_view name, const Value& value) {
  LAPILLI_CHECK(heap_.take(sizeof(Scope) + name.size() + 64));
  scope.names.insert_or_assign(std::string(name), value);
  return {};
}

Status Interpreter::assign(const Target& target, const Value& value, Scope& scope) {
  if (!target.parts.empty()) return unpack(target, value, scope);
  if (target.member.empty()) return set(scope, target.name, value);
  const Scope* at = &scope;
  while (at && !at->names.contains(target.name)) at = at->around;
  if (!at || !at->names.find(target.name)->second.is(Kind::space))
    return fail(ErrorCode::invalid_data, "a member of \"%s\" is set, which is no namespace", target.name);
  LAPILLI_TRY(const Value key, heap_.text(target.member));
  return heap_.put(*at->names.find(target.name)->second.dict, key, value);
}

Status Interpreter::unpack(const Target& target, const Value& value, Scope& scope) {
  LAPILLI_TRY(const auto items, items_of(value));
  if (items.size() != target.parts.size())
    return fail(ErrorCode::invalid_data, "%u values for %u names", items.size(), target.parts.size());
  for (size_t i = 0; i < items.size(); ++i) LAPILLI_CHECK(assign(target.parts[i], items[i], scope));
  return {};
}

Result<Value> Interpreter::eval_name(const Node& n, const Scope& scope) {
  for (const Scope* at = &scope; at; at = at->around) {
    LAPILLI_CHECK(heap_.step());
    if (const auto found = at->names.find(n.name); found != at->names.end()) return found->second;
  }
  if (is_global(n.name)) return heap_.function({nullptr, nullptr, n.name, {}});
  return heap_.undefined("'" + n.name + "' is undefined");
}

// ---- expressions --------------------------------------------------------------------------------------------------

Result<Value> Interpreter::eval(const Node& n, Scope& scope) {
  const Level level(*this);
  LAPILLI_CHECK(check_depth());
  LAPILLI_CHECK(heap_.step());
  switch (n.form) {
    case Form::literal: return n.literal;
    case Form::name: return eval_name(n, scope);
    case Form::list:
    case Form::tuple: {
      LAPILLI_TRY(auto items, eval_all(n.children, scope));
      return heap_.list(std::move(items), n.form == Form::list ? Flavor::list : Flavor::tuple);
    }
    case Form::dict: return eval_dict(n, scope);
    case Form::attribute: {
      LAPILLI_TRY(const Value of, eval(*n.children[0], scope));
      return attribute(of, n.name);
    }
    case Form::item: {
      LAPILLI_TRY(const Value of, eval(*n.children[0], scope));
      LAPILLI_TRY(const Value key, eval(*n.children[1], scope));
      return item(of, key);
    }
    case Form::slice: return eval_slice(n, scope);
    case Form::call: return eval_call(n, scope);
    case Form::filter: return eval_filter(n, scope);
    case Form::test: return eval_test(n, scope);
    case Form::negate:
    case Form::plus: return eval_sign(n, scope);
    case Form::no: {
      LAPILLI_TRY(const Value v, eval(*n.children[0], scope));
      return boolean_value(!is_true(v));
    }
    case Form::both:
    case Form::either: {
      LAPILLI_TRY(const Value left, eval(*n.children[0], scope));
      return is_true(left) == (n.form == Form::both) ? eval(*n.children[1], scope) : Result<Value>(left);
    }
    case Form::math: return eval_math(n, scope);
    case Form::join: return eval_join(n, scope);
    case Form::compare: return eval_compare(n, scope);
    case Form::condition: return eval_condition(n, scope);
  }
  return fail(ErrorCode::internal, "an expression of no form");
}

Result<std::vector<Value>> Interpreter::eval_all(const std::vector<NodePtr>& nodes, Scope& scope) {
  std::vector<Value> values;
  for (const NodePtr& n : nodes) {
    LAPILLI_TRY(const Value v, eval(*n, scope));
    values.push_back(v);
  }
  return values;
}

Result<Value> Interpreter::eval_dict(const Node& n, Scope& scope) {
  LAPILLI_TRY(const Value d, heap_.dict());
  for (size_t i = 0; i + 1 < n.children.size(); i += 2) {
    LAPILLI_TRY(const Value key, eval(*n.children[i], scope));
    LAPILLI_TRY(const Value v, eval(*n.children[i + 1], scope));
    LAPILLI_CHECK(heap_.put(*d.dict, key, v));
  }
  return d;
}

Result<Value> Interpreter::eval_call(const Node& n, Scope& scope) {
  LAPILLI_TRY(const Value called, eval(*n.children[0], scope));
  LAPILLI_TRY(const Arguments arguments, eval_arguments(n.arguments, scope));
  return call(called, arguments);
}

Result<Value> Interpreter::eval_filter(const Node& n, Scope& scope, const Value* head) {
  const Level level(*this);
  LAPILLI_CHECK(check_depth());
  Value self;
  if (!n.children[0]) {
    self = *head;
  } else if (head) {
    LAPILLI_TRY(self, eval_filter(*n.children[0], scope, head));
  } else {
    LAPILLI_TRY(self, eval(*n.children[0], scope));
  }
  LAPILLI_TRY(const Arguments arguments, eval_arguments(n.arguments, scope));
  LAPILLI_CHECK(look_through(heap_, self, arguments));
  return find_filter(n.name)(*this, self, arguments);
}

Result<Value> Interpreter::eval_test(const Node& n, Scope& scope) {
  LAPILLI_TRY(const Value self, eval(*n.children[0], scope));
  LAPILLI_TRY(const Arguments arguments, eval_arguments(n.arguments, scope));
  LAPILLI_CHECK(look_through(heap_, self, arguments));
  LAPILLI_TRY(const bool holds, find_test(n.name)(*this, self, arguments));
  return boolean_value(holds);
}

Result<Value> Interpreter::eval_condition(const Node& n, Scope& scope) {
  LAPILLI_TRY(const Value test, eval(*n.children[1], scope));
  if (is_true(test)) return eval(*n.children[0], scope);
  if (n.children[2]) return eval(*n.children[2], scope);
  return heap_.undefined("an expression with \"if\" has no \"else\" and its condition is false");
}

Result<Value> Interpreter::eval_join(const Node& n, Scope& scope) {
  std::string text;
  for (const NodePtr& child : n.children) {
    LAPILLI_TRY(const Value v, eval(*child, scope));
    LAPILLI_TRY(const std::string part, printed(heap_, v));
    LAPILLI_CHECK(heap_.room_for(text.size() + part.size()));
    text += part;
  }
  return heap_.text(std::move(text));
}

Result<Value> Interpreter::eval_compare(const Node& n, Scope& scope) {
  LAPILLI_TRY(Value left, eval(*n.children[0], scope));
  for (size_t i = 0; i < n.operators.size(); ++i) {
    LAPILLI_TRY(const Value right, eval(*n.children[i + 1], scope));
    LAPILLI_TRY(const bool so, holds(n.operators[i], left, right));
    if (!so) return boolean_value(false);
    left = right;
  }
  return boolean_value(true);
}

Result<bool> Interpreter::holds(const std::string& mark, const Value& a, const Value& b) {
  if (mark == "==") return equal(heap_, a, b);
  if (mark == "in") return contains(b, a);
  if (mark == "!=" || mark == "not in") {
    LAPILLI_TRY(const bool same, mark == "!=" ? equal(heap_, a, b) : contains(b, a));
    return !same;
  }
  LAPILLI_TRY(const int order, compare(heap_, a, b));
  return mark == "<" ? order < 0 : mark == "<=" ? order <= 0 : mark == ">" ? order > 0 : order >= 0;
}

Result<Arguments> Interpreter::eval_arguments(const CallArguments& given, Scope& scope) {
  Arguments all;
  LAPILLI_TRY(all.positional, eval_all(given.positional, scope));
  for (const auto& [name, n] : given.named) {
    LAPILLI_TRY(const Value v, eval(*n, scope));
    all.named.emplace_back(name, v);
  }
  if (given.unpacked) {
    LAPILLI_TRY(const Value list, eval(*given.unpacked, scope));
    LAPILLI_TRY(const auto items, items_of(list));
    all.positional.insert(all.positional.end(), items.begin(), items.end());
  }
  if (given.unpacked_named) {
    LAPILLI_TRY(const Value dict, eval(*given.unpacked_named, scope));
    if (!dict.is(Kind::dict)) return fail(ErrorCode::invalid_data, "** takes a dict, not a %s", type_name(dict));
    for (const auto& [key, v] : dict.dict->entries) {
      if (!key.is(Kind::text)) return fail(ErrorCode::invalid_data, "** takes names, not a %s", type_name(key));
      all.named.emplace_back(*key.text, v);
    }
  }
  return all;
}

// ---- calls --------------------------------------------------------------------------------------------------------

Result<Value> Interpreter::call(const Value& function, const Arguments& arguments) {
  const Level level(*this);
  LAPILLI_CHECK(check_depth());
  LAPILLI_CHECK(heap_.step());
  LAPILLI_CHECK(require_defined(function));
  if (!function.is(Kind::function)) return fail(ErrorCode::invalid_data, "a %s is called", type_name(function));
  const Function& f = *function.function;
  LAPILLI_CHECK(look_through(heap_, f.self, arguments));
  if (f.macro) return call_macro(f, arguments);
  return f.self.defined() ? call_method(*this, f, arguments) : call_global(*this, f.name, arguments);
}

Result<Value> Interpreter::call_macro(const Function& f, const Arguments& arguments) {
  Scope& own = scope_in(f.scope);
  LAPILLI_CHECK(fill_parameters(*f.macro, arguments, own));
  LAPILLI_CHECK(fill_more(*f.macro, arguments, own));
  const uint32_t loops = std::exchange(loops_, 0);
  auto text = text_of(*f.macro->body, own);
  loops_ = loops;
  return text;
}

Status Interpreter::fill_parameters(const Macro& m, const Arguments& arguments, Scope& scope) {
  for (size_t i = 0; i < m.parameters.size(); ++i) {
    LAPILLI_CHECK(heap_.step(1 + arguments.named.size() / 8));
    const std::string& name = m.parameters[i];
    const auto named = std::find_if(arguments.named.begin(), arguments.named.end(),
                                    [&](const auto& argument) { return argument.first == name; });
    const size_t without = m.parameters.size() - m.defaults.size();
    Value v;
    if (i < arguments.positional.size()) {
      v = arguments.positional[i];
    } else if (named != arguments.named.end()) {
      v = named->second;
    } else if (i >= without) {
      LAPILLI_TRY(v, eval(*m.defaults[i - without], scope));
    } else {
      LAPILLI_TRY(v, heap_.undefined("parameter '" + name + "' was not provided"));
    }
    LAPILLI_CHECK(set(scope, name, v));
  }
  return {};
}

// The arguments that no parameter takes.
Status Interpreter::fill_more(const Macro& m, const Arguments& arguments, Scope& scope) {
  std::vector<Value> more;
  for (size_t i = m.parameters.size(); i < arguments.positional.size(); ++i) more.push_back(arguments.positional[i]);
  if (!more.empty() && !m.takes_more)
    return fail(ErrorCode::invalid_data, "the macro \"%s\" takes %u arguments", m.name, m.parameters.size());
  LAPILLI_TRY(const Value named, heap_.dict());
  for (const auto& [name, v] : arguments.named) {
    LAPILLI_CHECK(heap_.step(1 + m.parameters.size() / 8));
    const auto at = std::find(m.parameters.begin(), m.parameters.end(), name);
    if (at != m.parameters.end()) {
      if (static_cast<size_t>(at - m.parameters.begin()) < arguments.positional.size())
        return fail(ErrorCode::invalid_data, "the macro \"%s\" gets \"%s\" twice", m.name, name);
      continue;
    }
    if (name == "caller" && m.takes_caller) {
      LAPILLI_CHECK(set(scope, name, v));
      continue;
    }
    if (!m.takes_named || name == "caller")
      return fail(ErrorCode::invalid_data, "the macro \"%s\" takes no argument \"%s\"", m.name, name);
    LAPILLI_TRY(const Value key, heap_.text(name));
    LAPILLI_CHECK(heap_.put(*named.dict, key, v));
  }
  if (m.takes_named) LAPILLI_CHECK(set(scope, "kwargs", named));
  if (!m.takes_more) return {};
  LAPILLI_TRY(const Value list, heap_.list(std::move(more), Flavor::tuple));
  return set(scope, "varargs", list);
}

// ---- a template ---------------------------------------------------------------------------------------------------

Result<Template> Template::parse(std::string_view source) {
  LAPILLI_TRY(Syntax syntax, parse_template(source));
  Template t;
  t.syntax_ = std::make_shared<const Syntax>(std::move(syntax));
  return t;
}

namespace {

std::tm local_now() {
  const std::time_t now = std::time(nullptr);
  std::tm t{};
#ifdef _WIN32
  localtime_s(&t, &now);
#else
  localtime_r(&now, &t);
#endif
  return t;
}

}  // namespace

Result<std::string> Template::render(const nlohmann::ordered_json& variables, const RenderOptions& options) const {
  if (!variables.is_object())
    return fail(ErrorCode::invalid_argument, "the variables of a template are no JSON object");
  return Interpreter(options, options.now ? *options.now : local_now()).render(*syntax_, variables);
}

}  // namespace lapilli::jinja
