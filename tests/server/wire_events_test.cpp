// Wyoming's events out of bytes, in pieces of every size, and what is none.
#include "server/protocols/wire_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lapilli::server {
namespace {

using testing::HasSubstr;

std::string shown(const WireEvent& event) { return event.type + " " + event.data.dump() + " " + event.payload + ";"; }

// The events that come out, with the reason why no more does.
std::string read_in_pieces(const std::string& bytes, size_t piece, WireReader::Limits limits = {}) {
  WireReader reader(limits);
  std::string all;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    reader.append(std::string_view(bytes).substr(at, piece));
    while (const auto event = reader.next()) all += shown(*event);
  }
  return all + reader.wrong();
}

TEST(WireEvents, InPiecesOfEverySize) {
  const std::string bytes =
      "{\"type\": \"describe\", \"version\": \"1.5.4\"}\n"
      "{\"type\": \"transcribe\", \"data\": {\"language\": \"de\", \"name\": \"a\"}, \"data_length\": "
      "12}\n{\"name\":\"b\"}"
      "{\"type\": \"audio-chunk\", \"data_length\": 15, \"payload_length\": 5}\n{\"rate\": 16000}\n{\"}\n"
      "{\"type\": \"audio-stop\", \"data\": null, \"data_length\": null, \"payload_length\": 0, \"other\": [1]}\n";
  const std::string events =
      "describe {} ;transcribe {\"language\":\"de\",\"name\":\"b\"} ;audio-chunk {\"rate\":16000} \n{\"}\n;audio-stop "
      "{} ;";
  for (size_t piece = 1; piece <= bytes.size(); ++piece) EXPECT_EQ(read_in_pieces(bytes, piece), events) << piece;
}

TEST(WireEvents, AreReadAsTheyAreWritten) {
  const std::string text = "Gr\xC3\xBC\xC3\x9F \"G\xC3\xB6tt\"\n";
  std::string bytes = wire_event("transcript", {{"text", text}}) + wire_event("pong", {}) + wire_event("x", {}, "\n\n");
  WireReader reader;
  reader.append(bytes);
  const auto transcript = reader.next(), pong = reader.next(), x = reader.next();
  ASSERT_TRUE(transcript && pong && x);
  EXPECT_EQ(transcript->data["text"], text);
  EXPECT_EQ(pong->type, "pong");
  EXPECT_EQ(x->payload, "\n\n");
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(wire_event("pong", {}), "{\"type\":\"pong\",\"version\":\"1.5.4\"}\n");
}

TEST(WireEvents, WhatIsNone) {
  const WireReader::Limits limits{100, 50, 20};
  const std::pair<std::string, std::string> cases[] = {
      {"GET / HTTP/1.1\r\n\r\n", ""},
      {"[]\n", ""},
      {"\n", ""},
      {"{\"data\": {}}\n", "an event has no type"},
      {"{\"type\": 1}\n", "an event has no type"},
      {"{\"type\": \"a\", \"data_length\": -1}\n", "data_length of an event is no number"},
      {"{\"type\": \"a\", \"payload_length\": 1.5}\n", "payload_length of an event is no number"},
      {"{\"type\": \"a\", \"payload_length\": \"9\"}\n", "payload_length of an event is no number"},
      {"{\"type\": \"a\", \"payload_length\": 21}\n", "payload_length of an event is 21; at most 20 bytes"},
      {"{\"type\": \"a\", \"data_length\": 18446744073709551615}\n", "at most 50 bytes"},
      {"{\"type\": \"a\", \"data_length\": 2}\n[]", ""},
      {"{\"type\": \"" + std::string(100, 'a') + "\"}\n", "more than 100 bytes"},
      {std::string(101, ' '), "more than 100 bytes"},
  };
  for (const auto& [bytes, why] : cases)
    for (const size_t piece : {size_t{1}, size_t{7}, bytes.size()}) {
      const std::string read = read_in_pieces(bytes, piece, limits);
      EXPECT_THAT(read, HasSubstr(why)) << bytes;
      EXPECT_FALSE(read.empty() || read.find(';') < read.find(' ')) << bytes << read;
    }
}

TEST(WireEvents, NothingIsReadBehindAnError) {
  WireReader reader;
  reader.append("nonsense\n{\"type\": \"describe\"}\n");
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.wrong().empty());
  reader.append("{\"type\": \"describe\"}\n");
  EXPECT_FALSE(reader.next());
}

}  // namespace
}  // namespace lapilli::server
