#include "api/host_store.hpp"

#include <new>
#include <stdexcept>

#include "api/handles.hpp"
#include "base/log.hpp"

namespace lapilli::api {

namespace {

constexpr size_t kMostReceivedBytes = size_t{256} << 20;  // anything larger is not ours

// Accumulates the data that a load callback passes piece by piece.
struct Received {
  Blob bytes;
  bool usable = true;
};

extern "C" void lapilli_receive_piece(void* context, const void* data, size_t bytes) {
  auto& received = *static_cast<Received*>(context);
  if (bytes > kMostReceivedBytes - received.bytes.size() || (!data && bytes)) received.usable = false;
  if (!received.usable || bytes == 0) return;
  const auto* from = static_cast<const std::byte*>(data);
  try {
    received.bytes.insert(received.bytes.end(), from, from + bytes);
  } catch (const std::bad_alloc&) {
    received.usable = false;
  }
}

class HostStore : public Store {
 public:
  explicit HostStore(const lapilli_store& host) : host_(host) {}

  std::optional<Blob> load(const std::string& key) override {
    Received received;
    const int32_t failed = host_.load(host_.user, key.c_str(), &lapilli_receive_piece, &received);
    if (failed || !received.usable) log(LogLevel::note, "the host's store cannot load " + key);
    if (failed || !received.usable || received.bytes.empty()) return {};
    return std::move(received.bytes);
  }

  bool save(const std::string& key, std::span<const std::byte> bytes) override {
    if (host_.store(host_.user, key.c_str(), bytes.empty() ? nullptr : bytes.data(), bytes.size()) == 0) return true;
    log(LogLevel::note, "the host's store cannot keep " + key + ": the next start takes longer");
    return false;
  }

 private:
  const lapilli_store host_;
};

}  // namespace

Result<std::shared_ptr<Store>> store_of(const lapilli_device_options& options) {
  const bool folder = options.cache_directory && *options.cache_directory;
  if (folder && options.store) {
    return fail(ErrorCode::invalid_argument,
                "lapilli_device_options has a store and a cache_directory; one of them is needed");
  }
  if (folder) return folder_store(options.cache_directory);
  if (!options.store) return std::shared_ptr<Store>();
  lapilli_store host{};
  LAPILLI_CHECK(read_struct(options.store, host, "lapilli_store"));
  if (!host.load || !host.store) {
    return fail(ErrorCode::invalid_argument, "lapilli_store.%s is null; both callbacks are needed",
                host.load ? "store" : "load");
  }
  return std::shared_ptr<Store>(std::make_shared<HostStore>(host));
}

namespace {

using LentTask = std::function<void(uint32_t index)>;
extern "C" void lapilli_run_task(void* context, uint32_t index) { (*static_cast<const LentTask*>(context))(index); }

}  // namespace

Result<vulkan::Workers> workers_of(const lapilli_device_options& options) {
  if (!options.workers) return vulkan::Workers();
  lapilli_workers host{};
  LAPILLI_CHECK(read_struct(options.workers, host, "lapilli_workers"));
  if (!host.run) return fail(ErrorCode::invalid_argument, "lapilli_workers.run is null");
  return vulkan::Workers([host](uint32_t count, const LentTask& task) {
    host.run(host.user, count, &lapilli_run_task, const_cast<LentTask*>(&task));
  });
}

}  // namespace lapilli::api
