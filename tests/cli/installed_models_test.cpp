// Packages that Argos Translate has installed: listed, and used where no model is named that serves the languages.
#include <gmock/gmock.h>

#include <csignal>
#include <thread>

#include "cli/program.hpp"
#include "fetched/cache.hpp"
#include "formats/doors/argos.hpp"

namespace lapilli::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kText = "Hello world";
constexpr const char* kPackageSays = "our memory no\n";

std::string package_file() { return model_directory("../formats/argos/translate-en_fr-1_9.argosmodel"); }

class Packages : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!doors::files_of_zip(package_file())) GTEST_SKIP() << "packages are not unpacked";
    if (!read_text_file(*doors::files_of_zip(package_file()) / "README.md")) GTEST_SKIP() << "a build without zlib";
  }
  // Unpacks the recorded package under a name, for other languages.
  void install(const std::string& name, const std::string& from, const std::string& to, const std::string& version) {
    const auto files = doors::files_of_zip(package_file());
    fs::create_directories(folder_.path() / name / "model");
    for (const char* file : {"metadata.json", "model/config.json", "model/model.bin", "model/shared_vocabulary.json",
                             "sentencepiece.model"})
      write(name + "/" + file, *read_text_file(*files / file));
    write(name + "/metadata.json",
          R"({"from_code": ")" + from + R"(", "to_code": ")" + to + R"(", "package_version": ")" + version + R"("})");
  }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name, std::ios::binary) << text;
  }
  [[nodiscard]] Spawn with_packages(std::vector<std::string> arguments) const {
    Spawn spawn = lapilli(std::move(arguments));
    std::replace(spawn.environment.begin(), spawn.environment.end(), std::string("ARGOS_PACKAGES_DIR=/nowhere"),
                 "ARGOS_PACKAGES_DIR=" + folder_.path().string());
    return spawn;
  }
  [[nodiscard]] Outcome translate(const std::string& from, const std::string& to,
                                  const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"translate", "--from", from, "--to", to, kText};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(with_packages(arguments));
  }
  TemporaryFolder folder_;
};

class CliInstalled : public Packages {};
class CliDeviceInstalled : public Packages {};

TEST_F(CliInstalled, AreListedWithTheirLanguages) {
  install("en_de", "en", "de", "1.0");
  install("translate-en_de-1_9", "en", "de", "1.9");
  fs::copy_file(package_file(), folder_.path() / "zipped.argosmodel");
  write("broken/metadata.json", "{");
  write("notes.txt", "no package");
  const auto all = run(with_packages({"models"}));
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, HasSubstr("translate (installed by Argos Translate)"));
  EXPECT_THAT(all.out, HasSubstr("zipped.argosmodel                        en > fr"));
  EXPECT_LT(all.out.find("* translate-en_de-1_9"), all.out.find("* en_de ")) << "the newer one comes first";
  EXPECT_THAT(all.err, HasSubstr("broken/metadata.json"));
  EXPECT_THAT(all.err, Not(HasSubstr("notes.txt")));
  const auto json = nlohmann::json::parse(run(with_packages({"models", "--json", "--from", "en", "--to", "de"})).out);
  EXPECT_EQ(json.back()["installed"], "Argos Translate");
  EXPECT_EQ(json.back()["from"], nlohmann::json::array({"en"}));
}

TEST_F(CliInstalled, XdgDataHomeIsHeeded) {
  install("argos-translate/packages/en_de", "en", "de", "1.0");
  Spawn spawn = with_packages({"models", "--from", "en", "--to", "de"});
  for (std::string& setting : spawn.environment)
    if (setting.starts_with("ARGOS_PACKAGES_DIR=")) setting = "ARGOS_PACKAGES_DIR";
  spawn.environment.push_back("XDG_DATA_HOME=" + folder_.path().string());
  EXPECT_THAT(run(spawn).out, HasSubstr("* en_de"));
}

TEST_F(CliDeviceInstalled, TheNewestIsUsedAndSaid) {
  install("en_de", "en", "de", "1.9");
  install("later", "en", "de", "1.10");
  const auto made = translate("en", "de");
  EXPECT_EQ(made.out, kPackageSays) << made.err;
  EXPECT_THAT(made.err, HasSubstr("later (version 1.10), and not "));
  EXPECT_THAT(made.err, HasSubstr("en_de, whose version 1.9 is older"));
  EXPECT_EQ(translate("en", "de", {"-q"}).err, "");
}

TEST_F(CliDeviceInstalled, TwoOfOneVersionAreSaid) {
  install("a", "en", "de", "1.9");
  install("b", "en", "de", "1.9");
  EXPECT_THAT(translate("en", "de").err, HasSubstr("b, which is of the same version"));
}

