// A first session with a model of each other program: what it is, a text or a recording, how fast it is, a directory of
// our own, and the same text from that.
#include <gmock/gmock.h>

#include <filesystem>

#include "cli/program.hpp"
#include "formats/hostile.hpp"

namespace lapilli::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

struct ForeignModel {
  const char* kind;
  const char* path;     // below tests/data/formats
  const char* program;  // as inspect names it
  const char* dtype;    // in which its weights lie already, or which is packed
  std::vector<std::string> task;
};

std::ostream& operator<<(std::ostream& out, const ForeignModel& model) { return out << model.kind; }

std::vector<std::string> translating(std::vector<std::string> more = {"Where is the station?"}) {
  more.insert(more.begin(), {"translate", "--no-unsure", "--max-length", "12"});
  return more;
}

std::vector<ForeignModel> kinds() {
  const std::string sound = LAPILLI_TEST_DATA "/sounds/spoken.wav";
  return {{"CTranslate2", "ct2-marian/int8", "CTranslate2", "int8", translating({"--ids", "20 31 42 53 0"})},
          {"Argos", "argos/translate-en_fr-1_9.argosmodel", "Argos Translate", "int8", translating()},
          {"Ggml", "ggml-whisper/ggml-q8_0.bin", "whisper.cpp", "int8", {"transcribe", sound}},
          {"Firefox", "firefox-shared-int8-alphas", "Marian", "int8", translating()},
          {"Marian", "marian-npz-tied-all", "Marian", "fp16", translating({"--to", "fra", "Where is the station?"})},
          {"Fairseq", "fairseq-args", "fairseq", "fp16", translating()},
          {"OpenNmt", "opennmt-v3-shaw", "OpenNMT-py", "fp16", translating()},
          {"Tensor2Tensor", "tensor2tensor-postnorm", "Tensor2Tensor", "fp16", translating()}};
}

class CliDeviceForeignSession : public testing::TestWithParam<ForeignModel> {
 protected:
  void SetUp() override {
    const fs::path recorded = fs::path(LAPILLI_TEST_DATA "/formats") / GetParam().path;
    path_ = recorded.string();
    if (recorded.parent_path().filename() == "ggml-whisper") make_hearing(recorded);
  }
  // The twin of whisper.cpp's has 64 positions, and recordings need whole seconds: it gets 50. Its small vocabulary
  // needs the settings beside it.
  void make_hearing(const fs::path& recorded) {
    const std::string name = "encoder.positional_embedding";
    const int32_t seconds = 50, width = 32 * sizeof(float);
    std::string bytes = read_file(recorded.string());
    const size_t table = bytes.find(name) + name.size();
    ASSERT_LT(table, bytes.size());
    bytes.erase(table + size_t{50} * width, size_t{14} * width);
    bytes.replace(table - name.size() - sizeof(seconds), sizeof(seconds), little(seconds));
    bytes.replace(8, sizeof(seconds), little(seconds));
    path_ = folder_.file("ggml-tiny.bin", bytes);
    const std::string settings = LAPILLI_TEST_DATA "/models/whisper/model/";
    auto config = read_json(settings + "config.json");
    config["max_source_positions"] = seconds;
    folder_.file("config.json", config.dump());
    folder_.file("generation_config.json", read_file(settings + "generation_config.json"));
  }
  [[nodiscard]] const std::string& path() const { return path_; }
  // The task's output with a model, whose weights are held as the test says.
  static Outcome perform(const std::string& model) {
    std::vector<std::string> arguments = GetParam().task;
    arguments.insert(arguments.begin() + 1, {"-q", "--model", model, "--dtype", GetParam().dtype});
    return run(lapilli(arguments));
  }
  TemporaryFolder folder_;
  std::string path_;
};

INSTANTIATE_TEST_SUITE_P(All, CliDeviceForeignSession, testing::ValuesIn(kinds()),
                         [](const auto& p) { return p.param.kind; });

TEST_P(CliDeviceForeignSession, AFirstSession) {
  const std::string packed = (folder_.path() / "packed").string();
  const Outcome looked = run(lapilli({"inspect", path()}));
  if (looked.err.find("without zlib") != std::string::npos) GTEST_SKIP() << looked.err;
  ASSERT_EQ(looked.code, 0) << looked.err;
  EXPECT_THAT(looked.out, HasSubstr(GetParam().program));
  Spawn of_environment = lapilli({"inspect"});
  of_environment.environment.push_back("LAPILLI_MODEL=" + path());
  EXPECT_EQ(run(of_environment).out, looked.out);
  const Outcome made = perform(path());
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_NE(made.out, "");
  const Outcome timed = run(lapilli(
      {"bench", path(), "--runs", "1", "--batch", "1", "--beam", "1", "--source", "4", "--target", "4", "--json"}));
  EXPECT_EQ(timed.code, 0) << timed.err;
  const Outcome wrote = run(lapilli({"pack", path(), packed, "--dtype", GetParam().dtype}));
  ASSERT_EQ(wrote.code, 0) << wrote.err;
  EXPECT_TRUE(fs::exists(fs::path(packed) / "model.safetensors"));
  EXPECT_EQ(run(lapilli({"inspect", packed})).code, 0);
  const Outcome again = perform(packed);
  EXPECT_EQ(again.out, made.out) << again.err;
}

