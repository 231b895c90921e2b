// The part of a model's text that is its answer: without thoughts, up to a stop text, trimmed. The text may come in
// pieces; what is given out is never taken back, and does not depend on how it was cut.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lapilli {

struct AnswerRules {
  std::vector<std::string> stops;  // none is empty; the answer ends before the first that is complete
  bool without_thoughts = false;   // leaves out <think>...</think> at the beginning
  bool begins_in_thought = false;  // the prompt has opened it
  bool trimmed = false;            // without white space around it

  [[nodiscard]] bool any() const { return !stops.empty() || without_thoughts || trimmed; }
};

// Leaves a text as it is.
inline const AnswerRules kWholeText;

class AnswerText {
 public:
  // The rules must live as long as this object.
  explicit AnswerText(const AnswerRules& rules) : rules_(&rules), thinking_(rules.begins_in_thought) {}

  // Takes more text, and returns what is certain now.
  std::string push(std::string_view text);
  // Returns what was held back, at the end of the text.
  std::string finish();
  // True once a stop text was complete: nothing more comes.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  enum class Place : unsigned char { beginning, thought, behind_thought, answer };
  std::string without_thought(std::string_view text);
  std::string without_first_blanks(std::string_view text);
  std::string without_last_blanks(std::string_view text);
  std::string up_to_stop(std::string_view text);

  const AnswerRules* rules_;
  bool thinking_;
  Place place_ = Place::beginning;
  bool begun_ = false, stopped_ = false;
  std::string thought_, blanks_, held_;  // what each rule holds back
};

// The whole answer of a whole text.
std::string answer_of(const AnswerRules& rules, std::string_view text);

}  // namespace lapilli
