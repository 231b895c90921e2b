// caption, read, classify: files, folders, what is told of those that cannot be read, and of models of another kind.
#include "cli/program.hpp"
#include "image/png_bytes.hpp"

namespace lapilli::test {
namespace {

std::string data(const std::string& name) { return LAPILLI_SOURCE_DIR "/tests/data/" + name; }

constexpr const char* kProcessor = R"({"image_processor_type": "ViTImageProcessor", "size": 32})";

// A model of the records with the files that it needs for pictures. Its words are bytes.
std::string model_in(const TemporaryFolder& folder, const std::string& name, const char* processor = kProcessor) {
  fs::copy(data("models/" + name + "/model"), folder.path() / name);
  folder.file(name + "/preprocessor_config.json", processor);
  folder.file(name + "/tokenizer_config.json", R"({"tokenizer_class": "ByT5Tokenizer"})");
  return (folder.path() / name).string();
}

TEST(CliPictures, WhatIsNoFileIsSaidBeforeAnything) {
  const TemporaryFolder folder;
  const Outcome missing = run(lapilli({"classify", "--model", "/nowhere", (folder.path() / "none.png").string()}));
  EXPECT_EQ(missing.code, 3);
  EXPECT_TRUE(contains(missing.err, "none.png")) << missing.err;
  const Outcome empty = run(lapilli({"caption", folder.path().string()}));
  EXPECT_EQ(empty.code, 3);
  EXPECT_TRUE(contains(empty.err, "holds no picture (.png .jpg .jpeg .gif .bmp .webp .tif .tiff)")) << empty.err;
  EXPECT_EQ(run(lapilli({"read"})).code, 2);
  EXPECT_EQ(run(lapilli({"classify", "--top", "0", data("pictures/plain.png")})).code, 2);
}

TEST(CliPictures, WithoutAModelSayWhichServes) {
  const struct {
    const char *command, *told;
  } cases[] = {{"caption", "lapilli fetch nlpconnect/vit-gpt2-image-captioning gets one"},
               {"read", "lapilli fetch microsoft/trocr-base-printed gets one"},
               {"classify", "lapilli fetch google/vit-base-patch16-224 gets one"}};
  for (const auto& c : cases) {
    const Outcome out = run(lapilli({c.command, data("pictures/plain.png")}));
    EXPECT_EQ(out.code, 2) << c.command;
    EXPECT_TRUE(contains(out.err, "the bundled model translates text and sees no pictures")) << out.err;
    EXPECT_TRUE(contains(out.err, c.told)) << out.err;
  }
}

TEST(CliPictures, APictureIsNeverWrittenOver) {
  const TemporaryFolder folder;
  const std::string picture = folder.file("a.png", "no picture"),
                    elsewhere = (folder.path() / "mistyped/a.txt").string();
  for (const char* option : {"-o", "--attention"}) {
    const Outcome out = run(lapilli({"caption", "--model", "/nowhere", "--force", option, picture, picture}));
    EXPECT_EQ(out.code, 2) << option;
    EXPECT_TRUE(contains(out.err, "a.png is an input; it cannot be the output")) << out.err;
  }
  EXPECT_EQ(read_file(picture), "no picture");
  const Outcome mistyped = run(lapilli({"caption", "--model", "/nowhere", "-o", elsewhere, picture}));
  EXPECT_EQ(mistyped.code, 2);
  EXPECT_TRUE(contains(mistyped.err, "there is no folder ")) << mistyped.err;
}

TEST(CliPictures, WhatCannotBeDrawnIsSaidBeforeTheModelIsLoaded) {
  const TemporaryFolder folder;
  const std::string picture = data("pictures/plain.png"), svg = (folder.path() / "looked.svg").string();
  const struct {
    std::vector<std::string> arguments;
    const char* told;
  } cases[] = {
      {{"--attention", svg, picture, picture}, "--attention draws over one picture, and there are 2"},
      {{"--attention", "looked.json", picture}, "looked.json ends with neither .svg nor .png"},
      {{"--attention", "no/such/looked.svg", picture}, "--attention: there is no folder no/such/"},
      {{"--attention-layer", "1", picture}, "say where, with --attention"},
      {{"--attention", svg, "--attention-layer", "all", picture}, "--attention-layer: a number from 0, or mean"},
      {{"--attention", svg, "--attention-head", "-1", picture}, "--attention-head: a number from 0, or mean"}};
  for (const auto& c : cases) {
    std::vector<std::string> arguments{"caption", "--model", "/nowhere"};
    arguments.insert(arguments.end(), c.arguments.begin(), c.arguments.end());
    const Outcome out = run(lapilli(arguments));
    EXPECT_EQ(out.code, 2) << c.told;
    EXPECT_TRUE(contains(out.err, c.told)) << out.err;
  }
  EXPECT_EQ(run(lapilli({"classify", "--attention", svg, picture})).code, 2);
}

// A look for each word of the text; labels are these words.
TEST(CliDevicePictures, MessagesNameOptionsAsTyped) {
  const TemporaryFolder folder;
  const std::string model = model_in(folder, "trocr");
  const Outcome out = run(lapilli({"read", "-q", "--model", model, "--max-length", "999", data("pictures/plain.png")}));
  EXPECT_EQ(out.code, 2);
  EXPECT_TRUE(contains(out.err, "lapilli: --max-length: 999 ids exceed the model's 48 positions")) << out.err;
}

TEST(CliDevicePictures, WhatEachWordLookedAt) {
  const TemporaryFolder folder;
  const std::string model = model_in(folder, "trocr"), svg = (folder.path() / "looked.svg").string(),
                    png = (folder.path() / "looked.png").string(), picture = data("pictures/plain.png");
  const auto read = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"read", "-q", "--model", model, "--max-length", "8", picture};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(lapilli(arguments));
  };
  const Outcome plain = read({}), drawn = read({"--attention", svg});
  EXPECT_EQ(drawn.code, 0) << drawn.err;
  EXPECT_EQ(drawn.out, plain.out);
  const std::string sheet = read_file(svg);
  EXPECT_TRUE(contains(sheet, "cross attention, mean of all layers, mean of all heads")) << sheet.substr(0, 400);
  size_t looks = 0;
  for (size_t at = 0; (at = sheet.find("<use ", at)) != std::string::npos; ++at) ++looks;
  EXPECT_GE(looks, 1u);
  EXPECT_LE(looks, 8u);
  EXPECT_TRUE(contains(sheet, "fill-opacity=\"75%\""));
  EXPECT_EQ(read({"--attention", png, "--attention-layer", "1", "--attention-head", "0"}).code, 0);
  EXPECT_TRUE(read_file(png).starts_with("\x89PNG"));
  const Outcome layer = read({"--attention", svg, "--attention-layer", "9"});
  EXPECT_EQ(layer.code, 2);
  EXPECT_TRUE(contains(layer.err, "attention layer 9: the decoder has layers 0 to 1")) << layer.err;
}

