#include "cli/files/text_input.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "cli/files/foreign_files.hpp"

namespace lapilli::cli {

namespace {

constexpr size_t kPackedBytes = size_t{1} << 16;

// A terminal's first line need not have as many bytes as tell a packed file.
bool may_be_packed(std::string_view begun) {
  constexpr std::string_view kMagics[] = {"\x1f\x8b", "\x28\xb5\x2f\xfd"};
  return std::any_of(std::begin(kMagics), std::end(kMagics),
                     [&](std::string_view magic) { return begun.size() < magic.size() && magic.starts_with(begun); });
}

}  // namespace

// Reads more of the file; false: `code` is that of InputFile::read.
bool TextInput::fill(long& code) {
  const size_t before = packed_.size();
  packed_.resize(before + kPackedBytes);
  code = file_.read(packed_.data() + before, kPackedBytes);
  packed_.resize(before + static_cast<size_t>(std::max(code, 0L)));
  at_end_ = code == 0;
  return code > 0;
}

// A pipe has nothing yet.
TextInput::TextInput(InputFile file) : file_(std::move(file)) {
  long code = 0;
  if (file_.ok() && file_.regular()) (void)look(code);
}

// Finds out if the file is packed; false: not yet, or never.
bool TextInput::look(long& code) {
  while (!at_end_ && may_be_packed(packed_))
    if (!fill(code) && code < 0) return false;
  looked_ = true;
  if (shards::is_packed(packed_)) unpacker_ = shards::unpacker_for(packed_, wrong_);
  code = 0;
  return wrong_.empty();
}

// Goes to the first byte that is kept, where the file is no packed one.
bool TextInput::begin(long& code) {
  if (unpacker_ || at_ >= begin_) return true;
  packed_.clear();
  code = file_.seek(begin_) ? 0 : -1;
  at_ = begin_;
  return code == 0;
}

long TextInput::read(char* to, size_t bytes) {
  long code = 0;
  if ((!looked_ && !look(code)) || !begin(code)) return code;
  while (at_ < end_ && wrong_.empty()) {
    const uint64_t until = at_ < begin_ ? begin_ : end_;
    const long got = some(to, static_cast<size_t>(std::min<uint64_t>(bytes, until - at_)));
    if (got <= 0) return got;
    const bool kept = at_ >= begin_;
    at_ += static_cast<uint64_t>(got);
    if (kept) return got;
  }
  return 0;
}

long TextInput::some(char* to, size_t bytes) {
  if (unpacker_) return unpacked(to, bytes);
  if (packed_.empty()) return at_end_ ? 0 : file_.read(to, bytes);
  const size_t used = packed_.copy(to, bytes);
  packed_.erase(0, used);
  return static_cast<long>(used);
}

long TextInput::unpacked(char* to, size_t bytes) {
  while (true) {
    std::string_view rest = packed_;
    const size_t made = unpacker_->unpack(rest, to, bytes);
    packed_.erase(0, packed_.size() - rest.size());
    wrong_ = unpacker_->wrong();
    if (made > 0 || !wrong_.empty()) return static_cast<long>(made);
    long code = 0;
    if (!at_end_ && !fill(code) && code < 0) return code;
    if (!at_end_) continue;
    if (!unpacker_->may_end()) wrong_ = "it is packed, and cut off: its end is missing";
    return 0;
  }
}

uint64_t TextInput::size() const {
  if (unpacker_) return 0;
  const uint64_t end = std::min(end_, file_.size());
  return end - std::min(begin_, end);
}

std::string text_head_of(const std::string& file) {
  TextInput input(InputFile::open(file));
  std::string head(kTellingBytes, '\0');
  size_t size = 0;
  while (input.ok() && size < head.size()) {
    const long got = input.read(head.data() + size, head.size() - size);
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  head.resize(size);
  return head;
}

}  // namespace lapilli::cli
