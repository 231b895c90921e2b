// Models from files that do not lie in a directory: from a pak file by its descriptor, from memory, by functions of the
// host; and hosts that fail, stop early and lie.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "api/last_error.hpp"
#include "lapilli/lapilli.h"
#include "lapilli/lapilli.hpp"
#include "support/temp_directory.hpp"
#include "tools/tools.hpp"

namespace {

using lapilli::test::says;

using lapilli::read_file;
using lapilli::TempDirectory;
using FileMap = std::map<std::string, std::string>;  // contents by name

const std::string kBundled = LAPILLI_SOURCE_DIR "/models/en-fr";
const std::string kModels = LAPILLI_TEST_DATA "/models/";

FileMap files_in(const std::string& directory) {
  FileMap files;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    files[entry.path().filename().string()] = read_file(entry.path().string());
  return files;
}

// A host that gives files by functions, counts, and does wrong what it is told to, once.
struct Host {
  enum class Wrong { nothing, fails, is_short, claims_more, throws };
  FileMap files;
  bool maps = false;
  Wrong read_wrong = Wrong::nothing, open_wrong = Wrong::nothing;
  size_t wrong_at = 0;                                  // which read or open, from 0
  std::function<uint64_t(const std::string&)> size_of;  // what it says of a file; unset: the truth
  size_t opens = 0, reads = 0, mapped = 0, closes = 0, read_bytes = 0, largest_read = 0;
  std::map<const void*, int> open_files;

  struct Opened {
    std::string name;
  };
  std::vector<std::unique_ptr<Opened>> opened;

  lapilli_status open(const char* name, lapilli_file* file) {
    EXPECT_EQ(file->struct_size, sizeof *file);
    if (opens++ == wrong_at && open_wrong != Wrong::nothing) {
      if (open_wrong == Wrong::throws) throw 7;
      return LAPILLI_CANCELLED;
    }
    if (!files.contains(name)) return LAPILLI_NOT_FOUND;
    for (const auto& other : opened) EXPECT_NE(other->name, name) << "opened twice";
    opened.push_back(std::make_unique<Opened>(Opened{name}));
    file->handle = opened.back().get();
    file->size = size_of ? size_of(name) : files[name].size();
    ++open_files[file->handle];
    return LAPILLI_OK;
  }
  lapilli_status read(void* handle, uint64_t offset, void* to, uint64_t bytes, uint64_t* done) {
    EXPECT_EQ(open_files[handle], 1);
    EXPECT_GT(bytes, 0u);
    EXPECT_EQ(*done, 0u);
    const std::string& content = files[static_cast<Opened*>(handle)->name];
    const uint64_t there = offset < content.size() ? std::min<uint64_t>(bytes, content.size() - offset) : 0;
    if (there > 0) std::memcpy(to, content.data() + offset, there);
    *done = there;
    read_bytes += there;
    largest_read = std::max<size_t>(largest_read, bytes);
    if (reads++ != wrong_at || read_wrong == Wrong::nothing) return LAPILLI_OK;
    if (read_wrong == Wrong::throws) throw 7;
    if (read_wrong == Wrong::is_short) *done = bytes - 1;
    if (read_wrong == Wrong::claims_more) *done = ~uint64_t{0};
    return read_wrong == Wrong::fails ? LAPILLI_TIMEOUT : LAPILLI_OK;
  }

