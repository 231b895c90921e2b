#include "vectors/line_index.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/file_lock.hpp"
#include "base/mapped_file.hpp"
#include "base/math.hpp"
#include "base/path.hpp"

namespace lapilli::vectors {

namespace line_index {

constexpr char kMagic[8] = {'L', 'A', 'P', 'I', 'V', 'E', 'C', 'T'};
constexpr uint32_t kOrder = 0x01020304, kVersion = 1;
constexpr uint64_t kAlignment = 4096, kMostText = uint64_t{16} << 20;

struct Head {
  char magic[8];
  uint32_t order, version;
  uint32_t dimensions, settings_bytes;
  uint64_t inputs_bytes;
  uint64_t lines, failures;
  uint64_t vectors_at, failures_at, file_bytes;
  uint64_t zero;
  // Checksums of the settings, inputs and fingerprints; of the vectors; of the failures and the head up to here.
  Fingerprint texts, vectors, rest;
};
static_assert(sizeof(Head) == 128);

// Where the parts lie, by the head's numbers.
struct Places {
  uint64_t inputs = 0, lines = 0, lines_end = 0, vector_bytes = 0;
};

struct CloseFile {
  void operator()(std::FILE* stream) const { std::fclose(stream); }
};

inline bool find_places(const Head& head, Places& to) {
  uint64_t table = 0, row = 0;
  if (head.settings_bytes > kMostText || head.inputs_bytes > kMostText || head.failures > head.lines) return false;
  to.inputs = sizeof(Head) + head.settings_bytes;
  to.lines = round_up<uint64_t>(to.inputs + head.inputs_bytes, sizeof(Fingerprint));
  if (!checked_mul(head.lines, sizeof(Fingerprint), table) || !checked_add(to.lines, table, to.lines_end)) return false;
  if (!checked_mul(head.dimensions, sizeof(float), row)) return false;
  return checked_mul(head.lines - head.failures, row, to.vector_bytes);
}

}  // namespace line_index

using namespace line_index;

namespace {

bool are_sound(const Head& head, const Places& places, uint64_t size) {
  uint64_t vectors_end = 0;
  return head.file_bytes == size && head.vectors_at % kAlignment == 0 && head.vectors_at >= places.lines_end &&
         checked_add(head.vectors_at, places.vector_bytes, vectors_end) && vectors_end == head.failures_at &&
         head.failures_at <= size;
}

std::string_view text_of(std::span<const std::byte> bytes, uint64_t begin, uint64_t end) {
  return {reinterpret_cast<const char*>(bytes.data()) + begin, static_cast<size_t>(end - begin)};
}

Fingerprint of_rest(const Head& head, std::string_view failures) {
  Fingerprinter made;
  made.add(&head, offsetof(Head, rest));
  made.add(failures);
  return made.result();
}

// Each failure as its line, the bytes of its text, and the text.
std::string failure_bytes(const std::vector<LineFailure>& failures) {
  std::string bytes;
  for (const LineFailure& failure : failures) {
    const uint64_t numbers[] = {failure.line, failure.why.size()};
    bytes.append(reinterpret_cast<const char*>(numbers), sizeof numbers);
    bytes += failure.why;
  }
  return bytes;
}

bool read_failures(std::string_view bytes, const Head& head, std::vector<LineFailure>& to) {
  for (uint64_t i = 0; i < head.failures; ++i) {
    uint64_t numbers[2];
    if (bytes.size() < sizeof numbers) return false;
    std::memcpy(numbers, bytes.data(), sizeof numbers);
    bytes.remove_prefix(sizeof numbers);
    const bool in_order = numbers[0] < head.lines && (to.empty() || to.back().line < numbers[0]);
    if (!in_order || numbers[1] > bytes.size()) return false;
    to.push_back({numbers[0], std::string(bytes.substr(0, static_cast<size_t>(numbers[1])))});
    bytes.remove_prefix(static_cast<size_t>(numbers[1]));
  }
  return bytes.empty();
}

// A file whose head is one of ours.
const char* wrong_head(std::span<const std::byte> bytes, Head& head) {
  constexpr const char* kForeign = "it is no file of vectors";
  if (bytes.size() < sizeof head) return kForeign;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0) return kForeign;
  if (head.order != kOrder) return "it is of a machine with another byte order";
  return head.version == kVersion ? nullptr : "it is of another version";
}

// Part by part, so that not all of them are in memory.
Fingerprint of_vectors(const MappedFile& file, const Head& head) {
  constexpr uint64_t kPart = uint64_t{64} << 20;
  Fingerprinter made;
  for (uint64_t at = head.vectors_at; at < head.failures_at; at += kPart) {
    const uint64_t end = std::min(at + kPart, head.failures_at);
    made.add(text_of(file.bytes(), at, end));
    file.let_go(static_cast<size_t>(at), static_cast<size_t>(end - at));
  }
  return made.result();
}

const char* wrong_content(const MappedFile& file, const Head& head, const Places& places) {
  const auto bytes = file.bytes();
  constexpr const char* kDamaged = "it is damaged";
  if (of_rest(head, text_of(bytes, head.failures_at, head.file_bytes)) != head.rest) return kDamaged;
  if (fingerprint_of(text_of(bytes, sizeof head, places.lines_end)) != head.texts) return kDamaged;
  return of_vectors(file, head) == head.vectors ? nullptr : kDamaged;
}

// Null: the file serves.
const char* look(const MappedFile& file, const IndexAbout& about, Head& head, Places& places) {
  const auto bytes = file.bytes();
  if (const char* wrong = wrong_head(bytes, head)) return wrong;
  if (!find_places(head, places) || !are_sound(head, places, bytes.size())) return "it is damaged or cut off";
  const bool same = text_of(bytes, sizeof head, places.inputs) == about.settings && head.dimensions == about.dimensions;
  if (!same) return "it was made by another model or with other settings";
  return wrong_content(file, head, places);
}

}  // namespace

