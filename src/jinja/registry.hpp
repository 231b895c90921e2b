// Filters, tests, functions and methods by their names.
#pragma once

#include <array>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/value.hpp"

namespace lapilli::jinja {

class Interpreter;

// Values of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

// The values of a call by the names of its parameters; null: not given.
inline constexpr size_t kMostParameters = 4;
using Bound = std::array<const Value*, kMostParameters>;
// Fails, naming `what`, for more values than names and for other names. The values must outlive the result.
Result<Bound> bind(std::string_view what, const Arguments& arguments, std::initializer_list<const char*> names);

// The work of looking through the texts of a call, once.
Status look_through(Heap& heap, const Value& self, const Arguments& arguments);

using Filter = Result<Value> (*)(Interpreter& in, const Value& self, const Arguments& arguments);
using Test = Result<bool> (*)(Interpreter& in, const Value& self, const Arguments& arguments);

// Null: there is none.
Filter find_filter(std::string_view name);
Test find_test(std::string_view name);

// True if values of this kind have a method of that name.
bool has_method(const Value& self, std::string_view name);
Result<Value> call_method(Interpreter& in, const Function& method, const Arguments& arguments);

bool is_global(std::string_view name);
Result<Value> call_global(Interpreter& in, std::string_view name, const Arguments& arguments);

}  // namespace lapilli::jinja
