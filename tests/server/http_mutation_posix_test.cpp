// Damaged requests, by a fixed seed: each is answered or its connection closed, and the server goes on.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "base/path.hpp"
#include "server/http_rig.hpp"

namespace lapilli::server::test {
namespace {

const std::vector<std::string>& whole_requests() {
  static const std::string form =
      "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a \\\"b\\\".wav\"\r\nContent-Type: "
      "audio/wav\r\n\r\n"
      "RIFF\r\n--XX\r\nContent-Disposition: form-data; name=model\r\n\r\nwhisper-1\r\n--XX--\r\n";
  static const std::vector<std::string> all = {
      get("/echo?a=b%20c&d", "Accept: */*\r\nUser-Agent: x\r\n"),
      get("/stream", "Connection: close\r\n"),
      "HEAD /echo HTTP/1.1\r\nHost: [::1]:5000\r\n\r\n",
      "GET http://h/echo HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
      post("/form", form, "Content-Type: multipart/form-data; boundary=XX\r\n"),
      post("/form", "q=a+b%2Bc&q=%E2%82%AC&source=auto", "Content-Type: application/x-www-form-urlencoded\r\n"),
      post("/echo", "{\"q\": \"Gr\xC3\xBC\xC3\x9F\", \"n\": 1}", "Expect: 100-continue\r\n"),
      post("/refused", "not for this client"),
      "POST /size HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
      "chunked\r\n\r\n5;x=\"y\"\r\nabcde\r\nA\r\n0123456789\r\n0\r\nT: u\r\n\r\n",
      get("/echo") + post("/form", "a=b") + get("/missing"),
  };
  return all;
}

class Damage {
 public:
  explicit Damage(unsigned seed) : random_(seed) {}

  std::string next() {
    std::string bytes = whole_requests()[below(whole_requests().size())];
    for (size_t n = 1 + below(4); n > 0; --n) damage(bytes);
    return bytes;
  }
  size_t below(size_t count) { return random_() % count; }

 private:
  void damage(std::string& bytes) {
    static const std::array<std::string, 16> kWords = {"\r\n",
                                                       "\n",
                                                       "\r\n\r\n",
                                                       std::string(1, '\0'),
                                                       "%",
                                                       "--XX",
                                                       "Content-Length: 5\r\n",
                                                       ": ",
                                                       "\xFF",
                                                       "HTTP",
                                                       " ",
                                                       "ffffffffffffffff",
                                                       "-1",
                                                       "9999999999",
                                                       "Transfer-Encoding: chunked\r\n",
                                                       "Connection: upgrade\r\n"};
    if (bytes.empty()) return;
    const size_t at = below(bytes.size()), length = 1 + below(std::min<size_t>(bytes.size() - at, 20));
    switch (below(7)) {
      case 0: bytes[at] = static_cast<char>(below(256)); break;
      case 1: bytes.erase(at, length); break;
      case 2: bytes.insert(at, kWords[below(kWords.size())]); break;
      case 3: bytes.insert(at, bytes.substr(at, length)); break;
      case 4: bytes.resize(at); break;
      case 5: bytes.insert(at, std::string(1 + below(40000), bytes[at])); break;
      default: bytes += whole_requests()[below(whole_requests().size())].substr(below(20)); break;
    }
  }

  std::mt19937 random_;
};

// So many at a time: the server has all of them at once.
constexpr int kTogether = 20;

// False, with the reason, if the server is not through with it.
testing::AssertionResult ended_well(RawClient& client) {
  if (!client.ends()) return testing::AssertionFailure() << "it hangs";
  const bool spoke = !client.rest().empty();
  if (spoke && !client.rest().starts_with("HTTP/1.")) return testing::AssertionFailure() << client.rest();
  return testing::AssertionSuccess();
}

TEST(HttpMutation, EachIsAnsweredOrClosed) {
  HttpRig rig;
  Damage damage(42);
  const std::string asked = environment("LAPILLI_FUZZ_ROUNDS");
  const int rounds = asked.empty() ? 2000 : std::stoi(asked);
  for (int round = 0; round < rounds; round += kTogether) {
    std::vector<RawClient> clients;
    std::vector<std::string> sent;
    for (int i = 0; i < kTogether; ++i) {
      clients.push_back(rig.client());
      sent.push_back(damage.next());
      ASSERT_TRUE(clients.back().connected());
      clients.back().send(sent.back());
      i % 10 == 9 ? clients.back().reset() : clients.back().say_no_more();
    }
    for (size_t i = 0; i < clients.size(); ++i)
      ASSERT_TRUE(i % 10 == 9 || ended_well(clients[i])) << round << ": " << sent[i];
  }
  EXPECT_TRUE(becomes_true([&] { return rig.server.counts().open == 0; }));
  for (const std::string& request : whole_requests()) EXPECT_GE(rig.client().ask(request).status, 100);
}

// The forms alone, where they are parsed: they need no server.
TEST(FormsMutation, NothingBreaks) {
  Damage damage(43);
  for (int round = 0; round < 5000; ++round) {
    const std::string bytes = damage.next();
    for (const FormField& field : parse_multipart(bytes, "multipart/form-data; boundary=XX").fields)
      ASSERT_TRUE(field.part.data() >= bytes.data() &&
                  field.part.data() + field.part.size() <= bytes.data() + bytes.size());
    const std::string type = "multipart/form-data; boundary=" + bytes.substr(0, 300);
    EXPECT_TRUE(parse_multipart(bytes, type).error.size() < 200);
    (void)parse_urlencoded(bytes);
  }
}

}  // namespace
}  // namespace lapilli::server::test
