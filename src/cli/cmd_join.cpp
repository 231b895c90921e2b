// lapilli join: one file of all shards in a folder.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/counts.hpp"
#include "base/path.hpp"
#include "cli/commands.hpp"
#include "cli/files/output_names.hpp"
#include "cli/files/target_file.hpp"
#include "cli/output.hpp"
#include "cli/run/vector_output.hpp"
#include "cli/system.hpp"
#include "shards/folder.hpp"

namespace lapilli::cli {

namespace {

struct JoinArguments {
  std::string folder, output;
  std::optional<uint64_t> max_rejected;
  bool force = false;
};

constexpr const char* kJoinFooter =
    R"(The shards are those that commands with --shard K/N -o OUT/ wrote. Each must be there once, with the rows that it
should have, made by one version with the same inputs, model and options; else nothing is written, and the shards to run
again are named. Rows that were rejected are lines of FILE.rejected.jsonl. The shards stay.

Examples:
  lapilli translate --shard 0/2 -o out/ corpus.txt
  lapilli translate --shard 1/2 -o out/ corpus.txt
  lapilli join out -o corpus.fr.txt

)";

class Join {
 public:
  Join(const JoinArguments& arguments, const Context& context) : arguments_(arguments), context_(context) {}

  int run() {
    if (const std::string wrong = shards::look_into(arguments_.folder, found_); !wrong.empty())
      return complain(exit_input, wrong);
    if (!found_.to_run.empty()) return refuse();
    if (arguments_.output.empty()) return tell();
    if (found_.records.front().output.empty())
      return complain(exit_usage, arguments_.folder +
                                      " holds an output for each input, and nothing to join; without -o the shards are "
                                      "checked");
    return join();
  }

 private:
  int refuse() const {
    for (const std::string& problem : found_.problems) complain(exit_ok, problem);
    const std::string again = shards::as_array(found_.to_run, 0), tasks = shards::as_array(found_.to_run, found_.first);
    return complain(exit_input, arguments_.folder + ": run again of " + grouped(found_.count) + " shards: " + again +
                                    (again == tasks ? "" : ", which are the tasks " + tasks));
  }

  // The rejected rows are written first, so that the file's name says that all is there.
  int join() {
    TargetFile target(arguments_.output), rejected(arguments_.output + shards::kRejectedEnding);
    if (const std::string obstacle = obstacle_to(target, rejected); !obstacle.empty())
      return complain(exit_usage, obstacle);
    catch_interrupts();
    int code = target.begin();
    if (code == exit_ok) code = write(target);
    if (code == exit_ok && interrupted() == 0) code = write_rejected(rejected);
    if (code == exit_ok && interrupted() == 0) code = target.finish();
    if (code == exit_ok && interrupted() == 0) return tell();
    for (TargetFile* one : {&target, &rejected}) {
      one->stop();
      remove_file(part_of(one->name()));  // a join begins anew
    }
    return interrupted() != 0 ? 128 + interrupted() : code;
  }

  [[nodiscard]] std::string obstacle_to(const TargetFile& target, const TargetFile& rejected) const {
    if (arguments_.output == "-")
      return "-o -: that a shard has changed is found at its end, so the output is a file, which has no name until "
             "then";
    const std::vector<std::string> parts = files_of_shards();
    std::string obstacle = missing_folder(arguments_.output);
    if (obstacle.empty()) obstacle = target.obstacle(arguments_.force, false, parts);
    return obstacle.empty() ? rejected.obstacle(arguments_.force, false, parts) : obstacle;
  }

  [[nodiscard]] std::vector<std::string> files_of_shards() const {
    std::vector<std::string> files;
    for (const shards::Record& record : found_.records) {
      const std::string stem = path_in(arguments_.folder, shards::stem_of(record.shard));
      files.push_back(path_in(arguments_.folder, record.output));
      for (const char* ending : {shards::kRecordEnding, shards::kRejectedEnding}) files.push_back(stem + ending);
    }
    return files;
  }

  int write(TargetFile& target) {
    const bool npy = !found_.records.empty() && found_.records[0].output.ends_with(".npy");
    if (npy)
      if (const int code = write_npy_head(target)) return code;
    for (const shards::Record& record : found_.records) {
      const int code = copy(record, npy ? kNpyHeaderBytes : 0, target);
      if (code != exit_ok || interrupted() != 0) return code;
    }
    return exit_ok;
  }

