// OpenAI's, Jina's, Cohere's and TEI's routes with small models, over connections.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "lapilli/lapilli.hpp"
#include "server/fake_desk.hpp"
#include "server/served.hpp"
#include "server/small_models.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::server {
Protocol tei();
}  // namespace lapilli::server

namespace lapilli::server::test {
namespace {

std::string sentence_model(const std::string& name) { return LAPILLI_TEST_DATA "/sentences/" + name + "/model"; }
// Replies "Good day! How are you?" to whatever is said.
const std::string kTalker = LAPILLI_TEST_DATA "/chat/tiny";
const std::string kSound = LAPILLI_TEST_DATA "/models/whisper-long/audio/long.wav";

struct Models {
  TempDirectory folder;
  Served served{Served::with({{"vectors", sentence_model("bert-cls")},
                              {"judge", sentence_model("cross-bert-identity")},
                              {"classes", sentence_model("cross-deberta-nli")},
                              {"talker", kTalker},
                              {"eye", small_eye(folder.path())},
                              {"writer", small_writer(folder.path())},
                              {"ear", small_ear(folder.path())}})};
};

Served& served() {
  static Models all;
  return all.served;
}

class ServeDeviceProtocols : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(served().trouble(), ""); }
};

Json asked(const std::string& target, const Json& body, int status = 200) {
  const Answer answer = served().post(target, body);
  EXPECT_EQ(answer.status, status) << target << " " << body << "\n" << answer.body;
  return json_of(answer);
}

std::string words(size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += "harbour ";
  return all;
}

// ---- vectors ----

std::vector<float> from_base64(const std::string& text) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  uint32_t group = 0, bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    group = group << 6 | static_cast<uint32_t>(digits.find(c));
    if ((bits += 6) < 8) continue;
    bytes += static_cast<char>(group >> (bits -= 8) & 0xff);
  }
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(float));
  return values;
}

TEST_F(ServeDeviceProtocols, VectorsAreTheLibrarysInBothEncodings) {
  const std::vector<std::string> texts = {"Where is the station?", "", "A harbour."};
  const Json floats = asked("/v1/embeddings", {{"input", texts}, {"model", "vectors"}});
  const Json packed = asked("/v1/embeddings", {{"input", texts}, {"encoding_format", "base64"}});
  auto model = Model::load(sentence_model("bert-cls"));
  ASSERT_TRUE(model.ok());
  const auto expected = model->embed(texts);
  ASSERT_TRUE(expected.ok());
  uint64_t tokens = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto values = floats["data"][i]["embedding"].get<std::vector<float>>();
    EXPECT_EQ(values, from_base64(packed["data"][i]["embedding"])) << i;
    ASSERT_EQ(values.size(), (*expected)[i].vector.size());
    for (size_t n = 0; n < values.size(); ++n) EXPECT_NEAR(values[n], (*expected)[i].vector[n], 1e-5);
    EXPECT_EQ(floats["data"][i]["index"], i);
    tokens += (*expected)[i].tokens;
  }
  EXPECT_EQ(floats["object"], "list");
  EXPECT_EQ(floats["model"], "vectors");
  EXPECT_EQ(floats["usage"], Json({{"prompt_tokens", tokens}, {"total_tokens", tokens}}));
}

TEST_F(ServeDeviceProtocols, VectorsAreCutToDimensions) {
  const auto vector = [](const Json& made) { return made["data"][0]["embedding"].get<std::vector<double>>(); };
  const auto whole = vector(asked("/v1/embeddings", {{"input", "A harbour."}}));
  const auto cut = vector(asked("/v1/embeddings", {{"input", "A harbour."}, {"dimensions", 8}}));
  ASSERT_GT(whole.size(), 8u);
  ASSERT_EQ(cut.size(), 8u);
  double squares = 0;
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_NEAR(cut[i], whole[i], 1e-6) << i;  // as they are
    squares += whole[i] * whole[i];
  }
  const Json unit = asked("/embed", {{"inputs", "A harbour."}, {"model", "vectors"}, {"dimensions", 8}});
  ASSERT_EQ(unit[0].size(), 8u);
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(unit[0][i].get<double>(), whole[i] / std::sqrt(squares), 1e-6) << i;
}

