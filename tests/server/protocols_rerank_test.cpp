// Routes of rerankers and of text-embeddings-inference: refusals, and what reaches the models.
#include <gtest/gtest.h>

#include "server/fake_desk.hpp"
#include "server/protocols/openai.hpp"
#include "server/protocols/picture_size.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::server {
Protocol rerank();
Protocol tei();
Protocol pictures();
}  // namespace lapilli::server

namespace lapilli::server::test {
namespace {

using nlohmann::json;

struct JudgesDesk : FakeDesk {
  JudgesDesk() {
    add("judge", "text", {"rerank", "classify"}, "bert");
    add("small", "text", {"embed", "search"}, "bert", 64);
  }
};

struct RouteCase {
  const char *path, *body, *message;
  int status = 400;
};

TEST(ProtocolRerank, RefusesByNameInItsShape) {
  const RouteCase cases[] = {
      {"/v1/rerank", R"({"documents":["a"]})", "query: is missing"},
      {"/v1/rerank", R"({"query":"a"})", "documents: give a list of texts"},
      {"/v2/rerank", R"({"query":"a","documents":[1]})",
       "documents: item 0 must be a text, or an object with one in \"text\""},
      {"/v2/rerank", R"({"query":"a","documents":["b"],"top_n":0})", "top_n: 0 is below the least, 1"},
      {"/v2/rerank", R"({"query":"a","documents":["b"],"model":"rerank-v3.5"})",
       "The model `rerank-v3.5` does not exist; /v1/models lists those that do", 404},
      {"/v2/rerank", R"({"query":"a","documents":["b"],"max_tokens_per_doc":10})",
       "max_tokens_per_doc: is not served; \"truncate\": true cuts documents where the model's length ends"},
  };
  for (const RouteCase& c : cases) {
    JudgesDesk desk;
    const auto exchange = send(desk, rerank(), c.path, json_request(c.body));
    EXPECT_EQ(exchange->given.status, c.status) << c.body;
    const json error = json::parse(exchange->given.body);
    EXPECT_EQ(error["message"], c.message);
    EXPECT_EQ(error["detail"], c.message);
    EXPECT_TRUE(error["id"].is_string());
  }
}

TEST(ProtocolRerank, DocumentsBecomePairs) {
  JudgesDesk desk;
  const auto exchange = send(desk, rerank(), "/v2/rerank",
                             json_request(R"({"model":"judge","query":"q","documents":["a",{"text":"b"}],"top_n":1})"));
  EXPECT_EQ(exchange->answers, 0) << exchange->given.body;
  ASSERT_EQ(desk.started.size(), 1u);
  const Work& work = *desk.started.front();
  EXPECT_EQ(work.model, "judge");
  ASSERT_EQ(work.inputs.size(), 2u);
  EXPECT_EQ(std::string(work.inputs[1].text, work.inputs[1].text_bytes), "q");
  EXPECT_EQ(std::string(work.inputs[1].pair, work.inputs[1].pair_bytes), "b");
}

// The query goes with each document: a small request would take much memory.
TEST(ProtocolRerank, ALongQueryOfManyDocumentsIsRefused) {
  JudgesDesk desk;
  json body = {{"query", std::string(65537, 'q')}, {"documents", std::vector<std::string>(1024, "a")}};
  const auto exchange = send(desk, rerank(), "/v2/rerank", json_request(body.dump()));
  EXPECT_EQ(exchange->given.status, 413);
  EXPECT_EQ(json::parse(exchange->given.body)["message"],
            "query: its bytes, once for each of the 1024 texts, are 67109888, above the limit of 67108864");
  body["texts"] = body["documents"];
  EXPECT_EQ(send(desk, tei(), "/rerank", json_request(body.dump()))->given.status, 413);
  EXPECT_TRUE(desk.started.empty());
  body["query"] = std::string(65536, 'q');
  for (const auto& [protocol, path] : {std::pair(rerank(), "/v2/rerank"), std::pair(tei(), "/rerank")})
    send(desk, protocol, path, json_request(body.dump()));
  EXPECT_EQ(desk.started.size(), 2u);
}

// They would be tokenized where all other work waits.
TEST(ProtocolTei, TextsLongerThanAnyModelReadsAreRefused) {
  JudgesDesk desk;
  desk.add("writer", "text", {"generate"}, "qwen3");
  constexpr size_t kMost = size_t{4} << 20;
  const std::string most(kMost, 'a'), more = most + "a";
  struct {
    Protocol protocol;
    const char* path;
    json body;
    const char* member;
  } cases[] = {{tei(), "/embed", {{"inputs", {"a", ""}}}, "inputs"},
               {tei(), "/predict", {{"inputs", {"a", ""}}}, "inputs"},
               {tei(), "/rerank", {{"query", "a"}, {"texts", {"a", ""}}}, "texts"},
               {rerank(), "/v1/rerank", {{"query", "a"}, {"documents", {"a", ""}}}, "documents"},
               {openai(), "/v1/embeddings", {{"input", {"a", ""}}}, "input"},
               {openai(), "/v1/completions", {{"prompt", {"a", ""}}}, "prompt"}};
  for (auto& c : cases) {
    c.body[c.member][1] = more;
    const auto exchange = send(desk, c.protocol, c.path, json_request(c.body.dump()));
    EXPECT_EQ(exchange->given.status, 413) << c.path;
    EXPECT_NE(exchange->given.body.find("bytes, of at most 4194304"), std::string::npos) << exchange->given.body;
    EXPECT_TRUE(desk.started.empty()) << c.path;
    if (std::string(c.path) == "/predict") continue;  // a pair counts as one text
    c.body[c.member][1] = most;
    EXPECT_EQ(send(desk, c.protocol, c.path, json_request(c.body.dump()))->answers, 0) << c.path;
    desk.started.clear();
  }
  const json query = {{"query", more}, {"documents", std::vector<std::string>{"a"}}};
  EXPECT_EQ(send(desk, rerank(), "/v1/rerank", json_request(query.dump()))->given.status, 413);
}

TEST(ProtocolRerank, LimitsOfCharactersCountTheQuery) {
  JudgesDesk desk;
  desk.allowed.characters = 3;
  const auto exchange = send(desk, rerank(), "/v1/rerank", json_request(R"({"query":"qé","documents":["a","b"]})"));
  EXPECT_EQ(exchange->given.status, 413);
  EXPECT_EQ(json::parse(exchange->given.body)["message"], "documents: 4 characters are above the limit of 3");
  EXPECT_EQ(send(desk, tei(), "/rerank", json_request(R"({"query":"qé","texts":["a","b"]})"))->given.status, 413);
  EXPECT_TRUE(desk.started.empty());
}

TEST(ProtocolTei, RefusesByNameInItsShape) {
  const RouteCase cases[] = {
      {"/embed", "{}", "inputs: give a text, or a list of texts"},
      {"/embed", R"({"inputs":{"a":1}})", "inputs: must be a text or a list of texts, not an object"},
      {"/embed", R"({"inputs":"a","normalize":"yes"})", "normalize: must be true or false, not a text"},
      {"/embed", R"({"inputs":"a","truncation_direction":"left"})",
       "truncation_direction: is not served; the end is left out"},
      {"/rerank", R"({"query":"a"})", "texts: give a list of texts"},
      {"/rerank", R"({"texts":["a"]})", "query: is missing"},
      {"/predict", R"({"inputs":["a","b","c"]})",
       "inputs: give a text, [text, text] for a pair, or a list of such lists: [[text], [text, text]]"},
      {"/predict", R"({"inputs":[["a"],[]]})",
       "inputs: give a text, [text, text] for a pair, or a list of such lists: [[text], [text, text]]"},
      {"/tokenize", R"({"inputs":"a","model":"none"})", "model: there is no none", 404},
  };
  for (const RouteCase& c : cases) {
    JudgesDesk desk;
    const auto exchange = send(desk, tei(), c.path, json_request(c.body));
    EXPECT_EQ(exchange->given.status, c.status) << c.body;
    const json error = json::parse(exchange->given.body);
    EXPECT_EQ(error["error"], c.message) << c.body;
    EXPECT_EQ(error["error_type"], "Validation");
  }
}

TEST(ProtocolTei, LimitsOfCharactersAreThoseOfTheKey) {
  JudgesDesk desk;
  desk.allowed.characters = 3;
  const auto exchange = send(desk, tei(), "/embed", json_request(R"({"inputs":["aé","bc"]})"));
  EXPECT_EQ(exchange->given.status, 413);
  EXPECT_EQ(json::parse(exchange->given.body)["error"], "inputs: 4 characters are above the limit of 3");
}

TEST(ProtocolTei, TextsToTokenizeAreShort) {
  constexpr size_t kMost = size_t{64} << 10;
  const std::string most(kMost, 'a');
  const std::pair<json, const char*> cases[] = {
      {{{"inputs", most + "a"}}, "inputs: a text has 65537 bytes, of at most 65536"},
      {{{"inputs", std::vector<std::string>{most, most, most, most, "a"}}},
       "inputs: the texts have 262145 bytes, of at most 262144"}};
  for (const auto& [body, message] : cases) {
    JudgesDesk desk;
    const auto exchange = send(desk, tei(), "/tokenize", json_request(body.dump()));
    EXPECT_EQ(exchange->given.status, 413);
    EXPECT_EQ(json::parse(exchange->given.body)["error"], message);
    EXPECT_TRUE(desk.started.empty());
  }
  JudgesDesk desk;
  const json body = {{"inputs", std::vector<std::string>(4, most)}};
  EXPECT_EQ(send(desk, tei(), "/tokenize", json_request(body.dump()))->answers, 0);
  EXPECT_EQ(desk.started.size(), 1u);
}

TEST(ProtocolTei, PairsAndTextsOfPredict) {
  JudgesDesk desk;
  send(desk, tei(), "/predict", json_request(R"({"inputs":[["a"],["b","c"]]})"));
  send(desk, tei(), "/predict", json_request(R"({"inputs":["b","c"]})"));
  send(desk, tei(), "/predict", json_request(R"({"inputs":"a"})"));
  ASSERT_EQ(desk.started.size(), 3u);
  EXPECT_EQ(desk.started[0]->inputs.size(), 2u);
  EXPECT_EQ(desk.started[0]->inputs[0].pair, nullptr);
  EXPECT_EQ(desk.started[0]->inputs[1].pair_bytes, 1u);
  EXPECT_EQ(desk.started[1]->inputs.size(), 1u);
  EXPECT_EQ(desk.started[2]->inputs.size(), 1u);
}

TEST(ProtocolTei, VectorsHaveLengthOneUnlessAsked) {
  JudgesDesk desk;
  send(desk, tei(), "/embed", json_request(R"({"inputs":"a"})"));
  send(desk, tei(), "/embed", json_request(R"({"inputs":"a","normalize":false})"));
  ASSERT_EQ(desk.started.size(), 2u);
  EXPECT_TRUE(desk.started[0]->options.encoder.normalize);
  EXPECT_FALSE(desk.started[1]->options.encoder.normalize);
}

TEST(ProtocolPictures, RefuseByName) {
  FakeDesk desk;
  desk.add("eye", "picture", {"classify"}, "vit");
  const std::string file = form_part("file", "no picture", "../../x.png");
  const std::pair<std::string, const char*> cases[] = {
      {"", "file: is missing: send pictures as parts of multipart/form-data"},
      {file + form_part("task", "paint"), "task: must be one of caption, read, classify"},
      {file + form_part("task", "read"), "model: no model of this server can read; \"lapilli serve --model\" adds one"},
      {file + form_part("top", "0"), "top: 0 is below the least, 1"},
  };
  for (const auto& [parts, message] : cases) {
    const auto exchange = send(desk, pictures(), "/v1/pictures", multipart_request(parts));
    EXPECT_EQ(json::parse(exchange->given.body)["error"], message);
  }
  EXPECT_TRUE(desk.started.empty());
  send(desk, pictures(), "/v1/pictures", multipart_request(file + file));
  ASSERT_EQ(desk.started.size(), 1u);
  EXPECT_EQ(desk.started[0]->inputs.size(), 2u);
}

TEST(ProtocolPictures, SizesAreInTheHeads) {
  const auto of = [](const char* name) {
    return pixels_of(read_file(LAPILLI_TEST_DATA "/pictures/" + std::string(name))).value_or(0);
  };
  EXPECT_GT(of("plain.png"), 0u);
  EXPECT_EQ(of("plain.png"), of("plain.jpg"));
  EXPECT_EQ(of("passes.png"), of("passes.jpg"));
  EXPECT_EQ(pixels_of(std::string("GIF89a\x02\x00\x03\x00", 10) + std::string(20, 0)), 6u);
  EXPECT_EQ(pixels_of(std::string("BM") + std::string(16, 0) + std::string("\x04\0\0\0\xfd\xff\xff\xff", 8)), 12u);
  EXPECT_EQ(pixels_of(std::string("MM\0*\0\0\0\x08\0\x02\x01\0\0\x03\0\0\0\x01\0\x05\0\0"
                                  "\x01\x01\0\x03\0\0\0\x01\0\x07\0\0",
                                  34)),
            35u);
  for (const char* none : {"", "\x89PNG", "\xff\xd8\xff", "no picture, though it is long enough"})
    EXPECT_EQ(pixels_of(none), std::nullopt) << none;
}

// Such markers hide no frame behind a length that they do not have, nor show one that decoders do not see.
TEST(ProtocolPictures, MarkersWithoutALengthAreSteppedOver) {
  const auto frame = [](char height, char width) {
    return std::string("\xff\xc0\0\x11\x08\0", 6) + height + std::string(1, '\0') + width;
  };
  const std::string large = frame(20, 30), small = frame(2, 3), rest(30, '\0');
  for (const char mark : {'\x01', '\xd0', '\xd7', '\xd8'}) {
    const std::string alone = std::string("\xff") + mark;
    EXPECT_EQ(pixels_of("\xff\xd8" + alone + large + rest), 600u) << static_cast<int>(mark);
    // A length of 0xffc0 would lead to the small frame.
    const std::string hidden = alone + large + std::string(0xffc0 - large.size(), '\0') + small + rest;
    EXPECT_EQ(pixels_of("\xff\xd8" + hidden), 600u) << static_cast<int>(mark);
  }
}

TEST(ProtocolPictures, LargeOnesAreRefusedBeforeTheyAreRead) {
  FakeDesk desk;
  desk.add("eye", "picture", {"classify"}, "vit");
  desk.allowed.pixels = 5;
  const std::string gif = std::string("GIF89a\x02\x00\x03\x00", 10) + std::string(20, 0);
  const auto exchange = send(desk, pictures(), "/v1/pictures", multipart_request(form_part("file", gif, "x")));
  EXPECT_EQ(exchange->given.status, 413);
  EXPECT_EQ(json::parse(exchange->given.body)["error"], "file: picture 1 has 6 pixels, above the limit of 5");
}

}  // namespace
}  // namespace lapilli::server::test
