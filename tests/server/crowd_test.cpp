// Many clients: a device that is lost among them, and a long day. The first needs a driver that loses its device
// (tests/lab/README.md, fail=).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <thread>

#include "server/served.hpp"

namespace lapilli::server::test {
namespace {

struct Said {
  const char *english, *french;
};
constexpr Said kSaid[] = {{"Where is the station?", "Où est la gare ?"}, {"Good morning.", "Bonjour."}};

std::string post_of(const std::string& path, const Json& body) {
  const std::string text = body.dump();
  return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(text.size()) + "\r\n\r\n" + text;
}

std::atomic<int> lost_notes{0};
void count_losses(void*, int32_t, const char* message) { lost_notes += std::strstr(message, "lost") ? 1 : 0; }

TEST(ServeLoss, EachOf64ClientsIsAnsweredOnce) {
  ServerOptions options = Served::with({{"en-fr", kBundled}});
  options.device.log = &count_losses;
  Served served(options);
  ASSERT_EQ(served.trouble(), "");
  lost_notes = 0;
  constexpr int kClients = 64, kEach = 6;
  std::atomic<int> right{0}, told{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < kClients; ++i)
    clients.emplace_back([&, i] {
      RawClient client(served.port());
      for (int k = 0; k < kEach; ++k) {
        const Said& said = kSaid[(i + k) % 2];
        client.send(post_of("/translate", {{"q", said.english}, {"source", "en"}, {"target", "fr"}}));
        const Answer answer = client.answer(false, kDevicePatienceMs);
        ASSERT_TRUE(answer.whole) << i << " " << k;
        const bool is_right = answer.status == 200 && json_of(answer) == Json({{"translatedText", said.french}});
        const bool is_told = answer.status == 503 && !json_of(answer).value("error", "").empty();
        EXPECT_TRUE(is_right || is_told) << answer.head << answer.body;
        right += is_right ? 1 : 0;
        told += is_told ? 1 : 0;
      }
      EXPECT_FALSE(client.fill(0)) << "an answer came twice: " << client.rest();
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right + told, kClients * kEach);
  EXPECT_GT(lost_notes, 0) << "the device was not lost";
  EXPECT_GT(right, kClients) << told << " were told";
}

uint64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::strtoull(line.c_str() + 6, nullptr, 10) << 10;
  return 0;
}

// One of `every` requests is a translation; the others are what a page asks.
void ask_many(const Served& served, int from, int to, int every = 20) {
  RawClient client(served.port());
  for (int i = from; i < to; ++i) {
    const bool translates = i % every == 0;
    if (translates)
      client.send(post_of("/translate", {{"q", "Good morning."}, {"source", "auto"}, {"target", "fr"}}));
    else if (i % 3 == 0)
      client.send(post_of("/detect", {{"q", "Number " + std::to_string(i) + " lies in the harbour."}}));
    else
      client.send(i % 3 == 1 ? "GET /languages HTTP/1.1\r\nHost: localhost\r\n\r\n"
                             : "GET /nothing/" + std::to_string(i) + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const Answer answer = client.answer(false, kDevicePatienceMs);
    ASSERT_TRUE(answer.whole) << i;
    ASSERT_EQ(answer.status, !translates && i % 3 == 2 ? 404 : 200) << answer.body;
  }
}

TEST(ServeSoak, MemoryStaysAtItsLevel) {
  Served served(Served::with({{"en-fr", kBundled}}));
  ASSERT_EQ(served.trouble(), "");
  const auto round = [&](int from, int count, int every) {
    std::vector<std::thread> clients;
    for (int i = 0; i < 8; ++i)
      clients.emplace_back([&, i] { ask_many(served, from + i * count / 8, from + (i + 1) * count / 8, every); });
    for (std::thread& client : clients) client.join();
  };
  round(0, 3200, 1);  // engines, and the allocator's areas of threads, come to their sizes
  const uint64_t before = resident_bytes();
  round(3200, 20000, 20);
  const uint64_t after = resident_bytes();
  std::printf("%llu KiB, then %llu KiB\n", static_cast<unsigned long long>(before >> 10),
              static_cast<unsigned long long>(after >> 10));
  EXPECT_LT(after, before + (uint64_t{6} << 20));
}

}  // namespace
}  // namespace lapilli::server::test