TEST_F(ServeDeviceProtocols, IdsWhereTheyAreAllowed) {
  ServerOptions options = Served::with({{"vectors", sentence_model("bert-cls")}});
  options.limits.token_ids = true;
  const Served other(options);
  ASSERT_EQ(other.trouble(), "");
  const Json text = asked("/v1/embeddings", {{"input", "a"}});
  const Answer ids = other.post("/v1/embeddings", {{"input", {2, 74, 3}}});
  ASSERT_EQ(ids.status, 200) << ids.body;
  EXPECT_EQ(json_of(ids)["usage"]["prompt_tokens"], 3);
  const auto given = json_of(ids)["data"][0]["embedding"].get<std::vector<float>>();
  const auto expected = text["data"][0]["embedding"].get<std::vector<float>>();
  ASSERT_EQ(given.size(), expected.size());
  for (size_t i = 0; i < given.size(); ++i) EXPECT_NEAR(given[i], expected[i], 1e-5);
  const Answer outside = other.post("/v1/embeddings", {{"input", {{2, 74, 3}, {2, 1000000, 3}}}});
  EXPECT_EQ(outside.status, 400) << outside.body;
  EXPECT_NE(outside.body.find("input[1]"), std::string::npos) << outside.body;
}

// 3,000 words: alone, second of a list, with and without "truncate", in every route.
TEST_F(ServeDeviceProtocols, TextsThatAreTooLongAreRefusedOrCut) {
  const std::string longer = words(3000);
  struct Route {
    const char* path;
    Json alone, second;
    int status;
    const char* where;
  };
  const Route routes[] = {
      {"/v1/embeddings", {{"input", longer}}, {{"input", {"a", longer}}}, 400, "input[1]"},
      {"/embed", {{"inputs", longer}}, {{"inputs", {"a", longer}}}, 413, "inputs[1]"},
      {"/v1/rerank",
       {{"query", "q"}, {"documents", {longer}}},
       {{"query", "q"}, {"documents", {"a", longer}}},
       400,
       "documents[1]"},
      {"/rerank", {{"query", "q"}, {"texts", {longer}}}, {{"query", "q"}, {"texts", {"a", longer}}}, 413, "texts[1]"},
      {"/predict", {{"inputs", longer}}, {{"inputs", {{"a"}, {longer}}}}, 413, "inputs[1]"},
  };
  for (const Route& route : routes) {
    Json alone = route.alone, second = route.second;
    if (std::string(route.path) == "/predict") alone["model"] = second["model"] = "judge";
    asked(route.path, alone, route.status);
    const std::string refused = asked(route.path, second, route.status).dump();
    EXPECT_NE(refused.find(route.where), std::string::npos) << refused;
    EXPECT_NE(refused.find(" tokens are more than the "), std::string::npos) << refused;
    alone["truncate"] = second["truncate"] = true;
    asked(route.path, alone);
    asked(route.path, second);
  }
}

// Usage counts what was read.
TEST_F(ServeDeviceProtocols, WhatWasCutIsNotCounted) {
  const std::string refused = asked("/v1/embeddings", {{"input", words(3000)}}, 400)["error"]["message"];
  constexpr std::string_view kBefore = " more than the ";
  ASSERT_NE(refused.find(kBefore), std::string::npos) << refused;
  const int most = std::stoi(refused.substr(refused.find(kBefore) + kBefore.size()));
  const auto read = [&](const Json& input) {
    return asked("/v1/embeddings", {{"input", input}, {"truncate", true}})["usage"]["prompt_tokens"].get<int>();
  };
  EXPECT_EQ(read(words(3000)), most);
  EXPECT_EQ(read({"a", words(3000)}), read("a") + most);
}

// ---- rerankers ----

