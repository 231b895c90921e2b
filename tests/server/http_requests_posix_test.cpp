// Requests of every form that HTTP/1 has, one behind the other on a connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http_rig.hpp"

namespace lapilli::server::test {
namespace {

using testing::HasSubstr;

TEST(HttpRequests, KeepsTheConnection) {
  HttpRig rig;
  RawClient client = rig.client();
  for (int i = 0; i < 3; ++i) {
    const Answer answer = client.ask(post("/echo?a=%20&b", "body " + std::to_string(i)));
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "POST /echo a=%20&b body " + std::to_string(i));
    EXPECT_EQ(answer.headers.at("content-type"), "text/plain");
    EXPECT_EQ(answer.headers.at("x-mark"), "1");
    EXPECT_EQ(answer.headers.count("connection"), 0U);
  }
  EXPECT_EQ(rig.server.counts().connections, 1U);
  EXPECT_EQ(rig.server.counts().requests, 3U);
}

TEST(HttpRequests, AnswersPipelinedOnesInTheirOrder) {
  HttpRig rig;
  RawClient client = rig.client();
  std::string all;
  for (int i = 0; i < 50; ++i) all += post("/echo", std::to_string(i)) + "\r\n";
  client.send(all);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(client.answer().body, "POST /echo  " + std::to_string(i));
}

TEST(HttpRequests, PipelinedBehindOneThatWaits) {
  HttpRig rig;
  RawClient client = rig.client();
  client.send(get("/hold") + get("/echo?second"));
  const auto first = rig.handler.held();
  EXPECT_FALSE(client.fill(50));
  first->answer({200, "first", "", {}});
  EXPECT_EQ(client.answer().body, "first");
  EXPECT_EQ(client.answer().body, "GET /echo second ");
}

TEST(HttpRequests, ByteByByte) {
  HttpRig rig;
  RawClient client = rig.client();
  for (const char c : post("/echo", "abc", "Transfer: x\r\n")) client.send({&c, 1});
  EXPECT_EQ(client.answer().body, "POST /echo  abc");
}

TEST(HttpRequests, HeadHasTheLengthAndNoBody) {
  HttpRig rig;
  RawClient client = rig.client();
  client.send("HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n" + get("/echo"));
  const Answer head = client.answer(true);
  EXPECT_EQ(head.headers.at("content-length"), std::to_string(std::string("HEAD /echo  ").size()));
  EXPECT_EQ(client.answer().body, "GET /echo  ");
  client.send("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n" + get("/echo"));
  EXPECT_EQ(client.answer(true).status, 200);
  EXPECT_EQ(client.answer().body, "GET /echo  ");
}

TEST(HttpRequests, OldHttpCloses) {
  HttpRig rig;
  RawClient client = rig.client();
  const Answer answer = client.ask("GET /echo HTTP/1.0\r\n\r\n");
  EXPECT_EQ(answer.body, "GET /echo  ");
  EXPECT_EQ(answer.head.substr(0, 12), "HTTP/1.0 200");
  EXPECT_TRUE(client.ends());
  RawClient keeps = rig.client();
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(keeps.ask("GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").headers.at("connection"), "keep-alive");
}

TEST(HttpRequests, ClosesWhereThatIsAsked) {
  HttpRig rig;
  RawClient client = rig.client();
  const Answer answer = client.ask(get("/echo", "Connection: close\r\n"));
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(client.ends());
}

TEST(HttpRequests, AbsoluteTargets) {
  HttpRig rig;
  RawClient client = rig.client();
  EXPECT_EQ(client.ask(get("http://other:1/echo?q#fragment")).body, "GET /echo q ");
  EXPECT_EQ(client.ask(get("http://other")).body, "nothing is at /");
  EXPECT_EQ(client.ask(get("/a%2Fb%20c%")).body, "nothing is at /a/b c%");
  EXPECT_EQ(client.ask("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").body, "nothing is at *");
}

TEST(HttpRequests, ChunkedBodies) {
  HttpRig rig;
  RawClient client = rig.client();
  const std::string head = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(client.ask(head + "3\r\nabc\r\n2;name=\"x\"\r\nde\r\n0\r\n\r\n").body, "POST /echo  abcde");
  EXPECT_EQ(client.ask(head + "0\r\n\r\n").body, "POST /echo  ");
  EXPECT_EQ(client.ask(head + "1\r\na\r\n0\r\nTrailer: x\r\nContent-Type: y\r\n\r\n").body, "POST /echo  a");
  std::string many;
  for (int i = 0; i < 20000; ++i) many += "1\r\nx\r\n";
  const std::string size = "POST /size HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(client.ask(size + many + "0\r\n\r\n").body, "20000");
}

TEST(HttpRequests, LargeBodiesPassThroughAFile) {
  HttpRig rig;
  rig.handler.most_body_bytes = 8 << 20;
  RawClient client = rig.client();
  EXPECT_EQ(client.ask(post("/size", std::string((1 << 20) + 1, 'x'))).body, "1048577");
  EXPECT_EQ(client.ask(post("/size", std::string(8 << 20, 'x'))).body, "8388608");
}

TEST(HttpRequests, TellsToGoOn) {
  HttpRig rig;
  RawClient client = rig.client();
  client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\n");
  EXPECT_EQ(client.answer().head, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_EQ(client.ask("abc").body, "POST /echo  abc");
  // The body is here already: nothing to tell.
  EXPECT_EQ(client.ask(post("/echo", "abc", "Expect: 100-continue\r\n")).status, 200);
  EXPECT_EQ(client.ask(post("/echo", "abc", "Expect: magic\r\n")).status, 417);
}

TEST(HttpRequests, RefusedInPlaceOfGoingOn) {
  HttpRig rig;
  RawClient client = rig.client();
  const Answer answer =
      client.ask("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(client.ends());
}

TEST(HttpRequests, LineBreaksInFrontAreSkipped) {
  HttpRig rig;
  RawClient client = rig.client();
  EXPECT_EQ(client.ask("\r\n\r\n" + get("/echo")).status, 200);
  EXPECT_EQ(client.ask("\n" + get("/echo")).status, 200);
}

TEST(HttpRequests, AddressAndHeaders) {
  HttpRig rig;
  RawClient client = rig.client();
  client.send(get("http://h:1/hold", "X-A:  one \r\nx-a: two\r\n"));
  const auto exchange = rig.handler.held();
  EXPECT_EQ(exchange->request().address, "127.0.0.1");
  EXPECT_EQ(exchange->request().header("x-a"), "one");
  EXPECT_EQ(exchange->request().header("host"), "h:1");
  EXPECT_EQ(exchange->request().headers.size(), 3U);
  exchange->answer({});
}

struct Garbage {
  const char* bytes;
  int status;
  const char* why;
};

class HttpGarbage : public testing::TestWithParam<Garbage> {};

TEST_P(HttpGarbage, IsRefusedAndTheConnectionEnds) {
  HttpRig rig;
  RawClient client = rig.client();
  const Answer answer = client.ask(GetParam().bytes);
  EXPECT_EQ(answer.status, GetParam().status) << GetParam().bytes;
  EXPECT_THAT(answer.body, HasSubstr(GetParam().why));
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(client.ends());
}

constexpr const char* kFramed = "POST /echo HTTP/1.1\r\nHost: a\r\n";
INSTANTIATE_TEST_SUITE_P(
    Each, HttpGarbage,
    testing::Values(
        Garbage{"\x16\x03\x01 a greeting of TLS \r\n\r\n", 400, "no HTTP"},  //
        Garbage{"GET\r\n\r\n", 400, "no HTTP"},                              //
        Garbage{"GET /echo HTTP/1.1\r\nno colon\r\n\r\n", 400, "no HTTP"},   //
        Garbage{"GET /echo HTTP/1.1\r\nHost : a\r\n\r\n", 400, "no HTTP"},   //
        Garbage{"GET /echo HTTP/2.0\r\nHost: a\r\n\r\n", 505, "another HTTP"},
        Garbage{"GET /echo HTTP/1.1\r\n\r\n", 400, "one Host"},
        Garbage{"GET /echo HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400, "one Host"},
        // Two ways to say where a request ends: another may follow inside.
        Garbage{"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
                "no HTTP"},
        Garbage{"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n", 400,
                "no HTTP"},
        Garbage{"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, "no HTTP"},
        Garbage{"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400, "no HTTP"},
        Garbage{"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501, "Transfer-Encoding"},
        Garbage{"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501, "Transfer-Encoding"},
        Garbage{"POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 501, "Transfer-Encoding"},
        Garbage{"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400, "no HTTP"},
        Garbage{"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", 400, "no HTTP"}));

TEST(HttpRequests, HeaderBombs) {
  HttpRig rig;
  for (const std::string& bomb :
       {"GET /" + std::string(100000, 'x'), get("/echo", "X: " + std::string(17000, 'y') + "\r\n")}) {
    RawClient client = rig.client();
    const Answer answer = client.ask(bomb);
    EXPECT_EQ(answer.status, 431);
    EXPECT_THAT(answer.body, HasSubstr("16384"));
    EXPECT_TRUE(client.ends());
  }
  std::string many = "GET /echo HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 10000; ++i) many += "a: b\r\n";
  EXPECT_EQ(rig.client().ask(many).status, 431);
}

TEST(HttpRequests, LinesOfChunksWithoutEnd) {
  HttpRig rig;
  for (const char* line : {"1;", "0\r\nX: "}) {
    RawClient client = rig.client();
    client.send(std::string(kFramed) + "Transfer-Encoding: chunked\r\n\r\n" + line);
    client.send(std::string(100000, 'x'));
    EXPECT_EQ(client.answer().status, 400);
    EXPECT_TRUE(client.ends());
  }
}

}  // namespace
}  // namespace lapilli::server::test
