// The components of pipelines one by one.
#include <gtest/gtest.h>

#include "text/pipeline/added_vocabulary.hpp"
#include "text/pipeline/byte_level.hpp"
#include "text/pipeline/decoders.hpp"
#include "text/pipeline/models.hpp"
#include "text/pipeline/normalizers.hpp"
#include "text/pipeline/post_processors.hpp"
#include "text/pipeline/pre_tokenizers.hpp"
#include "text/unicode/regex.hpp"

namespace lapilli {
namespace {

using Texts = std::vector<std::string>;
using Ids = std::vector<int32_t>;

template <class T>
T must(Result<T> result) {
  if (!result) {
    ADD_FAILURE() << result.error().message;
    std::abort();
  }
  return std::move(result).value();
}

class Pipelines : public testing::Test {
 protected:
  void SetUp() override {
    if (!unicode_available() || !regex_available()) GTEST_SKIP() << "built without utf8proc or PCRE2";
  }
};

std::string run(const NormalizerPtr& normalizer, const std::string& text) {
  AlignedText aligned(text, 0);
  EXPECT_TRUE(normalizer->apply(aligned).ok());
  return aligned.text();
}
Texts run(const PreTokenizerPtr& pre, const std::string& text, uint32_t start = 0) {
  std::vector<AlignedText> words;
  EXPECT_TRUE(pre->split(AlignedText(text, start), words).ok());
  Texts out;
  for (const AlignedText& word : words) out.push_back(word.text());
  return out;
}

TEST_F(Pipelines, Normalizers) {
  EXPECT_EQ(run(must(make_lowercase()), "\xC3\x84\xC4\xB0X"), "\xC3\xA4i\xCC\x87x");
  EXPECT_EQ(run(must(make_strip_accents()), "e\xCC\x81"), "e");
  EXPECT_EQ(run(make_strip(true, false), "  a  "), "a  ");
  EXPECT_EQ(run(make_strip(false, true), "  a  "), "  a");
  EXPECT_EQ(run(make_strip(true, true), " \xE3\x80\x80 "), "");
  EXPECT_EQ(run(must(make_replace_string(" ", "__")), "a b c"), "a__b__c");
  EXPECT_EQ(run(must(make_replace_regex(" {2,}", " ")), "a   b c"), "a b c");
  EXPECT_EQ(run(make_prepend("_"), "a"), "_a");
  EXPECT_EQ(run(make_prepend("_"), ""), "");
  EXPECT_EQ(run(make_nmt(), "a\x01\tb\xE2\x80\x8B"), "a b ");
  EXPECT_EQ(run(make_byte_level_normalizer(), " \xC3\xA9"), "\xC4\xA0\xC3\x83\xC2\xA9");
  EXPECT_EQ(run(must(make_bert_normalizer({})), "\xC3\x89\t\x01\xE4\xBA\xBA"), "e  \xE4\xBA\xBA ");
  BertNormalizerOptions cased;
  cased.lowercase = false;
  EXPECT_EQ(run(must(make_bert_normalizer(cased)), "\xC3\x89"), "\xC3\x89");
}

TEST_F(Pipelines, AlignmentSurvivesNormalization) {
  AlignedText text("\xEF\xAC\x81 e\xCC\x81!", 10);  // a ligature, a decomposed letter
  ASSERT_TRUE(must(make_unicode_normalizer(UnicodeForm::nfkc))->apply(text).ok());
  ASSERT_EQ(text.text(), "fi \xC3\xA9!");
  const auto expect = [&](size_t begin, size_t end, uint32_t from, uint32_t to) {
    const Origin o = text.origin(begin, end);
    EXPECT_EQ(o.begin, from);
    EXPECT_EQ(o.end, to);
  };
  expect(0, 1, 10, 13);
  expect(1, 2, 10, 13);
  expect(2, 3, 13, 14);
  expect(3, 5, 14, 15);  // as the reference has it: the letter alone, whose place it takes
  expect(5, 6, 17, 18);
  text.prepend("__");
  expect(0, 2, 10, 13);
  expect(0, 3, 10, 13);
}

TEST_F(Pipelines, HostileCharacterMapsAreErrorsOrHarmless) {
  EXPECT_TRUE(make_precompiled("").ok());
  EXPECT_FALSE(make_precompiled("abc").ok());
  EXPECT_FALSE(make_precompiled(std::string("\xFF\xFF\xFF\x7F", 4) + "x").ok());
  EXPECT_FALSE(make_precompiled(std::string("\x04\0\0\0\xFF\xFF\xFF\xFF", 8)).ok());
  EXPECT_FALSE(make_precompiled(std::string("\x04\0\0\0\xFF\xFF\xFF\xFF\xFF\0", 10)).ok());  // no UTF-8
  const auto wild =
      must(make_precompiled(std::string("\x08\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"
                                        "ab\0",
                                        15)));
  EXPECT_EQ(run(wild, "abc\xC3\xA9"), "abc\xC3\xA9");
}

TEST_F(Pipelines, SplitBehaviors) {
  const auto split = [](SplitBehavior behavior, bool invert = false) {
    return run(must(make_split_string("-", behavior, invert)), "the-final--countdown");
  };
  EXPECT_EQ(split(SplitBehavior::removed), (Texts{"the", "final", "countdown"}));
  EXPECT_EQ(split(SplitBehavior::isolated), (Texts{"the", "-", "final", "-", "-", "countdown"}));
  EXPECT_EQ(split(SplitBehavior::merged_with_previous), (Texts{"the-", "final-", "-", "countdown"}));
  EXPECT_EQ(split(SplitBehavior::merged_with_next), (Texts{"the", "-final", "-", "-countdown"}));
  EXPECT_EQ(split(SplitBehavior::contiguous), (Texts{"the", "-", "final", "--", "countdown"}));
  EXPECT_EQ(split(SplitBehavior::removed, true), (Texts{"-", "-", "-"}));
}

TEST_F(Pipelines, PreTokenizers) {
  const std::string g = "\xC4\xA0";  // the space of byte-level alphabets
  EXPECT_EQ(run(must(make_byte_level(false, true)), "it's  a 12b"), (Texts{"it", "'s", g, g + "a", g + "12", "b"}));
  EXPECT_EQ(run(must(make_byte_level(true, true)), "a"), (Texts{g + "a"}));
  EXPECT_EQ(run(must(make_byte_level(true, false)), " a b"), (Texts{g + "a" + g + "b"}));
  EXPECT_EQ(run(must(make_whitespace()), "Hey, you_2!?"), (Texts{"Hey", ",", "you_2", "!?"}));
  EXPECT_EQ(run(make_whitespace_split(), " a\xE3\x80\x80 b,"), (Texts{"a", "b,"}));
  EXPECT_EQ(run(must(make_bert_pre_tokenizer()), "a, b"), (Texts{"a", ",", "b"}));
  EXPECT_EQ(run(must(make_digits(true)), "a12"), (Texts{"a", "1", "2"}));
  EXPECT_EQ(run(must(make_digits(false)), "a12"), (Texts{"a", "12"}));
  EXPECT_EQ(run(make_fixed_length(2),
                "a\xC3\xA9"
                "bcd"),
            (Texts{"a\xC3\xA9", "bc", "d"}));
  const auto meta = [](PrependScheme scheme, bool split, uint32_t start = 0) {
    return run(make_metaspace("_", scheme, split), "a b", start);
  };
  EXPECT_EQ(meta(PrependScheme::always, true), (Texts{"_a", "_b"}));
  EXPECT_EQ(meta(PrependScheme::always, false), (Texts{"_a_b"}));
  EXPECT_EQ(meta(PrependScheme::never, true), (Texts{"a", "_b"}));
  EXPECT_EQ(meta(PrependScheme::first, true), (Texts{"_a", "_b"}));
  EXPECT_EQ(meta(PrependScheme::first, true, 5), (Texts{"a", "_b"}));
}

Vocabulary vocabulary(const Texts& tokens) {
  std::vector<std::pair<std::string, int32_t>> entries;
  for (size_t i = 0; i < tokens.size(); ++i) entries.emplace_back(tokens[i], static_cast<int32_t>(i));
  return must(Vocabulary::make(std::move(entries), "test"));
}
Texts run(const ModelPtr& model, const std::string& word) {
  std::vector<ModelToken> tokens;
  EXPECT_TRUE(model->tokenize(word, tokens).ok());
  Texts out;
  for (const ModelToken& t : tokens)
    out.push_back(*model->token(t.id) + "@" + std::to_string(t.begin) + "-" + std::to_string(t.end));
  return out;
}

TEST_F(Pipelines, Bpe) {
  const Texts tokens{"<unk>", "a", "b", "c", "ab", "abc", "bc"};
  const std::vector<Merge> merges{{"b", "c"}, {"a", "b"}, {"ab", "c"}};
  BpeOptions options;
  options.unknown = "<unk>";
  EXPECT_EQ(run(must(make_bpe(vocabulary(tokens), merges, options, "t")), "abcab"),
            (Texts{"a@0-1", "bc@1-3", "ab@3-5"}));
  EXPECT_EQ(run(must(make_bpe(vocabulary(tokens), merges, options, "t")), "xya"),
            (Texts{"<unk>@0-1", "<unk>@1-2", "a@2-3"}));
  options.fuse_unknown = true;
  EXPECT_EQ(run(must(make_bpe(vocabulary(tokens), merges, options, "t")), "xya"), (Texts{"<unk>@0-2", "a@2-3"}));
  options.ignore_merges = true;
  EXPECT_EQ(run(must(make_bpe(vocabulary(tokens), merges, options, "t")), "abc"), (Texts{"abc@0-3"}));
  BpeOptions suffix;
  suffix.end_of_word_suffix = "</w>";
  EXPECT_EQ(run(must(make_bpe(vocabulary({"a", "a</w>", "aa</w>"}), {{"a", "a</w>"}}, suffix, "t")), "aaa"),
            (Texts{"a@0-1", "aa</w>@1-3"}));
  BpeOptions bytes;
  bytes.byte_fallback = true;
  EXPECT_EQ(run(must(make_bpe(vocabulary({"a", "<0xC3>", "<0xA9>"}), {}, bytes, "t")), "a\xC3\xA9"),
            (Texts{"a@0-1", "<0xC3>@1-3", "<0xA9>@1-3"}));
  EXPECT_FALSE(make_bpe(vocabulary(tokens), {{"c", "a"}}, {}, "t").ok());  // "ca" is no token
  options.unknown = "?";
  EXPECT_FALSE(make_bpe(vocabulary(tokens), merges, options, "t").ok());
}

TEST_F(Pipelines, WordPieceAndWordLevel) {
  const ModelPtr model = must(make_word_piece(vocabulary({"[UNK]", "un", "##aff", "##able", "##a"}), {}, "t"));
  EXPECT_EQ(run(model, "unaffable"), (Texts{"un@0-2", "##aff@2-5", "##able@5-9"}));
  EXPECT_EQ(run(model, "unx"), (Texts{"[UNK]@0-3"}));
  EXPECT_EQ(run(model, "un" + std::string(99, 'a')), (Texts{"[UNK]@0-101"}));
  const ModelPtr words = must(make_word_level(vocabulary({"[UNK]", "a"}), "[UNK]", "t"));
  EXPECT_EQ(run(words, "a"), (Texts{"a@0-1"}));
  EXPECT_EQ(run(words, "b"), (Texts{"[UNK]@0-1"}));
  std::vector<ModelToken> out;
  EXPECT_FALSE(must(make_word_level(vocabulary({"a"}), "", "t"))->tokenize("b", out).ok());
}

TEST_F(Pipelines, Unigram) {
  const std::vector<UnigramPiece> pieces{{"<unk>", 0}, {"a", -1}, {"b", -1}, {"ab", -1.5}, {"abc", -9}, {"c", -2}};
  const ModelPtr model = must(make_unigram(pieces, 0, false, "t"));
  EXPECT_EQ(run(model, "abc"), (Texts{"ab@0-2", "c@2-3"}));
  EXPECT_EQ(run(model, "axyb"), (Texts{"a@0-1", "<unk>@1-3", "b@3-4"}));
  std::vector<ModelToken> out;
  EXPECT_FALSE(must(make_unigram(pieces, -1, false, "t"))->tokenize("x", out).ok());
  EXPECT_FALSE(make_unigram(pieces, 6, false, "t").ok());
  EXPECT_FALSE(make_unigram({}, -1, false, "t").ok());
  EXPECT_FALSE(make_unigram({{"a", std::numeric_limits<double>::quiet_NaN()}}, -1, false, "t").ok());
}

TEST_F(Pipelines, AddedTokens) {
  const ModelPtr model = must(make_word_level(vocabulary({"[UNK]", "<m>"}), "[UNK]", "t"));
  std::vector<AddedToken> tokens{{"<m>", 99, true, true, false}, {"<m>x", 5}, {"ab", 6}, {"AB", 7}};
  tokens[2].single_word = true;
  tokens[3].normalized = true;
  const NormalizerPtr lower = must(make_lowercase());
  const auto added = must(AddedVocabulary::make(tokens, *model, lower.get()));
  EXPECT_EQ(added.by_text("<m>")->id, 1);  // the model's id counts
  const auto split = [&](const std::string& text) {
    std::vector<AddedVocabulary::Part> parts;
    EXPECT_TRUE(added.split(text, lower.get(), parts).ok());
    Texts out;
    for (const auto& p : parts)
      out.push_back((p.token != nullptr ? std::to_string(p.token->id) + ":" : "") + p.text.text());
    return out;
  };
  EXPECT_EQ(split(""), (Texts{}));
  EXPECT_EQ(split("X <m> Y"), (Texts{"x", "1: <m>", " y"}));  // it takes the space on its left
  EXPECT_EQ(split("<m>x<m>"), (Texts{"5:<m>x", "1:<m>"}));    // the longest counts
  EXPECT_EQ(split("ab"), (Texts{"6:ab"}));
  EXPECT_EQ(split("ab!"), (Texts{"6:ab", "!"}));
  EXPECT_EQ(split("1Ab"), (Texts{"1", "7:ab"}));  // found after lower-casing
  EXPECT_FALSE(AddedVocabulary::make({{"x", 2'000'000'000}}, *model, nullptr).ok());
}

TEST_F(Pipelines, PostProcessors) {
  Encoding a;
  a.push(10, {0, 1});
  Encoding b;
  b.push(20, {0, 1});
  const auto ids = [&](const PostProcessorPtr& p, const Encoding* second, bool special) {
    return must(p->process(a, second, special)).ids;
  };
  const auto types = [&](const PostProcessorPtr& p) { return must(p->process(a, &b, true)).type_ids; };
  const auto roberta = make_roberta_processing(0, 2, TrimmedBlanks::all);
  EXPECT_EQ(ids(roberta, nullptr, true), (Ids{0, 10, 2}));
  EXPECT_EQ(ids(roberta, &b, true), (Ids{0, 10, 2, 2, 20, 2}));
  EXPECT_EQ(ids(roberta, &b, false), (Ids{10, 20}));
  EXPECT_EQ(types(roberta), (Ids{0, 0, 0, 0, 0, 0}));
  const auto bert = make_bert_processing(0, 2);
  EXPECT_EQ(ids(bert, &b, true), (Ids{0, 10, 2, 20, 2}));
  EXPECT_EQ(types(bert), (Ids{0, 0, 0, 1, 1}));
  std::vector<PostProcessorPtr> parts;
  parts.push_back(make_byte_level_post_processor(TrimmedBlanks::all));
  parts.push_back(make_bert_processing(0, 2));
  const auto sequence = make_post_processor_sequence(std::move(parts));
  EXPECT_EQ(sequence->trims(), TrimmedBlanks::all);
  EXPECT_EQ(ids(sequence, &b, true), (Ids{0, 10, 2, 20, 2}));
  EXPECT_FALSE(make_template({{}, {}})->process(a, &b, true).ok());
}

std::string run(const DecoderPtr& decoder, Texts tokens) {
  EXPECT_TRUE(decoder->apply(tokens).ok());
  std::string out;
  for (const std::string& t : tokens) out += t;
  return out;
}

TEST_F(Pipelines, Decoders) {
  EXPECT_EQ(run(make_byte_level_decoder(), {"\xC4\xA0"
                                            "a",
                                            "\xC3\x83", "\xC2\xA9"}),
            " a\xC3\xA9");
  EXPECT_EQ(run(make_byte_level_decoder(), {"\xC3\x83", "b"}),
            "\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(run(make_word_piece_decoder("##", true), {"do", "not", "##e", "."}), "do note.");
  EXPECT_EQ(run(make_word_piece_decoder("##", false), {"a", "."}), "a .");
  EXPECT_EQ(run(make_metaspace_decoder("_", PrependScheme::always), {"_a", "_b"}), "a b");
  EXPECT_EQ(run(make_metaspace_decoder("_", PrependScheme::never), {"_a", "_b"}), " a b");
  EXPECT_EQ(run(make_bpe_decoder("</w>"), {"a</w>", "b", "c</w>"}), "a bc");
  EXPECT_EQ(run(make_byte_fallback_decoder(), {"<0xC3>", "<0xA9>", "x", "<0xC3>"}), "\xC3\xA9x\xEF\xBF\xBD");
  EXPECT_EQ(run(make_strip_decoder(" ", 1, 0), {"  a "}), " a ");
  EXPECT_EQ(run(must(make_replace_regex_decoder("_+", " ")), {"a__b"}), "a b");
  EXPECT_EQ(run(make_ctc_decoder("<pad>", "|", true), {"a", "a", "<pad>", "a", "|", "b"}), "aa b");
  std::vector<DecoderPtr> parts;
  parts.push_back(make_replace_string_decoder("_", " "));
  parts.push_back(make_fuse_decoder());
  parts.push_back(make_strip_decoder(" ", 1, 0));
  EXPECT_EQ(run(make_decoder_sequence(std::move(parts)), {"_a", "_b"}), "a b");
  EXPECT_EQ(clean_up_spaces("do n't ! it 's"), "don't! it's");
}

TEST(ByteAlphabet, IsReversible) {
  for (int b = 0; b < 256; ++b) EXPECT_EQ(byte_of(kByteAlphabet[static_cast<size_t>(b)]), b);
  EXPECT_EQ(byte_of(0x200), -1);
  EXPECT_EQ(kByteAlphabet[' '], 0x120U);
}

}  // namespace
}  // namespace lapilli
