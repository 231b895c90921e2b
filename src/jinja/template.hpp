// Jinja templates as published chat models bring them: the language of jinja2 3.1 as transformers sets it up, with
// trim_blocks and lstrip_blocks, break and continue, generation blocks, raise_exception, strftime_now and a tojson of
// its own. Templates are hostile: steps, memory, output and recursion are bounded, and nothing outside of the given
// values can be reached. Left out, and refused by name: inheritance, imports, recursive loops, autoescape, filters that
// make markup.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace lapilli::jinja {

// The bounds of a rendering. A step is a part of an expression, or 64 bytes of a text that is looked through.
struct Limits {
  uint64_t steps = 4'000'000;
  uint64_t memory = uint64_t{256} << 20;  // bytes of all values that are made, whether they are still needed or not
  uint64_t output = uint64_t{16} << 20;   // bytes
};

struct RenderOptions {
  std::optional<std::tm> now;  // the time that strftime_now tells; unset: the local one
  Limits limits;
};

struct Syntax;

// Immutable: may be rendered by several threads at once.
class Template {
 public:
  // ErrorCode::invalid_data for a text that is no template, unsupported for parts that are left out; both with the
  // line.
  static Result<Template> parse(std::string_view source);

  // The text for the values of `variables`, an object whose members keep their order. ErrorCode::invalid_argument with
  // the template's own words where it calls raise_exception.
  [[nodiscard]] Result<std::string> render(const nlohmann::ordered_json& variables,
                                           const RenderOptions& options = {}) const;

 private:
  std::shared_ptr<const Syntax> syntax_;
};

}  // namespace lapilli::jinja
