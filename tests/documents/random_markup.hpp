// Random documents of written markup and of the relatives of subtitles, and their skeletons.
#pragma once

#include <functional>
#include <string>

#include "random_documents.hpp"
#include "skeleton.hpp"

namespace lapilli::documents {

// Words of one line with `blank` between them.
std::string random_words(Chance& chance, size_t most, const std::string& blank = " ");

// Words, among them up to four more groups of words or pieces of markup: piece(2) to piece(pieces - 1). `blank`: may
// stand between words.
std::string random_inline(Chance& chance, const std::string& blank, size_t pieces,
                          const std::function<std::string(size_t)>& piece);

std::string random_ass(Chance& chance);
std::string random_sbv(Chance& chance);
std::string random_lrc(Chance& chance);
std::string random_tex(Chance& chance);
std::string random_rst(Chance& chance);
std::string random_asciidoc(Chance& chance);

Skeleton ass_skeleton(std::string_view text);
// Lines of times, and how many others there are.
Skeleton sbv_skeleton(std::string_view text);
Skeleton lrc_skeleton(std::string_view text);
// Commands, braces and environments, in order; those that move with words by paragraph.
Skeleton tex_skeleton(std::string_view text);
// Beginnings of blocks, lines of code, and adornments, which are an error where they are shorter than their heading.
Skeleton rst_skeleton(std::string_view text);
// Beginnings of blocks, lines that stay, and the signs of inline markup.
Skeleton asciidoc_skeleton(std::string_view text);

}  // namespace lapilli::documents
