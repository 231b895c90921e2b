// Threads that the program lends to the library, as many as the machine has processors, but not many.
#pragma once

#include "lapilli/lapilli.h"

namespace lapilli::cli {

lapilli_workers lent_threads();

}  // namespace lapilli::cli
