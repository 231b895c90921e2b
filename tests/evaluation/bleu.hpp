// BLEU of a corpus (Papineni et al. 2002): n-grams up to 4, several references a line, the closest reference's length.
// Texts are split as the usual "13a" tokenization does, without its treatment of markup.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli::evaluation {

// The words of a line. Punctuation stands alone, except for apostrophes, hyphens that no digit precedes, and points and
// commas between digits. `text` is UTF-8; Unicode's white space separates words.
std::vector<std::string> bleu_tokens(std::string_view text);

// From 0 to 100. One list of references a hypothesis, each with at least one; 0 if some length of n-gram never matches.
double bleu(std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references);

}  // namespace lapilli::evaluation
