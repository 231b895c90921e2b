#include "cli/files/line_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/files/foreign_files.hpp"

namespace lapilli::cli {

namespace {
constexpr size_t kReadBytes = size_t{1} << 16;
constexpr const char* kByteOrderMark = "\xef\xbb\xbf";
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
  if (refusal_.empty()) refusal_ = file_.wrong();
  if (got == 0 && refusal_.empty() && partial_.bytes > 0) finish_line(false);  // a last line without a line end
}

void LineReader::take(const char* data, size_t size) {
  while (size > 0) {
    const char* newline = static_cast<const char*>(std::memchr(data, '\n', size));
    const size_t part = newline ? static_cast<size_t>(newline - data) : size;
    const size_t used = newline ? part + 1 : part;
    partial_.bytes += used;
    // Keep one byte beyond the limit, for the carriage return of a line that just fits.
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
  if (lines_ == 0) {
    const ForeignKind* foreign = foreign_file("", text, as_text_);
    if (foreign) refusal_ = refusal_of(*foreign);
  }
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