  lapilli_files functions() {
    lapilli_files f{};
    f.struct_size = sizeof f;
    f.user = this;
    f.open = [](void* user, const char* name, lapilli_file* file) {
      return static_cast<Host*>(user)->open(name, file);
    };
    f.read = [](void* user, void* handle, uint64_t offset, void* to, uint64_t bytes, uint64_t* done) {
      return static_cast<Host*>(user)->read(handle, offset, to, bytes, done);
    };
    f.map = [](void* user, void* handle) -> const void* {
      auto* host = static_cast<Host*>(user);
      ++host->mapped;
      return host->maps ? host->files[static_cast<Opened*>(handle)->name].data() : nullptr;
    };
    f.close = [](void* user, void* handle) {
      auto* host = static_cast<Host*>(user);
      ++host->closes;
      EXPECT_EQ(--host->open_files[handle], 0) << static_cast<Opened*>(handle)->name;
    };
    return f;
  }
  void expect_all_closed() const {
    EXPECT_EQ(closes, opened.size());
    for (const auto& [handle, open] : open_files) EXPECT_EQ(open, 0);
  }
};

class ApiFilesDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(lapilli_device_open(nullptr, &device_), LAPILLI_OK); }
  static void TearDownTestSuite() { lapilli_device_close(device_); }
  void TearDown() override { lapilli_model_free(model_); }

  lapilli_status load(const lapilli_model_options& options, const char* name = nullptr) {
    lapilli_model_free(model_);
    const lapilli_status status = lapilli_model_load_with(device_, name, &options, &model_);
    EXPECT_EQ(status == LAPILLI_OK, model_ != nullptr);
    return status;
  }
  lapilli_status load(Host& host, const char* name = nullptr) {
    const lapilli_files files = host.functions();
    lapilli_model_options options = lapilli_default_model_options();
    options.files = &files;
    const lapilli_status status = load(options, name);
    host.expect_all_closed();
    return status;
  }
  lapilli_status load(const std::vector<lapilli_file_part>& parts, const char* name = nullptr) {
    lapilli_model_options options = lapilli_default_model_options();
    options.parts = parts.data();
    options.part_count = parts.size();
    return load(options, name);
  }
  // Greedy ids of the first sequence.
  static std::vector<int32_t> generated(lapilli_model* model, const lapilli_input& input) {
    lapilli_options options = lapilli_default_options();
    options.num_beams = 1;
    options.max_new_tokens = 40;
    lapilli_result* result = nullptr;
    lapilli_sequence best{};
    best.struct_size = sizeof best;
    EXPECT_EQ(lapilli_generate(model, &input, 1, &options, &result), LAPILLI_OK) << lapilli_last_error();
    EXPECT_EQ(lapilli_result_get(result, 0, 0, &best), LAPILLI_OK) << lapilli_last_error();
    std::vector<int32_t> ids(best.ids.ids, best.ids.ids + best.ids.count);
    lapilli_result_free(result);
    return ids;
  }
  // Texts and ids of the records give the ids that they should.
  void expect_bundled() {
    const auto expected = nlohmann::json::parse(read_file(kBundled + "/expected.json"));
    size_t tried = 0;
    for (const auto& c : expected.at("cases")) {
      if (!c.at("greedy").at("robust").get<bool>() || c.at("greedy").at("ids").size() > 30) continue;
      auto wanted = c.at("greedy").at("ids").get<std::vector<int32_t>>();
      wanted.erase(wanted.begin());  // the start token
      const auto ids = c.at("input_ids").get<std::vector<int32_t>>();
      const auto text = c.at("text").get<std::string>();
      EXPECT_EQ(generated(model_, lapilli_tokens(ids.data(), ids.size())), wanted) << text;
      EXPECT_EQ(generated(model_, lapilli_text(text.c_str())), wanted) << text;
      if (++tried == 6) break;
    }
    EXPECT_EQ(tried, 6u);
  }
  // The model gives what the same one from a directory does.
  void expect_as_from(const std::string& directory) {
    lapilli_model* disk = nullptr;
    ASSERT_EQ(lapilli_model_load(device_, directory.c_str(), &disk), LAPILLI_OK) << lapilli_last_error();
    for (const std::vector<int32_t>& ids : {std::vector<int32_t>{5, 9, 33, 100, 2}, std::vector<int32_t>{77, 12, 2}}) {
      const lapilli_input input = lapilli_tokens(ids.data(), ids.size());
      EXPECT_EQ(generated(model_, input), generated(disk, input));
    }
    lapilli_model_free(disk);
  }

  static lapilli_device* device_;
  lapilli_model* model_ = nullptr;
};
lapilli_device* ApiFilesDevice::device_ = nullptr;

