// --model and LAPILLI_MODEL may name this beside a directory: a model that was fetched, by this program or by others
// for the hub, or the bundled one.
#pragma once

#include <string>
#include <vector>

namespace lapilli::cli {

// Makes a directory of what --model names; "" is what LAPILLI_MODEL names or the bundled model, and what it would be
// found as by the library stays. A directory stays what it is, but one that holds a model in the format of another
// program. The exit code: not 0 if nothing has that name, or something that is no model of ours, which is said on
// stderr.
int find_model(std::string& model);

// A command's work that the bundled model cannot do.
struct Ability {
  const char* lacking;  // of the bundled model: "hears nothing"
  const char* having;   // of one that serves: "hears"
  const char* example;  // OWNER/NAME of one that serves
};
// As find_model, where no model is named, the bundled one does not serve: that is said, and what gets one that does.
int find_model_with(const Ability& ability, std::string& model);

// Known models that translate from one language to another, those for few languages first. "": any language.
std::vector<std::string> models_for(const std::string& from, const std::string& to);

// The known model that may have been meant by a name that is none, or lacks its owner; or "".
std::string known_model_meant(const std::string& typed);

// A model in the list that comes along with the program; "" if it is none.
std::string bundled_directory(const std::string& name);

}  // namespace lapilli::cli
