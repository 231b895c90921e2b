// Forms as browsers, curl and the clients of issue 42 send them, and such as nobody should.
#include "server/http/forms.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

namespace lapilli::server {
namespace {

using testing::HasSubstr;

std::string shown(const Form& form) {
  std::string text = form.error;
  for (const FormField& field : form.fields) {
    text += "[" + field.name + "=" + std::string(field.value());
    if (field.file) text += " file " + *field.file;
    if (!field.type.empty()) text += " type " + field.type;
    text += "]";
  }
  return text;
}

struct Encoded {
  const char *text, *fields;
};

TEST(Forms, Urlencoded) {
  const Encoded cases[] = {
      {"", ""},
      {"a=b", "[a=b]"},
      {"text=a+b%2Bc&text=%3Cx+k%3D%220%22%3E", "[text=a b+c][text=<x k=\"0\">]"},
      {"a", "[a=]"},
      {"a=&=b&=&&", "[a=][=b][=]"},
      {"a=b=c", "[a=b=c]"},
      {"a%26b=c%3Dd", "[a&b=c=d]"},
      {"a=100%&b=%4&c=%zz&d=%%41", "[a=100%][b=%4][c=%zz][d=%A]"},
      {"q=%E2%82%AC\xE2\x82\xAC", "[q=\xE2\x82\xAC\xE2\x82\xAC]"},
      {"a[]=1&a[]=2", "[a[]=1][a[]=2]"},
      {"a;b=c", "[a;b=c]"},
  };
  for (const Encoded& c : cases) EXPECT_EQ(shown(parse_urlencoded(c.text)), c.fields) << c.text;
  EXPECT_EQ(parse_urlencoded(std::string_view("a=%00\0", 6)).fields[0].value(), std::string_view("\0\0", 2));
  const Form form = parse_urlencoded("a=1&b=2&a=3");
  EXPECT_EQ(form.find("a")->value(), "1");
  EXPECT_EQ(form.find("c"), nullptr);
}

TEST(Forms, UrlencodedIsBounded) {
  std::string many;
  for (int i = 0; i < 10000; ++i) many += "a&";
  EXPECT_EQ(parse_urlencoded(many).fields.size(), 10000U);
  const Form form = parse_urlencoded(many + "a");
  EXPECT_EQ(form.error, "the form has more than 10000 fields");
  EXPECT_TRUE(form.fields.empty());
}

TEST(Forms, Percent) {
  EXPECT_EQ(decode_percent("a+b%20c", true), "a b c");
  EXPECT_EQ(decode_percent("a+b%20c", false), "a+b c");
  EXPECT_EQ(decode_percent("%4a%4A%4", false), "JJ%4");
}

constexpr const char* kType = "multipart/form-data; boundary=XX";

// The body of one part with this header.
std::string part(const std::string& headers, const std::string& value = "v") {
  return "--XX\r\n" + headers + "\r\n\r\n" + value + "\r\n--XX--\r\n";
}

struct Named {
  const char *disposition, *field;
};

TEST(Forms, NamesOfParts) {
  const Named cases[] = {
      {R"(form-data; name="a")", "[a=v]"},
      {R"(form-data; name=a)", "[a=v]"},
      {R"(FORM-DATA ;NAME = "a" ; FileName="x.wav")", "[a=v file x.wav]"},
      {R"(form-data; filename="name=b"; name="a")", "[a=v file name=b]"},
      // Browsers escape three bytes by percent signs, other clients quotes and backslashes by backslashes.
      {R"(form-data; name="a"; filename="%E9 %22q%22 %0D%0A 100%25.wav")", "[a=v file %E9 \"q\" \r\n 100%25.wav]"},
      {R"(form-data; name="a"; filename="\"q\" \\ C:\dir\f.wav")", "[a=v file \"q\" \\ C:\\dir\\f.wav]"},
      {"form-data; name=\"a\"; filename=\"\xE9\x8C\xB2\xE9\x9F\xB3 \\\"1\\\".wav\"",
       "[a=v file \xE9\x8C\xB2\xE9\x9F\xB3 \"1\".wav]"},
      {R"(form-data; name="a"; filename*=UTF-8''%E9%8C%B2%20a.wav; filename="plain")", "[a=v file \xE9\x8C\xB2 a.wav]"},
      {R"(form-data; name="a"; filename="plain"; filename*=ISO-8859-1'en'%E9)", "[a=v file plain]"},
      {R"(form-data; name*=utf-8'de'%C3%A4; name="a")", "[\xC3\xA4=v]"},
      {R"(form-data; name="a"; filename="")", "[a=v file ]"},
      {R"(form-data; name="")", "[=v]"},
      {R"(form-data; name="a"; filename="../../etc/passwd")", "[a=v file ../../etc/passwd]"},
      {R"(form-data; name="a" junk; other; filename=b;)", "[a=v file b]"},
      {R"(form-data; name="never closed)", "[never closed=v]"},
  };
  for (const Named& c : cases)
    EXPECT_EQ(shown(parse_multipart(part(std::string("Content-Disposition: ") + c.disposition), kType)), c.field)
        << c.disposition;
}

TEST(Forms, BoundariesOfAllKinds) {
  const std::string body = "--XX\r\nContent-Disposition: form-data; name=a\r\n\r\nv\r\n--XX--";
  for (const char* type :
       {"multipart/form-data; boundary=XX", "multipart/form-data;boundary=\"XX\"",
        "Multipart/Form-Data; charset=utf-8; Boundary=XX ", "multipart/form-data; boundary = XX;x=y"})
    EXPECT_EQ(shown(parse_multipart(body, type)), "[a=v]") << type;
}

TEST(Forms, Contents) {
  const std::string a = "Content-Disposition: form-data; name=a";
  const std::pair<std::string, std::string> cases[] = {
      {part(a, ""), "[a=]"},
      {part(a, "\r\n"), "[a=\r\n]"},
      {part(a, "\r\n--X\r\n--XXY\r\n --XX\r\n-XX"), "[a=\r\n--X\r\n--XXY\r\n --XX\r\n-XX]"},
      {part(a + "\r\nContent-Type:  audio/wav \r\nX-Other: y"), "[a=v type audio/wav]"},
      {"a preamble\r\n--XX \t\r\n" + a + "\r\n\r\nv\r\n--XX--\r\nan epilogue\r\n--XX\r\n", "[a=v]"},
      {"--XX--\r\n", ""},
      {"--XX\n" + a + "\n\nv\n--XX--\n", "[a=v]"},
      {"--XX\r\n" + a + "\r\n\r\n1\r\n--XX\r\n" + a + "\r\n\r\n2\r\n--XX--", "[a=1][a=2]"},
  };
  for (const auto& [body, fields] : cases) EXPECT_EQ(shown(parse_multipart(body, kType)), fields) << body;
}

TEST(Forms, ValuesLieInTheBody) {
  const std::string body = part("Content-Disposition: form-data; name=a", std::string("\0\xFF\r", 3));
  const Form form = parse_multipart(body, kType);
  ASSERT_EQ(form.fields.size(), 1U);
  EXPECT_EQ(form.fields[0].value(), std::string_view("\0\xFF\r", 3));
  EXPECT_GE(form.fields[0].part.data(), body.data());
  EXPECT_LE(form.fields[0].part.data(), body.data() + body.size());
}

TEST(Forms, WhatIsNone) {
  const std::string a = "Content-Disposition: form-data; name=a";
  const std::pair<std::string, std::string> cases[] = {
      {"", "does not hold the boundary"},
      {"--YY\r\n", "does not hold the boundary"},
      {"--XX", "does not hold the boundary"},
      {"--XXY\r\n" + a + "\r\n\r\nv\r\n--XXY--", "does not hold the boundary"},
      {"--XX\r\n" + a + "\r\n\r\nv\r\n", "without its final boundary: it was cut off"},
      {"--XX\r\n" + a + "\r\n\r\nv\r\n--XX", "without its final boundary"},
      {"--XX\r\n" + a + "\r\n\r\nv\r\n--XX\r\n", "within the headers of a part"},
      {"--XX\r\n" + a, "within the headers of a part"},
      {part("Content-Disposition: form-data"), "has no name"},
      {part("Content-Disposition: attachment; name=a"), "has no name"},
      {part("Content-Type: text/plain"), "has no name"},
      {part(a + "\r\nContent-Transfer-Encoding: base64"), "Content-Transfer-Encoding base64; send its bytes"},
      {part(a + "\r\nX: " + std::string(20000, 'x')), "more than 16 KiB"},
  };
  for (const auto& [body, why] : cases) {
    const Form form = parse_multipart(body, kType);
    EXPECT_THAT(form.error, HasSubstr(why)) << body.substr(0, 200);
    EXPECT_TRUE(form.fields.empty());
  }
  for (const char* type : {"", "multipart/form-data", "multipart/form-data; boundary=", "multipart/mixed; boundary=XX"})
    EXPECT_THAT(parse_multipart(part(a), type).error, HasSubstr("names no boundary")) << type;
  EXPECT_THAT(parse_multipart(part(a), "multipart/form-data; boundary=" + std::string(300, 'X')).error,
              HasSubstr("up to 70"));
}

TEST(Forms, PartsAreBounded) {
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "--XX\r\nContent-Disposition: form-data; name=a\r\n\r\nv\r\n";
  EXPECT_EQ(parse_multipart(many + "--XX--", kType).fields.size(), 1000U);
  EXPECT_EQ(parse_multipart(many + part("Content-Disposition: form-data; name=a"), kType).error,
            "the form has more than 1000 parts");
}

// Beginnings of delimiters, one after the other: a search that starts over each time would take hours.
TEST(Forms, TakeLinearTime) {
  const std::string boundary(199, 'a'), type = "multipart/form-data; boundary=" + boundary;
  const std::string head = "--" + boundary + "\r\nContent-Disposition: form-data; name=a\r\n\r\n";
  std::string near, dashes(4 << 20, '-'), breaks(4 << 20, '\n');
  while (near.size() < 4 << 20) near += "\r\n--" + boundary + "b";
  for (const std::string* content : {&near, &dashes, &breaks}) {
    const std::string body = head + *content + "\r\n--" + boundary + "--";
    const std::clock_t from = std::clock();  // of this process: others may keep it waiting
    const Form form = parse_multipart(body, type);
    EXPECT_EQ(form.error, "");
    ASSERT_EQ(form.fields.size(), 1U);
    EXPECT_EQ(form.fields[0].value().size(), content->size());
    EXPECT_LT(std::clock() - from, 5 * CLOCKS_PER_SEC);
  }
}

}  // namespace
}  // namespace lapilli::server
