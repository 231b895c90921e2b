#include "text/pipeline/json_components.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli {
namespace {

Result<DecoderPtr> read_decoders(const JsonReader& reader) {
  LAPILLI_TRY(const nlohmann::json* list, reader.array("decoders"));
  std::vector<DecoderPtr> parts;
  for (size_t i = 0; i < list->size(); ++i) {
    LAPILLI_TRY(auto part, read_decoder(reader.at((*list)[i], std::to_string(i))));
    parts.push_back(std::move(part));
  }
  return make_decoder_sequence(std::move(parts));
}

Result<DecoderPtr> read_ctc(const JsonReader& reader) {
  LAPILLI_TRY(const std::string pad, reader.text("pad_token", "<pad>"));
  LAPILLI_TRY(const std::string delimiter, reader.text("word_delimiter_token", "|"));
  LAPILLI_TRY(const bool cleanup, reader.flag("cleanup", true));
  return make_ctc_decoder(pad, delimiter, cleanup);
}

Result<DecoderPtr> read_strip_decoder(const JsonReader& reader) {
  LAPILLI_TRY(const std::string content, reader.text("content", " "));
  LAPILLI_TRY(const int32_t start, reader.number("start", 0));
  LAPILLI_TRY(const int32_t stop, reader.number("stop", 0));
  return make_strip_decoder(content, static_cast<size_t>(start), static_cast<size_t>(stop));
}

}  // namespace

Result<DecoderPtr> read_decoder(const JsonReader& reader) {
  LAPILLI_TRY(const std::string type, reader.text("type"));
  if (type == "Sequence") return read_decoders(reader);
  if (type == "ByteLevel") return make_byte_level_decoder();
  if (type == "WordPiece") {
    LAPILLI_TRY(const std::string prefix, reader.text("prefix", "##"));
    LAPILLI_TRY(const bool cleanup, reader.flag("cleanup", true));
    return make_word_piece_decoder(prefix, cleanup);
  }
  if (type == "Metaspace") {
    LAPILLI_TRY(const std::string replacement, reader.text("replacement", kWordMark));
    LAPILLI_TRY(const PrependScheme scheme, read_prepend_scheme(reader));
    return make_metaspace_decoder(replacement, scheme);
  }
  if (type == "BPEDecoder") {
    LAPILLI_TRY(const std::string suffix, reader.text("suffix", "</w>"));
    return make_bpe_decoder(suffix);
  }
  if (type == "ByteFallback") return make_byte_fallback_decoder();
  if (type == "Fuse") return make_fuse_decoder();
  if (type == "Strip") return read_strip_decoder(reader);
  if (type == "Replace") {
    LAPILLI_TRY(const JsonPattern pattern, read_pattern(reader));
    LAPILLI_TRY(const std::string content, reader.text("content"));
    if (!pattern.regex) return make_replace_string_decoder(pattern.text, content);
    return make_replace_regex_decoder(pattern.text, content);
  }
  if (type == "CTC") return read_ctc(reader);
  return fail(ErrorCode::unsupported, "%s: this version knows no decoder %s", reader.where(), quote_text(type));
}

}  // namespace lapilli
