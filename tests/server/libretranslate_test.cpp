// LibreTranslate's and DeepL's routes with the bundled model.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "server/served.hpp"

namespace lapilli::server::test {
namespace {

Served& bundled() {
  static Served one(Served::with({{"en-fr", kBundled}}));
  return one;
}

class ServeDevice : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(bundled().trouble(), ""); }
};

TEST_F(ServeDevice, ATextBecomesAText) {
  const Answer answer = bundled().post("/translate", {{"q", kStation}, {"source", "en"}, {"target", "fr"}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json_of(answer), Json({{"translatedText", kGare}}));
}

TEST_F(ServeDevice, FormsAndQueriesAreReadAsBodies) {
  const Json expected = {{"translatedText", kGare}};
  EXPECT_EQ(json_of(bundled().post_form("/translate", "q=Where+is+the+station%3F&source=en&target=fr")), expected);
  EXPECT_EQ(json_of(bundled().ask("POST", "/translate?q=Where%20is%20the%20station%3F&source=en&target=fr")), expected);
  const Multipart form = Multipart().field("q", kStation).field("source", "EN").field("target", "Fr");
  EXPECT_EQ(json_of(bundled().ask("POST", "/translate", Multipart::kHeader, form.whole())), expected);
}

TEST_F(ServeDevice, ListsKeepTheirLengthAndDetectEachText) {
  const Json asked = {{"q", {kStation, "", "La maison est grande."}}, {"source", "auto"}, {"target", "fr"}};
  const Json made = json_of(bundled().post("/translate", asked));
  ASSERT_EQ(made["translatedText"].size(), 3u) << made;
  EXPECT_EQ(made["translatedText"][0], kGare);
  EXPECT_EQ(made["translatedText"][1], "");
  EXPECT_EQ(made["translatedText"][2], "La maison est grande.");
  ASSERT_EQ(made["detectedLanguage"].size(), 3u);
  EXPECT_EQ(made["detectedLanguage"][0]["language"], "en");
  EXPECT_EQ(made["detectedLanguage"][2]["language"], "fr");
  for (const Json& one : made["detectedLanguage"]) {
    ASSERT_TRUE(one["confidence"].is_number_integer()) << one;
    EXPECT_GE(one["confidence"].get<int>(), 0);
    EXPECT_LE(one["confidence"].get<int>(), 100);
  }
}

TEST_F(ServeDevice, LinesStayLines) {
  const Json asked = {
      {"q", "Where is the station?\r\n\n  \nWhere is the station?\n"}, {"source", "en"}, {"target", "fr"}};
  EXPECT_EQ(json_of(bundled().post("/translate", asked))["translatedText"],
            std::string(kGare) + "\r\n\n  \n" + kGare + "\n");
}

TEST_F(ServeDevice, AlternativesDiffer) {
  const Json asked = {{"q", kStation}, {"source", "en"}, {"target", "fr"}, {"alternatives", 3}};
  const Json made = json_of(bundled().post("/translate", asked));
  EXPECT_EQ(made["translatedText"], kGare);
  ASSERT_GE(made["alternatives"].size(), 1u) << made;
  EXPECT_NE(made["alternatives"][0], kGare);
  const Answer many =
      bundled().post("/translate", {{"q", "a"}, {"source", "en"}, {"target", "fr"}, {"alternatives", 10000}});
  EXPECT_EQ(many.status, 400);
  EXPECT_NE(many.body.find("16"), std::string::npos) << many.body;
}

TEST_F(ServeDevice, HtmlKeepsItsTags) {
  const Json asked = {
      {"q", "<p>Where is <b>the station</b>?</p>"}, {"source", "en"}, {"target", "fr"}, {"format", "html"}};
  const std::string made = json_of(bundled().post("/translate", asked))["translatedText"];
  EXPECT_EQ(made, "<p>Où est <b>la gare</b> ?</p>");
}

TEST_F(ServeDevice, ErrorsAreLibreTranslates) {
  const struct {
    Json asked;
    const char* says;
  } cases[] = {{{{"source", "en"}, {"target", "fr"}}, "missing q parameter"},
               {{{"q", "a"}, {"target", "fr"}}, "missing source parameter"},
               {{{"q", "a"}, {"source", "en"}}, "missing target parameter"},
               {{{"q", "a"}, {"source", "en"}, {"target", "tlh"}}, "tlh is not supported"},
               {{{"q", "a"}, {"source", "fr"}, {"target", "en"}}, "not available as a target language"},
               {{{"q", 7}, {"source", "en"}, {"target", "fr"}}, "q"},
               {{{"q", "a"}, {"source", "en"}, {"target", "fr"}, {"format", "pdf"}}, "format"}};
  for (const auto& one : cases) {
    const Answer answer = bundled().post("/translate", one.asked);
    EXPECT_EQ(answer.status, 400) << one.asked;
    EXPECT_NE(json_of(answer).value("error", "").find(one.says), std::string::npos) << answer.body;
  }
}

TEST_F(ServeDevice, LanguagesAndSettings) {
  const Json languages = json_of(bundled().get("/languages"));
  ASSERT_EQ(languages.size(), 2u);
  EXPECT_EQ(languages[0], Json({{"code", "en"}, {"name", "English"}, {"targets", {"en", "fr"}}}));
  const Json settings = json_of(bundled().get("/frontend/settings"));
  EXPECT_EQ(settings["language"]["source"]["code"], "en");
  EXPECT_EQ(settings["language"]["target"]["code"], "fr");
  EXPECT_EQ(bundled().post("/suggest", {{"q", "a"}}).status, 403);
}

TEST_F(ServeDevice, AFileComesBackByItsAddress) {
  const Multipart form = Multipart()
                             .file("file", "../../letter.txt", "Where is the station?\n")
                             .field("source", "en")
                             .field("target", "fr");
  const Json made = json_of(bundled().ask("POST", "/translate_file", Multipart::kHeader, form.whole()));
  const std::string url = made.value("translatedFileUrl", "");
  const std::string site = "http://127.0.0.1:" + std::to_string(bundled().port());
  ASSERT_TRUE(url.starts_with(site + "/download_file/")) << made;
  const Answer file = bundled().get(url.substr(site.size()));
  EXPECT_EQ(file.status, 200);
  EXPECT_EQ(file.body, std::string(kGare) + "\n");
  EXPECT_EQ(bundled().get("/download_file/../../etc/passwd").status, 404);
}

TEST_F(ServeDevice, DeepLTakesTextsInFormsAndBodies) {
  const Json made = json_of(bundled().post("/v2/translate", {{"text", {kStation}}, {"target_lang", "FR"}}));
  ASSERT_EQ(made["translations"].size(), 1u) << made;
  EXPECT_EQ(made["translations"][0]["text"], kGare);
  EXPECT_EQ(made["translations"][0]["detected_source_language"], "EN");
  EXPECT_EQ(made["translations"][0]["billed_characters"], 21);
  const Json two = json_of(bundled().post_form("/v2/translate",
                                               "text=Where+is+the+station%3F&text=%3Cx+k%3D%220%22%3EHello.%3C/"
                                               "x%3E&target_lang=FR&source_lang=EN&tag_handling=xml"));
  ASSERT_EQ(two["translations"].size(), 2u) << two;
  EXPECT_EQ(two["translations"][0]["text"], kGare);
  EXPECT_TRUE(two["translations"][1]["text"].get<std::string>().starts_with("<x k=\"0\">")) << two;
}

TEST_F(ServeDevice, DeepLsErrorsHaveAMessage) {
  for (const Json& asked :
       {Json{{"target_lang", "FR"}}, Json{{"text", {"a"}}}, Json{{"text", {"a"}}, {"target_lang", "XX"}},
        Json{{"text", {"a"}}, {"target_lang", "FR"}, {"formality", "more"}},
        Json{{"text", {"a"}}, {"target_lang", "FR"}, {"glossary_id", "1"}}}) {
    const Answer answer = bundled().post("/v2/translate", asked);
    EXPECT_EQ(answer.status, 400) << asked;
    EXPECT_NE(json_of(answer).value("message", ""), "") << answer.body;
  }
  EXPECT_EQ(bundled().get("/v2/glossaries").status, 403);
  EXPECT_EQ(json_of(bundled().get("/v2/usage"))["character_limit"], 1000000000000);
}

TEST_F(ServeDevice, DeepLsDocumentsAreFetchedLater) {
  const Multipart form =
      Multipart().file("file", "letter.txt", kStation).field("target_lang", "FR").field("source_lang", "EN");
  const Json job = json_of(bundled().ask("POST", "/v2/document", Multipart::kHeader, form.whole()));
  const std::string path = "/v2/document/" + job.value("document_id", "");
  const Json key = {{"document_key", job.value("document_key", "")}};
  Json state = Json::object();
  const auto is_done = [&] { return (state = json_of(bundled().post(path, key))).value("status", "") == "done"; };
  (void)becomes_true(is_done, kDevicePatienceMs);
  ASSERT_EQ(state.value("status", ""), "done") << state;
  EXPECT_EQ(bundled().post(path + "/result", key).body, kGare);
  EXPECT_EQ(bundled().post(path, {{"document_key", "0"}}).status, 404);
}

TEST_F(ServeDevice, DeepLXSharesAPath) {
  const Json made =
      json_of(bundled().post("/translate", {{"text", kStation}, {"source_lang", "EN"}, {"target_lang", "FR"}}));
  EXPECT_EQ(made["code"], 200) << made;
  EXPECT_EQ(made["data"], kGare);
  EXPECT_EQ(made["target_lang"], "FR");
  EXPECT_TRUE(made["alternatives"].is_array());
}

TEST_F(ServeDevice, OtherHostsAndPagesAreRefused) {
  RawClient client(bundled().port());
  client.send("GET /languages HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(client.answer().status, 403);
  for (const char* origin : {"http://evil.example", "null"})
    EXPECT_EQ(bundled().get("/languages", "Origin: " + std::string(origin) + "\r\n").status, 403) << origin;
  const std::string own = "Origin: http://127.0.0.1:" + std::to_string(bundled().port()) + "\r\n";
  const Answer answer = bundled().get("/languages", own);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.count("access-control-allow-origin"), 0u);
}

TEST_F(ServeDevice, MetricsCountWhatWasAnswered) {
  (void)bundled().get("/languages");
  const std::string metrics = bundled().get("/metrics").body;
  EXPECT_NE(metrics.find("lapilli_requests_total{protocol=\"libretranslate\",status=\"200\"}"), std::string::npos);
  EXPECT_NE(metrics.find("lapilli_models_loaded 1"), std::string::npos) << metrics;
  EXPECT_EQ(bundled().get("/health").body, "{\"status\":\"ok\"}");
}

TEST_F(ServeDevice, ManyConnectionsShareSteps) {
  std::vector<RawClient> clients;
  const std::string body = Json({{"q", kStation}, {"source", "en"}, {"target", "fr"}}).dump();
  for (int i = 0; i < 64; ++i) {
    clients.emplace_back(bundled().port());
    clients.back().send(
        "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  for (RawClient& client : clients)
    EXPECT_EQ(json_of(client.answer(false, kDevicePatienceMs)), Json({{"translatedText", kGare}}));
}

TEST(ServeDeviceKeys, EachProtocolSaysItsOwnWords) {
  ServerOptions options = Served::with({{"en-fr", kBundled}});
  options.keys = "# keys\nsecret requests=1000\nslow requests=1 characters=5\n";
  Served keyed(options);
  ASSERT_EQ(keyed.trouble(), "");
  const Json asked = {{"q", "a"}, {"source", "en"}, {"target", "fr"}};
  const auto with = [&](const char* name, const char* key) {
    Json all = asked;
    all[name] = key;
    return keyed.post("/translate", all).status;
  };
  EXPECT_EQ(keyed.post("/translate", asked).status, 400);
  EXPECT_EQ(with("api_key", "wrong"), 403);
  EXPECT_EQ(with("api_key", "secret"), 200);
  EXPECT_EQ(with("apiKey", "secret"), 200);
  EXPECT_EQ(keyed.post("/v2/translate", {{"text", {"a"}}, {"target_lang", "FR"}}).status, 403);
  const char* deepl = "Authorization: DeepL-Auth-Key secret\r\n";
  EXPECT_EQ(keyed.post("/v2/translate", {{"text", {"a"}}, {"target_lang", "FR"}}, deepl).status, 200);
  EXPECT_EQ(keyed.get("/v1/models").status, 401);
  EXPECT_EQ(keyed.get("/health").status, 200);
  EXPECT_EQ(keyed.post("/translate", {{"q", "123456"}, {"source", "en"}, {"target", "fr"}, {"api_key", "slow"}}).status,
            400);
  const Answer again = keyed.post("/translate", {{"q", "1"}, {"source", "en"}, {"target", "fr"}, {"api_key", "slow"}});
  EXPECT_EQ(again.status, 429);
  EXPECT_GT(std::atoi(again.headers.at("retry-after").c_str()), 0);
}

TEST(ServeDeviceQueue, BeyondItsLengthRequestsAreToldWhen) {
  ServerOptions options = Served::with({{"en-fr", kBundled}});
  options.queue = 1;
  Served narrow(options);
  ASSERT_EQ(narrow.trouble(), "");
  RawClient first(narrow.port());
  const std::string body = Json({{"q", kStation}, {"source", "en"}, {"target", "fr"}}).dump();
  first.send("POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
             std::to_string(body.size()) + "\r\n\r\n" + body);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const Answer second = narrow.post("/translate", {{"q", "a"}, {"source", "en"}, {"target", "fr"}});
  EXPECT_EQ(second.status, 429);
  EXPECT_EQ(second.headers.count("retry-after"), 1u);
  EXPECT_EQ(first.answer(false, kDevicePatienceMs).status, 200);
}

TEST(ServeDeviceStop, WhatHasComeIsAnswered) {
  Served server(Served::with({{"en-fr", kBundled}}));
  ASSERT_EQ(server.trouble(), "");
  const Json station = {{"q", kStation}, {"source", "en"}, {"target", "fr"}};
  EXPECT_EQ(server.post("/translate", station).status, 200);  // a slow device loads for longer than a stop waits
  RawClient client(server.port());
  const std::string body = station.dump();
  client.send("POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
              std::to_string(body.size()) + "\r\n\r\n" + body);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  server.stop();
  EXPECT_EQ(json_of(client.answer()), Json({{"translatedText", kGare}}));
}

// Works of clients that left fill the pool and the queue; none may outlive the server's parts.
TEST(ServeDeviceStop, AFullPoolEndsAsWell) {
  Served server(Served::with({{"en-fr", kBundled}}));
  ASSERT_EQ(server.trouble(), "");
  std::string text;
  for (int i = 0; i < 40; ++i) text += "a b\n";
  const std::string body =
      Json({{"q", std::vector<std::string>(512, text)}, {"source", "auto"}, {"target", "fr"}}).dump();
  for (int i = 0; i < 12; ++i) {
    RawClient client(server.port());
    client.send("POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
    client.reset();
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  server.stop();
}

TEST(ServeDeviceLimits, LinesAndCharactersOfEachWay) {
  ServerOptions options = Served::with({{"en-fr", kBundled}});
  options.keys = "few characters=5\nany\n";
  Served keyed(options);
  ASSERT_EQ(keyed.trouble(), "");
  const char* few = "Authorization: DeepL-Auth-Key few\r\n";
  const Multipart form = Multipart().file("file", "a.txt", "123456").field("target_lang", "FR");
  EXPECT_EQ(keyed.ask("POST", "/v2/document", std::string(Multipart::kHeader) + few, form.whole()).status, 413);
  EXPECT_EQ(keyed.post("/v2/translate", {{"text", {"123456"}}, {"target_lang", "FR"}}, few).status, 413);
  EXPECT_EQ(keyed.post("/detect", {{"q", "123456"}, {"api_key", "few"}}).status, 400);
  std::string lines;
  for (int i = 0; i < 140000; ++i) lines += "a\n";
  EXPECT_EQ(keyed.post("/translate", {{"q", lines}, {"source", "en"}, {"target", "fr"}, {"api_key", "any"}}).status,
            413);
  // A large body wants a key in its head.
  RawClient client(keyed.port());
  client.send(
      "POST /v1/pictures HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 100000000\r\n\r\n");
  EXPECT_EQ(client.answer().status, 413);
}

}  // namespace
}  // namespace lapilli::server::test
