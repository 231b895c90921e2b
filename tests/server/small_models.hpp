// Small models whose outputs are texts, though they were recorded without a tokenizer.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

namespace lapilli::server::test {

// The directory `to` with the files of a model and a tokenizer of another.
inline std::string joined_model(const std::string& model, const std::string& tokenizer, const std::string& to) {
  std::filesystem::copy(LAPILLI_TEST_DATA "/" + model, to);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json"})
    std::filesystem::copy_file(LAPILLI_TEST_DATA "/" + tokenizer + "/" + name, to + "/" + name);
  return to;
}

// A Whisper with a vocabulary of invented words.
inline std::string small_ear(const std::string& folder) {
  return joined_model("models/whisper-long/model", "ears", folder + "/ear");
}

// A GPT-2 that writes noise, some of it no UTF-8.
inline std::string small_writer(const std::string& folder) {
  return joined_model("decoders/gpt2/model", "chat/tiny", folder + "/writer");
}

// A classifier of pictures, with a file that says how these are prepared.
inline std::string small_eye(const std::string& folder) {
  const std::string to = folder + "/eye";
  std::filesystem::copy(LAPILLI_TEST_DATA "/models/vit-image-classification/model", to);
  std::ofstream(to + "/preprocessor_config.json") << R"({"image_processor_type": "ViTImageProcessor", "size": 32})";
  return to;
}

}  // namespace lapilli::server::test
