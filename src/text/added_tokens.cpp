#include "text/added_tokens.hpp"

#include <algorithm>

#include "text/unicode/utf8.hpp"

namespace lapilli {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) {
  for (AddedToken& token : tokens) {
    if (by_text_.contains(token.text) || by_id_.contains(token.id)) continue;
    by_text_[token.text] = tokens_.size();
    by_id_[token.id] = tokens_.size();
    by_first_byte_[static_cast<unsigned char>(token.text[0])].push_back(tokens_.size());
    tokens_.push_back(std::move(token));
  }
  for (auto& group : by_first_byte_) {
    std::stable_sort(group.begin(), group.end(),
                     [&](size_t a, size_t b) { return tokens_[a].text.size() > tokens_[b].text.size(); });
  }
}

const AddedToken* AddedTokens::match(std::string_view text) const {
  for (const size_t i : by_first_byte_[static_cast<unsigned char>(text[0])]) {
    if (text.starts_with(tokens_[i].text)) return &tokens_[i];
  }
  return nullptr;
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text) const {
  std::vector<Part> parts;
  size_t plain = 0;  // start of the plain text before `at`
  const auto end_plain = [&](size_t end, const AddedToken* next) {
    std::string_view run = text.substr(plain, end - plain);
    if (next != nullptr && next->lstrip) run = strip_right(run);
    if (!parts.empty() && parts.back().token != nullptr && parts.back().token->rstrip) run = strip_left(run);
    if (!run.empty()) parts.push_back({run, nullptr});
  };
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = match(text.substr(at));
    if (token == nullptr) {
      ++at;
      continue;
    }
    end_plain(at, token);
    parts.push_back({text.substr(at, token->text.size()), token});
    at += token->text.size();
    plain = at;
  }
  end_plain(text.size(), nullptr);
  return parts;
}

const AddedToken* AddedTokens::by_id(int32_t id) const {
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : &tokens_[it->second];
}

const AddedToken* AddedTokens::by_text(std::string_view text) const {
  const auto it = by_text_.find(std::string(text));
  return it == by_text_.end() ? nullptr : &tokens_[it->second];
}

}  // namespace lapilli
