// docs/use/instead-of-pipeline.md: each of its commands runs, with small models in the place of the published ones.
#include "cli/program.hpp"

namespace lapilli::test {
namespace {

std::vector<std::string> commands_of_page() {
  std::ifstream page(LAPILLI_SOURCE_DIR "/docs/use/instead-of-pipeline.md");
  std::vector<std::string> commands;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("    lapilli ")) commands.push_back(line.substr(4));
  return commands;
}

// A model of the records, whose words are bytes, under a published name.
void publish(const TemporaryFolder& folder, const std::string& recorded, const std::string& name) {
  fs::create_directories((folder.path() / name).parent_path());
  fs::copy(std::string(LAPILLI_TEST_DATA "/models/") + recorded + "/model", folder.path() / name);
  folder.file(name + "/tokenizer_config.json", R"({"tokenizer_class": "ByT5Tokenizer"})");
}

void publish_encoders(const TemporaryFolder& folder) {
  const std::pair<const char*, const char*> names[] = {
      {"deepset/roberta-base-squad2", "deepset__roberta-base-squad2"},
      {"dslim/bert-base-NER", "dslim__bert-base-NER"},
      {"google-bert/bert-base-uncased", "google-bert__bert-base-uncased@2018"},
      {"SamLowe/roberta-base-go_emotions", "SamLowe__roberta-base-go_emotions"},
      {"facebook/bart-large-mnli", "zero-shot-bart"},
      {"sentence-transformers/all-MiniLM-L6-v2", "sentence-transformers__all-MiniLM-L6-v2"},
      {"cross-encoder/ms-marco-MiniLM-L-6-v2", "cross-encoder__ms-marco-MiniLM-L-6-v2@4.36"}};
  for (const auto& [name, recorded] : names) {
    fs::create_directories((folder.path() / name).parent_path());
    fs::copy(std::string(LAPILLI_TEST_DATA "/sentences/") + recorded + "/model", folder.path() / name,
             fs::copy_options::recursive);
  }
}

void publish_all(const TemporaryFolder& folder) {
  const std::string processor = R"({"image_processor_type": "ViTImageProcessor", "size": 32})";
  publish(folder, "bart", "facebook/bart-large-cnn");
  publish(folder, "t5", "google-t5/t5-base");
  publish(folder, "t5", "google/flan-t5-base");
  publish(folder, "vit-gpt2", "nlpconnect/vit-gpt2-image-captioning");
  publish(folder, "trocr", "microsoft/trocr-base-printed");
  for (const char* seeing : {"nlpconnect/vit-gpt2-image-captioning", "microsoft/trocr-base-printed"})
    folder.file(std::string(seeing) + "/preprocessor_config.json", processor);
  fs::create_directories(folder.path() / "Helsinki-NLP");
  fs::copy(bundled_model(), folder.path() / "Helsinki-NLP/opus-mt-en-fr");
  folder.file("letter.txt", "Good morning.\nThank you.\n");
  folder.file("article.txt", "The cat sleeps.\n");
  for (const char* picture : {"photo.png", "line.png"})
    fs::copy_file(LAPILLI_TEST_DATA "/pictures/plain.png", folder.path() / picture);
}

TEST(CliDevicePipelinePage, EachCommandRuns) {
  TemporaryFolder folder;
  publish_all(folder);
  publish_encoders(folder);
  const auto commands = commands_of_page();
  EXPECT_EQ(commands.size(), 15u);
  for (const std::string& command : commands) {
    Spawn spawn = lapilli({});
    spawn.arguments = {
        "/bin/sh",         "-c", "cd \"$1\" && PATH=\"$2:$PATH\" && " + command, "sh", folder.path().string(),
        LAPILLI_BINARY_DIR};
    const Outcome outcome = run(spawn);
    EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    EXPECT_TRUE(outcome.out.ends_with("\n")) << command;
  }
}

}  // namespace
}  // namespace lapilli::test
