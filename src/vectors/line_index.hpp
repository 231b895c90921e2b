// A file of the vectors of lines. Its head says what they were made with; each line has a fingerprint, by which a later
// run finds the lines that are still the same.
//
// A head of 128 bytes; the settings and the inputs, as text; the fingerprints; vectors at a multiple of 4096; the lines
// that have no vector. Numbers are those of the machine: another one's file is recognized, and made anew.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "vectors/fingerprint.hpp"

namespace lapilli::vectors {

// Everything that a line's vector depends on beside its text, and its origin.
struct IndexAbout {
  std::string settings;  // a file with others is not used
  std::string inputs;    // names, sizes and times; for people
  uint32_t dimensions = 0;
};

// A line without a vector.
struct LineFailure {
  uint64_t line = 0;
  std::string why;
};

// A mapped file, all of whose bytes were checked. Copies share it.
class LineIndex {
 public:
  // Nothing: there is none that serves. `why` tells what is wrong with the one that is there; "": there is none.
  static std::optional<LineIndex> open(const std::string& path, const IndexAbout& about, std::string& why);
  [[nodiscard]] std::span<const Fingerprint> lines() const { return lines_; }
  // Vectors of the lines that have not failed, in their order, one behind the other.
  [[nodiscard]] std::span<const float> vectors() const { return vectors_; }
  [[nodiscard]] const std::vector<LineFailure>& failures() const { return failures_; }  // in order
  // These vectors are not needed soon.
  void let_go(std::span<const float> part) const;

 private:
  std::shared_ptr<const void> file_;
  std::span<const Fingerprint> lines_;
  std::span<const float> vectors_;
  std::vector<LineFailure> failures_;
};

// True if there is no such file, or an empty one, or one that such a writer has made: another is not written over.
bool may_be_written(const std::string& path);

// Writes NAME.part, which becomes NAME when it is complete.
class IndexWriter {
 public:
  // `lines` are those that add() and fail() will be called for, in their order. On failure errno says why.
  static std::unique_ptr<IndexWriter> begin(const std::string& path, const IndexAbout& about,
                                            std::span<const Fingerprint> lines);
  // Removes a file that is not complete.
  ~IndexWriter();
  bool add(std::span<const float> vector);
  bool fail(std::string why);
  // With the lines so far. On failure errno says why.
  bool finish();

 private:
  struct Impl;
  explicit IndexWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The right to write a file, which one process at a time has, as long as it keeps the result. Null: another has it, or
// (errno is not EWOULDBLOCK) nobody can. NAME.lock stays.
std::shared_ptr<void> hold_index(const std::string& path);

}  // namespace lapilli::vectors
