#include "cli/arguments/searches.hpp"

#include "cli/arguments/device_choice.hpp"
#include "cli/arguments/dtype.hpp"
#include "cli/arguments/model_names.hpp"
#include "cli/commands.hpp"
#include "tools/tools.hpp"

namespace lapilli::cli {

void add_searches(CLI::App& command, tools::SearchesRequest& r, SearchesArguments& more, const char* target_help) {
  auto* model = command.add_option("model", r.model, kModelHelp)->type_name("MODEL");
  command.add_option("--shape", more.shape, "A network of this shape with random weights, such as transformer-base")
      ->excludes(model);
  command.add_option("--batch", r.batches, "Sentences at once; several with commas")
      ->delimiter(',')
      ->allow_extra_args(false)  // a model may follow
      ->transform(whole_number(1, kMostSentences))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("-b,--beam", r.beams, "Beams; several with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->transform(whole_number(1, kMostBeams))
      ->capture_default_str()
      ->type_name("N");
  add_dtype(command, r.dtype);
  add_kv_dtype(command, r.kv_dtype);
  command.add_option("--source", r.source, "Ids per source")
      ->transform(whole_number(1, kMostIds))
      ->capture_default_str();
  command.add_option("--target", r.target, target_help)->transform(whole_number(1, kMostIds))->capture_default_str();
  add_device_choice(command, r.select);
  command.add_option("--caps", r.caps, "Pretend that the device can do less");
}

int find_searched(tools::SearchesRequest& request, const SearchesArguments& more) {
  if (more.shape.empty()) return find_model(request.model);
  request.model = "shape:" + more.shape;
  return exit_ok;
}

}  // namespace lapilli::cli
