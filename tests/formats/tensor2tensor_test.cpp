// Tensor2Tensor's directories through the door: TensorFlow's checkpoints, settings and subwords, and each kind of
// damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "formats/checkpoint.hpp"
#include "formats/doors/door.hpp"
#include "formats/doors/trained/tf_bundle.hpp"
#include "formats/doors/trained/tf_table.hpp"
#include "formats/hf_config.hpp"
#include "formats/hostile.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::doors::trained {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string folder_of(const std::string& name) { return LAPILLI_TEST_DATA "/formats/tensor2tensor-" + name; }

class CopiedModel {
 public:
  explicit CopiedModel(const std::string& name) {
    for (const auto& entry : fs::directory_iterator(folder_of(name)))
      if (entry.path().filename() != "expected.json")
        folder_.write(entry.path().filename().string(), content_of(entry.path()));
  }
  void write(const std::string& name, const std::string& content) const { folder_.write(name, content); }
  void remove(const std::string& name) const { fs::remove(fs::path(folder_.path()) / name); }
  [[nodiscard]] std::string text(const std::string& name) const { return content_of(fs::path(folder_.path()) / name); }
  [[nodiscard]] Result<Entered> enter_it() const { return enter(Files(folder_.path())); }
  void refused(const std::string& why, ErrorCode code = ErrorCode::invalid_data) const {
    const auto in = enter_it();
    ASSERT_FALSE(in.ok()) << "expected: " << why;
    EXPECT_EQ(in.error().code, code) << in.error().message;
    EXPECT_THAT(in.error().message, HasSubstr(why));
  }
  void set(const char* key, const nlohmann::json& value) const {
    auto hparams = nlohmann::json::parse(text("hparams.json"));
    hparams[key] = value;
    write("hparams.json", hparams.dump());
  }

 private:
  TempDirectory folder_;
};

constexpr const char *kIndex = "model.ckpt-7.index", *kData = "model.ckpt-7.data-00000-of-00001";

// ---- tables ---------------------------------------------------------------------------------------------------------

