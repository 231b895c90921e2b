#include "cli/text_sources.hpp"

#include <algorithm>
#include <cstring>

#include "cli/exit_codes.hpp"
#include "cli/mistyped_names.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

int find_sources(const TextArguments& arguments, std::vector<Source>& sources) {
  for (const std::string& input : arguments.inputs) {
    if (input == "-" && !arguments.force_text) {
      sources.push_back({"-", ""});
    } else if (arguments.force_file || (!arguments.force_text && is_readable_file(input))) {
      if (const int error = check_input(input)) return complain(exit_input, input + ": " + std::strerror(error));
      sources.push_back({input, ""});
    } else {
      const std::string wrong = arguments.force_text ? "" : why_no_text(input);
      if (!wrong.empty()) return complain(exit_usage, wrong);
      sources.push_back({"", input});
    }
  }
  if (sources.empty()) sources.push_back({"-", ""});
  return exit_ok;
}

std::vector<Line> lines_of_argument(const std::string& text, bool by_lines) {
  std::vector<Line> lines(1);
  size_t start = 0;
  do {
    Line& line = lines.back();
    const size_t end = by_lines ? std::min(text.find('\n', start), text.size()) : text.size();
    line.text = text.substr(start, end - start);
    if (by_lines && !line.text.empty() && line.text.back() == '\r') line.text.pop_back();
    line.number = lines.size();
    line.too_long = line.text.size() > kMaxLineBytes;
    start = end + 1;
    if (start < text.size()) lines.emplace_back();
  } while (start < text.size());
  return lines;
}

Line whole_text(LineReader& reader) {
  Line text;
  text.number = 1;
  while (true) {
    const std::vector<Line> lines = reader.read(256);
    if (lines.empty()) return text;
    for (const Line& line : lines) {
      text.bytes += line.bytes;
      text.too_long = text.too_long || line.too_long || text.text.size() + line.text.size() >= kMaxLineBytes;
      if (text.too_long) continue;
      if (line.number > 1) text.text += '\n';
      text.text += line.text;
    }
  }
}

}  // namespace lapilli::cli
