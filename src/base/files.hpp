// The files of a model by name, wherever they lie: in a directory, in memory, in a range of something that is open, or
// with the host of the library. Everything that loads a model reads through these classes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace lapilli {

// One open file of a FileSource; destroying it closes it.
class FileContent {
 public:
  virtual ~FileContent() = default;
  [[nodiscard]] virtual uint64_t size() const = 0;
  // All of it where it lies in memory, valid as long as this object; a null pointer where it has to be read.
  [[nodiscard]] virtual const std::byte* memory() const { return nullptr; }
  // Fills `to`, which is within size(), or fails.
  virtual Status read(uint64_t offset, std::span<std::byte> to) = 0;
};

// Where files come from if they do not lie in a directory. Asked by one thread at a time.
class FileSource {
 public:
  virtual ~FileSource() = default;
  // not_found: there is none of that name. The names are those of a model's directory ("config.json").
  virtual Result<std::unique_ptr<FileContent>> open(const std::string& name) = 0;
};

// A file by name, which need not be there.
class FileName {
 public:
  FileName(std::string path) : path_(std::move(path)) {}  // NOLINT: implicit on purpose; a file on disk
  FileName(const char* path) : path_(path) {}             // NOLINT

  // How messages name it; on disk also where it lies.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const char* c_str() const { return path_.c_str(); }

  // There is something of that name, which open() then opens or says what is wrong with it.
  [[nodiscard]] bool there() const;

 private:
  friend class File;
  friend class Files;
  struct Host;
  std::string path_;
  std::string name_;            // what the host calls it
  std::shared_ptr<Host> host_;  // null: a file on disk
};

// A file that is open. Copies share it, and it is closed with the last one.
class File {
 public:
  File() = default;  // none

  // Errors name the file.
  static Result<File> open(const FileName& name);

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] uint64_t size() const;
  // All of it lies in memory (mapped, or the host's): bytes() gives it at no cost. Where it does not, they are empty.
  [[nodiscard]] bool in_memory() const;
  [[nodiscard]] std::span<const std::byte> bytes() const;
  // Fills `to` or fails; also if that is beyond the end.
  Status read(uint64_t offset, std::span<std::byte> to) const;
  // What bytes() gave of it is not looked at soon: it leaves memory where it was mapped by us. It may be looked at
  // again.
  void let_go(uint64_t offset, uint64_t bytes) const noexcept;
  // A part as memory that lives as long as the file: of what is in memory, else read and kept. For the small parts of
  // a file that say where the large ones lie.
  [[nodiscard]] Result<std::span<const std::byte>> view(uint64_t offset, uint64_t bytes) const;
  // Error: that many bytes from `offset` on are not there although the size says so, or there is no memory for them.
  [[nodiscard]] Result<std::vector<std::byte>> read_some(uint64_t offset, uint64_t bytes) const;

 private:
  friend struct FileName::Host;
  struct Opened;
  std::shared_ptr<Opened> opened_;
};

// What a model is loaded from. Copies are the same files.
class Files {
 public:
  Files(std::string directory) : label_(directory), directory_(std::move(directory)) {}  // NOLINT: on purpose
  Files(const char* directory) : Files(std::string(directory)) {}                        // NOLINT
  // `directory` names them in messages and may be "". A file is opened once, at its first use, and closed with the last
  // of the copies.
  Files(std::unique_ptr<FileSource> source, std::string directory);

  [[nodiscard]] FileName operator/(std::string_view name) const;
  [[nodiscard]] bool are_there() const;  // the directory is one; always true of a FileSource
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const char* c_str() const { return label_.c_str(); }  // for messages

  // The first failure of a FileSource to open (other than not_found) or to read. Some files serve a purpose that a
  // model can do without, so that what is wrong with them is no error; that they could not be read is one.
  [[nodiscard]] Status failure() const;

 private:
  std::string label_, directory_;
  std::shared_ptr<FileName::Host> host_;  // null: on disk
};

// Reads a text file whole; refuses files above `limit` bytes.
Result<std::string> read_text_file(const FileName& name, size_t limit = size_t{64} << 20);

// A file among others of one source: memory, or a range of what is open.
struct FilePart {
  std::string name;
  const std::byte* memory = nullptr;  // null: the descriptor's
  int64_t descriptor = -1;            // see base/descriptor.hpp
  uint64_t offset = 0;                // of the descriptor's file
  uint64_t bytes = 0;
};
// Errors name the part: a name that comes twice, a descriptor that is not one of a regular file, a range that is not in
// it. Neither memory nor descriptors are owned.
Result<std::unique_ptr<FileSource>> make_file_parts(std::vector<FilePart> parts);

}  // namespace lapilli
