// OpenAI's routes: what they refuse, in which words, and what they hand to the models.
#include <gtest/gtest.h>

#include "server/fake_desk.hpp"
#include "server/protocols/openai.hpp"
#include "server/protocols/openai_transcripts.hpp"
#include "server/protocols/recorded_sound.hpp"
#include "server/protocols/spoken_languages.hpp"

namespace lapilli::server::test {
namespace {

using nlohmann::json;

struct OpenaiDesk : FakeDesk {
  OpenaiDesk() {
    add("small", "text", {"embed", "search"}, "bert", 64);
    add("writer", "text", {"generate"}, "qwen3");
    add("ear", "sound", {"transcribe"}, "whisper");
  }
};

struct Refused {
  const char *body, *parameter, *message;
  int status = 400;
};

void expect_refused(FakeDesk& desk, const std::string& path, const Request& request, const Refused& c) {
  Request sent = json_request(std::string(request.body.view()));
  sent.headers = request.headers;
  const auto exchange = send(desk, openai(), path, std::move(sent));
  EXPECT_EQ(exchange->given.status, c.status) << c.body;
  const json error = json::parse(exchange->given.body, nullptr, false)["error"];
  ASSERT_TRUE(error.is_object()) << c.body << exchange->given.body;
  EXPECT_EQ(error["message"].get<std::string>(), c.message) << c.body;
  EXPECT_EQ(error["param"], *c.parameter ? json(c.parameter) : json(nullptr)) << c.body;
  EXPECT_TRUE(error.contains("type") && error.contains("code"));
  EXPECT_TRUE(desk.started.empty()) << c.body;
}

void expect_refused(FakeDesk& desk, const std::string& path, const Refused& c) {
  expect_refused(desk, path, json_request(c.body), c);
}

std::shared_ptr<Work> started(FakeDesk& desk, const std::string& path, const std::string& body) {
  desk.started.clear();
  const auto exchange = send(desk, openai(), path, json_request(body));
  EXPECT_EQ(exchange->answers, 0) << body << exchange->given.body;
  return desk.started.empty() ? std::make_shared<Work>() : desk.started.front();
}

TEST(ProtocolOpenai, ModelsAreListedAndShown) {
  OpenaiDesk desk;
  Request get;
  get.method = "GET";
  const json list = json::parse(send(desk, openai(), "/v1/models", std::move(get))->given.body);
  EXPECT_EQ(list["object"], "list");
  ASSERT_EQ(list["data"].size(), 3u);
  EXPECT_EQ(list["data"][0]["id"], "small");
  EXPECT_EQ(list["data"][0]["object"], "model");
  Request one;
  one.method = "GET";
  EXPECT_EQ(json::parse(send(desk, openai(), "/v1/models/ear", std::move(one))->given.body)["id"], "ear");
  Request none;
  none.method = "GET";
  const auto missing = send(desk, openai(), "/v1/models/a/b", std::move(none));
  EXPECT_EQ(missing->given.status, 404);
  EXPECT_EQ(json::parse(missing->given.body)["error"]["code"], "model_not_found");
}

TEST(ProtocolOpenai, EmbeddingsRefuseByName) {
  OpenaiDesk desk;
  const std::string many = R"({"input":[)" + [] {
    std::string all = "\"\"";
    for (int i = 1; i < 1000000; ++i) all += ",\"\"";
    return all;
  }() + "]}";
  const char* ids =
      "input: token ids are those of another model's tokenizer; send texts (LangChain's OpenAIEmbeddings: "
      "check_embedding_ctx_length=False; tiktoken_enabled of older ones)";
  const Refused cases[] = {
      {"{}", "input", "input: give a text, or a list of texts"},
      {R"({"input":[]})", "input", "input: give a text, or a list of texts"},
      {R"({"input":[[9906,1917]]})", "input", ids},
      {R"({"input":[9906,1917]})", "input", ids},
      {many.c_str(), "input", "input: 1000000 texts are above the limit of 1024"},
      {R"({"input":"a","encoding_format":"int8"})", "encoding_format", "encoding_format: must be one of float, base64"},
      {R"({"input":"a","dimensions":65})", "dimensions", "dimensions: 65 are more than the 64 of the model"},
      {R"({"input":"a","dimensions":0})", "dimensions", "dimensions: 0 is below the least, 1"},
      {R"({"input":"a","model":"other"})", "model", "The model `other` does not exist; /v1/models lists those that do",
       404},
      {R"({"input":"a","model":"ear"})", "model", "model: ear can transcribe, and not embed, of text"},
  };
  for (const Refused& c : cases) expect_refused(desk, "/v1/embeddings", c);
}

TEST(ProtocolOpenai, EmbeddingsOfIdsWhereAllowed) {
  OpenaiDesk desk;
  desk.allowed.token_ids = true;
  const auto work = started(desk, "/v1/embeddings", R"({"input":[[1,2,3],[4]],"dimensions":8})");
  ASSERT_EQ(work->inputs.size(), 2u);
  EXPECT_EQ(work->inputs[0].kind, LAPILLI_INPUT_IDS);
  EXPECT_EQ(work->options.encoder.dimensions, 8u);
  desk.started.clear();
  for (const char* wrong : {R"({"input":[[-1]]})", R"({"input":[[4294967296]]})", R"({"input":[[1.5]]})"})
    expect_refused(desk, "/v1/embeddings",
                   {wrong, "input", "input: item 0 has a number that is no id of the vocabulary"});
}

TEST(ProtocolOpenai, TextsRefuseByName) {
  OpenaiDesk desk;
  const Refused cases[] = {
      {"{}", "prompt", "prompt: give a text, or a list of texts"},
      {R"({"prompt":"a","n":10000})", "n", "n: 10000 is above the limit of 16"},
      {R"({"prompt":"a","max_tokens":4611686018427387904})", "max_tokens",
       "max_tokens: 4611686018427387904 is above the limit of 1048576"},
      {R"({"prompt":"a","logprobs":1000000000})", "logprobs", "logprobs: 1000000000 is above the limit of 5"},
      {R"({"prompt":"a","logit_bias":{"50256":-100}})", "logit_bias", "logit_bias: is not served"},
      {R"({"prompt":"a","echo":true,"logprobs":0})", "logprobs", "logprobs: is not served together with echo"},
      {R"({"prompt":"a","stream":true,"logprobs":0})", "logprobs", "logprobs: is not served together with stream"},
      {R"({"prompt":"a","temperature":1,"logprobs":1})", "logprobs",
       "logprobs: is not served above 0 with sampling: the probabilities of tokens that were not written are not kept"},
      {R"({"prompt":"a","stop":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16","17"]})", "stop",
       "stop: 17 texts are above the limit of 16"},
      {R"({"prompt":"a","temperature":2.5})", "temperature", "temperature: 2.5 is not within 0 to 2"},
      {R"({"prompt":"a","frequency_penalty":0.5})", "frequency_penalty",
       "frequency_penalty: is not served; repetition_penalty is"},
      {R"({"prompt":"a","stream_options":{"include_usage":true}})", "stream_options",
       "stream_options: goes with stream"},
  };
  for (const Refused& c : cases) expect_refused(desk, "/v1/completions", c);
}

