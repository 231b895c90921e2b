// Requests that name themselves, and those who watch them.
#include "server/work/job_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "server/fake_desk.hpp"
#include "server/served.hpp"

namespace lapilli::server::test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::shared_ptr<FakeExchange> watcher() { return std::make_shared<FakeExchange>(Request()); }

TEST(JobEvents, WatchersAreToldOfTheirsAlone) {
  JobEvents events;
  const auto early = watcher(), late = watcher(), stranger = watcher();
  events.watch({1, "a"}, early);
  events.watch({2, "a"}, stranger);
  const auto job = events.begin({1, "a"});
  ASSERT_TRUE(job);
  EXPECT_FALSE(events.begin({1, "a"}));  // its name is taken
  const int first = 0, second = 0;
  job->tell(&first, {1, 4, 10});
  job->tell(&second, {2, 3, 5});  // too soon after the first to be told by itself
  events.watch({1, "a"}, late);
  events.end({1, "a"}, 200);
  EXPECT_EQ(early->given.body,
            "event: progress\ndata: {\"done\":1,\"total\":4,\"tokens\":10}\n\n"
            "event: progress\ndata: {\"done\":3,\"total\":7,\"tokens\":15}\n\nevent: end\ndata: {\"status\":200}\n\n");
  EXPECT_THAT(late->given.body, HasSubstr("\"done\":3,\"total\":7"));
  EXPECT_EQ(early->answers + late->answers, 2);
  EXPECT_EQ(stranger->given.body + std::to_string(stranger->answers), "0");
  EXPECT_TRUE(events.begin({1, "a"}));
}

TEST(JobEvents, WatchersOfNothingAreBounded) {
  JobEvents events;
  std::vector<std::shared_ptr<FakeExchange>> all;
  for (int i = 0; i < 300; ++i) {
    all.push_back(watcher());
    events.watch({0, std::to_string(i)}, all.back());
  }
  EXPECT_EQ(std::ranges::count_if(all, [](const auto& one) { return one->answers == 1; }), 300 - 256);
  EXPECT_EQ(all.front()->answers, 1);
  const auto job = events.begin({0, "299"});
  events.close();
  EXPECT_EQ(std::ranges::count_if(all, [](const auto& one) { return one->answers == 1; }), 299);
  const auto late = watcher();
  events.watch({0, "new"}, late);
  EXPECT_EQ(late->answers, 1);
  events.end({0, "299"}, 503);
  EXPECT_THAT(all.back()->given.body, HasSubstr("\"status\":503"));
}

TEST(JobEvents, WatchersOfOneRequestAreBounded) {
  JobEvents events;
  std::vector<std::shared_ptr<FakeExchange>> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back(watcher());
    events.watch({0, "a"}, all.back());
  }
  for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i]->answers, i < 12 ? 1 : 0) << i;
  events.end({0, "a"}, 200);
  EXPECT_EQ(all.front()->given.body, "");
  EXPECT_THAT(all.back()->given.body, HasSubstr("\"status\":200"));
}

TEST(JobEvents, Names) {
  for (const char* name : {"a", "A-b_9", "0123456789012345678901234567890123456789012345678901234567890123"})
    EXPECT_TRUE(JobEvents::is_name(name)) << name;
  for (const char* name : {"", "a b", "a/b", "ä", "01234567890123456789012345678901234567890123456789012345678901234"})
    EXPECT_FALSE(JobEvents::is_name(name)) << name;
}

std::string watching(const std::string& name) {
  return "GET /v1/jobs/" + name + "/events HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

TEST(ServeDeviceEvents, ARequestIsWatchedFromBeforeItComes) {
  const Served served(Served::with({{"en-fr", kBundled}}));
  ASSERT_EQ(served.trouble(), "");
  RawClient watcher(served.port()), leaves(served.port());
  watcher.send(watching("paper-1"));
  leaves.send(watching("paper-1"));
  EXPECT_TRUE(watcher.fill(kPatienceMs) && leaves.fill(kPatienceMs));
  leaves.reset();
  std::string many;
  for (int i = 0; i < 12; ++i) many += std::to_string(i) + " boats lie in the harbour.\n";
  const Json body = {{"q", many}, {"source", "en"}, {"target", "fr"}};
  const std::string named = "Content-Type: application/json\r\nLapilli-Job: paper-1\r\n";
  EXPECT_EQ(served.ask("POST", "/translate", named, body.dump(), kDevicePatienceMs).status, 200);
  const Answer told = watcher.answer(false, kDevicePatienceMs);
  EXPECT_EQ(told.headers.at("content-type"), "text/event-stream");
  EXPECT_TRUE(told.whole);
  EXPECT_THAT(told.body, HasSubstr("event: progress\ndata: {\"done\":12,\"total\":12,"));
  EXPECT_TRUE(told.body.ends_with("event: end\ndata: {\"status\":200}\n\n")) << told.body;
  EXPECT_THAT(told.body, Not(HasSubstr("boats")));
  EXPECT_EQ(served.post("/translate", body, "Lapilli-Job: a b\r\n").status, 400);
  EXPECT_EQ(served.get("/v1/jobs/a%20b/events").status, 400);
  EXPECT_EQ(served.get("/v1/jobs/a").status, 404);
}

TEST(ServeDeviceEvents, WatchersDoNotHoldAStop) {
  Served served(Served::with({{"en-fr", kBundled}}));
  ASSERT_EQ(served.trouble(), "");
  RawClient watcher(served.port());
  watcher.send(watching("never"));
  EXPECT_TRUE(watcher.fill(kPatienceMs));
  const auto before = std::chrono::steady_clock::now();
  served.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(10));
  EXPECT_TRUE(watcher.answer().whole);
}

}  // namespace
}  // namespace lapilli::server::test
