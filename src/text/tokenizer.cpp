#include "text/tokenizer.hpp"

#include <exception>
#include <new>

#include "base/mapped_file.hpp"
#include "text/marian_tokenizer.hpp"
#include "text/utf8.hpp"

namespace lapilli {
namespace {

// SentencePiece counts in int and may make each byte longer; far above any model's positions.
constexpr size_t kMaxTextBytes = size_t{1} << 20;

// The one place where exceptions of libraries and of memory become errors.
template <class F>
auto guarded(const char* doing, F&& f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "not enough memory for %s", doing);
  } catch (const std::exception& e) {
    return fail(ErrorCode::internal, "%s failed: %s", doing, e.what());
  } catch (...) {
    return fail(ErrorCode::internal, "%s failed", doing);
  }
}

}  // namespace

Result<std::vector<int32_t>> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  return guarded("tokenizing", [&]() -> Result<std::vector<int32_t>> {
    if (text.size() > kMaxTextBytes)
      return fail(ErrorCode::invalid_argument, "a text of %zu bytes is too long to tokenize (limit %zu); split it",
                  text.size(), kMaxTextBytes);
    LAPILLI_CHECK(check_utf8(text, "the text"));
    return encode_valid(text, options);
  });
}

Result<std::string> Tokenizer::decode(std::span<const int32_t> ids, bool skip_special) const {
  return guarded("detokenizing", [&]() -> Result<std::string> {
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i] < 0)
        return fail(ErrorCode::invalid_argument, "id %d at position %zu is not a token id (they are not negative)",
                    ids[i], i);
    }
    LAPILLI_TRY(auto text, decode_valid(ids, skip_special));
    if (find_invalid_utf8(text) == std::string_view::npos) return text;
    return replace_invalid_utf8(text);
  });
}

Result<std::unique_ptr<Tokenizer>> load_tokenizer(const std::string& directory, const std::string& family) {
  return guarded("loading a tokenizer", [&]() -> Result<std::unique_ptr<Tokenizer>> {
    if (!directory_exists(directory))
      return fail(ErrorCode::not_found, "%s is not a directory; give a model directory", directory.c_str());
    if (family == "marian") return load_marian_tokenizer(directory);
    return fail(ErrorCode::unsupported, "no tokenizer for model_type %s (%s); known: marian",
                quote_text(family).c_str(), directory.c_str());
  });
}

}  // namespace lapilli
