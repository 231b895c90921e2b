// JSON bodies, and the parameters of a request whatever its body is: JSON, a form, or the query alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/http/forms.hpp"
#include "server/http/message.hpp"

namespace lapilli::server {

// Answers are written in the order in which their members are set.
using Json = nlohmann::ordered_json;

// One line of JSON; bytes that are not UTF-8 become U+FFFD.
std::string json_line(const Json& json);

// A request that is not served, in no protocol's words yet.
struct Refusal {
  int status = 0;  // of HTTP; 0: none
  std::string message;
  std::string parameter;  // the member at fault, "" if none
  explicit operator bool() const { return status != 0; }
};

// An object, or the reason why the text is none: at most 64 levels, at most 2^20 values, UTF-8 alone.
Refusal parse_json_object(std::string_view text, nlohmann::json& object);

// A member that the protocol has and the server does not serve.
struct Unserved {
  const char* name;
  const char* neutral;  // values, as JSON with | between, that ask for nothing beside "", [] and {}
  const char* advice;   // behind "is not served"; "" none
};

// The parameters of a request. Of the body and the query the body counts. Null is as absent, and so is an empty form
// field where a number or a flag is asked. Getters give nothing for what is absent or wrong; the first fault is kept in
// refusal(), which the caller asks once it has read everything. Not thread-safe; the request outlives this object.
class Parameters {
 public:
  // By Content-Type a form, else JSON. `body` false: the query alone.
  explicit Parameters(const Request& request, bool body = true);

  [[nodiscard]] const Refusal& refusal() const { return refusal_; }
  // Keeps the fault unless there is one.
  void refuse(std::string_view name, const std::string& why, int status = 400);
  void refuse(const Refusal& refusal);

  [[nodiscard]] bool has(std::string_view name) const;
  std::optional<std::string> text(std::string_view name);
  // Refused if absent.
  std::string required_text(std::string_view name);
  // "auto", "float"...: one of a few words.
  std::optional<std::string> one_of(std::string_view name, std::span<const char* const> words);
  std::optional<bool> flag(std::string_view name);
  std::optional<int64_t> whole(std::string_view name, int64_t least, int64_t most);
  std::optional<double> number(std::string_view name, double least, double most);

  // A text, or a list of texts; in forms a field for each, also as NAME[].
  struct Texts {
    std::vector<std::string> all;
    bool list = false;  // it was a list, or came more than once
  };
  std::optional<Texts> texts(std::string_view name, size_t most);

  // The member of a JSON body; null if absent, and in forms.
  [[nodiscard]] const nlohmann::json* json(std::string_view name) const;
  [[nodiscard]] bool is_json() const { return is_json_; }
  // The part of a multipart form; a field without a file's name counts if it has the name.
  [[nodiscard]] const FormField* part(std::string_view name) const;
  // The contents of the parts NAME and NAME[], at most `most` and one more.
  [[nodiscard]] std::vector<std::string_view> parts(std::string_view name, size_t most) const {
    return values(name, most);
  }

  // Refuses members of the table that are there with another than a neutral value.
  void refuse_unserved(std::span<const Unserved> table);

 private:
  void read_body(const Request& request);
  void read_form(Form form);
  // The values of a form field, at most `most` and one more.
  std::vector<std::string_view> values(std::string_view name, size_t most) const;
  std::optional<std::string_view> value(std::string_view name) const;
  bool check_utf8(std::string_view name, std::string_view value);
  [[nodiscard]] std::optional<int64_t> integer(std::string_view name, double given) const;
  std::optional<double> form_number(std::string_view name, std::string_view value);
  std::optional<Texts> json_texts(std::string_view name, const nlohmann::json& value, size_t most);

  nlohmann::json object_;  // of a JSON body
  Form form_, query_;
  bool is_json_ = false;
  Refusal refusal_;
};

bool is_utf8(std::string_view text);
// Characters of UTF-8.
uint64_t characters_of(std::string_view text);
// The type before a semicolon, in lower case: "application/json".
std::string media_type(std::string_view content_type);

}  // namespace lapilli::server
