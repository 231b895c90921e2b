// One file from a hub, whole and checked, or not at all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.hpp"
#include "hub/repository.hpp"
#include "hub/requests.hpp"

namespace lapilli::hub {

// Bytes that are there by now, of the file.
using Progress = std::function<void(uint64_t bytes)>;

// What is there of the file already, and where: it goes on from there. The hash is in its name, so that nothing else is
// ever continued.
std::string part_of(const HubFile& file, const std::string& path);

// Fetches `url` to `path`, which appears when its size and hash are right. A part that was left by an earlier try, or
// by another run of the program, is continued. out_of_memory: the disk's.
Status download(Requests& requests, const std::string& url, const HubFile& file, const std::string& path,
                const Progress& progress);

// Whether a file that is there has the size and hash that are stated.
Status verify(const HubFile& file, const std::string& path, const Stopped& stopped);

}  // namespace lapilli::hub
