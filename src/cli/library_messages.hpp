// Shows the library's own messages on stderr.
#pragma once

#include <cstdint>

namespace lapilli::cli {

// Shows messages up to `level` (LAPILLI_LOG_...) from now on. `remember`: a missing GPU is reported once a day, as
// recorded in the program's cache folder; without such a folder, each time.
void show_library_messages(int32_t level, bool remember);

}  // namespace lapilli::cli
