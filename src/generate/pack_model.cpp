#include "generate/pack_model.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.hpp"
#include "base/half.hpp"
#include "base/path.hpp"
#include "formats/doors/argos.hpp"
#include "formats/doors/door.hpp"
#include "formats/quantization.hpp"
#include "formats/sentence_modules.hpp"
#include "generate/published.hpp"

namespace lapilli {

namespace {

// Numbers read and packed at a time; a row is never cut.
constexpr uint64_t kNumbersAtOnce = uint64_t{1} << 20;

// A file written from front to back. Errors name it.
class OutputFile {
 public:
  explicit OutputFile(std::string path) : path_(std::move(path)), file_(open_stream(path_, "wb")), error_(errno) {}
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile() {
    if (file_) (void)std::fclose(file_);
  }
  Status write(std::span<const std::byte> bytes) {
    if (file_ && std::fwrite(bytes.data(), 1, bytes.size(), file_) == bytes.size()) return {};
    return failed(file_ ? errno : error_);
  }
  Status close() {
    if (file_ && std::fclose(std::exchange(file_, nullptr)) == 0) return {};
    return failed(errno);
  }

 private:
  [[nodiscard]] Failure failed(int why) const {
    return fail(ErrorCode::not_found, "%s cannot be written: %s", path_, std::strerror(why));
  }
  std::string path_;
  std::FILE* file_;
  int error_;
};

Status write_file(const std::string& path, std::string_view text) {
  OutputFile file(path);
  LAPILLI_CHECK(file.write(std::as_bytes(std::span(text))));
  return file.close();
}

// A tensor to write: as stored, or in a format.
struct Entry {
  const StoredTensor* tensor = nullptr;
  WeightFormat format = WeightFormat::fp32;
  bool is_matrix = false;  // its rows are packed
  [[nodiscard]] bool as_words() const { return is_matrix && packed::has_scales(format); }
  [[nodiscard]] bool converted() const { return is_matrix && format != WeightFormat::fp32; }
  [[nodiscard]] const char* dtype() const {
    if (as_words()) return stored_type_name(StoredType::u32);
    // Tensors that are not contiguous are written as floats in order; see Numbers.
    if (!converted()) return stored_type_name(tensor->contiguous() ? tensor->type : StoredType::f32);
    return stored_type_name(format == WeightFormat::bf16 ? StoredType::bf16 : StoredType::f16);
  }
  [[nodiscard]] std::vector<uint64_t> shape() const {
    if (!as_words()) return tensor->shape;
    return {tensor->shape[0], packed::row_words(format, tensor->shape[1])};
  }
  [[nodiscard]] uint64_t bytes() const {
    if (as_words()) return shape()[0] * shape()[1] * 4;
    if (converted()) return tensor->elements() * 2;
    return tensor->elements() * (tensor->contiguous() ? stored_bytes(tensor->type) : 4);
  }
};
using Entries = std::map<std::string, Entry>;  // by name

// The linear layers of sentence-transformers, which have folders of their own.
std::vector<std::string> dense_folders(const SentenceModules& modules) {
  std::vector<std::string> folders;
  for (const SentenceStep& step : modules.steps)
    if (!step.normalizes) folders.push_back(step.folder);
  return folders;
}

bool lies_in(const std::vector<std::string>& folders, const std::string& tensor) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](const std::string& folder) { return tensor.starts_with(folder + "."); });
}

// Without the tensors of the folders, which are copied as they are.
Entries entries_of(const model::Network& network, const std::vector<std::string>& folders) {
  Entries entries;
  for (const model::WeightSpec& spec : network.weights)
    for (const model::WeightPart& part : spec.parts)
      if (!lies_in(folders, part.tensor->name))
        entries[part.tensor->name] = {
            part.rows_of ? part.rows_of : part.tensor, spec.format,
            spec.kind == model::WeightSpec::Kind::matrix && !part.bias && !model::is_packed(*part.tensor)};
  return entries;
}

