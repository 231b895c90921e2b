// Every reader of untrusted bytes under libFuzzer (Clang): LAPILLI_FUZZ names the reader, and without it the names are
// printed. tests/fuzz/CMakeLists.txt builds it with LAPILLI_FUZZ on.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <vector>

#include "base/files.hpp"
#include "documents/archives.hpp"
#include "documents/document.hpp"
#include "documents/memory/translation_memory.hpp"
#include "formats/checkpoint.hpp"
#include "formats/doors/door.hpp"
#include "formats/doors/marian/network.hpp"
#include "formats/doors/marian/npz_file.hpp"
#include "formats/doors/marian/vocabulary_file.hpp"
#include "formats/doors/trained/tf_table.hpp"
#include "formats/generation_config.hpp"
#include "formats/hf_config.hpp"
#include "formats/inflate.hpp"
#include "formats/pickle.hpp"
#include "formats/readers.hpp"
#include "formats/shortlist.hpp"
#include "formats/zip.hpp"
#include "hub/registry.hpp"
#include "hub/repository.hpp"
#include "recordings/reader.hpp"
#include "recordings/wav_chunks.hpp"
#include "shards/record.hpp"
#include "shards/unpacker.hpp"
#include "text/pipeline/tokenizer_json.hpp"
#include "text/sentencepiece/sentencepiece_model.hpp"
#include "text/tokenizer.hpp"

