#include "image/shaping.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace lapilli::image {
namespace {

// The first presentation form of a letter: isolated, final, initial, medial follow each other; `forms` is 1, 2 or 4.
struct Letter {
  char16_t code, first;
  uint8_t forms;
};

constexpr Letter kLetters[] = {
    {0x621, 0xFE80, 1}, {0x622, 0xFE81, 2}, {0x623, 0xFE83, 2}, {0x624, 0xFE85, 2}, {0x625, 0xFE87, 2},
    {0x626, 0xFE89, 4}, {0x627, 0xFE8D, 2}, {0x628, 0xFE8F, 4}, {0x629, 0xFE93, 2}, {0x62A, 0xFE95, 4},
    {0x62B, 0xFE99, 4}, {0x62C, 0xFE9D, 4}, {0x62D, 0xFEA1, 4}, {0x62E, 0xFEA5, 4}, {0x62F, 0xFEA9, 2},
    {0x630, 0xFEAB, 2}, {0x631, 0xFEAD, 2}, {0x632, 0xFEAF, 2}, {0x633, 0xFEB1, 4}, {0x634, 0xFEB5, 4},
    {0x635, 0xFEB9, 4}, {0x636, 0xFEBD, 4}, {0x637, 0xFEC1, 4}, {0x638, 0xFEC5, 4}, {0x639, 0xFEC9, 4},
    {0x63A, 0xFECD, 4}, {0x641, 0xFED1, 4}, {0x642, 0xFED5, 4}, {0x643, 0xFED9, 4}, {0x644, 0xFEDD, 4},
    {0x645, 0xFEE1, 4}, {0x646, 0xFEE5, 4}, {0x647, 0xFEE9, 4}, {0x648, 0xFEED, 2}, {0x649, 0xFEEF, 2},
    {0x64A, 0xFEF1, 4}, {0x679, 0xFB66, 4}, {0x67E, 0xFB56, 4}, {0x686, 0xFB7A, 4}, {0x688, 0xFB88, 2},
    {0x691, 0xFB8C, 2}, {0x698, 0xFB8A, 2}, {0x6A9, 0xFB8E, 4}, {0x6AF, 0xFB92, 4}, {0x6BA, 0xFB9E, 2},
    {0x6BE, 0xFBAA, 4}, {0x6C1, 0xFBA6, 4}, {0x6CC, 0xFBFC, 4}, {0x6D2, 0xFBAE, 2},
};

const Letter* find_letter(char32_t c) {
  const auto* at = std::lower_bound(std::begin(kLetters), std::end(kLetters), c,
                                    [](const Letter& l, char32_t code) { return l.code < code; });
  return at != std::end(kLetters) && at->code == c ? at : nullptr;
}

constexpr char32_t kTatweel = 0x640, kJoiner = 0x200D, kLam = 0x644;

bool joins_next(char32_t c) {
  const Letter* l = find_letter(c);
  return c == kTatweel || c == kJoiner || (l && l->forms == 4);
}
bool joins_before(char32_t c) {
  const Letter* l = find_letter(c);
  return c == kTatweel || c == kJoiner || (l && l->forms >= 2);
}

// The isolated form of lam with this alef; 0: no alef.
char32_t lam_with(char32_t alef) {
  return alef == 0x622 ? 0xFEF5 : alef == 0x623 ? 0xFEF7 : alef == 0x625 ? 0xFEF9 : alef == 0x627 ? 0xFEFB : 0;
}

bool left_to_right(char32_t c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= 0x660 && c <= 0x669) ||
         (c >= 0x6F0 && c <= 0x6F9) ||
         (c >= 0xC0 && !right_to_left(c) && !combining(c) && !invisible(c) && !(c >= 0x2000 && c <= 0x206F));
}

char32_t mirrored(char32_t c) {
  constexpr std::u32string_view kPairs = U"()[]{}<>«»‹›";
  const size_t at = kPairs.find(c);
  return at == std::u32string_view::npos ? c : kPairs[at ^ 1];
}

}  // namespace

