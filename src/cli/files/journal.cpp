#include "cli/files/journal.hpp"

#include <algorithm>
#include <bit>
#include <charconv>

namespace lapilli::cli {

namespace {

constexpr std::string_view kFirstLine = "lapilli journal 1", kComplete = "complete";
constexpr std::string_view kPlain = "\\\n\t\r", kEscaped = "\\ntr";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const size_t at = kPlain.find(c);
    if (at != std::string_view::npos) out += '\\';
    out += at == std::string_view::npos ? c : kEscaped[at];
  }
  return out;
}

std::optional<std::string> read_escaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return {};
    const size_t at = kEscaped.find(text[i]);
    if (at == std::string_view::npos) return {};
    out += kPlain[at];
  }
  return out;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Parses as many numbers between spaces as `numbers` has elements.
bool parse(std::string_view text, std::vector<uint64_t>& numbers) {
  const auto parts = split(text, ' ');
  if (parts.size() != numbers.size()) return false;
  for (size_t i = 0; i < parts.size(); ++i) {
    const char* end = parts[i].data() + parts[i].size();
    const auto [stop, error] = std::from_chars(parts[i].data(), end, numbers[i]);
    if (error != std::errc() || stop != end) return false;
  }
  return true;
}

bool parse_identity(std::string_view line, Journal& journal) {
  const auto parts = split(line, '\t');
  if (parts.size() != 3) return false;
  auto name = read_escaped(parts[1]), value = read_escaped(parts[2]);
  if (!name || !value) return false;
  journal.identity.emplace_back(std::move(*name), std::move(*value));
  return true;
}

bool parse_segment(std::string_view line, SavedSegment& segment) {
  const auto parts = split(line, '\t');
  if (parts.size() < 3) return false;
  segment.failed = parts[1] == "failed";
  auto text = read_escaped(parts[2]);
  if (!text || (!segment.failed && parts[1] != "ok")) return false;
  segment.text = std::move(*text);
  for (size_t i = 3; i < parts.size(); ++i) {
    std::vector<uint64_t> n(5);
    if (!parse(parts[i], n) || n[4] > ~uint32_t{0}) return false;
    segment.links.push_back({n[0], n[1], n[2], n[3], std::bit_cast<float>(static_cast<uint32_t>(n[4]))});
  }
  return true;
}

bool parse_point(std::string_view line, Point& point) {
  const size_t space = line.find(' ');
  std::vector<uint64_t> n(5);
  if (line.substr(0, space) != "done" || space == std::string_view::npos || !parse(line.substr(space + 1), n))
    return false;
  point = {n[0], n[1], n[2], n[3], n[4]};
  return true;
}

// Ignores segments that no point follows, and those of an input that is done.
bool parse_records(std::string_view text, Journal& journal) {
  std::vector<SavedSegment> segments;
  for (const std::string_view line : split(text, '\n')) {
    Point point;
    if (line == kComplete) {
      journal.complete = true;
    } else if (line.starts_with("segment\t")) {
      if (!parse_segment(line, segments.emplace_back())) return false;
    } else if (parse_point(line, point)) {
      if (point.source != journal.point.source) segments.clear();
      journal.point = point;
      journal.segments = segments;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

std::string difference(const Identity& a, const Identity& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] != b[i]) return a[i].first;
  }
  return a.size() == b.size() ? "" : a.size() > b.size() ? a[b.size()].first : b[a.size()].first;
}

std::string journal_head(const Identity& identity) {
  std::string out = std::string(kFirstLine) + "\n";
  for (const auto& [name, value] : identity) out += "of\t" + escaped(name) + "\t" + escaped(value) + "\n";
  return out;
}

std::string journal_record(const SavedSegment& segment) {
  std::string out = std::string("segment\t") + (segment.failed ? "failed\t" : "ok\t") + escaped(segment.text);
  for (const SavedSegment::Link& link : segment.links) {
    out += "\t" + std::to_string(link.source_begin) + " " + std::to_string(link.source_end) + " " +
           std::to_string(link.target_begin) + " " + std::to_string(link.target_end) + " " +
           std::to_string(std::bit_cast<uint32_t>(link.weight));
  }
  return out + "\n";
}

std::string journal_record(const Point& p) {
  return "done " + std::to_string(p.source) + " " + std::to_string(p.units) + " " + std::to_string(p.bytes) + " " +
         std::to_string(p.failed) + " " + std::to_string(p.lines_before) + "\n";
}

std::string journal_end() { return std::string(kComplete) + "\n"; }

std::optional<Journal> read_journal(std::string_view text) {
  const size_t whole = text.rfind('\n');
  if (whole == std::string_view::npos) return {};
  text = text.substr(0, whole);
  if (text.substr(0, text.find('\n')) != kFirstLine) return {};
  text.remove_prefix(std::min(kFirstLine.size() + 1, text.size()));
  Journal journal;
  while (text.starts_with("of\t")) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (!parse_identity(line, journal)) return {};
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  if (!text.empty() && !parse_records(text, journal)) return {};
  if (journal.segments.size() > journal.point.units) return {};
  return journal;
}

}  // namespace lapilli::cli
