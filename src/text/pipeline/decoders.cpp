#include "text/pipeline/decoders.hpp"

#include <algorithm>
#include <utility>

#include "text/pipeline/byte_level.hpp"
#include "text/unicode/regex.hpp"
#include "text/unicode/unicode.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  if (from.empty()) return std::string(text);
  for (size_t at; (at = text.find(from)) != std::string_view::npos; text.remove_prefix(at + from.size())) {
    out += text.substr(0, at);
    out += to;
  }
  out += text;
  return out;
}

// Decoders of one token at a time: f(token, its index, number of tokens).
template <class F>
class PerToken final : public Decoder {
 public:
  explicit PerToken(F f) : f_(std::move(f)) {}
  Status apply(std::vector<std::string>& tokens) const override {
    for (size_t i = 0; i < tokens.size(); ++i) f_(tokens[i], i, tokens.size());
    return {};
  }

 private:
  F f_;
};
template <class F>
DecoderPtr per_token(F f) {
  return std::make_unique<PerToken<F>>(std::move(f));
}

// Decoders of all tokens at once: f(tokens), in place.
template <class F>
class WholeList final : public Decoder {
 public:
  explicit WholeList(F f) : f_(std::move(f)) {}
  Status apply(std::vector<std::string>& tokens) const override { return f_(tokens); }

 private:
  F f_;
};
template <class F>
DecoderPtr whole_list(F f) {
  return std::make_unique<WholeList<F>>(std::move(f));
}

std::string join(const std::vector<std::string>& tokens) {
  std::string out;
  for (const std::string& t : tokens) out += t;
  return out;
}

// Appends the bytes that a token in the byte alphabet represents; other tokens are plain text.
void append_bytes(std::string& out, const std::string& token) {
  const size_t before = out.size();
  for (size_t at = 0; at < token.size();) {
    const int byte = byte_of(next_character(token, at));
    if (byte < 0) {
      out.resize(before);
      out += token;
      return;
    }
    out += static_cast<char>(byte);
  }
}

// The value of <0x41>, or -1.
int byte_token(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with('>')) return -1;
  int value = 0;
  for (const char c : token.substr(3, 2)) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                             : -1;
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

Status fall_back(std::vector<std::string>& tokens) {
  std::vector<std::string> out;
  std::string bytes;
  const auto flush = [&] {
    if (bytes.empty()) return;
    if (find_invalid_utf8(bytes) == std::string::npos) {
      out.push_back(bytes);
    } else {
      out.insert(out.end(), bytes.size(), "\xEF\xBF\xBD");
    }
    bytes.clear();
  };
  for (std::string& token : tokens) {
    if (const int byte = byte_token(token); byte >= 0) {
      bytes += static_cast<char>(byte);
    } else {
      flush();
      out.push_back(std::move(token));
    }
  }
  flush();
  tokens = std::move(out);
  return {};
}

// Removes the spaces that joining words puts before punctuation and English contractions.
std::string clean_up(std::string text, bool word_piece) {
  for (const auto& [from, to] : std::initializer_list<std::pair<const char*, const char*>>{{" .", "."},
                                                                                           {" ?", "?"},
                                                                                           {" !", "!"},
                                                                                           {" ,", ","},
                                                                                           {" ' ", "'"},
                                                                                           {" n't", "n't"},
                                                                                           {" 'm", "'m"},
                                                                                           {" do not", " don't"},
                                                                                           {" 's", "'s"},
                                                                                           {" 've", "'ve"},
                                                                                           {" 're", "'re"}})
    if (word_piece || *to != ' ') text = replace_all(text, from, to);
  return text;
}

std::string replace_matches(const std::string& text, const std::vector<Regex::Match>& matches,
                            const std::string& content) {
  std::string out;
  size_t done = 0;
  for (const Regex::Match& match : matches) {
    out.append(text, done, match.begin - done);
    out += content;
    done = match.end;
  }
  out.append(text, done);
  return out;
}

}  // namespace

DecoderPtr make_byte_level_decoder() {
  return whole_list([](std::vector<std::string>& tokens) -> Status {
    std::string bytes;
    for (const std::string& token : tokens) append_bytes(bytes, token);
    tokens.assign(1, replace_invalid_utf8(bytes));
    return {};
  });
}

DecoderPtr make_word_piece_decoder(const std::string& prefix, bool cleanup) {
  return per_token([prefix, cleanup](std::string& token, size_t i, size_t) {
    if (i > 0) token = token.starts_with(prefix) ? token.substr(prefix.size()) : " " + token;
    if (cleanup) token = clean_up(std::move(token), true);
  });
}

DecoderPtr make_metaspace_decoder(const std::string& replacement, PrependScheme scheme) {
  return per_token([replacement, scheme](std::string& token, size_t i, size_t) {
    token = replace_all(token, replacement, i == 0 && scheme != PrependScheme::never ? "" : " ");
  });
}

DecoderPtr make_bpe_decoder(const std::string& suffix) {
  return per_token(
      [suffix](std::string& token, size_t i, size_t n) { token = replace_all(token, suffix, i + 1 == n ? "" : " "); });
}

DecoderPtr make_byte_fallback_decoder() { return whole_list(fall_back); }

DecoderPtr make_fuse_decoder() {
  return whole_list([](std::vector<std::string>& tokens) -> Status {
    tokens.assign(1, join(tokens));
    return {};
  });
}

DecoderPtr make_strip_decoder(const std::string& content, size_t start, size_t stop) {
  return per_token([content, start, stop](std::string& token, size_t, size_t) {
    if (content.empty()) return;
    std::string_view rest = token;
    for (size_t i = 0; i < start && rest.starts_with(content); ++i) rest.remove_prefix(content.size());
    for (size_t i = 0; i < stop && rest.ends_with(content); ++i) rest.remove_suffix(content.size());
    token = std::string(rest);
  });
}

DecoderPtr make_replace_string_decoder(const std::string& pattern, const std::string& content) {
  return per_token(
      [pattern, content](std::string& token, size_t, size_t) { token = replace_all(token, pattern, content); });
}

Result<DecoderPtr> make_replace_regex_decoder(const std::string& pattern, const std::string& content) {
  LAPILLI_TRY(Regex compiled, Regex::compile(pattern));
  const auto regex = std::make_shared<const Regex>(std::move(compiled));
  return whole_list([regex, content](std::vector<std::string>& tokens) -> Status {
    for (std::string& token : tokens) {
      LAPILLI_TRY(const auto matches, regex->find_all(token));
      token = replace_matches(token, matches, content);
    }
    return {};
  });
}

DecoderPtr make_ctc_decoder(const std::string& pad, const std::string& word_delimiter, bool cleanup) {
  return whole_list([pad, word_delimiter, cleanup](std::vector<std::string>& tokens) -> Status {
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    for (std::string& token : tokens) {
      token = replace_all(token, pad, "");
      if (cleanup) token = replace_all(clean_up(std::move(token), true), word_delimiter, " ");
    }
    std::erase_if(tokens, [](const std::string& token) { return token.empty(); });
    return {};
  });
}

DecoderPtr make_decoder_sequence(std::vector<DecoderPtr> parts) {
  const auto shared = std::make_shared<const std::vector<DecoderPtr>>(std::move(parts));
  return whole_list([shared](std::vector<std::string>& tokens) -> Status {
    for (const DecoderPtr& part : *shared) LAPILLI_CHECK(part->apply(tokens));
    return {};
  });
}

std::string clean_up_spaces(std::string text) { return clean_up(std::move(text), false); }

}  // namespace lapilli
