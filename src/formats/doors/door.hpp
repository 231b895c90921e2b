// The door: directories and files of other programs come in here, and look like a directory of Transformers from then
// on. Content decides from which program they are, not names. docs/inside/adding-a-door.md tells how one is added.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/doors/made_files.hpp"

namespace lapilli::doors {

// Facts about a model that came through the door, for people.
struct Origin {
  std::string program;              // "CTranslate2"
  std::string version;              // "binary version 6, TransformerSpec revision 7"
  std::string weights;              // the form of its weights: "Marian's .npz"; empty: as Checkpoint::format() says
  std::vector<std::string> unused;  // what its files have and the model does not use
};

// A reader's work: the fields and texts of a directory of Transformers, and tensors with the names of its family.
struct Opened {
  Origin origin;
  MadeFiles files;
  std::vector<std::string> own = {};  // files that it has read and that nothing reads behind the door
};

struct Entered {
  Files files;
  Origin origin;                  // without a program: the files are as they were
  std::vector<std::string> made;  // names of the texts that the reader made, and of files that have other names here
  std::vector<std::string> left_out;  // names of files that nothing reads any more
};

// True for the settings and tokenizers of Transformers, which may lie beside another program's weights.
bool is_read_beside(const std::string& name);

// Names the other files of the reader's directory as unused: neither its own, nor read beside another program's
// weights.
void name_unused(const Files& directory, Opened& opened);

// Files of Transformers, and those that no reader knows, are given back as they are. A model in a single file has that
// file's path for a directory. Errors name the file, and all reasons against it.
Result<Entered> enter(const Files& files);

// The first bytes of a file; fewer where it ends, none where there is no such file.
std::string first_bytes(const FileName& file, size_t count);

}  // namespace lapilli::doors
