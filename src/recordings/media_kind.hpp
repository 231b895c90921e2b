// The kind of a recording's file, by its first bytes.
#pragma once

#include <cstdio>

namespace lapilli::recordings {

struct MediaKind {
  const char* name = nullptr;  // for messages: "MPEG-4 (m4a, mp4)"; null: unknown
  bool may_be_ours = true;     // libsndfile reads at least some files of that kind
};
// Leaves the file at its beginning.
MediaKind media_kind(std::FILE* f);

}  // namespace lapilli::recordings
