// A directory of its own for one test, removed at its end.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace lapilli {

class TempDirectory {
 public:
  TempDirectory() {
    static std::atomic<unsigned> count{0};
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = test ? std::string(test->test_suite_name()) + "." + test->name() : "shared";
    path_ = std::filesystem::temp_directory_path() /
            ("lapilli-" + name + "-" + std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "-" +
             std::to_string(reinterpret_cast<uintptr_t>(this) % 1000000) + "-" + std::to_string(count++));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  [[nodiscard]] std::string path() const { return path_.string(); }
  // Writes a file and gives its path.
  [[nodiscard]] std::string write(const std::string& name, std::string_view content) const {
    const auto file = path_ / name;
    std::filesystem::remove(file);  // some file systems wait for the disk when a file is overwritten
    std::ofstream out(file, std::ios::binary);
    out.write(content.data(), static_cast<std::streamsize>(content.size()));
    EXPECT_TRUE(out.good()) << file;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

inline std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::string model_directory(const std::string& name) {
  return std::string(LAPILLI_TEST_DATA) + "/models/" + name;
}

}  // namespace lapilli