  // The header tells the rows of all; each row has the bytes that it has in a shard with rows.
  int write_npy_head(TargetFile& target) const {
    uint64_t rows = 0, row_bytes = 0;
    for (const shards::Record& record : found_.records) {
      rows += record.rows_out;
      if (record.rows_out == 0 || record.bytes < kNpyHeaderBytes) continue;
      row_bytes = (record.bytes - kNpyHeaderBytes) / record.rows_out;
    }
    return target.write(npy_header(rows, static_cast<uint32_t>(row_bytes / 4)));
  }

  // A shard that changed since it was finished is found at its end, before the file gets its name.
  int copy(const shards::Record& record, uint64_t skip, TargetFile& target) const {
    const std::string path = path_in(arguments_.folder, record.output);
    InputFile file = InputFile::open(path);
    if (!file.ok()) return complain(exit_input, path + ": " + std::strerror(errno));
    shards::Hash hash;
    std::string room(size_t{1} << 18, '\0');
    uint64_t at = 0;
    while (interrupted() == 0) {
      const long got = file.read(room.data(), room.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return complain(exit_input, path + ": " + std::strerror(errno));
      if (got == 0) break;
      const auto part = std::string_view(room).substr(0, static_cast<size_t>(got));
      hash.add(part);
      const uint64_t left_out = std::min<uint64_t>(part.size(), skip - std::min(skip, at));
      at += part.size();
      if (const int code = target.write(part.substr(static_cast<size_t>(left_out)))) return code;
    }
    if (interrupted() != 0 || hash.text() == record.output_hash) return exit_ok;
    return complain(exit_input, path + " changed since it was finished; run shard " +
                                    std::to_string(record.shard.number) + " again, with --force");
  }

  // An old one would be taken for that of the new file.
  int write_rejected(TargetFile& target) const {
    if (rejected() == 0) {
      remove_file(target.name());
      return exit_ok;
    }
    if (const int code = target.begin()) return code;
    for (const shards::Record& record : found_.records) {
      if (record.rejected == 0) continue;
      const std::string path = path_in(arguments_.folder, shards::stem_of(record.shard) + shards::kRejectedEnding);
      if (const int code = append(path, target)) return code;
    }
    return target.finish();
  }

  static int append(const std::string& path, TargetFile& target) {
    InputFile file = InputFile::open(path);
    std::string room(size_t{1} << 16, '\0');
    for (long got = 0; file.ok() && (got = file.read(room.data(), room.size())) > 0;)
      if (const int code = target.write(std::string_view(room).substr(0, static_cast<size_t>(got)))) return code;
    return file.ok() ? int{exit_ok} : complain(exit_input, path + ": " + std::strerror(errno));
  }

  [[nodiscard]] uint64_t rejected() const {
    uint64_t all = 0;
    for (const shards::Record& record : found_.records) all += record.rejected;
    return all;
  }

  int tell() const {
    uint64_t rows = 0;
    for (const shards::Record& record : found_.records) rows += record.rows_out;
    const bool failure = rejected() > arguments_.max_rejected.value_or(0);
    if (!context_.quiet || failure)
      complain(exit_ok, grouped(found_.count) + " shards, " + grouped(rows) + " rows" +
                            (rejected() > 0 ? ", of which " + grouped(rejected()) + " were rejected" : ""));
    return failure ? exit_some_failed : exit_ok;
  }

  const JoinArguments& arguments_;
  const Context& context_;
  shards::FolderOfShards found_;
};

}  // namespace

void add_join(CLI::App& app, Context& context) {
  auto a = std::make_shared<JoinArguments>();
  CLI::App* command = app.add_subcommand("join", "Join the shards of a run over many machines");
  command->add_option("folder", a->folder, "The folder that -o named for the shards")->required()->type_name("OUT");
  command
      ->add_option("-o,--output", a->output,
                   "Write to FILE, which gets its name when it is complete; without it the shards are only checked")
      ->type_name("FILE")
      ->check(not_empty());
  command
      ->add_option("--max-rejected", a->max_rejected,
                   "Up to N rows may have been rejected; without it, one gives exit code 1")
      ->type_name("N")
      ->transform(whole_number(0, uint64_t{1} << 53));
  command->add_flag("--force", a->force, "Overwrite an existing file");
  command->footer(kJoinFooter + std::string(kExitCodeHelp));
  command->callback([&context, a] { context.run = [a, &context] { return Join(*a, context).run(); }; });
}

}  // namespace lapilli::cli
