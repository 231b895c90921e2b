// An object of JSON as text: one member is read or written, every other byte stays.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lapilli::cli {

class JsonObject {
 public:
  // Keeps a view of `text`, which may be anything. Blanks around the object are allowed.
  explicit JsonObject(std::string_view text);
  // Why `text` is no object of JSON; empty if it is one.
  [[nodiscard]] std::string_view error() const { return error_; }

  enum class Found { nothing, string, other };
  // The string that a member of the object holds, unescaped. Of members with one name the last counts.
  Found find(std::string_view name, std::string& value) const;
  // The number that a member holds.
  [[nodiscard]] std::optional<double> number(std::string_view name) const;
  // The text with a string as this member, in the place of the one that is there, else behind all others.
  [[nodiscard]] std::string with(std::string_view name, std::string_view value) const;

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
