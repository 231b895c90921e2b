// The page's files as the program serves them: types, policies, words in three languages, and no other host.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <string>

#include "server/fake_desk.hpp"
#include "server/protocols/page_files.hpp"
#include "server/work/live_translation.hpp"

namespace lapilli::server {
Protocol page();
Protocol page_api();
}  // namespace lapilli::server

namespace lapilli::server::test {
namespace {

using nlohmann::json;

std::span<const PageFile> page_files() { return {kPageFiles, kPageFileCount}; }

std::string file_text(std::string_view name) {
  for (const PageFile& file : page_files())
    if (name == file.name) return std::string(file.view());
  ADD_FAILURE() << "the page has no file " << name;
  return "";
}

std::shared_ptr<FakeExchange> get_page(const std::string& path, const Fields& headers = {}) {
  FakeDesk desk;
  Request request;
  request.method = "GET";
  request.headers = headers;
  return send(desk, page(), path, std::move(request));
}

std::string header_of(const Response& response, const std::string& name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return "";
}

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  std::set<std::string> all;
  const std::regex expression(pattern);
  for (std::sregex_iterator it(text.begin(), text.end(), expression), end; it != end; ++it) all.insert((*it)[1]);
  return all;
}

TEST(ProtocolPage, EveryFileHasTypePolicyAndHash) {
  const std::map<std::string, std::string> types = {{"html", "text/html"},
                                                    {"js", "text/javascript"},
                                                    {"css", "text/css"},
                                                    {"json", "application/json"},
                                                    {"svg", "image/svg+xml"}};
  ASSERT_GE(kPageFileCount, 8u);
  for (const PageFile& file : page_files()) {
    const std::string name = file.name;
    const auto got = get_page("/page/" + name);
    EXPECT_EQ(got->given.status, 200) << name;
    EXPECT_EQ(got->given.body, file.view()) << name;
    EXPECT_EQ(got->given.type, types.at(name.substr(name.rfind('.') + 1)) + "; charset=utf-8");
    EXPECT_EQ(header_of(got->given, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header_of(got->given, "Content-Security-Policy").find("default-src 'none'; script-src 'self';"), 0u);
    const std::string tag = header_of(got->given, "ETag");
    ASSERT_EQ(tag.size(), 34u) << name;
    const auto again = get_page("/page/" + name, {{"if-none-match", tag}});
    EXPECT_EQ(again->given.status, 304) << name;
    EXPECT_EQ(again->given.body, "") << name;
  }
  EXPECT_EQ(get_page("/")->given.body, file_text("index.html"));
  EXPECT_EQ(get_page("/favicon.ico")->given.body, file_text("icon.svg"));
}

TEST(ProtocolPage, OtherNamesAreNoFiles) {
  for (const char* name : {"", "nothing.js", "../page/app.js", "app.js/", "APP.JS", "/etc/passwd"}) {
    const auto got = get_page(std::string("/page/") + name);
    EXPECT_EQ(got->given.status, 404) << name;
    EXPECT_EQ(got->given.type, "text/plain; charset=utf-8");
  }
}

// Namespaces of SVG are names; nothing is fetched from there.
TEST(ProtocolPage, NamesNoOtherHost) {
  for (const PageFile& file : page_files()) {
    std::string text(file.view());
    for (const std::string name : {"http://www.w3.org/2000/svg"})
      for (size_t at = text.find(name); at != std::string::npos; at = text.find(name)) text.erase(at, name.size());
    EXPECT_EQ(matches(text, "(https?://)"), std::set<std::string>()) << file.name;
    EXPECT_EQ(matches(text, "((?:src|href|action|url)[=(][\"']?//)"), std::set<std::string>()) << file.name;
    EXPECT_EQ(matches(text, "(\\bstyle=|\\bon[a-z]+=\")"), std::set<std::string>()) << file.name << ": the policy";
  }
}

TEST(ProtocolPage, WhatItsFilesNameIsThere) {
  std::set<std::string> names;
  for (const PageFile& file : page_files()) {
    names.insert(file.name);
    for (const std::string& name : matches(std::string(file.view()), "/page/([a-z-]+\\.[a-z]+)")) file_text(name);
    for (const std::string& name : matches(std::string(file.view()), "from '\\./([a-z-]+\\.[a-z]+)'")) file_text(name);
  }
  EXPECT_EQ(names.size(), kPageFileCount);
}

std::set<std::string> keys_of(const json& words) {
  std::set<std::string> all;
  for (const auto& [key, value] : words.items()) all.insert(key);
  return all;
}

TEST(ProtocolPage, WordsExistInThreeLanguages) {
  const json words = json::parse(file_text("words.json"));
  ASSERT_EQ(keys_of(words), (std::set<std::string>{"de", "en", "fr"}));
  for (const auto& [language, all] : words.items()) {
    EXPECT_EQ(keys_of(all), keys_of(words["en"])) << language;
    for (const auto& [key, text] : all.items()) {
      EXPECT_NE(text.get<std::string>(), "") << language << " " << key;
      EXPECT_EQ(matches(text, "\\{(\\w+)\\}"), matches(words["en"][key], "\\{(\\w+)\\}")) << language << " " << key;
    }
  }
}

TEST(ProtocolPage, WordsThatAreUsedExist) {
  const std::set<std::string> known = keys_of(json::parse(file_text("words.json"))["en"]);
  std::set<std::string> used = matches(file_text("index.html"), "data-(?:word|label|hint)=\"(\\w+)\"");
  for (const char* name : {"app.js", "output.js", "files.js", "device.js", "recorder.js"}) {
    used.merge(matches(file_text(name), "\\bword\\('(\\w+)'"));
    used.merge(matches(file_text(name), "\\blabel\\([^']*'(\\w+)'"));
  }
  ASSERT_GE(used.size(), 60u);
  for (const std::string& key : used) EXPECT_TRUE(known.contains(key)) << key;
}

// ---- its own routes ----

TEST(ProtocolPageApi, FactsNeedNoModel) {
  FakeDesk desk;
  desk.add("ear", "sound", {"transcribe"}, "whisper");
  Request request;
  request.method = "GET";
  const auto got = send(desk, page_api(), "/v1/page/facts", std::move(request));
  const json facts = json::parse(got->given.body);
  EXPECT_EQ(facts["languages"], json::array());
  EXPECT_EQ(facts["models"][0]["tasks"], json::array({"transcribe"}));
  EXPECT_FALSE(facts["keys"]);
}

TEST(ProtocolPageApi, RefusesByName) {
  const struct {
    const char *path, *body, *message;
  } cases[] = {
      {"/v1/page/translate", R"({"target":"fr"})", "text: is missing"},
      {"/v1/page/translate", R"({"text":"a"})", "target: is missing"},
      {"/v1/page/translate", R"({"text":"a","target":"fr","links":1})", "links"},
      {"/v1/page/translate", R"({"text":"a","target":"fr","alternatives":99})", "alternatives"},
      {"/v1/page/translate", R"({"text":"abcdef","target":"fr"})", "text: has 6 characters, and the limit is 5"},
      {"/v1/page/attention", R"({"text":"a","source":"en","target":"fr"})", "target: attention is that of one model"},
      {"/v1/page/attention", "[]", ""},
  };
  for (const auto& one : cases) {
    FakeDesk desk;
    desk.allowed.characters = 5;
    const auto got = send(desk, page_api(), one.path, json_request(one.body));
    EXPECT_EQ(got->given.status, 400) << one.body;
    const json answer = json::parse(got->given.body);
    EXPECT_NE(answer["error"].get<std::string>().find(one.message), std::string::npos) << answer;
    EXPECT_TRUE(desk.started.empty());
  }
}

// Faults that lie in the text or its language come as an event: the page shows them, and its console stays empty.
TEST(ProtocolPageApi, AnUnknownWayIsAnEvent) {
  FakeDesk desk;
  const auto got =
      send(desk, page_api(), "/v1/page/translate", json_request(R"({"text":"a","source":"en","target":"fr"})"));
  EXPECT_EQ(got->given.status, 200);
  EXPECT_EQ(got->given.type, "text/event-stream");
  EXPECT_NE(got->given.body.find("event: error\ndata: {\"status\":400"), std::string::npos) << got->given.body;
  EXPECT_NE(got->given.body.find("lapilli serve --model"), std::string::npos);
  EXPECT_EQ(got->answers, 1);
}

TEST(ProtocolPageApi, TheSameLanguageIsTheTextItself) {
  FakeDesk desk;
  const auto got =
      send(desk, page_api(), "/v1/page/translate", json_request(R"({"text":"a\nb","source":"fr","target":"fr"})"));
  EXPECT_NE(got->given.body.find("\"same\":true"), std::string::npos) << got->given.body;
  EXPECT_NE(got->given.body.find("event: whole\ndata: {\"text\":\"a\\nb\""), std::string::npos) << got->given.body;
  EXPECT_EQ(got->answers, 1);
}

TEST(ProtocolPageApi, PlacesAreThoseOfUtf16) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80z";  // one, two, three and four bytes
  const Utf16Places places(text);
  const size_t expected[] = {0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 5, 6, 6};
  for (size_t byte = 0; byte < std::size(expected); ++byte) EXPECT_EQ(places[byte], expected[byte]) << byte;
  EXPECT_EQ(Utf16Places("")[7], 0u);
}

}  // namespace
}  // namespace lapilli::server::test
