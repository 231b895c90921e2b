// Moved: #include "support/temp_directory.hpp".
#pragma once
#include "support/temp_directory.hpp"
