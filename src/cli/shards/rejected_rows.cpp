#include "cli/shards/rejected_rows.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"

namespace lapilli::cli {

CountedLines count_lines(const std::string& path, uint64_t most) {
  CountedLines counted;
  std::FILE* stream = open_stream(path, "rb");
  if (!stream) return counted;
  uint64_t at = 0;
  for (int c = std::fgetc(stream); c != EOF && counted.lines < most; c = std::fgetc(stream)) {
    ++at;
    if (c != '\n') continue;
    ++counted.lines;
    counted.end = at;
  }
  std::fclose(stream);
  return counted;
}

int stop_shard(lapilli_status status) {
  return complain(exit_code(status),
                  "the shard stops, as that is not the row's fault and may pass; the same command goes on there");
}

int RejectedRows::begin(const std::string& path, uint64_t kept, std::optional<uint64_t> most) {
  path_ = path;
  most_ = most;
  const CountedLines there = count_lines(path, kept);
  count_ = kept;
  if (file_exists(path) && !resize_file(path, there.end)) return fail();
  return exit_ok;
}

int RejectedRows::begin_again(const std::string& path, std::optional<uint64_t> most) {
  const CountedLines whole = count_lines(path, ~uint64_t{0});
  if (const int code = begin(path, whole.lines, most)) return code;
  std::unique_ptr<std::FILE, Close> rows(open_stream(path, "rb"));
  std::string line;
  for (int c = rows ? std::fgetc(rows.get()) : EOF; c != EOF; c = std::fgetc(rows.get())) {
    line += static_cast<char>(c);
    if (c == '\n') known_.insert(std::exchange(line, {}));
  }
  return exit_ok;
}

int RejectedRows::fail() const { return complain(exit_output, path_ + " cannot be written: " + std::strerror(errno)); }

int RejectedRows::add(const RejectedRow& row) {
  const std::string line = "{\"file\":" + json_string(row.file) + ",\"row\":" + std::to_string(row.row) +
                           ",\"reason\":" + json_string(row.reason) + "}\n";
  if (known_.count(line) != 0) return exit_ok;
  if (!file_) file_.reset(open_stream(path_, "ab"));
  if (!file_) return fail();
  ++count_;
  pending_ = true;
  return std::fwrite(line.data(), 1, line.size(), file_.get()) == line.size() ? int{exit_ok} : fail();
}

int RejectedRows::flush() {
  if (!pending_) return exit_ok;
  pending_ = false;
  return flush_to_disk(file_.get()) ? int{exit_ok} : fail();
}

int RejectedRows::finish() {
  if (const int code = flush()) return code;
  file_.reset();
  if (count_ == 0) remove_file(path_);
  return exit_ok;
}

}  // namespace lapilli::cli