std::string header_of(const Entries& entries) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  json["__metadata__"] = {{"format", "pt"}};
  uint64_t at = 0;
  for (const auto& [name, entry] : entries) {
    json[name] = {{"dtype", entry.dtype()}, {"shape", entry.shape()}, {"data_offsets", {at, at + entry.bytes()}}};
    at += entry.bytes();
  }
  std::string text = json.dump();
  text.resize(round_up<uint64_t>(text.size(), 8), ' ');
  return text;
}

float number(StoredType type, const std::byte* at) {
  uint32_t bits = 0;
  std::memcpy(&bits, at, stored_bytes(type));
  if (type == StoredType::f16) return half_to_float(static_cast<uint16_t>(bits));
  if (type == StoredType::bf16) return bfloat16_to_float(static_cast<uint16_t>(bits));
  return std::bit_cast<float>(bits);
}

// Reads some numbers of a tensor in row-major order. A tensor in another order is read whole, once.
class Numbers {
 public:
  explicit Numbers(const StoredTensor& tensor) : tensor_(tensor) {}
  Result<std::span<const float>> from(uint64_t first, uint64_t count) {
    if (tensor_.contiguous()) return in_order(first, count);
    if (all_.empty()) {
      LAPILLI_TRY(all_, read_floats(tensor_));
      LAPILLI_TRY(const auto stored, load_bytes(tensor_));
      LAPILLI_CHECK(check_numbers(tensor_, stored.bytes));
    }
    return std::span<const float>(all_).subspan(first, count);
  }

 private:
  Result<std::span<const float>> in_order(uint64_t first, uint64_t count) {
    const uint64_t size = stored_bytes(tensor_.type);
    LAPILLI_TRY(const auto stored, load_bytes(tensor_, first * size, count * size));
    LAPILLI_CHECK(check_numbers(tensor_, stored.bytes));
    all_.resize(count);
    for (uint64_t i = 0; i < count; ++i) all_[i] = number(tensor_.type, stored.bytes.data() + i * size);
    return std::span<const float>(all_);
  }
  const StoredTensor& tensor_;
  std::vector<float> all_;
};

// Calls `each` with the numbers of one row after the other.
Status for_rows(const StoredTensor& tensor, const std::function<Status(std::span<const float>)>& each) {
  const uint64_t rows = tensor.shape[0], k = tensor.shape[1];
  const uint64_t step = std::max<uint64_t>(1, kNumbersAtOnce / std::max<uint64_t>(1, k));
  Numbers numbers(tensor);
  for (uint64_t row = 0; row < rows; row += step) {
    const uint64_t count = std::min(step, rows - row);
    LAPILLI_TRY(const auto some, numbers.from(row * k, count * k));
    for (uint64_t r = 0; r < count; ++r) LAPILLI_CHECK(each(some.subspan(r * k, k)));
  }
  return {};
}

Status write_words(const Entry& entry, OutputFile& file) {
  std::vector<uint32_t> words(packed::row_words(entry.format, entry.tensor->shape[1]));
  return for_rows(*entry.tensor, [&](std::span<const float> row) {
    pack_row(entry.format, row, words);
    return file.write(std::as_bytes(std::span(words)));
  });
}

Status write_halves(const Entry& entry, OutputFile& file) {
  std::vector<uint16_t> halves(entry.tensor->shape[1]);
  return for_rows(*entry.tensor, [&](std::span<const float> row) {
    std::transform(row.begin(), row.end(), halves.begin(),
                   [&](float v) { return static_cast<uint16_t>(weight_bits(entry.format, v)); });
    return file.write(std::as_bytes(std::span(halves)));
  });
}

Status write_as_stored(const StoredTensor& tensor, OutputFile& file) {
  if (!tensor.contiguous()) {
    LAPILLI_TRY(const auto numbers, read_floats(tensor));
    return file.write(std::as_bytes(std::span(numbers)));
  }
  const uint64_t all = tensor.elements() * stored_bytes(tensor.type);
  for (uint64_t at = 0; at < all; at += kNumbersAtOnce) {
    LAPILLI_TRY(const auto part, load_bytes(tensor, at, std::min(kNumbersAtOnce, all - at)));
    LAPILLI_CHECK(file.write(part.bytes));
  }
  return {};
}

