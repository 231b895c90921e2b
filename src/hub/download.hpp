// Downloads one file from a hub, whole and verified, or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "hub/repository.hpp"
#include "hub/requests.hpp"

namespace lapilli::hub {

// Receives the number of bytes of the file that are there.
using Progress = std::function<void(uint64_t bytes)>;

// The path of the partial file, from which a download continues. Its name contains the hash, so that no other content
// is ever continued.
std::string part_of(const HubFile& file, const std::string& path);

// Fetches `url` to `path`, which appears once its size and hash are right. A partial file that an earlier try, or
// another run of the program, left is continued. out_of_memory: the disk is full.
Status download(Requests& requests, const std::string& url, const HubFile& file, const std::string& path,
                const Progress& progress);

// Checks that an existing file has the stated size and hash.
Status verify(const HubFile& file, const std::string& path, const Stopped& stopped);

}  // namespace lapilli::hub