TEST(ProtocolOpenai, NullIsAbsentAndUnknownIsIgnored) {
  OpenaiDesk desk;
  const auto plain = started(desk, "/v1/completions", R"({"prompt":"a"})");
  const auto nulls = started(desk, "/v1/completions",
                             R"({"prompt":"a","stop":null,"seed":null,"max_tokens":null,"temperature":null,"user":"u",
                                 "foo":{"bar":1},"logit_bias":null,"n":null,"frequency_penalty":0,"best_of":1})");
  EXPECT_EQ(plain->options.json, nulls->options.json);
  EXPECT_EQ(plain->options.json, "");
  EXPECT_FALSE(nulls->options.max_new_tokens.has_value());
  EXPECT_TRUE(nulls->options.chat.stops.empty());
  EXPECT_EQ(nulls->inputs.size(), 1u);
}

TEST(ProtocolOpenai, OptionsReachTheModel) {
  OpenaiDesk desk;
  const auto work =
      started(desk, "/v1/completions",
              R"({"prompt":["a","b"],"n":3,"max_tokens":7,"temperature":0.5,"top_p":0.9,"seed":5,"stop":"x"})");
  EXPECT_EQ(work->model, "writer");
  EXPECT_EQ(work->inputs.size(), 6u);
  EXPECT_EQ(work->options.max_new_tokens, 7);
  EXPECT_EQ(work->options.chat.stops, std::vector<std::string>{"x"});
  const json settings = json::parse(work->options.json);
  EXPECT_EQ(settings, json::parse(R"({"do_sample":true,"temperature":0.5,"top_p":0.9,"seed":5})"));
  const auto two =
      started(desk, "/v1/completions",
              R"({"prompt":"a","stop":["x","y"],"max_tokens":7,"max_completion_tokens":9,"temperature":0})");
  EXPECT_EQ(two->options.chat.stops, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(two->options.max_new_tokens, 9);
  EXPECT_EQ(json::parse(two->options.json), json::parse(R"({"do_sample":false})"));
}

TEST(ProtocolOpenai, AnErrorInTheMiddleOfAStreamIsAnEvent) {
  OpenaiDesk desk;
  const char* body =
      R"({"messages":[{"role":"user","content":"a"}],"stream":true,"stream_options":{"include_usage":true}})";
  const auto exchange = send(desk, openai(), "/v1/chat/completions", json_request(body));
  ASSERT_EQ(desk.started.size(), 1u) << exchange->given.body;
  Event said;
  said.kind = EventKind::text;
  said.text = "Good";
  desk.started.front()->on_event(said);
  Outcome lost;
  lost.error = Error(lapilli::Status::device_lost, "the device was lost");
  lost.status = 503;
  desk.started.front()->done(std::move(lost));
  EXPECT_EQ(exchange->answers, 1);
  EXPECT_NE(exchange->given.body.find(R"("content":"Good")"), std::string::npos) << exchange->given.body;
  const size_t last = exchange->given.body.rfind("data: ");
  const json error = json::parse(exchange->given.body.substr(last + 6), nullptr, false)["error"];
  EXPECT_EQ(error["message"], "the device was lost") << exchange->given.body;
  EXPECT_EQ(exchange->given.body.find("[DONE]"), std::string::npos);
  EXPECT_EQ(exchange->given.body.find("\"usage\":{"), std::string::npos);
}

TEST(ProtocolOpenai, ContentPartsAreJoined) {
  OpenaiDesk desk;
  const char* parts = R"({"messages":[
      {"role":"system","content":[{"type":"text","text":"A"},{"type":"text","text":"B"}]},
      {"role":"user","content":[{"type":"text","text":"A"},{"type":"text","text":"B"}]},
      {"role":"assistant","content":[{"type":"text","text":"A"},{"type":"text","text":"B"}],"tool_calls":null},
      {"role":"assistant","content":null,"refusal":null},
      {"role":"user","content":"C"}]})";
  const auto work = started(desk, "/v1/chat/completions", parts);
  EXPECT_TRUE(work->options.chat.use);
  EXPECT_EQ(json::parse(work->options.chat.messages),
            json::parse(R"([{"role":"system","content":"AB"},{"role":"user","content":"AB"},
                            {"role":"assistant","content":"AB"},{"role":"assistant","content":""},
                            {"role":"user","content":"C"}])"));
  ASSERT_EQ(work->inputs.size(), 1u);
  EXPECT_EQ(work->inputs[0].text_bytes, 0u);
}

