// The files of another program as a directory of Transformers would have them: texts and weights that were made of
// them lie over those that are there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/doors/made_tensor.hpp"

namespace lapilli::doors {

struct MadeFiles {
  Files below;                                // all others
  std::map<std::string, std::string> texts;   // content by name ("config.json")
  std::map<std::string, std::string> others;  // files of `below` that go by another name; by that name
  // model.safetensors, if there are any. Its header is a text, its tensors are read or made when their turn comes.
  std::vector<MadeTensor> tensors;
};

// `directory` names them in messages. Fails for two tensors of one name and for sizes that no file has.
Result<Files> lay_over(MadeFiles made, const std::string& directory);

}  // namespace lapilli::doors
