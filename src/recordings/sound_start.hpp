// Finds where the sound begins in files that have something in front of it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

namespace lapilli::recordings {

// Candidate beginnings of a recording that does not begin where the file does, to be tried in this order: behind zeros
// and tags (ID3), as resumed downloads and players' recordings have them; then the first MP3 frame behind those, as a
// piece cut out of a stream has it. Moves the file position.
std::vector<int64_t> later_starts(std::FILE* f);

// True if MP3 frames begin at `at`, or behind a tag there, and the first does not state how many there are. Moves the
// file position.
bool is_uncounted_mp3(std::FILE* f, int64_t at);

}  // namespace lapilli::recordings