TEST(ProtocolOpenai, ChatsRefuseByName) {
  OpenaiDesk desk;
  const Refused cases[] = {
      {"{}", "messages", "messages: give a list of messages"},
      {R"({"messages":"Hello"})", "messages", "messages: give a list of messages"},
      {R"({"messages":["Hello"]})", "messages", "messages: [0] must be an object"},
      {R"({"messages":[{"role":"robot","content":"Hello"}]})", "messages",
       "messages: [0].role must be system, developer, user or assistant"},
      {R"({"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:"}}]}]})", "messages",
       "messages: [0].content[0] is of the type \"image_url\", and only text is served"},
      {R"({"messages":[{"role":"user","content":7}]})", "messages",
       "messages: [0].content must be a text or a list of parts"},
      {R"({"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1"}]}]})", "messages",
       "messages: [0].tool_calls is not served"},
      {R"({"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function"}]})", "tools",
       "tools: is not served"},
      {R"({"messages":[{"role":"user","content":"a"}],"response_format":{"type":"json_object"}})", "response_format",
       "response_format: is not served"},
      {R"({"messages":[{"role":"user","content":"a"}],"logprobs":true,"top_logprobs":1000000000})", "top_logprobs",
       "top_logprobs: 1000000000 is above the limit of 20"},
      {R"({"messages":[{"role":"user","content":"a"}],"logprobs":true,"top_logprobs":2})", "top_logprobs",
       "top_logprobs: is not served above 1: the probabilities of tokens that were not written are not kept"},
      {R"({"messages":[{"role":"user","content":"a"}],"top_logprobs":2})", "top_logprobs",
       "top_logprobs: goes with logprobs"},
      {R"({"messages":[{"role":"user","content":"a"}],"model":"gpt-4o"})", "model",
       "The model `gpt-4o` does not exist; /v1/models lists those that do", 404},
  };
  for (const Refused& c : cases) expect_refused(desk, "/v1/chat/completions", c);
}

