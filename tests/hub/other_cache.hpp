// A model in the cache of other programs for the hub, as they lay it out: files are links to blobs.
#pragma once

#include <filesystem>
#include <string>

#include "hub/fake_hub.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::test {

class OtherCache {
 public:
  OtherCache(const std::string& cache, const std::string& owner, const std::string& name)
      : folder_(cache + "/models--" + owner + "--" + name) {
    for (const char* place : {"blobs", "refs"}) std::filesystem::create_directories(folder_ + "/" + place);
    std::filesystem::create_directories(snapshot());
    refer("main", kCommit);
  }
  [[nodiscard]] std::string snapshot() const { return folder_ + "/snapshots/" + kCommit; }

  void add(const std::string& file, const std::string& content) const {
    write(blob(file), content);
    link(file);
  }
  void copy(const std::string& file, const std::string& from) const {
    std::filesystem::copy_file(from + "/" + file, blob(file));
    link(file);
  }
  void remove(const std::string& file) const { std::filesystem::remove(snapshot() + "/" + file); }
  void remove_blob(const std::string& file) const { std::filesystem::remove(blob(file)); }
  // A download that goes on, or was interrupted.
  void begin(const std::string& file) const { write(blob(file) + ".incomplete", "part"); }
  void refer(const std::string& revision, const std::string& commit) const {
    const std::filesystem::path path = folder_ + "/refs/" + revision;
    std::filesystem::create_directories(path.parent_path());
    write(path.string(), commit);
  }

 private:
  void link(const std::string& file) const {
    const std::filesystem::path link = snapshot() + "/" + file;
    std::filesystem::create_directories(link.parent_path());
    const std::string up = file.find('/') == std::string::npos ? "../../" : "../../../";
    std::filesystem::create_symlink(up + "blobs/" + git_blob_of(file), link);
  }
  [[nodiscard]] std::string blob(const std::string& file) const { return folder_ + "/blobs/" + git_blob_of(file); }
  static void write(const std::string& path, const std::string& content) {
    std::ofstream out(path, std::ios::binary);
    out << content;
    EXPECT_TRUE(out.good()) << path;
  }
  std::string folder_;
};

}  // namespace lapilli::test
