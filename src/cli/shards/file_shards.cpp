#include "cli/shards/file_shards.hpp"

#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/output_names.hpp"
#include "cli/output.hpp"
#include "shards/model_hash.hpp"

namespace lapilli::cli {

int take_files(const shards::Shard& shard, const std::vector<std::string>& files, std::vector<bool>& taken,
               shards::Record& record) {
  uint64_t all = 0;
  shards::Hash hash;
  for (const std::string& name : files) {
    if (!file_exists(name))
      return complain(exit_usage, (name == "-" ? "standard input" : name) +
                                      " is no file; a shard is a part of files, which each machine can read");
    hash.add(std::string(last_part(name)) + '\0');
    hash.add(file_size(name));
    all += file_size(name);
  }
  const shards::ByteRange range = shards::range_of(shard, all);
  uint64_t first = 0;
  for (const std::string& name : files) {
    const uint64_t bytes = file_size(name);
    taken.push_back(range.holds(first));
    if (taken.back())
      record.inputs.push_back({std::string(last_part(name)), {0, bytes, 0, 1, shards::hash_of_samples(name)}});
    first += bytes;
  }
  record.inputs_hash = hash.text();
  return exit_ok;
}

}  // namespace lapilli::cli
