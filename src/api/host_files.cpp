// The host's files from lapilli_model_options: callbacks, or parts of memory and of open files.
#include <optional>
#include <utility>

#include "api/handles.hpp"
#include "base/files.hpp"
#include "formats/doors/door.hpp"
#include "tools/locate.hpp"

namespace lapilli::api {

namespace {

using ull = unsigned long long;

Failure failed_callback(const char* callback, lapilli_status status) {
  if (status == LAPILLI_NOT_FOUND) return fail(ErrorCode::not_found, "the host has no such file");
  const bool known = status > LAPILLI_OK && status <= LAPILLI_INTERNAL;
  const ErrorCode code = known ? static_cast<ErrorCode>(status) : ErrorCode::invalid_argument;
  return fail(code, "the host's %s failed with status %d (%s)", callback, status, lapilli_status_name(status));
}

// Host functions may be C++ and throw; that must be an error, not a missing optional file.
template <class Callback>
Status call(const char* name, Callback&& callback) {
  try {
    const lapilli_status status = callback();
    return status == LAPILLI_OK ? Status() : failed_callback(name, status);
  } catch (...) {
    return fail(ErrorCode::internal, "the host's %s threw an exception", name);
  }
}

// One open file of the host.
class HostContent final : public FileContent {
 public:
  explicit HostContent(const lapilli_files& host) : host_(host) {}
  ~HostContent() override {
    if (opened_) (void)call("close", [&] { return host_.close(host_.user, file_.handle), LAPILLI_OK; });
  }
  HostContent(const HostContent&) = delete;
  HostContent& operator=(const HostContent&) = delete;

  Status open(const std::string& name) {
    file_.struct_size = sizeof file_;
    LAPILLI_CHECK(call("open", [&] { return host_.open(host_.user, name.c_str(), &file_); }));
    opened_ = true;
    if (!host_.map) return {};
    return call("map", [&] {
      memory_ = static_cast<const std::byte*>(host_.map(host_.user, file_.handle));
      return LAPILLI_OK;
    });
  }

  [[nodiscard]] uint64_t size() const override { return file_.size; }
  [[nodiscard]] const std::byte* memory() const override { return memory_; }

  Status read(uint64_t offset, std::span<std::byte> to) override {
    uint64_t done = 0;
    LAPILLI_CHECK(
        call("read", [&] { return host_.read(host_.user, file_.handle, offset, to.data(), to.size(), &done); }));
    if (done == to.size()) return {};
    if (done > to.size())
      return fail(ErrorCode::invalid_argument, "the host's read was asked for %u bytes and says that it read %u",
                  to.size(), ull{done});
    return fail(ErrorCode::invalid_data, "the host's read gave %u of the %u bytes at %u; is the file cut off?",
                ull{done}, to.size(), ull{offset});
  }

 private:
  const lapilli_files host_;
  lapilli_file file_{};
  bool opened_ = false;
  const std::byte* memory_ = nullptr;
};

class HostSource final : public FileSource {
 public:
  explicit HostSource(const lapilli_files& host) : host_(host) {}

  Result<std::unique_ptr<FileContent>> open(const std::string& name) override {
    auto file = std::make_unique<HostContent>(host_);  // allocated first, so that an open file is always closed
    LAPILLI_CHECK(file->open(name));
    return std::unique_ptr<FileContent>(std::move(file));
  }

