// Marian's own models (.npz with YAML beside them), as folders and zip files: right ones, and each kind of wrong one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "formats/checkpoint.hpp"
#include "formats/doors/door.hpp"
#include "formats/doors/marian/vocabulary_file.hpp"
#include "formats/hostile.hpp"
#include "support/temp_directory.hpp"
#include "text/tokenizer.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli {
namespace {

using doors::marian::parse_vocabulary;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The files of a recorded model, by name.
class MarianNpz : public ::testing::Test {
 protected:
  MarianNpz() {
    for (const auto& entry : fs::directory_iterator(model_directory("../formats/marian-npz-tied-all")))
      if (const auto name = entry.path().filename().string(); name != "expected.json")
        all_[name] = content(entry.path());
    for (const auto& [name, text] : all_)
      if (name.ends_with(".npz")) npz_ = name;
  }
  [[nodiscard]] std::string folder() {
    const std::string path = dir_.path() + "/" + std::to_string(++count_);
    fs::create_directories(path);
    for (const auto& [name, text] : all_) std::ofstream(path + "/" + name, std::ios::binary) << text;
    return path;
  }
  [[nodiscard]] std::string archive() {
    std::vector<ZipPart> parts;
    for (const auto& [name, text] : all_) parts.push_back({name, text});
    const std::string name = std::to_string(++count_) + ".zip";
    (void)dir_.write(name, zip(parts));
    return dir_.path() + "/" + name;
  }
  static Status read(const std::string& path) {
    LAPILLI_TRY(const auto entered, doors::enter(path));
    LAPILLI_TRY(const auto weights, Checkpoint::open(entered.files));
    for (const StoredTensor& t : weights.tensors()) LAPILLI_CHECK(load_bytes(t));
    const auto tokenizer = load_tokenizer(entered.files, "");
    return tokenizer ? Status() : tokenizer.error();
  }
  static std::string why(const std::string& path) {
    const Status status = read(path);
    return status ? "" : status.error().message;
  }
  // Changes a part of the archive of arrays, of equal length.
  void replace(const std::string& what, const std::string& by, const std::string& behind = "") {
    std::string& npz = all_[npz_];
    const size_t at = npz.find(what, behind.empty() ? 0 : npz.find(behind));
    ASSERT_NE(at, std::string::npos) << what;
    ASSERT_EQ(what.size(), by.size());
    npz.replace(at, what.size(), by);
  }