// The text is not lost with the file.
TEST(CliDevicePictures, AnUnwritablePictureOfWhatWasLookedAt) {
  const TemporaryFolder folder;
  const std::string model = model_in(folder, "trocr");
  fs::create_directory(folder.path() / "looked.svg.part");  // what is there of it until it is complete
  const Outcome out = run(lapilli({"read", "-q", "--model", model, "--max-length", "8", "--attention",
                                   (folder.path() / "looked.svg").string(), data("pictures/plain.png")}));
  EXPECT_EQ(out.code, 6) << out.err;
  EXPECT_TRUE(contains(out.err, "cannot be written")) << out.err;
  EXPECT_FALSE(out.out.empty());
}

TEST(CliDevicePictures, OnePictureGivesItsClasses) {
  const TemporaryFolder folder;
  const std::string model = model_in(folder, "vit-image-classification");
  const Outcome out = run(lapilli({"classify", "-q", "--model", model, "--top", "3", data("pictures/plain.png")}));
  EXPECT_EQ(out.code, 0) << out.err;
  const auto lines = lines_of(out.out);
  ASSERT_EQ(lines.size(), 3u) << out.out;
  for (const auto& line : lines) EXPECT_TRUE(contains(line, "\tLABEL_")) << line;
  EXPECT_GE(std::stod(lines[0]), std::stod(lines[1]));
}

