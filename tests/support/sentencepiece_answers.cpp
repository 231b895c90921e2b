#include "support/sentencepiece_answers.hpp"

#include <cstdint>
#include <fstream>
#include <span>
#include <sstream>
#include <vector>

namespace lapilli {
namespace {

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::string to_hex(const std::string& bytes) {
  std::string hex;
  for (const char c : bytes) hex += format("%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  return hex;
}

std::string show_pieces(const std::vector<SentencePiece>& pieces) {
  std::string line;
  for (const SentencePiece& piece : pieces)
    line += format("%s%d:%zu-%zu", line.empty() ? "" : " ", piece.id, static_cast<size_t>(piece.begin),
                   static_cast<size_t>(piece.end));
  return line;
}

template <class T>
std::string shown(const Result<T>& result, std::string (*show)(const T&)) {
  return result.ok() ? show(*result) : "error: " + result.error().message;
}

}  // namespace

std::string sentencepiece_answer(const SentencePieceModel& model, const std::string& question) {
  std::istringstream line(question);
  std::string kind;
  line >> kind;
  std::vector<std::string> words;
  for (std::string word; line >> word;) words.push_back(word);
  if (kind == "e") return shown(model.encode(words.empty() ? "" : from_hex(words[0])), show_pieces);
  if (kind == "d") {
    std::vector<int32_t> ids;
    for (const std::string& word : words) ids.push_back(std::stoi(word));
    return shown(model.decode(std::span<const int32_t>(ids)), to_hex);
  }
  for (std::string& word : words) word = from_hex(word);
  return shown(model.decode(words), to_hex);
}

SentencePieceRecord compare_sentencepiece_record(const std::string& path, const std::string& root) {
  SentencePieceRecord record;
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  const auto model = SentencePieceModel::load(root + "/" + line.substr(line.find(' ') + 1));
  if (!model) {
    record.wrong.push_back(path + ": " + model.error().message);
    return record;
  }
  for (; std::getline(in, line); ++record.questions) {
    const size_t mark = line.find(" = ");
    const std::string answer = sentencepiece_answer(*model, line.substr(0, mark));
    if (answer != line.substr(mark + 3)) record.wrong.push_back(path + ": " + line + ", but Lapilli: " + answer);
  }
  return record;
}

}  // namespace lapilli
