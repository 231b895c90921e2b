#include "formats/doors/marian/settings.hpp"

#include <algorithm>
#include <charconv>

#include "formats/quote.hpp"

namespace lapilli::doors::marian {

namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlank);
  return begin == std::string_view::npos ? std::string_view()
                                         : text.substr(begin, text.find_last_not_of(kBlank) + 1 - begin);
}

// Up to a comment, which follows a blank.
std::string_view without_comment(std::string_view line) {
  for (size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
    if (at == 0 || kBlank.find(line[at - 1]) != std::string_view::npos) return line.substr(0, at);
  return line;
}

std::string unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == text.back() && (text.front() == '"' || text.front() == '\'');
  return std::string(quoted ? text.substr(1, text.size() - 2) : text);
}

// "[a, b]"
std::vector<std::string> flow_list(std::string_view text) {
  std::vector<std::string> all;
  text = text.substr(1, text.size() - 2);
  while (!trimmed(text).empty()) {
    const size_t end = std::min(text.find(','), text.size());
    all.push_back(unquoted(trimmed(text.substr(0, end))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::vector<std::string> values_of(std::string_view text) {
  if (text.empty()) return {};
  if (text.front() == '[' && text.back() == ']') return flow_list(text);
  return {unquoted(text)};
}

}  // namespace

Result<Settings> Settings::parse(std::string_view text, const std::string& where) {
  constexpr size_t kMostKeys = 4096, kMostValues = 1u << 16;
  Settings s;
  std::vector<std::string>* list = nullptr;
  size_t number = 0, values = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = without_comment(text.substr(at, end - at)), rest = trimmed(line);
    at = end + 1;
    ++number;
    if (rest.empty() || rest == "---" || rest == "...") continue;
    const auto broken = [&](const char* why) {
      return fail(ErrorCode::invalid_data, "%s: line %u of Marian's settings %s: %s", where, number, why,
                  quote_name(rest, 60));
    };
    const bool item = rest == "-" || rest.starts_with("- ");
    if (item && list) {
      if (++values > kMostValues) return broken("is one item too many");
      list->push_back(unquoted(trimmed(rest.substr(1))));
      continue;
    }
    const size_t colon = rest.find(':');
    if (item || colon == std::string_view::npos || colon == 0 || kBlank.find(line.front()) != std::string_view::npos)
      return broken("is no \"name: value\"");
    const std::string_view value = trimmed(rest.substr(colon + 1));
    if (!value.empty() && std::string_view("&*!|>{").find(value.front()) != std::string_view::npos)
      return broken("has a value that is not read");
    const auto [to, fresh] = s.values_.emplace(unquoted(rest.substr(0, colon)), values_of(value));
    if (!fresh || s.values_.size() > kMostKeys) return broken("is there twice, or one too many");
    list = value.empty() ? &to->second : nullptr;
  }
  return s;
}

std::string Settings::text(const std::string& key, const std::string& missing) const {
  const auto it = values_.find(key);
  return it == values_.end() || it->second.empty() ? missing : it->second.front();
}

std::vector<std::string> Settings::list(const std::string& key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? std::vector<std::string>() : it->second;
}

uint64_t Settings::number(const std::string& key, uint64_t missing, uint64_t most) const {
  const std::string value = text(key);
  if (value.empty()) return missing;
  uint64_t n = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  return error == std::errc() && end == value.data() + value.size() && n <= most ? n : most + 1;
}

}  // namespace lapilli::doors::marian