Status write_weights(const Entries& entries, const std::string& path) {
  OutputFile file(path);
  const std::string header = header_of(entries);
  const uint64_t size = header.size();
  LAPILLI_CHECK(file.write(std::as_bytes(std::span(&size, 1))));
  LAPILLI_CHECK(file.write(std::as_bytes(std::span(header))));
  for (const auto& [name, entry] : entries)
    LAPILLI_CHECK(entry.as_words()    ? write_words(entry, file)
                  : entry.converted() ? write_halves(entry, file)
                                      : write_as_stored(*entry.tensor, file));
  return file.close();
}

// Writes config.json with the packing of the weights added.
Status write_config(const Files& files, const Quantization& quantization, const std::string& path) {
  LAPILLI_TRY(const auto text, read_text_file(files / "config.json"));
  auto json = nlohmann::ordered_json::parse(text, nullptr, false);  // was read before, with limits
  if (!json.is_object()) return fail(ErrorCode::invalid_data, "%s/config.json was changed", files);
  json["quantization_config"] = quantization_json(quantization);
  return write_file(path, json.dump(2) + "\n");
}

bool holds_weights(const std::string& name) {
  for (const char* ending : {".safetensors", ".bin", ".index.json", ".h5", ".msgpack", ".ot", ".onnx", ".npz", ".gguf",
                             ".pt", ".pth", ".ckpt", ".ggml", ".index"})
    if (name.ends_with(ending)) return true;
  return name.find(".ckpt-") != std::string::npos;
}

Status copy_file(const FileName& from, const std::string& to) {
  constexpr uint64_t kAtOnce = uint64_t{1} << 20;
  LAPILLI_TRY(const auto source, File::open(from));
  OutputFile file(to);
  for (uint64_t at = 0; at < source.size(); at += kAtOnce) {
    LAPILLI_TRY(const auto part, source.read_some(at, std::min(kAtOnce, source.size() - at)));
    LAPILLI_CHECK(file.write(part));
  }
  return file.close();
}

// The publisher's pages on a model, above all its licence, go along with it.
constexpr const char* kNotices[] = {"README.md",   "README",  "README.txt", "LICENSE", "LICENSE.md",
                                    "LICENSE.txt", "LICENCE", "COPYING",    "NOTICE",  "NOTICE.txt"};
bool is_notice(const std::string& name) {
  return std::find(std::begin(kNotices), std::end(kNotices), name) != std::end(kNotices);
}

// Those of an archive; beside a file that is a whole model others' may lie.
Status copy_notices(const Files& files, const std::string& archive, const std::string& to,
                    std::vector<std::string>& copied) {
  if (directory_exists(archive) || !doors::looks_like_zip(doors::first_bytes(archive, 4))) return {};
  for (const char* name : kNotices) {
    if (!(files / name).there()) continue;
    LAPILLI_CHECK(copy_file(files / name, to + "/" + name));
    copied.emplace_back(name);
  }
  return {};
}

using IsCopied = std::function<bool(const std::string& name)>;

bool is_visible(const std::string& name) { return !name.starts_with("."); }
bool is_setting(const std::string& name) { return is_visible(name) && !holds_weights(name); }
bool is_other(const std::string& name) { return is_setting(name) && name != "config.json"; }

// Where the files of a model are read and written; `folder` lies in both, and "" is the directory itself.
struct Places {
  std::string from, to;
  [[nodiscard]] Places below(const std::string& folder) const {
    return folder.empty() ? *this : Places{from + "/" + folder, to + "/" + folder};
  }
};

