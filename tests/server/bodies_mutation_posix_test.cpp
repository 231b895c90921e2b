// Damaged bodies, by a fixed seed, for the routes of all protocols: each is answered, and the server goes on.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "server/served.hpp"
#include "server/small_models.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::server::test {
namespace {

struct WholeBody {
  std::string target, headers, body;
};

WholeBody json_body(const std::string& target, const Json& body) {
  return {target, "Content-Type: application/json\r\n", body.dump()};
}
WholeBody form_body(const std::string& target, const std::string& body) {
  return {target, "Content-Type: application/x-www-form-urlencoded\r\n", body};
}
WholeBody parts_body(const std::string& target, const Multipart& form) {
  return {target, Multipart::kHeader, form.whole()};
}

// A tenth of a second of silence.
std::string tenth_of_silence() {
  return std::string("RIFF\xa4\x0c\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3e\0\0\0\x7d\0\0\2\0\x10\0data\x80\x0c\0\0", 44) +
         std::string(3200, '\0');
}

std::vector<WholeBody> bodies_of_texts() {
  const Json messages = Json::array({{{"role", "user"}, {"content", "Hi"}}});
  return {json_body("/translate", {{"q", kStation}, {"source", "en"}, {"target", "fr"}}),
          form_body("/translate", "q=The+port.&source=auto&target=fr&format=html"),
          json_body("/detect", {{"q", kStation}}),
          json_body("/suggest", {{"q", "a"}, {"s", "b"}, {"source", "en"}, {"target", "fr"}}),
          json_body("/v2/translate", {{"text", {kStation}}, {"target_lang", "FR"}}),
          form_body("/v2/languages", "type=target"),
          json_body("/v1/embeddings", {{"input", {"a", "b"}}, {"dimensions", 8}, {"encoding_format", "base64"}}),
          json_body("/v1/completions", {{"prompt", "Hello"}, {"model", "talker"}, {"max_tokens", 2}, {"n", 2}}),
          json_body("/v1/chat/completions", {{"messages", messages}, {"max_tokens", 2}, {"stream", true}}),
          json_body("/v1/rerank", {{"query", "a"}, {"documents", {"b", "c"}}, {"top_n", 1}}),
          json_body("/v2/rerank", {{"query", "a"}, {"documents", {{{"text", "b"}}}}, {"return_documents", true}}),
          json_body("/embed", {{"inputs", {"a", "b"}}, {"model", "vectors"}, {"truncate", true}}),
          json_body("/rerank", {{"query", "a"}, {"texts", {"b", "c"}}, {"raw_scores", true}}),
          json_body("/predict", {{"inputs", {"a", "b"}}, {"model", "judge"}}),
          json_body("/tokenize", {{"inputs", "a harbour"}, {"model", "vectors"}}),
          json_body("/v1/page/translate", {{"text", kStation}, {"source", "en"}, {"target", "fr"}})};
}

std::vector<WholeBody> whole_bodies() {
  auto all = bodies_of_texts();
  const Multipart sound = Multipart().file("file", "x", tenth_of_silence()).field("language", "en");
  all.push_back(parts_body("/v1/audio/transcriptions", sound));
  all.push_back(parts_body("/v1/audio/translations", sound));
  const std::string picture = read_file(LAPILLI_TEST_DATA "/pictures/plain.png");
  all.push_back(parts_body("/v1/pictures", Multipart().file("file", "x", picture).field("top", "2")));
  const Multipart paper = Multipart().file("file", "x.txt", kStation);
  all.push_back(parts_body("/translate_file", Multipart(paper).field("source", "en").field("target", "fr")));
  all.push_back(parts_body("/v2/document", Multipart(paper).field("target_lang", "FR")));
  return all;
}

void damage_body(std::string& bytes, std::mt19937& random) {
  static const std::array<std::string, 12> kPieces = {"\"",   "{",    "]",  ",",     "--edge", "\r\n\r\n",
                                                      "\xff", "null", "-1", "1e400", "%",      std::string(1, '\0')};
  if (bytes.empty()) return;
  const size_t at = random() % bytes.size(), length = 1 + random() % std::min<size_t>(bytes.size() - at, 20);
  switch (random() % 5) {
    case 0: bytes[at] = static_cast<char>(random() % 256); break;
    case 1: bytes.erase(at, length); break;
    case 2: bytes.insert(at, kPieces[random() % kPieces.size()]); break;
    case 3: bytes.insert(at, bytes.substr(at, length)); break;
    default: bytes.resize(at); break;
  }
}

TEST(ServeDeviceMutation, EachBodyIsAnswered) {
  const TempDirectory folder;
  const Served served(Served::with({{"en-fr", kBundled},
                                    {"vectors", LAPILLI_TEST_DATA "/sentences/bert-cls/model"},
                                    {"judge", LAPILLI_TEST_DATA "/sentences/cross-bert-identity/model"},
                                    {"talker", LAPILLI_TEST_DATA "/chat/tiny"},
                                    {"eye", small_eye(folder.path())},
                                    {"ear", small_ear(folder.path())}}));
  ASSERT_EQ(served.trouble(), "");
  const auto bodies = whole_bodies();
  std::mt19937 random(44);
  for (size_t round = 0; round < 200; ++round) {
    WholeBody sent = bodies[round % bodies.size()];
    for (size_t n = 1 + random() % 2; n > 0; --n) damage_body(sent.body, random);
    const int status = served.ask("POST", sent.target, sent.headers, sent.body).status;
    ASSERT_TRUE(status >= 200 && status < 600) << round << " " << sent.target << ": " << sent.body.substr(0, 2000);
  }
  const Answer after = served.post("/translate", {{"q", kStation}, {"source", "en"}, {"target", "fr"}});
  EXPECT_EQ(json_of(after)["translatedText"], kGare) << after.body;
}

}  // namespace
}  // namespace lapilli::server::test
