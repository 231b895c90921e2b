// The time that the search for words that stay (placeholders, addresses) takes for each line of a text without them:
//   kept_cost < lines
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "documents/kept/kept_text.hpp"

int main() {
  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) lines.push_back(line);
  if (lines.empty()) return std::cerr << "usage: kept_cost < lines\n", 2;
  constexpr size_t kRounds = 1000;
  const lapilli::documents::KeptText kept;
  size_t whole = 0;
  const auto begin = std::chrono::steady_clock::now();
  for (size_t round = 0; round < kRounds; ++round)
    for (const std::string& line : lines) whole += kept.is_whole(line, line) ? 1 : 0;
  const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
  std::cout << time.count() / static_cast<double>(kRounds * lines.size()) << " microseconds a line; " << whole / kRounds
            << " of " << lines.size() << " lines whole\n";
}
