// A template as the parser leaves it: plain data, which the interpreter walks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jinja/value.hpp"

namespace lapilli::jinja {

enum class Form : uint8_t {
  literal,    // `literal`, with its text in `name`
  name,       // a variable
  list,       // children
  tuple,      // children
  dict,       // children: key, value, key, value
  attribute,  // child, `name`
  item,       // child [child]
  slice,      // child [from : to : step]; missing ones are null
  call,       // child (arguments)
  filter,     // child | name (arguments); the child is null at the head of a block's filters
  test,       // child is name (arguments)
  negate,
  plus,
  no,         // not child
  both,       // and
  either,     // or
  math,       // child op child
  join,       // child ~ child
  compare,    // child op child op child: operators
  condition,  // child if child else child; the last may be null
};

struct Node;
using NodePtr = std::unique_ptr<Node>;

struct CallArguments {
  std::vector<NodePtr> positional;
  std::vector<std::pair<std::string, NodePtr>> named;
  NodePtr unpacked, unpacked_named;  // *a, **b; may be null
};

struct Node {
  Form form = Form::literal;
  uint32_t line = 0, depth = 1;  // depth: of the tree below, itself included
  std::string name;              // also an operator of two characters at most
  Value literal;
  std::vector<NodePtr> children;
  std::vector<std::string> operators;
  CallArguments arguments;
};

struct Statement;
using Block = std::vector<Statement>;

// A name, a member of a namespace, or several of these.
struct Target {
  std::string name, member;
  std::vector<Target> parts;
};

struct Macro {
  std::string name;
  std::vector<std::string> parameters;
  std::vector<NodePtr> defaults;  // of the last parameters
  bool takes_more = false, takes_named = false, takes_caller = false;
  const Block* body = nullptr;
};

enum class Command : uint8_t {
  text,
  output,
  condition,  // a block for each expression; one more is what is left
  loop,       // target, expressions: items and condition or null; blocks: body, else
  set,
  set_block,  // the text of the block, through the filters of an expression that may be null
  macro,
  call,    // expression: a call; the block is its caller
  filter,  // the text of the block through the filters
  scope,   // targets and their expressions, block ("with", "generation")
  leave,   // break
  next,    // continue
};

struct Statement {
  Command command = Command::text;
  uint32_t line = 0;
  std::string text;
  std::vector<Target> targets;
  std::vector<NodePtr> expressions;
  std::vector<std::unique_ptr<Block>> blocks;
  std::unique_ptr<Macro> macro;
};

struct Syntax {
  Block body;
};

// Nesting of blocks and of expressions, which bounds the stack of whoever walks them.
inline constexpr uint32_t kDeepestNesting = 64, kDeepestTree = 200;
inline constexpr size_t kLongestTemplate = size_t{1} << 20;

Result<Syntax> parse_template(std::string_view source);

}  // namespace lapilli::jinja
