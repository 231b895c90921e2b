// Counts of protocols and keys, and limits for all.
#include "server/usage.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/keys.hpp"
#include "server/served.hpp"

namespace lapilli::server::test {
namespace {

using testing::HasSubstr;
using testing::Not;

Usage of_characters(uint64_t characters) {
  Usage usage;
  usage.characters = characters;
  return usage;
}

TEST(Ledger, CountsByProtocolAndKey) {
  Ledger ledger;
  ledger.account("deepl", 1)->add(of_characters(20));
  ledger.account("deepl", 2)->add(of_characters(3));
  ledger.account("openai", 1)->add(of_characters(1));
  ledger.account("wyoming", 0)->add({0, 0, 0, 0, 1500, 0, 7});
  EXPECT_EQ(ledger.of_key(1).characters, 21u);
  EXPECT_EQ(ledger.of_key(2).characters, 3u);
  EXPECT_EQ(ledger.of_key(3).characters, 0u);
  const std::string text = ledger.text();
  EXPECT_THAT(text, HasSubstr("# TYPE lapilli_characters_total counter\n"));
  EXPECT_THAT(text, HasSubstr("\nlapilli_characters_total{protocol=\"deepl\",key=\"1\"} 20\n"));
  EXPECT_THAT(text, HasSubstr("\nlapilli_sound_seconds_total{protocol=\"wyoming\"} 1.5\n"));
  EXPECT_THAT(text, HasSubstr("\nlapilli_written_tokens_total{protocol=\"wyoming\"} 7\n"));
}

TEST(Limits, AreReadAsInTheFileOfKeys) {
  Desk::Limits limits;
  for (const char* given : {"characters=5", "seconds=6", "pixels=7", "files=8", "bytes=9", "requests=10", "texts=11"})
    EXPECT_EQ(read_limit(given, limits), "") << given;
  EXPECT_EQ(limits.characters + limits.sound_seconds + limits.pixels + limits.files + limits.bytes, 35u);
  EXPECT_EQ(limits.requests + limits.texts, 21u);
  for (const char* given : {"", "=", "characters", "characters=", "characters=x", "characters=-1", "speed=3", "=5"})
    EXPECT_THAT(read_limit(given, limits), HasSubstr("is no limit")) << given;
  std::string wrong;
  const auto keys = parse_keys("a characters=1\nb", limits, wrong);
  EXPECT_EQ(keys[0].limits.characters, 1u);
  EXPECT_EQ(keys[0].limits.requests, 10u);
  EXPECT_EQ(keys[1].limits.characters, 5u);
}

TEST(Limits, RequestsOfAMinute) {
  Callers callers;
  EXPECT_EQ(callers.count("1.2.3.4", 0), 0u);
  EXPECT_EQ(callers.count("1.2.3.4", 2), 0u);
  EXPECT_EQ(callers.count("1.2.3.4", 2), 0u);
  const uint32_t wait_s = callers.count("1.2.3.4", 2);
  EXPECT_TRUE(wait_s > 0 && wait_s <= 60) << wait_s;
  EXPECT_EQ(callers.count("5.6.7.8", 2), 0u);
  // Beyond a number of addresses they share one count, so that memory is bounded.
  uint32_t refused = 0;
  for (int i = 0; i < 6000; ++i) refused += callers.count("10.0." + std::to_string(i), 2) > 0 ? 1 : 0;
  EXPECT_TRUE(refused > 1000 && refused < 3000) << refused;
}

Answer translated(const Served& served, const std::string& key) {
  return served.post("/v2/translate", {{"text", {kStation}}, {"target_lang", "FR"}},
                     "Authorization: DeepL-Auth-Key " + key + "\r\n");
}

Json used(const Served& served, const std::string& key) {
  return json_of(served.get("/v2/usage", "Authorization: DeepL-Auth-Key " + key + "\r\n"))["character_count"];
}

TEST(ServeDeviceUsage, KeysAreCountedApart) {
  ServerOptions options =
      Served::with({{"en-fr", kBundled}, {"vectors", LAPILLI_TEST_DATA "/sentences/bert-cls/model"}});
  options.keys = "first-key\nsecond-key\n";
  const Served served(options);
  ASSERT_EQ(served.trouble(), "");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(translated(served, "second-key").status, 200);
  EXPECT_EQ(served.post("/v1/embeddings", {{"input", "four"}}, "Authorization: Bearer first-key\r\n").status, 200);
  EXPECT_EQ(used(served, "first-key"), 4);
  EXPECT_EQ(used(served, "second-key"), 42);
  const std::string all = served.get("/metrics", "Authorization: Bearer first-key\r\n").body;
  EXPECT_THAT(all, HasSubstr("lapilli_characters_total{protocol=\"deepl\",key=\"2\"} 42\n"));
  EXPECT_THAT(all, HasSubstr("lapilli_characters_total{protocol=\"openai\",key=\"1\"} 4\n"));
  EXPECT_THAT(all, HasSubstr("lapilli_work_requests_total{protocol=\"deepl\",key=\"2\"} 2\n"));
  EXPECT_THAT(all, Not(HasSubstr("lapilli_written_tokens_total{protocol=\"deepl\",key=\"2\"} 0\n")));
  EXPECT_THAT(all, Not(HasSubstr("lapilli_read_tokens_total{protocol=\"openai\",key=\"1\"} 0\n")));
  EXPECT_THAT(all, Not(HasSubstr("first-key")));
}

TEST(ServeDeviceUsage, LimitsHoldWithoutKeys) {
  ServerOptions options = Served::with({{"en-fr", kBundled}});
  options.limits.requests = 2;
  options.limits.bytes = 200;
  const Served served(options);
  ASSERT_EQ(served.trouble(), "");
  const Json body = {{"q", "Good morning."}, {"source", "en"}, {"target", "fr"}};
  EXPECT_EQ(served.post("/translate", {{"q", std::string(300, 'a')}, {"source", "en"}, {"target", "fr"}}).status, 413);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(served.post("/translate", body).status, 200);
  const Answer refused = served.post("/translate", body);
  EXPECT_EQ(refused.status, 429);
  EXPECT_THAT(refused.body, HasSubstr("2 requests a minute"));
  EXPECT_GT(std::stoi(refused.headers.at("retry-after")), 0);
  EXPECT_EQ(served.get("/health").status, 200);
}

}  // namespace
}  // namespace lapilli::server::test
