// sentencepiece_lines MODEL - answers the questions on stdin, line by line (support/sentencepiece_answers.hpp).
#include <iostream>
#include <string>

#include "support/sentencepiece_answers.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: sentencepiece_lines MODEL\n";
    return 2;
  }
  const auto model = lapilli::SentencePieceModel::load(argv[1]);
  if (!model) {
    std::cerr << model.error().message << "\n";
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);)
    std::cout << lapilli::sentencepiece_answer(*model, line) << "\n";
  return 0;
}
