#include "generate/chat/framed_text.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "text/unicode/utf8.hpp"

namespace lapilli {

namespace {

// True for an id that means more than the letters that it was made of: they are its name.
Result<bool> is_control(const Tokenizer& t, int32_t id, std::string_view written) {
  if (written.size() < 3 || strip(written) != t.token(id)) return false;
  if (written.starts_with('<') && written.ends_with('>')) return true;
  LAPILLI_TRY(const std::string text, t.decode(std::span(&id, 1), true));
  return text.empty();
}

// Places in `text` at which it is cut, so that no control token is recognized: behind the first character of each.
Result<std::vector<size_t>> cuts_within(const Tokenizer& t, std::string_view text) {
  EncodeOptions bare;
  bare.add_special = false;
  LAPILLI_TRY(const Encoding e, t.encode_with_offsets(text, bare));
  std::vector<size_t> cuts;
  for (size_t i = 0; i < e.ids.size(); ++i) {
    const ByteRange& b = e.offsets[i];
    LAPILLI_TRY(const bool control, is_control(t, e.ids[i], text.substr(b.begin, b.end - b.begin)));
    if (!control) continue;
    const size_t begin = text.find(t.token(e.ids[i]), b.begin);
    const size_t at = begin == text.npos ? b.begin : begin;  // a token may take the blanks in front of it
    cuts.push_back(at + decode_utf8(text, at).bytes);
  }
  return cuts;
}

// Offsets in the text, whose first byte stands at `before` in what was encoded and at `shift` in the caller's text.
void move_offsets(Encoding& e, size_t before, size_t size, size_t shift) {
  for (ByteRange& b : e.offsets) {
    const uint64_t begin = std::max<uint64_t>(b.begin, before), end = std::min<uint64_t>(b.end, before + size);
    b = begin < end ? ByteRange{begin - before + shift, end - before + shift} : ByteRange{};
  }
}

}  // namespace

Result<Encoding> encode_framed(const Tokenizer& tokenizer, const TextFrame& frame, std::string_view whole) {
  const std::string_view text = strip(whole);
  const auto lead = static_cast<size_t>(text.data() - whole.data());
  LAPILLI_TRY(auto cuts, cuts_within(tokenizer, text));
  cuts.push_back(text.size());
  Encoding all;
  for (size_t i = 0, begin = 0; i < cuts.size(); begin = cuts[i++]) {
    const bool first = i == 0, last = i + 1 == cuts.size();
    const std::string before = first ? frame.before : std::string(), piece(text.substr(begin, cuts[i] - begin));
    EncodeOptions options;
    options.add_special = frame.add_special && first;
    LAPILLI_TRY(Encoding e, tokenizer.encode_with_offsets(before + piece + (last ? frame.behind : ""), options));
    move_offsets(e, before.size(), piece.size(), lead + begin);
    all.append(e);
  }
  return all;
}

}  // namespace lapilli
