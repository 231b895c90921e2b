#include "cli/files/foreign_files.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/path.hpp"
#include "cli/files/output_names.hpp"

namespace lapilli::cli {

namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kAsLines = "--format lines takes it line by line, with all that stands in it";

constexpr ForeignKind kPicture = {"a picture", "pictures",
                                  "lapilli caption says what it shows, lapilli read the text in it"};
constexpr ForeignKind kOtherPicture = {
    "a picture", "pictures", "saved as PNG or JPEG, lapilli caption says what it shows, lapilli read the text in it"};
constexpr ForeignKind kRecording = {"a recording", "recordings", "lapilli transcribe writes down what is said in it"};
constexpr ForeignKind kFilm = {"a film", "films",
                               "lapilli transcribe writes down its sound, saved as WAV (with ffmpeg)"};
constexpr ForeignKind kModel = {"a model's weights", "weights of models", "a model is named with --model"};
constexpr ForeignKind kUtf16 = {"text in UTF-16", "texts in UTF-16",
                                "convert it to UTF-8 first (for example with iconv)"};
constexpr ForeignKind kGzip = {"packed by gzip", "files packed by gzip", "unpack it first (gunzip)"};
constexpr ForeignKind kPacked = {"packed", "packed files", "unpack it first"};
constexpr ForeignKind kZip = {"a ZIP archive, as .docx, .odt and .epub files are", "ZIP archives",
                              "save it as plain text first"};
constexpr ForeignKind kOffice = {"a document of an office program", "documents of office programs",
                                 "save it as HTML or plain text first"};
constexpr ForeignKind kOldOffice = {"a document of an office program (.doc)", "documents of office programs",
                                    "save it as plain text first"};
constexpr ForeignKind kSlides = {"slides of an office program", "files of slides", "save them as plain text first"};
constexpr ForeignKind kSheet = {"a table of an office program", "tables of office programs",
                                "save it with tabs between the cells (.tsv) and name the column (--column)"};
constexpr ForeignKind kBook = {"an EPUB book", "EPUB books", "it is a ZIP archive: unpack it and translate its pages"};
constexpr ForeignKind kPdf = {"a PDF file", "PDF files", "extract its text first (for example with pdftotext)"};
constexpr ForeignKind kPostScript = {"a PostScript file", "PostScript files", "extract its text first (ps2ascii)",
                                     true};
constexpr ForeignKind kRichText = {"rich text (RTF)", "files of rich text", "save it as HTML or plain text first",
                                   true};
constexpr ForeignKind kProgram = {"a program", "programs", "name a text"};
constexpr ForeignKind kBinary = {"no text, for it holds NUL bytes", "files that hold NUL bytes",
                                 "name a text; if it is one nevertheless, --format lines takes it line by line"};

// Kinds of text, which are read line by line on request.
constexpr ForeignKind kCsv = {"a CSV table, which translate alone reads", "CSV tables",
                              "save it with tabs between the cells (.tsv) and name the column (--column), or "
                              "--format lines takes it line by line",
                              true};
constexpr ForeignKind kMessages = {"a catalogue of messages (gettext), which translate alone reads",
                                   "catalogues of messages", kAsLines, true};
constexpr ForeignKind kXliff = {"an XLIFF file, which translate alone reads", "XLIFF files", kAsLines, true};
constexpr ForeignKind kOtherXliff = {"an XLIFF file of another program", "XLIFF files of other programs",
                                     "export it as .xliff first, or --format lines takes it line by line", true};
constexpr ForeignKind kMemory = {"a translation memory", "translation memories",
                                 "--tm takes equal texts from it, --format lines takes it line by line", true};
constexpr std::string_view kJsonAdvice = "--format jsonl takes an object a line, --format lines all that stands in it";
constexpr ForeignKind kJson = {"JSON, which translate alone reads as one file", "JSON files", kJsonAdvice, true};
constexpr ForeignKind kOtherJson = {"JSON of another kind than is read", "other JSON files", kJsonAdvice, true};
constexpr ForeignKind kResources = {"a file of an app's texts, which translate alone reads", "files of apps' texts",
                                    kAsLines, true};
constexpr ForeignKind kOtherResources = {"a file of an app's texts of another kind than is read",
                                         "other files of apps' texts", kAsLines, true};
constexpr ForeignKind kYaml = {"YAML, which translate alone reads", "YAML files", kAsLines, true};
constexpr ForeignKind kXml = {
    "XML of another kind than translate reads (texts of Android, XLIFF, TTML, Qt's translations)", "other XML files",
    "--format html takes the text between its tags, --format lines all that stands in it", true};
constexpr ForeignKind kSubtitles = {"a file of subtitles that translate alone reads", "files of subtitles", kAsLines,
                                    true};
constexpr ForeignKind kOtherSubtitles = {"a file of subtitles of another kind than is read", "other files of subtitles",
                                         "convert it to SubRip (.srt) or WebVTT (.vtt) first, for example with ffmpeg",
                                         true};
constexpr ForeignKind kTex = {"a LaTeX document, which translate alone reads", "LaTeX documents", kAsLines, true};
constexpr ForeignKind kOtherTex = {"a LaTeX document by its name", "LaTeX documents",
                                   "--format tex reads it as that, --format lines line by line", true};
constexpr ForeignKind kMarkup = {"a document in markup that translate alone reads", "documents in markup", kAsLines,
                                 true};
constexpr ForeignKind kOtherMarkup = {
    "a document in markup that is not read", "documents in other markup",
    "convert it to Markdown or HTML first (for example with pandoc), or --format lines takes it line by line", true};

struct KindOfEnding {
  std::string_view endings;  // each between blanks
  const ForeignKind* kind;
};
constexpr KindOfEnding kKindsOfEndings[] = {
    {" csv ", &kCsv},
    {" po pot ", &kMessages},
    {" xlf xliff ", &kXliff},
    {" sdlxliff mxliff ", &kOtherXliff},
    {" tmx tbx ", &kMemory},
    {" json arb ", &kJson},
    {" json5 ipynb ", &kOtherJson},
    {" properties strings stringsdict xcstrings ", &kResources},
    {" resx resw plist ftl ", &kOtherResources},
    {" yaml yml ", &kYaml},
    {" xml svg fodt ", &kXml},
    {" ass ssa sbv ttml lrc ", &kSubtitles},
    {" dfxp smi stl ", &kOtherSubtitles},
    {" tex ", &kTex},
    {" latex ltx ", &kOtherTex},
    {" rst adoc asciidoc ", &kMarkup},
    {" org textile mediawiki wiki typ ", &kOtherMarkup},
    {" rtf ", &kRichText},
    {" doc docx docm odt ott pages wpd ", &kOffice},
    {" xls xlsx xlsm ods numbers ", &kSheet},
    {" ppt pptx odp key ", &kSlides},
    {" epub ", &kBook},
    {" pdf ", &kPdf},
    {" ps eps ", &kPostScript},
    {" png jpg jpeg ", &kPicture},
    {" gif bmp webp tif tiff heic heif avif ico psd ", &kOtherPicture},
    {" wav mp3 flac ogg oga opus m4a aac wma aif aiff amr ", &kRecording},
    {" mp4 m4v mkv webm avi mov mpg mpeg wmv ", &kFilm},
    {" gguf ggml safetensors onnx pt pth ckpt npz h5 ", &kModel},
    {" zip ", &kZip},
    {" gz tgz ", &kGzip},
    {" bz2 xz zst 7z rar tar lz4 jar apk deb ", &kPacked},
    {" exe dll so dylib a o class wasm ", &kProgram},
};

// If `nul` is set, a text may begin with these letters as well, but then contains no NUL byte.
struct KindOfBytes {
  size_t at;
  std::string_view bytes;
  const ForeignKind* kind;
  bool nul = false;
};
constexpr KindOfBytes kKindsOfBytes[] = {
    {0, "\xff\xfe"sv, &kUtf16},
    {0, "\xfe\xff"sv, &kUtf16},
    {0, "\x1f\x8b"sv, &kGzip},
    {0, "PK\x03\x04"sv, &kZip},
    {0, "\xd0\xcf\x11\xe0"sv, &kOldOffice},
    {0, "%PDF-"sv, &kPdf},
    {0, "%!PS-"sv, &kPostScript},
    {0, "{\\rtf1"sv, &kRichText},
    {0, "\x89PNG\r\n\x1a\n"sv, &kPicture},
    {0, "\xff\xd8\xff"sv, &kPicture},
    {0, "GIF87a"sv, &kOtherPicture},
    {0, "GIF89a"sv, &kOtherPicture},
    {0, "II*\0"sv, &kOtherPicture},
    {0, "MM\0*"sv, &kOtherPicture},
    {8, "WEBP"sv, &kOtherPicture},
    {4, "ftypavif"sv, &kOtherPicture, true},
    {4, "ftypheic"sv, &kOtherPicture, true},
    {4, "ftypmif1"sv, &kOtherPicture, true},
    {4, "ftypM4A"sv, &kRecording, true},
    {4, "ftyp"sv, &kFilm, true},
    {0, "\x1a\x45\xdf\xa3"sv, &kFilm},
    {8, "AVI "sv, &kFilm},
    {8, "WAVE"sv, &kRecording},
    {0, "fLaC\0"sv, &kRecording},
    {0, "OggS\0"sv, &kRecording},
    {0, "ID3\x02"sv, &kRecording},
    {0, "ID3\x03"sv, &kRecording},
    {0, "ID3\x04"sv, &kRecording},
    {0, "\xff\xfb"sv, &kRecording},
    {0, "\xff\xf3"sv, &kRecording},
    {0, "\xff\xf2"sv, &kRecording},
    {0, "GGUF"sv, &kModel, true},
    {0, "lmgg"sv, &kModel, true},
    {0, "tjgg"sv, &kModel, true},
    {0, "BZh91AY&SY"sv, &kPacked},
    {0, "\xfd\x37zXZ\0"sv, &kPacked},
    {0, "\x28\xb5\x2f\xfd"sv, &kPacked},
    {0, "7z\xbc\xaf\x27\x1c"sv, &kPacked},
    {0, "Rar!\x1a\x07"sv, &kPacked},
    {257, "ustar"sv, &kPacked, true},
    {0,
     "\x7f"
     "ELF"sv,
     &kProgram},
    {0, "[Script Info]"sv, &kSubtitles},
    {0, "\xef\xbb\xbf[Script Info]"sv, &kSubtitles},
};

bool has_nul(std::string_view bytes) { return bytes.find('\0') != std::string_view::npos; }

// The bytes at 8 are a kind of RIFF.
bool is_of(const KindOfBytes& kind, std::string_view head) {
  if (head.size() < kind.at || !head.substr(kind.at).starts_with(kind.bytes)) return false;
  if (kind.at == 8 && !head.starts_with("RIFF") && !head.starts_with("RF64")) return false;
  return !kind.nul || has_nul(head);
}

// Kinds that are archives or OLE files inside, so that only the name tells them apart.
bool is_wrapped(const ForeignKind* kind) {
  return kind == &kOffice || kind == &kSheet || kind == &kSlides || kind == &kBook || kind == &kPacked;
}

}  // namespace

