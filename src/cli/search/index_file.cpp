#include "cli/search/index_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "base/counts.hpp"
#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/output_names.hpp"
#include "cli/output.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

class WriterSink : public LineSink {
 public:
  explicit WriterSink(vectors::IndexWriter& writer) : writer_(writer) {}
  int add(size_t, std::span<const float> vector) override { return count(writer_.add(vector)); }
  int fail(size_t, const std::string& why) override { return count(writer_.fail(why)); }
  [[nodiscard]] uint64_t done() const { return done_; }

 private:
  int count(bool written) {
    ++done_;
    return written ? exit_ok : exit_output;
  }
  vectors::IndexWriter& writer_;
  uint64_t done_ = 0;
};

bool same_lines(const vectors::LineIndex& index, const SearchedLines& lines) {
  return std::equal(index.lines().begin(), index.lines().end(), lines.fingerprints().begin(),
                    lines.fingerprints().end());
}

// The same name from wherever the program runs.
std::string whole_name(const std::string& name) { return path_in(real_folder(name), last_part(name)); }

}  // namespace

std::string index_path(const TextArguments& arguments, const SearchedLines& lines, const std::string& model) {
  if (!arguments.search.index.empty()) return arguments.search.index;
  const bool forbidden = arguments.no_cache || !environment("LAPILLI_NO_CACHE").empty();
  const std::string caches = cache_directory();
  if (forbidden || caches.empty() || !lines.are_files()) return "";
  std::string names = whole_name(model) + '\0' + arguments.files.field + '\0' + arguments.files.column + '\0';
  for (const std::string& file : arguments.search.files) names += whole_name(file) + '\0';
  return caches + "/vectors/" + vectors::fingerprint_of(names).hex();
}

std::optional<vectors::LineIndex> IndexFile::open(const vectors::IndexAbout& about) {
  return vectors::LineIndex::open(path_, about, why_);
}

std::optional<vectors::LineIndex> IndexFile::get(const vectors::IndexAbout& about, const SearchedLines& lines,
                                                 LineVectors& vectors, int& code) {
  code = exit_ok;
  if (auto index = open(about); index && same_lines(*index, lines)) return index;
  if (!named_) make_directories(folder_of(path_));
  const auto lock = hold();
  if (interrupted()) return {};
  if (!lock) return code = cannot_write(), std::nullopt;
  // Meanwhile another process may have made it.
  old_ = open(about);
  if (old_ && same_lines(*old_, lines)) return old_;
  if (!why_.empty() && !context_.quiet) complain(exit_ok, path_ + ": " + why_ + ": the vectors are made anew");
  if (code = make(about, lines, vectors); code != exit_ok || interrupted()) return {};
  auto made = open(about);
  if (!made) code = complain(exit_output, path_ + ": the file of vectors cannot be read again: " + why_);
  return made;
}

// Null: nobody can hold it, and errno says why, or the program was interrupted.
std::shared_ptr<void> IndexFile::hold() const {
  for (bool told = false; !interrupted(); told = true) {
    if (auto held = vectors::hold_index(path_)) return held;
    if (errno != EWOULDBLOCK) return nullptr;
    if (!told && !context_.quiet) complain(exit_ok, "another process makes these vectors; waiting for it");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return nullptr;
}

int IndexFile::cannot_write() const {
  const std::string why = path_ + ": " + std::strerror(errno);
  if (named_) return complain(exit_output, why);
  if (!context_.quiet) complain(exit_ok, "note: " + why + ": the vectors are not kept");
  return exit_ok;
}

int IndexFile::make(const vectors::IndexAbout& about, const SearchedLines& lines, LineVectors& vectors) {
  const auto writer = vectors::IndexWriter::begin(path_, about, lines.fingerprints());
  if (!writer) return complain(exit_output, path_ + ": " + std::strerror(errno));
  WriterSink sink(*writer);
  const int code = vectors.make(old_ ? &*old_ : nullptr, sink);
  const uint64_t before = old_ ? old_->lines().size() : 0;
  old_.reset();  // some systems replace no file that is mapped
  if (code == exit_output) return complain(exit_output, path_ + ": " + std::strerror(errno));
  if (code != exit_ok) return code;
  if (context_.verbose && !interrupted())
    complain(exit_ok, path_ + ": " + grouped(vectors.made()) + " of " + grouped(lines.size()) + " lines are new");
  if (sink.done() < lines.size() && sink.done() <= before) return exit_ok;  // interrupted, and that file has more
  return finish(*writer, sink.done(), lines.size());
}

// After an interruption the next run goes on.
int IndexFile::finish(vectors::IndexWriter& writer, uint64_t done, uint64_t all) const {
  if (!writer.finish()) return complain(exit_output, path_ + ": " + std::strerror(errno));
  if (done < all && !context_.quiet)
    complain(exit_ok, "vectors of " + grouped(done) + " of " + grouped(all) +
                          " lines are kept; the same search goes on from there");
  return exit_ok;
}

}  // namespace lapilli::cli