std::optional<LineIndex> LineIndex::open(const std::string& path, const IndexAbout& about, std::string& why) {
  why.clear();
  if (file_kind(path) == FileKind::none) return {};
  auto mapped = MappedFile::open(path);
  if (!mapped) return why = "it cannot be read", std::nullopt;
  const auto file = std::make_shared<const MappedFile>(std::move(*mapped));
  Head head{};
  Places places;
  const char* wrong = look(*file, about, head, places);
  LineIndex index;
  const auto bytes = file->bytes();
  if (!wrong && !read_failures(text_of(bytes, head.failures_at, head.file_bytes), head, index.failures_))
    wrong = "it is damaged";
  if (wrong) return why = wrong, std::nullopt;
  index.lines_ = {reinterpret_cast<const Fingerprint*>(bytes.data() + places.lines), static_cast<size_t>(head.lines)};
  index.vectors_ = {reinterpret_cast<const float*>(bytes.data() + head.vectors_at),
                    static_cast<size_t>(places.vector_bytes / sizeof(float))};
  index.file_ = file;
  return index;
}

void LineIndex::let_go(std::span<const float> part) const {
  const auto* file = static_cast<const MappedFile*>(file_.get());
  const auto* begin = reinterpret_cast<const std::byte*>(part.data());
  file->let_go(static_cast<size_t>(begin - file->bytes().data()), part.size_bytes());
}

bool may_be_written(const std::string& path) {
  if (!file_is_named(path)) return !directory_exists(path);
  if (!file_exists(path)) return false;
  if (file_size(path) == 0) return true;
  const std::unique_ptr<std::FILE, CloseFile> stream(open_stream(path, "rb"));
  char magic[sizeof kMagic];
  return stream && std::fread(magic, 1, sizeof magic, stream.get()) == sizeof magic &&
         std::memcmp(magic, kMagic, sizeof magic) == 0;
}

// ---- writing
// ---------------------------------------------------------------------------------------------------------

struct IndexWriter::Impl {
  std::string path, part;
  IndexAbout about;
  std::vector<Fingerprint> lines;
  std::unique_ptr<std::FILE, CloseFile> stream;
  Fingerprinter vectors;
  std::vector<LineFailure> failures;
  uint64_t done = 0;
  Head head{};
  Places places;
  bool finished = false;