  TempDirectory dir_;
  std::map<std::string, std::string> all_;
  std::string npz_;
  int count_ = 0;
};

TEST_F(MarianNpz, FoldersFilesAndArchivesAreOneModel) {
  const std::string path = folder();
  const auto as_folder = doors::enter(path);
  ASSERT_TRUE(as_folder.ok()) << as_folder.error().message;
  EXPECT_EQ(as_folder->origin.program, "Marian");
  EXPECT_THAT(as_folder->origin.version, HasSubstr("v1.9.56"));
  for (const std::string& other : {path + "/" + npz_, archive()}) {
    const auto same = doors::enter(other);
    ASSERT_TRUE(same.ok()) << same.error().message;
    for (const std::string& name : as_folder->made)
      EXPECT_EQ(*read_text_file(same->files / name), *read_text_file(as_folder->files / name)) << name;
    EXPECT_EQ(why(other), "");
  }
}

// Case 30: "He said ..." with quotes, an ellipsis and a blank that Unicode has besides ours.
TEST_F(MarianNpz, PunctuationIsChangedAsThePublishersScriptDoes) {
  const auto ids = [&](const std::string& text) {
    const auto entered = doors::enter(folder());
    const auto tokenizer = load_tokenizer(entered->files, "");
    if (!tokenizer) return std::vector<int32_t>{-1};
    return *(*tokenizer)->encode(text);
  };
  const std::string curly = "He said \u201Cno\u201D twice\u2026", plain = "He said \"no\" twice...";
  const auto without = ids(curly);
  if (without == std::vector<int32_t>{-1}) GTEST_SKIP() << "a build without Unicode's categories";
  all_["preprocess.sh"] = "sed -e 's/\uFF0C/,/g' -e 's/\u201D/\"/g' | spm_encode";
  EXPECT_EQ(ids(curly), ids(plain));
  all_["preprocess.sh"] = "${TOKENIZER}/normalize-punctuation.perl -l $1 | spm_encode";
  EXPECT_EQ(ids(curly), ids(plain));
  EXPECT_EQ(ids(">>por<< " + curly), ids(">>por<< " + plain));
}

// Subwords of subword-nmt instead of SentencePiece, as in opus-mt's older archives.
class MarianCodes : public MarianNpz {
 protected:
  MarianCodes() {
    all_.erase("source.spm");
    all_.erase("target.spm");
    all_["source.bpe"] =
        "#version: 0.2\nl o\nlo w</w>\nt w\n& q\n&q u\n&qu o\n&quo t\n&quot ;</w>\n. .\n"
        ".. .</w>\n@ -\n@- @</w>\n";
    all_["target.bpe"] = "#version: 0.2\nl o\n";
    all_["README.md"] = "# opus\n* source language(s): en\n* target language(s): por fra\n";
    all_["preprocess.sh"] = "normalize-punctuation.perl -l $1 | tokenizer.perl -a -l $1 | apply_bpe.py -c $2\n";
    write_vocabulary({"</s>", "<unk>", ">>por<<", "low", "lo@@", "&quot;", "w@@", "tw@@", "i@@", "c@@", "e", "...",
                      "@-@", ",", "l@@", "o"});
  }
  // Fillers for the ids behind these.
  void write_vocabulary(const std::vector<std::string>& pieces) {
    std::string& text = all_["opus.spm32k-spm32k.vocab.yml"];
    const auto lines = std::ranges::count(text, '\n');
    text.clear();
    for (int64_t id = 0; id < lines; ++id) {
      const auto at = static_cast<size_t>(id);
      const std::string piece = at < pieces.size() ? pieces[at] : "filler" + std::to_string(id);
      text += "\"" + piece + "\": " + std::to_string(id) + "\n";
    }
  }
  [[nodiscard]] std::unique_ptr<Tokenizer> tokenizer(const std::string& path) {
    const auto entered = doors::enter(path);
    EXPECT_TRUE(entered.ok()) << entered.error().message;
    auto made = load_tokenizer(entered->files, "");
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made ? std::move(*made) : nullptr;
  }
};

TEST_F(MarianCodes, TextsAreCutAsThePublishersScriptsDo) {
  if (!require_unicode("codes")) GTEST_SKIP() << "a build without Unicode's categories";
  for (const std::string& path : {folder(), archive()}) {
    const auto texts = tokenizer(path);
    ASSERT_TRUE(texts);
    // Typographic marks become ASCII, words are Moses', quotes entities, dashes "@-@", and a tab is a space.
    EXPECT_THAT(*texts->encode("\u201Clow\u201D\ttwice\u2026"), ElementsAre(5, 3, 5, 7, 8, 9, 10, 11, 0));
    EXPECT_THAT(*texts->encode("low-lo, q"), ElementsAre(3, 12, 14, 15, 13, 1, 0)) << "lo is no piece at a word's end";
    EXPECT_THAT(*texts->encode(">>por<< low"), ElementsAre(2, 3, 0));
    EXPECT_THAT(*texts->encode(">>xyz<< low"), ElementsAre(1, 3, 0)) << "a language that the model does not have";
    EXPECT_EQ(*texts->decode(std::vector<int32_t>{4, 15, 12, 3, 13, 5, 7, 10, 5, 0}), "loo-low, \"twe\"");
    EXPECT_EQ(texts->language_pair().source, "en");
    EXPECT_EQ(texts->language_pair().target, "") << "there are two";
  }
}

TEST_F(MarianCodes, PlacesCountFromTheTextsBeginning) {
  if (!require_unicode("codes")) GTEST_SKIP() << "a build without Unicode's categories";
  const auto texts = tokenizer(folder());
  ASSERT_TRUE(texts);
  const auto found = texts->encode_with_offsets(">>por<< low");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->offsets[0], (ByteRange{0, 7}));
  EXPECT_EQ(found->offsets[1], (ByteRange{8, 11}));
}

TEST_F(MarianCodes, WordsOfChangedCaseAreRefused) {
  all_["preprocess.sh"] += "truecase.perl --model truecase-model.en\n";
  EXPECT_THAT(why(folder()), HasSubstr("changes the case of words"));
}

TEST_F(MarianCodes, WrongCodesAreNamed) {
  all_["target.bpe"] = "#version: 0.2\nlo\n";
  EXPECT_THAT(why(folder()), HasSubstr("the line \"lo\" is no merge of two parts"));
}

TEST_F(MarianNpz, SettingsOfTheSearchAreThoseOfDecoderYml) {
  const auto entered = doors::enter(folder());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const std::string generation = *read_text_file(entered->files / "generation_config.json");
  EXPECT_THAT(generation, HasSubstr("\"num_beams\": 6"));
  EXPECT_THAT(generation, HasSubstr("\"length_penalty\": 1.0"));
  all_["decoder.yml"] += "beam-size-of-nothing: 3\n";
  std::string& decoder = all_["decoder.yml"];
  decoder.replace(decoder.find("beam-size: 6"), 12, "beam-size: 0");
  EXPECT_THAT(why(folder()), HasSubstr("beam-size is '0'"));
}

TEST_F(MarianNpz, AWordPenaltyIsRefusedWhereItTells) {
  std::string& decoder = all_["decoder.yml"];
  const auto set = [&](const std::string& key, const std::string& value) {
    const size_t at = decoder.find(key + ":");
    const size_t end = at == std::string::npos ? at : decoder.find('\n', at);
    if (at != std::string::npos) decoder.erase(at, end - at + 1);
    decoder += key + ": " + value + "\n";
  };
  if (decoder.back() != '\n') decoder += '\n';
  set("normalize", "1");
  set("word-penalty", "0.2");
  const auto entered = doors::enter(folder());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  EXPECT_THAT(entered->origin.unused, ::testing::Contains(HasSubstr("changes nothing where normalize is 1")));
  set("normalize", "0.6");
  EXPECT_THAT(why(folder()), HasSubstr("word-penalty is 0.2 with normalize 0.6"));
  set("word-penalty", "0");
  EXPECT_EQ(why(folder()), "");
}

