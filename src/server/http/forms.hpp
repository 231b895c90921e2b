// Bodies and queries of forms: application/x-www-form-urlencoded (WHATWG URL) and multipart/form-data (RFC 7578).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli::server {

struct FormField {
  std::string name;
  std::optional<std::string> file;  // the name that a file came with; never used as a path
  std::string type;                 // Content-Type of the part; "" if it says none
  std::string owned;                // of an urlencoded field: its decoded value
  std::string_view part;            // of a multipart part: within the body, which must outlive this

  [[nodiscard]] std::string_view value() const { return part.data() ? part : std::string_view(owned); }
};

// A form, or why it is none.
struct Form {
  std::vector<FormField> fields;
  std::string error;

  [[nodiscard]] const FormField* find(std::string_view name) const;
};

// Plus signs are blanks, %XX are bytes; a % without two digits stays.
Form parse_urlencoded(std::string_view text);
// `content_type`: the request's header with the boundary. At most 1,000 parts, of at most 16 KiB of headers each.
Form parse_multipart(std::string_view body, std::string_view content_type);
// "a b" for "a+b" and "a%20b".
std::string decode_percent(std::string_view text, bool plus_is_blank);

}  // namespace lapilli::server
