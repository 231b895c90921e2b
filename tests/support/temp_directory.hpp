// A directory of its own for a test, which goes away with its content.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

namespace lapilli {

// A name in UTF-8, as everywhere in Lapilli; what takes strings instead takes the system's code page.
inline std::filesystem::path named(const std::string& utf8) { return std::u8string(utf8.begin(), utf8.end()); }

// Removes a file. Its name is free at once, also where a file that is mapped stays until it is not (Windows): it has
// another name until then.
inline void remove_even_mapped(const std::filesystem::path& file) {
  static std::atomic<int> count{0};
  std::error_code ignored;
  const std::filesystem::path gone = file.parent_path() / ("removed-" + std::to_string(++count));
  std::filesystem::rename(file, gone, ignored);
  std::filesystem::remove(gone, ignored);
}

class TempDirectory {
 public:
  TempDirectory() {
    std::random_device random;
    std::error_code error;
    for (int attempts = 100; attempts > 0 && path_.empty(); --attempts) {
      const auto name = std::filesystem::temp_directory_path() / ("lapilli-test-" + std::to_string(random()));
      if (std::filesystem::create_directory(name, error)) path_ = name.generic_string();
    }
    EXPECT_FALSE(path_.empty()) << std::filesystem::temp_directory_path() << ": " << error.message();
    // Without one, whatever the test writes fails where nothing is.
    if (path_.empty()) path_ = "/nonexistent";
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Writes a file and gives its path.
  std::string write(const std::string& name, std::string_view content) const {
    const std::string file = path_ + "/" + name;
    remove(name);  // some file systems wait for the disk when a file is overwritten; an earlier one may be mapped
    std::ofstream out(named(file), std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    EXPECT_TRUE(out.good()) << file;
    return file;
  }
  // Everything in another directory, which may be read-only.
  void copy_from(const std::string& directory) const {
    std::filesystem::copy(directory, path_,
                          std::filesystem::copy_options::overwrite_existing | std::filesystem::copy_options::recursive);
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_all);
  }
  void remove(const std::string& name) const { remove_even_mapped(named(path_ + "/" + name)); }

 private:
  std::string path_;
};

// A file's bytes.
inline std::string read_file(const std::string& path) {
  std::ifstream in(named(path), std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::ostringstream bytes;  // iterators take a second for a model without optimization
  bytes << in.rdbuf();
  return bytes.str();
}

inline std::string model_directory(const std::string& name) {
  return std::string(LAPILLI_TEST_DATA) + "/models/" + name;
}

}  // namespace lapilli