  bool write(const void* bytes, size_t count) {
    return count == 0 || std::fwrite(bytes, 1, count, stream.get()) == count;
  }
  bool write_zeros(uint64_t count) {
    const std::vector<char> zeros(static_cast<size_t>(count));
    return write(zeros.data(), zeros.size());
  }
  // The place of the vectors is for all lines, even if fewer are done.
  bool begin() {
    std::memcpy(head.magic, kMagic, sizeof kMagic);
    head.order = kOrder;
    head.version = kVersion;
    head.dimensions = about.dimensions;
    head.settings_bytes = static_cast<uint32_t>(about.settings.size());
    head.inputs_bytes = about.inputs.size();
    head.lines = lines.size();
    if (!find_places(head, places)) return errno = EINVAL, false;
    head.vectors_at = round_up(places.lines_end, kAlignment);
    stream.reset(open_stream(part, "wb"));
    return stream && write_zeros(sizeof head) && write_texts(lines.size()) &&
           write_zeros(head.vectors_at - places.lines_end);
  }
  // The bytes between the head and the end of the first fingerprints.
  [[nodiscard]] std::string texts_before_lines() const {
    std::string text = about.settings + about.inputs;
    text.resize(static_cast<size_t>(places.lines - sizeof(Head)));
    return text;
  }
  bool write_texts(uint64_t count) {
    const std::string text = texts_before_lines();
    return write(text.data(), text.size()) && write(lines.data(), static_cast<size_t>(count) * sizeof(Fingerprint));
  }
  [[nodiscard]] Fingerprint of_texts() const {
    Fingerprinter made;
    made.add(texts_before_lines());
    made.add(lines.data(), static_cast<size_t>(done) * sizeof(Fingerprint));
    return made.result();
  }
  bool finish() {
    const std::string failed = failure_bytes(failures);
    head.lines = done;
    head.failures = failures.size();
    if (!find_places(head, places)) return errno = EINVAL, false;
    head.failures_at = head.vectors_at + places.vector_bytes;
    head.file_bytes = head.failures_at + failed.size();
    head.texts = of_texts();
    head.vectors = vectors.result();
    head.rest = of_rest(head, failed);
    return write(failed.data(), failed.size()) && std::fseek(stream.get(), 0, SEEK_SET) == 0 &&
           write(&head, sizeof head) && flush_to_disk(stream.get()) && std::fclose(stream.release()) == 0 &&
           rename_file(part, path);
  }
};

IndexWriter::IndexWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

std::unique_ptr<IndexWriter> IndexWriter::begin(const std::string& path, const IndexAbout& about,
                                                std::span<const Fingerprint> lines) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->part = path + ".part";
  impl->about = about;
  if (impl->about.settings.size() > kMostText) return errno = EINVAL, nullptr;
  if (impl->about.inputs.size() > kMostText) impl->about.inputs.resize(kMostText);
  impl->lines.assign(lines.begin(), lines.end());
  std::unique_ptr<IndexWriter> writer(new IndexWriter(std::move(impl)));
  if (writer->impl_->begin()) return writer;
  const int why = errno;
  writer.reset();
  errno = why;
  return nullptr;
}

IndexWriter::~IndexWriter() {
  if (!impl_ || impl_->finished) return;
  impl_->stream.reset();
  remove_file(impl_->part);
}

bool IndexWriter::add(std::span<const float> vector) {
  ++impl_->done;
  impl_->vectors.add(vector.data(), vector.size_bytes());
  return impl_->write(vector.data(), vector.size_bytes());
}

bool IndexWriter::fail(std::string why) {
  impl_->failures.push_back({impl_->done++, std::move(why)});
  return true;
}

bool IndexWriter::finish() { return impl_->finished = impl_->finish(); }

std::shared_ptr<void> hold_index(const std::string& path) {
  auto lock = FileLock::take(path + ".lock");
  return lock ? std::make_shared<FileLock>(std::move(*lock)) : nullptr;
}

}  // namespace lapilli::vectors
