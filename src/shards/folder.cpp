#include "shards/folder.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <set>

#include "base/path.hpp"

namespace lapilli::shards {

namespace {

std::string text_in(const std::string& path) {
  std::string text;
  if (file_size(path) > kMostRecordBytes) return text;
  std::FILE* stream = open_stream(path, "rb");
  if (!stream) return text;
  char part[1 << 16];
  while (const size_t got = std::fread(part, 1, sizeof part, stream)) text.append(part, got);
  std::fclose(stream);
  return text;
}

uint64_t lines_in(const std::string& path) {
  uint64_t lines = 0;
  std::FILE* stream = open_stream(path, "rb");
  if (!stream) return lines;
  char part[1 << 16];
  while (const size_t got = std::fread(part, 1, sizeof part, stream))
    lines += static_cast<uint64_t>(std::count(part, part + got, '\n'));
  std::fclose(stream);
  return lines;
}

std::string wrong_rejected(const std::string& folder, const Record& record) {
  const std::string name = stem_of(record.shard) + kRejectedEnding;
  if (record.rejected == 0) return "";
  if (!file_exists(folder + "/" + name)) return name + " is missing";
  const uint64_t lines = lines_in(folder + "/" + name);
  if (lines == record.rejected) return "";
  return name + " has " + std::to_string(lines) + " rows, and its record says " + std::to_string(record.rejected);
}

// A shard whose inputs have outputs of their own.
std::string wrong_files(const std::string& folder, const Record& record) {
  for (const std::string& file : record.files) {
    const bool leads_out = file.starts_with("../") || file.find("/../") != std::string::npos || file.ends_with("/..");
    if (file.starts_with('/') || leads_out || file == "..") return "\"" + file + "\" is no file of it";
    if (!file_exists(folder + "/" + file)) return file + " is missing";
  }
  const bool all = record.rows_out <= record.rows_in && record.rows_in - record.rows_out <= record.rejected;
  return all ? "" : "it has results for " + std::to_string(record.rows_out) + " of its inputs";
}

// A record's name of its output might lead anywhere.
std::string wrong_file(const std::string& folder, const Record& record) {
  const auto part = part_name(record.output);
  if (!part || part->shard.number != record.shard.number || record.output.find('/') != std::string::npos)
    return "\"" + record.output + "\" is no name of its output";
  const std::string path = folder + "/" + record.output;
  if (!file_exists(path)) return record.output + " is missing";
  if (file_size(path) != record.bytes)
    return record.output + " has " + std::to_string(file_size(path)) + " bytes, and its record says " +
           std::to_string(record.bytes);
  if (record.rows_in == record.rows_out) return "";
  return "it has " + std::to_string(record.rows_out) + " rows for " + std::to_string(record.rows_in) + " of input";
}

class Looker {
 public:
  Looker(const std::string& folder, FolderOfShards& found) : folder_(folder), found_(found) {}

  std::string look() {
    std::vector<FolderEntry> entries;
    if (!list_folder(folder_, entries)) return folder_ + " is no folder of shards";
    find_names(entries);
    if (std::string wrong = find_count(); !wrong.empty()) return wrong;
    for (uint32_t i = 0; i < found_.count; ++i) add(i);
    compare();
    check_lines();
    for (const uint32_t number : again_) found_.to_run.push_back(number);
    return "";
  }

 private:
  void find_names(const std::vector<FolderEntry>& entries) {
    for (const FolderEntry& entry : entries)
      if (const auto part = part_name(entry.name)) {
        counts_.insert(part->shard.count);
        if (part->ending == kRecordEnding) there_.insert(part->shard.number);
      }
  }

  std::string find_count() {
    const auto counting = counting_in(text_in(folder_ + "/" + kCountingFile));
    if (counting) counts_.insert(counting->count);
    if (counts_.empty()) return folder_ + " holds no shard";
    if (counts_.size() > 1)
      return folder_ + " holds shards of " + std::to_string(*counts_.begin()) + " and of " +
             std::to_string(*counts_.rbegin()) + "; move those of one run to a folder of their own";
    found_.count = *counts_.begin();
    found_.first = counting ? counting->first : 0;
    return "";
  }

