// The processor time a line that the search for words that stay (placeholders, addresses) takes where there are none:
//   kept_cost < lines
#include <ctime>
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
  const std::clock_t begin = std::clock();
  for (size_t round = 0; round < kRounds; ++round)
    for (const std::string& line : lines) whole += kept.is_whole(line, line) ? 1 : 0;
  const double microseconds = 1e6 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  std::cout << microseconds / static_cast<double>(kRounds * lines.size()) << " microseconds a line; " << whole / kRounds
            << " of " << lines.size() << " lines whole\n";
}
