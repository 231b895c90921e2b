// vocab.json: one object that maps each token to its id.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// Immutable after loading; const members may be called from several threads.
class Vocabulary {
 public:
  // Errors name the file and the token: not an object, a value that is no id (wrong type, negative, above 2^31 - 1), a
  // duplicate token or id, ids so far apart that the table would be mostly empty.
  static Result<Vocabulary> load(const FileName& path);

  // Does the same for entries at hand; `where` stands for the path in messages.
  static Result<Vocabulary> make(std::vector<std::pair<std::string, int32_t>> entries, const std::string& where);
  // Ids count from 0. Of equal tokens the last counts, as in files with a token per line.
  static Vocabulary from_list(std::vector<std::string> tokens);

  Vocabulary(Vocabulary&&) = default;
  Vocabulary& operator=(Vocabulary&&) = default;
  // by_text_ points into tokens_: moving preserves that, copying would not.
  Vocabulary(const Vocabulary&) = delete;
  Vocabulary& operator=(const Vocabulary&) = delete;

  // -1 if the token is not in the vocabulary.
  [[nodiscard]] int32_t id(std::string_view token) const;
  // nullptr if no token has this id.
  [[nodiscard]] const std::string* token(int32_t id) const;
  // Largest id plus one.
  [[nodiscard]] uint64_t size() const { return tokens_.size(); }

 private:
  Vocabulary() = default;
  std::vector<std::string> tokens_;
  std::unordered_map<std::string_view, int32_t> by_text_;
};

}  // namespace lapilli