  void run_again(uint32_t number, const std::string& why) {
    constexpr size_t kTold = 5;
    again_.insert(number);
    if (found_.problems.size() < kTold && !why.empty())
      found_.problems.push_back("shard " + std::to_string(number) + ": " + why);
  }

  void add(uint32_t number) {
    const Shard shard{number, found_.count};
    if (there_.count(number) == 0) return run_again(number, "it is not finished");
    auto record = record_in(text_in(folder_ + "/" + stem_of(shard) + kRecordEnding));
    if (!record || record->shard.number != number || record->shard.count != found_.count)
      return run_again(number, stem_of(shard) + kRecordEnding + " is no record of it");
    if (const std::string wrong = wrong_output(folder_, *record); !wrong.empty()) return run_again(number, wrong);
    found_.records.push_back(std::move(*record));
  }

  // Those that differ from most are to be run again; of equally many, those that came later.
  void compare() {
    std::map<size_t, size_t> alike;
    std::vector<size_t> kinds(found_.records.size());
    for (size_t i = 0; i < kinds.size(); ++i) {
      kinds[i] = i;
      for (const auto& [kind, times] : alike)
        if (other_run(found_.records[kind], found_.records[i]).empty()) kinds[i] = kind;
      ++alike[kinds[i]];
    }
    size_t most = 0;
    for (const auto& [kind, times] : alike)
      if (times > alike[most]) most = kind;
    for (size_t i = 0; i < kinds.size(); ++i)
      if (kinds[i] != most)
        run_again(found_.records[i].shard.number,
                  "it was made with another " + other_run(found_.records[most], found_.records[i]) + " than shard " +
                      std::to_string(found_.records[most].shard.number) + "; --force makes it anew");
  }

  // Where an input goes on in the next shard, its lines do as well. Shards between may be empty, as a long line is
  // one's.
  void check_lines() {
    const Record* before = nullptr;
    for (size_t i = 0; i < found_.records.size(); ++i) {
      const Record& now = found_.records[i];
      if (i > 0 && found_.records[i - 1].shard.number + 1 != now.shard.number) before = nullptr;
      if (now.inputs.empty()) continue;
      if (before) check_border(before->inputs.back(), now.inputs.front(), now.shard.number);
      before = &now;
    }
  }

  void check_border(const InputRecord& last, const InputRecord& next, uint32_t number) {
    if (last.name != next.name || next.piece.begin == 0) return;
    const bool meets =
        last.piece.end == next.piece.begin && last.piece.lines_before + last.piece.lines == next.piece.lines_before;
    if (!meets)
      run_again(number,
                "it does not begin where the one before ends; " + last.name + " changed; --force makes it anew");
  }

  const std::string& folder_;
  FolderOfShards& found_;
  std::set<uint32_t> counts_, there_, again_;
};

// Calls `add` with the first and last number of each run of them.
template <class Add>
void for_runs(const std::vector<uint32_t>& numbers, Add&& add) {
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    add(numbers[i], numbers[end - 1]);
    i = end;
  }
}

}  // namespace

std::string look_into(const std::string& folder, FolderOfShards& found) { return Looker(folder, found).look(); }

std::string wrong_output(const std::string& folder, const Record& record) {
  const std::string wrong = record.output.empty() ? wrong_files(folder, record) : wrong_file(folder, record);
  return wrong.empty() ? wrong_rejected(folder, record) : wrong;
}

std::string as_array(const std::vector<uint32_t>& numbers, uint32_t first) {
  std::string text;
  for_runs(numbers, [&](uint32_t begin, uint32_t end) {
    text += (text.empty() ? "" : ",") + std::to_string(begin + first);
    if (end > begin) text += "-" + std::to_string(end + first);
  });
  return text;
}

}  // namespace lapilli::shards