bool right_to_left(char32_t c) {
  if ((c >= 0x660 && c <= 0x669) || (c >= 0x6F0 && c <= 0x6F9)) return false;
  return (c >= 0x590 && c <= 0x8FF) || (c >= 0xFB1D && c <= 0xFDFF) || (c >= 0xFE70 && c <= 0xFEFE) ||
         (c >= 0x10800 && c <= 0x10FFF) || (c >= 0x1E800 && c <= 0x1EFFF);
}

bool combining(char32_t c) {
  return (c >= 0x300 && c <= 0x36F) || (c >= 0x483 && c <= 0x489) ||
         (c >= 0x591 && c <= 0x5C7 && c != 0x5BE && c != 0x5C0 && c != 0x5C3 && c != 0x5C6) ||
         (c >= 0x610 && c <= 0x61A) || (c >= 0x64B && c <= 0x65F) || c == 0x670 || (c >= 0x6D6 && c <= 0x6DC) ||
         (c >= 0x6DF && c <= 0x6E4) || (c >= 0x20D0 && c <= 0x20F0);
}

bool invisible(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || c == 0x61C || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF ||
         (c >= 0xE0000 && c <= 0xE01EF);
}

std::u32string join_arabic(std::u32string_view text) {
  std::u32string out;
  char32_t before = 0;  // the last character that is no mark
  for (size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (combining(c)) {
      out += c;
      continue;
    }
    const Letter* letter = find_letter(c);
    size_t next = i + 1;
    while (next < text.size() && combining(text[next])) ++next;
    const char32_t after = next < text.size() ? text[next] : 0;
    const bool from_before = letter && letter->forms >= 2 && joins_next(before);
    if (c == kLam && next == i + 1 && lam_with(after) != 0) {
      out += lam_with(after) + (from_before ? 1 : 0);
      before = after;
      ++i;
      continue;
    }
    if (letter) {
      const bool to_next = letter->forms == 4 && joins_before(after);
      out += static_cast<char32_t>(letter->first + (from_before ? (to_next ? 3 : 1) : (to_next ? 2 : 0)));
    } else {
      out += c;
    }
    before = c;
  }
  return out;
}

std::u32string visual_order(std::u32string_view text) {
  const auto first =
      std::find_if(text.begin(), text.end(), [](char32_t c) { return right_to_left(c) || left_to_right(c); });
  const bool turned = first != text.end() && right_to_left(*first);
  if (std::none_of(text.begin(), text.end(), right_to_left)) return std::u32string(text);
  const std::u32string joined = join_arabic(text);
  // Runs of one direction; what has none goes with the run before it, at the end of a run with the label's direction.
  struct Run {
    size_t begin, end;
    bool rtl;
  };
  std::vector<Run> runs;
  for (size_t i = 0; i < joined.size(); ++i) {
    const char32_t c = joined[i];
    const bool strong = right_to_left(c) || left_to_right(c);
    bool rtl = strong ? right_to_left(c) : runs.empty() ? turned : runs.back().rtl;
    if (!strong && !combining(c)) {
      const auto ahead = std::find_if(joined.begin() + static_cast<ptrdiff_t>(i), joined.end(),
                                      [](char32_t x) { return right_to_left(x) || left_to_right(x); });
      if (ahead == joined.end() || right_to_left(*ahead) != rtl) rtl = turned;
    }
    if (runs.empty() || runs.back().rtl != rtl) runs.push_back({i, i, rtl});
    runs.back().end = i + 1;
  }
  if (turned) std::reverse(runs.begin(), runs.end());
  std::u32string out;
  for (const Run& run : runs) {
    if (!run.rtl) {
      out.append(joined, run.begin, run.end - run.begin);
      continue;
    }
    // Marks stay behind the character that carries them.
    for (size_t end = run.end; end > run.begin;) {
      size_t begin = end - 1;
      while (begin > run.begin && combining(joined[begin])) --begin;
      out += mirrored(joined[begin]);
      out.append(joined, begin + 1, end - begin - 1);
      end = begin;
    }
  }
  return out;
}

}  // namespace lapilli::image