const ForeignKind* foreign_content(std::string_view head) {
  const auto found = std::find_if(std::begin(kKindsOfBytes), std::end(kKindsOfBytes),
                                  [&](const KindOfBytes& kind) { return is_of(kind, head); });
  return found == std::end(kKindsOfBytes) ? nullptr : found->kind;
}

const ForeignKind* foreign_name(std::string_view name) {
  std::string ending(extension(name));
  if (ending.empty()) return nullptr;
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  ending = " " + ending.substr(1) + " ";
  const auto found = std::find_if(std::begin(kKindsOfEndings), std::end(kKindsOfEndings), [&](const KindOfEnding& k) {
    return k.endings.find(ending) != std::string_view::npos;
  });
  return found == std::end(kKindsOfEndings) ? nullptr : found->kind;
}

const ForeignKind* foreign_file(std::string_view name, std::string_view head, bool as_text) {
  const ForeignKind *named = foreign_name(name), *content = foreign_content(head);
  const bool named_text = named && named->is_text;
  if (content && !(as_text && content->is_text))
    return (content == &kZip || content == &kOldOffice) && is_wrapped(named) ? named : content;
  if (as_text) return nullptr;
  if (has_nul(head)) return named && !named_text ? named : &kBinary;
  return named_text ? named : nullptr;
}

std::string refusal_of(const ForeignKind& kind) {
  return "it is " + std::string(kind.what) + "; " + std::string(kind.advice);
}

std::string head_of(const std::string& file) {
  std::FILE* stream = open_stream(file, "rb");
  if (!stream) return "";
  std::string head(kTellingBytes, '\0');
  head.resize(std::fread(head.data(), 1, head.size(), stream));
  std::fclose(stream);
  return head;
}

}  // namespace lapilli::cli
