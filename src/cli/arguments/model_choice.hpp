// The model of a translation by its languages, where none that serves them is named: the bundled one, else one that
// another program has installed.
#pragma once

#include <string>
#include <vector>

namespace lapilli::cli {

struct ModelChoice {
  std::string directory;  // "": the bundled model
  // A model whose results are the other one's texts, in the language `between`; "": none.
  std::string first, between;
  std::vector<std::string> told = {};  // the choice and what is left aside, for people; none: nothing was chosen
  [[nodiscard]] bool is_chain() const { return !first.empty(); }
};

// `directory`: of the model that is named, or "". One that serves the languages stays; so does any if nothing installed
// does.
ModelChoice choose_model(const std::string& directory, const std::string& from, const std::string& to);

// The languages of a translation as documents name them ("fr" for "fra_Latn"): those that were said, else the only ones
// that the model's files name. "": unknown.
struct RunLanguages {
  std::string from, to;
};
RunLanguages languages_of_run(const std::string& model, const std::string& from, const std::string& to);

}  // namespace lapilli::cli
