// The door of checkpoints that training programs write with torch.save().
#include <algorithm>

#include "formats/doors/readers.hpp"
#include "formats/doors/trained/trained_texts.hpp"
#include "formats/doors/trained/training_file.hpp"
#include "formats/quote.hpp"
#include "formats/readers.hpp"

namespace lapilli::doors {

namespace trained {

namespace {

bool is_of_torch(const std::string& start) { return start.starts_with("PK\x03\x04") || start.starts_with("\x80\x02"); }

using Program = bool (*)(const TrainingFile& file);
using Open = Result<Opened> (*)(const TrainingFile& file);
struct ProgramReader {
  Program is_its;
  Open open;
};
constexpr ProgramReader kPrograms[] = {{is_fairseq, open_fairseq}, {is_opennmt, open_opennmt}};

Result<std::optional<Opened>> open_one(const Files& files, const std::string& name) {
  if (!(files / name).there()) return std::optional<Opened>();
  LAPILLI_TRY(const auto opened, File::open(files / name));  // which names a pointer of Git LFS
  const std::string start = first_bytes(files / name, 9);
  if (start.starts_with("<!DOCTYPE") || start.starts_with("<html"))
    return fail(ErrorCode::unsupported, "%s is a web page and not a checkpoint; the download went wrong", files / name);
  if (!is_of_torch(start)) return std::optional<Opened>();
  LAPILLI_TRY(const auto content, PytorchFile::read(opened, PickleUse::training));
  const TrainingFile file{files, name, content};
  for (const ProgramReader& program : kPrograms) {
    if (!program.is_its(file)) continue;
    LAPILLI_TRY(auto made, program.open(file));
    return std::optional(std::move(made));
  }
  if (file.root().has("vocab") && file.root().has("model"))
    return fail(ErrorCode::unsupported, "%s has \"vocab\" and \"model\" and lacks \"opt\", OpenNMT-py's settings",
                file.path());
  return std::optional<Opened>();
}

// The number in "model_step_1000.pt"; -1 for other names.
int64_t step_of(const std::string& name) {
  const size_t at = name.rfind("_step_");
  if (at == std::string::npos) return -1;
  int64_t step = 0;
  for (size_t i = at + 6; i < name.size() && name[i] != '.'; ++i) {
    if (name[i] < '0' || name[i] > '9' || step > 1'000'000'000'000) return -1;
    step = step * 10 + (name[i] - '0');
  }
  return step;
}

// The checkpoint of a directory: one with a name that programs give to the one to use, the last of numbered ones, or
// the only one. None: an empty name.
Result<std::string> choose(const Files& files) {
  for (const char* name : {"model.pt", "checkpoint_best.pt", "checkpoint_last.pt"})
    if ((files / name).there()) return std::string(name);
  std::vector<std::string> found;
  for (const std::string& name : file_names(files))
    if (name.ends_with(".pt")) found.push_back(name);
  if (found.size() <= 1) return found.empty() ? std::string() : found[0];
  std::ranges::sort(found, {}, step_of);
  if (step_of(found.front()) >= 0) return found.back();
  return fail(ErrorCode::invalid_argument, "%s holds %u checkpoints (%s and %s, say); name the file", files,
              found.size(), quote_name(found[0]), quote_name(found[1]));
}

std::string folder_of(const std::string& path) {
  const auto slash = path.find_last_of("/\\");
  return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

}  // namespace

}  // namespace trained

Result<std::optional<Opened>> open_training_file(const FileName& file) {
  if (!file.path().ends_with(".pt")) return std::optional<Opened>();
  const Files beside(trained::folder_of(file.path()));
  const auto slash = file.path().find_last_of("/\\");
  return trained::open_one(beside, slash == std::string::npos ? file.path() : file.path().substr(slash + 1));
}

Result<std::optional<Opened>> open_training_directory(const Files& files) {
  LAPILLI_TRY(const auto name, trained::choose(files));
  if (name.empty()) return std::optional<Opened>();
  LAPILLI_TRY(auto opened, trained::open_one(files, name));
  if (opened) name_unused(files, *opened);
  return opened;
}

}  // namespace lapilli::doors
