// The models of the server as their files describe them, before they are loaded.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lapilli::server {

struct ModelFacts {
  std::string name;       // as requests call it
  std::string directory;  // or OWNER/NAME of a fetched model
  std::string family;
  std::string input;                          // "text", "sound" or "picture"
  std::vector<std::string> tasks;             // "translate", "transcribe", "embed", ..., as `lapilli inspect` says them
  std::vector<std::string> sources, targets;  // languages; empty: the files name none
  uint32_t dimensions = 0;                    // of vectors
  uint64_t weight_bytes = 0;                  // of device memory
  uint32_t sampling_rate = 16000;             // samples a second of the recordings that it reads
  int64_t created = 0;                        // seconds since 1970 when the server found it

  [[nodiscard]] bool does(std::string_view task) const;
};

// Reads the facts of a model, or says in `error` why it cannot run. Without a name it has that of its folder.
ModelFacts read_facts(const std::string& name, const std::string& directory, std::string& error);

// True if the model translates between these languages, in any of their usual codes; "" and "auto" fit all.
bool translates(const ModelFacts& model, const std::string& from, const std::string& to);

}  // namespace lapilli::server
