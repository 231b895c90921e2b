// A directory that goes away with the test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

namespace lapilli {

class TempDirectory {
 public:
  TempDirectory() {
    std::random_device random;
    path_ = (std::filesystem::path(testing::TempDir()) /
             ("lapilli_text_" + std::to_string(random()) + "_" + std::to_string(random())))
                .string();
    std::filesystem::create_directories(path_);
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  std::string write(const std::string& name, std::string_view content) const {
    const std::string file = path_ + "/" + name;
    std::ofstream(file, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
    return file;
  }
  void copy_from(const std::string& directory) const {
    std::filesystem::copy(directory, path_,
                          std::filesystem::copy_options::overwrite_existing | std::filesystem::copy_options::recursive);
    // The originals may be read-only.
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      std::filesystem::permissions(entry.path(), std::filesystem::perms::owner_all);
  }
  void remove(const std::string& name) const { std::filesystem::remove(path_ + "/" + name); }

 private:
  std::string path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace lapilli
