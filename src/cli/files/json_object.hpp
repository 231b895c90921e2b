// A JSON object as text: reads or writes one member and keeps every other byte.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lapilli::cli {

class JsonObject {
 public:
  // Keeps a view of `text`, which may be invalid. Blanks around the object are allowed.
  explicit JsonObject(std::string_view text);
  // Why `text` is no JSON object; empty if it is one.
  [[nodiscard]] std::string_view error() const { return error_; }

  enum class Found { nothing, string, other };
  // Reads a member that is a string, unescaped. Of members with the same name the last counts.
  Found find(std::string_view name, std::string& value) const;
  // A member's number.
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  // The text with this member set to a string: in the place of the existing one, otherwise behind all others.
  [[nodiscard]] std::string with(std::string_view name, std::string_view value) const;
  // The same, with a value that is JSON.
  [[nodiscard]] std::string with_json(std::string_view name, std::string_view value) const;

 private:
  struct Member {
    size_t begin = 0, end = 0;  // of the value
    bool found = false;
  };
  [[nodiscard]] Member member(std::string_view name) const;

  std::string_view text_, error_;
  size_t open_ = 0, close_ = 0;  // the braces
  bool empty_ = true;            // no members
};

}  // namespace lapilli::cli
