// What the library says on its own, on stderr.
#pragma once

#include <cstdint>

namespace lapilli::cli {

// From now on, up to `level` (LAPILLI_LOG_...). `remember`: that there is no GPU is said once a day, which a file in
// the program's cache folder tells; without such a folder, each time.
void show_library_messages(int32_t level, bool remember);

}  // namespace lapilli::cli
