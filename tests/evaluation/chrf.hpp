// chrF of a line (Popovic 2015): n-grams of characters up to 6, recall counting twice (F2), without white space.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lapilli::evaluation {

// From 0 to 100. Texts are UTF-8. 0 where one of them is empty and the other is not.
double chrf(std::string_view hypothesis, std::string_view reference);

// The score against the nearest reference.
double best_chrf(std::string_view hypothesis, std::span<const std::string> references);

}  // namespace lapilli::evaluation
