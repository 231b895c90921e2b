#include "cli/shards/shard_run.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/counts.hpp"
#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/output_names.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"
#include "shards/folder.hpp"

namespace lapilli::cli {

std::string small_file(const std::string& path) {
  std::string text;
  return file_size(path) <= shards::kMostRecordBytes && read_whole(path, text) == 0 ? text : "";
}

int write_small_file(const std::string& path, const std::string& fresh, const std::string& text) {
  std::FILE* stream = open_stream(fresh, "wb");
  bool ok = stream && std::fwrite(text.data(), 1, text.size(), stream) == text.size() && flush_to_disk(stream);
  const int why = errno;
  if (stream) ok = std::fclose(stream) == 0 && ok;
  if (!ok) errno = why;
  if (ok && rename_file(fresh, path)) {
    sync_folder(path);
    return exit_ok;
  }
  return complain(exit_output, path + " cannot be written: " + std::strerror(errno));
}

void measure_output(const std::string& path, shards::Record& record) {
  InputFile file = InputFile::open(path);
  shards::Hash hash;
  std::string room(size_t{1} << 18, '\0');
  record.bytes = record.rows_out = 0;
  for (long got = 0; file.ok() && (got = file.read(room.data(), room.size())) > 0;) {
    const auto part = std::string_view(room).substr(0, static_cast<size_t>(got));
    record.bytes += part.size();
    record.rows_out += static_cast<uint64_t>(std::count(part.begin(), part.end(), '\n'));
    hash.add(part);
  }
  record.output_hash = hash.text();
}

std::string ShardRun::file(const std::string& ending) const {
  return path_in(folder_, shards::stem_of(chosen_.shard) + ending);
}

std::string ShardRun::below(const std::string& path) const {
  const std::string folder = path_in(folder_, "");
  return path.starts_with(folder) ? path.substr(folder.size()) : path;
}

int ShardRun::choose(const ShardArguments& arguments, const std::string& folder, bool force) {
  folder_ = folder;
  force_ = force;
  max_rejected_ = arguments.max_rejected;
  const auto counting = shards::counting_in(small_file(path_in(folder, shards::kCountingFile)));
  counted_ = counting.has_value();
  const std::string wrong = shards::choose_shard(
      arguments.choice, [](const char* name) { return environment(name); }, counting.value_or(shards::Counting()),
      chosen_);
  return wrong.empty() ? int{exit_ok} : complain(exit_usage, wrong);
}

// Many tasks may begin at once, and write the same.
int ShardRun::count_shards() {
  const shards::Counting counting{chosen_.shard.count, chosen_.first};
  if (counted_) return exit_ok;
  return write_small_file(path_in(folder_, shards::kCountingFile), file(".new"), json_of(counting));
}

int ShardRun::begin(const shards::Record& planned, bool quiet, bool& done) {
  done = false;
  if (!make_directories(folder_)) return complain(exit_output, folder_ + ": " + std::strerror(errno));
  std::string why;
  auto lock = shards::Lock::take(file(shards::kLockEnding), why);
  if (!lock)
    return complain(shards::has_no_locks(errno) ? exit_usage : exit_output,
                    "shard " + shards::text_of(shard()) + ": " + why);
  lock_.emplace(std::move(*lock));
  if (const int code = count_shards()) return code;
  const std::string text = small_file(file(shards::kRecordEnding));
  if (text.empty()) return exit_ok;
  const auto found = shards::record_in(text);
  if (found && !force_) return skip(*found, planned, quiet, done);
  if (!found && !force_)
    return complain(exit_usage, file(shards::kRecordEnding) + " is no record of a shard; --force makes the shard anew");
  remove_file(file(shards::kRecordEnding));
  return exit_ok;
}

// The output of a finished shard may be gone, or one that join refuses: the shard is made anew then.
int ShardRun::skip(const shards::Record& found, const shards::Record& planned, bool quiet, bool& done) {
  if (const std::string other = other_run(found, planned); !other.empty()) {
    lock_->remove();
    return complain(exit_usage, "shard " + shards::text_of(shard()) + " was made with another " + other +
                                    "; name another folder, or --force makes it anew");
  }
  if (const std::string wrong = shards::wrong_output(folder_, found); !wrong.empty()) {
    if (!quiet) complain(exit_ok, "shard " + shards::text_of(shard()) + " is made anew: " + wrong);
    remove_file(file(shards::kRecordEnding));
    if (!planned.output.empty()) remove_file(journal_of(path_in(folder_, planned.output)));
    anew_ = true;
    return exit_ok;
  }
  done = true;
  forget_journals(found);
  lock_->remove();
  if (!quiet) complain(exit_ok, "shard " + shards::text_of(shard()) + " is finished already");
  return found.rejected > max_rejected_.value_or(0) ? exit_some_failed : exit_ok;
}

// Its run may have been killed behind the record.
void ShardRun::forget_journals(const shards::Record& found) const {
  if (!found.output.empty()) remove_file(journal_of(path_in(folder_, found.output)));
  for (const std::string& file : found.files) remove_file(journal_of(path_in(folder_, file)));
}

// The name of the first difference; "": the record is of the same run, with the same inputs.
std::string ShardRun::other_run(const shards::Record& found, const shards::Record& planned) {
  shards::Record own = planned;
  if (own.model_hash.empty()) own.model_hash = found.model_hash;
  if (std::string other = shards::other_run(found, own); !other.empty()) return other;
  const std::string input = shards::other_input(found, own);
  return input.empty() ? "" : "content of " + input;
}

// The lock says that nobody else is at work on its files.
std::string ShardRun::obstacle(const TargetFile& target, const std::vector<std::string>& inputs) const {
  const bool own = anew_ || shards::part_name(last_part(target.name())).has_value();
  if (!own || file_exists(journal_of(target.name()))) return target.obstacle(force_, true, inputs);
  return target.obstacle(true, true, inputs);
}

int ShardRun::begin_rows(uint64_t kept) {
  if (const int code = rejected_.begin(file(shards::kRejectedEnding), kept, max_rejected_)) return code;
  return rejected_.are_too_many() ? stop_at_rejected() : int{exit_ok};
}

int ShardRun::begin_files() {
  if (force_ || anew_) return begin_rows(0);
  if (const int code = rejected_.begin_again(file(shards::kRejectedEnding), max_rejected_)) return code;
  return rejected_.are_too_many() ? stop_at_rejected() : int{exit_ok};
}

int ShardRun::stop_at_rejected() const {
  return complain(exit_some_failed, "shard " + shards::text_of(shard()) + ": " + grouped(rejected_.count()) +
                                        " rows were rejected, which are more than --max-rejected allows; " +
                                        file(shards::kRejectedEnding) +
                                        " says why. The same command goes on once it allows more");
}

int ShardRun::finish(shards::Record record) {
  if (const int code = rejected_.finish()) return code;
  record.shard = shard();
  record.rejected = rejected_.count();
  record.host = shards::host_name();
  record.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return write_small_file(file(shards::kRecordEnding), file(".new"), json_of(record));
}

void ShardRun::leave() {
  if (lock_) lock_->remove();
}

}  // namespace lapilli::cli
