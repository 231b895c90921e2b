// Options and models of other programs are answered with what serves here.
#include "cli/arguments/foreign_models.hpp"
#include "cli/arguments/foreign_options.hpp"
#include "cli/program.hpp"

namespace lapilli::test {
namespace {

TEST(CliForeignNames, OptionsOfOthersAreAnsweredWithOurs) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"translate", "--beam-size", "5"},
       "translate has no option --beam-size (CTranslate2's and transformers'); here it "
       "is --beam"},
      {{"translate", "--beam_size=5"}, "no option --beam_size (CTranslate2's and transformers'); here it is --beam"},
      {{"translate", "--num-beams", "5"}, "here it is --beam"},
      {{"translate", "--num_beams", "5"}, "here it is --beam"},
      {{"translate", "--batch-size", "5"}, "here it is --batch"},
      {{"transcribe", "--batch_size", "5", "a.wav"}, "here it is --batch"},
      {{"translate", "--threads", "4"}, "the device decides how many threads"},
      {{"transcribe", "-t", "4", "a.wav"}, "the device decides how many threads"},
      {{"translate", "-l", "fr"}, "translate has no option -l (whisper.cpp's and transformers'); here it is --from"},
      {{"transcribe", "-l", "fr", "a.wav"}, "here it is --language"},
      {{"translate", "--src_lang", "fr"}, "here it is --from"},
      {{"translate", "--tgt_lang", "fr"}, "here it is --to"},
      {{"transcribe", "--task", "translate", "a.wav"}, "transcribe --to en translates speech"},
      {{"translate", "--task", "translate"}, "the command is the task"},
      {{"translate", "--compute_type", "int8"}, "here it is --dtype"},
      {{"transcribe", "--output_format", "srt", "a.wav"}, "here it is --srt"},
      {{"translate", "--output_format", "srt"}, "here it is --format"},
      {{"translate", "--max_length", "5"}, "translate has no option --max_length; here it is --max-length"},
      {{"translate", "--top_k", "5"}, "here it is --top-k"},
      {{"translate", "--max_new_tokens", "5"}, "here it is --max-length"},
      {{"transcribe", "--max_new_tokens", "5", "a.wav"}, "here it is --max-new-tokens"},
      {{"translate", "--no_repeat_ngram_size", "3"}, "here it is --options '{...}'"},
      {{"transcribe", "-osrt", "a.wav"}, "there is no option -osrt (whisper.cpp's); here it is --srt"},
      {{"translate", "-osrt", "a.txt"}, "lapilli transcribe --srt writes subtitles"},
      {{"transcribe", "-otxt", "a.wav"}, "-o FILE names the file"},
      {{"translate", "--model_name_or_path", "x"}, "here it is --model"},
      {{"translate", "-ngl", "99"}, "here it is --device"},
      {{"fill", "--top_k", "3", "a"}, "here it is --top"},
      {{"search", "--top-k", "3", "a"}, "here it is --top"},
      {{"classify", "--candidate_labels", "a,b", "c"}, "here it is --labels"},
      {{"classify", "--hypothesis_template", "{}", "c"}, "here it is --hypothesis"},
      {{"tag", "--aggregation_strategy", "max", "a"}, "here it is --aggregation"},
      {{"answer", "--handle_impossible_answer", "a"}, "here it is --allow-empty"},
      {{"answer", "--max_answer_len", "9", "a"}, "here it is --max-answer-tokens"},
      {{"answer", "--doc_stride", "9", "a"}, "here it is --stride"},
      {{"answer", "--context", "a"}, "texts and files stand behind the command"},
      {{"tag", "--ignore_labels", "O", "a"}, "here it is --ignore-labels"},
      {{"embed", "--normalize_embeddings", "a"}, "here it is --normalize"},
      {{"embed", "--truncate_dim", "9", "a"}, "here it is --dimensions"},
      {{"embed", "--prompt_name", "query", "a"}, "here it is --prompt"},
      {{"embed", "--pooling", "mean", "a"}, "the model's directory names its pooling"},
  };
  for (const auto& [arguments, message] : cases) {
    const Outcome outcome = run(lapilli(arguments));
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << message << ": " << outcome.err;
  }
}

TEST(CliForeignNames, WhatIsOursIsNobodyElses) {
  const std::vector<std::string> ours{"--beam", "--max-length"};
  EXPECT_EQ(cli::foreign_option("--xyzzy", ours), "");
  EXPECT_EQ(cli::foreign_option("--", ours), "");
  EXPECT_EQ(cli::foreign_option("-", ours), "");
  EXPECT_EQ(cli::foreign_option("--beam", ours), "");
  EXPECT_EQ(cli::foreign_spelling({"-o", "srt", "-out.txt", "-o"}, ours), "");
  EXPECT_EQ(cli::foreign_device("llvmpipe"), "");
  EXPECT_TRUE(contains(cli::foreign_device("cuda:0"), "best GPU"));
}

