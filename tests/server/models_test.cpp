// Models that come and go, clients that leave, and requests beside each other.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "server/served.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::server::test {
namespace {

Json station() { return {{"q", kStation}, {"source", "en"}, {"target", "fr"}}; }

// The value of a metric without labels.
double metric_of(const Served& served, const std::string& name) {
  const std::string all = "\n" + served.get("/metrics").body;
  const size_t at = all.find("\n" + name + " ");
  return at == std::string::npos ? -1 : std::stod(all.substr(at + name.size() + 2));
}

std::string request_of(const Json& body) {
  const std::string text = body.dump();
  return "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(text.size()) + "\r\n\r\n" + text;
}

// Loading pauses after each submission, so that it takes a while.
TEST(ServeDeviceModels, ALoadGoesOnWhenItsClientLeaves) {
  ServerOptions options = Served::with({{"en-fr", kBundled}});
  options.device.gap_us = 200000;
  Served slow(options);
  ASSERT_EQ(slow.trouble(), "");
  for (int i = 0; i < 5; ++i) {
    RawClient client(slow.port());
    client.send(request_of(station()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    client.reset();
  }
  EXPECT_EQ(json_of(slow.post("/translate", station())), Json({{"translatedText", kGare}}));
  EXPECT_EQ(metric_of(slow, "lapilli_model_loads_total"), 1);
}

// The bundled model as one of other languages.
std::string renamed_model(const TempDirectory& folder, const std::string& from, const std::string& to) {
  const std::string model = folder.path() + "/" + from + "-" + to;
  std::filesystem::copy(kBundled, model);
  std::ofstream(model + "/tokenizer_config.json") << R"({"tokenizer_class": "MarianTokenizer", "source_lang": ")"
                                                  << from << R"(", "target_lang": ")" << to << "\"}";
  return model;
}

// Each of two models fits, both do not.
TEST(ServeDeviceModels, TheOneUnusedForLongestLeaves) {
  const TempDirectory folder;
  ServerOptions options = Served::with({{"en-fr", kBundled}, {"de-es", renamed_model(folder, "de", "es")}});
  options.device.memory_limit = uint64_t{52} << 20;
  Served small(options);
  ASSERT_EQ(small.trouble(), "");
  const Json other = {{"q", kStation}, {"source", "de"}, {"target", "es"}};
  for (const Json& asked : {station(), other, station(), station()})
    EXPECT_EQ(json_of(small.post("/translate", asked)), Json({{"translatedText", kGare}})) << asked;
  EXPECT_EQ(metric_of(small, "lapilli_models_loaded"), 1);
  EXPECT_EQ(metric_of(small, "lapilli_model_loads_total"), 3);
}

TEST(ServeDeviceModels, TwoModelsMakeAWayOverEnglish) {
  const TempDirectory folder;
  Served both(Served::with({{"en-fr", kBundled}, {"de-en", renamed_model(folder, "de", "en")}}));
  ASSERT_EQ(both.trouble(), "");
  // The first model answers in French whatever its name says, and the second one reads that as if it were English.
  const Json made = json_of(both.post("/translate", {{"q", {kStation, ""}}, {"source", "de"}, {"target", "fr"}}));
  ASSERT_EQ(made["translatedText"].size(), 2u) << made;
  EXPECT_NE(made["translatedText"][0], "");
  EXPECT_EQ(metric_of(both, "lapilli_models_loaded"), 2);
  const Json languages = json_of(both.get("/languages"));
  ASSERT_EQ(languages.size(), 3u) << languages;
  EXPECT_EQ(languages[0]["targets"], Json({"de", "en", "fr"}));
}

TEST(ServeDeviceModels, WhatCannotFitIsSaid) {
  ServerOptions options = Served::with({{"en-fr", kBundled}});
  options.device.memory_limit = uint64_t{8} << 20;
  Served tiny(options);
  ASSERT_EQ(tiny.trouble(), "");
  for (int i = 0; i < 2; ++i) {
    const Answer answer = tiny.post("/translate", station());
    EXPECT_EQ(answer.status, 503);
    EXPECT_NE(answer.body.find("MiB"), std::string::npos) << answer.body;
  }
}

TEST(ServeDeviceModels, AModelThatCannotRunIsSaidAtTheStart) {
  Served broken(Served::with({{"broken", LAPILLI_TEST_DATA "/models"}}));
  EXPECT_NE(broken.trouble().find("broken"), std::string::npos);
}

TEST(ServeDeviceClients, WorkOfOneThatLeftEnds) {
  Served served(Served::with({{"en-fr", kBundled}}));
  ASSERT_EQ(served.trouble(), "");
  std::string many;
  for (int i = 0; i < 2000; ++i) many += std::to_string(i) + " boats lie in the harbour and wait for the wind.\n";
  RawClient leaving(served.port());
  leaving.send(request_of({{"q", many}, {"source", "en"}, {"target", "fr"}}));
  ASSERT_TRUE(becomes_true([&] { return metric_of(served, "lapilli_jobs_running") == 1; }, kDevicePatienceMs));
  RawClient staying(served.port());
  staying.send(request_of(station()));
  leaving.reset();
  EXPECT_EQ(json_of(staying.answer(false, kDevicePatienceMs)), Json({{"translatedText", kGare}}));
  ASSERT_TRUE(becomes_true([&] { return metric_of(served, "lapilli_requests_at_work") == 0; }, kDevicePatienceMs));
  EXPECT_LT(metric_of(served, "lapilli_generated_tokens_total"), 2000 * 5);
}

// A long text has its turns, and does not hold the device until its end.
TEST(ServeDeviceClients, ALongTextStarvesNobody) {
  Served served(Served::with({{"en-fr", kBundled}}));
  ASSERT_EQ(served.trouble(), "");
  std::string many;
  for (int i = 0; i < 400; ++i) many += std::to_string(i) + " boats lie in the harbour and wait for the wind.\n";
  RawClient patient(served.port());
  patient.send(request_of({{"q", many}, {"source", "en"}, {"target", "fr"}}));
  ASSERT_TRUE(becomes_true([&] { return metric_of(served, "lapilli_jobs_running") == 1; }, kDevicePatienceMs));
  EXPECT_EQ(json_of(served.post("/translate", station())), Json({{"translatedText", kGare}}));
  // The long one is still there.
  EXPECT_TRUE(becomes_true([&] { return metric_of(served, "lapilli_jobs_running") == 1; }, kDevicePatienceMs));
  patient.reset();
}

TEST(ServeDeviceClients, TheDeadlineEndsARequest) {
  ServerOptions options = Served::with({{"en-fr", kBundled}});
  options.deadline_s = 0.3;
  Served served(options);
  ASSERT_EQ(served.trouble(), "");
  std::string many;
  for (int i = 0; i < 2000; ++i) many += std::to_string(i) + " boats lie in the harbour and wait for the wind.\n";
  EXPECT_EQ(served.post("/translate", {{"q", many}, {"source", "en"}, {"target", "fr"}}).status, 504);
}

}  // namespace
}  // namespace lapilli::server::test
