#include "conformance/table.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;

constexpr const char* kBegin = "<!-- Written by the conformance program: the table begins. -->\n";
constexpr const char* kEnd = "<!-- The table ends. -->\n";

// The families that a tokenizer's folder stands for, between spaces.
struct TokenizerFolder {
  const char *name, *families;
};
constexpr TokenizerFolder kTokenizers[] = {
    {"albert", " albert "},
    {"bart", " bart led "},
    {"bert-cased", " encoder-decoder "},
    {"bert-options", " encoder-decoder "},
    {"bert-pairs", " bert distilbert electra encoder-decoder "},
    {"bert-uncased", " bert distilbert electra encoder-decoder "},
    {"blenderbot", " blenderbot "},
    {"blenderbot-small", " blenderbot-small "},
    {"byt5", " t5 "},
    {"camembert", " camembert "},
    {"deberta-v3", " deberta-v2 "},
    {"m2m_100", " m2m_100 "},
    {"marian", " marian "},
    {"marian-separate-vocab", " marian "},
    {"mbart", " mbart "},
    {"mbart50", " mbart "},
    {"modernbert", " modernbert "},
    {"nllb", " m2m_100 "},
    {"pegasus", " pegasus "},
    {"prophetnet", " prophetnet "},
    {"roberta-pairs", " roberta "},
    {"roberta-prefix-space", " encoder-decoder "},
    {"speech_to_text", " speech_to_text "},
    {"t5", " t5 mt5 umt5 "},
    {"t5-published-layout", " t5 "},
    {"whisper", " whisper "},
    {"xlnet", " xlnet "},
};
constexpr std::string_view kProcessors =
    " bad_words_ids begin_suppress_tokens encoder_no_repeat_ngram_size encoder_repetition_penalty "
    "exponential_decay_length_penalty forced_bos_token_id forced_eos_token_id min_length min_new_tokens "
    "no_repeat_ngram_size renormalize_logits repetition_penalty sequence_bias suppress_tokens ";

bool contains_word(std::string_view words, const std::string& word) {
  return words.find(" " + word + " ") != std::string_view::npos;
}

// Cases of one cell and the largest of what they deviated.
struct Cell {
  uint64_t passed = 0, all = 0;
  double deviation = 0, share = 0;  // share: of the tolerance
  bool compared = false;

  void count(const Json& c) {
    ++all;
    if (c.value("result", std::string()) == "pass") ++passed;
  }
  void measure(double seen, double of_tolerance) {
    compared = true;
    deviation = std::max(deviation, seen);
    share = std::max(share, of_tolerance);
  }
  [[nodiscard]] std::string text() const {
    if (all == 0) return "";
    std::string t = std::to_string(passed) + "/" + std::to_string(all);
    if (!compared) return t;
    char numbers[64];
    std::snprintf(numbers, sizeof(numbers), ", %.1e (%.1f %%)", deviation, 100 * share);
    return t + numbers;
  }
};

struct Row {
  std::map<std::string, Cell> cells;                         // by column
  std::map<std::string, Cell> tokenizers;                    // by folder
  std::map<std::string, std::set<std::string>> checkpoints;  // number formats by kind of file
};

std::string file_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

void add_case(Row& row, const Json& c) {
  const std::string group = c.value("group", std::string());
  const Json parts = c.value("parts", Json::object());
  for (const auto& [column, part] : parts.items()) {
    row.cells[column].count(c);
    row.cells[column].measure(part.at("largest").get<double>(), part.at("share").get<double>());
  }
  if (parts.empty()) {
    Cell& cell = row.cells[group == "forward" ? "logits" : group];
    cell.count(c);
    if (c.contains("deviation"))
      cell.measure(c.at("largest").get<double>(), c.at("deviation").get<double>() / c.at("tolerance").get<double>());
  }
  const std::string checkpoint = c.value("checkpoint", std::string());
  if (!checkpoint.empty()) row.checkpoints[checkpoint].insert(c.value("dtype", std::string()));
}

std::string list(const std::map<std::string, std::set<std::string>>& checkpoints) {
  std::string text;
  for (const auto& [kind, dtypes] : checkpoints) {
    text += (text.empty() ? "" : "; ") + kind;
    for (const auto& d : dtypes) text += (&d == &*dtypes.begin() ? " " : ", ") + d;
  }
  return text;
}

