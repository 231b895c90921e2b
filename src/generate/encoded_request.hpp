// Requests for sources that were encoded before.
#pragma once

#include "generate/generate.hpp"
#include "search/encoded_source.hpp"

namespace lapilli {

// Sources that are encoded already are the request's, where it left them empty. The error names one of another model, or
// one whose ids are others.
Status take_encoded(const Model& model, GenerateRequest& request);

}  // namespace lapilli
