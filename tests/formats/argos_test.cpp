// Packages of Argos Translate, zipped and unpacked, through the door.
#include "formats/doors/argos.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "formats/checkpoint.hpp"
#include "formats/doors/door.hpp"
#include "formats/hostile.hpp"
#include "support/temp_directory.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

const char* const kNames[] = {"README.md",
                              "metadata.json",
                              "model/config.json",
                              "model/model.bin",
                              "sentencepiece.model",
                              "model/shared_vocabulary.json",
                              "stanza/resources.json"};

std::string recorded_package() { return model_directory("../formats/argos/translate-en_fr-1_9.argosmodel"); }

std::string content_of(const std::string& path) {
  std::ifstream in(fs::path(path), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

using Contents = std::map<std::string, std::string>;

// The recorded package's files; none in a build that cannot unpack them.
Contents contents() {
  Contents all;
  const auto files = doors::files_of_zip(recorded_package());
  if (!files) return all;
  for (const char* name : kNames)
    if (const auto text = read_text_file(*files / name); text) all[name] = *text;
  return all;
}

class Argos : public ::testing::Test {
 protected:
  void SetUp() override {
    if (all_.empty()) GTEST_SKIP() << "a build without zlib unpacks no packages";
    ASSERT_EQ(all_.size(), std::size(kNames));
  }
  // The changed package as a folder, and as a zip file without compression.
  [[nodiscard]] std::string folder() {
    const std::string path = dir_.path() + "/package" + std::to_string(++count_);
    for (const auto& [name, text] : all_) {
      fs::create_directories(fs::path(path + "/" + name).parent_path());
      std::ofstream(fs::path(path + "/" + name), std::ios::binary) << text;
    }
    return path;
  }
  [[nodiscard]] std::string archive() {
    std::vector<ZipPart> parts;
    for (const auto& [name, text] : all_) parts.push_back({"some-folder/" + name, text});
    return write(zip(parts));
  }
  std::string write(const std::string& bytes) {
    const std::string name = "package" + std::to_string(++count_) + ".argosmodel";
    (void)dir_.write(name, bytes);
    return dir_.path() + "/" + name;
  }
  static std::string message_of(const std::string& path) {
    const auto entered = doors::enter(path);
    return entered ? "" : entered.error().message;
  }

  TempDirectory dir_;
  Contents all_ = contents();
  int count_ = 0;
};

std::vector<std::byte> bytes_in(const StoredTensor& t) {
  const auto loaded = load_bytes(t);
  EXPECT_TRUE(loaded.ok()) << (loaded ? "" : loaded.error().message);
  return loaded ? std::vector(loaded->bytes.begin(), loaded->bytes.end()) : std::vector<std::byte>();
}

TEST_F(Argos, ZippedAndUnpackedAreOneModel) {
  const auto packed = doors::enter(recorded_package());
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  EXPECT_EQ(packed->origin.program, "Argos Translate");
  EXPECT_THAT(packed->origin.version, HasSubstr("package 1.9 for Argos 1.9.0"));
  EXPECT_THAT(packed->origin.unused, ElementsAre("README.md", "stanza"));
  const auto weights = Checkpoint::open(packed->files);
  ASSERT_TRUE(weights.ok()) << weights.error().message;
  for (const std::string& path : {folder(), archive()}) {
    const auto same = doors::enter(path);
    ASSERT_TRUE(same.ok()) << same.error().message;
    EXPECT_EQ(same->origin.unused, packed->origin.unused);
    for (const char* own : {"metadata.json", "sentencepiece.model"})
      EXPECT_THAT(same->left_out, ::testing::Contains(own));
    for (const std::string& name : packed->made)
      EXPECT_EQ(*read_text_file(same->files / name), *read_text_file(packed->files / name)) << name;
    const auto opened = Checkpoint::open(same->files);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    ASSERT_EQ(opened->names(), weights->names());
    for (const StoredTensor& t : weights->tensors()) EXPECT_EQ(bytes_in(*opened->find(t.name)), bytes_in(t)) << t.name;
  }
}

TEST_F(Argos, TextsAreCutByTheirSentencePiecesWithoutAnEnd) {
  const auto entered = doors::enter(recorded_package());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const auto tokenizer = load_tokenizer(entered->files, "");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  const auto ids = (*tokenizer)->encode("Hello world");
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(ids->size(), 7u);
  EXPECT_EQ((*tokenizer)->language_pair().source, "en");
  EXPECT_EQ((*tokenizer)->language_pair().target, "fr");
  EXPECT_EQ(*(*tokenizer)->decode(std::vector<int32_t>{6, 3}), "no ");  // its spaces stay
}

TEST_F(Argos, ATargetPrefixIsForcedAndNotShown) {
  std::string& metadata = all_["metadata.json"];
  metadata.insert(metadata.find('{') + 1, "\"target_prefix\": \"\u2581vector\", ");
  const auto entered = doors::enter(folder());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  EXPECT_THAT(*read_text_file(entered->files / "generation_config.json"), HasSubstr("\"forced_bos_token_id\": 4"));
  const auto tokenizer = load_tokenizer(entered->files, "");
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  EXPECT_EQ(*(*tokenizer)->decode(std::vector<int32_t>{4, 6}), "no");
  metadata.replace(metadata.find("\u2581vector"), std::string("\u2581vector").size(), "nowhere");
  EXPECT_THAT(message_of(folder()),
              HasSubstr("target_prefix is 'nowhere', which the model's vocabulary does not have"));
}

// Codes of subword-nmt, over Moses' words with its punctuation.
TEST_F(Argos, CodesCutTexts) {
  all_.erase("sentencepiece.model");
  all_["bpe.model"] = "#version: 0.2\nn o</w>\nl o\n";
  all_["model/shared_vocabulary.json"] = R"(["<unk>", "<s>", "</s>", "no", "lo@@", "o", "-", ","])";
  const auto entered = doors::enter(archive());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const auto tokenizer = load_tokenizer(entered->files, "");
  if (!tokenizer && tokenizer.error().code == ErrorCode::unsupported) GTEST_SKIP() << tokenizer.error().message;
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.error().message;
  EXPECT_THAT(*(*tokenizer)->encode("no\uFF0Cloo"), ElementsAre(3, 7, 4, 5));  // a wide comma
  EXPECT_EQ(*(*tokenizer)->decode(std::vector<int32_t>{3, 7, 4, 5}), "no, loo");
  // Dashes within words stay: "n-o" is one word.
  EXPECT_EQ((*tokenizer)->encode("n-o")->size(), 3u);
}

TEST_F(Argos, ATokenizerThatIsMissingIsNamed) {
  all_.erase("sentencepiece.model");
  const auto entered = doors::enter(folder());
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  const auto tokenizer = load_tokenizer(entered->files, "");
  ASSERT_FALSE(tokenizer.ok());
  EXPECT_THAT(tokenizer.error().message, HasSubstr("neither sentencepiece.model nor bpe.model"));
}

TEST_F(Argos, OtherPackagesAreRefused) {
  const std::string metadata = all_["metadata.json"];
  all_["metadata.json"].insert(metadata.find('{') + 1, R"("type": "sbd", )");
  EXPECT_THAT(message_of(folder()), HasSubstr("type 'sbd' translates nothing"));
  all_["metadata.json"] = "[]";
  EXPECT_THAT(message_of(folder()), HasSubstr("metadata.json"));
  all_["metadata.json"] = metadata;
  all_["model/model.bin"].resize(2000);
  EXPECT_THAT(message_of(archive()), HasSubstr("model/model.bin"));
}

TEST_F(Argos, ListsOfOneLanguageCount) {
  all_["metadata.json"] =
      R"({"source_languages": [{"code": "de"}], "target_languages": [{"code": "a"}, {"code": "b"}]})";
  const auto package = doors::read_argos_package(Files(folder()));
  ASSERT_TRUE(package.ok());
  EXPECT_EQ(package->from, "de");
  EXPECT_EQ(package->to, "");
  EXPECT_EQ(package->type, "translate");
}

TEST(ArgosVersions, AreComparedByNumbers) {
  EXPECT_TRUE(doors::is_newer_version("1.10", "1.9"));
  EXPECT_FALSE(doors::is_newer_version("1.9", "1.10"));
  EXPECT_TRUE(doors::is_newer_version("1.9.1", "1.9"));
  EXPECT_FALSE(doors::is_newer_version("1.9", "1.9"));
  EXPECT_TRUE(doors::is_newer_version("1.0", ""));
  EXPECT_FALSE(doors::is_newer_version("", "1.0"));
}

// ---- damaged archives -----------------------------------------------------------------------------------------------

Status read_all(const std::string& path) {
  LAPILLI_TRY(const auto entered, doors::enter(path));
  LAPILLI_TRY(const auto weights, Checkpoint::open(entered.files));
  for (const StoredTensor& t : weights.tensors()) LAPILLI_CHECK(load_bytes(t));
  const auto tokenizer = load_tokenizer(entered.files, "");
  return tokenizer ? Status() : tokenizer.error();
}

TEST_F(Argos, CutArchivesAreRefused) {
  const std::string whole = content_of(recorded_package());
  for (size_t size = 4; size < whole.size(); size += 4999) {
    const Status read = read_all(write(whole.substr(0, size)));
    ASSERT_FALSE(read.ok()) << size;
    EXPECT_THAT(read.error().message, HasSubstr(".argosmodel"));
  }
}

// Whatever a byte becomes: an error, or the model as it was. Half of the changes are in the directory of the archive.
TEST_F(Argos, ChangedBytesDoNoHarm) {
  const std::string whole = content_of(recorded_package());
  std::mt19937 random(11);
  const std::string path = dir_.path() + "/changed.argosmodel";
  size_t refused = 0;
  for (int i = 0; i < 120; ++i) {
    std::string changed = whole;
    const size_t at = i % 2 ? whole.size() - 1 - random() % 1000 : random() % whole.size();
    changed[at] = static_cast<char>(changed[at] ^ (1u << random() % 8));
    (void)dir_.write("changed.argosmodel", changed);
    refused += read_all(path).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 50u);
}

}  // namespace
}  // namespace lapilli
