// Marian's own files, through the door: students of Firefox and Bergamot.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <random>

#include "formats/checkpoint.hpp"
#include "formats/doors/door.hpp"
#include "formats/doors/marian/parameters.hpp"
#include "formats/doors/marian/settings.hpp"
#include "formats/shortlist.hpp"
#include "support/temp_directory.hpp"

namespace lapilli {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

const std::string kStudent = model_directory("../formats/firefox-shared-int8-alphas");
const std::string kModel = "model.enpt.intgemm.alphas.bin", kPieces = "vocab.enpt.spm",
                  kList = "lex.50.50.enpt.s2t.bin";

std::string file_content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A file of Marian's, part by part.
struct Part {
  std::string name, data;
  uint64_t type = 0;
  std::vector<int32_t> shape;
};

template <class T>
void put_word(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string written_parts(const std::vector<Part>& parts) {
  std::string to;
  put_word<uint64_t>(to, 1);
  put_word<uint64_t>(to, parts.size());
  for (const Part& p : parts) {
    put_word<uint64_t>(to, p.name.size() + 1);
    put_word<uint64_t>(to, p.type);
    put_word<uint64_t>(to, p.shape.size());
    put_word<uint64_t>(to, p.data.size());
  }
  for (const Part& p : parts) to.append(p.name.c_str(), p.name.size() + 1);
  for (const Part& p : parts)
    for (const int32_t n : p.shape) put_word(to, n);
  put_word<uint64_t>(to, 8);
  to.append(8, '\0');
  for (const Part& p : parts) to += p.data;
  return to;
}

std::vector<Part> parts_of(const std::string& file) {
  const auto word = [&](size_t at) {
    uint64_t value = 0;
    std::memcpy(&value, file.data() + at, sizeof(value));
    return value;
  };
  std::vector<Part> parts(word(8));
  std::vector<uint64_t> bytes;
  size_t at = 16 + 32 * parts.size();
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t header = 16 + 32 * i;
    parts[i].type = word(header + 8);
    parts[i].shape.resize(word(header + 16));
    bytes.push_back(word(header + 24));
    parts[i].name = file.c_str() + at;
    at += word(header);
  }
  for (Part& p : parts) {
    std::memcpy(p.shape.data(), file.data() + at, p.shape.size() * sizeof(int32_t));
    at += p.shape.size() * sizeof(int32_t);
  }
  at += sizeof(uint64_t) + word(at);
  for (size_t i = 0; i < parts.size(); ++i) {
    parts[i].data = file.substr(at, bytes[i]);
    at += bytes[i];
  }
  return parts;
}

Part& named_part(std::vector<Part>& parts, const std::string& name) {
  const auto it = std::ranges::find(parts, name, &Part::name);
  EXPECT_NE(it, parts.end()) << name;
  return it == parts.end() ? parts.front() : *it;
}

// The recorded student's folder, whose files tests change.
class Student {
 public:
  Student() {
    for (const std::string& name : {kModel, kPieces, kList})
      folder_.write(name, file_content(fs::path(kStudent) / name));
  }
  [[nodiscard]] std::string model() const { return file_content(fs::path(kStudent) / kModel); }
  [[nodiscard]] std::vector<Part> parts() const { return parts_of(model()); }
  void put(const std::string& name, const std::string& text) const { folder_.write(name, text); }
  void drop(const std::string& name) const { fs::remove(named(path()) / named(name)); }
  [[nodiscard]] std::string path() const { return folder_.path(); }
  [[nodiscard]] Result<Checkpoint> open() const {
    LAPILLI_TRY(const auto entered, doors::enter(folder_.path()));
    return Checkpoint::open(entered.files);
  }
  [[nodiscard]] Result<Checkpoint> with(const std::string& model) const {
    put(kModel, model);
    return open();
  }
  [[nodiscard]] Result<Checkpoint> with(const std::function<void(std::vector<Part>&)>& change) const {
    auto all = parts();
    change(all);
    return with(written_parts(all));
  }

