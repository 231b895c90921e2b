#include "base/mapped_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "base/path.hpp"

#if defined(_WIN32)
#include <io.h>
#ifndef NOMINMAX
#define NOMINMAX
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace lapilli {

struct MappedFile::Mapping {
  std::string path;
  const std::byte* data = nullptr;
  size_t size = 0;

  ~Mapping() {
    if (!data) return;
#if defined(_WIN32)
    UnmapViewOfFile(data);
#else
    ::munmap(const_cast<std::byte*>(data), size);
#endif
  }
};

std::span<const std::byte> MappedFile::bytes() const { return {mapping_->data, mapping_->size}; }
const std::string& MappedFile::path() const { return mapping_->path; }

// Windows has no such call; it trims mapped pages by itself when memory is short.
void MappedFile::let_go([[maybe_unused]] size_t offset, [[maybe_unused]] size_t bytes) const noexcept {
#if !defined(_WIN32)
  if (!mapping_->data) return;
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t begin = (offset + page - 1) / page * page, end = (offset + bytes) / page * page;
  if (begin >= end) return;
  // The mapping is read-only; if madvise fails, nothing changes.
  (void)::madvise(const_cast<std::byte*>(mapping_->data) + begin, end - begin, MADV_DONTNEED);
#endif
}

namespace {

// Checked before opening: opening a pipe would wait for its writer.
Status check_kind(const std::string& path) {
  switch (file_kind(path)) {
    case FileKind::regular: return {};
    case FileKind::directory: return fail(ErrorCode::not_found, "%s is a directory, not a file", path);
    case FileKind::other: return fail(ErrorCode::not_found, "%s is a pipe or a device, not a regular file", path);
    case FileKind::none: break;
  }
  const int error = errno;
  const std::string target = link_target(path);
  if (!target.empty())
    return fail(ErrorCode::not_found, "%s is a link to %s, which is not there; get the file again, or mend the link",
                path, target);
  return fail(ErrorCode::not_found, "cannot open %s: %s", path, std::strerror(error));
}

// With 32-bit addresses a file can be larger than the address space.
Status check_size(const std::string& path, uint64_t bytes) {
  if (bytes <= std::numeric_limits<size_t>::max() / 2) return {};
  return fail(ErrorCode::out_of_memory,
              "%s has %u bytes, more than a 32-bit program can map; use a 64-bit build, or give the model's files as "
              "descriptors or functions, which are read in parts",
              path, bytes);
}

// Refuses the pointer file that Git leaves in place of a large file that was not fetched.
Status check_content(const std::string& path, std::span<const std::byte> bytes) {
  constexpr std::string_view kPointer = "version https://git-lfs";
  if (bytes.size() < kPointer.size() || std::memcmp(bytes.data(), kPointer.data(), kPointer.size()) != 0) return {};
  return fail(ErrorCode::invalid_data,
              "%s is a Git LFS pointer, not the file itself; run `git lfs pull` in its directory", path);
}

}  // namespace

#if !defined(_WIN32)
Result<MappedFile> MappedFile::open(const std::string& path) {
  LAPILLI_CHECK(check_kind(path));
  const int fd = open_to_read(path);
  if (fd < 0) return fail(ErrorCode::not_found, "cannot open %s: %s", path, std::strerror(errno));
  struct stat st {};
  if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    ::close(fd);
    return fail(ErrorCode::not_found, "%s is not a regular file", path);
  }
  if (auto fits = check_size(path, static_cast<uint64_t>(st.st_size)); !fits) {
    ::close(fd);
    return std::move(fits).failure();
  }
  auto m = std::make_shared<Mapping>();
  m->path = path;
  m->size = static_cast<size_t>(st.st_size);
  if (m->size > 0) {
    void* p = ::mmap(nullptr, m->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
      const int e = errno;
      ::close(fd);
      return fail(ErrorCode::out_of_memory, "cannot map %s: %s", path, std::strerror(e));
    }
    m->data = static_cast<const std::byte*>(p);
  }
  ::close(fd);
  MappedFile f;
  f.mapping_ = std::move(m);
  LAPILLI_CHECK(check_content(path, f.bytes()));
  return f;
}
#else
namespace {

// The view keeps the file open. Null if mapping fails; GetLastError() then says why.
const std::byte* map_whole(int descriptor) {
  const auto file = reinterpret_cast<HANDLE>(_get_osfhandle(descriptor));
  const HANDLE mapping = CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
  if (!mapping) return nullptr;
  const void* const view = MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
  const DWORD problem = GetLastError();
  CloseHandle(mapping);
  SetLastError(problem);
  return static_cast<const std::byte*>(view);
}

struct Closing {
  int descriptor;
  ~Closing() { _close(descriptor); }
};

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  LAPILLI_CHECK(check_kind(path));
  const int descriptor = open_to_read(path);
  if (descriptor < 0) return fail(ErrorCode::not_found, "cannot open %s: %s", path, std::strerror(errno));
  const Closing closing{descriptor};
  const int64_t bytes = _filelengthi64(descriptor);
  if (bytes < 0) return fail(ErrorCode::not_found, "cannot read %s: %s", path, std::strerror(errno));
  LAPILLI_CHECK(check_size(path, static_cast<uint64_t>(bytes)));
  auto m = std::make_shared<Mapping>();
  m->path = path;
  m->size = static_cast<size_t>(bytes);
  if (m->size > 0 && !(m->data = map_whole(descriptor)))
    return fail(ErrorCode::out_of_memory, "cannot map %s: error %u of the system", path, GetLastError());
  MappedFile f;
  f.mapping_ = std::move(m);
  LAPILLI_CHECK(check_content(path, f.bytes()));
  return f;
}
#endif

}  // namespace lapilli
