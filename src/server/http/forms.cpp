#include "server/http/forms.hpp"

#include <algorithm>
#include <utility>

namespace lapilli::server {

namespace {

constexpr size_t kMostFields = 10000, kMostParts = 1000, kMostPartHeaders = 16 * 1024, kMostBoundary = 200;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The byte of "%41" at `at`, or -1.
int percent_byte(std::string_view text, size_t at) {
  if (text[at] != '%' || text.size() - at < 3) return -1;
  const int high = hex_digit(text[at + 1]), low = hex_digit(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

char small_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return small_letter(x) == small_letter(y); });
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const size_t from = text.find_first_not_of(kBlanks);
  return from == text.npos ? std::string_view() : text.substr(from, text.find_last_not_of(kBlanks) + 1 - from);
}

// Takes what is before `end`, and `end` itself, off the front of `text`; all of it if there is no `end`.
std::string_view take_until(std::string_view& text, char end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

Form no_form(std::string why) {
  Form form;
  form.error = std::move(why);
  return form;
}

// ---- headers of parts
// ------------------------------------------------------------------------------------------------

// Takes a quoted string off the front of `text`, which begins behind the first quote. Backslashes guard quotes and each
// other alone: old browsers send paths of Windows as they are.
std::string take_quoted(std::string_view& text) {
  std::string taken;
  size_t at = 0;
  for (; at < text.size() && text[at] != '"'; ++at) {
    const bool guards = text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\');
    if (guards) ++at;
    taken += text[at];
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

struct Parameter {
  std::string_view name;
  std::string value;
  bool quoted = false;
};

// Takes `; name=value` off the front of `text`, which begins behind the semicolon.
Parameter take_parameter(std::string_view& text) {
  Parameter parameter;
  const size_t end = std::min(text.find_first_of("=;"), text.size());
  parameter.name = trimmed(text.substr(0, end));
  text.remove_prefix(end);
  if (text.empty() || text.front() == ';') return take_until(text, ';'), parameter;
  text.remove_prefix(1);
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  parameter.quoted = !text.empty() && text.front() == '"';
  if (!parameter.quoted) return parameter.value = trimmed(take_until(text, ';')), parameter;
  text.remove_prefix(1);
  parameter.value = take_quoted(text);
  take_until(text, ';');
  return parameter;
}

// Browsers write %22, %0D and %0A for what would end a quoted name, and no other byte so.
std::string without_escapes(std::string_view name) {
  std::string plain;
  for (size_t at = 0; at < name.size(); ++at) {
    const int byte = percent_byte(name, at);
    const bool escaped = byte == '"' || byte == '\r' || byte == '\n';
    plain += escaped ? static_cast<char>(byte) : name[at];
    if (escaped) at += 2;
  }
  return plain;
}

// "UTF-8''na%C3%AFve" (RFC 8187); nothing for other encodings.
std::optional<std::string> extended_value(std::string_view value) {
  const std::string_view charset = take_until(value, '\'');
  if (!equal_letters(charset, "utf-8") && !equal_letters(charset, "us-ascii")) return std::nullopt;
  take_until(value, '\'');  // the language
  return decode_percent(value, false);
}

// Names, as a Content-Disposition states them; those with an asterisk are of more worth, wherever they stand.
struct Disposition {
  std::optional<std::string> name, file, extended_name, extended_file;

  void take(const Parameter& parameter) {
    if (equal_letters(parameter.name, "name")) name = without_escapes(parameter.value);
    if (equal_letters(parameter.name, "filename")) file = without_escapes(parameter.value);
    if (equal_letters(parameter.name, "name*")) extended_name = extended_value(parameter.value);
    if (equal_letters(parameter.name, "filename*")) extended_file = extended_value(parameter.value);
  }
};

Disposition disposition_of(std::string_view value) {
  Disposition disposition;
  if (!equal_letters(trimmed(take_until(value, ';')), "form-data")) return disposition;
  while (!value.empty()) disposition.take(take_parameter(value));
  return disposition;
}

// Returns why the header makes the part unreadable.
std::string take_header(std::string_view line, FormField& field, bool& named) {
  const std::string_view name = trimmed(take_until(line, ':')), value = trimmed(line);
  if (equal_letters(name, "content-type")) field.type = value;
  if (equal_letters(name, "content-transfer-encoding") &&
      (equal_letters(value, "base64") || equal_letters(value, "quoted-printable")))
    return "a part of the form has the Content-Transfer-Encoding " + std::string(value) +
           "; send its bytes as they are";
  if (!equal_letters(name, "content-disposition")) return "";
  Disposition found = disposition_of(value);
  named = found.name || found.extended_name;
  field.name = found.extended_name ? *found.extended_name : found.name.value_or("");
  field.file = found.extended_file ? found.extended_file : found.file;
  return "";
}

// Takes a line off the front of `text`: it ends with LF, or CR and LF. False if no end is in sight.
bool take_line(std::string_view& text, std::string_view& line) {
  const size_t end = text.find('\n');
  if (end == text.npos) return false;
  line = text.substr(0, end);
  if (line.ends_with('\r')) line.remove_suffix(1);
  text.remove_prefix(end + 1);
  return true;
}

// Takes the headers of a part off the front of `rest`; returns why that cannot be.
std::string take_headers(std::string_view& rest, FormField& field) {
  std::string_view headers = rest.substr(0, kMostPartHeaders), line;
  bool named = false;
  for (;;) {
    if (!take_line(headers, line))
      return rest.size() > kMostPartHeaders ? "the headers of a part of the form have more than 16 KiB"
                                            : "the form ends within the headers of a part";
    if (line.empty()) break;
    if (std::string wrong = take_header(line, field, named); !wrong.empty()) return wrong;
  }
  rest.remove_prefix(static_cast<size_t>(headers.data() - rest.data()));
  return named ? "" : "a part of the form has no name: each needs `Content-Disposition: form-data; name=\"...\"`";
}

// ---- parts
// -----------------------------------------------------------------------------------------------------------

std::string boundary_of(std::string_view content_type) {
  if (!equal_letters(trimmed(take_until(content_type, ';')), "multipart/form-data")) return "";
  while (!content_type.empty()) {
    Parameter parameter = take_parameter(content_type);
    if (equal_letters(parameter.name, "boundary")) return std::move(parameter.value);
  }
  return "";
}

// Walks over the delimiters of a body. Searching is linear: a delimiter begins with a line break and holds no other.
class Delimiters {
 public:
  Delimiters(std::string_view body, const std::string& boundary) : rest_(body), mark_("\n--" + boundary) {}

  // Takes everything up to a delimiter, and that; `before` is what stood in front. False if there is none.
  bool take(std::string_view& before) {
    if (std::exchange(first_, false) && rest_.starts_with(std::string_view(mark_).substr(1)))
      if (take_at(0, mark_.size() - 1, before)) return true;
    for (size_t at = rest_.find(mark_); at != rest_.npos; at = rest_.find(mark_, at + 1))
      if (take_at(at, mark_.size(), before)) return true;
    return false;
  }
  [[nodiscard]] bool at_end() const { return end_; }
  [[nodiscard]] std::string_view& rest() { return rest_; }

 private:
  // Longer boundaries may begin as this one does: a line break, or two dashes, must follow.
  bool take_at(size_t at, size_t length, std::string_view& before) {
    std::string_view behind = rest_.substr(at + length), line;
    end_ = behind.starts_with("--");
    if (!end_ && (!take_line(behind, line) || !trimmed(line).empty())) return false;
    before = rest_.substr(0, at);
    if (before.ends_with('\r')) before.remove_suffix(1);
    rest_ = behind;
    return true;
  }

  std::string_view rest_;
  std::string mark_;
  bool first_ = true, end_ = false;  // first_: the first delimiter may stand at the very beginning
};

// Returns why it cannot be read.
std::string take_parts(Delimiters& delimiters, std::vector<FormField>& fields) {
  while (!delimiters.at_end()) {
    FormField field;
    if (std::string wrong = take_headers(delimiters.rest(), field); !wrong.empty()) return wrong;
    if (!delimiters.take(field.part)) return "the form ends without its final boundary: it was cut off";
    if (fields.size() == kMostParts) return "the form has more than 1000 parts";
    fields.push_back(std::move(field));
  }
  return "";
}

}  // namespace

const FormField* Form::find(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(), [&](const FormField& f) { return f.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

std::string decode_percent(std::string_view text, bool plus_is_blank) {
  std::string decoded;
  decoded.reserve(text.size());
  for (size_t at = 0; at < text.size(); ++at) {
    const int byte = percent_byte(text, at);
    decoded += byte >= 0 ? static_cast<char>(byte) : plus_is_blank && text[at] == '+' ? ' ' : text[at];
    if (byte >= 0) at += 2;
  }
  return decoded;
}

Form parse_urlencoded(std::string_view text) {
  Form form;
  while (!text.empty()) {
    std::string_view value = take_until(text, '&');
    if (value.empty()) continue;
    if (form.fields.size() == kMostFields) return no_form("the form has more than 10000 fields");
    const std::string_view name = take_until(value, '=');
    form.fields.push_back({decode_percent(name, true), std::nullopt, "", decode_percent(value, true), {}});
  }
  return form;
}

Form parse_multipart(std::string_view body, std::string_view content_type) {
  const std::string boundary = boundary_of(content_type);
  if (boundary.empty()) return no_form("the Content-Type of the form names no boundary");
  if (boundary.size() > kMostBoundary || boundary.find_first_of("\r\n") != std::string::npos)
    return no_form("the boundary of the form is none: up to 70 letters, digits and signs");
  Form form;
  Delimiters delimiters(body, boundary);
  std::string_view preamble;
  if (!delimiters.take(preamble)) return no_form("the form does not hold the boundary that its Content-Type names");
  form.error = take_parts(delimiters, form.fields);
  if (!form.error.empty()) form.fields.clear();
  return form;
}

}  // namespace lapilli::server