TEST(CliDevicePictures, APictureFromAPipeIsTheSame) {
  const TemporaryFolder folder;
  const std::string model = model_in(folder, "vit-image-classification"), picture = data("pictures/plain.jpg");
  const auto classes = [&](const std::string& name, const std::string& input) {
    return run(lapilli({"classify", "-q", "--model", model, name}), input);
  };
  const Outcome file = classes(picture, "");
  for (const char* name : {"-", "/dev/stdin"}) {
    const Outcome piped = classes(name, read_file(picture));
    EXPECT_EQ(piped.code, 0) << piped.err;
    EXPECT_EQ(piped.out, file.out) << name;
  }
  const Outcome wrong = classes("-", "no picture");
  EXPECT_EQ(wrong.code, 3);
  EXPECT_TRUE(contains(wrong.err, "lapilli: - is no picture that can be read; PNG, JPEG, GIF")) << wrong.err;
}

TEST(CliDevicePictures, AnyNameKeepsTheColumns) {
  const TemporaryFolder folder;
  const std::string model = model_in(folder, "vit-image-classification"),
                    name = (folder.path() / "a\tb\nc.png").string();
  fs::copy(data("pictures/plain.png"), name);
  const Outcome out =
      run(lapilli({"classify", "-q", "--top", "1", "--model", model, name, data("pictures/plain.png")}));
  const auto lines = lines_of(out.out);
  ASSERT_EQ(lines.size(), 2u) << out.out << out.err;
  EXPECT_TRUE(contains(lines[0], "/a b c.png\t")) << lines[0];
}

// The picture in the middle is damaged, and more pictures than a batch.
TEST(CliDevicePictures, AFolderAsJsonLines) {
  const TemporaryFolder folder;
  const std::string model = model_in(folder, "vit-image-classification");
  fs::create_directories(folder.path() / "in/below");
  for (const char* name : {"a.JPG", "c.png", "below/d.jpeg"})
    fs::copy(data("pictures/plain.jpg"), folder.path() / "in" / name);
  folder.file("in/b.png", "no picture");
  folder.file("in/notes.txt", "not taken");
  const Outcome out = run(lapilli(
      {"classify", "-q", "--json", "--batch", "2", "--model", model, (folder.path() / "in").string(), "--stats"}));
  EXPECT_EQ(out.code, 1) << out.err;
  const auto lines = lines_of(out.out);
  ASSERT_EQ(lines.size(), 4u) << out.out;
  std::vector<nlohmann::json> results;
  for (const auto& line : lines) results.push_back(nlohmann::json::parse(line));
  EXPECT_TRUE(contains(results[0]["file"], "a.JPG"));
  EXPECT_TRUE(contains(results[1]["error"]["message"], "b.png is no picture that can be read")) << lines[1];
  EXPECT_EQ(results[0]["classes"].size(), 5u);
  EXPECT_EQ(results[0]["classes"], results[3]["classes"]);
  EXPECT_TRUE(contains(out.err, "\"pictures\":3,\"failed\":1")) << out.err;
}

// Each gets its message, and nothing of the others is lost.
TEST(CliDevicePictures, PicturesThatAreTooMuchOrTooLittle) {
  const TemporaryFolder folder;
  const std::string model = model_in(folder, "vit-image-classification");
  fs::create_directories(folder.path() / "in");
  folder.file("in/a-1x1.png", image::png_of(1, 1, image::zlib_zeros(4)));
  folder.file("in/b-huge.png", image::png_of(20'000, 20'000, ""));
  folder.file("in/c-bomb.png", image::png_of(4, 4, image::zlib_zeros(uint64_t{1} << 28)));
  fs::copy(data("pictures/cmyk.jpg"), folder.path() / "in/d-cmyk.jpg");
  folder.file("in/e-cut.jpg", read_file(data("pictures/plain.jpg")).substr(0, 200));
  const Outcome out = run(lapilli({"classify", "-q", "--json", "--model", model, (folder.path() / "in").string()}));
  EXPECT_EQ(out.code, 1) << out.err;
  const auto lines = lines_of(out.out);
  ASSERT_EQ(lines.size(), 5u) << out.out;
  const char* told[] = {nullptr, "b-huge.png is a picture of 20000 by 20000 pixels", "c-bomb.png cannot be read",
                        nullptr, "e-cut.jpg"};
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto result = nlohmann::json::parse(lines[i]);
    ASSERT_EQ(result.contains("error"), told[i] != nullptr) << lines[i];
    if (told[i])
      EXPECT_TRUE(contains(result["error"]["message"], told[i])) << lines[i];
    else
      EXPECT_EQ(result["classes"].size(), 5u);
  }
}