TEST_F(MarianNpz, WhatIsMissingIsNamed) {
  auto vocabulary = all_.extract("opus.spm32k-spm32k.vocab.yml");
  EXPECT_THAT(why(folder()), HasSubstr("looked for the two that decoder.yml names"));
  all_.insert(std::move(vocabulary));
  all_.erase("source.spm");
  all_.erase("target.spm");
  EXPECT_THAT(why(folder()), HasSubstr("looked for source.spm, target.spm and vocab.json"));
}

TEST_F(MarianNpz, OtherArraysAreRefused) {
  replace("'descr': '<f4'", "'descr': '|O '", "decoder_l1_self_Wk.npy");
  EXPECT_THAT(why(folder()), HasSubstr("its numbers are '|O '"));
}
TEST_F(MarianNpz, ArraysByColumnsAreRefused) {
  replace("'fortran_order': False", "'fortran_order': True ", "Wemb.npy");
  EXPECT_THAT(why(folder()), HasSubstr("fortran_order"));
}
TEST_F(MarianNpz, ShapesBeyondTheMemberAreRefused) {
  replace("(256, 32)", "(999, 99)", "Wemb.npy");
  EXPECT_THAT(why(folder()), HasSubstr("shorter than its shape says"));
}
TEST_F(MarianNpz, MissingParametersAreNamedAtOnce) {
  std::string& npz = all_[npz_];
  for (const std::string name : {"decoder_l1_self_Wk.npy", "encoder_l2_ffn_b1.npy"})
    for (size_t at = 0; (at = npz.find(name, at)) != std::string::npos;) npz[at] = 'x';
  EXPECT_THAT(why(folder()), HasSubstr("it lacks decoder_l1_self_Wk"));
  EXPECT_THAT(why(folder()), HasSubstr("it lacks encoder_l2_ffn_b1"));
}
TEST_F(MarianNpz, ArchivesOfOtherArraysAreNoModels) {
  all_[npz_] = zip({{"weights.npy", "\x93NUMPY"}});
  EXPECT_THAT(why(folder()), HasSubstr("lacks special:model.yml"));
}

TEST_F(MarianNpz, CutAndChangedFilesDoNoHarm) {
  const std::string whole = all_[npz_];
  for (size_t size = 4; size < whole.size(); size += 9973) {
    all_[npz_] = whole.substr(0, size);
    EXPECT_NE(why(folder()), "") << size;
  }
  std::mt19937 random(5);
  size_t refused = 0;
  for (int i = 0; i < 80; ++i) {
    all_[npz_] = whole;
    const size_t at = i % 2 ? whole.size() - 1 - random() % 8000 : random() % whole.size();
    all_[npz_][at] = static_cast<char>(random());
    refused += why(folder()).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 10u);
}

// ---- vocabularies ---------------------------------------------------------------------------------------------------

TEST(MarianVocabulary, KeysAreTextsWhateverTheyLookLike) {
  const auto pieces = parse_vocabulary(
      "\"</s>\": 0\n<unk>: 1\ntrue: 2\nno: 3\n12: 4\n\"null\": 5\n~: 6\n\"#\": 7\n\"a\\\"b\\\\\": 8\n'it''s': 9\n"
      "x:y: 10\n\"\\u2581a\\x41\\U0001F600\": 11\n? \"a long one\"\n: 12\n",
      "vocab.yml");
  ASSERT_TRUE(pieces.ok()) << pieces.error().message;
  EXPECT_THAT(*pieces, ElementsAre("</s>", "<unk>", "true", "no", "12", "null", "~", "#", "a\"b\\", "it's", "x:y",
                                   "\u2581aA\U0001F600", "a long one"));
}

TEST(MarianVocabulary, WrongOnesAreRefusedByLine) {
  const auto message = [](const std::string& text) {
    const auto pieces = parse_vocabulary(text, "vocab.yml");
    return pieces ? "" : pieces.error().message;
  };
  EXPECT_THAT(message("a: 0\nb: 0\n"), HasSubstr("vocab.yml:2: the id 0 is there twice"));
  EXPECT_THAT(message("a: 0\nb: 2\n"), HasSubstr("no piece has the id 1"));
  for (const char* line : {"&a b: 0", "*a : 0", "a: b", "a: -1", "a: 99999999999", "a", "\"a: 0", "\"\\q\": 0", ": 0",
                           "? a\n", "[a, b]: 0"})
    EXPECT_THAT(message(line), HasSubstr("vocab.yml:")) << line;
}

}  // namespace
}  // namespace lapilli
