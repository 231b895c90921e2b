// The kind of a recording's file, by its first bytes.
#pragma once

#include <cstdio>

namespace lapilli::recordings {

struct MediaKind {
  const char* name = nullptr;  // for messages: "MPEG-4 (m4a, mp4)"; null: nothing that is known
  bool may_be_ours = true;     // libsndfile reads files of that kind, at least some
};
// The file stands at its beginning afterwards.
MediaKind media_kind(std::FILE* f);

}  // namespace lapilli::recordings
