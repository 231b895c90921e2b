// Loads a directory's tokenizer if it belongs to the model beside it.
#pragma once

#include <memory>

#include "base/result.hpp"
#include "model/network.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {

// A directory with files of two models gives fluent nonsense; it shows by ids without a row in the model's tables, or
// by most rows having no id. Published models differ a little for good reasons (rows are rounded up, a mask token has
// none), so small differences are allowed. Other errors are those of load_tokenizer.
Result<std::unique_ptr<Tokenizer>> load_fitting_tokenizer(const Files& files, const model::Config& config);

}  // namespace lapilli