// Fields that come later find no padding before them, whatever the size of a pointer.
static_assert(sizeof(lapilli_model_options) == offsetof(lapilli_model_options, no_prefix_cache) + sizeof(size_t));
static_assert(sizeof(lapilli_file_part) == offsetof(lapilli_file_part, bytes) + sizeof(uint64_t));
static_assert(sizeof(lapilli_file) == offsetof(lapilli_file, size) + sizeof(uint64_t));
static_assert(sizeof(lapilli_files) == offsetof(lapilli_files, close) + sizeof(void (*)()));

// All files one behind the other, from offset 12,345 on, with a gap between them.
struct Pak {
  explicit Pak(const FileMap& files) {
    std::string content(12345, '#');
    for (const auto& [name, bytes] : files) {
      places.push_back({name, content.size(), bytes.size()});
      content += bytes + "#";
    }
    path = folder.write("assets.pak", content);
    descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_GE(descriptor, 0);
  }
  ~Pak() { ::close(descriptor); }
  struct Place {
    std::string name;
    uint64_t offset, bytes;
  };
  [[nodiscard]] std::vector<lapilli_file_part> parts() const {
    std::vector<lapilli_file_part> all;
    for (const Place& p : places)
      all.push_back(lapilli_file_in_descriptor(p.name.c_str(), descriptor, p.offset, p.bytes));
    return all;
  }
  TempDirectory folder;
  std::string path;
  std::vector<Place> places;
  int descriptor = -1;
};

TEST_F(ApiFilesDevice, OnePakFile) {
  const Pak pak(files_in(kBundled));
  ASSERT_EQ(pak.places.front().offset, 12345u);
  ASSERT_EQ(load(pak.parts()), LAPILLI_OK) << lapilli_last_error();
  EXPECT_EQ(::lseek(pak.descriptor, 0, SEEK_CUR), 0);  // where it was
  expect_bundled();
  lapilli_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(lapilli_model_get_info(model_, &info), LAPILLI_OK);
  EXPECT_STREQ(info.directory, "");
  EXPECT_NE(info.has_tokenizer, 0);
}

TEST_F(ApiFilesDevice, Memory) {
  const FileMap files = files_in(kBundled);
  std::vector<lapilli_file_part> parts;
  for (const auto& [name, content] : files)
    parts.push_back(lapilli_file_in_memory(name.c_str(), content.data(), content.size()));
  parts.push_back(lapilli_file_in_memory("empty", nullptr, 0));
  ASSERT_EQ(load(parts, "asset:en-fr"), LAPILLI_OK) << lapilli_last_error();
  expect_bundled();
}

// A model that "lapilli pack" wrote, read by functions: its dtype is the files', and the ids are those of packing at
// load.
TEST_F(ApiFilesDevice, PackedFiles) {
  const TempDirectory folder;
  const std::string packed = folder.path() + "/packed";
  const auto made = lapilli::tools::pack({.model = kBundled, .output = packed, .dtype = "int8"});
  ASSERT_EQ(made.status, LAPILLI_OK) << made.text;
  const auto translated = [&] {
    std::vector<std::vector<int32_t>> ids;
    for (const char* text :
         {"Where is the station?", "The doctor will see you now.", "It was a dark and stormy night."})
      ids.push_back(generated(model_, lapilli_text(text)));
    return ids;
  };
  lapilli_model_options options = lapilli_default_model_options();
  options.dtype = LAPILLI_DTYPE_INT8;
  ASSERT_EQ(load(options, kBundled.c_str()), LAPILLI_OK) << lapilli_last_error();
  const auto at_load = translated();
  Host host;
  host.files = files_in(packed);
  ASSERT_EQ(load(host), LAPILLI_OK) << lapilli_last_error();
  lapilli_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_EQ(lapilli_model_get_info(model_, &info), LAPILLI_OK);
  EXPECT_EQ(info.dtype, LAPILLI_DTYPE_INT8);
  EXPECT_EQ(info.fp32_matrices, 0u);
  EXPECT_EQ(translated(), at_load);
  options.dtype = LAPILLI_DTYPE_BF16;
  EXPECT_EQ(load(options, packed.c_str()), LAPILLI_INVALID_ARGUMENT);
  EXPECT_NE(std::string(lapilli_last_error()).find("packed as int8"), std::string::npos) << lapilli_last_error();
}

