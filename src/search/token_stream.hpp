// Token streaming: reads the committed ids of each source's best hypothesis from the log while its search runs, and
// gives each out once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.hpp"
#include "search/sentence.hpp"

namespace lapilli {

// New ids of a source's best hypothesis, in order, without prompt ids. An error ends the search with that error.
using TokenSink = std::function<Status(size_t source, std::span<const int32_t> ids)>;

// Passes ids on once, however often a search is rerun (with more room, or in a smaller batch).
class OnceStream {
 public:
  OnceStream(TokenSink sink, size_t sources) : sink_(std::move(sink)), sources_(sources) {}
  // The source's search begins anew.
  void restart(size_t source) { sources_[source].seen = 0; }
  // The search continues after the ids passed on so far.
  void go_on(size_t source) { sources_[source].seen = sources_[source].given.size(); }
  // True if push() would accept them.
  [[nodiscard]] bool agrees(size_t source, std::span<const int32_t> ids) const;
  // All ids passed on so far.
  [[nodiscard]] std::span<const int32_t> given(size_t source) const { return sources_[source].given; }
  // Takes the ids after those seen since restart(). Fails if they differ from ids passed on before.
  Status push(size_t source, std::span<const int32_t> ids);
  // Ids seen since restart().
  [[nodiscard]] size_t seen(size_t source) const { return sources_[source].seen; }
  // Takes the final ids: fails if they do not begin with those seen, and passes on the rest.
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

// Committed ids of a sentence, read from its log. With one beam every id is committed at once; with several, the ids
// that all hypotheses share which can still win: the running ones, and the best finished one (the others only get
// worse).
class CommittedIds {
 public:
  // Ids that the steps logged since the last call have committed.
  std::vector<int32_t> take(const SentenceLog& log);

 private:
  void read_beams(const SentenceLog& log, uint32_t step);

  uint32_t read_ = 0;  // steps read so far
  uint32_t next_ = 0;  // the first step whose token is not committed
  bool ended_ = false;
  std::vector<int32_t> fresh_;
};

}  // namespace lapilli
