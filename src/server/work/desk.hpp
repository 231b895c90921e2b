// Where protocols hand in work, and learn of the models.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "server/http/exchange.hpp"
#include "server/kept_files.hpp"
#include "server/usage.hpp"
#include "server/work/device_facts.hpp"
#include "server/work/document_jobs.hpp"
#include "server/work/model_facts.hpp"
#include "server/work/work.hpp"

namespace lapilli::server {

// Thread-safe; nothing here waits.
class Desk {
 public:
  virtual ~Desk() = default;

  // Starts work as soon as its model is there. Work of an exchange is cancelled when its client leaves; an exchange of
  // null has no client.
  virtual void start(std::shared_ptr<Work> work, const std::shared_ptr<Exchange>& exchange) = 0;
  // Runs a function on a thread of the small pool: parsing, writing of answers.
  virtual void run(std::function<void()> function) = 0;
  // The same for what may take seconds, such as the decoding of recordings: it has threads of its own, for which only
  // its like waits.
  virtual void run_long(std::function<void()> function) = 0;

  // The models in the order in which they were named; never changes.
  [[nodiscard]] virtual const std::vector<ModelFacts>& models() const = 0;
  // Limits that protocols state and hold.
  struct Limits {
    uint64_t characters = 0;  // of the texts of a request, 0: none
    uint32_t texts = 1024;    // of a list
    uint32_t alternatives = 16;
    uint64_t sound_seconds = 0;      // 0: six hours
    uint64_t pixels = 0, files = 0;  // 0: none
    uint64_t bytes = 0;              // of a body, 0: as the routes say
    uint32_t requests = 0;           // a minute, 0: any number
    bool token_ids = false;          // embeddings of ids are allowed
  };
  [[nodiscard]] virtual const Limits& limits() const = 0;
  // Those of the key that a request came with.
  [[nodiscard]] virtual const Limits& limits(const Exchange&) const { return limits(); }

  // The account of a request's protocol and key, and what all requests with this key have taken since the start.
  [[nodiscard]] virtual std::shared_ptr<Account> account(const Exchange& exchange) = 0;
  // The account of a protocol without keys.
  [[nodiscard]] virtual std::shared_ptr<Account> account(const std::string& protocol) = 0;
  [[nodiscard]] virtual Usage usage(const Exchange& exchange) const = 0;

  // Files that wait for their download under a random name, for a bounded time; null: there is none of this name.
  virtual std::string keep_file(KeptFile file) = 0;
  [[nodiscard]] virtual std::shared_ptr<const KeptFile> kept_file(const std::string& name) = 0;

  // Documents whose translation was asked for and is fetched later.
  [[nodiscard]] virtual DocumentJobs& documents() = 0;

  // Tells the progress of the request of this name, which has the same key, in events until it ends.
  virtual void watch(const std::string& name, const std::shared_ptr<Exchange>& exchange) = 0;

  // Facts that the server's own routes tell.
  [[nodiscard]] virtual bool asks_for_keys() const = 0;
  // False if the thread of the device has not come round for long.
  [[nodiscard]] virtual bool is_alive() const = 0;
  [[nodiscard]] virtual std::string metrics() const = 0;

  // The device and what is on it, for pages that show it.
  struct DeviceState {
    DeviceFacts facts;
    std::string select, caps, cache;  // as the server opened it
    std::vector<std::string> loaded;  // names of models
    uint64_t held_bytes = 0, weight_bytes = 0, peak_bytes = 0;
    uint64_t limit_bytes = 0;  // 0: none
  };
  [[nodiscard]] virtual DeviceState device() const { return {}; }
};

}  // namespace lapilli::server