TEST_F(ApiFilesDevice, FunctionsThatRead) {
  Host host;
  host.files = files_in(kBundled);
  ASSERT_EQ(load(host), LAPILLI_OK) << lapilli_last_error();
  expect_bundled();
  EXPECT_GT(host.mapped, 0u);
  // The weights come piece by piece, and nothing else is large.
  EXPECT_LT(host.largest_read, host.files["model.safetensors"].size() / 3);
}

TEST_F(ApiFilesDevice, FunctionsThatMap) {
  Host host;
  host.files = files_in(kBundled);
  host.maps = true;
  ASSERT_EQ(load(host, "pak:en-fr"), LAPILLI_OK) << lapilli_last_error();
  expect_bundled();
  EXPECT_EQ(host.reads, 0u);
  EXPECT_EQ(host.mapped, host.opened.size());
}

TEST_F(ApiFilesDevice, OtherFormatsAndFamilies) {
  for (const char* name : {"marian/model", "marian/model-pytorch", "marian/model-pytorch-legacy", "t5/model"}) {
    for (const bool maps : {false, true}) {
      Host host;
      host.files = files_in(kModels + name);
      host.maps = maps;
      ASSERT_EQ(load(host), LAPILLI_OK) << name << ": " << lapilli_last_error();
      expect_as_from(kModels + name);
    }
  }
}

// Two files with all tensors, of which an index names the one or the other.
TEST_F(ApiFilesDevice, SeveralWeightFiles) {
  Host host;
  host.files = files_in(kModels + "marian/model");
  const std::string all = host.files["model.safetensors"];
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, all.data(), 8);
  const auto header = nlohmann::json::parse(all.substr(8, header_bytes));
  nlohmann::json index;
  for (const auto& item : header.items())
    if (item.key() != "__metadata__")
      index["weight_map"][item.key()] = index["weight_map"].size() % 2 ? "one.safetensors" : "two.safetensors";
  host.files.erase("model.safetensors");
  host.files["one.safetensors"] = host.files["two.safetensors"] = all;
  host.files["model.safetensors.index.json"] = index.dump();
  ASSERT_EQ(load(host), LAPILLI_OK) << lapilli_last_error();
  expect_as_from(kModels + "marian/model");
  host = {};
  host.files["model.safetensors.index.json"] = index.dump();
  host.files["config.json"] = read_file(kModels + "marian/model/config.json");
  EXPECT_EQ(load(host), LAPILLI_NOT_FOUND);
  EXPECT_TRUE(says("one.safetensors")) << lapilli_last_error();
}

// The reads or opens, out of `count`, that are to fail: the first and the last ones, and some of those between.
std::vector<size_t> chosen(size_t count, size_t step) {
  std::vector<size_t> all;
  for (size_t i = 0; i < count; i += i < 12 || i + 12 > count ? 1 : step) all.push_back(i);
  return all;
}

TEST_F(ApiFilesDevice, EveryReadThatGoesWrongIsAnError) {
  using Wrong = Host::Wrong;
  const std::map<Wrong, lapilli_status> statuses = {{Wrong::fails, LAPILLI_TIMEOUT},
                                                    {Wrong::is_short, LAPILLI_INVALID_DATA},
                                                    {Wrong::claims_more, LAPILLI_INVALID_ARGUMENT},
                                                    {Wrong::throws, LAPILLI_INTERNAL}};
  for (const std::string& directory : {kModels + "marian/model", kModels + "marian/model-pytorch",
                                       kModels + "marian/model-pytorch-legacy", kBundled}) {
    Host good;
    good.files = files_in(directory);
    ASSERT_EQ(load(good), LAPILLI_OK) << lapilli_last_error();
    ASSERT_GT(good.reads, 10u);
    for (const size_t i : chosen(good.reads, directory == kBundled ? 40 : 1))
      for (const auto& [wrong, status] : statuses) {
        if (i > 2 && i % statuses.size() != static_cast<size_t>(wrong) - 1) continue;  // the kinds take turns
        Host host;
        host.files = good.files;
        host.read_wrong = wrong;
        host.wrong_at = i;
        EXPECT_EQ(load(host), status) << directory << ", read " << i << ": " << lapilli_last_error();
        EXPECT_TRUE(says("json") || says("model") || says(".spm")) << lapilli_last_error();
      }
  }
}