TEST(CliForeignNames, ModelsOfOthersAreNamed) {
  TemporaryFolder folder;
  for (const char* name : {"ct2", "onnx", "optimum/onnx", "gguf", "called-ggml", "ours", "whisper", "damaged"})
    fs::create_directories(folder.path() / name);
  for (const char* name : {"ct2/model.bin", "ct2/shared_vocabulary.json", "ct2/config.json", "onnx/encoder_model.onnx",
                           "onnx/config.json", "optimum/config.json", "optimum/onnx/model.onnx", "gguf/m.gguf",
                           "ours/config.json", "ours/model.onnx", "ours/model.safetensors"})
    folder.file(name, "x");
  const std::string here = folder.path().string();
  folder.file("called-ggml/ggml-base.bin", std::string("GGUF\x03\0\0\0", 8));
  const std::pair<std::string, std::string> cases[] = {
      {here + "/onnx", "in ONNX, which is ONNX Runtime's"},
      {here + "/optimum", "in ONNX, which is ONNX Runtime's"},
      {here + "/gguf", "in GGUF, which is llama.cpp's"},
      {here + "/called-ggml", "in GGUF, which is llama.cpp's"},
      {folder.file("m.gguf", "x"), "in GGUF, which is llama.cpp's"},
      {folder.file("m.bin", std::string("GGUF\x03\0\0\0", 8)), "in GGUF, which is llama.cpp's"},
      {folder.file("ggml-base.bin", std::string("GGUF\x03\0\0\0", 8)), "in GGUF, which is llama.cpp's"},
      {here + "/ours/model.safetensors", "a file of a model; name the directory: --model " + here + "/ours/"},
      {folder.file("m.txt", "x"), "a file, and a model is a directory"},
  };
  for (const auto& [model, message] : cases) {
    const Outcome outcome = run(lapilli({"inspect", model}));
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, model + " is a") && contains(outcome.err, message)) << outcome.err;
  }
  EXPECT_EQ(cli::foreign_model(here + "/ours"), "");
  EXPECT_EQ(cli::foreign_model(folder.file("whisper.gguf", "lmgg")), "");
  folder.file("whisper/a.onnx", "x");
  folder.file("whisper/ggml-base.bin", "lmgg");
  EXPECT_EQ(cli::foreign_model(here + "/whisper"), "");
  // Loading it says why.
  for (const char* name : {"hparams.json", "m.index", "m.data-00000-of-00001", "model.onnx"})
    folder.file(std::string("damaged/") + name, "x");
  EXPECT_EQ(cli::foreign_model(here + "/damaged"), "");
  EXPECT_TRUE(contains(run(lapilli({"inspect", here + "/damaged"})).err, "hparams.json"));
  EXPECT_EQ(cli::foreign_model(bundled_model()), "");
  EXPECT_EQ(cli::foreign_model(here + "/nothing"), "");
  Spawn spawn = lapilli({"translate", "Hello."});
  spawn.environment.push_back("LAPILLI_MODEL=" + here + "/gguf");
  EXPECT_TRUE(contains(run(spawn).err, "LAPILLI_MODEL names " + here + "/gguf, which is a model in GGUF"));
}

TEST(CliForeignNames, TheModelInAFolderIsNamed) {
  TemporaryFolder folder;
  for (const char* name : {"with/model", "models--o--n/snapshots/abc", "module/1_Pooling", "sentence/0_Transformer"})
    fs::create_directories(folder.path() / name);
  for (const char* name : {"with/model/config.json", "with/results.json", "models--o--n/snapshots/abc/config.json",
                           "sentence/modules.json", "sentence/0_Transformer/config.json"})
    folder.file(name, "{}");
  const std::string here = folder.path().string();
  for (const char* name : {"with", "models--o--n"}) {
    const Outcome outcome = run(lapilli({"inspect", here + "/" + name}));
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, here + "/" + name + " is a folder around a model")) << outcome.err;
  }
  EXPECT_TRUE(contains(cli::foreign_model(here + "/with"), "name the model: " + here + "/with/model"));
  EXPECT_TRUE(contains(cli::foreign_model(here + "/models--o--n"), "/snapshots/abc"));
  EXPECT_EQ(cli::foreign_model(here + "/with/model"), "");
  EXPECT_EQ(cli::foreign_model(here + "/sentence"), "");
  EXPECT_EQ(cli::foreign_model(here + "/module"), "");
}

TEST(CliDeviceForeign, DevicesOfOthersAreExplained) {
  const Outcome outcome = run(lapilli({"translate", "--device", "cpu", "Hello."}));
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(contains(outcome.err, "a CPU driver is named like any device")) << outcome.err;
}

// It is said once a day, and each time where nothing is kept.
TEST(CliDeviceForeign, ThatThereIsNoGpuIsSaidOnceADay) {
  TemporaryFolder folder;
  const auto told = [&](std::vector<std::string> more) {
    Spawn spawn = lapilli({"translate", "--text", "12"}, folder.path().string());
    spawn.arguments.insert(spawn.arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(spawn);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return contains(outcome.err, "no GPU with Vulkan was found");
  };
  EXPECT_FALSE(told({"--quiet"}));
  EXPECT_TRUE(told({}));
  EXPECT_FALSE(told({}));
  EXPECT_TRUE(told({"--verbose"}));
  EXPECT_TRUE(told({"--no-cache"}));
  folder.file("no-gpu-told", "1");  // some other day
  EXPECT_TRUE(told({}));
  EXPECT_FALSE(told({}));
}

}  // namespace
}  // namespace lapilli::test
