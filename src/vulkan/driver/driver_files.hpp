// The files by which the Vulkan loader finds drivers, for messages.
#pragma once

#include <string>
#include <vector>

namespace lapilli::vulkan {

// Those that the loader of this system reads, by its variables or in its folders. None on Windows and Android, whose
// loaders look elsewhere.
std::vector<std::string> driver_files();

// "drivers' files (ICD): A, B", or that there is none and where it was looked for.
std::string driver_files_text();

}  // namespace lapilli::vulkan
