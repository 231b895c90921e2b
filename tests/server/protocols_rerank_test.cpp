// Routes of rerankers and of text-embeddings-inference: refusals, and what reaches the models.
#include <gtest/gtest.h>

#include "server/fake_desk.hpp"

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

}  // namespace
}  // namespace lapilli::server::test