// Donut's tasks are starts of their own, and its fields are part of the text.
TEST(CliDevicePictures, DonutReadsAPageForATask) {
  const TemporaryFolder folder;
  const std::string model = model_in(folder, "donut", R"({"image_processor_type": "DonutImageProcessor",
      "size": {"height": 56, "width": 40}, "do_thumbnail": true, "do_align_long_axis": false, "do_pad": true})");
  std::vector<std::string> texts;
  for (const char* prompt : {"", "A", "B"}) {
    std::vector<std::string> arguments{
        "read", "-q", "--model", model, "--max-length", "12", data("pictures/plain.png")};
    if (*prompt) arguments.insert(arguments.end(), {"--prompt", prompt});
    const Outcome out = run(lapilli(arguments));
    EXPECT_EQ(out.code, 0) << out.err;
    texts.push_back(out.out);
  }
  EXPECT_NE(texts[0], texts[1]);
  EXPECT_NE(texts[1], texts[2]);
  EXPECT_EQ(run(lapilli({"classify", "--model", model, "--prompt", "A", data("pictures/plain.png")})).code, 2);
}

TEST(CliDevicePictures, WordsForPictures) {
  const TemporaryFolder folder;
  for (const char* name : {"vit-gpt2", "trocr"}) {
    const std::string model = model_in(folder, name);
    const std::string target = (folder.path() / (std::string(name) + ".txt")).string();
    const Outcome out = run(lapilli({"caption", "-q", "--beam", "1", "--max-length", "6", "--model", model, "-o",
                                     target, data("pictures/plain.png"), data("pictures/plain.jpg")}));
    EXPECT_EQ(out.code, 0) << out.err;
    std::ifstream file(target);
    std::stringstream text;
    text << file.rdbuf();
    const auto lines = lines_of(text.str());
    ASSERT_EQ(lines.size(), 2u) << text.str();
    EXPECT_TRUE(contains(lines[0], "plain.png\t") && contains(lines[1], "plain.jpg\t")) << text.str();
  }
}

TEST(CliDevicePictures, ModelsOfAnotherKindSayWhatServesThem) {
  const TemporaryFolder folder;
  const std::string classes = model_in(folder, "vit-image-classification"), words = model_in(folder, "vit-gpt2"),
                    bare = model_in(folder, "vit"), picture = data("pictures/plain.png");
  const struct {
    std::vector<std::string> arguments;
    const char* told;
  } cases[] = {{{"caption", "--model", classes, picture}, "lapilli classify"},
               {{"classify", "--model", words, picture}, "lapilli caption or lapilli read"},
               {{"classify", "--model", bare, picture}, "the model has no classes"},
               {{"classify", "--model", bundled_model(), picture}, "lapilli translate, summarize or generate"},
               {{"translate", "--model", words, "some words"}, "lapilli caption or lapilli read"},
               {{"generate", "--model", classes, "some words"}, "lapilli classify"}};
  for (const auto& c : cases) {
    const Outcome out = run(lapilli(c.arguments));
    EXPECT_EQ(out.code, 3) << c.told << out.err;
    EXPECT_TRUE(contains(out.err, c.told)) << out.err;
  }
}

TEST(CliDevicePictures, FilesOfAnotherModelAreRefused) {
  const TemporaryFolder folder;
  const std::string model = model_in(folder, "vit-image-classification", R"({"size": 48})");
  const Outcome out = run(lapilli({"classify", "--model", model, data("pictures/plain.png")}));
  EXPECT_EQ(out.code, 3);
  EXPECT_TRUE(contains(out.err, "makes pictures of 48 by 48, config.json wants 32 by 32")) << out.err;
  folder.file("vit-image-classification/preprocessor_config.json", R"({"do_resize": false})");
  const Outcome size = run(lapilli({"classify", "--model", model, data("pictures/plain.png")}));
  EXPECT_EQ(size.code, 3);
  EXPECT_TRUE(contains(size.err, "a picture of 33 by 21 pixels (width by height); the model reads 32 by 32"))
      << size.err;
}

}  // namespace
}  // namespace lapilli::test
