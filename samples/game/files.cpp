#include "files.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace game {
namespace {

// A path is made of char8_t, since Windows takes other bytes for those of its code page.
std::filesystem::path path_of(const std::string& utf8) { return {std::u8string(utf8.begin(), utf8.end())}; }

[[noreturn]] void failed(const char* what, const std::string& path) {
  throw std::runtime_error(path + " cannot be " + what + ": " + std::strerror(errno));
}

}  // namespace

std::vector<uint8_t> read_file(const std::string& path) {
  errno = 0;
  std::ifstream file(path_of(path), std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || bytes.empty()) failed("read", path);
  return bytes;
}

void write_file(const std::string& path, const void* bytes, size_t count) {
  errno = 0;
  std::ofstream file(path_of(path), std::ios::binary);
  file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
  file.close();
  if (!file) failed("written", path);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path_of(path), error);
  if (error) throw std::runtime_error(path + " cannot be made: " + error.message());
}

bool file_is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path_of(path), error);
}

}  // namespace game
