// Placeholders of app texts, and what looks like them.
#include "base/placeholders.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lapilli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> placeholders(const std::string& text) {
  std::vector<std::string> out;
  for (Placeholder p = find_placeholder(text, 0); p.end > 0; p = find_placeholder(text, p.end))
    out.push_back(text.substr(p.begin, p.end - p.begin));
  return out;
}

TEST(Placeholders, OfPrintf) {
  EXPECT_THAT(placeholders("Hello %1$s, %d of %-5.2f and %lld, %@, %s."),
              ElementsAre("%1$s", "%d", "%-5.2f", "%lld", "%@", "%s"));
  EXPECT_THAT(placeholders("%(name)s, %(n)03d, %{count}, %<price>.2f, %name%, %1 of %2, %dkm %1$@"),
              ElementsAre("%(name)s", "%(n)03d", "%{count}", "%<price>.2f", "%name%", "%1", "%2", "%d", "%1$@"));
}

TEST(Placeholders, InBraces) {
  EXPECT_THAT(placeholders("Hi {name}, {0}: {user.first_name}, {items[0].x}{{count}} {{ name | upper }} {{{raw}}} {}"),
              ElementsAre("{name}", "{0}", "{user.first_name}", "{items[0].x}", "{{count}}", "{{ name | upper }}",
                          "{{{raw}}}", "{}"));
  EXPECT_THAT(placeholders("${x} #{y} {total:.2f} {0:N2} {when, date, short} {x!r} {{#if}} {{ 'a b' | t }}"),
              ElementsAre("${x}", "#{y}", "{total:.2f}", "{0:N2}", "{when, date, short}", "{x!r}", "{{#if}}",
                          "{{ 'a b' | t }}"));
}

TEST(Placeholders, AreNotWhatHoldsWords) {
  for (const char* text : {"",
                           "100 % sure",
                           "50% of it",
                           "50%discount",
                           "100%d",
                           "a % b",
                           "{see below}",
                           "{ a, b }",
                           "{\\an8}",
                           "{",
                           "}",
                           "{{",
                           "{a",
                           "%",
                           "%%",
                           "%(",
                           "%(x",
                           "%()s",
                           "%PATHS",
                           "$5 and #1",
                           "${",
                           "{n, plural, one {# day} other {# days}}"})
    EXPECT_THAT(placeholders(text), IsEmpty()) << text;
}

TEST(Placeholders, AreFoundInLinearTime) {
  for (const std::string part : {"{", "{{", "%", "%1", "%0", "{a", "{ ", "$", "#{", "%(a", "{a|", "{a,", "}", "%{a}"}) {
    std::string text;
    while (text.size() < 300000) text += part;
    size_t end = 0;
    for (Placeholder p = find_placeholder(text, 0); p.end > 0; p = find_placeholder(text, p.end)) {
      ASSERT_LE(end, p.begin);
      ASSERT_LT(p.begin, p.end);
      end = p.end;
    }
    ASSERT_LE(end, text.size());
  }
}

}  // namespace
}  // namespace lapilli
