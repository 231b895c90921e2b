#include "server/protocols/json_body.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace lapilli::server {

namespace {

constexpr int kDeepest = 64;
constexpr size_t kMostValues = size_t{1} << 20;

// Finds what a parser would spend too much on: values are walked recursively, and each takes memory many times its
// text's.
std::string excess_of(std::string_view text) {
  int depth = 0;
  size_t values = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (c == '{' || c == '[' || c == ',') ++values;
    if (depth > kDeepest) return "arrays and objects nest deeper than " + std::to_string(kDeepest) + " levels";
    if (values > kMostValues) return "it holds more than " + std::to_string(kMostValues) + " values";
  }
  return "";
}

// The length of the character at the front of `text`; 0 if it is none.
size_t utf8_length(std::string_view text) {
  const auto at = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto more = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i)
      if ((at(i) & 0xc0) != 0x80) return size_t{0};
    return to;
  };
  const unsigned c = at(0), next = at(1);
  if (c < 0x80) return 1;
  if (c >= 0xc2 && c < 0xe0) return more(1, 2);
  if (c == 0xe0 && next < 0xa0) return 0;  // longer than needed
  if (c == 0xed && next > 0x9f) return 0;  // a half of a surrogate pair
  if (c >= 0xe0 && c < 0xf0) return more(1, 3);
  if (c == 0xf0 && next < 0x90) return 0;
  if (c == 0xf4 && next > 0x8f) return 0;  // behind the last character
  return c >= 0xf0 && c < 0xf5 ? more(1, 4) : 0;
}

std::string short_number(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  return {text, end};
}

const char* kind_of(const nlohmann::json& value) {
  if (value.is_string()) return "a text";
  if (value.is_boolean()) return "true or false";
  if (value.is_number()) return "a number";
  return value.is_array() ? "a list" : "an object";
}

std::string expected(const char* wanted, const nlohmann::json& value) {
  return std::string("must be ") + wanted + ", not " + kind_of(value);
}

bool is_neutral(std::string_view value, const Unserved& field) {
  std::string_view neutral = field.neutral;
  while (!neutral.empty()) {
    const size_t end = std::min(neutral.find('|'), neutral.size());
    if (neutral.substr(0, end) == value) return true;
    neutral.remove_prefix(std::min(end + 1, neutral.size()));
  }
  return value.empty() || value == "\"\"" || value == "[]" || value == "{}";
}

// Numbers that are equal are written alike: 0 for 0.0.
std::string neutral_form(const nlohmann::json& value) {
  if (value.is_number()) return short_number(value.get<double>());
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string json_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

uint64_t characters_of(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
  return static_cast<uint64_t>(std::count_if(text.begin(), text.end(), begins));
}

std::string media_type(std::string_view content_type) {
  std::string type(content_type.substr(0, content_type.find(';')));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; });
  return type;
}

Refusal parse_json_object(std::string_view text, nlohmann::json& object) {
  if (const std::string excess = excess_of(text); !excess.empty()) return {400, "the body: " + excess, ""};
  if (!is_utf8(text)) return {400, "the body is not UTF-8", ""};
  object = nlohmann::json::parse(text, nullptr, false);
  if (object.is_discarded()) return {400, "the body is not JSON", ""};
  if (!object.is_object()) return {400, "the body must be a JSON object", ""};
  return {};
}

Parameters::Parameters(const Request& request, bool body) : query_(parse_urlencoded(request.query)) {
  if (body) read_body(request);
}

void Parameters::read_body(const Request& request) {
  const std::string_view all = request.body.view();
  if (all.empty() && request.body.size() != 0) return refuse("", "the body could not be read from the disk", 500);
  const std::string type = media_type(request.header("content-type"));
  if (type == "multipart/form-data") return read_form(parse_multipart(all, request.header("content-type")));
  if (type == "application/x-www-form-urlencoded") return read_form(parse_urlencoded(all));
  is_json_ = !all.empty();
  if (is_json_) refusal_ = parse_json_object(all, object_);
  if (refusal_) object_ = nullptr;
}

void Parameters::read_form(Form form) {
  form_ = std::move(form);
  if (!form_.error.empty()) refuse("", "the form: " + form_.error);
}

void Parameters::refuse(std::string_view name, const std::string& why, int status) {
  if (refusal_) return;
  refusal_ = {status, name.empty() ? why : std::string(name) + ": " + why, std::string(name)};
}

void Parameters::refuse(const Refusal& refusal) {
  if (!refusal_) refusal_ = refusal;
}

