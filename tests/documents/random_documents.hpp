// Documents and translations by chance, the same for the same seed.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "documents/document.hpp"

namespace lapilli::documents {

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}
  size_t below(size_t n) { return n == 0 ? 0 : engine_() % n; }
  bool one_in(size_t n) { return below(n) == 0; }
  const std::string& of(const std::vector<std::string>& all) { return all[below(all.size())]; }

 private:
  std::mt19937 engine_;
};

std::string random_document(Kind kind, Chance& chance);

// Other words in another number, with links of any kind, also wrong ones. Signs are among them that mean something in
// one kind of document or another; `plain`: none that may be taken for a bullet. Kept words are there, or not.
Translation random_translation(const Segment& segment, bool plain, Chance& chance);

// A few bytes changed, moved, left out.
std::string damaged(std::string document, Chance& chance);

}  // namespace lapilli::documents