TEST_F(ServeDeviceProtocols, DocumentsAreSortedByScores) {
  const std::vector<std::string> documents = {"The harbour opens at six.", "A cat.", "It rains.", "A cat."};
  const Json ranked = asked("/v2/rerank", {{"query", "When does it open?"}, {"documents", documents}, {"top_n", 3}});
  ASSERT_EQ(ranked["results"].size(), 3u);
  double before = 1;
  for (const Json& one : ranked["results"]) {
    const double score = one["relevance_score"];
    EXPECT_GT(score, 0);
    EXPECT_LE(score, before);
    EXPECT_FALSE(one.contains("document"));
    before = score;
  }
  EXPECT_EQ(ranked["meta"]["api_version"]["version"], "2");
  const Json all = asked("/rerank", {{"query", "When does it open?"}, {"texts", documents}, {"return_text", true}});
  const Json raw = asked("/rerank", {{"query", "When does it open?"}, {"texts", documents}, {"raw_scores", true}});
  ASSERT_EQ(all.size(), 4u);
  size_t first = 4, second = 4;
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i]["text"], documents[all[i]["index"].get<size_t>()]);
    EXPECT_EQ(all[i]["index"], raw[i]["index"]);
    EXPECT_NEAR(all[i]["score"].get<double>(), 1 / (1 + std::exp(-raw[i]["score"].get<double>())), 1e-12);
    if (all[i]["index"] == 1) first = i;
    if (all[i]["index"] == 3) second = i;
  }
  EXPECT_EQ(second, first + 1) << "equal documents keep their order";
}

TEST_F(ServeDeviceProtocols, TeiPredictsTokenizesAndTells) {
  const Json one = asked("/predict", {{"inputs", {"It rains.", "It is wet."}}, {"model", "classes"}});
  ASSERT_EQ(one.size(), 3u);
  double sum = 0;
  for (const Json& c : one) {
    EXPECT_TRUE(c["label"].is_string());
    sum += c["score"].get<double>();
  }
  EXPECT_NEAR(sum, 1, 1e-6);
  const Json batch = asked("/predict", {{"inputs", {{"It rains.", "It is wet."}, {"A cat."}}}, {"model", "classes"}});
  ASSERT_EQ(batch.size(), 2u);
  ASSERT_EQ(batch[0].size(), one.size());
  for (size_t i = 0; i < one.size(); ++i) {  // kernels for other numbers of rows may round otherwise
    EXPECT_EQ(batch[0][i]["label"], one[i]["label"]);
    EXPECT_NEAR(batch[0][i]["score"].get<double>(), one[i]["score"].get<double>(), 1e-6);
  }
  const Json tokens = asked("/tokenize", {{"inputs", "a harbour"}, {"model", "vectors"}});
  ASSERT_EQ(tokens.size(), 1u);
  ASSERT_GE(tokens[0].size(), 3u) << tokens;
  EXPECT_TRUE(tokens[0].front()["special"]) << tokens;
  EXPECT_TRUE(tokens[0].front()["start"].is_null());
  EXPECT_EQ(tokens[0][1]["start"], 0) << tokens;
  const Json bare = asked("/tokenize", {{"inputs", "a harbour"}, {"model", "vectors"}, {"add_special_tokens", false}});
  EXPECT_EQ(bare[0].size() + 2, tokens[0].size());
  const Json info = json_of(served().get("/info"));
  EXPECT_EQ(info["model_id"], "vectors");
  EXPECT_TRUE(info["model_type"].contains("embedding"));
  EXPECT_GT(info["max_input_length"].get<int>(), 0);
}

// Each place is counted from the one before, so that a long text takes no longer for each token than a short one.
TEST_F(ServeDeviceProtocols, PlacesOfTokensInALongText) {
  constexpr size_t kCount = 8000;
  std::string text;
  for (size_t i = 0; i < kCount; ++i) text += "a \t\n  ";
  const Json made = asked("/tokenize", {{"inputs", text}, {"model", "vectors"}, {"add_special_tokens", false}});
  ASSERT_EQ(made[0].size(), kCount);
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_EQ(made[0][i]["start"], 6 * i);
    ASSERT_EQ(made[0][i]["stop"], 6 * i + 1);
  }
}

