// The grammar of jinja2's parser, method by method.
#include <algorithm>
#include <charconv>

#include "jinja/registry.hpp"
#include "jinja/syntax.hpp"
#include "jinja/tokens.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli::jinja {

namespace {

using Words = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view word, Words words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  Result<Syntax> parse() {
    Syntax syntax;
    auto body = block({});
    if (!body) return Error(body.error()).in("line " + std::to_string(token().line));
    syntax.body = std::move(*body);
    return syntax;
  }

 private:
  // ---- tokens -----------------------------------------------------------------------------------------------------

  [[nodiscard]] const Token& token() const { return tokens_[at_]; }
  [[nodiscard]] const Token& following() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  [[nodiscard]] bool is(TokenKind kind) const { return token().kind == kind; }
  [[nodiscard]] bool is_mark(std::string_view mark) const { return is(TokenKind::mark) && token().text == mark; }
  [[nodiscard]] bool is_word(std::string_view word) const { return is(TokenKind::name) && token().text == word; }
  [[nodiscard]] bool is_word(Words words) const { return is(TokenKind::name) && is_one_of(token().text, words); }
  void next() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }
  bool skip_mark(std::string_view mark) {
    const bool there = is_mark(mark);
    if (there) next();
    return there;
  }
  bool skip_word(std::string_view word) {
    const bool there = is_word(word);
    if (there) next();
    return there;
  }

  [[nodiscard]] std::string found() const {
    switch (token().kind) {
      case TokenKind::end: return "the end of the template";
      case TokenKind::end_block: return "the end of the block";
      case TokenKind::end_output: return "the end of the expression";
      case TokenKind::text: return "text";
      case TokenKind::begin_block:
      case TokenKind::begin_output: return "a block";
      default: return quote_text(token().text);
    }
  }
  [[nodiscard]] Failure unexpected(std::string_view wanted) const {
    return fail(ErrorCode::invalid_data, "expected %s, found %s", wanted, found());
  }
  Status take_mark(std::string_view mark) { return skip_mark(mark) ? Status() : unexpected(mark); }
  Status take_word(std::string_view word) { return skip_word(word) ? Status() : unexpected(word); }
  Status take(TokenKind kind, std::string_view name) {
    if (!is(kind)) return unexpected(name);
    next();
    return {};
  }
  Status take_block_end() { return take(TokenKind::end_block, "the end of the block"); }
  Result<std::string> take_name() {
    if (!is(TokenKind::name)) return unexpected("a name");
    std::string name = token().text;
    next();
    return name;
  }

  // Counts one level of nesting as long as it lives.
  class Nested {
   public:
    explicit Nested(Parser& parser) : depth_(parser.depth_) { ++depth_; }
    ~Nested() { --depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    [[nodiscard]] Status status() const {
      if (depth_ <= kDeepestNesting) return {};
      return fail(ErrorCode::unsupported, "it nests deeper than %u levels", kDeepestNesting);
    }

   private:
    uint32_t& depth_;
  };

  // ---- blocks -----------------------------------------------------------------------------------------------------

  // Statements up to a block that begins with one of these words, which is the current token then.
  Result<Block> block(Words ends) {
    const Nested nested(*this);
    LAPILLI_CHECK(nested.status());
    Block out;
    while (!is(TokenKind::end)) {
      if (is(TokenKind::begin_block)) {
        next();
        if (is_word(ends)) return out;
      }
      LAPILLI_CHECK(statement(out));
    }
    if (ends.size() > 0) return unexpected("{% " + std::string(*ends.begin()) + " %}");
    return out;
  }

  // A block with its end.
  Result<Block> whole_block(std::string_view end) {
    LAPILLI_CHECK(take_block_end());
    LAPILLI_TRY(Block body, block({end}));
    next();
    return body;
  }

  Statement made(Command command) const {
    Statement s;
    s.command = command;
    s.line = token().line;
    return s;
  }

  Status statement(Block& out) {
    if (is(TokenKind::text)) {
      Statement s = made(Command::text);
      s.text = token().text;
      next();
      out.push_back(std::move(s));
      return {};
    }
    if (is(TokenKind::begin_output)) {
      Statement s = made(Command::output);
      next();
      LAPILLI_TRY(auto e, tuple());
      s.expressions.push_back(std::move(e));
      out.push_back(std::move(s));
      return take(TokenKind::end_output, "the end of the expression");
    }
    LAPILLI_CHECK(tag(out));
    return take_block_end();
  }

  Status tag(Block& out) {
    if (!is(TokenKind::name)) return unexpected("the name of a tag");
    const std::string word = token().text;
    Statement s = made(Command::text);
    next();
    if (word == "if") return condition(std::move(s), out);
    if (word == "for") return loop(std::move(s), out);
    if (word == "set") return set(std::move(s), out);
    if (word == "macro") return macro(std::move(s), out);
    if (word == "call") return call_block(std::move(s), out);
    if (word == "filter") return filter_block(std::move(s), out);
    if (word == "with") return with(std::move(s), out);
    if (word == "generation") return scope(std::move(s), "endgeneration", out);
    if (word == "break" || word == "continue") return jump(std::move(s), word == "break", out);
    if (word == "print") return print(std::move(s), out);
    if (is_one_of(word, {"block", "extends", "include", "import", "from", "autoescape", "do"}))
      return fail(ErrorCode::unsupported, "the tag \"%s\" is not run", word);
    return fail(ErrorCode::invalid_data, "an unknown tag %s", quote_text(word));
  }

  static void add(Statement& s, Block body) { s.blocks.push_back(std::make_unique<Block>(std::move(body))); }

  Status condition(Statement s, Block& out) {
    s.command = Command::condition;
    for (bool more = true; more;) {
      LAPILLI_TRY(auto test, tuple(false));
      s.expressions.push_back(std::move(test));
      LAPILLI_CHECK(take_block_end());
      LAPILLI_TRY(Block body, block({"elif", "else", "endif"}));
      add(s, std::move(body));
      more = skip_word("elif");
    }
    if (skip_word("else")) {
      LAPILLI_TRY(Block rest, whole_block("endif"));
      add(s, std::move(rest));
    } else {
      next();
    }
    out.push_back(std::move(s));
    return {};
  }

  Status loop(Statement s, Block& out) {
    s.command = Command::loop;
    LAPILLI_TRY(Target target, targets({"in"}));
    s.targets.push_back(std::move(target));
    LAPILLI_CHECK(take_word("in"));
    LAPILLI_TRY(auto items, tuple(false, {"recursive"}));
    s.expressions.push_back(std::move(items));
    NodePtr test;
    if (skip_word("if")) {
      LAPILLI_TRY(test, expression());
    }
    s.expressions.push_back(std::move(test));
    if (is_word("recursive")) return fail(ErrorCode::unsupported, "recursive loops are not run");
    LAPILLI_CHECK(take_block_end());
    ++loops_;
    auto body = block({"endfor", "else"});
    --loops_;
    LAPILLI_TRY(Block inside, std::move(body));
    add(s, std::move(inside));
    if (skip_word("else")) {
      LAPILLI_TRY(Block otherwise, whole_block("endfor"));
      add(s, std::move(otherwise));
    } else {
      next();
    }
    out.push_back(std::move(s));
    return {};
  }

  Status jump(Statement s, bool leaves, Block& out) {
    if (loops_ == 0) return fail(ErrorCode::invalid_data, "\"%s\" outside of a loop", leaves ? "break" : "continue");
    s.command = leaves ? Command::leave : Command::next;
    out.push_back(std::move(s));
    return {};
  }

  Status print(Statement s, Block& out) {
    s.command = Command::output;
    while (!is(TokenKind::end_block)) {
      if (!s.expressions.empty()) LAPILLI_CHECK(take_mark(","));
      LAPILLI_TRY(auto e, expression());
      s.expressions.push_back(std::move(e));
    }
    out.push_back(std::move(s));
    return {};
  }

  Status set(Statement s, Block& out) {
    LAPILLI_TRY(Target target, targets({}));
    s.targets.push_back(std::move(target));
    if (skip_mark("=")) {
      s.command = Command::set;
      LAPILLI_TRY(auto e, tuple());
      s.expressions.push_back(std::move(e));
    } else {
      s.command = Command::set_block;
      LAPILLI_TRY(auto filters, filters_of(nullptr));
      s.expressions.push_back(std::move(filters));
      LAPILLI_TRY(Block body, closed_block("endset"));
      add(s, std::move(body));
    }
    out.push_back(std::move(s));
    return {};
  }

  // A block that is a function of its own: no loop around it can be left.
  Result<Block> closed_block(std::string_view end) {
    const uint32_t loops = std::exchange(loops_, 0);
    auto body = whole_block(end);
    loops_ = loops;
    return body;
  }

  Status signature(Macro& macro) {
    LAPILLI_CHECK(take_mark("("));
    while (!is_mark(")")) {
      if (!macro.parameters.empty()) LAPILLI_CHECK(take_mark(","));
      LAPILLI_TRY(std::string name, take_name());
      macro.parameters.push_back(std::move(name));
      if (skip_mark("=")) {
        LAPILLI_TRY(auto value, expression());
        macro.defaults.push_back(std::move(value));
      } else if (!macro.defaults.empty()) {
        return fail(ErrorCode::invalid_data, "a parameter without a default behind one with a default");
      }
    }
    next();
    return {};
  }

  // The body of a macro, and which of the names that stand for more arguments it uses.
  Status macro_body(Statement& s, std::string_view end) {
    const auto outer = std::exchange(uses_, {});
    auto body = closed_block(end);
    s.macro->takes_more = uses_.varargs;
    s.macro->takes_named = uses_.kwargs;
    s.macro->takes_caller = uses_.caller;
    uses_ = outer;
    LAPILLI_TRY(Block inside, std::move(body));
    add(s, std::move(inside));
    s.macro->body = s.blocks.back().get();
    return {};
  }

  Status macro(Statement s, Block& out) {
    s.command = Command::macro;
    s.macro = std::make_unique<Macro>();
    LAPILLI_TRY(s.macro->name, take_name());
    LAPILLI_CHECK(signature(*s.macro));
    LAPILLI_CHECK(macro_body(s, "endmacro"));
    out.push_back(std::move(s));
    return {};
  }

  Status call_block(Statement s, Block& out) {
    s.command = Command::call;
    s.macro = std::make_unique<Macro>();
    s.macro->name = "caller";
    if (is_mark("(")) LAPILLI_CHECK(signature(*s.macro));
    LAPILLI_TRY(auto call, expression());
    if (call->form != Form::call) return fail(ErrorCode::invalid_data, "a call block without a call");
    s.expressions.push_back(std::move(call));
    LAPILLI_CHECK(macro_body(s, "endcall"));
    out.push_back(std::move(s));
    return {};
  }

  Status filter_block(Statement s, Block& out) {
    s.command = Command::filter;
    LAPILLI_TRY(auto first, one_filter(nullptr));
    LAPILLI_TRY(auto filters, filters_of(std::move(first)));
    s.expressions.push_back(std::move(filters));
    LAPILLI_TRY(Block body, whole_block("endfilter"));
    add(s, std::move(body));
    out.push_back(std::move(s));
    return {};
  }

  Status with(Statement s, Block& out) {
    while (!is(TokenKind::end_block)) {
      if (!s.targets.empty()) LAPILLI_CHECK(take_mark(","));
      LAPILLI_TRY(Target target, one_target());
      s.targets.push_back(std::move(target));
      LAPILLI_CHECK(take_mark("="));
      LAPILLI_TRY(auto value, expression());
      s.expressions.push_back(std::move(value));
    }
    s.command = Command::scope;
    LAPILLI_TRY(Block body, whole_block("endwith"));
    add(s, std::move(body));
    out.push_back(std::move(s));
    return {};
  }

  Status scope(Statement s, std::string_view end, Block& out) {
    s.command = Command::scope;
    LAPILLI_TRY(Block body, closed_block(end));
    add(s, std::move(body));
    out.push_back(std::move(s));
    return {};
  }

  // ---- targets ----------------------------------------------------------------------------------------------------

  Result<Target> one_target() {
    const Nested nested(*this);
    LAPILLI_CHECK(nested.status());
    if (skip_mark("(")) {
      LAPILLI_TRY(Target inside, targets({}));
      LAPILLI_CHECK(take_mark(")"));
      return inside;
    }
    Target target;
    LAPILLI_TRY(target.name, take_name());
    if (is_one_of(target.name, {"true", "false", "none", "True", "False", "None"}))
      return fail(ErrorCode::invalid_data, "\"%s\" cannot be set", target.name);
    if (skip_mark(".")) {
      LAPILLI_TRY(target.member, take_name());
    }
    return target;
  }

  Result<Target> targets(Words ends) {
    Target all;
    bool several = false;
    do {
      if (several && (is_word(ends) || is_mark(")") || is_mark("=") || is(TokenKind::end_block))) break;
      LAPILLI_TRY(Target one, one_target());
      all.parts.push_back(std::move(one));
      several = is_mark(",");
    } while (skip_mark(","));
    if (all.parts.size() > 1 || tokens_[at_ - 1].text == ",") return all;
    Target single = std::move(all.parts.front());
    return single;
  }

  // ---- expressions ------------------------------------------------------------------------------------------------

  Result<NodePtr> node(Form form, std::vector<NodePtr> children = {}) const {
    auto n = std::make_unique<Node>();
    n->form = form;
    n->line = token().line;
    n->children = std::move(children);
    return deepened(std::move(n));
  }

  static void deepen(Node& n, const NodePtr& child) {
    if (child) n.depth = std::max(n.depth, child->depth + 1);
  }
  // With the depth of all that stands below it; every node passes through here once it is complete.
  static Result<NodePtr> deepened(NodePtr n) {
    for (const NodePtr& child : n->children) deepen(*n, child);
    for (const NodePtr& a : n->arguments.positional) deepen(*n, a);
    for (const auto& [name, a] : n->arguments.named) deepen(*n, a);
    deepen(*n, n->arguments.unpacked);
    deepen(*n, n->arguments.unpacked_named);
    if (n->depth <= kDeepestTree) return n;
    return fail(ErrorCode::unsupported, "an expression is made of more than %u levels", kDeepestTree);
  }

  static std::vector<NodePtr> list_of(NodePtr a, NodePtr b = nullptr) {
    std::vector<NodePtr> all;
    all.push_back(std::move(a));
    if (b) all.push_back(std::move(b));
    return all;
  }

  Result<NodePtr> literal(const Value& value, std::string text = {}) const {
    LAPILLI_TRY(auto n, node(Form::literal));
    n->literal = value;
    n->name = std::move(text);
    if (value.is(Kind::text)) n->literal.text = &n->name;
    return n;
  }

  [[nodiscard]] bool tuple_ends(Words ends) const {
    return is(TokenKind::end_output) || is(TokenKind::end_block) || is_mark(")") || is_word(ends);
  }

  Result<NodePtr> tuple(bool conditions = true, Words ends = {}, bool in_parentheses = false) {
    std::vector<NodePtr> items;
    bool several = false;
    while (true) {
      if (!items.empty()) LAPILLI_CHECK(take_mark(","));
      if (tuple_ends(ends)) break;
      LAPILLI_TRY(auto item, conditions ? expression() : either());
      items.push_back(std::move(item));
      if (!is_mark(",")) break;
      several = true;
    }
    if (!several && !items.empty()) return std::move(items.front());
    if (!several && !in_parentheses) return unexpected("an expression");
    return node(Form::tuple, std::move(items));
  }

  Result<NodePtr> expression() {
    const Nested nested(*this);
    LAPILLI_CHECK(nested.status());
    LAPILLI_TRY(auto value, either());
    while (skip_word("if")) {
      LAPILLI_TRY(auto test, either());
      NodePtr otherwise;
      if (skip_word("else")) {
        LAPILLI_TRY(otherwise, expression());
      }
      std::vector<NodePtr> parts = list_of(std::move(value), std::move(test));
      parts.push_back(std::move(otherwise));
      LAPILLI_TRY(value, node(Form::condition, std::move(parts)));
    }
    return value;
  }

  Result<NodePtr> either() {
    LAPILLI_TRY(auto left, both());
    while (skip_word("or")) {
      LAPILLI_TRY(auto right, both());
      LAPILLI_TRY(left, node(Form::either, list_of(std::move(left), std::move(right))));
    }
    return left;
  }

  Result<NodePtr> both() {
    LAPILLI_TRY(auto left, negation());
    while (skip_word("and")) {
      LAPILLI_TRY(auto right, negation());
      LAPILLI_TRY(left, node(Form::both, list_of(std::move(left), std::move(right))));
    }
    return left;
  }

  Result<NodePtr> negation() {
    const Nested nested(*this);
    LAPILLI_CHECK(nested.status());
    if (!skip_word("not")) return comparison();
    LAPILLI_TRY(auto inside, negation());
    return node(Form::no, list_of(std::move(inside)));
  }

  // The operator at hand, taken; empty: there is none.
  std::string take_comparison() {
    for (const char* mark : {"==", "!=", ">", ">=", "<", "<="})
      if (skip_mark(mark)) return mark;
    if (skip_word("in")) return "in";
    if (is_word("not") && following().kind == TokenKind::name && following().text == "in") {
      next();
      next();
      return "not in";
    }
    return {};
  }

  Result<NodePtr> comparison() {
    LAPILLI_TRY(auto first, sum());
    std::vector<NodePtr> parts;
    std::vector<std::string> operators;
    for (std::string mark = take_comparison(); !mark.empty(); mark = take_comparison()) {
      operators.push_back(std::move(mark));
      LAPILLI_TRY(auto part, sum());
      parts.push_back(std::move(part));
    }
    if (parts.empty()) return first;
    parts.insert(parts.begin(), std::move(first));
    LAPILLI_TRY(auto n, node(Form::compare, std::move(parts)));
    n->operators = std::move(operators);
    return n;
  }

  using Rule = Result<NodePtr> (Parser::*)();
  Result<NodePtr> chain(Form form, std::initializer_list<const char*> marks, Rule operand) {
    LAPILLI_TRY(auto left, (this->*operand)());
    while (true) {
      const char* found = nullptr;
      for (const char* mark : marks)
        if (!found && skip_mark(mark)) found = mark;
      if (!found) return left;
      LAPILLI_TRY(auto right, (this->*operand)());
      LAPILLI_TRY(left, node(form, list_of(std::move(left), std::move(right))));
      left->name = found;
    }
  }

  Result<NodePtr> sum() { return chain(Form::math, {"+", "-"}, &Parser::joined); }
  Result<NodePtr> joined() { return chain(Form::join, {"~"}, &Parser::product); }
  Result<NodePtr> product() { return chain(Form::math, {"*", "/", "//", "%"}, &Parser::power); }
  Result<NodePtr> power() { return chain(Form::math, {"**"}, &Parser::filtered_unary); }
  Result<NodePtr> filtered_unary() { return unary(true); }

  Result<NodePtr> unary(bool with_filters) {
    const Nested nested(*this);
    LAPILLI_CHECK(nested.status());
    NodePtr n;
    if (is_mark("-") || is_mark("+")) {
      const Form form = is_mark("-") ? Form::negate : Form::plus;
      next();
      LAPILLI_TRY(auto inside, unary(false));
      LAPILLI_TRY(n, node(form, list_of(std::move(inside))));
    } else {
      LAPILLI_TRY(n, primary());
    }
    LAPILLI_TRY(n, postfixes(std::move(n)));
    return with_filters ? filters_and_tests(std::move(n)) : Result<NodePtr>(std::move(n));
  }

  Result<NodePtr> primary() {
    const Token t = token();
    switch (t.kind) {
      case TokenKind::name: next(); return named(t.text);
      case TokenKind::string: return string();
      case TokenKind::integer: next(); return integer(t.text);
      case TokenKind::real: next(); return real(t.text);
      default: break;
    }
    if (skip_mark("(")) {
      LAPILLI_TRY(auto inside, tuple(true, {}, true));
      LAPILLI_CHECK(take_mark(")"));
      return inside;
    }
    if (skip_mark("[")) return list();
    if (skip_mark("{")) return dict();
    return unexpected("an expression");
  }

  Result<NodePtr> named(const std::string& name) {
    if (name == "true" || name == "True") return literal(boolean_value(true));
    if (name == "false" || name == "False") return literal(boolean_value(false));
    if (name == "none" || name == "None") return literal(none_value());
    if (name == "varargs") uses_.varargs = true;
    if (name == "kwargs") uses_.kwargs = true;
    if (name == "caller") uses_.caller = true;
    LAPILLI_TRY(auto n, node(Form::name));
    n->name = name;
    return n;
  }

  // Texts side by side are one.
  Result<NodePtr> string() {
    std::string text;
    for (; is(TokenKind::string); next()) text += token().text;
    return literal(text_value(text), text);
  }

  Result<NodePtr> integer(const std::string& text) {
    int64_t value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
      return fail(ErrorCode::unsupported, "the number %s is too large", quote_text(text));
    return literal(integer_value(value));
  }

  Result<NodePtr> real(const std::string& text) {
    double value = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc())
      return fail(ErrorCode::unsupported, "the number %s is out of range", quote_text(text));
    return literal(real_value(value));
  }

  Result<NodePtr> list() {
    std::vector<NodePtr> items;
    while (!is_mark("]")) {
      if (!items.empty()) LAPILLI_CHECK(take_mark(","));
      if (is_mark("]")) break;
      LAPILLI_TRY(auto item, expression());
      items.push_back(std::move(item));
    }
    next();
    return node(Form::list, std::move(items));
  }

  Result<NodePtr> dict() {
    std::vector<NodePtr> items;
    while (!is_mark("}")) {
      if (!items.empty()) LAPILLI_CHECK(take_mark(","));
      if (is_mark("}")) break;
      LAPILLI_TRY(auto key, expression());
      LAPILLI_CHECK(take_mark(":"));
      LAPILLI_TRY(auto value, expression());
      items.push_back(std::move(key));
      items.push_back(std::move(value));
    }
    next();
    return node(Form::dict, std::move(items));
  }

  // ---- what follows an expression ---------------------------------------------------------------------------------

  Result<NodePtr> postfixes(NodePtr n) {
    while (true) {
      if (skip_mark(".")) {
        LAPILLI_TRY(n, member(std::move(n)));
      } else if (skip_mark("[")) {
        LAPILLI_TRY(n, subscript(std::move(n)));
      } else if (is_mark("(")) {
        LAPILLI_TRY(n, call(std::move(n)));
      } else {
        return n;
      }
    }
  }

  Result<NodePtr> filters_and_tests(NodePtr n) {
    while (true) {
      if (skip_mark("|")) {
        LAPILLI_TRY(n, one_filter(std::move(n)));
      } else if (skip_word("is")) {
        LAPILLI_TRY(n, test(std::move(n)));
      } else if (is_mark("(")) {
        LAPILLI_TRY(n, call(std::move(n)));
      } else {
        return n;
      }
    }
  }

  Result<NodePtr> member(NodePtr of) {
    if (is(TokenKind::integer)) {
      const std::string digits = token().text;
      next();
      LAPILLI_TRY(auto place, integer(digits));
      return node(Form::item, list_of(std::move(of), std::move(place)));
    }
    LAPILLI_TRY(auto n, node(Form::attribute, list_of(std::move(of))));
    LAPILLI_TRY(n->name, take_name());
    return n;
  }

  Result<NodePtr> subscript(NodePtr of) {
    std::vector<NodePtr> items;
    bool sliced = false;
    while (!is_mark("]")) {
      if (!items.empty()) LAPILLI_CHECK(take_mark(","));
      LAPILLI_TRY(auto item, place(sliced));
      items.push_back(std::move(item));
    }
    next();
    if (items.empty()) return unexpected("a place in brackets");
    if (sliced && items.size() > 1) return fail(ErrorCode::unsupported, "several slices at once");
    if (sliced) {
      items.front()->children.insert(items.front()->children.begin(), std::move(of));
      return deepened(std::move(items.front()));
    }
    if (items.size() == 1) return node(Form::item, list_of(std::move(of), std::move(items.front())));
    LAPILLI_TRY(auto together, node(Form::tuple, std::move(items)));
    return node(Form::item, list_of(std::move(of), std::move(together)));
  }

  // A place, or a slice that still lacks its first child.
  Result<NodePtr> place(bool& sliced) {
    std::vector<NodePtr> parts(3);
    if (!is_mark(":")) {
      LAPILLI_TRY(parts[0], expression());
      if (!is_mark(":")) return std::move(parts[0]);
    }
    sliced = true;
    for (size_t i = 1; i < 3 && skip_mark(":"); ++i) {
      if (is_mark("]") || is_mark(",") || is_mark(":")) continue;
      LAPILLI_TRY(parts[i], expression());
    }
    return node(Form::slice, std::move(parts));
  }

  Status argument(CallArguments& all) {
    if (skip_mark("**")) {
      LAPILLI_TRY(all.unpacked_named, expression());
      return {};
    }
    if (all.unpacked_named) return fail(ErrorCode::invalid_data, "an argument behind **");
    if (skip_mark("*")) {
      if (all.unpacked) return fail(ErrorCode::invalid_data, "two arguments with *");
      LAPILLI_TRY(all.unpacked, expression());
      return {};
    }
    if (is(TokenKind::name) && following().kind == TokenKind::mark && following().text == "=") {
      LAPILLI_TRY(std::string name, take_name());
      next();
      LAPILLI_TRY(auto value, expression());
      all.named.emplace_back(std::move(name), std::move(value));
      return {};
    }
    if (!all.named.empty() || all.unpacked)
      return fail(ErrorCode::invalid_data, "an argument without a name behind named ones");
    LAPILLI_TRY(auto value, expression());
    all.positional.push_back(std::move(value));
    return {};
  }

  Result<CallArguments> call_arguments() {
    CallArguments all;
    LAPILLI_CHECK(take_mark("("));
    for (bool first = true; !is_mark(")"); first = false) {
      if (!first) LAPILLI_CHECK(take_mark(","));
      if (is_mark(")")) break;
      LAPILLI_CHECK(argument(all));
    }
    next();
    return all;
  }

  Result<NodePtr> call(NodePtr of) {
    LAPILLI_TRY(auto n, node(Form::call, list_of(std::move(of))));
    LAPILLI_TRY(n->arguments, call_arguments());
    return deepened(std::move(n));
  }

  Result<std::string> dotted_name() {
    LAPILLI_TRY(std::string name, take_name());
    while (skip_mark(".")) {
      LAPILLI_TRY(const std::string more, take_name());
      name += "." + more;
    }
    return name;
  }

  // `of` may be null: the text of a block.
  Result<NodePtr> one_filter(NodePtr of) {
    std::vector<NodePtr> children;
    children.push_back(std::move(of));
    LAPILLI_TRY(auto n, node(Form::filter, std::move(children)));
    LAPILLI_TRY(n->name, dotted_name());
    if (!find_filter(n->name)) return fail(ErrorCode::unsupported, "the filter \"%s\" is not known", n->name);
    if (is_mark("(")) {
      LAPILLI_TRY(n->arguments, call_arguments());
    }
    return deepened(std::move(n));
  }

  Result<NodePtr> filters_of(NodePtr n) {
    while (skip_mark("|")) {
      LAPILLI_TRY(n, one_filter(std::move(n)));
    }
    return n;
  }

  [[nodiscard]] bool begins_operand() const {
    if (is(TokenKind::name)) return !is_word({"else", "or", "and"});
    return is(TokenKind::string) || is(TokenKind::integer) || is(TokenKind::real) || is_mark("(") || is_mark("[") ||
           is_mark("{");
  }

  Result<NodePtr> test(NodePtr of) {
    const bool negated = skip_word("not");
    LAPILLI_TRY(auto n, node(Form::test, list_of(std::move(of))));
    LAPILLI_TRY(n->name, dotted_name());
    if (!find_test(n->name)) return fail(ErrorCode::unsupported, "the test \"%s\" is not known", n->name);
    if (is_mark("(")) {
      LAPILLI_TRY(n->arguments, call_arguments());
    } else if (begins_operand()) {
      if (is_word("is")) return fail(ErrorCode::invalid_data, "two tests of one value, side by side");
      LAPILLI_TRY(auto operand, primary());
      LAPILLI_TRY(operand, postfixes(std::move(operand)));
      n->arguments.positional.push_back(std::move(operand));
    }
    LAPILLI_TRY(n, deepened(std::move(n)));
    return negated ? node(Form::no, list_of(std::move(n))) : Result<NodePtr>(std::move(n));
  }

  // Names of arguments beyond the parameters, used in the macro at hand.
  struct Uses {
    bool varargs = false, kwargs = false, caller = false;
  };

  const std::vector<Token> tokens_;
  size_t at_ = 0;
  uint32_t depth_ = 0, loops_ = 0;
  Uses uses_;
};

}  // namespace

Result<Syntax> parse_template(std::string_view source) {
  if (source.size() > kLongestTemplate)
    return fail(ErrorCode::unsupported, "it has %u bytes; at most %u are read", source.size(), kLongestTemplate);
  LAPILLI_CHECK(check_utf8(source, "the template"));
  LAPILLI_TRY(auto tokens, cut_tokens(source));
  return Parser(std::move(tokens)).parse();
}

}  // namespace lapilli::jinja
