#include "base/files.hpp"

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <utility>

#include "base/descriptor.hpp"
#include "base/mapped_file.hpp"
#include "base/path.hpp"

namespace lapilli {

namespace {

using ull = unsigned long long;

// File sources use signed numbers for sizes and offsets.
constexpr uint64_t kMostFileBytes = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());

}  // namespace

struct File::Opened {
  // Keeps the first error; not_found is not one.
  static Error note(Status& first, Error error) {
    if (first.ok() && error.code != ErrorCode::not_found) first = error;
    return error;
  }

  std::string path;
  uint64_t size = 0;
  const std::byte* memory = nullptr;
  bool in_memory = false;
  MappedFile mapped;                         // for a file on disk
  std::unique_ptr<FileContent> content;      // for any other
  std::shared_ptr<Status> failure;           // first error of its source
  std::vector<std::vector<std::byte>> kept;  // buffers read by view()
};

// The files of one FileSource.
struct FileName::Host {
  std::unique_ptr<FileSource> source;
  std::map<std::string, Result<File>> files;  // by name, as they were opened
  std::shared_ptr<Status> failure = std::make_shared<Status>();

  const Result<File>& open(const FileName& name) {
    const auto known = files.find(name.name_);
    if (known != files.end()) return known->second;
    return files.emplace(name.name_, first_open(name)).first->second;
  }

 private:
  Result<File> first_open(const FileName& name) {
    auto content = source->open(name.name_);
    if (!content) return File::Opened::note(*failure, std::move(content).error().in(name.path()));
    auto opened = std::make_shared<File::Opened>();
    opened->path = name.path();
    opened->content = std::move(content).value();
    opened->size = opened->content->size();
    opened->memory = opened->content->memory();
    opened->in_memory = opened->memory != nullptr;
    opened->failure = failure;
    if (opened->size > std::min<uint64_t>(kMostFileBytes, opened->in_memory ? SIZE_MAX : kMostFileBytes))
      return File::Opened::note(
          *failure, fail(ErrorCode::invalid_data, "%s: a file of %u bytes cannot be", name, ull{opened->size}));
    File file;
    file.opened_ = std::move(opened);
    return file;
  }
};

bool FileName::there() const {
  if (!host_) return file_is_named(path_);
  const auto& file = host_->open(*this);
  return file.ok() || file.error().code != ErrorCode::not_found;
}

// ---- one file -------------------------------------------------------------------------------------------------------

Result<File> File::open(const FileName& name) {
  if (name.host_) return name.host_->open(name);
  auto opened = std::make_shared<Opened>();
  LAPILLI_TRY(opened->mapped, MappedFile::open(name.path()));
  opened->path = name.path();
  opened->memory = opened->mapped.bytes().data();
  opened->size = opened->mapped.bytes().size();
  opened->in_memory = true;
  File file;
  file.opened_ = std::move(opened);
  return file;
}

const std::string& File::path() const { return opened_->path; }
uint64_t File::size() const { return opened_->size; }
bool File::in_memory() const { return opened_->in_memory; }
std::span<const std::byte> File::bytes() const {
  if (!opened_->in_memory) return {};
  return {opened_->memory, static_cast<size_t>(opened_->size)};
}

void File::let_go(uint64_t offset, uint64_t bytes) const noexcept {
  if (opened_ && in_memory() && !opened_->content && offset <= size() && bytes <= size() - offset)
    opened_->mapped.let_go(static_cast<size_t>(offset), static_cast<size_t>(bytes));
}

Status File::read(uint64_t offset, std::span<std::byte> to) const {
  if (offset > size() || to.size() > size() - offset)
    return fail(ErrorCode::invalid_data, "%s is truncated: it has %u bytes, and %u from %u on are needed",
                path().c_str(), ull{size()}, to.size(), ull{offset});
  if (to.empty()) return {};
  if (in_memory()) {
    std::copy_n(opened_->memory + offset, to.size(), to.begin());
    return {};
  }
  const Status read = opened_->content->read(offset, to);
  return read ? Status() : Opened::note(*opened_->failure, Error(read.error()).in(path()));
}

Result<std::vector<std::byte>> File::read_some(uint64_t offset, uint64_t bytes) const {
  // Probes the last byte first: a false size is found before memory is allocated for it.
  constexpr uint64_t kMuch = uint64_t{1} << 20;
  std::byte last{};
  if (bytes > kMuch) {
    if (offset > size() || bytes > size() - offset || bytes > SIZE_MAX) return read(size(), {&last, 1}).error();
    LAPILLI_CHECK(read(offset + bytes - 1, {&last, 1}));
  }
  std::vector<std::byte> part;
  try {
    part.resize(static_cast<size_t>(bytes));
  } catch (const std::exception&) {
    return fail(ErrorCode::out_of_memory, "not enough memory for %u bytes of %s", ull{bytes}, path().c_str());
  }
  LAPILLI_CHECK(read(offset, part));
  return part;
}