TEST_F(ServeDeviceProtocols, TokensOfAClientThatLeftAreNotCounted) {
  FakeDesk desk;
  desk.add("vectors", "text", {"embed"}, "bert", 64);
  const auto exchange = send(desk, tei(), "/tokenize", json_request(R"({"inputs":"a harbour"})"));
  ASSERT_EQ(desk.started.size(), 1u);
  auto model = Model::load(sentence_model("bert-cls"));
  ASSERT_TRUE(model.ok());
  Outcome outcome;
  outcome.results = Results();
  outcome.model = std::make_shared<const Model>(std::move(*model));
  exchange->left = true;
  desk.started.front()->done(outcome);
  EXPECT_EQ(exchange->given.status, kClientLeft);
}

// ---- texts ----

constexpr const char* kGood = "Good day! How are you?";

TEST_F(ServeDeviceProtocols, AChatIsAnswered) {
  const Json body = {{"model", "talker"},
                     {"messages", {{{"role", "user"}, {"content", "Hello!"}}}},
                     {"chat_template_kwargs", {{"enable_thinking", false}}}};
  const Json made = asked("/v1/chat/completions", body);
  EXPECT_EQ(made["object"], "chat.completion");
  ASSERT_EQ(made["choices"].size(), 1u);
  EXPECT_EQ(made["choices"][0]["message"]["content"], kGood);
  EXPECT_EQ(made["choices"][0]["message"]["role"], "assistant");
  EXPECT_EQ(made["choices"][0]["finish_reason"], "stop");
  EXPECT_GT(made["usage"]["prompt_tokens"].get<int>(), 0);
  EXPECT_EQ(made["usage"]["total_tokens"].get<int>(),
            made["usage"]["prompt_tokens"].get<int>() + made["usage"]["completion_tokens"].get<int>());
  Json parts = body;
  parts["messages"][0]["content"] = {{{"type", "text"}, {"text", "Hel"}}, {{"type", "text"}, {"text", "lo!"}}};
  EXPECT_EQ(asked("/v1/chat/completions", parts)["usage"], made["usage"]);
}

std::vector<Json> events_of(const std::string& body) {
  std::vector<Json> all;
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("data: ")) all.push_back(Json::parse(line.substr(6), nullptr, false));
  return all;
}

TEST_F(ServeDeviceProtocols, AStreamIsTheWholeAnswer) {
  Json body = {{"model", "talker"},
               {"messages", {{{"role", "user"}, {"content", "Hello!"}}}},
               {"chat_template_kwargs", {{"enable_thinking", false}}},
               {"n", 2},
               {"stream", true}};
  for (const bool usage : {false, true}) {
    if (usage) body["stream_options"] = {{"include_usage", true}};
    const Answer answer = served().post("/v1/chat/completions", body);
    ASSERT_EQ(answer.status, 200) << answer.body;
    EXPECT_TRUE(answer.whole);
    EXPECT_NE(answer.head.find("text/event-stream"), std::string::npos);
    EXPECT_TRUE(answer.body.ends_with("data: [DONE]\n\n")) << answer.body;
    auto events = events_of(answer.body);
    events.pop_back();
    if (usage) {
      EXPECT_TRUE(events.back()["choices"].empty());
      EXPECT_GT(events.back()["usage"]["completion_tokens"].get<int>(), 0);
      events.pop_back();
    }
    std::string texts[2], finish[2];
    for (const Json& event : events) {
      ASSERT_EQ(event["choices"].size(), 1u) << event;
      EXPECT_EQ(event.contains("usage"), usage);
      const Json& choice = event["choices"][0];
      const size_t index = choice["index"];
      ASSERT_LT(index, 2u);
      EXPECT_EQ(finish[index], "") << "nothing comes behind the end";
      texts[index] += choice["delta"].value("content", "");
      if (!choice["finish_reason"].is_null()) finish[index] = choice["finish_reason"];
    }
    for (size_t i = 0; i < 2; ++i) {
      EXPECT_EQ(texts[i], kGood);
      EXPECT_EQ(finish[i], "stop");
    }
  }
}

std::string post_text(const std::string& target, const Json& body) {
  const std::string text = body.dump();
  return "POST " + target + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(text.size()) + "\r\n\r\n" + text;
}

Json continued(Json options, int status = 200) {
  options["model"] = "writer";
  if (!options.contains("prompt")) options["prompt"] = "Hello";
  return asked("/v1/completions", options, status);
}