// Copies those files of a folder, but of no folder in it, that the model shows, and adds their names.
Status copy_folder(const Files& files, const Places& places, const std::string& folder, const IsCopied& is_copied,
                   std::vector<std::string>& copied) {
  const auto [from, to] = places.below(folder);
  std::vector<FolderEntry> entries;
  if (!list_folder(from, entries))
    return fail(ErrorCode::not_found, "%s cannot be listed: %s", from, std::strerror(errno));
  if (!make_directories(to)) return fail(ErrorCode::not_found, "%s cannot be made: %s", to, std::strerror(errno));
  for (const auto& [name, kind] : entries) {
    const std::string shown = folder.empty() ? name : folder + "/" + name;
    if (kind != FileKind::regular || !is_copied(name) || !(files / shown).there()) continue;
    LAPILLI_CHECK(copy_file(from + "/" + name, to + "/" + name));
    copied.push_back(shown);
  }
  return {};
}

// Copies all files but the network's weights and configuration: tokenizer, settings, licence, and the folders of
// modules.json, of which linear layers keep their weights.
Result<std::vector<std::string>> copy_others(const Files& files, const Places& places, const SentenceModules& modules,
                                             const std::vector<std::string>& left_out) {
  std::vector<std::string> copied;
  if (!directory_exists(places.from)) return copied;  // a single file is the whole model
  const IsCopied of_folder = modules.transformer.empty() ? is_other : is_setting;
  const auto is_copied = [&](const std::string& name) {
    return is_notice(name) || (of_folder(name) && std::find(left_out.begin(), left_out.end(), name) == left_out.end());
  };
  LAPILLI_CHECK(copy_folder(files, places, "", is_copied, copied));
  if (!modules.transformer.empty()) LAPILLI_CHECK(copy_folder(files, places, modules.transformer, is_other, copied));
  const auto dense = dense_folders(modules);
  for (const std::string& folder : modules.folders) {
    // A normalization has no settings, and some directories lack its folder.
    if (folder == modules.transformer || !directory_exists(places.from + "/" + folder)) continue;
    const bool has_weights = std::find(dense.begin(), dense.end(), folder) != dense.end();
    LAPILLI_CHECK(copy_folder(files, places, folder, has_weights ? is_visible : is_setting, copied));
  }
  return copied;
}

// Texts that the door made of another program's files, and files that it shows by another name.
Status write_made_files(const doors::Entered& entered, const std::string& to, std::vector<std::string>& copied) {
  for (const std::string& name : entered.made) {
    if (name == "config.json" || name == "model.safetensors") continue;
    LAPILLI_CHECK(copy_file(entered.files / name, to + "/" + name));
    if (std::find(copied.begin(), copied.end(), name) == copied.end()) copied.push_back(name);
  }
  return {};
}

Status make_output(const std::string& output) {
  if (file_kind(output) != FileKind::none && (!directory_exists(output) || !names_in(output).empty()))
    return fail(ErrorCode::invalid_argument, "%s is there already; give the name of a new directory", output);
  if (make_directories(output)) return {};
  return fail(ErrorCode::not_found, "%s cannot be made: %s", output, std::strerror(errno));
}

// The one type in which all matrices are stored; nothing for several.
std::optional<StoredType> type_of_matrices(const model::Network& network) {
  std::optional<StoredType> type;
  for (const model::WeightSpec& spec : network.weights) {
    if (spec.kind != model::WeightSpec::Kind::matrix) continue;
    for (const model::WeightPart& part : spec.parts) {
      if (part.bias) continue;
      if (type.value_or(part.tensor->type) != part.tensor->type) return std::nullopt;
      type = part.tensor->type;
    }
  }
  return type;
}

// The format of a model's own matrices, where they lie in one that directories are packed in.
Result<WeightFormat> own_format(const Published& published, const std::string& directory) {
  if (published.packed) return *published.packed;
  const auto type = type_of_matrices(published.network);
  if (type == StoredType::f16) return WeightFormat::fp16;
  if (type == StoredType::bf16) return WeightFormat::bf16;
  return fail(
      ErrorCode::invalid_argument,
      "%s has its matrices in %s, so that there is nothing to pack without a dtype; give --dtype fp16 (half the "
      "bytes of fp32; results hardly differ), bf16 (half; for numbers that fp16 does not hold), int8 (a bit "
      "over a quarter; few results differ) or int4 (a bit over a seventh; where exact results do not matter)",
      directory, type ? "fp32" : "several types");
}

