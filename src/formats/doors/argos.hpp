// Packages of Argos Translate: a zip file, or the folder that it was unpacked to, with a model of CTranslate2.
#pragma once

#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli::doors {

struct ArgosPackage {
  std::string from, to;  // codes of its languages; "" for a package of several
  std::string version;   // "1.9"
  std::string program;   // version of Argos Translate that it was made for
  std::string type;      // "translate"
  std::string target_prefix;
};

// True for the first bytes of a file that may be one.
bool looks_like_zip(const std::string& start);
// The files of a package in a zip file, without the folder that they lie in. Errors name the file.
Result<Files> files_of_zip(const FileName& file);
// The package's metadata.json. Errors name it.
Result<ArgosPackage> read_argos_package(const Files& files);
// Compares versions part by part, by their numbers: 1.10 is newer than 1.9.
bool is_newer_version(const std::string& version, const std::string& than);

}  // namespace lapilli::doors