// One leaves while it sends, one while it waits, one between two pieces of its answer.
TEST_F(ServeDeviceProtocols, ThoseWhoLeaveTakeNothingFromOthers) {
  const Json body = {{"model", "writer"}, {"prompt", "Hello"}, {"max_tokens", 24}, {"stream", true}};
  const std::string request = post_text("/v1/completions", body);
  const std::string whole = continued({{"max_tokens", 24}})["choices"][0]["text"];
  std::vector<RawClient> clients;
  for (int i = 0; i < 5; ++i) clients.emplace_back(served().port());
  for (size_t i = 0; i < 5; ++i) clients[i].send(i == 0 ? request.substr(0, request.size() - 9) : request);
  clients[0].reset();
  clients[1].reset();
  while (clients[2].rest().find("data: ") == std::string::npos) ASSERT_TRUE(clients[2].fill(kDevicePatienceMs));
  clients[2].reset();
  for (size_t i = 3; i < 5; ++i) {
    const auto heard = events_of(clients[i].answer(false, kDevicePatienceMs).body);
    ASSERT_FALSE(heard.empty() || heard.back().is_object()) << "no [DONE]";
    std::string text;
    for (size_t k = 0; k + 1 < heard.size(); ++k) text += heard[k]["choices"][0]["text"].get<std::string>();
    EXPECT_EQ(text, whole);
  }
}

TEST_F(ServeDeviceProtocols, LengthsAndScoresOfCompletions) {
  const Json cut = continued({{"max_tokens", 2}, {"logprobs", 1}});
  EXPECT_EQ(cut["choices"][0]["finish_reason"], "length");
  EXPECT_EQ(cut["usage"]["completion_tokens"], 2);
  const Json& scores = cut["choices"][0]["logprobs"];
  ASSERT_EQ(scores["tokens"].size(), 2u) << cut;
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_LT(scores["token_logprobs"][i].get<double>(), 0);
    EXPECT_EQ(scores["top_logprobs"][i].begin().value(), scores["token_logprobs"][i]);
  }
  const Json echoed = continued({{"prompt", {"Hello", "A"}}, {"max_tokens", 2}, {"echo", true}});
  EXPECT_TRUE(echoed["choices"][0]["text"].get<std::string>().starts_with("Hello"));
  EXPECT_TRUE(echoed["choices"][1]["text"].get<std::string>().starts_with("A"));
}

TEST_F(ServeDeviceProtocols, ACompletionEndsBeforeAStop) {
  const std::string whole = continued({{"max_tokens", 12}})["choices"][0]["text"];
  size_t at = 1;
  while (at < whole.size() && (whole[at] < '!' || whole[at] > '~')) ++at;
  ASSERT_LT(at, whole.size()) << whole;
  const std::string stop(1, whole[at]), before = whole.substr(0, whole.find(stop));
  for (const Json& given : {Json(stop), Json({"never said", stop})}) {
    const Json stopped = continued({{"max_tokens", 12}, {"stop", given}});
    EXPECT_EQ(stopped["choices"][0]["text"], before) << given;
    EXPECT_EQ(stopped["choices"][0]["finish_reason"], "stop");
  }
}

TEST_F(ServeDeviceProtocols, AStreamOfACompletionIsUtf8) {
  const std::string whole = continued({{"max_tokens", 12}})["choices"][0]["text"];
  const Json body = {{"model", "writer"}, {"prompt", "Hello"}, {"max_tokens", 12}, {"stream", true}};
  auto events = events_of(served().post("/v1/completions", body).body);
  ASSERT_GT(events.size(), 2u);
  events.pop_back();  // [DONE]
  std::string text;
  for (const Json& event : events) {
    ASSERT_TRUE(event.is_object()) << "not UTF-8";
    text += event["choices"][0]["text"].get<std::string>();
  }
  EXPECT_EQ(text, whole);
  EXPECT_EQ(events.back()["choices"][0]["finish_reason"], "length");
}

