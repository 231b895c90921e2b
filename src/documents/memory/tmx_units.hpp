// The units of a TMX file. Nothing is expanded, and tags of other programs in a text (bpt, ph, ...) are left out.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli::documents {

struct TmxVariant {
  std::string language, text;
};

struct TmxUnit {
  std::vector<TmxVariant> variants;
};

// Gives the source language of the header. `take` gets each unit.
Result<std::string> read_tmx(std::string_view bytes,
                             const std::function<void(const std::string& source, TmxUnit)>& take);

}  // namespace lapilli::documents
