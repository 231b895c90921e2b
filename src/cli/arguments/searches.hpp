// What bench and tune are told of the searches that they run.
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
  std::string shape;  // in place of a model; "": a model
};
// --shape, --batch, --beam, --dtype, --kv-dtype, --source, --target, --device, --caps and the model. Both outlive it.
void add_searches(CLI::App& command, tools::SearchesRequest& request, SearchesArguments& more, const char* target_help);
// Finds the model of the request: an exit code.
int find_searched(tools::SearchesRequest& request, const SearchesArguments& more);

}  // namespace lapilli::cli
