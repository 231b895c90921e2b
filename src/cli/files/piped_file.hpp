// A pipe's bytes as a file, for readers that go back and forth.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace lapilli::cli {

// Without a name of its own, and gone with this object.
class PipedFile {
 public:
  // Reads to its end what comes through a pipe, or standard input ("-"): at most so many bytes. Else a message.
  std::string take(const std::string& pipe, uint64_t most);
  // By which it can be opened in this process.
  [[nodiscard]] std::string path() const;

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace lapilli::cli
