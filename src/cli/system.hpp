// What differs between operating systems: arguments, terminals, files, signals. Paths and arguments are UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lapilli::cli {

// The arguments without the program's name.
std::vector<std::string> utf8_arguments(int argc, char** argv);

// A reader that goes away shows as an error of the write instead of a signal; a standard stream that is closed stays an
// error, whatever is opened; Windows consoles take UTF-8.
void prepare_streams();

// Writes some of `bytes` (at least 1): how many, or -1 with errno (EINTR if a signal came). Waits where the descriptor
// does not wait by itself.
long write_some(int fd, const char* from, size_t bytes);

// 0, or errno: on the disk, so that a name that leads to the file leads to all of it.
int sync_file(int fd);
void close_file(int fd);

bool is_terminal(int fd);
// Columns of the terminal on stderr; 80 if unknown.
int terminal_columns();

// Somebody may be showing what this program prints on the terminal that its messages go to: stdout is a pipe, and a
// program that reads from one and writes to the terminal (a pager, tee) belongs to the same job of the shell. Where
// that cannot be found out, every pipe may be such.
bool output_may_be_shown();

// Something that can be read line by line is there: a file, a pipe, a device; not a directory.
bool is_readable_file(const std::string& path);
// It comes through a pipe: standard input ("-"), or what a name leads to that is neither a file nor a folder.
bool is_pipe(const std::string& name);
// 0 if it can be opened, else errno. Opens no pipe: its writer would see the reader go away.
int check_input(const std::string& path);

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
  // The next read does not wait. False where nobody knows.
  [[nodiscard]] bool ready() const;

 private:
  InputFile(int fd, bool owned);
  int fd_ = -1;
  bool owned_ = false, regular_ = false;
  uint64_t size_ = 0;
};

// A text file of at most 16 MiB, without a byte order mark, into `text`: 0, or errno.
int read_whole(const std::string& path, std::string& text);

// From now on SIGINT and SIGTERM set a flag instead of ending the program; the second one ends it at once. One that was
// ignored when the program was started (nohup, a shell's &) stays ignored.
void catch_interrupts();
// The signal that came, or 0.
int interrupted();

}  // namespace lapilli::cli
