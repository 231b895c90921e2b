// Files that people have as model.bin: a checkpoint of PyTorch, which is read, and files that are no weights at all.
#include "formats/doors/readers.hpp"

namespace lapilli::doors {

namespace {

// Files by their first bytes, and what to do instead.
struct NoWeights {
  std::string_view start;
  const char* advice;
};
constexpr NoWeights kNoWeights[] = {
    {"<!DOCTYPE", "a web page and not the weights; the download went wrong"},
    {"<html", "a web page and not the weights; the download went wrong"},
    {"GGUF", "in GGUF, which is not read; get the model that it was made from, in safetensors"},
    {"\x1f\x8b", "packed by gzip; unpack it (gzip -d)"}};

bool is_of_pytorch(const std::string& start) {
  return start.starts_with("PK\x03\x04") || start.starts_with("\x80\x02");
}

}  // namespace

Result<std::optional<Opened>> open_model_bin(const Files& files) {
  const FileName name = files / "model.bin";
  if (!name.there()) return std::optional<Opened>();
  LAPILLI_TRY(const auto file, File::open(name));  // which says why, for a pointer of Git LFS and others
  const std::string start = first_bytes(name, 32);
  for (const NoWeights& kind : kNoWeights)
    if (start.starts_with(kind.start)) return fail(ErrorCode::unsupported, "%s is %s", name, kind.advice);
  if (!is_of_pytorch(start)) return std::optional<Opened>();
  return std::optional(Opened{{"PyTorch", "a checkpoint called model.bin", "", {}},
                              {files, {}, {{"pytorch_model.bin", "model.bin"}}, {}}});
}

}  // namespace lapilli::doors
