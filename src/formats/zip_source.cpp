#include <algorithm>
#include <map>
#include <utility>

#include "base/math.hpp"
#include "formats/inflate.hpp"
#include "formats/zip.hpp"

namespace lapilli {

namespace {

class StoredContent final : public FileContent {
 public:
  StoredContent(File archive, const ZipEntry& entry) : archive_(std::move(archive)), entry_(entry) {}
  [[nodiscard]] uint64_t size() const override { return entry_.bytes; }
  [[nodiscard]] const std::byte* memory() const override {
    return archive_.in_memory() ? archive_.bytes().data() + entry_.offset : nullptr;
  }
  Status read(uint64_t offset, std::span<std::byte> to) override { return archive_.read(entry_.offset + offset, to); }

 private:
  const File archive_;
  const ZipEntry entry_;
};

class PackedContent final : public FileContent {
 public:
  PackedContent(File archive, const ZipEntry& entry) : archive_(std::move(archive)), entry_(entry) {}
  [[nodiscard]] uint64_t size() const override { return entry_.bytes; }
  Status read(uint64_t offset, std::span<std::byte> to) override {
    const uint64_t end = offset + to.size();
    if (end <= kStart && entry_.bytes > kStart && unpacked_.empty()) return read_start(offset, to);
    LAPILLI_CHECK(unpack());
    std::copy_n(unpacked_.begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
    return {};
  }

 private:
  // Content is judged by its first bytes before the rest is unpacked.
  static constexpr uint64_t kStart = uint64_t{1} << 14;

  Status read_start(uint64_t offset, std::span<std::byte> to) {
    if (start_.empty()) {
      LAPILLI_TRY(const auto packed, archive_.view(entry_.offset, entry_.packed));
      LAPILLI_TRY(start_, inflate_start(packed, kStart));
    }
    if (start_.size() < offset + to.size())
      return fail(ErrorCode::invalid_data, "%u bytes come out of it, and it says that it has %u; fetch the file again",
                  start_.size(), entry_.bytes);
    std::copy_n(start_.begin() + static_cast<ptrdiff_t>(offset), to.size(), to.begin());
    return {};
  }
  Status unpack() {
    if (unpacked_.size() == entry_.bytes) return {};
    LAPILLI_TRY(const auto packed, archive_.view(entry_.offset, entry_.packed));
    LAPILLI_TRY(unpacked_, inflate(packed, entry_.bytes, entry_.crc));
    return {};
  }
  const File archive_;
  const ZipEntry entry_;
  std::vector<std::byte> start_, unpacked_;
};

class ZipSource final : public FileSource {
 public:
  ZipSource(File archive, std::map<std::string, ZipEntry> entries)
      : archive_(std::move(archive)), entries_(std::move(entries)) {}
  Result<std::unique_ptr<FileContent>> open(const std::string& name) override {
    const auto entry = entries_.find(name);
    if (entry == entries_.end()) return fail(ErrorCode::not_found, "the archive has no such file");
    if (entry->second.deflated)
      return std::unique_ptr<FileContent>(std::make_unique<PackedContent>(archive_, entry->second));
    return std::unique_ptr<FileContent>(std::make_unique<StoredContent>(archive_, entry->second));
  }

 private:
  const File archive_;
  const std::map<std::string, ZipEntry> entries_;
};

// All members together: each is kept while it is open.
Status check_sizes(const File& archive, const std::vector<ZipEntry>& entries) {
  uint64_t packed = 0, bytes = 0;
  for (const ZipEntry& entry : entries) {
    if (!entry.deflated) continue;
    packed += entry.packed;
    if (!checked_add(bytes, entry.bytes, bytes)) bytes = UINT64_MAX;
  }
  packed = std::min(packed, archive.size());  // members may lie over each other
  if (bytes <= most_unpacked(packed)) return {};
  return fail(ErrorCode::invalid_data,
              "%s: its members would grow from %u bytes to %u, as no model's do; nothing of them is unpacked",
              archive.path(), packed, bytes);
}

}  // namespace

Result<std::unique_ptr<FileSource>> make_zip_source(const File& archive, const std::string& folder) {
  LAPILLI_TRY(const auto entries, read_zip(archive));
  LAPILLI_CHECK(check_sizes(archive, entries));
  std::map<std::string, ZipEntry> files;
  for (const ZipEntry& entry : entries)
    if (entry.name.starts_with(folder) && !entry.name.ends_with('/'))
      files.emplace(entry.name.substr(folder.size()), entry);
  return std::unique_ptr<FileSource>(std::make_unique<ZipSource>(archive, std::move(files)));
}

std::string folder_of_all(const std::vector<ZipEntry>& entries) {
  if (entries.empty()) return {};
  const size_t slash = entries.front().name.find('/');
  if (slash == std::string_view::npos) return {};
  const std::string folder(entries.front().name.substr(0, slash + 1));
  for (const ZipEntry& entry : entries)
    if (!entry.name.starts_with(folder)) return {};
  return folder;
}

}  // namespace lapilli