TEST(ProtocolOpenai, TranscriptionsRefuseByName) {
  OpenaiDesk desk;
  const std::string file = form_part("file", "no sound", "x.mp3");
  const auto form = [&](const std::string& name, const std::string& value) { return file + form_part(name, value); };
  const std::pair<std::string, Refused> cases[] = {
      {"", {"no file", "file", "file: is missing: send the recording as a part of multipart/form-data"}},
      {form_part("file", "", "x"), {"empty", "file", "file: is empty"}},
      {form("response_format", "diarized_json"),
       {"format", "response_format", "response_format: must be one of json, text, srt, verbose_json, vtt"}},
      {form("timestamp_granularities[]", "word"),
       {"json", "timestamp_granularities",
        "timestamp_granularities: goes with response_format verbose_json alone, not with json"}},
      {form("timestamp_granularities[]", "hour"),
       {"hour", "timestamp_granularities", "timestamp_granularities: must be word or segment"}},
      {form("include[]", "all"), {"include", "include", "include: must be logprobs"}},
      {form("temperature", "1.5"), {"temperature", "temperature", "temperature: 1.5 is not within 0 to 1"}},
      {form("stream", "true") + form_part("response_format", "srt"),
       {"stream", "stream", "stream: goes with response_format json or text, not with srt"}},
      {form("known_speaker_names[]", "Anna"),
       {"speakers", "known_speaker_names", "known_speaker_names: is not served; speakers are not told apart"}},
      {form("model", "whisper-2"),
       {"model", "model", "The model `whisper-2` does not exist; /v1/models lists those that do", 404}},
  };
  for (const auto& [parts, c] : cases) expect_refused(desk, "/v1/audio/transcriptions", multipart_request(parts), c);
  const auto exchange = send(desk, openai(), "/v1/audio/transcriptions", multipart_request(file));
  EXPECT_EQ(exchange->given.status, 400);
  EXPECT_EQ(exchange->given.body.find("x.mp3"), std::string::npos) << exchange->given.body;
}

// A WAV of three seconds of silence.
std::string three_seconds() {
  constexpr uint32_t kBytes = 3 * 2 * 16000;
  const auto number = [](uint32_t value) {
    return std::string{static_cast<char>(value & 0xff), static_cast<char>(value >> 8 & 0xff),
                       static_cast<char>(value >> 16 & 0xff), static_cast<char>(value >> 24)};
  };
  return "RIFF" + number(36 + kBytes) + "WAVEfmt " + number(16) + std::string("\1\0\1\0", 4) + number(16000) +
         number(32000) + std::string("\2\0\x10\0", 4) + "data" + number(kBytes) + std::string(kBytes, '\0');
}

TEST(ProtocolOpenai, SoundHasALimitOfSeconds) {
  const std::string parts = form_part("file", three_seconds(), "x");
  for (const uint64_t enough : {uint64_t{0}, uint64_t{3}, UINT64_MAX}) {
    OpenaiDesk desk;
    desk.allowed.sound_seconds = enough;
    EXPECT_EQ(send(desk, openai(), "/v1/audio/transcriptions", multipart_request(parts))->answers, 0) << enough;
    EXPECT_EQ(desk.started.size(), 1u) << enough;
  }
  OpenaiDesk desk;
  desk.allowed.sound_seconds = 2;
  expect_refused(desk, "/v1/audio/transcriptions", multipart_request(parts),
                 {"long", "file", "file: the recording is longer than 2 seconds, the limit of this server"});
  EXPECT_EQ(RecordedSound::Limits().seconds(), 6u * 3600);
}

TEST(ProtocolOpenai, SoundIsNotDecodedForAClientThatLeft) {
  const std::string wav = three_seconds();
  int asked = 0;
  RecordedSound::Limits limits;
  limits.go_on = [&] { return ++asked < 2; };
  EXPECT_NE(RecordedSound().open(wav, limits).status, 0);
  EXPECT_EQ(asked, 2) << "it stops at once";
}

