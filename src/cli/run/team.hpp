// Devices that hold the same models and share the inputs of each call: their common queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

struct Member {
  Device device;
  std::optional<Model> first;  // of a chain: its results are the texts of `model`
  Model model;
  std::string name;
  bool lost = false;  // the others have its work
};

// The results of inputs that ran together.
struct Portion {
  std::vector<size_t> inputs;  // their numbers
  const Member* member = nullptr;
  Results results;  // in the order of `inputs`
};

class Team {
 public:
  using Report = std::function<bool(uint64_t done, uint64_t all)>;  // false cancels
  // Runs these inputs on a member.
  using Run = std::function<Result<Results>(const Member&, const std::vector<size_t>& inputs, const Report&)>;

  void set(std::vector<Member> members) { members_ = std::move(members); }
  [[nodiscard]] size_t size() const { return members_.size(); }
  [[nodiscard]] const Member& front() const { return members_.front(); }

  // Runs the inputs, of which `lengths` says how long they are. One member runs all of them at once, in their order.
  // Several take up to `rows` inputs of like length from the queue, the longest first; the inputs of a member that is
  // lost go back to it. An error if an input cannot be run, or the last member is lost. After an interruption inputs
  // are missing from the parts.
  Result<std::vector<Portion>> share(const std::vector<size_t>& lengths, size_t rows, const Run& run,
                                     const Report& report);

 private:
  std::vector<Member> members_;
};

}  // namespace lapilli::cli
