// Tokens as they come: what of each source's best hypothesis is settled while its search still runs, read from the log,
// and given out once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "search/sentence.hpp"

namespace lapilli {

// New ids of a source's best hypothesis, in order, given ids left out. An error ends the job with that error.
using TokenSink = std::function<Status(size_t source, std::span<const int32_t> ids)>;

// Passes ids on once, however often a search is run again (with more room, or in a smaller batch).
class OnceStream {
 public:
  OnceStream(TokenSink sink, size_t sources) : sink_(std::move(sink)), sources_(sources) {}
  // The source's search begins anew.
  void restart(size_t source) { sources_[source].seen = 0; }
  // It goes on behind what was passed on.
  void go_on(size_t source) { sources_[source].seen = sources_[source].given.size(); }
  // Whether push() would take them.
  [[nodiscard]] bool agrees(size_t source, std::span<const int32_t> ids) const;
  // All ids that were passed on.
  [[nodiscard]] std::span<const int32_t> given(size_t source) const { return sources_[source].given; }
  // Ids that follow those seen since restart(). Fails if they depart from what was passed on before.
  Status push(size_t source, std::span<const int32_t> ids);
  // Ids seen since restart().
  [[nodiscard]] size_t seen(size_t source) const { return sources_[source].seen; }
  // The final ids: fails if they do not begin with those seen, passes on the rest.
  Status complete(size_t source, std::span<const int32_t> all);

 private:
  struct Source {
    std::vector<int32_t> given;  // passed on
    size_t seen = 0;
  };
  [[nodiscard]] static size_t known(const Source& s, size_t ids);
  TokenSink sink_;
  std::vector<Source> sources_;
};

// Settled ids of a sentence from its log. With one beam every id is settled at once; with several, the ids that all
// hypotheses share which can still win: those that run, and the best of the finished ones (the others only get worse).
class SettledIds {
 public:
  // Ids that became settled by the steps that are new in the log since the last call.
  std::vector<int32_t> take(const SentenceLog& log);

 private:
  void read_beams(const SentenceLog& log, uint32_t step);

  uint32_t read_ = 0;  // steps that were looked at
  uint32_t next_ = 0;  // the first step whose token is not settled
  bool ended_ = false;
  std::vector<int32_t> fresh_;
};

}  // namespace lapilli
