// Sessions in README and in the pages of docs/ ("$ command" and its output, in a block) are what happens.
#include <cmath>
#include <cstdlib>
#include <regex>

#include "cli/program.hpp"

namespace lapilli::test {
namespace {

struct Session {
  std::string where, command, output;
};

// Blocks are indented by four or fenced; output goes up to the next command or the end of the block.
std::vector<Session> sessions_of(const fs::path& page) {
  std::ifstream file(page);
  std::vector<Session> sessions;
  bool fenced = false, open = false;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with("```")) {
      fenced = !fenced;
      open = false;
      continue;
    }
    const bool indented = line.starts_with("    ");
    if (!fenced && !indented && !line.empty()) open = false;
    const std::string text = fenced ? line : indented ? line.substr(4) : "";
    if ((fenced || indented) && text.starts_with("$ ")) {
      sessions.push_back({page.filename().string() + ":" + std::to_string(number), text.substr(2), ""});
      open = true;
    } else if (open) {
      sessions.back().output += text + "\n";
    }
  }
  return sessions;
}

// Where a page folds a line does not matter.
std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n' || c == '\t'; });
  return text;
}

// Blurs what differs between machines: versions, sizes and scores of devices.
std::string blurred(const std::string& text) { return std::regex_replace(text, std::regex("[0-9][0-9a-f.-]*"), "#"); }

// Equal, or with fractions that differ in the last digits, as sums do between devices.
bool same(const std::string& a, const std::string& b) {
  static const std::regex fraction("-?[0-9]+\\.[0-9]{3,}");
  if (std::regex_replace(a, fraction, "#") != std::regex_replace(b, fraction, "#")) return false;
  std::sregex_iterator x(a.begin(), a.end(), fraction), y(b.begin(), b.end(), fraction), end;
  for (; x != end && y != end; ++x, ++y)
    if (std::fabs(std::stod(x->str()) - std::stod(y->str())) > 1e-3) return false;
  return true;
}

void compare(const Session& shown, const std::string& printed) {
  std::string want = without_blanks(shown.output), got = without_blanks(printed);
  if (contains(want, "llvmpipe")) want = blurred(want), got = blurred(got);
  EXPECT_TRUE(same(want, got)) << shown.where << ": " << shown.command << "\n" << printed << "is not\n" << shown.output;
}

TEST(CliDeviceTranscripts, AreWhatHappens) {
  std::vector<fs::path> pages{LAPILLI_SOURCE_DIR "/README.md"};
  for (const auto& entry : fs::recursive_directory_iterator(LAPILLI_SOURCE_DIR "/docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  size_t count = 0;
  for (const fs::path& page : pages) {
    TemporaryFolder folder;
    folder.file("letter.txt", "Good morning.\n\xff\nThank you.\n");
    fs::copy(LAPILLI_TEST_DATA "/chat/tiny", folder.path() / "tiny", fs::copy_options::recursive);
    for (const Session& shown : sessions_of(page)) {
      Spawn spawn = lapilli({});
      spawn.arguments = {"/bin/sh",
                         "-c",
                         "cd \"$1\" && PATH=\"$2:$PATH\" && { " + shown.command + "; } 2>&1",
                         "sh",
                         folder.path().string(),
                         LAPILLI_BINARY_DIR};
      spawn.environment.push_back("LAPILLI_CACHE=" + folder.path().string());
      compare(shown, run(spawn).out);
      ++count;
    }
  }
  EXPECT_GE(count, 18u);
}

}  // namespace
}  // namespace lapilli::test