 private:
  TempDirectory folder_;
};

void expect_no_student(const Result<Checkpoint>& opened, const std::string& words) {
  ASSERT_FALSE(opened.ok()) << words;
  EXPECT_THAT(opened.error().message, HasSubstr(words));
}

std::vector<std::byte> words_in(const Checkpoint& checkpoint, const std::string& name) {
  const StoredTensor* t = checkpoint.find(name);
  EXPECT_NE(t, nullptr) << name;
  if (!t) return {};
  EXPECT_EQ(t->type, StoredType::u32) << name;
  const auto loaded = load_bytes(*t);
  EXPECT_TRUE(loaded.ok());
  return loaded ? std::vector(loaded->bytes.begin(), loaded->bytes.end()) : std::vector<std::byte>();
}

// Each number and each scale, bit by bit, for [rows][depths] numbers as they lie in the file.
void expect_words(const std::vector<std::byte>& words, const Part& from, size_t rows, size_t depths) {
  float multiplier = 0;
  std::memcpy(&multiplier, from.data.data() + rows * depths, sizeof(multiplier));
  const size_t row_bytes = depths + depths / 32 * 4;
  ASSERT_GE(words.size(), rows * row_bytes);
  for (size_t row = 0; row < rows; ++row)
    for (size_t depth = 0; depth < depths; ++depth) {
      const std::byte* block = words.data() + row * row_bytes + depth / 32 * 36;
      float scale = 0;
      std::memcpy(&scale, block, sizeof(scale));
      ASSERT_EQ(std::bit_cast<uint32_t>(scale), std::bit_cast<uint32_t>(1.0f / multiplier));
      ASSERT_EQ(static_cast<char>(block[4 + depth % 32]), from.data[row * depths + depth]);
    }
}

TEST(Marian, EightBitRowsKeepTheirNumbers) {
  const Student student;
  auto parts = student.parts();
  const auto opened = student.open();
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  expect_words(words_in(*opened, "model.decoder.layers.1.fc2.weight"), named_part(parts, "decoder_l2_ffn_W2"), 64, 128);
  expect_words(words_in(*opened, "model.decoder.layers.0.cell.gate.weight"), named_part(parts, "decoder_l1_rnn_Wf"), 64,
               64);
  const auto table = words_in(*opened, "model.shared.weight");
  expect_words(table, named_part(parts, "Wemb"), 256, 64);
  // The row that starts the decoder is zero.
  ASSERT_EQ(table.size(), 257u * 72u);
  EXPECT_TRUE(std::all_of(table.end() - 72, table.end(), [](std::byte b) { return b == std::byte{0}; }));
}

TEST(Marian, OriginSaysWhatIsNotUsed) {
  const auto entered = doors::enter(kStudent);
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  EXPECT_EQ(entered->origin.program, "Marian");
  EXPECT_THAT(entered->origin.version, HasSubstr("v1.9.56"));
  EXPECT_THAT(entered->origin.unused, ::testing::Contains(HasSubstr("QuantMultA")));
}

// ---- settings -------------------------------------------------------------------------------------------------------

TEST(Marian, SettingsAreAMap) {
  using doors::marian::Settings;
  const auto s =
      Settings::parse("a: 1\nlist:\n  - x y\n  - \"z\"\nflow: [1, 2]  # said so\nnone: \"\"\nq: 'v#1'\n", "x");
  ASSERT_TRUE(s.ok()) << s.error().message;
  EXPECT_EQ(s->number("a", 7, 9), 1u);
  EXPECT_EQ(s->number("b", 7, 9), 7u);
  EXPECT_EQ(s->number("list", 7, 9), 10u);  // no number: one more than the most
  EXPECT_EQ(s->list("list"), (std::vector<std::string>{"x y", "z"}));
  EXPECT_EQ(s->list("flow"), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(s->text("none"), "");
  EXPECT_EQ(s->text("q"), "v#1");
  for (const char* broken :
       {"a: &x 1\n", "a: *x\n", "a\n", "- a\n", "a: 1\na: 2\n", "a: !!int 1\n", " a: 1\n", "a: {b: 1}\n"})
    EXPECT_FALSE(Settings::parse(broken, "x").ok()) << broken;
}

TEST(Marian, AllReasonsAreNamedAtOnce) {
  const Student student;
  const auto opened = student.with([](std::vector<Part>& parts) {
    named_part(parts, "decoder_l1_rnn_Wf").name = "decoder_l1_rnn_Wx";
    Part& settings = named_part(parts, "special:model.yml");
    const std::string yml = settings.data;
    settings.data = "type: s2s\n" + yml.substr(0, yml.find("type: transformer")) + yml.substr(yml.find("ulr:"));
    settings.shape = {static_cast<int32_t>(settings.data.size())};
  });
  expect_no_student(opened, "it lacks decoder_l1_rnn_Wf");
  expect_no_student(opened, "its type is");
}

TEST(Marian, SettingsThatDoNotFitAreRefused) {
  const std::pair<const char*, const char*> kWrong[][2] = {
      {{"transformer-heads: 4", "transformer-heads: 7"}, {"transformer-heads is 7", ""}},
      {{"transformer-heads: 4", "transformer-heads: 0"}, {"transformer-heads is", ""}},
      {{"enc-depth: 2", "enc-depth: 1000000000"}, {"enc-depth is", ""}},
      {{"dim-emb: 64", "dim-emb: 32"}, {"dim-emb is 32", ""}},
      {{"transformer-preprocess: \"\"", "transformer-preprocess: n"}, {"transformer-preprocess", ""}},
      {{"layer-normalization: false", "layer-normalization: true"}, {"layer-normalization is on", ""}},
      {{"ulr: false", "transformer-rnn-projection: true"}, {"transformer-rnn-projection is on", ""}},
      {{"dec-cell: ssru", "dec-cell: gru"}, {"dec-cell is 'gru'", ""}},
      {{"ulr: false", "ulr: &a [*a, *a]"}, {"has a value that is not read", ""}},
  };
  const Student student;
  for (const auto& [change, words] : kWrong)
    expect_no_student(student.with([&, change = change](std::vector<Part>& parts) {
      Part& yml = named_part(parts, "special:model.yml");
      yml.data.replace(yml.data.find(change.first), std::strlen(change.first), change.second);
      yml.shape = {static_cast<int32_t>(yml.data.size())};
    }),
                      words.first);
}

// Without them the network would be another one.
TEST(Marian, ParametersOfLayersAreAllRead) {
  const Student student;
  for (const std::string name :
       {"decoder_l1_rnn_Wo", "decoder_l2_rnn_gamma1", "encoder_l1_self_Wp", "encoder_l3_ffn_W1"})
    expect_no_student(student.with([&](std::vector<Part>& parts) {
      Part more = named_part(parts, "decoder_l1_rnn_bf");
      more.name = name;
      parts.push_back(more);
    }),
                      name + " belongs to a layer");
}

TEST(Marian, EightBitNumbersNeedAScale) {
  const Student student;
  expect_no_student(student.with([](std::vector<Part>& parts) { named_part(parts, "decoder_l1_rnn_Wf").type = 0x101; }),
                    "'decoder_l1_rnn_Wf' has 8-bit numbers without a scale");
}

// ---- damaged files --------------------------------------------------------------------------------------------------

TEST(Marian, CutFilesAreRefused) {
  const Student student;
  const std::string whole = student.model();
  for (size_t size = 0; size < whole.size(); size += size < 40 ? 1 : 997) {
    const auto opened = student.with(whole.substr(0, size));
    ASSERT_FALSE(opened.ok()) << size;
    EXPECT_THAT(opened.error().message, HasSubstr("at byte"));
  }
}

TEST(Marian, AnotherVersionIsNamed) {
  const Student student;
  std::string changed = student.model();
  changed[0] = 2;
  expect_no_student(student.with(changed), "is of version 2 of Marian's format");
}

// A word of the header that becomes huge asks for no memory.
TEST(Marian, SizesAreNotBelieved) {
  const Student student;
  const std::string whole = student.model();
  for (const size_t word : {1u, 2u, 4u, 5u, 6u, 9u})
    for (const uint64_t value : {std::numeric_limits<uint64_t>::max(), uint64_t{1} << 63, uint64_t{1} << 40}) {
      std::string changed = whole;
      std::memcpy(changed.data() + 8 * word, &value, sizeof(value));
      EXPECT_FALSE(student.with(changed).ok()) << word << " " << value;
    }
}

TEST(Marian, PartsThatDoNotFitAreRefused) {
  const Student student;
  const auto part = [](std::vector<Part>& parts) -> Part& { return named_part(parts, "decoder_l1_ffn_W1"); };
  expect_no_student(student.with([&](auto& parts) { part(parts).shape = {64, -128}; }), "a dimension of -128");
  expect_no_student(student.with([&](auto& parts) { part(parts).shape = {0, 128}; }), "a dimension of 0");
  expect_no_student(student.with([&](auto& parts) { part(parts).shape = {1 << 30, 1 << 30}; }), "too many numbers");
  expect_no_student(student.with([&](auto& parts) { part(parts).shape = {64, 4096}; }), "its shape asks for");
  expect_no_student(student.with([&](auto& parts) { part(parts).shape = std::vector<int32_t>(9, 1); }), "9 dimensions");
  expect_no_student(student.with([&](auto& parts) { part(parts).type = 0x999; }), "unknown type");
  expect_no_student(student.with([&](auto& parts) { part(parts).type = 0x4102; }), "16-bit");
  expect_no_student(student.with([&](auto& parts) { parts.push_back(parts.back()); }), "twice");
  expect_no_student(student.with([&](auto& parts) { part(parts).name = std::string("a\0b", 3); }), "does not end");
  expect_no_student(student.with([&](auto& parts) {
    std::erase_if(parts, [](const Part& p) { return p.name == "special:model.yml"; });
  }),
                    "lacks special:model.yml");
}

TEST(Marian, ScalesAreNumbers) {
  const Student student;
  for (const float scale : {0.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    expect_no_student(student.with([&](std::vector<Part>& parts) {
      std::memcpy(named_part(parts, "encoder_l1_self_Wq").data.data() + 4096, &scale, sizeof(scale));
    }),
                      "the scale of 'encoder_l1_self_Wq'");
  // Those of the inputs are not used.
  EXPECT_TRUE(student
                  .with([](std::vector<Part>& parts) {
                    std::erase_if(parts, [](const Part& p) { return p.name == "encoder_l1_self_Wq_QuantMultA"; });
                  })
                  .ok());
}

// Whatever a byte becomes: an error, or tensors that can be read.
TEST(Marian, ChangedBytesDoNoHarm) {
  const Student student;
  const std::string whole = student.model();
  std::mt19937 random(11);
  size_t refused = 0;
  for (int i = 0; i < 400; ++i) {
    std::string changed = whole;
    // Most of the file is numbers; every other change is in the headers.
    const size_t at = i % 2 ? random() % 9000 : random() % whole.size();
    changed[at] = static_cast<char>(random());
    const auto opened = student.with(changed);
    refused += opened ? 0 : 1;
    if (opened)
      for (const auto& t : opened->tensors()) (void)load_bytes(t);
  }
  EXPECT_GT(refused, 50u);
}

// ---- the files beside it --------------------------------------------------------------------------------------------

TEST(Marian, VocabulariesBelongToTheModel) {
  const Student student;
  student.drop(kPieces);
  expect_no_student(student.open(), "looked for vocab.enpt.spm");
  const std::string pieces = file_content(fs::path(kStudent) / kPieces);
  student.put(kPieces, pieces.substr(0, pieces.size() / 2));
  expect_no_student(student.open(), kPieces);
  student.put(kPieces,
              "\x0a\x05\x0a\x03"
              "abc");
  expect_no_student(student.open(), "has 1 pieces, and the model 256 ids");
}

std::optional<std::string> list_of(const Student& student) {
  const auto entered = doors::enter(student.path());
  if (!entered || !(entered->files / kShortlistFile).there()) return std::nullopt;
  const auto text = read_text_file(entered->files / kShortlistFile);
  return text ? std::optional(*text) : std::nullopt;
}

// Ids of another pair would be read without an error.
TEST(Marian, VocabulariesOfAnotherPairAreNotTaken) {
  const Student student;
  const std::string pieces = file_content(fs::path(kStudent) / kPieces);
  student.drop(kPieces);
  for (const char* other : {"srcvocab.enja.spm", "trgvocab.enja.spm", "vocab.ende.spm"}) {
    student.put(other, pieces);
    expect_no_student(student.open(), "looked for vocab.enpt.spm");
  }
  for (const char* own : {"srcvocab.enpt.spm", "trgvocab.enpt.spm"}) student.put(own, pieces);
  EXPECT_TRUE(student.open().ok());
  student.drop("trgvocab.enpt.spm");
  student.put("vocab.spm", pieces);
  EXPECT_TRUE(student.open().ok());
}

// The shortlist asks for it: the network's tables do not tell.
TEST(Marian, ConfigTellsIfTheVocabularyIsShared) {
  const Student student;
  const auto config = [&] {
    const auto entered = doors::enter(student.path());
    const auto text = entered ? read_text_file(entered->files / "config.json") : Result<std::string>(entered.error());
    return text ? *text : text.error().message;
  };
  EXPECT_THAT(config(), HasSubstr("\"shared_vocabulary\": true"));
  const std::string pieces = file_content(fs::path(kStudent) / kPieces);
  student.drop(kPieces);
  for (const char* own : {"srcvocab.enpt.spm", "trgvocab.enpt.spm"}) student.put(own, pieces);
  EXPECT_THAT(config(), HasSubstr("\"shared_vocabulary\": false"));
}

// The second part of its name is not always a pair.
TEST(Marian, AModelWithoutAPairTakesWhatIsUnambiguous) {
  const Student student;
  student.put("model.intgemm.alphas.bin", student.model());
  student.drop(kModel);
  EXPECT_TRUE(student.open().ok());
  EXPECT_EQ(list_of(student), file_content(fs::path(kStudent) / kList));
  student.put("lex.50.50.pten.s2t.bin", "another");
  EXPECT_EQ(list_of(student), std::nullopt);
  const auto entered = doors::enter(student.path());
  ASSERT_TRUE(entered.ok());
  for (const std::string& name : {kList, std::string("lex.50.50.pten.s2t.bin")})
    EXPECT_THAT(entered->origin.unused, ::testing::Contains(HasSubstr(name)).Times(1));
  student.put("vocab.pten.spm", file_content(fs::path(kStudent) / kPieces));
  expect_no_student(student.open(), "looked for vocab.spm");
}

TEST(Marian, SeveralModelsAreNamed) {
  const Student student;
  student.put("model.enpt.other.bin", student.model());
  expect_no_student(student.open(), "name the file");
  const auto entered = doors::enter(student.path() + "/" + kModel);
  EXPECT_TRUE(entered.ok());
}

// Case 33.
TEST(Marian, TheListIsThePairsOwn) {
  const Student student;
  const std::string own = file_content(fs::path(kStudent) / kList);
  student.put("lex.50.50.pten.s2t.bin", "another");
  EXPECT_EQ(list_of(student), own);
  student.drop(kList);
  EXPECT_EQ(list_of(student), std::nullopt);
  const auto entered = doors::enter(student.path());
  ASSERT_TRUE(entered.ok());
  EXPECT_THAT(entered->origin.unused, ::testing::Contains(HasSubstr("lex.50.50.pten.s2t.bin")));
}

TEST(Marian, OfTwoListsOfAPairTheOtherIsNamed) {
  const Student student;
  student.put("lex.100.100.enpt.s2t.bin", "another");
  EXPECT_EQ(list_of(student), file_content(fs::path(kStudent) / kList));
  const auto entered = doors::enter(student.path());
  ASSERT_TRUE(entered.ok());
  EXPECT_THAT(entered->origin.unused, ::testing::Contains(HasSubstr("lex.100.100.enpt.s2t.bin")));
}

// ---- files that gzip has packed
// --------------------------------------------------------------------------------------

// Packed without compression, as deflate allows.
std::string gzipped(const std::string& text) {
  std::string to("\x1f\x8b\x08\0\0\0\0\0\0\3", 10);
  constexpr size_t kMost = 65535;
  for (size_t at = 0; at < text.size(); at += kMost) {
    const auto size = static_cast<uint16_t>(std::min(kMost, text.size() - at));
    to += static_cast<char>(at + size == text.size());
    put_word(to, size);
    put_word(to, static_cast<uint16_t>(~size));
    to += text.substr(at, size);
  }
  uint32_t sum = ~0u;
  for (const char c : text) {
    sum ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0u);
  }
  put_word(to, ~sum);
  put_word(to, static_cast<uint32_t>(text.size()));
  return to;
}

TEST(Marian, PackedFilesAreUnpacked) {
  const Student student;
  const auto plain = student.open();
  ASSERT_TRUE(plain.ok());
  for (const std::string& name : {kModel, kPieces, kList}) {
    student.put(name + ".gz", gzipped(file_content(fs::path(kStudent) / name)));
    student.drop(name);
  }
  const auto packed = student.open();
  if (!packed && packed.error().message.find("without zlib") != std::string::npos) GTEST_SKIP();
  ASSERT_TRUE(packed.ok()) << packed.error().message;
  EXPECT_EQ(words_in(*packed, "model.shared.weight"), words_in(*plain, "model.shared.weight"));
  EXPECT_EQ(list_of(student), file_content(fs::path(kStudent) / kList));
  EXPECT_TRUE(doors::enter(student.path() + "/" + kModel + ".gz").ok());
  const auto entered = doors::enter(student.path());
  ASSERT_TRUE(entered.ok());
  for (const std::string& name : {kModel, kPieces, kList})
    EXPECT_THAT(entered->left_out, ::testing::Contains(name + ".gz"));
  const std::string whole = file_content(fs::path(student.path()) / (kModel + ".gz"));
  student.put(kModel + ".gz", whole.substr(0, whole.size() - 9));
  expect_no_student(student.open(), kModel);
}

// Files are told apart by their starts; of these only the model's own is unpacked.
TEST(Marian, OtherPackedFilesAreNotUnpacked) {
  const Student student;
  const std::string whole = gzipped(file_content(fs::path(kStudent) / kModel));
  student.put("other.bin.gz", gzipped("no model") + "damaged");
  student.put("more.bin.gz", gzipped(std::string(100000, 'x')).substr(0, 2000));
  EXPECT_TRUE(student.open().ok());
  student.put("model.enfr.bin.gz", whole.substr(0, 2000));
  const auto two = student.open();
  ASSERT_FALSE(two.ok());
  if (two.error().message.find("without zlib") != std::string::npos) GTEST_SKIP();
  EXPECT_THAT(two.error().message, HasSubstr("2 models of Marian"));
}

// ---- shortlists -----------------------------------------------------------------------------------------------------

Result<Shortlist> read_list(const std::string& text, uint64_t target = 256, uint64_t source = 256) {
  const TempDirectory folder;
  folder.write("lex.bin", text);
  return Shortlist::read(Files(folder.path()) / "lex.bin", {source, target, true});
}

TEST(Shortlist, DamageIsSeen) {
  const std::string whole = file_content(fs::path(kStudent) / kList);
  ASSERT_TRUE(read_list(whole).ok());
  for (size_t size = 0; size < whole.size(); size += 251) EXPECT_FALSE(read_list(whole.substr(0, size)).ok()) << size;
  for (size_t at = 0; at + 4 < whole.size(); at += 97) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    EXPECT_FALSE(read_list(changed).ok()) << at;
  }
}

TEST(Shortlist, OfAnotherVocabularyIsRefusedWithBothNumbers) {
  const std::string whole = file_content(fs::path(kStudent) / kList);
  const auto target = read_list(whole, 100), source = read_list(whole, 256, 10);
  ASSERT_FALSE(target.ok() || source.ok());
  EXPECT_THAT(target.error().message, HasSubstr("the vocabulary 100 ids"));
  EXPECT_THAT(source.error().message, HasSubstr("the vocabulary 10"));
}

// A few ids of the list of every id, ids of no list, and none at all.
TEST(Shortlist, MasksHaveWholeEights) {
  const auto list = read_list(file_content(fs::path(kStudent) / kList));
  ASSERT_TRUE(list.ok());
  for (const std::vector<int32_t>& source : {std::vector<int32_t>{}, {0}, {17, 86, 5}, {255, 254, 3}}) {
    const auto mask = list->mask(source);
    ASSERT_EQ(mask.size(), 8u);
    int count = 0;
    for (const uint32_t word : mask) count += std::popcount(word);
    EXPECT_EQ(count % 8, 0);
    for (const int32_t id : source) EXPECT_TRUE(mask[static_cast<size_t>(id) / 32] >> (id % 32) & 1);
  }
}

}  // namespace
}  // namespace lapilli
