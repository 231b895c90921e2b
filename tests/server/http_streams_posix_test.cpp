// Connections of another protocol beside HTTP, on the same thread.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "server/http_rig.hpp"

namespace lapilli::server::test {
namespace {

// Gives back each line; "wait" until the test answers, "quit" ends, "throw" throws.
class Echo : public StreamHandler {
 public:
  std::unique_ptr<StreamSession> connected(std::shared_ptr<StreamLink> link) override {
    if (refuses) return nullptr;
    return std::make_unique<Session>(*this, std::move(link));
  }

  bool refuses = false;
  std::atomic<const StreamSession*> working{nullptr};
  std::atomic<int> ended{0};
  std::mutex mutex;
  std::shared_ptr<StreamLink> waiting;

 private:
  struct Session : StreamSession {
    Session(Echo& all, std::shared_ptr<StreamLink> way) : echo(all), link(std::move(way)) {}
    bool received(std::string_view bytes) override {
      if (bytes == "throw") throw std::runtime_error("of the application");
      if (bytes == "wait") {
        const std::lock_guard lock(echo.mutex);
        echo.working = this;
        echo.waiting = link;
        return true;
      }
      link->send(link->address() + " " + std::string(bytes));
      return bytes != "quit";
    }
    [[nodiscard]] bool working() const override { return echo.working == this; }
    void ended() override { ++echo.ended; }

    Echo& echo;
    std::shared_ptr<StreamLink> link;
  };
};

struct StreamRig {
  explicit StreamRig(HttpOptions options = {}) {
    EXPECT_EQ(server.open(options, handler), "");
    EXPECT_EQ(server.open_streams("127.0.0.1", 0, echo), "");
    server.start();
  }
  RawClient client() { return RawClient(server.stream_port()); }
  std::shared_ptr<StreamLink> waiting() {
    EXPECT_TRUE(becomes_true([&] { return echo.working != nullptr; }));
    const std::lock_guard lock(echo.mutex);
    return echo.waiting;
  }
  // True if a client gets these bytes.
  static bool gets(RawClient& client, const std::string& bytes) {
    while (client.rest().size() < bytes.size() && client.fill(kPatienceMs)) {
    }
    return client.rest() == bytes;
  }

  TestHandler handler;
  Echo echo;
  HttpServer server;
};

TEST(HttpBeside, BothProtocolsAreServed) {
  StreamRig rig;
  EXPECT_NE(rig.server.port(), rig.server.stream_port());
  RawClient client = rig.client();
  client.send("hello");
  EXPECT_TRUE(StreamRig::gets(client, "127.0.0.1 hello"));
  EXPECT_EQ(RawClient(rig.server.port()).ask(get("/echo")).status, 200);
  EXPECT_GE(rig.server.counts().connections, 2U);
  client.close();
  EXPECT_TRUE(becomes_true([&] { return rig.echo.ended == 1; }));
}

TEST(HttpBeside, TheApplicationEndsAConnection) {
  StreamRig rig;
  RawClient quits = rig.client(), throws = rig.client();
  quits.send("quit");
  EXPECT_TRUE(quits.ends());
  EXPECT_EQ(quits.rest(), "127.0.0.1 quit");
  throws.send("throw");
  EXPECT_TRUE(throws.ends());
  RawClient finished = rig.client();
  finished.send("wait");
  const auto link = rig.waiting();
  link->send(std::string(1 << 20, 'x'));
  link->finish();
  EXPECT_TRUE(finished.ends());
  EXPECT_EQ(finished.rest().size(), 1U << 20);
  EXPECT_TRUE(becomes_true([&] { return rig.echo.ended == 3; }));
  link->send("nobody is there");
  rig.echo.refuses = true;
  EXPECT_TRUE(rig.client().ends());
}

TEST(HttpBeside, ClientsThatDoNotRead) {
  StreamRig rig;
  RawClient client(rig.server.stream_port(), true);
  client.send("wait");
  const auto link = rig.waiting();
  for (int i = 0; i < 400 && rig.echo.ended == 0; ++i) link->send(std::string(100000, 'x'));
  EXPECT_TRUE(becomes_true([&] { return rig.echo.ended == 1 && rig.server.counts().open == 0; }));
}

TEST(HttpBeside, ReadersThatSipAreGivenUp) {
  HttpOptions options;
  options.body_s = 0.2;
  options.least_bytes = 1024;
  StreamRig rig(options);
  RawClient client(rig.server.stream_port(), true);
  client.send("wait");
  rig.waiting()->send(std::string(4 << 20, 'x'));
  for (int i = 0; i < 2000 && rig.echo.ended == 0; ++i) {
    client.fill(0, 10);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_EQ(rig.echo.ended, 1);
}

TEST(HttpBeside, IdleConnectionsEndAndWorkingOnesDoNot) {
  HttpOptions options;
  options.idle_s = 0.1;
  StreamRig rig(options);
  RawClient client = rig.client();
  client.send("wait");
  const auto link = rig.waiting();
  EXPECT_FALSE(client.ends(500));
  rig.echo.working = nullptr;
  link->send("done");
  EXPECT_TRUE(client.ends());
  EXPECT_EQ(client.rest(), "done");
}

TEST(HttpBeside, StopWaitsForAnswers) {
  StreamRig rig;
  RawClient idle = rig.client();
  idle.send("hello");
  EXPECT_TRUE(StreamRig::gets(idle, "127.0.0.1 hello"));
  RawClient busy = rig.client();
  busy.send("wait");
  const auto link = rig.waiting();
  std::thread stops([&] { rig.server.stop(5); });
  EXPECT_FALSE(busy.fill(100));
  rig.echo.working = nullptr;
  link->send("in time");
  EXPECT_TRUE(busy.ends());
  EXPECT_EQ(busy.rest(), "in time");
  stops.join();
  EXPECT_EQ(rig.echo.ended, 2);
  EXPECT_TRUE(idle.ends());
}

TEST(HttpBeside, StopEndsWhatTakesTooLong) {
  StreamRig rig;
  RawClient busy = rig.client();
  busy.send("wait");
  (void)rig.waiting();
  rig.server.stop(0.1);
  EXPECT_TRUE(busy.ends());
  EXPECT_EQ(rig.echo.ended, 1);
}

TEST(HttpBeside, AFullHouse) {
  HttpOptions options;
  options.most_connections = 2;
  StreamRig rig(options);
  RawClient a = rig.client(), b = rig.client();
  for (RawClient* client : {&a, &b}) {
    client->send("hello");
    EXPECT_TRUE(StreamRig::gets(*client, "127.0.0.1 hello"));
  }
  RawClient waits = rig.client();
  waits.send("hello");
  EXPECT_FALSE(waits.fill(100));
  a.close();
  EXPECT_TRUE(StreamRig::gets(waits, "127.0.0.1 hello"));
}

}  // namespace
}  // namespace lapilli::server::test
