// What differs between operating systems: arguments, terminals, files, signals. Paths and arguments are UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lapilli::cli {

// The arguments without the program's name.
std::vector<std::string> utf8_arguments(int argc, char** argv);

// A reader that goes away shows as an error of the write instead of a signal; Windows consoles take UTF-8.
void prepare_streams();

bool is_terminal(int fd);
// Columns of the terminal on stderr; 80 if unknown.
int terminal_columns();

// Something that can be read line by line is there: a file, a pipe, a device; not a directory.
bool is_readable_file(const std::string& path);

// A file descriptor that closes itself, unless it is standard input.
class InputFile {
 public:
  static InputFile standard_input();
  // On failure ok() is false and errno says why.
  static InputFile open(const std::string& path);
  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&&) = delete;
  ~InputFile();
  [[nodiscard]] bool ok() const { return fd_ >= 0; }
  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool regular() const { return regular_; }
  [[nodiscard]] uint64_t size() const { return size_; }  // of a regular file
  // Bytes read, 0 at the end, -1 with errno (EINTR if a signal came).
  long read(char* to, size_t bytes);

 private:
  InputFile(int fd, bool owned);
  int fd_ = -1;
  bool owned_ = false, regular_ = false;
  uint64_t size_ = 0;
};

// From now on SIGINT and SIGTERM set a flag instead of ending the program; the second one ends it at once.
void catch_interrupts();
// The signal that came, or 0.
int interrupted();

}  // namespace lapilli::cli