TEST_F(ApiFilesDevice, EveryOpenThatFailsIsAnError) {
  Host good;
  good.files = files_in(kBundled);
  ASSERT_EQ(load(good), LAPILLI_OK) << lapilli_last_error();
  for (size_t i = 0; i < good.opens; ++i)
    for (const bool throws : {false, true}) {
      Host host;
      host.files = good.files;
      host.open_wrong = throws ? Host::Wrong::throws : Host::Wrong::fails;
      host.wrong_at = i;
      EXPECT_EQ(load(host), throws ? LAPILLI_INTERNAL : LAPILLI_CANCELLED) << i << ": " << lapilli_last_error();
    }
}

TEST_F(ApiFilesDevice, SizesThatLie) {
  const FileMap files = files_in(kBundled);
  const auto load_with = [&](const char* liar, uint64_t size) {
    Host host;
    host.files = files;
    host.size_of = [&](const std::string& name) { return name == liar ? size : files.at(name).size(); };
    return load(host);
  };
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors", "source.spm", "vocab.json"}) {
    EXPECT_EQ(load_with(name, uint64_t{1} << 63), LAPILLI_INVALID_DATA) << name;
    EXPECT_TRUE(says(name)) << lapilli_last_error();
    EXPECT_EQ(load_with(name, ~uint64_t{0}), LAPILLI_INVALID_DATA) << name;
    if (std::string(name) == "model.safetensors") continue;  // what stands behind weights is not read
    EXPECT_EQ(load_with(name, files.at(name).size() + 1), LAPILLI_INVALID_DATA) << name;
    EXPECT_TRUE(says(name)) << lapilli_last_error();
  }
  EXPECT_EQ(load_with("config.json", files.at("config.json").size() - 5), LAPILLI_INVALID_DATA);
  EXPECT_EQ(load_with("model.safetensors", files.at("model.safetensors").size() - 5), LAPILLI_INVALID_DATA);
  EXPECT_EQ(load_with("model.safetensors", 0), LAPILLI_INVALID_DATA);
}

TEST_F(ApiFilesDevice, PartsThatAreNotWhatTheySay) {
  const Pak pak(files_in(kModels + "marian/model"));
  const auto refused = [&](lapilli_status status, const char* what,
                           const std::function<void(lapilli_file_part&)>& change) {
    auto parts = pak.parts();
    change(parts[0]);  // config.json
    EXPECT_EQ(load(parts), status) << what << ": " << lapilli_last_error();
    EXPECT_TRUE(says(what)) << what << ": " << lapilli_last_error();
  };
  const uint64_t pak_bytes = std::filesystem::file_size(pak.path);
  refused(LAPILLI_INVALID_DATA, "config.json", [&](lapilli_file_part& p) { p.bytes = pak_bytes; });
  refused(LAPILLI_INVALID_DATA, "config.json", [&](lapilli_file_part& p) { p.offset = pak_bytes + 1; });
  refused(LAPILLI_INVALID_ARGUMENT, "config.json", [](lapilli_file_part& p) { p.offset = ~uint64_t{0}; });
  refused(LAPILLI_INVALID_ARGUMENT, "config.json", [](lapilli_file_part& p) { p.bytes = ~uint64_t{0} - p.offset + 2; });
  refused(LAPILLI_INVALID_ARGUMENT, "not open", [](lapilli_file_part& p) { p.descriptor = 1 << 20; });
  refused(LAPILLI_INVALID_ARGUMENT, "not open", [](lapilli_file_part& p) { p.descriptor = -1; });
  refused(LAPILLI_INVALID_ARGUMENT, "not open", [](lapilli_file_part& p) { p.descriptor = int64_t{1} << 40; });
  const int directory = ::open(kBundled.c_str(), O_RDONLY | O_CLOEXEC);
  refused(LAPILLI_INVALID_ARGUMENT, "a directory", [&](lapilli_file_part& p) { p.descriptor = directory; });
  ::close(directory);
  refused(LAPILLI_INVALID_ARGUMENT, "kind 0", [](lapilli_file_part& p) { p.kind = 0; });
  refused(LAPILLI_UNSUPPORTED, "kind 9", [](lapilli_file_part& p) { p.kind = 9; });
  refused(LAPILLI_INVALID_ARGUMENT, "no name", [](lapilli_file_part& p) { p.name = nullptr; });
  refused(LAPILLI_INVALID_ARGUMENT, "no name", [](lapilli_file_part& p) { p.name = ""; });
  refused(LAPILLI_INVALID_ARGUMENT, "two parts", [](lapilli_file_part& p) { p.name = "model.safetensors"; });
  refused(LAPILLI_NOT_FOUND, "config.json", [](lapilli_file_part& p) { p.name = "other.json"; });
  refused(LAPILLI_INVALID_ARGUMENT, "struct_size", [](lapilli_file_part& p) { p.struct_size = 0; });
  refused(LAPILLI_INVALID_ARGUMENT, "null pointer",
          [](lapilli_file_part& p) { p = lapilli_file_in_memory("config.json", nullptr, 1); });
  refused(LAPILLI_INVALID_ARGUMENT, "beyond all memory",
          [&](lapilli_file_part& p) { p = lapilli_file_in_memory("config.json", &pak, ~uint64_t{0}); });
}

