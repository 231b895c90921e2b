// The lock of a shard, which says who holds it.
#pragma once

#include <optional>
#include <string>

#include "base/file_lock.hpp"

namespace lapilli::shards {

// "process 4711 on node7"
std::string this_process();
std::string host_name();

// True for the error of a file system on which nothing can be locked.
bool has_no_locks(int error);

class Lock {
 public:
  // Nothing: `why` says who holds it, or why it cannot be taken. `errno` is EWOULDBLOCK in the first case.
  static std::optional<Lock> take(const std::string& path, std::string& why);
  // Removes the file, once nobody needs the lock any more: the shard is complete, and says so.
  void remove();

 private:
  Lock(FileLock held, std::string path) : held_(std::move(held)), path_(std::move(path)) {}
  FileLock held_;
  std::string path_;
};

}  // namespace lapilli::shards
