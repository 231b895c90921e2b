// The lines that are searched: their places and fingerprints. Their texts stay in their files, as far as these can be
// read twice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/files/record_format.hpp"
#include "cli/files/text_sources.hpp"
#include "vectors/file_part.hpp"
#include "vectors/fingerprint.hpp"

namespace lapilli::cli {

class SearchedLines {
 public:
  explicit SearchedLines(const TextArguments& arguments) : arguments_(arguments) {}

  // Reads all lines; blank ones, and records without text, are not searched. Lines that cannot be are reported. Gives
  // the exit code.
  int read(const std::vector<Source>& sources);

  [[nodiscard]] size_t size() const { return lines_.size(); }
  [[nodiscard]] const std::vector<vectors::Fingerprint>& fingerprints() const { return fingerprints_; }
  [[nodiscard]] uint64_t bytes(size_t line) const { return lines_[line].bytes; }
  // Nothing if the file has changed since, or cannot be read any more.
  [[nodiscard]] std::optional<std::string> text(size_t line);
  [[nodiscard]] const std::string& file(size_t line) const { return sources_[lines_[line].source].name; }
  [[nodiscard]] uint64_t number(size_t line) const { return lines_[line].number; }
  // "notes.txt:12"
  [[nodiscard]] std::string where(size_t line) const { return file(line) + ":" + std::to_string(number(line)); }
  // All sources are files that can be read again.
  [[nodiscard]] bool are_files() const;
  [[nodiscard]] uint64_t failed() const { return failed_; }
  // A note on standard input that looks like records (unread_records.hpp); "" if it does not.
  [[nodiscard]] const std::string& unread() const { return unread_; }
  // The files with their sizes and times, a line for each.
  [[nodiscard]] std::string inputs() const;

 private:
  struct Place {
    uint64_t offset = 0;  // in the file, or among the kept texts
    uint64_t number = 0;
    uint32_t bytes = 0, source = 0;
  };
  struct Searched {
    std::string name;
    bool kept = false;  // its texts are
    std::unique_ptr<RecordFormat> format;
  };
  int read_source(const Source& source);
  void note_unread(const std::vector<Line>& lines);
  // Gives the reason why the file has no texts, or "".
  std::string add_all(const std::vector<Line>& lines, uint64_t& offset);
  void add(const Line& line, const RecordFormat::Text& record, uint64_t offset);
  void add_text(const Line& line, const std::string& text, uint64_t offset);
  void refuse(const Line& line, const std::string& why);
  std::optional<std::string> text_of(const Searched& source, const std::string& line, uint64_t number) const;

  const TextArguments& arguments_;
  std::vector<Searched> sources_;
  std::vector<Place> lines_;
  std::vector<vectors::Fingerprint> fingerprints_;
  std::vector<std::string> kept_;
  vectors::FileParts parts_;
  std::string unread_;
  uint64_t failed_ = 0;
};

}  // namespace lapilli::cli