// A directory of CTranslate2's Whisper without preprocessor_config.json. The twin has 64 positions, and recordings need
// whole seconds: it gets 50.
fs::path hearing_directory(const TemporaryFolder& folder) {
  const fs::path recorded = LAPILLI_TEST_DATA "/formats/ct2-whisper/float32";
  const std::string name = "encoder/position_encodings/encodings";
  const uint32_t seconds = 50, row = 32 * sizeof(float);
  std::string bytes = read_file((recorded / "model.bin").string());
  const size_t shape = bytes.find(name) + name.size() + 2, table = shape + 13;
  bytes.erase(table + size_t{seconds} * row, size_t{14} * row);
  bytes.replace(table - 4, 4, little(seconds * row));
  bytes.replace(shape, 4, little(seconds));
  folder.file("model.bin", bytes);
  for (const char* other : {"config.json", "vocabulary.json"})
    folder.file(other, read_file((recorded / other).string()));
  return folder.path();
}

// Published files have the filters or leave them out; both mean those of the model's number of bands.
TEST(CliDeviceForeignWhisper, FiltersThatAFileLacksAreMade) {
  const TemporaryFolder folder;
  const fs::path model = hearing_directory(folder);
  const auto heard = [&] {
    return run(lapilli({"transcribe", "-q", "--json", "--ids", "--dtype", "fp32", "--max-new-tokens", "12", "--model",
                        model.string(), LAPILLI_TEST_DATA "/sounds/spoken.wav"}));
  };
  const Outcome alone = heard();
  ASSERT_EQ(alone.code, 0) << alone.err;
  EXPECT_THAT(alone.out, HasSubstr("\"ids\""));
  nlohmann::json settings = {
      {"feature_extractor_type", "WhisperFeatureExtractor"}, {"feature_size", 80}, {"chunk_length", 1}};
  folder.file("preprocessor_config.json", settings.dump());
  EXPECT_EQ(heard().out, alone.out);
  settings["mel_filters"] =
      read_json(LAPILLI_TEST_DATA "/published/openai__whisper-base/preprocessor_config.json").at("mel_filters");
  folder.file("preprocessor_config.json", settings.dump());
  EXPECT_EQ(heard().out, alone.out);
  settings["feature_size"] = 40;
  folder.file("preprocessor_config.json", settings.dump());
  EXPECT_THAT(heard().err, HasSubstr("40 mel bands, but the model's weights take 80"));
}

TEST(CliDeviceDoctorForeign, ExaminesAModelOfAnotherProgram) {
  const Outcome out = run(lapilli(
      {"doctor", "--quick", "--runs", "1", "-q", "--model", LAPILLI_TEST_DATA "/formats/firefox-shared-float32"}));
  EXPECT_EQ(out.code, 0) << out.out << out.err;
  EXPECT_THAT(out.out, HasSubstr("marian_nmt of Marian, 167,361 parameters: it runs"));
  EXPECT_THAT(out.out, HasSubstr("twice with the same results"));
  const Outcome none = run(lapilli({"doctor", "--quick", "--model", "/nowhere/at/all"}));
  EXPECT_EQ(none.code, 3);
}

std::string foreign(const std::string& name) { return LAPILLI_TEST_DATA "/formats/" + name; }