Result<std::span<const std::byte>> File::view(uint64_t offset, uint64_t bytes) const {
  if (in_memory() && offset <= size() && bytes <= size() - offset)
    return this->bytes().subspan(static_cast<size_t>(offset), static_cast<size_t>(bytes));
  LAPILLI_TRY(auto part, read_some(offset, bytes));
  opened_->kept.push_back(std::move(part));
  return std::span<const std::byte>(opened_->kept.back());
}

Result<std::string> read_text_file(const FileName& name, size_t limit) {
  LAPILLI_TRY(const auto file, File::open(name));
  if (file.size() > limit)
    return fail(ErrorCode::invalid_data, "%s has %u bytes, more than the %u expected of such a file", name,
                ull{file.size()}, limit);
  std::string text(static_cast<size_t>(file.size()), '\0');
  LAPILLI_CHECK(file.read(0, std::as_writable_bytes(std::span(text))));
  return text;
}

// ---- files ----------------------------------------------------------------------------------------------------------

Files::Files(std::unique_ptr<FileSource> source, std::string directory)
    : label_(directory.empty() ? "the host's files" : directory),
      directory_(std::move(directory)),
      host_(std::make_shared<FileName::Host>()) {
  host_->source = std::move(source);
}

FileName Files::operator/(std::string_view name) const {
  FileName file(host_ && directory_.empty() ? folder_ + std::string(name) : directory_ + "/" + std::string(name));
  if (!host_) return file;
  file.name_ = folder_ + std::string(name);
  file.host_ = host_;
  return file;
}

Files Files::below(const std::string& folder) const {
  Files files = *this;
  if (folder.empty()) return files;
  files.label_ += "/" + folder;
  if (!directory_.empty()) files.directory_ += "/" + folder;
  files.folder_ += folder + "/";
  return files;
}

bool Files::are_there() const { return host_ || directory_exists(directory_); }

Status Files::failure() const { return host_ ? *host_->failure : Status(); }

// ---- parts ----------------------------------------------------------------------------------------------------------

namespace {

class PartContent final : public FileContent {
 public:
  explicit PartContent(const FilePart& part) : part_(part) {}
  [[nodiscard]] uint64_t size() const override { return part_.bytes; }
  [[nodiscard]] const std::byte* memory() const override { return part_.memory; }
  Status read(uint64_t offset, std::span<std::byte> to) override {
    std::string why;
    const auto done = Descriptor(part_.descriptor).read(part_.offset + offset, to, why);
    if (!done) return fail(ErrorCode::invalid_data, "reading from descriptor %d failed: %s", part_.descriptor, why);
    if (*done < to.size())
      return fail(ErrorCode::invalid_data, "%u of %u bytes are there at %u; the file was cut off while it was read",
                  *done, to.size(), ull{part_.offset + offset});
    return {};
  }

 private:
  FilePart part_;
};

class PartSource final : public FileSource {
 public:
  explicit PartSource(std::map<std::string, FilePart> parts) : parts_(std::move(parts)) {}
  Result<std::unique_ptr<FileContent>> open(const std::string& name) override {
    const auto part = parts_.find(name);
    if (part == parts_.end()) return fail(ErrorCode::not_found, "no part has this name");
    return std::unique_ptr<FileContent>(std::make_unique<PartContent>(part->second));
  }

 private:
  std::map<std::string, FilePart> parts_;
};

Status check_part(const FilePart& part) {
  const char* name = part.name.c_str();
  if (part.memory) return {};
  if (part.offset > kMostFileBytes || part.bytes > kMostFileBytes - part.offset)
    return fail(ErrorCode::invalid_argument, "%s should be %u bytes from %u on, and no file is that long", name,
                ull{part.bytes}, ull{part.offset});
  std::string why;
  const auto size = Descriptor(part.descriptor).size(why);
  if (!size)
    return fail(ErrorCode::invalid_argument, "%s cannot be read from descriptor %d: %s", name, part.descriptor, why);
  if (part.offset > *size || part.bytes > *size - part.offset)
    return fail(ErrorCode::invalid_data,
                "%s should be the %u bytes from %u on of descriptor %d, whose file has %u; is it cut off?", name,
                ull{part.bytes}, ull{part.offset}, part.descriptor, ull{*size});
  return {};
}

}  // namespace

Result<std::unique_ptr<FileSource>> make_file_parts(std::vector<FilePart> parts) {
  std::map<std::string, FilePart> by_name;
  for (FilePart& part : parts) {
    LAPILLI_CHECK(check_part(part));
    const std::string name = part.name;
    if (!by_name.emplace(name, std::move(part)).second)
      return fail(ErrorCode::invalid_argument, "two parts have the name %s", name);
  }
  return std::unique_ptr<FileSource>(std::make_unique<PartSource>(std::move(by_name)));
}

}  // namespace lapilli
