// Documents that come as files: their kinds by name, and the progress that DeepL's clients ask for.
#include <gmock/gmock.h>

#include <set>

#include "documents/kind.hpp"
#include "server/fake_desk.hpp"
#include "server/protocols/deepl.hpp"
#include "server/work/document_kinds.hpp"

namespace lapilli::server::test {
namespace {

using nlohmann::json;

TEST(DocumentKinds, EachKindOfTheProgramIsServed) {
  std::set<std::string> kinds;
  for (const DocumentKind& kind : document_kinds()) {
    kinds.insert(kind.kind);
    EXPECT_NE(kind.type.find('/'), std::string::npos) << kind.ending;
    EXPECT_EQ(document_kind_of("A" + kind.ending)->kind, kind.kind);
  }
  kinds.insert(document_kind_of("values/strings.xml")->kind);
  for (const documents::Kind kind : documents::all_kinds())
    EXPECT_EQ(kinds.contains(documents::kind_name(kind)), documents::kind_available(kind))
        << documents::kind_name(kind);
}

TEST(DocumentKinds, NamesKeepTheirEndings) {
  const auto letter = document_kind_of("f.d/Letter.TXT");
  ASSERT_TRUE(letter);
  EXPECT_EQ(letter->type, "text/plain; charset=utf-8");
  EXPECT_EQ(translated_name("f.d/Letter.TXT", *letter, "fr"), "Letter_fr.TXT");
  EXPECT_EQ(document_kind_of("a.docm")->type, "application/vnd.ms-word.document.macroEnabled.12");
  EXPECT_EQ(document_kind_of("a.htm")->type, "text/html; charset=utf-8");
  EXPECT_EQ(document_kind_of("a.strings")->type, "text/plain") << "it may be UTF-16";
  for (const char* other : {"txt", "a.exe", "a.txt/b", "a.", ""}) EXPECT_FALSE(document_kind_of(other)) << other;
}

class ProtocolDocuments : public testing::Test {
 protected:
  void SetUp() override {
    ModelFacts model;
    model.name = "en-fr";
    model.input = "text";
    model.tasks = {"translate"};
    model.sources = {"en"};
    model.targets = {"fr"};
    desk_.add(model);
    const std::string parts = form_part("file", "A word.", "a.txt") + form_part("target_lang", "FR");
    const auto sent = send(desk_, deepl(), "/v2/document", multipart_request(parts + form_part("source_lang", "EN")));
    handle_ = json::parse(sent->given.body);
    ASSERT_EQ(desk_.started.size(), 1u) << handle_;
  }
  json state() {
    const json key = {{"document_key", handle_["document_key"]}};
    const std::string path = "/v2/document/" + handle_.value("document_id", "");
    return json::parse(send(desk_, deepl(), path, json_request(key.dump()))->given.body);
  }
  void tell(uint64_t done) {
    Event event;
    event.kind = EventKind::progress;
    event.done = done;
    event.total = 4;
    desk_.started.front()->on_progress(event);
  }
  FakeDesk desk_;
  json handle_;
};

TEST_F(ProtocolDocuments, TheirProgressIsTold) {
  EXPECT_EQ(state()["status"], "queued");
  EXPECT_FALSE(state().contains("seconds_remaining"));
  for (const uint64_t done : {0, 1, 4}) {
    tell(done);
    EXPECT_EQ(state()["status"], "translating");
    EXPECT_GE(state()["seconds_remaining"].get<uint64_t>(), 1u);
    EXPECT_LE(state()["seconds_remaining"].get<uint64_t>(), 600u);
  }
}

TEST_F(ProtocolDocuments, AFailureEndsThem) {
  tell(1);
  Outcome outcome;
  outcome.error = Error(lapilli::Status::out_of_memory, "no room");
  outcome.status = 503;
  desk_.started.front()->done(std::move(outcome));
  const json ended = state();
  EXPECT_EQ(ended["status"], "error");
  EXPECT_EQ(ended["error_message"], "no room");
  EXPECT_FALSE(ended.contains("seconds_remaining"));
}

// Neither needs a model: the languages are the same.
TEST_F(ProtocolDocuments, FilesAreWrittenBesideTexts) {
  const std::string to = form_part("target_lang", "EN") + form_part("source_lang", "EN");
  const auto sent = send(desk_, deepl(), "/v2/document", multipart_request(form_part("file", "A.", "a.html") + to));
  EXPECT_EQ(sent->given.status, 200) << sent->given.body;
  EXPECT_EQ(desk_.long_runs, 1);
  const json text = {{"text", {"<b>A</b>."}}, {"source_lang", "EN"}, {"target_lang", "EN"}, {"tag_handling", "html"}};
  const auto answered = send(desk_, deepl(), "/v2/translate", json_request(text.dump()));
  EXPECT_EQ(answered->given.status, 200) << answered->given.body;
  EXPECT_EQ(desk_.long_runs, 1);
}

}  // namespace
}  // namespace lapilli::server::test
