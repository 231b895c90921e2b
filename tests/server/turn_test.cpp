// The status that counts for a request, and what its client gets if nobody answers.
#include "server/turn.hpp"

#include <gtest/gtest.h>

#include "server/fake_desk.hpp"
#include "server/served.hpp"

namespace lapilli::server::test {
namespace {

struct TurnRig {
  std::shared_ptr<FakeExchange> client = std::make_shared<FakeExchange>(Request());
  int counted = 0;
  std::shared_ptr<Turn> turn = std::make_shared<Turn>(
      client, Fields(),
      [](bool left) {
        return Response{left ? 418 : 500, "", "", {}};
      },
      [this](int status, double) { counted = status; });
};

TEST(Turn, CountsItsAnswer) {
  TurnRig rig;
  rig.turn->answer({404, "", "", {}});
  rig.client->left = true;  // with the answer
  rig.turn.reset();
  EXPECT_EQ(rig.counted, 404);
  EXPECT_EQ(rig.client->given.status, 404);
}

TEST(Turn, WhatNobodyAnswersIsAFault) {
  TurnRig rig;
  rig.turn.reset();
  EXPECT_EQ(rig.counted, 500);
  EXPECT_EQ(rig.client->given.status, 500);
}

TEST(Turn, AClientThatLeavesIsNoFault) {
  for (const bool answered : {false, true}) {
    TurnRig rig;
    rig.client->left = true;
    if (answered) rig.turn->answer({500, "", "", {}});
    rig.turn.reset();
    EXPECT_EQ(rig.counted, kClientLeft);
    EXPECT_EQ(rig.client->given.status, answered ? 500 : 418);
  }
}

// Those that leave while the model is loaded, and one that ends its side and waits.
TEST(ServeDeviceTurn, ClientsThatLeaveAreCountedApart) {
  const Served served(Served::with({{"en-fr", kBundled}}));
  ASSERT_EQ(served.trouble(), "");
  const std::string body = "q=The+port.&source=en&target=fr";
  const std::string request =
      "POST /translate HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      "Content-Length: " +
      std::to_string(body.size()) + "\r\n\r\n" + body;
  RawClient resets(served.port()), waits(served.port());
  for (const RawClient* client : {&resets, &waits}) client->send(request);
  resets.reset();
  waits.say_no_more();
  EXPECT_EQ(waits.answer(false, kDevicePatienceMs).status, kClientLeft);
  const std::string both = "lapilli_requests_total{protocol=\"libretranslate\",status=\"499\"} 2\n";
  std::string counted;
  EXPECT_TRUE(becomes_true([&] { return (counted = served.get("/metrics").body).find(both) != std::string::npos; }))
      << counted;
  EXPECT_EQ(counted.find("status=\"5"), std::string::npos) << counted;
}

}  // namespace
}  // namespace lapilli::server::test
