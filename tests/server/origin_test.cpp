// The right to ask: tables of hosts, origins and keys.
#include "server/http/origin.hpp"

#include <gtest/gtest.h>

namespace lapilli::server {
namespace {

TEST(Origin, LoopbackHosts) {
  for (const char* host : {"localhost", "LocalHost:5000", "localhost.", "a.localhost:1", "127.0.0.1", "127.255.0.9:80",
                           "[::1]", "[::1]:5000", "localhost:"})
    EXPECT_TRUE(host_is_loopback(host)) << host;
  for (const char* host : {"",
                           ":5000",
                           "example.org",
                           "localhost.example.org",
                           "127.0.0.1.example.org",
                           "127.0.0.1.nip.io:5000",
                           "128.0.0.1",
                           "127.0.0",
                           "127.0.0.1.1",
                           "127.0.0.256",
                           "127.0.0.-1",
                           "127.0.0.",
                           "127..0.1",
                           "0.0.0.0",
                           "[::2]",
                           "::1",
                           "[::1",
                           "[::ffff:127.0.0.1]",
                           "localhost@example.org",
                           "localhost/",
                           "localhost:5000:1",
                           "localhost:x",
                           "local host",
                           "notlocalhost",
                           "localhost:123456",
                           "2130706433"})
    EXPECT_FALSE(host_is_loopback(host)) << host;
}

TEST(Origin, HostsWithoutTheirPort) {
  EXPECT_EQ(host_of("Example.ORG:80"), "example.org");
  EXPECT_EQ(host_of("[FE80::1]:80"), "[fe80::1]");
  EXPECT_EQ(host_of("a/b"), "");
  EXPECT_EQ(host_of("a\tb"), "");
  EXPECT_EQ(host_of(""), "");
}

struct Page {
  const char *origin, *host;
  std::vector<std::string> cors;
  bool allowed;
};

TEST(Origin, Pages) {
  const Page cases[] = {
      {"", "localhost:5000", {}, true},  // no browser
      {"http://localhost:5000", "localhost:5000", {}, true},
      {"http://LOCALHOST:5000", "localhost:5000", {}, true},
      {"http://example.org", "example.org", {}, true},
      {"http://example.org", "example.org:80", {}, true},
      {"https://example.org", "example.org", {}, true},  // behind a proxy with TLS
      {"https://example.org", "example.org:443", {}, true},
      {"http://localhost:5001", "localhost:5000", {}, false},
      {"http://127.0.0.1:5000", "localhost:5000", {}, false},
      {"http://localhost", "localhost:5000", {}, false},
      {"http://evil.example", "localhost:5000", {}, false},
      {"null", "localhost:5000", {}, false},
      {"null", "null", {}, false},
      {"http://", "", {}, false},
      {"file://", "", {}, false},
      {"http://localhost:5000.evil.example", "localhost:5000", {}, false},
      {"http://evil.example/localhost:5000", "localhost:5000", {}, false},
      {"http://a.example", "localhost:5000", {"http://a.example"}, true},
      {"http://A.example", "localhost:5000", {"http://a.example/"}, true},
      {"https://a.example", "localhost:5000", {"http://a.example"}, false},
      {"http://a.example:8080", "localhost:5000", {"http://a.example"}, false},
      {"http://a.example", "localhost:5000", {"http://b.example", "*"}, true},
      {"null", "localhost:5000", {"*"}, true},
      {"null", "localhost:5000", {"null"}, true},
      {"", "localhost:5000", {"http://a.example"}, true},
  };
  for (const Page& c : cases) EXPECT_EQ(origin_allowed(c.origin, c.host, c.cors), c.allowed) << c.origin << c.host;
}

std::string shown(const Fields& fields) {
  std::string text;
  for (const auto& [name, value] : fields) text += name + ": " + value + "\n";
  return text;
}

TEST(Origin, HeadersForPages) {
  EXPECT_EQ(shown(cors_headers("http://a.example", {})), "");
  EXPECT_EQ(shown(cors_headers("", {"*"})), "");
  EXPECT_EQ(shown(cors_headers("http://b.example", {"http://a.example"})), "");
  EXPECT_EQ(shown(cors_headers("http://a.example", {"http://a.example"})),
            "Access-Control-Allow-Origin: http://a.example\nVary: Origin\n");
  EXPECT_EQ(shown(cors_headers("http://a.example", {"*"})), "Access-Control-Allow-Origin: *\n");
}

Request question(const std::string& origin, const std::string& headers) {
  Request request;
  request.method = "OPTIONS";
  request.headers = {{"origin", origin}, {"access-control-request-method", "POST"}};
  if (!headers.empty()) request.headers.emplace_back("access-control-request-headers", headers);
  return request;
}

TEST(Origin, Preflight) {
  Request request = question("http://a.example", "authorization,content-type");
  EXPECT_TRUE(is_preflight(request));
  const Response response = preflight_response(request, {"http://a.example"});
  EXPECT_EQ(response.status, 204);
  EXPECT_EQ(shown(response.headers),
            "Access-Control-Allow-Origin: http://a.example\nVary: Origin\n"
            "Access-Control-Allow-Methods: GET, HEAD, POST, PUT, DELETE, OPTIONS\n"
            "Access-Control-Allow-Headers: authorization,content-type\nAccess-Control-Max-Age: 600\n");
  EXPECT_EQ(shown(preflight_response(request, {}).headers), "");
  EXPECT_NE(shown(preflight_response(question("null", ""), {"*"}).headers).find("Authorization, Content-Type"),
            std::string::npos);
  request.method = "POST";
  EXPECT_FALSE(is_preflight(request));
  request = question("", "");
  EXPECT_FALSE(is_preflight(request));
}

TEST(Origin, Keys) {
  EXPECT_TRUE(keys_equal("secret", "secret"));
  EXPECT_TRUE(keys_equal("", ""));
  for (const char* given : {"", "s", "secre", "secret ", "Secret", "secrets", "secretsecret", "tecret"})
    EXPECT_FALSE(keys_equal(given, "secret")) << given;
  EXPECT_FALSE(keys_equal("a", ""));
  EXPECT_FALSE(keys_equal(std::string_view("a\0", 2), "a"));
  EXPECT_FALSE(keys_equal(std::string_view("\0", 1), ""));
}

}  // namespace
}  // namespace lapilli::server
