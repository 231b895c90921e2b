// Files that hold no text: told by name and by content, before a device is opened.
#include "cli/files/foreign_files.hpp"

#include "cli/files/left_out.hpp"
#include "cli/program.hpp"

namespace lapilli::test {
namespace {

using cli::foreign_file;

std::string kind_of(std::string_view name, std::string_view head, bool as_text = false) {
  const cli::ForeignKind* kind = foreign_file(name, head, as_text);
  return kind ? std::string(kind->what) : "";
}

std::string bytes(const char* text, size_t size) { return {text, size}; }

TEST(ForeignFiles, BytesTellWhateverTheName) {
  const std::pair<std::string, const char*> heads[] = {
      {"\x89PNG\r\n\x1a\n", "a picture"},
      {"\xff\xd8\xff\xe0", "a picture"},
      {"GIF89a", "a picture"},
      {bytes("RIFF\0\0\0\0WEBPVP8 ", 16), "a picture"},
      {bytes("RIFF\0\0\0\0WAVEfmt ", 16), "a recording"},
      {bytes("fLaC\0\0\0\x22", 8), "a recording"},
      {bytes("OggS\0\x02", 6), "a recording"},
      {bytes("ID3\x04\0", 5), "a recording"},
      {bytes("\0\0\0\x20"
             "ftypisom",
             12),
       "a film"},
      {bytes("\0\0\0\x20"
             "ftypM4A ",
             12),
       "a recording"},
      {"\x1f\x8b\x08", "packed by gzip"},
      {"PK\x03\x04\x14", "a ZIP archive, as .docx, .odt and .epub files are"},
      {"7z\xbc\xaf\x27\x1c", "packed"},
      {"%PDF-1.7", "a PDF file"},
      {"{\\rtf1\\ansi", "rich text (RTF)"},
      {"\xff\xfeH", "text in UTF-16"},
      {bytes("GGUF\x03\0\0\0", 8), "a model's weights"},
      {bytes("lmgg\0\0", 6), "a model's weights"},
      {"\x7f"
       "ELF",
       "a program"},
      {"[Script Info]\nTitle: x\n", "a file of subtitles that translate alone reads"},
      {bytes("some\0thing", 10), "no text, for it holds NUL bytes"},
  };
  for (const auto& [head, kind] : heads) EXPECT_EQ(kind_of("notes.txt", head), kind);
}

TEST(ForeignFiles, TextsMayHaveAnyNameAndBeginWithAnyWord) {
  for (const char* name : {"notes.bin", "photo.png", "talk.mp3", "paper.pdf", "README", "a.log", "a.txt", "a.html"})
    EXPECT_EQ(kind_of(name, "Good morning.\n"), "") << name;
  for (const char* text : {"GGUF is a file format.", "RIFF raff", "BZh is short.", "ID3 tags", "PK fire!", "MZ", ""})
    EXPECT_EQ(kind_of("a.txt", text), "") << text;
}

TEST(ForeignFiles, NamesTellKindsOfText) {
  const std::pair<const char*, const char*> names[] = {
      {"a.csv", "a CSV table"},
      {"a.PO", "a catalogue of messages"},
      {"a.xliff", "an XLIFF file"},
      {"en.json", "JSON"},
      {"a.properties", "a file of an app"},
      {"Localizable.strings", "a file of an app"},
      {"a.yml", "YAML"},
      {"a.ass", "a file of subtitles"},
      {"a.tex", "a LaTeX document"},
      {"a.rst", "a document in"},
      {"a.xml", "XML"},
  };
  for (const auto& [name, kind] : names) {
    EXPECT_TRUE(kind_of(name, "words").starts_with(kind)) << name << ": " << kind_of(name, "words");
    EXPECT_EQ(kind_of(name, "words", true), "") << name;
    EXPECT_NE(kind_of(name, "\x89PNG\r\n\x1a\n", true), "") << name;
  }
  // An archive's name tells what is in it.
  EXPECT_TRUE(kind_of("a.docx", "PK\x03\x04").starts_with("a document of an office program"));
  EXPECT_TRUE(kind_of("a.epub", "PK\x03\x04").starts_with("an EPUB book"));
  EXPECT_TRUE(kind_of("a.jpg", "PK\x03\x04").starts_with("a ZIP archive"));
}

TEST(ForeignFiles, WhatFoldersLeaveOutIsCounted) {
  cli::LeftOut left_out;
  EXPECT_EQ(left_out.text(), "");
  left_out.add(*cli::foreign_name("a.png"), "in/a.png");
  for (int i = 0; i < 1200; ++i) left_out.add(*cli::foreign_name("a.csv"), "in/a.csv");
  left_out.add(*cli::foreign_name("a.gif"), "in/a.gif");
  left_out.add(cli::left_out::kHidden, "in/.git");
  EXPECT_EQ(left_out.text(), "2 pictures; 1,200 CSV tables; in/.git, hidden");
}

Outcome without_device(std::vector<std::string> arguments, const std::string& input = "") {
  Spawn spawn = lapilli(std::move(arguments));
  spawn.environment.insert(spawn.environment.end(), kNoDriver.begin(), kNoDriver.end());
  return run(spawn, input);
}

TEST(CliForeignFiles, AreToldBeforeADeviceIsOpened) {
  TemporaryFolder folder;
  const std::string picture = folder.file("x.txt", "\x89PNG\r\n\x1a\n" + bytes("\0\0\0\rIHDR", 8));
  const std::string sound = folder.file("x.md", bytes("RIFF\0\0\0\0WAVEfmt ", 16)),
                    table = folder.file("x.tmx", "<tmx/>\n");
  const std::string text = folder.file("notes.bin", "Good morning.\n"), nul = folder.file("x.log", bytes("a\0b\n", 4));
  const std::tuple<std::vector<std::string>, int, const char*> cases[] = {
      {{"translate", picture}, 3, "x.txt: it is a picture; lapilli caption"},
      {{"summarize", picture}, 3, "it is a picture"},
      {{"generate", picture}, 3, "it is a picture"},
      {{"translate", "--format", "lines", picture}, 3, "it is a picture"},
      {{"translate", sound}, 3, "it is a recording; lapilli transcribe"},
      {{"translate", table}, 3, "it is a translation memory; "},
      {{"translate", "Hello.", table}, 3, "--format lines takes it line by line"},
      {{"translate", "--format", "lines", table}, 4, "driver"},
      {{"generate", table}, 4, "driver"},
      {{"translate", nul}, 3, "NUL bytes"},
      {{"translate", "--format", "lines", nul}, 4, "driver"},
      {{"translate", text}, 4, "driver"},
      {{"translate", folder.file("l.html", "<meta charset=latin1><p>caf\xe9</p>")}, 3, "l.html: "},
      {{"translate", folder.file("u.srt", "1\n00:00:01,000 --> 00:00:02,000\ncaf\xe9\n")}, 3, "line 3"},
      {{"translate", folder.file("t.tsv", "a\tb\n")}, 2, "--column says which"},
  };
  for (const auto& [arguments, code, message] : cases) {
    const Outcome outcome = without_device(arguments);
    EXPECT_EQ(outcome.code, code) << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST(CliForeignFiles, FoldersSayWhatTheyLeaveOut) {
  TemporaryFolder folder;
  fs::create_directories(folder.path() / "in");
  folder.file("in/photo.png", "x");
  const std::string in = (folder.path() / "in").string();
  const Outcome nothing = without_device({"translate", "--suffix", ".fr", in});
  EXPECT_EQ(nothing.code, 3);
  EXPECT_TRUE(contains(nothing.err, "in/photo.png, a picture")) << nothing.err;
  folder.file("in/a.txt", "Hello.\n");
  folder.file("in/old.fr.txt", "Bonjour.\n");
  folder.file("in/t.tsv", "a\n");
  for (const char* name : {"in/a.pdf", "in/b.pdf", "in/LICENSE", "in/.hidden"}) folder.file(name, "a\n");
  const Outcome some = without_device({"translate", "--suffix", ".fr", in});
  EXPECT_EQ(some.code, 4);
  for (const char* part : {"left out: ", "in/.hidden, hidden", "LICENSE, of no known kind", "2 PDF files",
                           "old.fr.txt, an output of this suffix", "t.tsv, a TSV table without --column"})
    EXPECT_TRUE(contains(some.err, part)) << part << ": " << some.err;
  EXPECT_FALSE(contains(without_device({"translate", "-q", "--suffix", ".fr", in}).err, "left out"));
}

TEST(CliForeignFiles, TablesAreDocumentsForTranslateAlone) {
  TemporaryFolder folder;
  const std::string table = folder.file("x.csv", "name,text\nh,Hello.\n"), names = folder.file("names.txt", "Acme\n");
  const std::tuple<std::vector<std::string>, int, const char*> cases[] = {
      {{"translate", table}, 4, "driver"},
      {{"translate", "--column", "text", table}, 4, "driver"},
      {{"translate", "--column", "other", table}, 3, "no column is called \"other\""},
      {{"translate", "--column", "3", table}, 3, "no column is called \"3\""},
      {{"translate", "--to-column", "fr", table}, 2, "--to-column stands once for each --column"},
      {{"translate", "--delimiter", "xy", table}, 2, "no separator"},
      {{"translate", "--no-header", "Hello."}, 2, "say --format csv"},
      {{"translate", "--format", "tsv", "--column", "1", "--column", "2", table}, 2, "--format csv several"},
      {{"translate", "--keep", "missing.txt", table}, 3, "--keep missing.txt"},
      {{"translate", "--keep", names, table}, 4, "driver"},
      {{"translate", "--tm", names, "--tm-out", names, "Hello."}, 2, "name another file"},
      {{"translate", "--tm", names, "--ids", "1 2"}, 2, "--tm and --tm-out"},
      {{"summarize", table}, 3, "it is a CSV table"},
      {{"embed", table}, 3, "it is a CSV table"},
  };
  for (const auto& [arguments, code, message] : cases) {
    const Outcome outcome = without_device(arguments);
    EXPECT_EQ(outcome.code, code) << arguments[1] << outcome.err;
    EXPECT_TRUE(contains(outcome.err, message)) << outcome.err;
  }
}

TEST(CliForeignFiles, SkippedAreThoseThatAreThere) {
  TemporaryFolder folder;
  const std::string a = folder.file("a.txt", "Hello.\n"), b = folder.file("b.txt", "Hello.\n");
  folder.file("a.fr.txt", "mine");
  folder.file("b.fr.txt", "mine");
  const std::vector<std::string> both{"translate", "--suffix", ".fr", "--skip-existing", a, b};
  const Outcome all = without_device(both);
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_TRUE(contains(all.err, "0 of 2 files written, 2 there already")) << all.err;
  fs::remove(folder.path() / "b.fr.txt");
  EXPECT_EQ(without_device(both).code, 4);
  EXPECT_EQ(read_file((folder.path() / "a.fr.txt").string()), "mine");
  // A run that was begun is continued.
  folder.file("a.fr.txt.part.journal", "lapilli journal 1\n");
  Outcome begun = without_device({"translate", "--suffix", ".fr", "--skip-existing", "--resume", a});
  EXPECT_EQ(begun.code, 4) << begun.err;
  EXPECT_EQ(without_device({"translate", "--skip-existing", a}).code, 2);
  EXPECT_EQ(without_device({"translate", "--suffix", ".fr", "--skip-existing", "--force", a}).code, 2);
}

// The name of a document says what it is on standard output as well.
TEST(CliDeviceForeign, NamedDocumentsAreDocumentsOnStandardOutput) {
  TemporaryFolder folder;
  const std::string &english = expected()[0].text, &french = expected()[0].french;
  const auto on_stdout = [&](const std::string& name, const std::string& content, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"translate", "-q", folder.file(name, content)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(lapilli(arguments)).out;
  };
  const std::string html = "<p class=\"x\">" + english + "</p>\n<pre>x = 1</pre>\n";
  EXPECT_EQ(on_stdout("a.html", html), "<p class=\"x\">" + french + "</p>\n<pre>x = 1</pre>\n");
  const std::string cue = "1\n00:00:01,000 --> 00:00:02,000\n";
  EXPECT_EQ(on_stdout("a.srt", cue + english + "\n"), cue + french + "\n");
  EXPECT_EQ(on_stdout("a.jsonl", "{\"text\":\"" + english + "\"}\n"),
            "{\"text\":\"" + english + "\",\"translation\":\"" + french + "\"}\n");
  // Lines of plain text stay lines, and what is asked for is.
  EXPECT_EQ(on_stdout("a.txt", "  " + english + "\n"), french + "\n");
  EXPECT_EQ(lines_of(on_stdout("a.html", html, {"--format", "lines"})).size(), 2u);
  EXPECT_TRUE(on_stdout("a.html", html, {"--json"}).starts_with("{\"line\":1,"));
}

}  // namespace
}  // namespace lapilli::test