void put_varint(std::string& to, uint64_t value) {
  for (; value > 0x7f; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

std::string entry_of(uint64_t shared, const std::string& key, const std::string& value) {
  std::string out;
  put_varint(out, shared);
  put_varint(out, key.size());
  put_varint(out, value.size());
  return out + key + value;
}

// A table of one block, whose bytes are given.
class OneBlock {
 public:
  std::string add(std::string block, char type) {
    std::string handle;
    put_varint(handle, file_.size());
    put_varint(handle, block.size());
    block += type;
    file_ += block + little(masked(crc32c(0, block)));
    return handle;
  }
  static std::string make(const std::string& block, char type = 0, const std::string& handle = "") {
    OneBlock t;
    const std::string own = t.add(block, type);
    const std::string index = t.add(entry_of(0, "k", handle.empty() ? own : handle) + little<uint32_t>(0), 0);
    std::string footer = index + index;
    footer.resize(40);
    return t.file_ + footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  }

 private:
  std::string file_;
};

std::string failure_of(const std::string& table) {
  const auto read = read_table(table, "index");
  return read ? "" : read.error().message;
}

TEST(TfTable, KeysShareTheirBeginnings) {
  const std::string block =
      entry_of(0, "abc", "1") + entry_of(2, "d", "22") + little<uint32_t>(0) + little<uint32_t>(1);
  const auto read = read_table(OneBlock::make(block), "index");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->size(), 2u);
  EXPECT_EQ((*read)[1].key, "abd");
  EXPECT_EQ((*read)[1].value, "22");
}

TEST(TfTable, ChecksumsAreThoseOfCastagnoli) {
  EXPECT_EQ(crc32c(0, "123456789"), 0xe3069283u);
  EXPECT_EQ(crc32c(crc32c(0, "1234"), "56789"), 0xe3069283u);
}

TEST(TfTable, SnappyBlocksAreUnpacked) {
  const std::string block = entry_of(0, "aaaaaaaaaa", "v") + little<uint32_t>(0);
  // The entry's numbers and one letter, nine more of it as a copy, then the rest.
  std::string packed;
  put_varint(packed, block.size());
  packed += std::string(1, static_cast<char>(3 << 2)) + block.substr(0, 4);
  packed += std::string(1, static_cast<char>((9 - 4) << 2 | 1)) + std::string(1, '\1');
  packed += std::string(1, static_cast<char>((block.size() - 14) << 2)) + block.substr(13);
  const auto good = read_table(OneBlock::make(packed, 1), "index");
  ASSERT_TRUE(good.ok()) << good.error().message;
  EXPECT_EQ((*good)[0].key, "aaaaaaaaaa");
  std::string huge;
  put_varint(huge, uint64_t{4} << 30);
  EXPECT_THAT(failure_of(OneBlock::make(huge + packed.substr(1), 1)), HasSubstr("packed in a way"));
}

TEST(TfTable, DamageIsNamed) {
  const std::string block = entry_of(0, "abc", "1") + little<uint32_t>(0);
  std::string table = OneBlock::make(block);
  ASSERT_EQ(failure_of(table), "");
  std::string other = table;
  other.back() = 0;
  EXPECT_THAT(failure_of(other), HasSubstr("does not end as a table does"));
  EXPECT_THAT(failure_of(table.substr(0, 40)), HasSubstr("does not end as a table does"));
  other = table;
  other[0] ^= 1;
  EXPECT_THAT(failure_of(other), HasSubstr("checksum is wrong"));
  std::string beyond;
  put_varint(beyond, uint64_t{1} << 60);
  put_varint(beyond, 5);
  EXPECT_THAT(failure_of(OneBlock::make(block, 0, beyond)), HasSubstr("beyond its end"));
  EXPECT_THAT(failure_of(OneBlock::make(block, 0, std::string(11, '\xff'))), HasSubstr("no handle"));
  EXPECT_THAT(failure_of(OneBlock::make(entry_of(0, "a", "") + little<uint32_t>(0x80000000))),
              HasSubstr("more restarts than bytes"));
  EXPECT_THAT(failure_of(OneBlock::make(entry_of(3, "a", "") + little<uint32_t>(0))),
              HasSubstr("does not fit its block"));
  EXPECT_THAT(failure_of(OneBlock::make(block, 7)), HasSubstr("packed in a way"));
}

// A key of 4,000 bytes that each entry takes from the one before would want gigabytes.
TEST(TfTable, SharedBeginningsOfKeysHaveAnEnd) {
  std::string block = entry_of(0, std::string(4000, 'k'), "");
  for (int i = 0; i < 20'000; ++i) block += entry_of(4000, "a", "");
  EXPECT_THAT(failure_of(OneBlock::make(block + little<uint32_t>(0))), HasSubstr("more than 64 MiB together"));
  EXPECT_THAT(failure_of(OneBlock::make(entry_of(0, std::string(4097, 'k'), "") + little<uint32_t>(0))),
              HasSubstr("a name has more than 4096 bytes"));
}

// ---- directories ----------------------------------------------------------------------------------------------------

TEST(Tensor2Tensor, ShardsAreJoinedByTheirNumbers) {
  const auto entered = enter(Files(folder_of("prenorm")));
  ASSERT_TRUE(entered.ok()) << entered.error().message;
  EXPECT_EQ(entered->origin.program, "Tensor2Tensor");
  const auto checkpoint = Checkpoint::open(entered->files);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().message;
  const StoredTensor *read = checkpoint->find("model.encoder.embed_tokens.weight"),
                     *scored = checkpoint->find("lm_head.weight");
  ASSERT_TRUE(read && scored);
  EXPECT_EQ(read->shape, (std::vector<uint64_t>{300, 32}));
  const auto rows = read_floats(*read), scores = read_floats(*scored);
  ASSERT_TRUE(rows.ok() && scores.ok());
  const auto all = [](const std::string&) { return true; };
  const auto stored = read_tf_bundle(Files(folder_of("prenorm")), "model.ckpt-7", all);
  ASSERT_TRUE(stored.ok()) << stored.error().message;
  size_t first = 0;
  for (int shard = 0; shard < 16; ++shard)
    for (const StoredTensor& t : *stored) {
      if (!t.name.ends_with("shared/weights_" + std::to_string(shard))) continue;
      const auto own = read_floats(t);
      ASSERT_TRUE(own.ok());
      for (size_t i = 0; i < own->size(); ++i, ++first) {
        ASSERT_EQ((*scores)[first], (*own)[i]);
        ASSERT_EQ((*rows)[first], first < 32 ? 0.0f : (*own)[i]);  // id 0 is a row of zeros where it is read
      }
    }
  EXPECT_EQ(first, rows->size());
}

TEST(Tensor2Tensor, NormsAreWhereTheSequencesSay) {
  const auto before = enter(Files(folder_of("prenorm"))), behind = enter(Files(folder_of("postnorm")));
  ASSERT_TRUE(before.ok() && behind.ok());
  const auto of = [](const Entered& e) { return read_json_file(e.files / "config.json").value(); };
  EXPECT_EQ(of(*before)["encoder_normalize_before"], true);
  EXPECT_EQ(of(*behind)["encoder_normalize_before"], false);
  EXPECT_EQ(of(*behind)["decoder_final_norm"], false);
}

TEST(Tensor2Tensor, OtherNetworksAreRefusedByTheirOptions) {
  const std::tuple<const char*, nlohmann::json, const char*> kCases[] = {
      {"num_heads", 0, "num_heads is 0"},
      {"num_heads", 5, "num_heads is 5"},
      {"self_attention_type", "dot_product_relative", "self_attention_type is dot_product_relative"},
      {"ffn_layer", "local_moe_tpu", "ffn_layer is local_moe_tpu"},
      {"pos", "emb", "pos is emb"},
      {"layer_postprocess_sequence", "dn", "layer_postprocess_sequence dn"},
      {"num_hidden_layers", 9, "hparams ask for 9"},
      {"attention_key_channels", 7, "attention_key_channels is 7"},
      {"proximity_bias", true, "proximity_bias is on"},
      {"unidirectional_encoder", true, "unidirectional_encoder is on"},
      {"causal_decoder_self_attention", false, "causal_decoder_self_attention is off"},
      {"hard_attention_k", 3, "hard_attention_k is 3"},
      {"num_area_layers", 1, "num_area_layers is 1"}};
  for (const auto& [key, value, why] : kCases) {
    const CopiedModel model("postnorm");
    model.set(key, value);
    model.refused(why, ErrorCode::unsupported);
  }
}

TEST(Tensor2Tensor, DamageNamesTheTensor) {
  const CopiedModel model("postnorm");
  const std::string good = model.text(kData);
  std::string data = good;
  data[data.size() / 2] ^= 4;
  model.write(kData, data);
  model.refused("which has a wrong checksum");
  model.write(kData, good.substr(0, good.size() - 1));
  model.refused("which ends beyond its data file");
  model.remove(kData);
  model.refused("which is not there");
}

TEST(Tensor2Tensor, VocabulariesFitTheirTables) {
  const CopiedModel model("postnorm");
  const std::string name = "vocab.translate_enpt_tiny.260.subwords", words = model.text(name);
  model.write(name, words + "'more_'\n");
  model.refused("the network has 260 rows for the source and 260 for the target");
  model.write(name, words.substr(0, words.rfind('\n', words.size() - 2) + 1));
  model.refused("with 259 pieces");
  model.remove(name);
  const auto entered = model.enter_it();
  ASSERT_TRUE(entered.ok()) << entered.error().message;  // given ids run
}

TEST(Tensor2Tensor, VocabulariesOfOneSizeNameTheirLanguages) {
  const CopiedModel model("postnorm");
  const std::string words = model.text("vocab.translate_enpt_tiny.260.subwords");
  model.write("vocab.other.260.subwords", words);
  ASSERT_TRUE(model.enter_it().ok());  // they are the same
  model.write("vocab.other.260.subwords", words.substr(0, words.rfind('\n', words.size() - 2) + 1) + "'other_'\n");
  model.refused("'vocab.other.260.subwords' and 'vocab.translate_enpt_tiny.260.subwords' are of one size");
}

// Tensors that lie over each other: sums over them would take any time.
TEST(Tensor2Tensor, TensorsLieApart) {
  TempDirectory dir;
  const std::string value("\x08\x01\x12\x04\x12\x02\x08\x02(\x08\x35", 11);
  const std::string own = value + little(masked(crc32c(0, std::string(8, '\0'))));
  dir.write("m.data-00000-of-00001", std::string(12, '\0'));
  const auto read = [&](char offset) {
    const std::string block = entry_of(0, "", "\x08\x01") + entry_of(0, "a", own) +
                              entry_of(0, "b", std::string("\x20") + offset + own) + little<uint32_t>(0);
    dir.write("m.index", OneBlock::make(block));
    const auto tensors = read_tf_bundle(Files(dir.path()), "m", [](const std::string&) { return true; });
    return tensors ? std::string() : tensors.error().message;
  };
  EXPECT_THAT(read(4), HasSubstr("has tensor 'b', which lies over 'a'"));
  dir.write("m.data-00000-of-00001", std::string(16, '\0'));
  EXPECT_EQ(read(8), "");
}

TEST(Tensor2Tensor, MutantsAreReadOrRefused) {
  const CopiedModel model("postnorm");
  const std::string good = model.text(kIndex);
  std::mt19937 random(3);
  const auto pick = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    for (size_t n = 1 + pick(3); n > 0; --n) bad[pick(bad.size())] ^= static_cast<char>(1 << pick(8));
    if (i % 10 == 0) bad.resize(pick(bad.size()));
    model.write(kIndex, bad);
    const auto entered = model.enter_it();
    if (!entered) {
      EXPECT_FALSE(entered.error().message.empty());
    }
  }
  // Entries whose block has a right checksum.
  for (int i = 0; i < 3000; ++i) {
    std::string block = entry_of(0, "", "\x08\x01") +
                        entry_of(0, "a/b", std::string("\x08\x01\x12\x04\x12\x02\x08\x02 \x04(\x08", 11)) +
                        little<uint32_t>(0);
    for (size_t n = 1 + pick(4); n > 0; --n) block[pick(block.size())] = static_cast<char>(pick(256));
    model.write(kIndex, OneBlock::make(block));
    const auto read = model.enter_it();
    if (!read) {
      EXPECT_FALSE(read.error().message.empty());
    }
  }
}

}  // namespace
}  // namespace lapilli::doors::trained