TEST_F(CliDeviceInstalled, ZippedOnesAreUsedAndBrokenOnesNamed) {
  install("fr", "fr", "en", "1");
  write("broken/metadata.json", "{");
  write("cut.argosmodel", std::string("PK\x03\x04 and no more"));
  fs::create_directories(folder_.path() / "empty");
  const auto made = translate("fr", "en");
  EXPECT_EQ(made.out, kPackageSays) << made.err;
  for (const char* name : {"broken/metadata.json", "cut.argosmodel", "empty/metadata.json"})
    EXPECT_THAT(made.err, HasSubstr(name));
}

TEST_F(CliDeviceInstalled, TheBundledModelComesFirst) {
  install("en_fr", "en", "fr", "1.9");
  const auto made = translate("en", "fr");
  EXPECT_NE(made.out, kPackageSays);
  EXPECT_EQ(made.err, "");
}

TEST_F(CliDeviceInstalled, ANamedModelThatDoesNotServeThemIsLeftAside) {
  install("en_de", "en", "de", "1.9");
  install("es_en", "es", "en", "1.9");
  const auto made = translate("en", "de", {"--model", (folder_.path() / "es_en").string()});
  EXPECT_EQ(made.out, kPackageSays) << made.err;
  EXPECT_THAT(made.err, HasSubstr("es_en does not translate: "));
  EXPECT_THAT(made.err, HasSubstr("en_de (version 1.9)"));
}

TEST_F(CliDeviceInstalled, ChainsGoOverEnglishAndDirectOnesComeFirst) {
  install("es_en", "es", "en", "1.9");
  install("en_de", "en", "de", "1.9");
  const auto first = run(with_packages({"translate", "--model", (folder_.path() / "es_en").string(), kText}));
  const auto chain = translate("es", "de");
  EXPECT_EQ(chain.code, 0) << chain.err;
  EXPECT_THAT(chain.err, HasSubstr("es to de: over English, by "));
  // The second one reads the text that the first one wrote.
  const std::string between = lines_of(first.out).at(0);
  const auto second = run(with_packages({"translate", "--model", (folder_.path() / "en_de").string(), between}));
  EXPECT_EQ(chain.out, second.out);
  const auto refused = translate("es", "de", {"--alignment"});
  EXPECT_NE(refused.code, 0);
  EXPECT_THAT(refused.err, HasSubstr("a chain of two"));
  install("es_de", "es", "de", "1.9");
  EXPECT_EQ(translate("es", "de").out, kPackageSays);
}

// A model that knows no word of its output says words of the source, each of which stands where the step attended to
// it.
TEST_F(CliDeviceInstalled, UnknownWordsBecomeThoseOfTheSource) {
  install("en_de", "en", "de", "1.9");
  const std::string name = "en_de/model/shared_vocabulary.json";
  auto words = nlohmann::json::parse(std::ifstream(folder_.path() / name));
  for (auto& word : words)
    if (word == "\u2581memory") word = "<unk>";
  write(name, words.dump());
  const auto made = run(with_packages({"translate", "--from", "en", "--to", "de", kText}));
  const auto plain = run(with_packages({"translate", "--from", "en", "--to", "de", "--stream", kText}));
  ASSERT_EQ(plain.out, "our<unk> no\n") << plain.err;
  EXPECT_THAT(made.out, Not(HasSubstr("<unk>")));
  const auto put = made.out.substr(3, made.out.size() - 3 - 4);  // "our" before, " no" behind
  EXPECT_NE(put, "");
  EXPECT_THAT(std::string(kText), HasSubstr(put));
  EXPECT_EQ(made.out, "our" + put + " no\n");
}

// A model whose words are all blanks writes nothing, and the next one would make a text of that.
TEST_F(CliDeviceInstalled, NothingBetweenTheModelsOfAChainStaysNothing) {
  install("es_en", "es", "en", "1.9");
  install("en_de", "en", "de", "1.9");
  const std::string name = "es_en/model/shared_vocabulary.json";
  auto words = nlohmann::json::parse(std::ifstream(folder_.path() / name));
  std::string blanks;
  for (auto& word : words)
    if (!word.get<std::string>().starts_with('<')) word = blanks += "\u2581";
  write(name, words.dump());
  const auto asked = run(with_packages({"translate", "--model", (folder_.path() / "en_de").string(), "--ids", "2"}));
  ASSERT_NE(lines_of(asked.out).at(0), "") << "the second model makes a text of nothing: " << asked.err;
  const auto chain = translate("es", "de");
  EXPECT_EQ(chain.code, 0) << chain.err;
  EXPECT_EQ(chain.out, "\n");
  EXPECT_THAT(chain.err, HasSubstr("line 1: the first of the two models wrote nothing"));
  const auto json = nlohmann::json::parse(translate("es", "de", {"--json"}).out);
  EXPECT_EQ(json["text"], "");
  EXPECT_EQ(json["finish"], "empty");
}

