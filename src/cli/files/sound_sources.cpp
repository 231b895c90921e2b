#include "cli/files/sound_sources.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "base/path.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/folder_files.hpp"
#include "cli/files/output_names.hpp"
#include "cli/output.hpp"
#include "recordings/ffmpeg.hpp"
#include "recordings/sound_endings.hpp"

namespace lapilli::cli {

namespace {

bool ends_with_one_of(const std::string& name, std::span<const std::string_view> endings) {
  std::string ending(extension(name));
  if (ending.empty()) return false;
  ending.erase(0, 1);
  for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

// "talks: 4 files left out (why): a.txt, b.txt, c.txt ..."; "" if there are none.
std::string left_out(const std::string& folder, const std::vector<std::string>& names, const char* why) {
  constexpr size_t kNamed = 3;
  if (names.empty()) return "";
  std::string text = folder + ": " + std::to_string(names.size()) + (names.size() == 1 ? " file" : " files") +
                     " left out (" + why + "): ";
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) text += (i > 0 ? ", " : "") + in_one_field(names[i]);
  return text + (names.size() > kNamed ? " ..." : "");
}

class RecordingFinder {
 public:
  RecordingFinder(const SoundFiles& files, std::vector<SoundSource>& sources, std::vector<std::string>& notes)
      : files_(files), sources_(sources), notes_(notes) {}

  int find() {
    for (const std::string& input : files_.inputs) {
      const int code = input != "-" && directory_exists(input)
                           ? add_folder(input)
                           : add(input, input == "-" ? "recording" : std::string(last_part(input)));
      if (code != exit_ok) return code;
    }
    return files_.one_each() ? check_targets() : int{exit_ok};
  }

 private:
  int add_folder(const std::string& folder) {
    if (files_.raw)
      return complain(exit_usage,
                      folder + " is a folder, and with --raw no ending says what is a recording: name files");
    if (!files_.one_each())
      return complain(exit_usage, folder +
                                      " is a folder: its recordings are written to files of their own, which "
                                      "-o FOLDER/ or --suffix names");
    std::vector<FolderFile> found;
    if (const int code = files_below(folder, files_.output, found)) return code;
    std::vector<std::string> unread, other;
    const size_t before = sources_.size();
    const auto read_here =
        recordings::has_ffmpeg() ? recordings::endings_of_sound() : recordings::endings_that_are_read();
    for (const FolderFile& file : found) {
      if (file.left_out) continue;
      if (ends_with_one_of(file.path, read_here))
        add(file.path, file.below);
      else
        (ends_with_one_of(file.path, recordings::endings_of_sound()) ? unread : other).push_back(file.below);
    }
    note(left_out(folder, unread,
                  "only ffmpeg reads them, which is not installed here: install it, or make WAV files elsewhere"));
    note(left_out(folder, other, "no recordings, by their endings"));
    if (sources_.size() > before) return exit_ok;
    for (const std::string& text : notes_) complain(exit_ok, text);
    return complain(exit_input, folder + " holds no recording, by the endings of its files");
  }

  void note(std::string text) {
    if (!text.empty()) notes_.push_back(std::move(text));
  }

  int add(const std::string& name, const std::string& below) {
    SoundSource& source = sources_.emplace_back(SoundSource{name, {}});
    if (!files_.to_files()) return exit_ok;
    if (!files_.one_each()) {
      source.targets = {files_.output};
      return exit_ok;
    }
    if (files_.output.empty() && name == "-")
      return complain(exit_usage, "standard input is no file that others could be written beside; say -o FOLDER/");
    const std::string path = files_.output.empty() ? name : path_in(files_.output, below);
    const std::string stem = path.substr(0, path.size() - extension(path).size());
    for (const SpeechFormat format : files_.formats) source.targets.push_back(stem + files_.suffix + ending_of(format));
    return exit_ok;
  }

  [[nodiscard]] int check_targets() const {
    std::set<std::string> names;
    for (const SoundSource& source : sources_)
      for (const std::string& target : source.targets)
        if (!names.insert(normal_path(target)).second)
          return complain(exit_usage, "two recordings would be written to " + target +
                                          "; transcribe one of them by itself, or to another folder");
    return exit_ok;
  }

  const SoundFiles& files_;
  std::vector<SoundSource>& sources_;
  std::vector<std::string>& notes_;
};

}  // namespace

bool SoundFiles::one_each() const {
  return !suffix.empty() || (output.empty() && formats.size() > 1) || names_folder(output) || directory_exists(output);
}

int find_recordings(const SoundFiles& files, std::vector<SoundSource>& sources, std::vector<std::string>& notes) {
  return RecordingFinder(files, sources, notes).find();
}

}  // namespace lapilli::cli
