// Where sound begins in files that have something in front of it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

namespace lapilli::recordings {

// Places where a recording may begin that does not begin where the file does, to be tried in this order: behind zeros
// and tags (ID3), as downloads that were continued and players' recordings have them; and the first frame of MP3 behind
// that, as a piece cut out of a stream has it. The file may stand anywhere afterwards.
std::vector<int64_t> later_starts(std::FILE* f);

// Whether frames of MP3 begin at `at`, or behind a tag there, of which the first does not say how many there are. The
// file may stand anywhere afterwards.
bool is_uncounted_mp3(std::FILE* f, int64_t at);

}  // namespace lapilli::recordings
