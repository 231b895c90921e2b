#include "text/tokenizer.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <stdexcept>
#include <utility>

#include "text/kinds/tokenizer_kinds.hpp"
#include "text/pipeline/decoders.hpp"
#include "text/tokenizer_config.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

// Positions in texts have 32 bits, and a normalizer may lengthen each byte; far above any model's positions.
constexpr size_t kMaxTextBytes = size_t{1} << 20;
// Ids of all windows of a text: those that hardly move on would fill the memory.
constexpr size_t kMaxWindowIds = size_t{1} << 24;

// The only place where exceptions, of libraries or for lack of memory, become errors.
template <class F>
auto guarded(const char* doing, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "not enough memory for %s", doing);
  } catch (const std::length_error& e) {
    return fail(ErrorCode::invalid_data, "%s failed: %s", doing, e.what());
  } catch (const std::exception& e) {
    return fail(ErrorCode::internal, "%s failed: %s", doing, e.what());
  } catch (...) {
    return fail(ErrorCode::internal, "%s failed", doing);
  }
}

// Shortens the longer text until both are equal, then both.
void shorten_longer(Encoding& first, Encoding& second, size_t room) {
  const size_t shorter = std::min({first.ids.size(), second.ids.size(), room / 2});
  const size_t longer = room - shorter;
  const bool first_is_longer = first.ids.size() > second.ids.size();
  first.resize(std::min(first.ids.size(), first_is_longer ? longer : shorter));
  second.resize(std::min(second.ids.size(), first_is_longer ? shorter : longer));
}

Status shorten_one(Encoding& text, const Encoding& other, size_t room) {
  if (other.ids.size() < room) return text.resize(room - other.ids.size()), Status();
  return fail(ErrorCode::invalid_argument,
              "the text that may not be cut has %u ids, and %u fit beside special ones: shorten it", other.ids.size(),
              room);
}

// `fixed`: ids of each window that are not the text's.
Status check_windows(size_t ids, size_t fixed, const WindowOptions& windows) {
  if (windows.most_ids <= fixed)
    return fail(ErrorCode::invalid_argument,
                "a window of %u ids has no room for the text: %u are the question's and the tokenizer's own; shorten "
                "the question, or give longer windows",
                windows.most_ids, fixed);
  const size_t room = windows.most_ids - fixed;
  if (windows.stride >= room)
    return fail(ErrorCode::invalid_argument,
                "the windows share %u ids, and each has room for %u of the text: give a smaller stride", windows.stride,
                room);
  const size_t count = (ids - room) / (room - windows.stride) + 2;
  if (count <= kMaxWindowIds / windows.most_ids) return {};
  return fail(ErrorCode::invalid_argument, "the text makes %u windows of %u ids: give a smaller stride, or split it",
              count, windows.most_ids);
}

}  // namespace

Status check_length(std::string_view text) {
  if (text.size() <= kMaxTextBytes) return {};
  return fail(ErrorCode::invalid_argument, "a text of %u bytes is too long to tokenize (limit %u); split it",
              text.size(), kMaxTextBytes);
}

void Encoding::append(const Encoding& other) {
  ids.insert(ids.end(), other.ids.begin(), other.ids.end());
  offsets.insert(offsets.end(), other.offsets.begin(), other.offsets.end());
  type_ids.insert(type_ids.end(), other.type_ids.begin(), other.type_ids.end());
  texts.insert(texts.end(), other.texts.begin(), other.texts.end());
  words.insert(words.end(), other.words.begin(), other.words.end());
}

Encoding Encoding::part(size_t begin, size_t end) const {
  Encoding part;
  for (size_t i = begin; i < end; ++i) part.push(ids[i], offsets[i], type_ids[i], texts[i], words[i]);
  return part;
}

void Encoding::resize(size_t size) {
  ids.resize(size);
  offsets.resize(size);
  type_ids.resize(size);
  texts.resize(size);
  words.resize(size);
}

Status Tokenizer::truncate(Encoding& first, Encoding* second, const EncodeOptions& options) const {
  if (options.max_ids == 0) return {};
  const Encoding none;
  LAPILLI_TRY(const Encoding added, surround(none, second == nullptr ? nullptr : &none, options));
  if (options.max_ids < added.ids.size())
    return fail(ErrorCode::invalid_argument, "a limit of %u ids leaves no room: the tokenizer adds %u of its own",
                static_cast<size_t>(options.max_ids), added.ids.size());
  const auto room = static_cast<size_t>(options.max_ids) - added.ids.size();
  const size_t other = second == nullptr ? 0 : second->ids.size();
  if (first.ids.size() + other <= room) return {};
  if (second == nullptr) {
    first.resize(room);
    return {};
  }
  if (options.truncate == Truncate::only_first) return shorten_one(first, *second, room);
  if (options.truncate == Truncate::only_second) return shorten_one(*second, first, room);
  shorten_longer(first, *second, room);
  return {};
}

Result<Encoding> Tokenizer::encode_text(std::string_view text, int8_t number, const EncodeOptions& options) const {
  LAPILLI_CHECK(check_length(text));
  LAPILLI_CHECK(check_utf8(text, number == 0 ? "the text" : "the second text"));
  LAPILLI_TRY(Encoding encoding, encode_plain(text, options));
  encoding.texts.assign(encoding.ids.size(), number);
  return encoding;
}

