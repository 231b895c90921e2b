// Wraps the differences between operating systems: arguments, terminals, files, signals. Paths and arguments are UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lapilli::cli {

// The arguments without the program's name.
std::vector<std::string> utf8_arguments(int argc, char** argv);

// Turns a reader that goes away into a write error instead of a signal; keeps uses of a closed standard stream failing,
// whatever is opened; sets Windows consoles to UTF-8.
void prepare_streams();

// Writes some of `bytes` (at least 1): gives how many, or -1 with errno (EINTR after a signal). Waits if the descriptor
// is non-blocking.
long write_some(int fd, const char* from, size_t bytes);

// Gives 0, or errno. Puts the content on the disk, so that a name given to the file leads to all of it.
int sync_file(int fd);
void close_file(int fd);

bool is_terminal(int fd);
// Columns of the terminal on stderr; 80 if unknown.
int terminal_columns();

// True if another program may show this program's output on the terminal of its messages: stdout is a pipe, and a
// program that reads from one and writes to the terminal (a pager, tee) is in the same shell job. Where that cannot be
// determined, true for all pipes; on Windows always false.
bool output_may_be_shown();

// True for anything that can be read line by line: a file, a pipe, a device; not a directory.
bool is_readable_file(const std::string& path);
// True for standard input ("-") and for names of anything but a file or a folder.
bool is_pipe(const std::string& name);
// Gives 0 if it can be opened, else errno. Opens no pipe: its writer would see the reader go away.
int check_input(const std::string& path);

// A file descriptor that is closed on destruction, unless it is standard input.
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
  // Gives the bytes read, 0 at the end, -1 with errno (EINTR after a signal).
  long read(char* to, size_t bytes);
  // The next read begins at this byte of a regular file. On failure errno says why.
  bool seek(uint64_t byte);
  // True if the next read does not block. False if unknown.
  [[nodiscard]] bool ready() const;

 private:
  InputFile(int fd, bool owned);
  int fd_ = -1;
  bool owned_ = false, regular_ = false;
  uint64_t size_ = 0;
};

// Reads a text file of at most 16 MiB into `text`, without a byte order mark. Gives 0, or errno.
int read_whole(const std::string& path, std::string& text);

// Makes SIGINT and SIGTERM set a flag instead of ending the program; the second one ends it at once. A signal that was
// ignored when the program started (nohup, a shell's &) stays ignored.
void catch_interrupts();
// The signal that came, or 0.
int interrupted();

}  // namespace lapilli::cli