TEST_F(ServeDeviceProtocols, SamplesDifferAndSeedsRepeat) {
  const Json body = {{"max_tokens", 12}, {"temperature", 2}, {"seed", 7}, {"n", 4}};
  const Json once = continued(body)["choices"], again = continued(body)["choices"];
  EXPECT_EQ(once, again);
  for (size_t i = 1; i < once.size(); ++i) EXPECT_NE(once[i]["text"], once[0]["text"]);
  const Json unseeded = {{"max_tokens", 12}, {"temperature", 2}};
  EXPECT_NE(continued(unseeded)["choices"][0]["text"], continued(unseeded)["choices"][0]["text"]);
}

TEST_F(ServeDeviceProtocols, WhatExceedsThePositionsIsRefusedWithBothNumbers) {
  const Json prompt = continued({{"prompt", words(20000)}}, 400);
  EXPECT_NE(prompt["error"]["message"].get<std::string>().find("48"), std::string::npos) << prompt;
  EXPECT_EQ(prompt["error"]["param"], "prompt");
  const Json length = continued({{"max_tokens", 1000000}}, 400);
  EXPECT_EQ(length["error"]["message"], "max_tokens: 1000000 ids exceed the model's 48 positions") << length;
  EXPECT_EQ(length["error"]["param"], "max_tokens");
}

// ---- sound ----

std::string sound() {
  std::ostringstream bytes;
  bytes << std::ifstream(kSound, std::ios::binary).rdbuf();
  return bytes.str();
}

Answer heard(const Multipart& form, const std::string& route = "/v1/audio/transcriptions") {
  return served().ask("POST", route, Multipart::kHeader, form.whole());
}

Multipart spoken(const std::string& name = "x") { return Multipart().file("file", name, sound()); }

TEST_F(ServeDeviceProtocols, TranscriptsAreTheLibrarysWhateverTheFilesName) {
  const Json plain = json_of(heard(spoken().field("language", "en")));
  ASSERT_TRUE(plain["text"].is_string()) << plain;
  EXPECT_FALSE(plain["text"].get<std::string>().empty());
  for (const char* name : {"録音 \\\"1\\\".wav", "x.mp3", "../../etc/passwd", "x"})
    EXPECT_EQ(json_of(heard(spoken(name).field("language", "en").field("model", "whisper-1"))), plain) << name;
  const Answer text = heard(spoken().field("language", "en").field("response_format", "text"));
  EXPECT_EQ(text.body, plain["text"].get<std::string>() + "\n");
  EXPECT_NE(text.head.find("text/plain"), std::string::npos);
  const Json unlike = json_of(heard(spoken().field("language", "fr"), "/v1/audio/translations"));
  EXPECT_NE(unlike["text"], plain["text"]);
}

TEST_F(ServeDeviceProtocols, WordsInAllFourSpellings) {
  const auto verbose = [](const std::vector<std::pair<std::string, std::string>>& fields) {
    Multipart form = spoken().field("language", "en").field("response_format", "verbose_json");
    for (const auto& [name, value] : fields) form.field(name, value);
    return json_of(heard(form));
  };
  const Json brackets = verbose({{"timestamp_granularities[]", "word"}});
  ASSERT_TRUE(brackets["words"].is_array()) << brackets;
  EXPECT_FALSE(brackets["words"].empty());
  EXPECT_FALSE(brackets.contains("segments"));
  EXPECT_EQ(brackets["language"], "english");
  EXPECT_EQ(verbose({{"timestamp_granularities", "word"}}), brackets);
  EXPECT_EQ(verbose({{"timestamp_granularities", "[\"word\"]"}}), brackets);
  const Json both = verbose({{"timestamp_granularities[]", "word"}, {"timestamp_granularities[]", "segment"}});
  EXPECT_EQ(both["words"], brackets["words"]);
  EXPECT_TRUE(both["segments"].is_array());
  const Json none = verbose({});
  EXPECT_FALSE(none.contains("words"));
  EXPECT_EQ(none["segments"].size(), both["segments"].size());
  EXPECT_EQ(none["segments"][0]["id"], 0);
}

