#include "formats/doors/made_files.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/math.hpp"
#include "formats/quote.hpp"
#include "formats/readers.hpp"

namespace lapilli::doors {

namespace {

constexpr const char* kWeights = "model.safetensors";

class TextContent final : public FileContent {
 public:
  explicit TextContent(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] uint64_t size() const override { return text_.size(); }
  [[nodiscard]] const std::byte* memory() const override { return reinterpret_cast<const std::byte*>(text_.data()); }
  Status read(uint64_t offset, std::span<std::byte> to) override {
    std::memcpy(to.data(), text_.data() + offset, to.size());
    return {};
  }

 private:
  const std::string text_;
};

// A file of the directory itself.
class SameContent final : public FileContent {
 public:
  explicit SameContent(File file) : file_(std::move(file)) {}
  [[nodiscard]] uint64_t size() const override { return file_.size(); }
  [[nodiscard]] const std::byte* memory() const override { return file_.bytes().data(); }
  Status read(uint64_t offset, std::span<std::byte> to) override { return file_.read(offset, to); }

 private:
  const File file_;
};

// One safetensors file, which is nowhere as a whole.
struct Weights {
  std::string header;  // with its size before it
  std::vector<MadeTensor> tensors;
  std::vector<uint64_t> begins;  // of each tensor in the file, and the end
};

class WeightsContent final : public FileContent {
 public:
  explicit WeightsContent(std::shared_ptr<const Weights> weights) : w_(std::move(weights)) {}
  [[nodiscard]] uint64_t size() const override { return w_->begins.back(); }
  Status read(uint64_t offset, std::span<std::byte> to) override {
    while (!to.empty()) {
      LAPILLI_TRY(const uint64_t count, read_some(offset, to));
      offset += count;
      to = to.subspan(count);
    }
    return {};
  }

 private:
  // Reads up to the end of the part in which `offset` lies.
  Result<uint64_t> read_some(uint64_t offset, std::span<std::byte> to) {
    const uint64_t header = w_->header.size();
    if (offset < header) {
      const uint64_t count = std::min<uint64_t>(to.size(), header - offset);
      std::memcpy(to.data(), w_->header.data() + offset, count);
      return count;
    }
    // The last tensor that begins there or before; empty ones are passed over.
    const auto behind = std::ranges::upper_bound(w_->begins, offset);
    const auto i = static_cast<size_t>(behind - w_->begins.begin() - 1);
    const uint64_t count = std::min<uint64_t>(to.size(), *behind - offset);
    LAPILLI_CHECK(w_->tensors[i].read(offset - w_->begins[i], to.first(count)));
    return count;
  }
  const std::shared_ptr<const Weights> w_;
};

class MadeSource final : public FileSource {
 public:
  MadeSource(MadeFiles made, std::shared_ptr<const Weights> weights)
      : made_(std::move(made)), weights_(std::move(weights)) {}
  Result<std::unique_ptr<FileContent>> open(const std::string& name) override {
    if (weights_ && name == kWeights) return content(std::make_unique<WeightsContent>(weights_));
    if (const auto text = made_.texts.find(name); text != made_.texts.end())
      return content(std::make_unique<TextContent>(text->second));
    const auto other = made_.others.find(name);
    const FileName file = made_.below / (other == made_.others.end() ? name : other->second);
    if (!file.there()) return fail(ErrorCode::not_found, "no file has this name");
    LAPILLI_TRY(auto opened, File::open(file));
    return content(std::make_unique<SameContent>(std::move(opened)));
  }

 private:
  static std::unique_ptr<FileContent> content(std::unique_ptr<FileContent> of) { return of; }
  const MadeFiles made_;
  const std::shared_ptr<const Weights> weights_;
};

Failure beyond(const MadeTensor& tensor) {
  return fail(ErrorCode::invalid_data, "tensor %s would be larger than any file", quote_name(tensor.name));
}

// The end of a tensor that begins at `at`.
Result<uint64_t> end_of(const MadeTensor& tensor, uint64_t at) {
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  uint64_t elements = 0, bytes = 0;
  if (!count_elements(tensor.shape, elements) || !checked_mul(elements, stored_bytes(tensor.type), bytes) ||
      bytes > kMost - at)
    return beyond(tensor);
  return at + bytes;
}

Result<std::shared_ptr<const Weights>> weights_of(std::vector<MadeTensor> tensors) {
  auto w = std::make_shared<Weights>();
  nlohmann::json json = nlohmann::json::object();
  uint64_t at = 0;
  for (const MadeTensor& t : tensors) {
    LAPILLI_TRY(const uint64_t end, end_of(t, at));
    if (json.contains(t.name)) return fail(ErrorCode::invalid_data, "tensor %s is there twice", quote_name(t.name));
    json[t.name] = {{"dtype", stored_type_name(t.type)}, {"shape", t.shape}, {"data_offsets", {at, end}}};
    w->begins.push_back(std::exchange(at, end));
  }
  w->begins.push_back(at);
  w->tensors = std::move(tensors);
  std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  text.resize(round_up<uint64_t>(text.size(), 8), ' ');
  const uint64_t size = text.size();
  w->header.assign(reinterpret_cast<const char*>(&size), sizeof(size));
  w->header += text;
  for (uint64_t& begin : w->begins) begin += w->header.size();
  return std::shared_ptr<const Weights>(std::move(w));
}

}  // namespace

Result<Files> lay_over(MadeFiles made, const std::string& directory) {
  std::shared_ptr<const Weights> weights;
  if (!made.tensors.empty()) {
    LAPILLI_TRY(weights, weights_of(std::exchange(made.tensors, {})));
  }
  return Files(std::make_unique<MadeSource>(std::move(made), std::move(weights)), directory);
}

}  // namespace lapilli::doors
