// The arguments that bench and tune share.
#pragma once

#include <string>

namespace CLI {
class App;
}
namespace lapilli::tools {
struct SearchesRequest;
}

namespace lapilli::cli {

struct SearchesArguments {
  std::string shape;  // instead of a model; "": a model
};
// Adds --shape, --batch, --beam, --dtype, --kv-dtype, --source, --target, --device, --caps and the model. `request` and
// `more` must outlive the command.
void add_searches(CLI::App& command, tools::SearchesRequest& request, SearchesArguments& more, const char* target_help);
// Finds the requested model; gives an exit code.
int find_searched(tools::SearchesRequest& request, const SearchesArguments& more);

}  // namespace lapilli::cli
