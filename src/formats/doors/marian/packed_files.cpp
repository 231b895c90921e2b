#include "formats/doors/marian/packed_files.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/path.hpp"
#include "formats/doors/door.hpp"
#include "formats/inflate.hpp"

namespace lapilli::doors::marian {

namespace {

constexpr std::string_view kPacked = ".gz";
constexpr uint64_t kMostUnpacked = uint64_t{1} << 30;  // students have 17 to 60 MB

class UnpackedContent final : public FileContent {
 public:
  explicit UnpackedContent(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}
  [[nodiscard]] uint64_t size() const override { return bytes_.size(); }
  [[nodiscard]] const std::byte* memory() const override { return bytes_.data(); }
  Status read(uint64_t offset, std::span<std::byte> to) override {
    std::copy_n(bytes_.begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
    return {};
  }

 private:
  const std::vector<std::byte> bytes_;
};

class PlainContent final : public FileContent {
 public:
  explicit PlainContent(File file) : file_(std::move(file)) {}
  [[nodiscard]] uint64_t size() const override { return file_.size(); }
  [[nodiscard]] const std::byte* memory() const override { return file_.bytes().data(); }
  Status read(uint64_t offset, std::span<std::byte> to) override { return file_.read(offset, to); }

 private:
  const File file_;
};

Result<std::unique_ptr<FileContent>> unpack(const FileName& name) {
  LAPILLI_TRY(const auto file, File::open(name));
  LAPILLI_TRY(const auto packed, file.view(0, file.size()));
  auto bytes = gunzip(packed, std::min(kMostUnpacked, most_unpacked(file.size())));
  if (!bytes) return std::move(bytes).error().in(name.path());
  return std::unique_ptr<FileContent>(std::make_unique<UnpackedContent>(std::move(bytes).value()));
}

class UnpackedSource final : public FileSource {
 public:
  explicit UnpackedSource(Files below) : below_(std::move(below)) {}
  Result<std::unique_ptr<FileContent>> open(const std::string& name) override {
    if (const FileName plain = below_ / name; plain.there()) {
      LAPILLI_TRY(auto file, File::open(plain));
      return std::unique_ptr<FileContent>(std::make_unique<PlainContent>(std::move(file)));
    }
    const FileName packed = below_ / packed_name(name);
    if (!packed.there()) return fail(ErrorCode::not_found, "no file has this name");
    return unpack(packed);
  }

 private:
  const Files below_;
};

}  // namespace

Result<std::string> unpacked_start(const Files& directory, const std::string& name, size_t count) {
  const FileName plain = directory / name, packed = directory / packed_name(name);
  if (plain.there() || !packed.there()) return first_bytes(plain, count);
  LAPILLI_TRY(const auto file, File::open(packed));
  LAPILLI_TRY(const auto bytes, file.view(0, file.size()));
  const auto start = gunzip_start(bytes, count);
  if (!start) return Error(start.error()).in(packed.path());
  return std::string(reinterpret_cast<const char*>(start->data()), start->size());
}

std::string packed_name(const std::string& name) { return name + std::string(kPacked); }

std::string unpacked_name(const std::string& name) {
  return name.ends_with(kPacked) ? name.substr(0, name.size() - kPacked.size()) : name;
}

std::vector<std::string> unpacked_names(const std::string& directory) {
  auto names = names_in(directory);
  for (std::string& name : names) name = unpacked_name(name);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Files unpacked(const Files& directory) { return {std::make_unique<UnpackedSource>(directory), directory.directory()}; }

}  // namespace lapilli::doors::marian
