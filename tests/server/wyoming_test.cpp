// Wyoming's sessions with a small Whisper.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "server/protocols/wire_events.hpp"
#include "server/served.hpp"
#include "server/small_models.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::server::test {
namespace {

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The samples behind the head of a WAV file of 16 bits and one channel.
std::string samples_in(const std::string& wav) {
  const size_t data = wav.find("data");
  return data == std::string::npos ? "" : wav.substr(data + 8);
}

// Each sample for two channels.
std::string doubled(const std::string& pcm) {
  std::string stereo;
  for (size_t i = 0; i + 1 < pcm.size(); i += 2) stereo += pcm.substr(i, 2) + pcm.substr(i, 2);
  return stereo;
}

// A client that reads events as they come.
class WyomingClient {
 public:
  explicit WyomingClient(uint16_t port) : client_(port) {}
  void send(const std::string& type, const server::Json& data = server::Json::object(),
            const std::string& payload = "") {
    client_.send(wire_event(type, data, payload));
  }
  void speak(const std::string& pcm, uint32_t channels, const server::Json& asked) {
    const server::Json format = {{"rate", 16000}, {"width", 2}, {"channels", channels}};
    send("transcribe", asked);
    send("audio-start", format);
    for (size_t at = 0; at < pcm.size(); at += 4096) send("audio-chunk", format, pcm.substr(at, 4096));
    send("audio-stop");
  }
  // The next event of this type; what comes before it is added to `before`.
  WireEvent wait_for(const std::string& type, std::string* before = nullptr) {
    for (;;) {
      while (auto event = reader_.next()) {
        if (event->type == type || event->type == "error") return *event;
        if (before != nullptr) *before += event->data.value("text", "");
      }
      if (!client_.fill(kDevicePatienceMs)) return {};
      reader_.append(client_.take_rest());
    }
  }

 private:
  RawClient client_;
  WireReader reader_;
};

TEST(ServeDeviceWyoming, RecordingsOfOneConnection) {
  const TempDirectory folder;
  ServerOptions options = Served::with({{"ear", small_ear(folder.path())}});
  options.wyoming = uint16_t{0};
  Served served(options);
  ASSERT_EQ(served.trouble(), "");
  const std::string wav = file_bytes(LAPILLI_TEST_DATA "/models/whisper-long/audio/long.wav"), pcm = samples_in(wav);
  ASSERT_GT(pcm.size(), 16000u);
  const Multipart form = Multipart().file("file", "a.wav", wav).field("language", "en");
  const std::string expected =
      json_of(served.ask("POST", "/v1/audio/transcriptions", Multipart::kHeader, form.whole())).value("text", "");
  WyomingClient client(served.wyoming_port());
  client.send("describe");
  const WireEvent info = client.wait_for("info");
  EXPECT_EQ(info.data["asr"][0]["models"][0]["name"], "ear");
  client.send("audio-stop");  // no chunk came
  EXPECT_EQ(client.wait_for("transcript").data.value("text", "?"), "");
  for (const uint32_t channels : {1u, 2u}) {
    client.speak(channels == 1 ? pcm : doubled(pcm), channels, {{"language", "en"}});
    std::string streamed;
    const WireEvent said = client.wait_for("transcript", &streamed);
    EXPECT_EQ(said.data.value("text", ""), expected) << said.data;
    EXPECT_EQ(streamed.substr(streamed.find_first_not_of(' ')), expected);
  }
  client.send("audio-chunk", {{"rate", 5}, {"width", 2}, {"channels", 1}}, "ab");
  EXPECT_EQ(client.wait_for("error").type, "error");
}

}  // namespace
}  // namespace lapilli::server::test