Result<Encoding> Tokenizer::encode_checked(std::string_view text, const EncodeOptions& options) const {
  LAPILLI_TRY(Encoding first, encode_text(text, 0, options));
  if (!options.pair || options.pair->empty()) {
    LAPILLI_CHECK(truncate(first, nullptr, options));
    return surround(first, nullptr, options);
  }
  LAPILLI_TRY(Encoding second, encode_text(*options.pair, 1, options));
  LAPILLI_CHECK(truncate(first, &second, options));
  return surround(first, &second, options);
}

Result<Encoding> Tokenizer::encode_with_offsets(std::string_view text, const EncodeOptions& options) const {
  return guarded("tokenizing", [&] { return encode_checked(text, options); });
}

Result<std::vector<Encoding>> Tokenizer::cut_windows(const Encoding& text, const Encoding* pair,
                                                     const WindowOptions& windows, const EncodeOptions& options) const {
  const bool text_first = pair == nullptr || options.truncate == Truncate::only_first;
  const auto around = [&](const Encoding& part) {
    return text_first ? surround(part, pair, options) : surround(*pair, &part, options);
  };
  LAPILLI_TRY(const Encoding fixed, around({}));
  const size_t ids = text.ids.size();
  const bool all = windows.most_ids == 0 || fixed.ids.size() + ids <= windows.most_ids;
  if (!all) LAPILLI_CHECK(check_windows(ids, fixed.ids.size(), windows));
  const size_t room = all ? ids : windows.most_ids - fixed.ids.size();
  std::vector<Encoding> made;
  for (size_t begin = 0, end = 0; made.empty() || end < ids; begin += room - windows.stride) {
    end = std::min(begin + room, ids);
    LAPILLI_TRY(Encoding window, around(text.part(begin, end)));
    made.push_back(std::move(window));
  }
  return made;
}

Result<std::vector<Encoding>> Tokenizer::encode_windows(std::string_view text, const WindowOptions& windows,
                                                        const EncodeOptions& options) const {
  return guarded("tokenizing", [&]() -> Result<std::vector<Encoding>> {
    LAPILLI_TRY(const Encoding ids, encode_text(text, 0, options));
    if (!options.pair || options.pair->empty()) return cut_windows(ids, nullptr, windows, options);
    LAPILLI_TRY(const Encoding pair, encode_text(*options.pair, 1, options));
    return cut_windows(ids, &pair, windows, options);
  });
}

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  LAPILLI_TRY(Encoding encoding, encode_with_offsets(text, options));
  return std::move(encoding.ids);
}

Result<EncodedBatch> Tokenizer::encode_batch(std::span<const std::string_view> texts,
                                             const EncodeOptions& options) const {
  return guarded("tokenizing", [&]() -> Result<EncodedBatch> {
    EncodedBatch batch;
    size_t longest = 0;
    for (const std::string_view text : texts) {
      LAPILLI_TRY(Encoding row, encode_checked(text, options));
      longest = std::max(longest, row.ids.size());
      batch.attention_mask.emplace_back(row.ids.size(), 1);
      batch.ids.push_back(std::move(row.ids));
      batch.type_ids.push_back(std::move(row.type_ids));
    }
    const auto pad = [&](std::vector<int32_t>& row, int32_t value) {
      row.insert(pad_left_ ? row.begin() : row.end(), longest - row.size(), value);
    };
    for (size_t i = 0; i < batch.ids.size(); ++i) {
      if (batch.ids[i].size() < longest && special_.pad < 0)
        return fail(ErrorCode::unsupported,
                    "this tokenizer has no padding token, so texts of unequal length make no batch");
      pad(batch.ids[i], special_.pad);
      pad(batch.attention_mask[i], 0);
      pad(batch.type_ids[i], pad_type_);
    }
    return batch;
  });
}

Result<std::string> Tokenizer::decode(std::span<const int32_t> ids, const DecodeOptions& options) const {
  return guarded("detokenizing", [&]() -> Result<std::string> {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] < 0)
        return fail(ErrorCode::invalid_argument, "id %d at position %u is not a token id (they are not negative)",
                    ids[i], i);
    }
    LAPILLI_TRY(auto text, decode_valid(ids, options));
    if (!keeps_text_ && options.clean_up.value_or(clean_up_)) text = clean_up_spaces(std::move(text));
    if (find_invalid_utf8(text) == std::string_view::npos) return text;
    return replace_invalid_utf8(text);
  });
}

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const Files& files, const std::string& family) {
  return guarded("loading a tokenizer", [&]() -> Result<std::unique_ptr<Tokenizer>> {
    if (!files.are_there()) return fail(ErrorCode::not_found, "%s is not a directory; give a model directory", files);
    LAPILLI_TRY(const TokenizerKind* kind, choose_tokenizer_kind(files, family));
    LAPILLI_CHECK(check_tokenizer_files(files, *kind));
    LAPILLI_TRY(auto tokenizer, kind->load(files));
    if (kind->obeys_clean_up) {
      LAPILLI_TRY(const auto config, TokenizerConfig::load(files));
      LAPILLI_TRY(tokenizer->clean_up_, config.flag("clean_up_tokenization_spaces", false));
    }
    return tokenizer;
  });
}

}  // namespace lapilli
