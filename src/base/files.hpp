// The files of a model by name, wherever they are: in a directory, in memory, in a range of an open file, or with the
// library's host. Everything that loads a model reads through these classes.
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
  // The whole content if it is in memory, valid as long as this object; null if it has to be read.
  [[nodiscard]] virtual const std::byte* memory() const { return nullptr; }
  // Fills `to`, which is within size(), or fails.
  virtual Status read(uint64_t offset, std::span<std::byte> to) = 0;
};

// Source of files that are not in a directory. Called by one thread at a time.
class FileSource {
 public:
  virtual ~FileSource() = default;
  // not_found: no file has that name. Names are those of a model's directory ("config.json").
  virtual Result<std::unique_ptr<FileContent>> open(const std::string& name) = 0;
};

// A file by name, which need not exist.
class FileName {
 public:
  FileName(std::string path) : path_(std::move(path)) {}  // NOLINT: implicit on purpose; a file on disk
  FileName(const char* path) : path_(path) {}             // NOLINT

  // The name used in messages; for a file on disk also its path.
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const char* c_str() const { return path_.c_str(); }

  // True if something has that name; open() opens it or says what is wrong with it.
  [[nodiscard]] bool there() const;

 private:
  friend class File;
  friend class Files;
  struct Host;
  std::string path_;
  std::string name_;            // the host's name for it
  std::shared_ptr<Host> host_;  // null: a file on disk
};

// An open file. Copies share it; the last one closes it.
class File {
 public:
  File() = default;  // none

  // Errors name the file.
  static Result<File> open(const FileName& name);

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] uint64_t size() const;
  // True if all of it is in memory (mapped, or the host's), so that bytes() costs nothing; otherwise bytes() is empty.
  [[nodiscard]] bool in_memory() const;
  [[nodiscard]] std::span<const std::byte> bytes() const;
  // Fills `to`, or fails; a range beyond the end fails, too.
  Status read(uint64_t offset, std::span<std::byte> to) const;
  // Hint that this part of bytes() is not needed soon: drops its pages if we mapped the file. It may still be read
  // again.
  void let_go(uint64_t offset, uint64_t bytes) const noexcept;
  // A part as memory that lives as long as the file: a view if the file is in memory, otherwise read and kept. For the
  // small parts of a file that say where the large ones are.
  [[nodiscard]] Result<std::span<const std::byte>> view(uint64_t offset, uint64_t bytes) const;
  // Fails if that many bytes from `offset` on are missing although the size says otherwise, or if memory runs out.
  [[nodiscard]] Result<std::vector<std::byte>> read_some(uint64_t offset, uint64_t bytes) const;

 private:
  friend struct FileName::Host;
  struct Opened;
  std::shared_ptr<Opened> opened_;
};

// The files that a model is loaded from. Copies refer to the same files.
class Files {
 public:
  Files(std::string directory) : label_(directory), directory_(std::move(directory)) {}  // NOLINT: on purpose
  Files(const char* directory) : Files(std::string(directory)) {}                        // NOLINT
  // `directory` names them in messages and may be "". A file is opened at its first use, once, and closed with the last
  // copy.
  Files(std::unique_ptr<FileSource> source, std::string directory);

  [[nodiscard]] FileName operator/(std::string_view name) const;
  // The same files, whose names lie in a folder ("1_Pooling"); an empty one is the directory itself.
  [[nodiscard]] Files below(const std::string& folder) const;
  [[nodiscard]] bool are_there() const;                  // true if the directory exists; always for a FileSource
  [[nodiscard]] bool on_disk() const { return !host_; }  // else directory() is a name for messages alone
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const char* c_str() const { return label_.c_str(); }  // for messages

  // The first failure of a FileSource to open (other than not_found) or to read. A model can do without some files, so
  // that wrong content in them is no error; failing to read them is.
  [[nodiscard]] Status failure() const;

 private:
  std::string label_, directory_;
  std::string folder_;                    // before the host's names; "" or "1_Pooling/"
  std::shared_ptr<FileName::Host> host_;  // null: on disk
};

// Reads a text file whole; refuses files above `limit` bytes.
Result<std::string> read_text_file(const FileName& name, size_t limit = size_t{64} << 20);

// One of several files of a source: memory, or a range of an open file.
struct FilePart {
  std::string name;
  const std::byte* memory = nullptr;  // null: in the descriptor's file
  int64_t descriptor = -1;            // see base/descriptor.hpp
  uint64_t offset = 0;                // in the descriptor's file
  uint64_t bytes = 0;
};
// Errors name the part: a duplicate name, a descriptor of no regular file, a range outside it. Memory and descriptors
// are not owned.
Result<std::unique_ptr<FileSource>> make_file_parts(std::vector<FilePart> parts);

}  // namespace lapilli
