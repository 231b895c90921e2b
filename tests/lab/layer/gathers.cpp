#include "gathers.hpp"

#include <map>
#include <vector>

namespace lapilli::lab {
namespace {

// Numbers of the SPIR-V specification.
enum Op : uint32_t {
  kExtInst = 12,
  kFunction = 54,
  kFunctionParameter = 55,
  kFunctionCall = 57,
  kVariable = 59,
  kLoad = 61,
  kStore = 62,
  kAccessChain = 65,
  kInBoundsAccessChain = 66,
  kDecorate = 71,
  kVectorShuffle = 79,
  kCompositeConstruct = 80,
  kCompositeExtract = 81,
  kCompositeInsert = 82,
  kFirstConversion = 109,
  kLastBitOperation = 205,
  kPhi = 245,
  kReturnValue = 254,
  kFirstGroupOperation = 333,
  kLastGroupOperation = 366
};
constexpr uint32_t kBinding = 33, kUniform = 2, kStorageBuffer = 12;

struct Instruction {
  uint32_t op;
  const uint32_t* words;  // behind the one with the opcode
  uint32_t count;
};

// Follows what was read from buffers through values, variables and calls, until nothing new is found.
class Tracer {
 public:
  Tracer(const uint32_t* words, size_t count) {
    for (size_t at = 5; at < count && words[at] >> 16 != 0 && at + (words[at] >> 16) <= count; at += words[at] >> 16)
      all_.push_back({words[at] & 0xffff, words + at + 1, (words[at] >> 16) - 1});
  }
  std::set<uint32_t> gathered() {
    for (size_t found = ~size_t{0}; found != read_.size() + gathered_.size();) {
      found = read_.size() + gathered_.size();
      for (const Instruction& i : all_) visit(i);
    }
    return gathered_;
  }

 private:
  void visit(const Instruction& i) {
    const uint32_t* w = i.words;
    switch (i.op) {
      case kDecorate:
        if (i.count == 3 && w[1] == kBinding) bindings_[w[0]] = w[2];
        break;
      case kVariable:
        if (w[2] == kStorageBuffer || w[2] == kUniform) buffers_.insert(w[1]);
        break;
      case kFunction:
        function_ = w[1];
        parameters_[function_].clear();
        break;
      case kFunctionParameter: parameters_[function_].push_back(w[1]); break;
      case kFunctionCall: call(i); break;
      case kAccessChain:
      case kInBoundsAccessChain: chain(i); break;
      case kLoad: note(w[1], buffers_.contains(root(w[2])) || read_.contains(root(w[2]))); break;
      case kStore: note(root(w[0]), read_.contains(w[1])); break;
      case kReturnValue: note(function_, read_.contains(w[0])); break;
      case kVectorShuffle:
      case kCompositeInsert: note(w[1], any(i, 2, 4)); break;
      case kCompositeExtract: note(w[1], any(i, 2, 3)); break;
      case kExtInst: note(w[1], any(i, 4, i.count)); break;
      default:
        if (i.op == kCompositeConstruct || i.op == kPhi || (i.op >= kFirstConversion && i.op <= kLastBitOperation) ||
            (i.op >= kFirstGroupOperation && i.op <= kLastGroupOperation))
          note(w[1], any(i, 2, i.count));
    }
  }
  // Values that go in by pointers may come out by them.
  void call(const Instruction& i) {
    const auto& parameters = parameters_[i.words[2]];
    note(i.words[1], read_.contains(i.words[2]));
    for (uint32_t a = 0; a < parameters.size() && a + 3 < i.count; ++a) {
      note(parameters[a], read_.contains(root(i.words[a + 3])));
      note(root(i.words[a + 3]), read_.contains(parameters[a]));
    }
  }
  void chain(const Instruction& i) {
    roots_[i.words[1]] = root(i.words[2]);
    const uint32_t variable = root(i.words[2]);
    if (buffers_.contains(variable) && any(i, 3, i.count)) gathered_.insert(bindings_[variable]);
  }
  [[nodiscard]] uint32_t root(uint32_t pointer) const {
    const auto it = roots_.find(pointer);
    return it == roots_.end() ? pointer : it->second;
  }
  [[nodiscard]] bool any(const Instruction& i, uint32_t begin, uint32_t end) const {
    for (uint32_t k = begin; k < end && k < i.count; ++k)
      if (read_.contains(i.words[k])) return true;
    return false;
  }
  void note(uint32_t id, bool was_read) {
    if (was_read) read_.insert(id);
  }

  std::vector<Instruction> all_;
  std::map<uint32_t, uint32_t> bindings_, roots_;
  std::map<uint32_t, std::vector<uint32_t>> parameters_;
  std::set<uint32_t> buffers_, gathered_;
  std::set<uint32_t> read_;  // values, variables and functions that hold something of a buffer
  uint32_t function_ = 0;
};

}  // namespace

std::set<uint32_t> gathered_bindings(const uint32_t* words, size_t count) { return Tracer(words, count).gathered(); }

}  // namespace lapilli::lab
