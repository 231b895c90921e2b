#include "cli/files/line_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lapilli::cli {

namespace {
constexpr size_t kReadBytes = size_t{1} << 16;
constexpr const char* kByteOrderMark = "\xef\xbb\xbf";

// What begins with `head` and is no text in UTF-8: what it is, and what to do; "" if nothing is known against it.
std::string_view not_utf8(std::string_view head) {
  struct Kind {
    std::string_view head, what;
  };
  constexpr std::string_view kUtf16 = "it is text in UTF-16; convert it to UTF-8 first (for example with iconv)";
  constexpr Kind kinds[] = {
      {"\xff\xfe", kUtf16},
      {"\xfe\xff", kUtf16},
      {"\x1f\x8b", "it is packed by gzip; unpack it first (gunzip)"},
      {"PK\x03\x04", "it is a ZIP archive, as .docx, .odt and .epub files are; save it as plain text first"},
      {"\xd0\xcf\x11\xe0", "it is a document of an office program (.doc); save it as plain text first"},
      {"%PDF-", "it is a PDF file; extract its text first (for example with pdftotext)"},
  };
  for (const Kind& kind : kinds) {
    if (head.starts_with(kind.head)) return kind.what;
  }
  return "";
}
}  // namespace

std::vector<Line> LineReader::read(size_t limit) {
  while (!end_ && !interrupted() && ready_.size() < limit) {
    if (!ready_.empty() && !file_.ready()) break;  // the next read may wait
    fill();
  }
  std::vector<Line> lines;
  if (interrupted()) return lines;
  while (!ready_.empty() && lines.size() < limit) {
    lines.push_back(std::move(ready_.front()));
    ready_.pop_front();
  }
  return lines;
}

void LineReader::fill() {
  buffer_.resize(kReadBytes);
  const long got = file_.read(buffer_.data(), buffer_.size());
  if (got < 0 && errno == EINTR && !interrupted()) return;
  if (got > 0) {
    take(buffer_.data(), static_cast<size_t>(got));
    return;
  }
  if (got < 0) error_ = interrupted() ? 0 : errno;
  end_ = true;
  if (got == 0 && partial_.bytes > 0) finish_line(false);  // a last line without line end
}

void LineReader::take(const char* data, size_t size) {
  while (size > 0) {
    const char* newline = static_cast<const char*>(std::memchr(data, '\n', size));
    const size_t part = newline ? static_cast<size_t>(newline - data) : size;
    const size_t used = newline ? part + 1 : part;
    partial_.bytes += used;
    // One byte more than allowed is kept, for the carriage return of a line that is just short enough.
    const size_t room = longest_ + 1 - partial_.text.size();
    partial_.text.append(data, std::min(part, room));
    if (part > room) partial_.too_long = true;
    if (newline) finish_line(true);
    data += used;
    size -= used;
  }
}

void LineReader::finish_line(bool newline) {
  std::string& text = partial_.text;
  if (lines_ == 0) refusal_ = not_utf8(text);
  end_ = end_ || !refusal_.empty();
  if (!refusal_.empty()) return;
  partial_.end = newline ? "\n" : "";
  if (!partial_.too_long && !text.empty() && text.back() == '\r') {
    text.pop_back();
    partial_.end = newline ? "\r\n" : "\r";
  }
  partial_.marked = lines_ == 0 && text.compare(0, 3, kByteOrderMark) == 0;
  if (partial_.marked) text.erase(0, 3);
  if (text.size() > longest_) partial_.too_long = true;
  if (partial_.too_long) text.clear();
  partial_.number = ++lines_;
  ready_.push_back(std::move(partial_));
  partial_ = {};
}

}  // namespace lapilli::cli
