// Parameters of requests out of JSON, forms and queries.
#include <gtest/gtest.h>

#include "server/fake_desk.hpp"
#include "server/protocols/json_body.hpp"

namespace lapilli::server::test {
namespace {

struct Case {
  const char *body, *refusal;
};

// Reads one member of each kind.
std::string refusal_of(const Request& request) {
  static constexpr const char* kWords[] = {"float", "base64"};
  static constexpr Unserved kUnserved[] = {{"penalty", "0|\"auto\"", "leave it away"}};
  Parameters from(request);
  (void)from.whole("n", 1, 16);
  (void)from.number("t", 0, 2);
  (void)from.texts("q", 3);
  (void)from.flag("b");
  (void)from.text("s");
  (void)from.one_of("w", kWords);
  from.refuse_unserved(kUnserved);
  EXPECT_EQ(from.refusal().status != 0, !from.refusal().message.empty());
  return from.refusal().message;
}

TEST(ProtocolParameters, JsonIsReadOrRefusedByName) {
  const Case cases[] = {
      {"{}", ""},
      {"", ""},
      {R"({"n":3.0,"t":1,"q":["a","b"],"b":true,"s":"x","w":"base64"})", ""},
      {R"({"n":null,"t":null,"q":null,"b":null,"s":null,"w":null,"penalty":null,"else":{"deep":[1]}})", ""},
      {R"({"n":4611686018427387904})", "n: 4611686018427387904 is above the limit of 16"},
      {R"({"n":1e30})", "n: 1e+30 is above the limit of 16"},
      {R"({"n":-5})", "n: -5 is below the least, 1"},
      {R"({"n":-1e30})", "n: -1e+30 is below the least, 1"},
      {R"({"n":2.5})", "n: must be a whole number"},
      {R"({"n":"3"})", "n: must be a number, not a text"},
      {R"({"t":[1]})", "t: must be a number, not a list"},
      {R"({"t":2.5})", "t: 2.5 is not within 0 to 2"},
      {R"({"q":[1]})", "q: item 0 must be a text"},
      {R"({"q":["","","",""]})", "q: 4 texts are above the limit of 3"},
      {R"({"q":{}})", "q: must be a text or a list of texts, not an object"},
      {R"({"b":1})", "b: must be true or false, not a number"},
      {R"({"s":7})", "s: must be a text, not a number"},
      {R"({"w":"int8"})", "w: must be one of float, base64"},
      {R"({"penalty":0.0})", ""},
      {R"({"penalty":"auto"})", ""},
      {R"({"penalty":[]})", ""},
      {R"({"penalty":0.5})", "penalty: is not served; leave it away"},
      {"[1]", "the body must be a JSON object"},
      {"{", "the body is not JSON"},
      {R"({"n":1e999})", "the body is not JSON"},
      {"{\"s\":\"\xff\"}", "the body is not UTF-8"},
      {"{\"s\":\"\xed\xa0\x80\"}", "the body is not UTF-8"},
      {"{\"s\":\"\xc0\x80\"}", "the body is not UTF-8"},
  };
  for (const Case& c : cases) EXPECT_EQ(refusal_of(json_request(c.body)), c.refusal) << c.body;
}

TEST(ProtocolParameters, FormsAreReadAlike) {
  const Case cases[] = {
      {"n=3&t=0.5&q=a&q=b&b=true&s=x&w=float", ""},
      {"n=&t=&b=&penalty=", ""},
      {"n=17", "n: 17 is above the limit of 16"},
      {"n=x", "n: must be a number"},
      {"n=3x", "n: must be a number"},
      {"n=inf", "n: must be a number"},
      {"q=a&q[]=b&q=c&q=d", "q: the texts are above the limit of 3"},
      {"b=maybe", "b: must be true or false"},
      {"s=%ff", "s: is not UTF-8"},
      {"penalty=auto", ""},
      {"penalty=1", "penalty: is not served; leave it away"},
  };
  for (const Case& c : cases) EXPECT_EQ(refusal_of(form_request(c.body)), c.refusal) << c.body;
}

TEST(ProtocolParameters, NestingAndNumbersOfValuesAreBounded) {
  const std::string deep = R"({"else":)" + std::string(100000, '[');
  EXPECT_EQ(refusal_of(json_request(deep)), "the body: arrays and objects nest deeper than 64 levels");
  std::string many = R"({"else":[0)";
  for (int i = 0; i < 1 << 20; ++i) many += ",0";
  EXPECT_EQ(refusal_of(json_request(many + "]}")), "the body: it holds more than 1048576 values");
  std::string brackets = R"({"s":")" + std::string(100000, '[') + R"("})";
  EXPECT_EQ(refusal_of(json_request(brackets)), "");
}

TEST(ProtocolParameters, TheBodyCountsBeforeTheQuery) {
  Request request = form_request("s=body");
  request.query = "s=query&w=float";
  Parameters from(request);
  EXPECT_EQ(from.text("s"), "body");
  EXPECT_EQ(from.text("w"), "float");
}

TEST(ProtocolParameters, PlusSignsAndListsOfForms) {
  const Request request = form_request("text=a+b%2Bc&text=%3Cx+k%3D%220%22%3E");
  Parameters from(request);
  const auto texts = from.texts("text", 10);
  ASSERT_TRUE(texts);
  EXPECT_TRUE(texts->list);
  EXPECT_EQ(texts->all, (std::vector<std::string>{"a b+c", "<x k=\"0\">"}));
}

TEST(ProtocolParameters, SeedsOf64BitsAreExact) {
  const Request body = json_request(R"({"seed":9223372036854775807})"),
                form = form_request("seed=-9223372036854775807");
  Parameters of_json(body), of_form(form);
  EXPECT_EQ(of_json.whole("seed", INT64_MIN, INT64_MAX), INT64_MAX);
  EXPECT_EQ(of_form.whole("seed", INT64_MIN, INT64_MAX), -INT64_MAX);
}

}  // namespace
}  // namespace lapilli::server::test
