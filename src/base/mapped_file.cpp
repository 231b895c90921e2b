#include "base/mapped_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#if !defined(_WIN32)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

namespace lapilli {

namespace fs = std::filesystem;

struct MappedFile::Mapping {
  std::string path;
  const std::byte* data = nullptr;
  size_t size = 0;
  std::vector<std::byte> owned;  // where there is no mmap
  bool mapped = false;

  ~Mapping() {
#if !defined(_WIN32)
    if (mapped) ::munmap(const_cast<std::byte*>(data), size);
#endif
  }
};

std::span<const std::byte> MappedFile::bytes() const { return {mapping_->data, mapping_->size}; }
const std::string& MappedFile::path() const { return mapping_->path; }

#if !defined(_WIN32)
Result<MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(ErrorCode::not_found, "cannot open %s: %s", path.c_str(), std::strerror(errno));
  struct stat st {};
  if (::fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    ::close(fd);
    return fail(ErrorCode::not_found, "%s is not a regular file", path.c_str());
  }
  auto m = std::make_shared<Mapping>();
  m->path = path;
  m->size = static_cast<size_t>(st.st_size);
  if (m->size > 0) {
    void* p = ::mmap(nullptr, m->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
      const int e = errno;
      ::close(fd);
      return fail(ErrorCode::out_of_memory, "cannot map %s: %s", path.c_str(), std::strerror(e));
    }
    m->data = static_cast<const std::byte*>(p);
    m->mapped = true;
  }
  ::close(fd);
  MappedFile f;
  f.mapping_ = std::move(m);
  return f;
}
#else
Result<MappedFile> MappedFile::open(const std::string& path) {
  std::ifstream in(fs::u8path(path), std::ios::binary | std::ios::ate);
  if (!in) return fail(ErrorCode::not_found, "cannot open %s", path.c_str());
  auto m = std::make_shared<Mapping>();
  m->path = path;
  m->owned.resize(static_cast<size_t>(in.tellg()));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(m->owned.data()), static_cast<std::streamsize>(m->owned.size()));
  if (!in) return fail(ErrorCode::not_found, "cannot read %s", path.c_str());
  m->data = m->owned.data();
  m->size = m->owned.size();
  MappedFile f;
  f.mapping_ = std::move(m);
  return f;
}
#endif

Result<std::string> read_text_file(const std::string& path, size_t limit) {
  LAPILLI_TRY(auto file, MappedFile::open(path));
  const auto bytes = file.bytes();
  if (bytes.size() > limit)
    return fail(ErrorCode::invalid_data, "%s has %zu bytes, more than the %zu expected of such a file", path.c_str(),
                bytes.size(), limit);
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

bool file_exists(const std::string& path) {
  std::error_code e;
  return fs::is_regular_file(fs::path(path), e);
}

bool directory_exists(const std::string& path) {
  std::error_code e;
  return fs::is_directory(fs::path(path), e);
}

}  // namespace lapilli
