#include "documents/apps/notes.hpp"

#include <algorithm>

namespace lapilli::documents {

namespace {

constexpr size_t kMostNotes = 20, kMostLines = 5;

}  // namespace

size_t Notes::line(size_t at) {
  if (at < at_) at_ = 0, line_ = 1;
  const auto from = bytes_.begin() + static_cast<ptrdiff_t>(at_);
  line_ += static_cast<size_t>(std::count(from, bytes_.begin() + static_cast<ptrdiff_t>(at), '\n'));
  at_ = at;
  return line_;
}

void Notes::add(size_t at, std::string_view sentence) {
  auto note = std::find_if(notes_.begin(), notes_.end(), [&](const Note& n) { return n.sentence == sentence; });
  if (note == notes_.end()) {
    if (notes_.size() == kMostNotes) return void(++unsaid_);
    note = notes_.insert(notes_.end(), {std::string(sentence), {}, 0});
  }
  if (note->lines.size() == kMostLines) return void(++note->others);
  note->lines.push_back(line(at));
}

void SeenKeys::add(std::string_view key, size_t at, Notes& notes) {
  if (!keys_.emplace(key).second) notes.add(at, "a key occurs twice; all of its texts are translated");
}

std::vector<std::string> Notes::sentences() const {
  std::vector<std::string> all;
  for (const Note& note : notes_) {
    std::string text = note.lines.size() > 1 ? "lines " : "line ";
    for (size_t i = 0; i < note.lines.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(note.lines[i]);
    if (note.others > 0) text += " and " + std::to_string(note.others) + " others";
    all.push_back(text + ": " + note.sentence);
  }
  if (unsaid_ > 0) all.push_back(std::to_string(unsaid_) + " more such places are not listed");
  return all;
}

}  // namespace lapilli::documents