TEST_F(ServeDeviceProtocols, AStreamOfATranscriptIsItsText) {
  const Json plain = json_of(heard(spoken().field("language", "en")));
  const Answer answer = heard(spoken().field("language", "en").field("stream", "true"));
  const auto events = events_of(answer.body);
  ASSERT_GT(events.size(), 1u) << answer.body;
  std::string text;
  for (size_t i = 0; i + 1 < events.size(); ++i) {
    EXPECT_EQ(events[i]["type"], "transcript.text.delta");
    text += events[i]["delta"].get<std::string>();
  }
  EXPECT_EQ(events.back()["type"], "transcript.text.done");
  EXPECT_EQ(events.back()["text"], plain["text"]);
  EXPECT_EQ(text, plain["text"]);
}

TEST_F(ServeDeviceProtocols, LogarithmsOfTranscribedTokens) {
  const Json made = json_of(heard(spoken().field("language", "en").field("include[]", "logprobs")));
  ASSERT_TRUE(made["logprobs"].is_array()) << made;
  ASSERT_FALSE(made["logprobs"].empty());
  for (const Json& one : made["logprobs"]) EXPECT_LE(one["logprob"].get<double>(), 0) << one;
}

// A WAV of silence: 16,000 samples a second, 16 bits.
std::string silence(uint32_t samples) {
  const auto number = [](uint32_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i & 0xff);
    return text;
  };
  const uint32_t bytes = 2 * samples;
  return "RIFF" + number(36 + bytes, 4) + "WAVEfmt " + number(16, 4) + number(1, 2) + number(1, 2) + number(16000, 4) +
         number(32000, 4) + number(2, 2) + number(16, 2) + "data" + number(bytes, 4) + std::string(bytes, '\0');
}

// Speech and silence in turns.
void hear_many(size_t connections, size_t each) {
  const std::string bodies[] = {spoken().field("language", "en").whole(),
                                Multipart().file("file", "x", silence(16000)).field("language", "en").whole()};
  const auto ask = [&](size_t which) {
    return served().ask("POST", "/v1/audio/transcriptions", Multipart::kHeader, bodies[which], kDevicePatienceMs).body;
  };
  const std::string alone[] = {ask(0), ask(1)};
  ASSERT_NE(alone[0], alone[1]);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < connections; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < each; ++i) EXPECT_EQ(ask((t + i) % 2), alone[(t + i) % 2]) << t << " " << i;
    });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ServeDeviceProtocols, NoRequestHearsAnother) { hear_many(4, 2); }

class ServeSoakProtocols : public ServeDeviceProtocols {};
TEST_F(ServeSoakProtocols, NoneOfTwoHundredHearsAnother) { hear_many(8, 25); }

TEST_F(ServeDeviceProtocols, LanguagesThatTheModelLacksAreRefused) {
  const Answer answer = heard(spoken().field("language", "klingon"));
  EXPECT_EQ(answer.status, 400) << answer.body;
  EXPECT_NE(answer.body.find("language"), std::string::npos) << answer.body;
  EXPECT_EQ(heard(Multipart().file("file", "x", "no sound")).status, 400);
}

// ---- pictures ----

TEST_F(ServeDeviceProtocols, PicturesHaveTheirClasses) {
  const auto bytes = [](const char* name) { return read_file(LAPILLI_TEST_DATA "/pictures/" + std::string(name)); };
  const Multipart form = Multipart()
                             .file("file", "../a", bytes("plain.png"))
                             .file("file", "b", "no picture")
                             .file("file", "c", bytes("grey.jpg"))
                             .field("top", "2");
  const Json made = json_of(served().ask("POST", "/v1/pictures", Multipart::kHeader, form.whole()));
  ASSERT_EQ(made["pictures"].size(), 3u) << made;
  EXPECT_EQ(made["task"], "classify");
  ASSERT_EQ(made["pictures"][0]["classes"].size(), 2u);
  EXPECT_GE(made["pictures"][0]["classes"][0]["probability"], made["pictures"][0]["classes"][1]["probability"]);
  EXPECT_TRUE(made["pictures"][1]["error"].get<std::string>().starts_with("the file is no picture")) << made;
  EXPECT_EQ(made["pictures"][2]["classes"].size(), 2u);
}

}  // namespace
}  // namespace lapilli::server::test
