// Limits of sizes, times and numbers; clients that leave, read slowly, or never.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <thread>

#include "server/http/pace.hpp"
#include "server/http_rig.hpp"

namespace lapilli::server::test {
namespace {

using testing::HasSubstr;

HttpOptions hasty() {
  HttpOptions options;
  options.header_s = options.idle_s = options.body_s = 0.2;
  options.least_bytes = 1024;
  return options;
}

TEST(HttpLimits, TooLargeIsSaidBeforeReading) {
  HttpRig rig;
  RawClient client = rig.client();
  const Answer answer = client.ask("POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n");
  EXPECT_EQ(answer.status, 413);
  EXPECT_THAT(answer.body, HasSubstr("/size|the body of the request has 99999999999 bytes, more than the 1048576"));
  // One that sends all the same still gets the answer, and then the end.
  EXPECT_TRUE(client.send(std::string(1 << 20, 'x')));
  client.say_no_more();
  EXPECT_TRUE(client.ends());
}

TEST(HttpLimits, ClientsThatSendFirstReadTheRefusal) {
  HttpRig rig;
  for (const char* path : {"/size", "/refused"}) {
    RawClient client = rig.client();
    EXPECT_TRUE(client.send(post(path, std::string(20 << 20, 'x'))));
    EXPECT_EQ(client.answer().status, path == std::string("/size") ? 413 : 403);
    client.say_no_more();
    EXPECT_TRUE(client.ends());
  }
}

TEST(HttpLimits, ARefusedSmallBodyKeepsTheConnection) {
  HttpRig rig;
  RawClient client = rig.client();
  client.send("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n");
  EXPECT_EQ(client.answer().status, 403);
  EXPECT_EQ(client.ask("12345" + get("/echo")).body, "GET /echo  ");
  EXPECT_EQ(client.ask(post("/refused", "abc")).status, 403);
  EXPECT_EQ(client.ask(get("/refused")).status, 403);
  EXPECT_EQ(client.ask(get("/admit-throws")).status, 500);
  EXPECT_EQ(client.ask(get("/echo")).status, 200);
}

TEST(HttpLimits, TooLargeInChunks) {
  HttpRig rig;
  rig.handler.most_body_bytes = 10;
  RawClient client = rig.client();
  const Answer answer = client.ask(
      "POST /size HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nghijkl\r\n0\r\n\r\n");
  EXPECT_EQ(answer.status, 413);
  EXPECT_THAT(answer.body, HasSubstr("more bytes than the 10"));
  EXPECT_TRUE(client.ends());
}

TEST(HttpLimits, SlowHeaders) {
  HttpRig rig(hasty());
  RawClient client = rig.client();
  client.send("GET /echo HT");
  EXPECT_EQ(client.answer().status, 408);
  EXPECT_TRUE(client.ends());
}

// Every byte within the time of an idle connection, and yet not in time.
TEST(HttpLimits, HeadersThatDrip) {
  HttpRig rig(hasty());
  RawClient client = rig.client();
  client.send("GET /echo HTTP/1.1\r\n");
  for (int i = 0; i < 5 && client.rest().empty(); ++i) client.send("X: y\r\n"), client.fill(60);
  EXPECT_EQ(client.answer().status, 408);
}

TEST(HttpLimits, SlowBodies) {
  HttpRig rig(hasty());
  RawClient client = rig.client();
  client.send("POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
  for (int i = 0; i < 20 && client.rest().empty(); ++i) client.send("drip"), client.fill(30);
  const Answer answer = client.answer();
  EXPECT_EQ(answer.status, 408);
  EXPECT_THAT(answer.body, HasSubstr("/size|"));
  EXPECT_TRUE(client.ends());
}

// Slower than the window in all, but with enough in each.
TEST(HttpLimits, BodiesThatGoOnAreTaken) {
  HttpOptions options = hasty();
  options.body_s = 1;
  HttpRig rig(options);
  RawClient client = rig.client();
  client.send("POST /size HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n");
  for (int i = 0; i < 10; ++i) {
    client.send(std::string(4000, 'x'));
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
  }
  EXPECT_EQ(client.answer().body, "40000");
}

TEST(HttpLimits, IdleConnectionsEnd) {
  HttpOptions options = hasty();
  options.idle_s = 0.5;
  HttpRig rig(options);
  RawClient fresh = rig.client(), used = rig.client();
  EXPECT_EQ(used.ask(get("/echo")).status, 200);
  EXPECT_TRUE(fresh.ends());
  EXPECT_TRUE(used.ends());
  EXPECT_TRUE(fresh.rest().empty() && used.rest().empty());
}

TEST(HttpLimits, AnswersTakeTheirTime) {
  HttpRig rig(hasty());
  RawClient client = rig.client();
  client.send(get("/hold"));
  const auto exchange = rig.handler.held();
  EXPECT_FALSE(client.fill(600));
  EXPECT_FALSE(exchange->gone());
  exchange->answer({200, "late", "", {}});
  EXPECT_EQ(client.answer().body, "late");
}

TEST(HttpLimits, AThousandIdleConnections) {
  HttpRig rig;
  std::vector<RawClient> clients;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_GE(limit.rlim_cur, 2200U) << "open() raises the limit, and this machine's allows no more";
  for (int i = 0; i < 1000; ++i) {
    clients.push_back(rig.client());
    ASSERT_TRUE(clients.back().connected()) << i;
  }
  EXPECT_TRUE(becomes_true([&] { return rig.server.counts().open == 1000; }));
  EXPECT_EQ(rig.client().ask(get("/echo")).status, 200);
  EXPECT_EQ(clients.front().ask(get("/echo")).status, 200);
  EXPECT_EQ(clients.back().ask(get("/echo")).status, 200);
}

TEST(HttpLimits, AFullHouseClosesTheOldestIdleConnection) {
  HttpOptions options;
  options.most_connections = 3;
  HttpRig rig(options);
  RawClient busy = rig.client();
  busy.send(get("/hold"));
  const auto exchange = rig.handler.held();
  RawClient oldest = rig.client(), idle = rig.client();
  EXPECT_EQ(idle.ask(get("/echo")).status, 200);
  EXPECT_EQ(rig.client().ask(get("/echo")).status, 200);
  EXPECT_TRUE(oldest.ends());
  exchange->answer({200, "still here", "", {}});
  EXPECT_EQ(busy.answer().body, "still here");
}

// All are busy: whoever comes waits until one is through.
TEST(HttpLimits, AFullHouseOfBusyOnes) {
  HttpOptions options;
  options.most_connections = 2;
  HttpRig rig(options);
  RawClient a = rig.client(), b = rig.client();
  a.send(get("/hold", "Connection: close\r\n"));
  b.send(get("/hold"));
  const auto first = rig.handler.held(), second = rig.handler.held();
  RawClient waits = rig.client();
  waits.send(get("/echo"));
  EXPECT_FALSE(waits.fill(100));
  first->answer({});
  second->answer({});
  EXPECT_EQ(waits.answer().status, 200);
}

// No descriptor is left for another connection.
TEST(HttpLimits, SurvivesALackOfDescriptors) {
  HttpRig rig;
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  RawClient probe = rig.client(), waits = rig.client();
  ASSERT_EQ(probe.ask(get("/echo")).status, 200);
  ASSERT_TRUE(becomes_true([&] { return rig.server.counts().open == 2; }));
  const int next = ::dup(0);
  ASSERT_GE(next, 0);
  ::close(next);
  const rlimit few{static_cast<rlim_t>(next) + 1, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  RawClient without = rig.client();  // takes the last one: the server gets none
  EXPECT_TRUE(without.connected());
  EXPECT_EQ(probe.ask(get("/echo")).status, 200);
  EXPECT_FALSE(without.send(get("/echo")) && without.fill(250));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(without.answer().status, 200);
}

// ---- clients that leave
// ----------------------------------------------------------------------------------------------

TEST(HttpLeaving, IsSeenWhileTheAnswerIsMade) {
  HttpRig rig;
  for (const int way : {0, 1, 2}) {
    RawClient client = rig.client();
    client.send(get("/hold"));
    const auto exchange = rig.handler.held();
    std::atomic<int> told{0};
    exchange->on_gone([&] { ++told; });
    EXPECT_FALSE(exchange->gone());
    way == 0 ? client.close() : way == 1 ? client.reset() : client.say_no_more();
    EXPECT_TRUE(becomes_true([&] { return told == 1; })) << way;
    EXPECT_TRUE(exchange->gone());
    exchange->on_gone([&] { ++told; });
    EXPECT_EQ(told, 2);
    exchange->answer({200, "all the same", "", {}});
    if (way == 2) {
      EXPECT_EQ(client.answer().body, "all the same");
      EXPECT_TRUE(client.ends());
    }
    EXPECT_TRUE(becomes_true([&] { return rig.server.counts().open == 0; })) << way;
  }
}

// As `printf ... | nc` sends: requests, then its end.
TEST(HttpLeaving, RequestsInFrontOfTheEndAreAnswered) {
  HttpRig rig;
  RawClient client = rig.client();
  client.send(get("/echo?1") + get("/echo?2") + "GET /half");
  client.say_no_more();
  EXPECT_EQ(client.answer().body, "GET /echo 1 ");
  EXPECT_EQ(client.answer().body, "GET /echo 2 ");
  EXPECT_TRUE(client.ends());
}

TEST(HttpLeaving, OnGoneIsDroppedWithTheAnswer) {
  HttpRig rig;
  RawClient client = rig.client();
  client.send(get("/hold"));
  auto exchange = rig.handler.held();
  const auto token = std::make_shared<int>();
  exchange->on_gone([token] { ADD_FAILURE() << "the client got its answer"; });
  exchange->answer({});
  EXPECT_EQ(client.answer().status, 200);
  EXPECT_TRUE(becomes_true([&] { return token.use_count() == 1; }));
  // Too late: the function may hold the exchange itself, and must not be kept.
  exchange->on_gone([token, exchange] { ADD_FAILURE(); });
  EXPECT_EQ(client.ask(get("/echo")).status, 200);
  EXPECT_EQ(token.use_count(), 1);
  client.close();
}

TEST(HttpLeaving, WhileSending) {
  HttpRig rig;
  for (int i = 0; i < 50; ++i) {
    RawClient client = rig.client();
    client.send(std::string(post("/size", std::string(5000, 'x'))).substr(0, static_cast<size_t>(i) * 100));
    i % 2 ? client.close() : client.reset();
  }
  EXPECT_TRUE(becomes_true([&] { return rig.server.counts().open == 0; }));
  EXPECT_EQ(rig.client().ask(get("/echo")).status, 200);
}

TEST(HttpLeaving, DroppedAndThrown) {
  HttpRig rig;
  RawClient client = rig.client();
  for (const char* path : {"/drop", "/throw"}) {
    const Answer answer = client.ask(get(path));
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.body, std::string(path) + "|the request was dropped");
  }
  EXPECT_EQ(client.ask(get("/echo")).status, 200);
}

TEST(HttpLeaving, TheFirstAnswerCounts) {
  HttpRig rig;
  RawClient client = rig.client();
  client.send(get("/hold"));
  const auto exchange = rig.handler.held();
  exchange->answer({200, "first", "", {}});
  exchange->answer({200, "second", "", {}});
  exchange->begin({200, "third", "", {}});
  exchange->write("x");
  exchange->end();
  EXPECT_EQ(client.answer().body, "first");
  EXPECT_EQ(client.ask(get("/echo")).body, "GET /echo  ");
}

// ---- streams
// ---------------------------------------------------------------------------------------------------------

TEST(HttpStreams, InChunks) {
  HttpRig rig;
  RawClient client = rig.client();
  for (int i = 0; i < 2; ++i) {
    const Answer answer = client.ask(get("/stream"));
    EXPECT_EQ(answer.headers.at("transfer-encoding"), "chunked");
    EXPECT_EQ(answer.headers.count("content-length"), 0U);
    EXPECT_EQ(answer.body, "one two three");
    EXPECT_TRUE(answer.whole);
  }
}

TEST(HttpStreams, OldHttpEndsWithTheConnection) {
  HttpRig rig;
  const Answer answer = rig.client().ask("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(answer.headers.count("transfer-encoding"), 0U);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_EQ(answer.body, "one two three");
}

TEST(HttpStreams, PiecesArriveAsTheyAreWritten) {
  HttpRig rig;
  RawClient client = rig.client();
  client.send(get("/hold"));
  const auto exchange = rig.handler.held();
  exchange->begin({200, "", "text/event-stream", {}});
  for (int i = 0; i < 3; ++i) {
    exchange->write("piece" + std::to_string(i));
    EXPECT_TRUE(becomes_true([&] {
      client.fill(10);
      return client.rest().find("piece" + std::to_string(i) + "\r\n") != std::string::npos;
    }));
  }
  EXPECT_TRUE(becomes_true([&] { return exchange->unsent() == 0; }));
  exchange->end();
  EXPECT_EQ(client.answer().body, "piece0piece1piece2");
}

TEST(HttpStreams, BrokenOnesAreNotTakenForWhole) {
  HttpRig rig;
  RawClient client = rig.client();
  client.send(get("/hold"));
  auto exchange = rig.handler.held();
  exchange->begin({200, "half", "", {}});
  exchange.reset();
  const Answer answer = client.answer();
  EXPECT_EQ(answer.body, "half");
  EXPECT_FALSE(answer.whole);
}

// An answer that its reader does not take fills no memory: he counts as gone beyond the limit.
TEST(HttpStreams, ReadersThatDoNotRead) {
  HttpRig rig;
  RawClient client = rig.client(true);
  client.send(get("/hold"));
  const auto exchange = rig.handler.held();
  std::atomic<bool> told{false};
  exchange->on_gone([&] { told = true; });
  exchange->begin({200, "", "", {}});
  int written = 0;
  for (; written < 400 && !exchange->gone(); ++written) exchange->write(std::string(100000, 'x'));
  EXPECT_LT(written, 400);
  EXPECT_GT(written, 80);  // 8 MiB wait before that
  EXPECT_TRUE(becomes_true([&] { return told && rig.server.counts().open == 0; }));
  EXPECT_FALSE(client.answer().whole);
}

TEST(HttpStreams, ReadersThatReadSlowly) {
  HttpRig rig;
  RawClient client = rig.client(true);
  client.send(get("/hold"));
  const auto exchange = rig.handler.held();
  exchange->begin({200, "", "", {}});
  std::thread writes([&] {
    for (int i = 0; i < 100; ++i) {
      while (exchange->unsent() > 1 << 20) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      exchange->write(std::string(65536, 'x'));
    }
    exchange->end();
  });
  const Answer answer = client.answer();
  writes.join();
  EXPECT_EQ(answer.body.size(), 100U * 65536);
  EXPECT_TRUE(answer.whole);
}

TEST(HttpStreams, AnAnswerThatNobodyReads) {
  HttpRig rig(hasty());
  RawClient client = rig.client(true);
  client.send(get("/hold"));
  const auto exchange = rig.handler.held();
  exchange->answer({200, std::string(64 << 20, 'x'), "", {}});
  EXPECT_TRUE(becomes_true([&] { return rig.server.counts().open == 0; }));
}

// ---- the pace of readers
// ---------------------------------------------------------------------------------------------------------

// A window of a fifth of a second; what stands still is none of its matter.
HttpOptions paced() {
  HttpOptions options = hasty();
  options.idle_s = 60;
  return options;
}

TEST(HttpPace, ReadersThatSipAreGivenUp) {
  HttpRig rig(paced());
  for (const bool streams : {false, true}) {
    RawClient client = rig.client(true);
    client.send(get("/hold"));
    const auto exchange = rig.handler.held();
    if (streams) exchange->begin({200, "", "", {}});
    streams ? exchange->write(std::string(4 << 20, 'x')) : exchange->answer({200, std::string(4 << 20, 'x'), "", {}});
    for (int i = 0; i < 2000 && rig.server.counts().open > 0; ++i) {
      client.fill(0, 10);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_EQ(rig.server.counts().open, 0U) << streams;
    EXPECT_TRUE(exchange->gone()) << streams;
    EXPECT_LT(client.rest().size(), 1U << 20);
  }
}

// Slower than the windows in all, but with enough in each.
TEST(HttpPace, ReadersThatGoOnGetAll) {
  HttpRig rig(paced());
  RawClient client = rig.client(true);
  client.send(get("/hold"));
  rig.handler.held()->answer({200, std::string(400 << 10, 'x'), "", {}});
  while (client.rest().size() < (200 << 10) && client.fill(kPatienceMs, 8 << 10))
    std::this_thread::sleep_for(std::chrono::milliseconds(40));
  EXPECT_EQ(client.answer().body.size(), 400U << 10);
}

// A stream that has nothing to say is no slow reader's.
TEST(HttpPace, StreamsMayBeSilent) {
  HttpRig rig(paced());
  RawClient client = rig.client();
  client.send(get("/hold"));
  const auto exchange = rig.handler.held();
  exchange->begin({200, "one ", "", {}});
  EXPECT_TRUE(client.fill(kPatienceMs));
  EXPECT_FALSE(client.ends(1000));
  exchange->write("two");
  exchange->end();
  EXPECT_EQ(client.answer().body, "one two");
}

TEST(HttpPace, WindowsSaveSomeOfWhatWasTaken) {
  Pace pace(100);
  EXPECT_FALSE(pace.ends_window());
  pace.took(99);
  EXPECT_FALSE(pace.ends_window());
  pace.took(100000);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(pace.ends_window()) << i;
  EXPECT_FALSE(pace.ends_window());
}

// ---- the end
// ---------------------------------------------------------------------------------------------------------

TEST(HttpStop, LetsAnswersBeSent) {
  HttpRig rig;
  RawClient held = rig.client(), idle = rig.client(), headers = rig.client(), body = rig.client();
  EXPECT_EQ(idle.ask(get("/echo")).status, 200);
  held.send(get("/hold"));
  headers.send("GET /echo HT");
  body.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nabc");
  const auto exchange = rig.handler.held();
  ASSERT_TRUE(becomes_true([&] { return rig.server.counts().requests == 3; }));
  std::thread stops([&] { rig.server.stop(5); });
  EXPECT_TRUE(idle.ends());
  EXPECT_EQ(headers.answer().status, 503);
  const Answer refused = body.answer();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.body, "/echo|the server is stopping; try again later");
  exchange->answer({200, "in time", "", {}});
  const Answer answer = held.answer();
  EXPECT_EQ(answer.body, "in time");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  for (RawClient* client : {&held, &headers, &body}) client->close();
  stops.join();
  EXPECT_FALSE(rig.client().connected());
}

TEST(HttpStop, TellsThoseWhoWaitedInVain) {
  HttpRig rig;
  RawClient waits = rig.client(), reads = rig.client();
  waits.send(get("/hold"));
  const auto first = rig.handler.held();
  reads.send(get("/hold"));
  const auto second = rig.handler.held();
  second->begin({200, "half", "", {}});
  std::atomic<int> told{0};
  for (const auto& exchange : {first, second}) exchange->on_gone([&] { ++told; });
  rig.server.stop(0.1);
  EXPECT_EQ(waits.answer().status, 503);
  const Answer cut = reads.answer();
  EXPECT_EQ(cut.body, "half");
  EXPECT_FALSE(cut.whole);
  EXPECT_EQ(told, 2);
  EXPECT_TRUE(first->gone() && second->gone());
  first->answer({});  // nobody is there
  second->write("x");
  second->on_gone([&] { ++told; });
  EXPECT_EQ(told, 3);
}

// An answer that is given while the server gives up is the only one: the client finds nothing behind it.
TEST(HttpStop, GivesOneAnswerAlone) {
  HttpRig rig;
  RawClient waits = rig.client();
  waits.send(get("/hold"));
  const auto exchange = rig.handler.held();
  exchange->on_gone([exchange] { exchange->answer({200, "at the last moment", "", {}}); });
  rig.server.stop(0.1);
  EXPECT_EQ(waits.answer().body, "at the last moment");
  EXPECT_TRUE(waits.ends());
  EXPECT_EQ(waits.rest(), "");
}

// A hundred clients at once: each is answered, told, or was never taken.
TEST(HttpStop, NoneIsCut) {
  HttpRig rig;
  std::vector<RawClient> clients;
  for (int i = 0; i < 100; ++i) {
    clients.push_back(rig.client());
    ASSERT_TRUE(clients.back().send(get("/echo")));
  }
  rig.server.stop(5);
  for (RawClient& client : clients) {
    const int status = client.answer().status;
    EXPECT_TRUE(status == 200 || status == 503) << status;
  }
}

TEST(HttpStop, WithoutAStart) {
  TestHandler handler;
  HttpServer server;
  EXPECT_EQ(server.open({}, handler), "");
  EXPECT_NE(server.port(), 0);
  server.stop(1);
  HttpServer never;
}

TEST(HttpOpen, SaysWhyItCannot) {
  HttpRig rig;
  HttpOptions options;
  options.port = rig.server.port();
  HttpServer second;
  EXPECT_THAT(second.open(options, rig.handler), HasSubstr("another program does; say another port"));
  HttpServer nowhere;
  options.host = "192.0.2.1";
  options.port = 0;
  EXPECT_THAT(nowhere.open(options, rig.handler), HasSubstr("cannot listen at 192.0.2.1"));
  HttpServer nameless;
  options.host = "no.such.name.invalid";
  EXPECT_THAT(nameless.open(options, rig.handler), HasSubstr("cannot find the address"));
}

TEST(HttpOpen, LocalhostIsEveryAddressOfThatName) {
  HttpOptions options;
  options.host = "localhost";
  HttpRig rig(options);
  EXPECT_EQ(rig.client().ask(get("/echo")).status, 200);
}

}  // namespace
}  // namespace lapilli::server::test
