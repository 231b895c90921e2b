// Damaged requests, by a fixed seed, for the routes of all protocols: each is answered, and the server goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <map>
#include <random>

#include "base/path.hpp"
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

using Random = std::mt19937;

// Signs of all the formats, no UTF-8, surrogates, numbers out of bounds, and sizes.
const std::string& damaging_piece(Random& random) {
  static const std::array<std::string, 24> kPieces = {"\"",
                                                      "{",
                                                      "]",
                                                      ",",
                                                      "--edge",
                                                      "\r\n\r\n",
                                                      "\xff",
                                                      "null",
                                                      "-1",
                                                      "1e400",
                                                      "%",
                                                      std::string(1, 0),
                                                      "\xed\xa0\x80",
                                                      "\xf4\x90\x80\x80",
                                                      "\xc3",
                                                      "\\ud800",
                                                      "\xe2\x80\xa8",
                                                      "[[",
                                                      "<b>",
                                                      "18446744073709551616",
                                                      std::string(300, '['),
                                                      std::string(70000, 'a'),
                                                      "&q=",
                                                      ": "};
  return kPieces[random() % kPieces.size()];
}

void damage_bytes(std::string& bytes, Random& random) {
  if (bytes.empty()) return;
  const size_t at = random() % bytes.size(), length = 1 + random() % std::min<size_t>(bytes.size() - at, 20);
  switch (random() % 6) {
    case 0: bytes[at] = static_cast<char>(random() % 256); break;
    case 1: bytes.erase(at, length); break;
    case 2: bytes.insert(at, damaging_piece(random)); break;
    case 3: bytes.insert(at, bytes.substr(at, length)); break;
    case 4: bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8)); break;
    default: bytes.resize(at); break;
  }
}

std::string in_chunks(const std::string& body, Random& random) {
  std::string all;
  for (size_t at = 0; at < body.size();) {
    const size_t size = std::min<size_t>(1 + random() % 500, body.size() - at);
    char head[32];
    std::snprintf(head, sizeof head, "%zx\r\n", size);
    all += head + body.substr(at, size) + "\r\n";
    at += size;
  }
  return all + "0\r\n\r\n";
}

struct Damaged {
  std::string bytes;
  bool whole = true;  // the head and the coding are right: there is an answer
};

// A damaged body in a whole request, or a whole body in a damaged one.
Damaged damaged_request(const WholeBody& from, Random& random) {
  WholeBody sent = from;
  const bool frame = random() % 4 == 0;
  for (size_t n = random() % 3; !frame && n > 0; --n) damage_bytes(sent.body, random);
  const bool chunked = random() % 3 == 0;
  const std::string size = random() % 20 == 0 ? "99999999999" : std::to_string(sent.body.size());
  std::string head = "POST " + sent.target + " HTTP/1.1\r\nHost: localhost\r\n" + sent.headers +
                     (chunked ? "Transfer-Encoding: chunked\r\n\r\n" : "Content-Length: " + size + "\r\n\r\n");
  std::string body = chunked ? in_chunks(sent.body, random) : sent.body;
  for (size_t n = 1 + random() % 2; frame && n > 0; --n) damage_bytes(random() % 2 ? head : body, random);
  return {head + body, !frame};
}

class DamagedServer {
 public:
  // Longer texts are refused, 0: none.
  explicit DamagedServer(uint64_t most_characters) : served_(options(most_characters)) {}
  [[nodiscard]] const std::string& trouble() const { return served_.trouble(); }

  // So many at a time: works of all protocols run beside each other.
  void send(size_t rounds, unsigned seed) {
    constexpr size_t kTogether = 50;
    Random random(seed);
    for (size_t round = 0; round < rounds && !testing::Test::HasFatalFailure(); round += kTogether)
      send_some(round, kTogether, random);
  }
  void expect_works() const {
    const Answer after = served_.post("/translate", {{"q", kStation}, {"source", "en"}, {"target", "fr"}});
    EXPECT_EQ(json_of(after).value("translatedText", ""), kGare) << after.body;
  }
  // Wrong requests are no fault of the server.
  void expect_no_faults() const {
    for (const auto& [status, count] : statuses_) std::printf("%d: %llu\n", status, count);
    EXPECT_FALSE(statuses_.contains(500));
    EXPECT_TRUE(statuses_.contains(200) && statuses_.contains(400));
    const std::string counted = served_.get("/metrics").body;
    EXPECT_THAT(counted, testing::HasSubstr("status=\"499\""));  // of clients that left
    EXPECT_THAT(counted, testing::Not(testing::HasSubstr("status=\"500\"")));
  }

 private:
  void send_some(size_t round, size_t count, Random& random) {
    std::vector<Damaged> sent;
    std::vector<RawClient> clients;
    for (size_t i = 0; i < count; ++i) {
      sent.push_back(damaged_request(bodies_[(round + i) % bodies_.size()], random));
      clients.emplace_back(served_.port());
      clients[i].send(sent[i].bytes);
      if (random() % 16 == 0) clients[i].reset(), sent[i].bytes.clear();
      if (!sent[i].whole) clients[i].say_no_more();
    }
    for (size_t i = 0; i < count; ++i)
      if (!sent[i].bytes.empty()) expect_end(sent[i], clients[i]);
  }

  void expect_end(const Damaged& sent, RawClient& client) {
    if (!sent.whole) {
      ASSERT_TRUE(client.ends(kDevicePatienceMs)) << sent.bytes.substr(0, 2000);
      return;
    }
    const int status = client.answer(false, kDevicePatienceMs).status;
    ASSERT_TRUE(status >= 200 && status < 600) << sent.bytes.substr(0, 2000);
    ++statuses_[status];
  }

  // A damage may make a text of many sentences, which takes a while.
  [[nodiscard]] ServerOptions options(uint64_t most_characters) const {
    ServerOptions all = Served::with({{"en-fr", kBundled},
                                      {"vectors", LAPILLI_TEST_DATA "/sentences/bert-cls/model"},
                                      {"judge", LAPILLI_TEST_DATA "/sentences/cross-bert-identity/model"},
                                      {"talker", LAPILLI_TEST_DATA "/chat/tiny"},
                                      {"eye", small_eye(folder_.path())},
                                      {"ear", small_ear(folder_.path())}});
    all.deadline_s = 20;
    all.limits.characters = most_characters;
    return all;
  }
  const TempDirectory folder_;
  const Served served_;
  const std::vector<WholeBody> bodies_ = whole_bodies();
  std::map<int, unsigned long long> statuses_;
};

TEST(ServeDeviceMutation, EachRequestIsAnswered) {
  DamagedServer server(0);
  ASSERT_EQ(server.trouble(), "");
  server.send(200, 44);
  server.expect_works();
  server.expect_no_faults();
}

// LAPILLI_FUZZ_ROUNDS says how many others. Texts are short, so that most of the time goes into the requests.
TEST(ServeSoakMutation, EachOfTwentyThousandIsAnswered) {
  const std::string asked = environment("LAPILLI_FUZZ_ROUNDS");
  DamagedServer server(1000);
  ASSERT_EQ(server.trouble(), "");
  server.send(asked.empty() ? 20000 : std::stoul(asked), 45);
  server.expect_works();
  server.expect_no_faults();
}

}  // namespace
}  // namespace lapilli::server::test