// Transposed matrices and those in columns of a stored tensor have no rows that packed ones could replace.
bool lies_otherwise(const model::Network& network) {
  return std::any_of(network.weights.begin(), network.weights.end(), [](const model::WeightSpec& spec) {
    return std::any_of(spec.parts.begin(), spec.parts.end(),
                       [](const auto& part) { return part.view != nullptr && part.rows_of == nullptr; });
  });
}

Status check_places(const model::Network& network, const std::string& directory, std::optional<WeightFormat> format) {
  if (!lies_otherwise(network)) return {};
  return fail(ErrorCode::unsupported,
              "%s stores matrices transposed or side by side (as GPT-2 does), which packed directories have no place "
              "for; give --dtype %s when it is loaded",
              directory, format ? name(*format) : "fp16 or int8");
}

// `is_foreign`: another program's model, which may lie in whole numbers of its own.
Status check_input(const Published& published, const SentenceModules& modules, const std::string& directory,
                   WeightFormat format, bool is_foreign) {
  if (published.packed && !(is_foreign && *published.packed == format))
    return fail(ErrorCode::invalid_argument, "%s is packed as %s already; pack the model that it was made from",
                directory, name(*published.packed));
  for (const std::string& folder : dense_folders(modules))
    if (folder.empty() || folder == modules.transformer)
      return fail(ErrorCode::unsupported,
                  "%s has a linear layer without a folder of its own, which packed directories have no place for; "
                  "give --dtype %s when it is loaded",
                  directory, name(format));
  if (format != WeightFormat::fp32) return {};
  return fail(ErrorCode::invalid_argument, "there is nothing to pack in fp32; give bf16, fp16, int8 or int4");
}

PackedModel counted(const Entries& entries, std::vector<model::KeptMatrix> kept) {
  PackedModel made;
  for (const auto& [name, entry] : entries) {
    made.bytes_before += entry.tensor->elements() * stored_bytes(entry.tensor->type);
    made.bytes_after += entry.bytes();
    made.matrices += entry.converted() ? 1 : 0;
  }
  made.kept = std::move(kept);
  return made;
}

}  // namespace

Result<PackedModel> pack_model(const std::string& directory, const std::string& output,
                               std::optional<WeightFormat> asked) {
  LAPILLI_TRY(const auto entered, doors::enter(directory));
  LAPILLI_TRY(auto published, read_published(entered.files));
  LAPILLI_TRY(const auto listed, read_sentence_modules(entered.files));
  const SentenceModules modules = listed.value_or(SentenceModules());
  const bool is_foreign = !entered.origin.program.empty();
  LAPILLI_CHECK(check_places(published.network, directory, asked));
  LAPILLI_TRY(const WeightFormat format, asked ? Result<WeightFormat>(*asked) : own_format(published, directory));
  LAPILLI_CHECK(check_input(published, modules, directory, format, is_foreign));
  std::vector<model::KeptMatrix> kept;
  if (!published.packed) {
    LAPILLI_TRY(kept, model::set_format(published.network, format));
  }
  const Entries entries = entries_of(published.network, dense_folders(modules));
  PackedModel made = counted(entries, std::move(kept));
  made.was_packed = published.packed.has_value();
  made.format = format;
  LAPILLI_CHECK(make_output(output));
  const Places places{directory, output}, network = places.below(modules.transformer);
  LAPILLI_TRY(made.copied, copy_others(entered.files, places, modules, entered.left_out));
  LAPILLI_CHECK(write_made_files(entered, network.to, made.copied));
  LAPILLI_CHECK(copy_notices(entered.files, directory, output, made.copied));
  // The configuration comes last: without it, an incomplete directory cannot be loaded.
  LAPILLI_CHECK(write_weights(entries, network.to + "/model.safetensors"));
  LAPILLI_CHECK(write_config(published.files, {name(format), published.network.tied}, network.to + "/config.json"));
  return made;
}

}  // namespace lapilli