std::string list(const std::map<std::string, Cell>& tokenizers) {
  std::string text;
  for (const auto& [name, cell] : tokenizers) text += (text.empty() ? "" : "; ") + name + " " + cell.text();
  return text;
}

// The text between the two lines, and what stands around it.
struct Parts {
  std::string before, table, after;
};
Result<Parts> split(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::not_found, "cannot read %s", path.c_str());
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  const auto begin = text.find(kBegin), end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    return fail(ErrorCode::invalid_data, "%s lacks the lines between which the table stands: %s%s", path.c_str(),
                kBegin, kEnd);
  const size_t first = begin + std::string(kBegin).size();
  return Parts{text.substr(0, first), text.substr(first, end - first), text.substr(end)};
}

// Lines without what differs from driver to driver: "12/12, 3.1e-06 (0.4 %)" becomes "12/12, #".
std::vector<std::string> structure(const std::string& table) {
  std::vector<std::string> lines;
  std::istringstream in(table);
  for (std::string line; std::getline(in, line);) {
    for (size_t at = 0; (at = line.find(", ", at)) != std::string::npos; ++at) {
      const auto percent = line.find(" %)", at);
      const bool number = at + 2 < line.size() && line[at + 2] >= '0' && line[at + 2] <= '9';
      if (number && percent != std::string::npos) line.replace(at, percent + 3 - at, ", #");
    }
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

std::string case_group(const Json& c) {
  const std::string kind = c.value("kind", std::string("?"));
  if (kind.starts_with("asr") || kind == "detect_language") return "speech";
  if (kind != "generate") return kind;
  const Json args = c.value("args", Json::object());
  for (const auto& [key, value] : args.items())
    if (contains_word(kProcessors, key) && value != 0) return "processors";
  const Json effective = c.value("effective", args);
  return effective.value("num_beams", 1) > 1 ? "beam" : "greedy";
}

std::string models_table(const Json& cases) {
  std::map<std::string, Row> families;
  std::map<std::string, Cell> tokenizers;
  for (const auto& c : cases)
    if (c.contains("family")) add_case(families[c["family"].get<std::string>()], c);
  for (const auto& c : cases) {
    if (c.value("group", std::string()) != "tokenizer") continue;
    const std::string name = file_name(c.value("folder", std::string()));
    bool used = false;
    for (const TokenizerFolder& folder : kTokenizers)
      for (auto& [family, row] : families)
        if (name == folder.name && contains_word(folder.families, family)) {
          row.tokenizers[name].count(c);
          used = true;
        }
    if (!used) tokenizers[name].count(c);
  }
  const std::pair<const char*, const char*> columns[] = {
      {"states", "states"}, {"attention", "attention"},   {"logits", "logits"}, {"greedy", "greedy"},
      {"beam", "beam"},     {"processors", "processors"}, {"trace", "traces"},  {"speech", "speech"}};
  std::string text = "| family |", line = "|---|";
  for (const auto& [key, title] : columns) {
    text += std::string(" ") + title + " |";
    line += "---|";
  }
  text += " tokenizers | checkpoints |\n" + line + "---|---|\n";
  for (auto& [family, row] : families) {
    text += "| " + family + " |";
    for (const auto& [key, title] : columns) text += " " + row.cells[key].text() + " |";
    text += " " + list(row.tokenizers) + " | " + list(row.checkpoints) + " |\n";
  }
  if (!tokenizers.empty()) text += "\n| tokenizers of none of these families |\n|---|\n| " + list(tokenizers) + " |\n";
  return text;
}

Status write_table(const std::string& path, const std::string& table) {
  LAPILLI_TRY(const auto parts, split(path));
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << parts.before << table << parts.after;
  file.close();
  if (!file) return fail(ErrorCode::invalid_argument, "cannot write %s", path.c_str());
  return {};
}

Status check_table(const std::string& path, const std::string& table) {
  LAPILLI_TRY(const auto parts, split(path));
  const auto have = structure(parts.table), want = structure(table);
  for (size_t i = 0; i < std::max(have.size(), want.size()); ++i) {
    const std::string mine = i < have.size() ? have[i] : "(nothing)", run = i < want.size() ? want[i] : "(nothing)";
    if (mine != run)
      return fail(
          ErrorCode::invalid_data,
          "the table of %s is not what this run gives; write it anew with --write-table %s\n  file: %s\n  run:  "
          "%s",
          path.c_str(), path.c_str(), mine.c_str(), run.c_str());
  }
  return {};
}

}  // namespace lapilli::conformance