const nlohmann::json* Parameters::json(std::string_view name) const {
  if (!object_.is_object()) return nullptr;
  const auto at = object_.find(name);
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

const FormField* Parameters::part(std::string_view name) const { return form_.find(name); }

std::vector<std::string_view> Parameters::values(std::string_view name, size_t most) const {
  const auto fits = [&](std::string_view field) {
    return field == name ||
           (field.size() == name.size() + 2 && field.substr(0, name.size()) == name && field.ends_with("[]"));
  };
  std::vector<std::string_view> all;
  for (const Form* form : {&form_, &query_}) {
    for (const FormField& field : form->fields)
      if (all.size() <= most && fits(field.name)) all.push_back(field.value());
    if (!all.empty()) break;
  }
  return all;
}

std::optional<std::string_view> Parameters::value(std::string_view name) const {
  const auto all = values(name, 1);
  return all.empty() ? std::optional<std::string_view>() : all.front();
}

bool Parameters::has(std::string_view name) const { return json(name) || value(name); }

bool Parameters::check_utf8(std::string_view name, std::string_view value) {
  constexpr size_t kLongest = size_t{16} << 20;
  if (value.size() > kLongest)
    refuse(name, "has " + std::to_string(value.size()) + " bytes, of at most " + std::to_string(kLongest), 413);
  else if (!is_utf8(value))
    refuse(name, "is not UTF-8");
  return !refusal_;
}

std::optional<std::string> Parameters::text(std::string_view name) {
  if (const auto* value = json(name)) {
    if (value->is_string()) return value->get<std::string>();
    refuse(name, expected("a text", *value));
    return {};
  }
  const auto field = value(name);
  if (!field || !check_utf8(name, *field)) return {};
  return std::string(*field);
}

std::string Parameters::required_text(std::string_view name) {
  if (!has(name)) refuse(name, "is missing");
  return text(name).value_or("");
}

std::optional<std::string> Parameters::one_of(std::string_view name, std::span<const char* const> words) {
  auto given = text(name);
  if (!given) return {};
  std::string all;
  for (const char* word : words) {
    if (*given == word) return given;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  refuse(name, "must be one of " + all);
  return {};
}

std::optional<bool> Parameters::flag(std::string_view name) {
  if (const auto* value = json(name)) {
    if (value->is_boolean()) return value->get<bool>();
    refuse(name, expected("true or false", *value));
    return {};
  }
  const auto field = value(name);
  if (!field || field->empty()) return {};
  for (const char* yes : {"true", "True", "TRUE", "1", "on", "yes"})
    if (*field == yes) return true;
  for (const char* no : {"false", "False", "FALSE", "0", "off", "no"})
    if (*field == no) return false;
  refuse(name, "must be true or false");
  return {};
}

std::optional<double> Parameters::form_number(std::string_view name, std::string_view value) {
  double number = 0;
  const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (wrong == std::errc() && end == value.data() + value.size() && std::isfinite(number)) return number;
  refuse(name, "must be a number");
  return {};
}

std::optional<double> Parameters::number(std::string_view name, double least, double most) {
  std::optional<double> given;
  if (const auto* value = json(name)) {
    if (value->is_number()) given = value->get<double>();
    if (!given) refuse(name, expected("a number", *value));
  } else if (const auto field = this->value(name); field && !field->empty()) {
    given = form_number(name, *field);
  }
  if (!given) return {};
  if (*given >= least && *given <= most) return given;
  refuse(name, short_number(*given) + " is not within " + short_number(least) + " to " + short_number(most));
  return {};
}

// A number that 64 bits hold; digits alone are exact.
std::optional<int64_t> Parameters::integer(std::string_view name, double given) const {
  int64_t exact = 0;
  if (const auto* value = json(name)) {
    if (value->is_number_unsigned() && value->get<uint64_t>() > INT64_MAX) return {};
    if (value->is_number_integer()) return value->get<int64_t>();
  } else if (const auto field = this->value(name)) {
    const char* end = field->data() + field->size();
    if (const auto read = std::from_chars(field->data(), end, exact); read.ec == std::errc() && read.ptr == end)
      return exact;
  }
  if (std::abs(given) > 9e15) return {};
  return static_cast<int64_t>(given);
}

std::optional<int64_t> Parameters::whole(std::string_view name, int64_t least, int64_t most) {
  const auto given = number(name, -HUGE_VAL, HUGE_VAL);
  if (!given) return {};
  if (*given != std::floor(*given)) {
    refuse(name, "must be a whole number");
    return {};
  }
  const auto exact = integer(name, *given);
  if (exact && *exact >= least && *exact <= most) return exact;
  const std::string shown = exact ? std::to_string(*exact) : short_number(*given);
  refuse(name, *given < 0 || (exact && *exact < least) ? shown + " is below the least, " + std::to_string(least)
                                                       : shown + " is above the limit of " + std::to_string(most));
  return {};
}

std::optional<Parameters::Texts> Parameters::json_texts(std::string_view name, const nlohmann::json& value,
                                                        size_t most) {
  if (value.is_string()) return Texts{{value.get<std::string>()}, false};
  if (!value.is_array()) {
    refuse(name, expected("a text or a list of texts", value));
    return {};
  }
  if (value.size() > most) {
    refuse(name, std::to_string(value.size()) + " texts are above the limit of " + std::to_string(most));
    return {};
  }
  Texts texts{{}, true};
  for (size_t i = 0; i < value.size(); ++i) {
    if (value[i].is_string())
      texts.all.push_back(value[i].get<std::string>());
    else
      refuse(name, "item " + std::to_string(i) + " must be a text");
  }
  return refusal_ ? std::optional<Texts>() : texts;
}

std::optional<Parameters::Texts> Parameters::texts(std::string_view name, size_t most) {
  if (const auto* value = json(name)) return json_texts(name, *value, most);
  const auto fields = values(name, most);
  if (fields.empty()) return {};
  if (fields.size() > most) {
    refuse(name, "the texts are above the limit of " + std::to_string(most));
    return {};
  }
  Texts texts{{}, fields.size() > 1};
  for (const std::string_view field : fields) {
    if (!check_utf8(name, field)) return {};
    texts.all.emplace_back(field);
  }
  return texts;
}

void Parameters::refuse_unserved(std::span<const Unserved> table) {
  for (const Unserved& field : table) {
    bool neutral = true;
    if (const auto* member = json(field.name))
      neutral = is_neutral(neutral_form(*member), field);
    else if (const auto given = value(field.name))
      neutral = is_neutral(*given, field) || is_neutral('"' + std::string(*given) + '"', field);
    const std::string advice = field.advice;
    if (!neutral) refuse(field.name, "is not served" + (advice.empty() ? "" : "; " + advice));
  }
}

}  // namespace lapilli::server