TEST(CliInspectForeign, SaysWhatTheFilesAre) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> models = {
      {foreign("argos/translate-en_fr-1_9.argosmodel"),
       {"pegasus (the network of Pegasus)\n", "checkpoint   CTranslate2's model.bin, 59 x F32, 33 x int8, "}},
      {foreign("ct2-marian/float32"), {"marian (the network of Marian)\n", "checkpoint   CTranslate2's model.bin, "}},
      {foreign("firefox-separate-int8-alphas"), {"checkpoint   Marian's .bin, ", "decoder      1 layer, 8 heads, "}},
      {foreign("marian-npz-tied-all"), {"checkpoint   Marian's .npz, ", "encoder      2 layers, "}},
      {foreign("fairseq-args"), {"checkpoint   PyTorch's .pt, "}},
      {foreign("fairseq-omegaconf"), {"learned positions, "}},
      {foreign("opennmt-v2-sinusoid"),
       {"checkpoint   PyTorch's .pt, ", "decoder      1 layer, ", "; sinusoidal positions, 5,000 tokens at most\n"}},
      {foreign("opennmt-v3.5-safetensors"), {"checkpoint   safetensors, "}},
      {foreign("tensor2tensor-postnorm"),
       {"checkpoint   TensorFlow's checkpoint, ",
        "layer norm after sublayers; sinusoidal positions, 4,096 tokens at most\ndecoder "}},
      {LAPILLI_TEST_DATA "/models/pegasus/model", {"pegasus (Pegasus, for summarization)\n"}}};
  for (const auto& [model, parts] : models) {
    const Outcome outcome = run(lapilli({"inspect", model}));
    if (outcome.err.find("without zlib") != std::string::npos) continue;
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    for (const std::string& part : parts) EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

TEST(CliInspectForeign, ACheckpointBesideOneThatIsNotReadIsRead) {
  for (const char* name : {"ct2-marian/int8", "firefox-shared-float32", "marian-npz-tied-all", "fairseq-args",
                           "opennmt-v3-shaw", "tensor2tensor-prenorm"}) {
    const TemporaryFolder folder;
    const fs::path model = folder.path() / "model";
    fs::copy(foreign(name), model);
    std::ofstream(model / "model.onnx") << "x";
    const Outcome outcome = run(lapilli({"inspect", model.string()}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("not used     model.onnx\n"));
  }
}

TEST(CliInspectForeign, ACheckpointMayBeNamedByItself) {
  for (const char* name :
       {"firefox-shared-float32/model.enpt.bin", "fairseq-args/model.pt", "opennmt-v3-shaw/model_step_7.pt"}) {
    const Outcome outcome = run(lapilli({"inspect", foreign(name)}));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("tokenizer    ok\n"));
  }
  const TemporaryFolder folder;
  for (const char* name : {"model.enpt.bin", "vocab.enpt.spm"})
    folder.file(name, read_file(foreign("firefox-shared-float32/") + name));
  const std::string note = run(lapilli({"inspect", (folder.path() / "model.enpt.bin").string()})).err;
  EXPECT_THAT(note, HasSubstr("has no shortlist"));
  EXPECT_EQ(note.find("has no shortlist"), note.rfind("has no shortlist")) << note;
  const Outcome damaged = run(lapilli({"inspect", folder.file("model.pt", "<!DOCTYPE html>")}));
  EXPECT_EQ(damaged.code, 3);
  EXPECT_THAT(damaged.err, HasSubstr("is a web page and not a checkpoint"));
}

TEST(CliPack, WithoutADtypeMatricesKeepTheirs) {
  const TemporaryFolder folder;
  const auto pack = [&](const std::string& model, const std::string& name) {
    return run(lapilli({"pack", model, (folder.path() / name).string()}));
  };
  EXPECT_THAT(pack(foreign("ct2-marian/int8"), "int8").out, HasSubstr("the matrices are in int8 already"));
  EXPECT_THAT(pack(bundled_model(), "fp16").out, HasSubstr(" matrices in fp16, "));
  EXPECT_THAT(read_file((folder.path() / "fp16/config.json").string()), HasSubstr("\"dtype\": \"fp16\""));
  const Outcome nothing = pack(foreign("fairseq-args"), "fp32");
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("has its matrices in fp32"));
  for (const char* dtype : {"--dtype fp16 (", "bf16 (", "int8 (", "int4 ("}) EXPECT_THAT(nothing.err, HasSubstr(dtype));
  EXPECT_FALSE(fs::exists(folder.path() / "fp32"));
  EXPECT_THAT(pack(LAPILLI_TEST_DATA "/models/vit-gpt2/model", "gpt2").err,
              HasSubstr("give --dtype fp16 or int8 when it is loaded"));
}

TEST(CliPack, LicencesAndReadmesGoAlong) {
  const TemporaryFolder folder;
  const fs::path source = folder.path() / "model", packed = folder.path() / "packed";
  fs::copy(LAPILLI_TEST_DATA "/formats/ct2-marian/int8", source);
  for (const char* name : {"README.md", "LICENSE"}) std::ofstream(source / name) << "of the publisher\n";
  const Outcome made = run(lapilli({"pack", source.string(), packed.string(), "--dtype", "int8"}));
  ASSERT_EQ(made.code, 0) << made.err;
  for (const char* name : {"README.md", "LICENSE"}) EXPECT_TRUE(fs::exists(packed / name)) << name;
  EXPECT_FALSE(fs::exists(packed / "model.bin"));
  const fs::path of_archive = folder.path() / "argos";
  const Outcome argos = run(lapilli({"pack", LAPILLI_TEST_DATA "/formats/argos/translate-en_fr-1_9.argosmodel",
                                     of_archive.string(), "--dtype", "int8"}));
  if (argos.err.find("without zlib") != std::string::npos) GTEST_SKIP() << argos.err;
  EXPECT_TRUE(fs::exists(of_archive / "README.md")) << argos.out << argos.err;
}

}  // namespace
}  // namespace lapilli::test
