#include "generate/chat/answer_text.hpp"

#include <algorithm>
#include <utility>

namespace lapilli {

namespace {

constexpr std::string_view kThought = "<think>", kThoughtEnd = "</think>", kAnswerBlanks = " \t\r\n\v\f";

// The longest end of `text` with which `mark` begins, and which is not all of it.
size_t begun_at_end(std::string_view text, std::string_view mark) {
  for (size_t size = std::min(text.size(), mark.size() - 1); size > 0; --size)
    if (mark.starts_with(text.substr(text.size() - size))) return size;
  return 0;
}

std::string_view behind_blanks(std::string_view text) {
  const size_t at = text.find_first_not_of(kAnswerBlanks);
  return at == text.npos ? std::string_view() : text.substr(at);
}

}  // namespace

std::string AnswerText::push(std::string_view text) {
  std::string out = rules_->without_thoughts ? without_thought(text) : std::string(text);
  if (rules_->trimmed) out = without_first_blanks(out);
  if (!rules_->stops.empty()) out = up_to_stop(out);
  return rules_->trimmed ? without_last_blanks(out) : out;
}

std::string AnswerText::finish() {
  std::string rest;
  if (place_ == Place::beginning && !thinking_) rest = std::exchange(thought_, {});
  if (rules_->trimmed) rest = without_first_blanks(rest);
  if (!rules_->stops.empty()) rest = up_to_stop(rest);
  if (!stopped_) rest += std::exchange(held_, {});
  if (rules_->trimmed) rest = without_last_blanks(rest);
  blanks_.clear();
  return rest;
}

// A thought stands at the beginning, if anywhere; the white space around it goes with it. One that does not end is all
// that there is.
std::string AnswerText::without_thought(std::string_view text) {
  if (place_ == Place::answer) return std::string(text);
  thought_ += text;
  if (place_ == Place::beginning) {
    const std::string_view begin = behind_blanks(thought_);
    if (!thinking_ && !begin.starts_with(kThought)) {
      if (kThought.starts_with(begin)) return {};
      place_ = Place::answer;
      return std::exchange(thought_, {});
    }
    place_ = Place::thought;
  }
  if (place_ == Place::thought) {
    const size_t end = thought_.find(kThoughtEnd);
    if (end == std::string::npos) {
      thought_.erase(0, thought_.size() - begun_at_end(thought_, kThoughtEnd));
      return {};
    }
    thought_.erase(0, end + kThoughtEnd.size());
    place_ = Place::behind_thought;
  }
  const std::string answer(behind_blanks(thought_));
  thought_.clear();
  if (!answer.empty()) place_ = Place::answer;
  return answer;
}

std::string AnswerText::without_first_blanks(std::string_view text) {
  if (!begun_) text = behind_blanks(text);
  begun_ = begun_ || !text.empty();
  return std::string(text);
}

std::string AnswerText::without_last_blanks(std::string_view text) {
  blanks_ += text;
  const size_t end = blanks_.find_last_not_of(kAnswerBlanks) + 1;  // 0: there is nothing else
  std::string out = blanks_.substr(0, end);
  blanks_.erase(0, end);
  return out;
}

// The stop that is complete first ends the text; of those that are complete together, the longest.
std::string AnswerText::up_to_stop(std::string_view text) {
  if (stopped_) return {};
  held_ += text;
  size_t begin = std::string::npos, end = std::string::npos, kept = 0;
  for (const std::string& stop : rules_->stops) {
    kept = std::max(kept, begun_at_end(held_, stop));
    const size_t at = held_.find(stop);
    if (at == std::string::npos) continue;
    const size_t behind = at + stop.size();
    if (behind > end || (behind == end && at > begin)) continue;
    begin = at;
    end = behind;
  }
  if (end != std::string::npos) {
    stopped_ = true;
    std::string out = held_.substr(0, begin);
    held_.clear();
    return out;
  }
  std::string out = held_.substr(0, held_.size() - kept);
  held_.erase(0, held_.size() - kept);
  return out;
}

std::string answer_of(const AnswerRules& rules, std::string_view text) {
  AnswerText answer(rules);
  const std::string begin = answer.push(text);
  return begin + answer.finish();
}

}  // namespace lapilli