 private:
  const lapilli_files host_;
};

Result<lapilli_files> read_callbacks(const lapilli_files* from) {
  lapilli_files host{};
  LAPILLI_CHECK(read_struct(from, host, "lapilli_files"));
  for (const auto& [given, name] : {std::pair(host.open != nullptr, "open"), std::pair(host.read != nullptr, "read"),
                                    std::pair(host.close != nullptr, "close")})
    if (!given) return fail(ErrorCode::invalid_argument, "lapilli_files.%s is null", name);
  return host;
}

// Address of an empty file in memory.
constexpr std::byte kNothing{};

Result<FilePart> read_part(size_t i, const lapilli_file_part& from) {
  if (!from.name || !*from.name) return fail(ErrorCode::invalid_argument, "lapilli_file_part number %u has no name", i);
  FilePart part;
  part.name = from.name;
  part.bytes = from.bytes;
  if (from.kind == LAPILLI_FILE_DESCRIPTOR) {
    part.descriptor = from.descriptor;
    part.offset = from.offset;
    return part;
  }
  if (from.kind != LAPILLI_FILE_MEMORY)
    return fail(from.kind == 0 ? ErrorCode::invalid_argument : ErrorCode::unsupported,
                "lapilli_file_part %s is of kind %d; it is LAPILLI_FILE_MEMORY or LAPILLI_FILE_DESCRIPTOR", from.name,
                from.kind);
  if (!from.memory && from.bytes > 0)
    return fail(ErrorCode::invalid_argument, "lapilli_file_part %s has %u bytes at a null pointer", from.name,
                ull{from.bytes});
  const uint64_t start = reinterpret_cast<uintptr_t>(from.memory);
  if (from.offset > UINTPTR_MAX - start || from.bytes > UINTPTR_MAX - start - from.offset)
    return fail(ErrorCode::invalid_argument, "lapilli_file_part %s ends beyond all memory", from.name);
  part.memory = from.memory ? static_cast<const std::byte*>(from.memory) + from.offset : &kNothing;
  return part;
}

Result<std::vector<FilePart>> read_parts(const lapilli_file_part* from, uint64_t count) {
  constexpr uint64_t kMostParts = 1 << 20;
  if (count > kMostParts)
    return fail(ErrorCode::invalid_argument, "lapilli_model_options.part_count is %u, which cannot be", ull{count});
  std::vector<FilePart> parts;
  LAPILLI_CHECK(read_array(from, static_cast<size_t>(count), "lapilli_file_part",
                           [&](size_t i, const lapilli_file_part& part) -> Status {
                             LAPILLI_TRY(auto read, read_part(i, part));
                             parts.push_back(std::move(read));
                             return {};
                           }));
  return parts;
}

// Opens the host's files as often as needed. `name` is used in messages and may be "".
Result<Reopen> read_host_files(const lapilli_model_options& options, const std::string& name) {
  const bool parts = options.parts || options.part_count > 0;
  if (options.files && parts)
    return fail(ErrorCode::invalid_argument, "lapilli_model_options gives both files and parts; give one of them");
  if (parts && options.part_count == 0)
    return fail(ErrorCode::invalid_argument, "lapilli_model_options.parts is given, but part_count is 0");
  if (parts) {
    LAPILLI_TRY(auto list, read_parts(options.parts, options.part_count));
    return Reopen([list = std::move(list), name]() -> Result<Files> {
      LAPILLI_TRY(auto source, make_file_parts(list));
      return Files(std::move(source), name);
    });
  }
  LAPILLI_TRY(const auto host, read_callbacks(options.files));
  return Reopen([host, name]() -> Result<Files> { return Files(std::make_unique<HostSource>(host), name); });
}

constexpr std::pair<int32_t, WeightFormat> kDtypes[] = {{LAPILLI_DTYPE_FP32, WeightFormat::fp32},
                                                        {LAPILLI_DTYPE_BF16, WeightFormat::bf16},
                                                        {LAPILLI_DTYPE_FP16, WeightFormat::fp16},
                                                        {LAPILLI_DTYPE_INT8, WeightFormat::int8},
                                                        {LAPILLI_DTYPE_INT4, WeightFormat::int4}};

// Format of keys and values: AUTO means fp32 on every class of devices.
Result<KvFormat> kv_format_of_dtype(int32_t dtype) {
  if (dtype == LAPILLI_DTYPE_FP32 || dtype == LAPILLI_DTYPE_AUTO) return KvFormat::fp32;
  if (dtype == LAPILLI_DTYPE_FP16) return KvFormat::fp16;
  return fail(ErrorCode::unsupported,
              "lapilli_model_options.kv_dtype is %d; give LAPILLI_DTYPE_FP32, LAPILLI_DTYPE_FP16 or LAPILLI_DTYPE_AUTO",
              dtype);
}

Result<std::optional<WeightFormat>> format_of_dtype(int32_t dtype) {
  if (dtype == LAPILLI_DTYPE_AUTO) return std::optional<WeightFormat>();
  for (const auto& [number, format] : kDtypes)
    if (number == dtype) return std::optional(format);
  return fail(ErrorCode::unsupported,
              "lapilli_model_options.dtype is %d, which this version does not know; give one of LAPILLI_DTYPE_...",
              dtype);
}

// Files of other programs come as those of Transformers.
Reopen through_the_door(Reopen open) {
  return [open = std::move(open)]() -> Result<Files> {
    LAPILLI_TRY(const auto files, open());
    LAPILLI_TRY(auto entered, doors::enter(files));
    return std::move(entered.files);
  };
}

}  // namespace

int32_t dtype_of(WeightFormat format) {
  for (const auto& [number, known] : kDtypes)
    if (known == format) return number;
  return LAPILLI_DTYPE_FP32;
}

Result<ModelOptions> read_model_options(const char* directory, const lapilli_model_options* options) {
  lapilli_model_options given{};
  LAPILLI_CHECK(read_struct(options, given, "lapilli_model_options"));
  std::string path = directory ? directory : "";
  ModelOptions out;
  out.load.memory_limit = given.memory_limit;
  LAPILLI_TRY(out.load.format, format_of_dtype(given.dtype));
  LAPILLI_TRY(out.load.kv_format, kv_format_of_dtype(given.kv_dtype));
  out.load.prefix_cache = given.no_prefix_cache == 0;
  if (given.files || given.parts || given.part_count > 0) {
    LAPILLI_TRY(auto host, read_host_files(given, path));
    auto open = through_the_door(std::move(host));
    LAPILLI_TRY(out.files, open());
    if (given.files_stay != 0) out.reopen = std::move(open);
    return out;
  }
  LAPILLI_TRY(path, path.empty() ? default_model_directory() : find_model_directory(path));
  out.reopen = through_the_door([path]() -> Result<Files> { return Files(path); });
  LAPILLI_TRY(out.files, out.reopen());
  return out;
}

}  // namespace lapilli::api
