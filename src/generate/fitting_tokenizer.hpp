// A directory's tokenizer, if it belongs to the model that lies beside it.
#pragma once

#include <memory>
#include <string>

#include "base/result.hpp"
#include "model/network.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// Files of another model that were copied together give fluent nonsense; what shows it is that ids have no row in the
// model's tables, or that most rows have no id. Published models differ a little for good reasons (rows are rounded up,
// a mask token has none), so small differences are none. Further errors: those of load_tokenizer.
Result<std::unique_ptr<Tokenizer>> load_fitting_tokenizer(const Files& files, const model::Config& config);

}  // namespace lapilli
