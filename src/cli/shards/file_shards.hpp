// Shards of files that are rows by themselves: recordings, pictures.
#pragma once

#include <string>
#include <vector>

#include "shards/record.hpp"

namespace lapilli::cli {

// Finds the files of a shard by their order and sizes; tells the record of them. Gives the exit code.
int take_files(const shards::Shard& shard, const std::vector<std::string>& files, std::vector<bool>& taken,
               shards::Record& record);

// The elements of `all` that are taken.
template <class T>
std::vector<T> taken_of(std::vector<T> all, const std::vector<bool>& taken) {
  std::vector<T> kept;
  for (size_t i = 0; i < all.size(); ++i)
    if (taken[i]) kept.push_back(std::move(all[i]));
  return kept;
}

}  // namespace lapilli::cli
