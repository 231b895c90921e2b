// Beside a directory, --model and LAPILLI_MODEL may name a fetched model (fetched by this program, or by others for the
// hub) or the bundled one.
#pragma once

#include <string>
#include <vector>

namespace lapilli::cli {

// Replaces the name given to --model by a directory. "" means LAPILLI_MODEL or the bundled model; names that the
// library itself resolves stay. A directory stays, unless it holds a model in another program's format. Gives the exit
// code: not 0, with a message on stderr, if nothing has that name, or if it is no readable model.
int find_model(std::string& model);

// A task that the bundled model cannot do.
struct Ability {
  const char* lacking;  // of the bundled model: "takes no sound"
  const char* having;   // of a suitable one: "takes sound"
  const char* example;  // OWNER/NAME of a suitable one
};
// Like find_model, but requires a named model: without one, the message says how to get a suitable one.
int find_model_with(const Ability& ability, std::string& model);

// Known models that translate between these languages, those for few languages first. "": any language.
std::vector<std::string> models_for(const std::string& from, const std::string& to);

// The known model that an unknown name, or one without its owner, probably means; or "".
std::string known_model_meant(const std::string& typed);

// The directory of the model that is loaded where none is named; "": it is not known before.
std::string default_directory();

// The directory of a listed model that is bundled with the program; "" if it is none.
std::string bundled_directory(const std::string& name);

}  // namespace lapilli::cli