TEST(ProtocolOpenai, TheOnlyModelIsTakenAndSeveralAreNamed) {
  OpenaiDesk desk;
  desk.add("other ear", "sound", {"transcribe"}, "whisper");
  for (const std::string& name : {std::string(), form_part("model", "whisper-1")})
    expect_refused(desk, "/v1/audio/transcriptions", multipart_request(form_part("file", "x", "x") + name),
                   {"several", "model", "model: several models can transcribe; name one of ear, other ear"});
  FakeDesk none;
  const Refused c = {R"({"input":"a"})", "model",
                     "model: no model of this server can embed; \"lapilli serve --model\" adds one", 404};
  expect_refused(none, "/v1/embeddings", c);
}

Output spoken_output() {
  Output output;
  Segment first, second;
  first.text = " Good morning.";
  first.end = 1.5;
  first.ids = {1, 2};
  first.language = "de";
  first.words = {{" Good", 0.02, 0.5, 0.9f, {1}}, {" morning.", 0.5, 1.46, 0.8f, {2}}};
  first.log_probability = -0.25f;
  first.no_speech_probability = 0.125f;
  second.text = " <b> & so on";
  second.begin = 1.5;
  second.end = 7;
  second.window_begin = 1.5;
  output.segments = {first, second};
  output.sequences.resize(1);
  return output;
}

std::string written(const std::string& format, bool words = false, bool segments = true) {
  TranscriptStyle style;
  style.format = format;
  style.duration = 6.25;
  style.words = words;
  style.segments = segments;
  return transcript(spoken_output(), style, Model());
}

TEST(ProtocolOpenai, TranscriptsInEachFormat) {
  EXPECT_EQ(written("json"), R"({"text":"Good morning. <b> & so on","usage":{"type":"duration","seconds":7}})");
  EXPECT_EQ(written("text"), "Good morning. <b> & so on\n");
  EXPECT_EQ(written("srt"),
            "1\n00:00:00,000 --> 00:00:01,500\nGood morning.\n\n2\n00:00:01,500 --> 00:00:06,250\n<b> & so on\n\n");
  EXPECT_EQ(written("vtt"),
            "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nGood morning.\n\n"
            "00:00:01.500 --> 00:00:06.250\n&lt;b> &amp; so on\n\n");
}

TEST(ProtocolOpenai, VerboseTranscriptsHaveEachField) {
  const json verbose = json::parse(written("verbose_json", true));
  EXPECT_EQ(verbose["task"], "transcribe");
  EXPECT_EQ(verbose["language"], "german");
  EXPECT_EQ(verbose["duration"], 6.25);
  const json& segment = verbose["segments"][0];
  EXPECT_EQ(segment["id"], 0);
  EXPECT_EQ(segment["seek"], 0);
  EXPECT_EQ(segment["end"], 1.5);
  EXPECT_EQ(segment["text"], " Good morning.");
  EXPECT_EQ(segment["tokens"], json({1, 2}));
  EXPECT_EQ(segment["temperature"], 0.0);
  EXPECT_EQ(segment["avg_logprob"], -0.25);
  EXPECT_EQ(segment["no_speech_prob"], 0.125);
  EXPECT_TRUE(segment.contains("compression_ratio"));
  EXPECT_EQ(verbose["segments"][1]["seek"], 150);
  EXPECT_EQ(verbose["words"], json::parse(R"([{"word":"Good","start":0.02,"end":0.5},
                                              {"word":"morning.","start":0.5,"end":1.46}])"));
  const json alone = json::parse(written("verbose_json", true, false));
  EXPECT_FALSE(alone.contains("segments"));
  EXPECT_TRUE(alone.contains("words"));
  EXPECT_FALSE(json::parse(written("verbose_json")).contains("words"));
}

TEST(ProtocolOpenai, LanguagesHaveTheirNames) {
  EXPECT_EQ(spoken_language("de"), "german");
  EXPECT_EQ(spoken_language("yue"), "cantonese");
  EXPECT_EQ(spoken_language("xx"), "xx");
}

TEST(ProtocolOpenai, KeysAreBearers) {
  const auto key = [](const std::string& header) {
    Request request;
    request.headers = {{"authorization", header}};
    return bearer_key(request);
  };
  EXPECT_EQ(key("Bearer abc"), "abc");
  EXPECT_EQ(key("bearer  abc"), "abc");
  for (const char* none : {"", "Bearer", "Bearer ", "Basic abc", "Bearerabc"}) EXPECT_EQ(key(none), "") << none;
}

}  // namespace
}  // namespace lapilli::server::test
