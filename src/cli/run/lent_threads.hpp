// Threads that the program lends to the library: as many as there are processors, up to a limit.
#pragma once

#include "lapilli/lapilli.h"

namespace lapilli::cli {

lapilli_workers lent_threads();

}  // namespace lapilli::cli
