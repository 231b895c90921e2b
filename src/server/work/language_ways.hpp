// From a language to another: over one model, or over two with a language between them.
#pragma once

#include <string>
#include <vector>

#include "server/work/model_facts.hpp"

namespace lapilli::server {

struct LanguageStep {
  std::string model;     // its name
  std::string from, to;  // as options of the library take them; "": the model has no choice
};

struct LanguageWay {
  std::vector<LanguageStep> steps;  // none: there is no way, or none is needed
  std::string between;
  bool same = false;  // both languages are one
};

// The first model that names both languages; else two models over English; else a model whose files name none.
LanguageWay find_way(const std::vector<ModelFacts>& models, const std::string& from, const std::string& to);

}  // namespace lapilli::server