namespace lapilli {
namespace {

using Bytes = std::span<const std::byte>;

std::string text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

// ---- files in memory ------------------------------------------------------------------------------------------------

struct Named {
  const char* name;
  Bytes bytes;
};

Files files_of(std::initializer_list<Named> named) {
  std::vector<FilePart> parts;
  for (const Named& n : named) parts.push_back({.name = n.name, .memory = n.bytes.data(), .bytes = n.bytes.size()});
  auto source = make_file_parts(std::move(parts));
  if (!source) std::abort();
  return {std::move(*source), "fuzz"};
}

Bytes bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// A directory on disk, for readers that list one; the same for all inputs of a run.
const std::string& folder() {
  static const std::string path = [] {
    std::string name = std::filesystem::temp_directory_path().string() + "/lapilli-fuzz-XXXXXX";
    if (!mkdtemp(name.data())) std::abort();
    return name;
  }();
  return path;
}

std::string put(const std::string& name, Bytes bytes) {
  const std::string path = folder() + "/" + name;
  std::ofstream(path, std::ios::binary) << text_of(bytes);
  return path;
}

// A file of the tests' data, which a directory needs besides the one that is made up.
std::string given(const char* name) {
  std::ifstream in(std::string(LAPILLI_TEST_DATA) + "/formats/" + name, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

// ---- readers --------------------------------------------------------------------------------------------------------

void read_tensors(const Files& files) {
  const auto checkpoint = Checkpoint::open(files);
  if (!checkpoint) return;
  constexpr uint64_t kMost = 1 << 16;
  for (const StoredTensor& t : checkpoint->tensors())
    if (t.elements() <= kMost) (void)read_floats(t);
}

// A directory as the door sees it, with its tokenizer and its tensors; without these where a text is made up beside a
// model that is always the same, whose checksums would take most of the time.
enum class Tensors { read, left };

void enter(const Files& files, Tensors tensors = Tensors::read) {
  const auto entered = doors::enter(files);
  if (!entered) return;
  if (tensors == Tensors::read) read_tensors(entered->files);
  for (const std::string& name : entered->made)
    if (name == "pieces.json")
      if (const auto tokenizer = load_tokenizer(entered->files, "transformer")) (void)(*tokenizer)->encode("A b, c.");
}

void ctranslate2(Bytes bytes) {
  static const std::string config = given("ct2-marian/float32/config.json"),
                           vocabulary = given("ct2-marian/float32/shared_vocabulary.json");
  enter(files_of(
      {{"model.bin", bytes}, {"config.json", bytes_of(config)}, {"shared_vocabulary.json", bytes_of(vocabulary)}}));
}

void ggml(Bytes bytes) { enter(Files(put("ggml-tiny.bin", bytes))); }

void fairseq(Bytes bytes) {
  static const std::string source = given("fairseq-args/dict.en.txt"), target = given("fairseq-args/dict.pt.txt"),
                           codes = given("fairseq-args/bpecodes");
  enter(files_of({{"model.pt", bytes},
                  {"dict.en.txt", bytes_of(source)},
                  {"dict.pt.txt", bytes_of(target)},
                  {"bpecodes", bytes_of(codes)}}));
}

void dictionary(Bytes bytes) {
  static const std::string model = given("fairseq-args/model.pt"), codes = given("fairseq-args/bpecodes");
  enter(files_of({{"model.pt", bytes_of(model)}, {"dict.txt", bytes}, {"bpecodes", bytes_of(codes)}}), Tensors::left);
}

void codes(Bytes bytes) {
  static const std::string model = given("fairseq-args/model.pt"), words = given("fairseq-args/dict.en.txt");
  enter(files_of({{"model.pt", bytes_of(model)}, {"dict.txt", bytes_of(words)}, {"bpecodes", bytes}}), Tensors::left);
}

void opennmt(Bytes bytes) { enter(files_of({{"model.pt", bytes}})); }

void tensor2tensor(Bytes bytes) {
  static const std::string hparams = given("tensor2tensor-postnorm/hparams.json"),
                           data = given("tensor2tensor-postnorm/model.ckpt-7.data-00000-of-00001");
  static const std::string named = "model_checkpoint_path: \"model.ckpt-7\"\n";
  enter(files_of({{"hparams.json", bytes_of(hparams)},
                  {"checkpoint", bytes_of(named)},
                  {"model.ckpt-7.index", bytes},
                  {"model.ckpt-7.data-00000-of-00001", bytes_of(data)}}));
}

// ---- Marian, Firefox, Argos -----------------------------------------------------------------------------------------

void put_given(const std::string& from, const std::string& name) {
  put(name, bytes_of(given((from + "/" + name).c_str())));
}

void firefox(Bytes bytes) {
  static const bool there = [] {
    for (const char* name : {"vocab.enpt.spm", "lex.50.50.enpt.s2t.bin"}) put_given("firefox-shared-int8-alphas", name);
    return true;
  }();
  (void)there;
  put("model.enpt.intgemm.alphas.bin", bytes);
  enter(Files(folder()));
}

// The registry's form of the same.
void firefox_gz(Bytes bytes) {
  static const bool there = [] {
    put_given("firefox-shared-int8-alphas", "model.enpt.intgemm.alphas.bin");
    return true;
  }();
  (void)there;
  put("vocab.enpt.spm.gz", bytes);
  enter(Files(folder()), Tensors::left);
}

// The bytes are the head without magic and checksum, which are right, and the lists.
void shortlist(Bytes bytes) {
  uint64_t sum = 0;
  for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof(word));
    sum ^= word + 0x9e3779b9 + (sum << 6) + (sum >> 2);
  }
  const uint64_t head[] = {0xF11A48D5013417F5, sum};
  const std::string file = text_of(std::as_bytes(std::span(head))) + text_of(bytes);
  const Files files = files_of({{"lex.s2t.bin", bytes_of(file)}});
  const auto list = Shortlist::read(files / "lex.s2t.bin", {.source = 300, .target = 290, .shared = true});
  const int32_t source[] = {0, 5, 299};
  if (list) (void)list->mask(source);
}

void npz(Bytes bytes) {
  static const std::string from = "marian-npz-tied-all";
  static const bool there = [] {
    for (const char* name : {"source.spm", "target.spm", "opus.spm32k-spm32k.vocab.yml"}) put_given(from, name);
    return true;
  }();
  (void)there;
  enter(Files(put("model.npz", bytes)));
}

void npy(Bytes bytes) {
  const Files files = files_of({{"special:model.yml.npy", bytes}, {"a.npy", bytes}});
  (void)doors::marian::read_npz(files, {"special:model.yml.npy", "a.npy"}, "fuzz");
}

void vocabulary_yaml(Bytes bytes) { (void)doors::marian::parse_vocabulary(text_of(bytes), "fuzz"); }

// The settings of a network whose parameters are there.
void marian_settings(Bytes bytes) {
  const auto settings = doors::marian::Settings::parse(text_of(bytes), "fuzz");
  if (!settings) return;
  static const auto parameters = [] {
    put_given("firefox-shared-float32", "model.enpt.bin");
    const auto file = File::open(folder() + "/model.enpt.bin");
    return doors::marian::read_bin(*file);
  }();
  if (!parameters) std::abort();
  (void)doors::marian::map_network(*parameters, *settings, "fuzz");
}

void argos(Bytes bytes) { enter(Files(put("package.argosmodel", bytes))); }

void argos_metadata(Bytes bytes) {
  static const std::string model = given("ct2-marian/int8/model.bin"), config = given("ct2-marian/int8/config.json"),
                           vocabulary = given("ct2-marian/int8/shared_vocabulary.json");
  enter(files_of({{"metadata.json", bytes},
                  {"model/model.bin", bytes_of(model)},
                  {"model/config.json", bytes_of(config)},
                  {"model/shared_vocabulary.json", bytes_of(vocabulary)}}));
}

// Two bytes are the size that is said, in 16 bytes.
void inflate_member(Bytes bytes) {
  if (bytes.size() < 2) return;
  uint16_t said = 0;
  std::memcpy(&said, bytes.data(), sizeof(said));
  (void)inflate(bytes.subspan(2), uint64_t{said} * 16, 0);
  (void)gunzip(bytes.subspan(2), 1 << 20);
}

// ---- the trainers' own ----------------------------------------------------------------------------------------------

void hparams(Bytes bytes) {
  static const std::string index = given("tensor2tensor-postnorm/model.ckpt-7.index"),
                           data = given("tensor2tensor-postnorm/model.ckpt-7.data-00000-of-00001"),
                           named = "model_checkpoint_path: \"model.ckpt-7\"\n";
  enter(files_of({{"hparams.json", bytes},
                  {"checkpoint", bytes_of(named)},
                  {"model.ckpt-7.index", bytes_of(index)},
                  {"model.ckpt-7.data-00000-of-00001", bytes_of(data)}}));
}

void subwords(Bytes bytes) {
  static const std::string from = "tensor2tensor-postnorm";
  static const bool there = [] {
    for (const char* name :
         {"hparams.json", "checkpoint", "model.ckpt-7.index", "model.ckpt-7.data-00000-of-00001", "flags.txt"})
      put_given(from, name);
    return true;
  }();
  (void)there;
  put("vocab.translate_enpt_tiny.260.subwords", bytes);
  enter(Files(folder()), Tensors::left);
}

void put_varint(std::string& to, uint64_t value) {
  for (; value > 0x7f; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

// The bytes are the entries of a block, whose checksum is right: the first one says how it is packed.
void table(Bytes bytes) {
  if (bytes.empty()) return;
  namespace t = doors::trained;
  std::string file;
  const auto add_block = [&](std::string block, char type) {
    const uint64_t offset = file.size(), size = block.size();
    block += type;
    const uint32_t sum = t::masked(t::crc32c(0, block));
    file += block;
    file.append(reinterpret_cast<const char*>(&sum), sizeof(sum));
    std::string handle;
    put_varint(handle, offset);
    put_varint(handle, size);
    return handle;
  };
  const std::string handle = add_block(text_of(bytes.subspan(1)), static_cast<char>(bytes[0]) & 1);
  std::string entry = {0, 1, static_cast<char>(handle.size()), 'k'};
  entry += handle + std::string(4, '\0');
  std::string footer = add_block(entry, 0);
  footer += footer;
  footer.resize(40);
  file += footer + "\x57\xfb\x80\x8b\x24\x75\x47\xdb";
  (void)t::read_table(file, "fuzz");
}

void safetensors(Bytes bytes) { read_tensors(files_of({{"model.safetensors", bytes}})); }
void pytorch(Bytes bytes) { read_tensors(files_of({{"pytorch_model.bin", bytes}})); }

void zip(Bytes bytes) {
  const Files files = files_of({{"archive.zip", bytes}});
  if (const auto file = File::open(files / "archive.zip")) (void)read_zip(*file);
}

void pickle(Bytes bytes) {
  for (const PickleUse use : {PickleUse::weights, PickleUse::training}) (void)read_pickle(bytes, "fuzz", use);
}

void tokenizer_json(Bytes bytes) {
  const Files files = files_of({{"tokenizer.json", bytes}});
  const auto tokenizer = load_tokenizer(files, "tokenizers.Tokenizer");
  if (!tokenizer) return;
  if (const auto ids = (*tokenizer)->encode("The cat, 12 of them.\u00e9")) (void)(*tokenizer)->decode(*ids, false);
}

void sentence_piece(Bytes bytes) {
  const Files files = files_of({{"spiece.model", bytes}});
  const auto model = SentencePieceModel::load(files / "spiece.model");
  if (model) (void)model->encode("The cat, 12 of them.\u00e9");
}

void generation_config(Bytes bytes) {
  if (const auto json = parse_json(text_of(bytes), "fuzz")) (void)parse_generation_config(*json, "fuzz");
}

void wav(Bytes bytes) {
  std::FILE* file = fmemopen(const_cast<std::byte*>(bytes.data()), bytes.size(), "rb");
  if (!file) return;
  if (!recordings::read_wav_head(file)) return void(std::fclose(file));
  auto reader = recordings::read_wav(recordings::Stream(file), "fuzz");
  if (!reader) return;
  std::vector<float> samples(4096);
  for (int i = 0; i < 64; ++i)
    if (const auto count = (*reader)->read(samples); !count || *count == 0) break;
}

template <documents::Kind kind>
void document(Bytes bytes) {
  documents::Options options;
  options.source_language = "en";
  options.target_language = "pl";
  const auto parsed = documents::Document::parse(kind, text_of(bytes), options);
  if (!parsed) return;
  std::vector<documents::Translation> translations;
  for (const documents::Segment& s : parsed->segments()) translations.push_back({s.text + " x", {}});
  if (!parsed->render(translations)) std::abort();
}

// The file with words in an archive of the kind.
template <documents::Kind kind>
void archived(Bytes bytes) {
  const char* name = kind == documents::Kind::docx   ? "word/document.xml"
                     : kind == documents::Kind::pptx ? "ppt/slides/slide1.xml"
                     : kind == documents::Kind::xlsx ? "xl/sharedStrings.xml"
                     : kind == documents::Kind::epub ? "OPS/a.xhtml"
                                                     : "content.xml";
  document<kind>(bytes_of(documents::archive_of({{name, text_of(bytes)}})));
}

void memory(Bytes bytes) {
  documents::TranslationMemory memory;
  if (!memory.read(text_of(bytes), "en", "fr").empty()) return;
  (void)memory.find("Page 7 of 90");
}

void hub_answer(Bytes bytes) { (void)hub::read_repository(text_of(bytes)); }

void argos_index(Bytes bytes) {
  const hub::Registry argos{"argos", "Argos", hub::Registry::Form::argos_index, "https://a.example/i", "", ""};
  (void)hub::read_offers(argos, text_of(bytes));
}

void mozilla_records(Bytes bytes) {
  const hub::Registry firefox{
      "firefox", "Firefox", hub::Registry::Form::remote_settings, "https://a.example/r", "https://b.example/", ""};
  (void)hub::read_offers(firefox, text_of(bytes));
}

struct FuzzedReader {
  const char* name;
  void (*read)(Bytes bytes);
};
void packed(Bytes bytes) {
  std::string wrong;
  const std::string text = text_of(bytes);
  std::string_view rest = text;
  if (!shards::is_packed(rest)) return;
  const auto unpacker = shards::unpacker_for(rest, wrong);
  std::vector<char> room(4096);
  constexpr size_t kMost = size_t{1} << 24;
  for (size_t made = 1, all = 0; unpacker && made > 0 && all < kMost; all += made)
    made = unpacker->unpack(rest, room.data(), room.size());
}

// A record is written as it was read.
void shard_record(Bytes bytes) {
  const auto record = shards::record_in(text_of(bytes));
  const auto again = record ? shards::record_in(shards::json_of(*record)) : record;
  if (record && (!again || shards::json_of(*again) != shards::json_of(*record))) std::abort();
  (void)shards::counting_in(text_of(bytes));
  (void)shards::part_name(text_of(bytes));
}

constexpr FuzzedReader kReaders[] = {{"ctranslate2", ctranslate2},
                                     {"ggml", ggml},
                                     {"fairseq", fairseq},
                                     {"dictionary", dictionary},
                                     {"codes", codes},
                                     {"opennmt-py", opennmt},
                                     {"tensor2tensor", tensor2tensor},
                                     {"table", table},
                                     {"hparams", hparams},
                                     {"subwords", subwords},
                                     {"firefox", firefox},
                                     {"firefox-gz", firefox_gz},
                                     {"shortlist", shortlist},
                                     {"npz", npz},
                                     {"npy", npy},
                                     {"vocabulary-yaml", vocabulary_yaml},
                                     {"marian-settings", marian_settings},
                                     {"argos", argos},
                                     {"argos-metadata", argos_metadata},
                                     {"inflate", inflate_member},
                                     {"safetensors", safetensors},
                                     {"pytorch", pytorch},
                                     {"zip", zip},
                                     {"pickle", pickle},
                                     {"tokenizer-json", tokenizer_json},
                                     {"sentencepiece", sentence_piece},
                                     {"generation-config", generation_config},
                                     {"wav", wav},
                                     {"srt", document<documents::Kind::srt>},
                                     {"vtt", document<documents::Kind::vtt>},
                                     {"markdown", document<documents::Kind::markdown>},
                                     {"html", document<documents::Kind::html>},
                                     {"hub", hub_answer},
                                     {"argos-index", argos_index},
                                     {"mozilla-records", mozilla_records},
                                     {"xliff", document<documents::Kind::xliff>},
                                     {"ts", document<documents::Kind::ts>},
                                     {"ttml", document<documents::Kind::ttml>},
                                     {"office-archive", document<documents::Kind::docx>},
                                     {"docx", archived<documents::Kind::docx>},
                                     {"pptx", archived<documents::Kind::pptx>},
                                     {"xlsx", archived<documents::Kind::xlsx>},
                                     {"odt", archived<documents::Kind::odt>},
                                     {"ods", archived<documents::Kind::ods>},
                                     {"epub", archived<documents::Kind::epub>},
                                     {"csv", document<documents::Kind::csv>},
                                     {"po", document<documents::Kind::po>},
                                     {"ass", document<documents::Kind::ass>},
                                     {"sbv", document<documents::Kind::sbv>},
                                     {"lrc", document<documents::Kind::lrc>},
                                     {"tex", document<documents::Kind::tex>},
                                     {"rst", document<documents::Kind::rst>},
                                     {"asciidoc", document<documents::Kind::asciidoc>},
                                     {"json-texts", document<documents::Kind::json>},
                                     {"yaml-texts", document<documents::Kind::yaml>},
                                     {"properties", document<documents::Kind::properties>},
                                     {"strings", document<documents::Kind::strings>},
                                     {"stringsdict", document<documents::Kind::stringsdict>},
                                     {"xcstrings", document<documents::Kind::xcstrings>},
                                     {"android", document<documents::Kind::android>},
                                     {"tmx", memory},
                                     {"packed", packed},
                                     {"shard-record", shard_record}};

const FuzzedReader& chosen() {
  const char* name = std::getenv("LAPILLI_FUZZ");
  for (const FuzzedReader& reader : kReaders)
    if (name && std::strcmp(name, reader.name) == 0) return reader;
  std::fprintf(stderr, "LAPILLI_FUZZ names the reader:");
  for (const FuzzedReader& reader : kReaders) std::fprintf(stderr, " %s", reader.name);
  std::fprintf(stderr, "\n");
  std::exit(2);
}

}  // namespace
}  // namespace lapilli

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const lapilli::FuzzedReader& reader = lapilli::chosen();
  reader.read(std::as_bytes(std::span(data, size)));
  return 0;
}