TEST_F(CliDeviceInstalled, TheBundledModelIsHalfOfAChain) {
  install("es_en", "es", "en", "1.9");
  const auto first = run(with_packages({"translate", "--model", (folder_.path() / "es_en").string(), kText}));
  const auto chain = translate("es", "fr");
  EXPECT_EQ(chain.code, 0) << chain.err;
  EXPECT_THAT(chain.err, HasSubstr("then Lapilli's en-fr"));
  EXPECT_EQ(chain.out, run(lapilli({"translate", lines_of(first.out).at(0)})).out);
}

TEST_F(CliDeviceInstalled, AChainCountsBothModels) {
  install("es_en", "es", "en", "1.9");
  install("en_de", "en", "de", "1.9");
  const auto one = translate("es", "en", {"--stats", "--json", "-q"});
  const auto both = translate("es", "de", {"--stats", "--json", "-q"});
  EXPECT_EQ(both.code, 0) << both.err;
  const auto batches = [](const Outcome& outcome) {
    return nlohmann::json::parse(lines_of(outcome.err).back())["batches"].get<int>();
  };
  EXPECT_EQ(batches(both), 2 * batches(one));
}

TEST_F(CliDeviceInstalled, AnInterruptedChainIsResumedWithTheSameFirstModelAlone) {
  install("es_en", "es", "en", "1.9");
  install("en_de", "en", "de", "1.9");
  std::string lines;
  for (int i = 0; i < 24; ++i) lines += "Hello world " + std::to_string(i) + "\n";
  write("in/letter", lines);
  const std::string to = (folder_.path() / "out").string();
  const std::vector<std::string> arguments{
      "translate", "--from", "es", "--to", "de", "-o", to, "--batch", "2", (folder_.path() / "in/letter").string()};
  Process process(with_packages(arguments));
  while (!fs::exists(to + ".part") || fs::file_size(to + ".part") < 60)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  process.signal(SIGTERM);
  ASSERT_EQ(process.finish().code, 143);
  auto resumed = arguments;
  resumed.push_back("--resume");
  write("es_en/other.txt", "another model");
  const auto refused = run(with_packages(resumed));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("was begun with another first model"));
  fs::remove(folder_.path() / "es_en/other.txt");
  EXPECT_EQ(run(with_packages(resumed)).code, 0);
}

// Beside Argos' packages: a model that `lapilli fetch firefox/en_pt` would have left.
TEST_F(CliDeviceInstalled, ArgosComesBeforeFirefox) {
  const fs::path cache = folder_.path() / "cache";
  const std::string mark(64, 'a'), student = model_directory("../formats/firefox-shared-int8-alphas");
  const fs::path fetched = cache / "models/firefox/en_pt" / mark;
  fs::create_directories(fetched);
  hub::Manifest manifest{"firefox/en_pt", mark, "1.0", "mpl-2.0", hub::time_now(), {}};
  for (const char* name : {"model.enpt.intgemm.alphas.bin", "vocab.enpt.spm", "lex.50.50.enpt.s2t.bin"}) {
    fs::copy(fs::path(student) / name, fetched / name);
    manifest.files.push_back({name, fs::file_size(fetched / name), std::string(64, 'b'), ""});
  }
  ASSERT_TRUE(hub::write_manifest(fetched.string(), manifest).ok());
  const auto translated = [&] {
    Spawn spawn = with_packages({"translate", "--from", "en", "--to", "pt", "--no-unsure", kText});
    std::replace(spawn.environment.begin(), spawn.environment.end(), "LAPILLI_CACHE=" + test_cache(),
                 "LAPILLI_CACHE=" + cache.string());
    return run(spawn);
  };
  const auto alone = translated();
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("en to pt: Firefox's firefox/en_pt (version 1.0)"));
  install("en_pt", "en", "pt", "1.9");
  const auto both = translated();
  EXPECT_EQ(both.out, kPackageSays) << both.err;
  EXPECT_THAT(both.err, HasSubstr("for Argos Translate's come first"));
}

TEST_F(CliDeviceInstalled, NothingThatServesThemIsTheModelsOwnError) {
  install("es_en", "es", "en", "1.9");
  const auto made = translate("en", "ja");
  EXPECT_EQ(made.code, 2);
  EXPECT_THAT(made.err, HasSubstr("not to \"ja\""));
}

}  // namespace
}  // namespace lapilli::test
