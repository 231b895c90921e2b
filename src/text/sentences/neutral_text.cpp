#include "text/sentences/neutral_text.hpp"

#include <algorithm>

#include "base/placeholders.hpp"
#include "text/sentences/sentence_class.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

using enum SentenceClass;

constexpr size_t kLongestScheme = 16, kLongestLocalPart = 64, kLongestDomain = 255;

bool ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool ascii_word(char c) { return ascii_letter(c) || (c >= '0' && c <= '9'); }
bool one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

bool is_letter(SentenceClass kind) { return kind == lower || kind == upper || kind == letter; }

// Letters, digits and marks above ASCII; not of scripts without white space, where the end of an address is unclear.
bool foreign_word(const CodePoint& c) {
  if (!c.valid || c.code < 0x80 || unspaced_script(c.code)) return false;
  const SentenceClass kind = sentence_class(c.code);
  return is_letter(kind) || kind == digit || kind == extend;
}

// Finds addresses around their characteristic signs: "://", "www.", "@".
class AddressFinder {
 public:
  explicit AddressFinder(std::string_view text) : text_(text) {}

  std::vector<TextRange> run() {
    for (size_t at = 0; at < text_.size();) {
      const TextRange found = address_at(at);
      if (found.end > found.begin) found_.push_back(found);
      at = std::max<size_t>(at + 1, found.end);
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] TextRange address_at(size_t at) const {
    switch (text_[at]) {
      case ':': return text_.substr(at, 3) == "://" ? with_scheme(at) : TextRange{};
      case 'w':
      case 'W': return www(at);
      case '@': return mail(at);
      default: return {};
    }
  }
  // End of the previous address.
  [[nodiscard]] size_t free() const { return found_.empty() ? 0 : found_.back().end; }

  [[nodiscard]] TextRange with_scheme(size_t colon) const {
    size_t begin = colon;
    const size_t least = std::max(free(), colon - std::min(colon, kLongestScheme));
    while (begin > least && (ascii_word(text_[begin - 1]) || one_of(text_[begin - 1], "+.-"))) --begin;
    while (begin < colon && !ascii_letter(text_[begin])) ++begin;
    return colon - begin >= 2 ? url(begin, colon + 3) : TextRange{};
  }

  [[nodiscard]] TextRange www(size_t at) const {
    for (size_t i = 0; i < 4; ++i) {
      if (at + i >= text_.size() || !one_of(text_[at + i], i < 3 ? "wW" : ".")) return {};
    }
    return at > free() && ascii_word(text_[at - 1]) ? TextRange{} : url(at, at + 4);
  }

  // `host`: its start.
  [[nodiscard]] TextRange url(size_t begin, size_t host) const {
    const auto in_host = [&](size_t at) { return ascii_word(text_[at]) || foreign_word(decode_utf8(text_, at)); };
    if (host >= text_.size() || (!in_host(host) && text_[host] != '[')) return {};
    const size_t end = without_marks(host, url_end(host));
    return end > host ? TextRange{begin, end} : TextRange{};
  }

  [[nodiscard]] size_t url_end(size_t at) const {
    bool path = false;
    for (char before = 0; at < text_.size();) {
      const CodePoint c = decode_utf8(text_, at);
      if (c.code < 0x80) {
        const char sign = text_[at];
        if (!c.valid || (!ascii_word(sign) && !one_of(sign, "-._~:/?#[]@!$&'()*+,;=%"))) return at;
        path = path || one_of(sign, "/?#");
        before = sign;
      } else if (foreign_word(c)) {
        before = 0;
      } else {
        // A path may hold names in any script; a sentence that follows directly hardly begins there.
        const bool named = path && one_of(before, "/=_-&") && is_letter(sentence_class(c.code));
        if (!named) return at;
      }
      at += c.bytes;
    }
    return at;
  }

  // Trailing punctuation belongs to the sentence, as do brackets that were opened outside.
  [[nodiscard]] size_t without_marks(size_t begin, size_t end) const {
    const std::string_view part = text_.substr(begin, end - begin);
    const auto surplus = [&](char open, char close) {
      return std::count(part.begin(), part.end(), close) - std::count(part.begin(), part.end(), open);
    };
    auto round = surplus('(', ')'), square = surplus('[', ']');
    for (; end > begin; --end) {
      const char last = text_[end - 1];
      if (one_of(last, ".,;:!?'*")) continue;
      if (last == ')' && round-- > 0) continue;
      if (last == ']' && square-- > 0) continue;
      break;
    }
    return end;
  }

  [[nodiscard]] TextRange mail(size_t sign) const {
    size_t begin = sign;
    const size_t least = std::max(free(), sign - std::min(sign, kLongestLocalPart));
    while (begin > least && (ascii_word(text_[begin - 1]) || one_of(text_[begin - 1], "._%+-"))) --begin;
    while (begin < sign && !ascii_word(text_[begin])) ++begin;
    const size_t end = domain_end(sign + 1);
    if (begin == sign || end == sign + 1) return {};
    constexpr std::string_view kScheme = "mailto:";
    const bool named = begin >= free() + kScheme.size() && text_.substr(begin - kScheme.size()).starts_with(kScheme);
    return {named ? begin - kScheme.size() : begin, end};
  }

  // `at` if there is none.
  [[nodiscard]] size_t domain_end(size_t at) const {
    size_t end = at;
    while (end < text_.size() && end - at < kLongestDomain) {
      const CodePoint c = decode_utf8(text_, end);
      if (!ascii_word(text_[end]) && !one_of(text_[end], ".-") && !foreign_word(c)) break;
      end += c.bytes;
    }
    while (end > at && one_of(text_[end - 1], ".-")) --end;
    const size_t dot = text_.substr(at, end - at).find('.');
    return dot == std::string_view::npos || dot == 0 ? at : end;
  }

  std::string_view text_;
  std::vector<TextRange> found_;
};

std::vector<TextRange> find_placeholders(std::string_view text) {
  std::vector<TextRange> found;
  for (Placeholder p = find_placeholder(text, 0); p.end > 0; p = find_placeholder(text, p.end))
    found.push_back({p.begin, p.end});
  return found;
}

// The first range that `find` finds in the source but not in the output.
std::string_view first_lost(std::string_view source, std::string_view output,
                            std::vector<TextRange> (*find)(std::string_view)) {
  const std::vector<TextRange> wanted = find(source);
  if (wanted.empty()) return {};
  const auto part = [](std::string_view text, const TextRange& r) { return text.substr(r.begin, r.end - r.begin); };
  std::vector<std::string_view> there;
  for (const TextRange& r : find(output)) there.push_back(part(output, r));
  std::sort(there.begin(), there.end());
  const auto lost = std::find_if(wanted.begin(), wanted.end(), [&](const TextRange& r) {
    return !std::binary_search(there.begin(), there.end(), part(source, r));
  });
  return lost == wanted.end() ? std::string_view() : part(source, *lost);
}

}  // namespace

std::vector<TextRange> find_addresses(std::string_view text) { return AddressFinder(text).run(); }

bool is_neutral_text(std::string_view text) {
  const auto addresses = find_addresses(text);
  auto address = addresses.begin();
  bool anything = !addresses.empty();
  for (size_t at = 0; at < text.size();) {
    if (address != addresses.end() && at == address->begin) {
      at = (address++)->end;
      continue;
    }
    const CodePoint c = decode_utf8(text, at);
    const SentenceClass kind = c.valid ? sentence_class(c.code) : letter;
    if (is_letter(kind)) return false;
    anything = anything || (kind != space && kind != newline && kind != extend);
    at += c.bytes;
  }
  return anything;
}

std::string_view first_lost_address(std::string_view source, std::string_view output) {
  const std::string_view address = first_lost(source, output, find_addresses);
  const std::string_view placeholder = first_lost(source, output, find_placeholders);
  if (address.empty() || placeholder.empty()) return address.empty() ? placeholder : address;
  return address.data() < placeholder.data() ? address : placeholder;
}

}  // namespace lapilli