// A descriptor that cannot be read, and a file that gets shorter than it was.
TEST_F(ApiFilesDevice, DescriptorsThatFail) {
  const Pak pak(files_in(kModels + "marian/model"));
  const int writer = ::open(pak.path.c_str(), O_WRONLY | O_CLOEXEC);
  auto parts = pak.parts();
  for (auto& part : parts) part.descriptor = writer;
  EXPECT_EQ(load(parts), LAPILLI_INVALID_DATA);
  EXPECT_TRUE(says("config.json")) << lapilli_last_error();
  ::close(writer);
  std::filesystem::resize_file(pak.path, 20000);  // within the weights
  EXPECT_EQ(load(pak.parts()), LAPILLI_INVALID_DATA);
  EXPECT_TRUE(says("model.safetensors")) << lapilli_last_error();
}

TEST_F(ApiFilesDevice, OptionsThatAreWrong) {
  Host host;
  const lapilli_files files = host.functions();
  const lapilli_file_part part = lapilli_file_in_memory("config.json", "{}", 2);
  const auto refused = [&](lapilli_status status, const char* what, const lapilli_files* functions,
                           const lapilli_file_part* parts, uint64_t count) {
    lapilli_model_options options = lapilli_default_model_options();
    options.files = functions;
    options.parts = parts;
    options.part_count = count;
    EXPECT_EQ(load(options), status) << what;
    EXPECT_TRUE(says(what)) << what << ": " << lapilli_last_error();
  };
  refused(LAPILLI_INVALID_ARGUMENT, "both files and parts", &files, &part, 1);
  refused(LAPILLI_INVALID_ARGUMENT, "part_count is 0", nullptr, &part, 0);
  refused(LAPILLI_INVALID_ARGUMENT, "null pointer", nullptr, nullptr, 1);
  refused(LAPILLI_INVALID_ARGUMENT, "part_count", nullptr, &part, ~uint64_t{0});
  refused(LAPILLI_INVALID_DATA, "config.json", nullptr, &part, 1);
  refused(LAPILLI_NOT_FOUND, "config.json", &files, nullptr, 0);
  lapilli_files wrong = files;
  wrong.open = nullptr;
  refused(LAPILLI_INVALID_ARGUMENT, "open is null", &wrong, nullptr, 0);
  wrong = files;
  wrong.read = nullptr;
  refused(LAPILLI_INVALID_ARGUMENT, "read is null", &wrong, nullptr, 0);
  wrong = files;
  wrong.close = nullptr;
  refused(LAPILLI_INVALID_ARGUMENT, "close is null", &wrong, nullptr, 0);
  wrong = files;
  wrong.struct_size = 0;
  refused(LAPILLI_INVALID_ARGUMENT, "begin with lapilli_default_files()", &wrong, nullptr, 0);
}

}  // namespace
