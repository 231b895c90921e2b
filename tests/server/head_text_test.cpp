// Heads of answers, and targets of requests.
#include "server/http/head_text.hpp"

#include <gtest/gtest.h>

#include "server/http/target.hpp"

namespace lapilli::server {
namespace {

TEST(HeadText, OfAnAnswer) {
  const Response response{200, "", "text/plain", {{"X-A", "b"}}};
  EXPECT_EQ(head_text(response, {5, false, true, false}, 784111777),
            "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nServer: lapilli\r\nContent-Type: text/plain\r\n"
            "Content-Length: 5\r\nX-A: b\r\n\r\n");
  EXPECT_EQ(head_text({299, "", "", {}}, {std::nullopt, true, false, false}, 0),
            "HTTP/1.1 299 \r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nServer: lapilli\r\n"
            "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(head_text({404, "", "", {}}, {0, false, true, true}, 951782400),
            "HTTP/1.0 404 Not Found\r\nDate: Tue, 29 Feb 2000 00:00:00 GMT\r\nServer: lapilli\r\nContent-Length: 0\r\n"
            "Connection: keep-alive\r\n\r\n");
}

// Words of a request that come back in a header must not end it.
TEST(HeadText, HeadersThatWouldBreakOut) {
  const Response response{200,
                          "",
                          "text/plain\r\nX-Evil: 1",
                          {{"A", "b\r\nX-Evil: 1"},
                           {"B", "c\nd"},
                           {"C\r\nX-Evil", "1"},
                           {"D E", "1"},
                           {"", "1"},
                           {"F", std::string("a\0b", 3)},
                           {"Content-Length", "999"},
                           {"transfer-encoding", "chunked"},
                           {"Connection", "close"},
                           {"Good", "a \xC3\xA4 b"}}};
  EXPECT_EQ(head_text(response, {1, false, true, false}, 0),
            "HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nServer: lapilli\r\nContent-Length: 1\r\n"
            "Good: a \xC3\xA4 b\r\n\r\n");
}

TEST(HeadText, EveryDayOfFourHundredYears) {
  // A day behind the other: names of days and lengths of months, as the calendar has them.
  int day = 1, month = 0, year = 1970;
  const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const char* days[] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
  for (int64_t i = 0; i < 146097; ++i) {
    char expected[64];
    std::snprintf(expected, sizeof expected, "%s, %02d %s %d 23:59:59 GMT", days[i % 7], day, months[month], year);
    ASSERT_EQ(http_date(static_cast<std::time_t>(i * 86400 + 86399)), expected);
    const bool leap = month == 1 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if (++day <= lengths[month] + leap) continue;
    day = 1;
    if (++month < 12) continue;
    month = 0;
    ++year;
  }
}

TEST(HeadText, Chunks) {
  EXPECT_EQ(chunk_of(""), "");
  EXPECT_EQ(chunk_of("abc"), "3\r\nabc\r\n");
  EXPECT_EQ(chunk_of(std::string(255, 'x')), "ff\r\n" + std::string(255, 'x') + "\r\n");
}

struct Split {
  const char *target, *path, *query, *authority;
};

TEST(Target, IsTakenApart) {
  const Split cases[] = {
      {"/", "/", "", ""},
      {"/a/b?c=d?e", "/a/b", "c=d?e", ""},
      {"/a%20b+c?d%20e", "/a b+c", "d%20e", ""},
      {"/?", "/", "", ""},
      {"", "/", "", ""},
      {"?a", "/", "a", ""},
      {"/a#b?c", "/a", "", ""},
      {"*", "*", "", ""},
      {"host:443", "host:443", "", ""},
      {"http://h:1/a?b", "/a", "b", "h:1"},
      {"https://h", "/", "", "h"},
      {"http://h?a", "/", "a", "h"},
      {"/a?u=http://x/y", "/a", "u=http://x/y", ""},
      {"/http://x/y", "/http://x/y", "", ""},
      {"//h/a", "//h/a", "", ""},
  };
  for (const Split& c : cases) {
    const Target split = split_target(c.target);
    EXPECT_EQ(split.path, c.path) << c.target;
    EXPECT_EQ(split.query, c.query) << c.target;
    EXPECT_EQ(split.authority, c.authority) << c.target;
  }
}

}  // namespace
}  // namespace lapilli::server
