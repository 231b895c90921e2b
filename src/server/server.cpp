#include "server/server.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "server/http/origin.hpp"
#include "server/keys.hpp"
#include "server/metrics.hpp"
#include "server/protocols/protocol.hpp"
#include "server/protocols/wyoming.hpp"
#include "server/turn.hpp"
#include "server/work/job_pump.hpp"
#include "server/work/model_shelf.hpp"
#include "server/work/pool.hpp"
#include "server/work/translation.hpp"

namespace lapilli::server {

#define LAPILLI_PROTOCOL(name) Protocol name();
#include "server/protocols/protocols.inc"
#undef LAPILLI_PROTOCOL

namespace {

constexpr unsigned kPoolThreads = 2, kLongThreads = 4;
constexpr double kAliveS = 60;   // a driver on the CPU may take long for one submission
constexpr double kKeptS = 3600;  // files that wait for their download
constexpr uint64_t kKeptBytes = uint64_t{256} << 20;
constexpr auto kGrace = std::chrono::seconds(12);  // for requests at a stop, before they are told so
constexpr double kCloseS = 17;
constexpr int kRetryS = 2;
constexpr uint64_t kMostWithoutKey = 16 << 20;  // of a body, where keys are asked for and the head has none

std::vector<Protocol> all_protocols() {
  std::vector<Protocol> all;
#define LAPILLI_PROTOCOL(name) all.push_back(name());
#include "server/protocols/protocols.inc"
#undef LAPILLI_PROTOCOL
  return all;
}

// A route with a * at its end serves all that begins alike.
bool leads_to(const Route& route, std::string_view path) {
  const std::string_view shown(route.path);
  return shown.ends_with('*') ? path.starts_with(shown.substr(0, shown.size() - 1)) : path == shown;
}

Usage one_request() {
  Usage usage;
  usage.requests = 1;
  return usage;
}

uint64_t milliseconds_of(const lapilli_input& sound) {
  const uint64_t samples = sound.source ? sound.source->count : sound.sample_count;
  return sound.sample_rate == 0 ? 0 : 1000 * samples / sound.sample_rate;
}

// The inputs alone: tokens are known at the end.
Usage usage_of(const Work& work) {
  Usage usage;
  for (const lapilli_input& input : work.inputs) {
    if (input.kind == LAPILLI_INPUT_TEXT) usage.characters += count_characters({input.text, input.text_bytes});
    if (input.kind == LAPILLI_INPUT_TEXT && input.pair)
      usage.characters += count_characters({input.pair, input.pair_bytes});
    if (input.kind == LAPILLI_INPUT_SAMPLES) usage.sound_ms += milliseconds_of(input);
    if (input.kind == LAPILLI_INPUT_PICTURE_FILE || input.kind == LAPILLI_INPUT_PIXELS) ++usage.pictures;
  }
  return usage;
}

Response retry_after(Response response, uint32_t seconds) {
  response.headers.emplace_back("Retry-After", std::to_string(seconds));
  return response;
}

}  // namespace

struct Server::Impl final : Desk, HttpHandler {
  // ---- opening ----

  Trouble open(const ServerOptions& given) {
    options = given;
    loopback = host_is_loopback(options.http.host) || options.http.host == "::1";
    if (const Trouble trouble = read_keys(); trouble.status != LAPILLI_OK) return trouble;
    std::vector<ModelFacts> facts;
    if (const Trouble trouble = read_models(facts); trouble.status != LAPILLI_OK) return trouble;
    auto opened = Device::open(options.device);
    if (!opened) return {static_cast<int32_t>(opened.error().status()), opened.error().message()};
    shelf = std::make_unique<ModelShelf>(std::move(facts), *opened,
                                         ModelShelf::Limits{options.model, 60 * options.idle_minutes},
                                         [this] { wake_pump(); });
    pool = std::make_unique<Pool>(kPoolThreads);
    long_pool = std::make_unique<Pool>(kLongThreads);
    {
      const std::lock_guard lock(pump_mutex);
      pump = std::make_unique<JobPump>(*shelf, *pool);
    }
    if (const std::string wrong = http.open(options.http, *this); !wrong.empty())
      return {LAPILLI_INVALID_ARGUMENT, wrong};
    if (!options.wyoming) return {};
    const std::string wrong = http.open_streams(options.http.host, *options.wyoming, wyoming);
    return wrong.empty() ? Trouble() : Trouble{LAPILLI_INVALID_ARGUMENT, "--wyoming: " + wrong};
  }

  Trouble read_keys() {
    std::string wrong;
    auto found = options.keys.empty() ? std::vector<Key>() : parse_keys(options.keys, options.limits, wrong);
    if (!wrong.empty()) return {LAPILLI_INVALID_ARGUMENT, "--keys: " + wrong};
    keys = std::make_unique<KeyRing>(std::move(found));
    return {};
  }

  Trouble read_models(std::vector<ModelFacts>& facts) const {
    for (const NamedModel& model : options.models) {
      std::string wrong;
      facts.push_back(read_facts(model.name, model.directory, wrong));
      if (!wrong.empty()) return {LAPILLI_INVALID_DATA, (model.name.empty() ? "" : model.name + ": ") + wrong};
    }
    return {};
  }

  // A load may end before the pump is there.
  void wake_pump() {
    const std::lock_guard lock(pump_mutex);
    if (pump) pump->wake();
  }

  // ---- requests ----

  struct Found {
    const Protocol* protocol = nullptr;
    const Route* route = nullptr;
    bool other_method = false;  // the path is known, but not with this method
  };
  [[nodiscard]] Found find(const Request& request) const {
    Found found;
    for (const Protocol& protocol : protocols) {
      for (const Route& route : protocol.routes) {
        if (!leads_to(route, request.path)) continue;
        const bool fits = request.method == route.method || (request.method == "HEAD" && route.method[0] == 'G');
        if (fits) return {&protocol, &route, false};
        if (found.protocol == nullptr) found = {&protocol, nullptr, true};
      }
    }
    return found;
  }

  // Errors outside of all routes are said as the first protocol says them.
  [[nodiscard]] Response error(const Found& found, int status, const std::string& why) const {
    return (found.protocol ? *found.protocol : protocols.front()).error(status, why, "");
  }

  // Checks that the head alone can decide; none of them costs work.
  Admission admit(const Request& head) override {
    const Found found = find(head);
    Admission admission;
    admission.refusal = refusal_of(head, found);
    if (!admission.refusal && found.route) admit_body(head, found, admission);
    if (admission.refusal) requests.count(found.protocol ? found.protocol->name : "none", admission.refusal->status, 0);
    return admission;
  }

  // Large bodies are for those whose head has a key. Some protocols have theirs in the body.
  void admit_body(const Request& head, const Found& found, Admission& admission) const {
    admission.most_body_bytes = found.route->most_body_bytes;
    if (!found.route->needs_key) return;
    if (keys->empty()) {
      if (options.limits.bytes > 0)
        admission.most_body_bytes = std::min(admission.most_body_bytes, options.limits.bytes);
      return;
    }
    const std::string given = found.protocol->key(head);
    const Key* key = given.empty() ? nullptr : keys->find(given);
    if (!given.empty() && key == nullptr) admission.refusal = with_cors(head, wrong_key(*found.protocol));
    const uint64_t most = key == nullptr ? kMostWithoutKey : key->limits.bytes > 0 ? key->limits.bytes : UINT64_MAX;
    admission.most_body_bytes = std::min(admission.most_body_bytes, most);
  }
  static Response wrong_key(const Protocol& protocol) {
    return protocol.error(protocol.wrong_key_status, "the key is none of this server's", "");
  }

  std::optional<Response> refusal_of(const Request& head, const Found& found) {
    const std::string_view host = head.header("host"), origin = head.header("origin");
    if (loopback && !host_is_loopback(host))
      return error(found, 403, "this server answers for this machine alone, and the request is for another host");
    if (!origin_allowed(origin, host, options.cors))
      return error(found, 403, "pages of other origins may not ask this server; --cors ORIGIN lets one in");
    if (is_preflight(head)) return preflight_response(head, options.cors);
    if (found.other_method) return error(found, 405, "the path knows no " + head.method);
    if (found.route == nullptr) return error(found, 404, "there is nothing at " + head.path);
    if (stopping) return with_cors(head, retry_after(error(found, 503, "the server stops"), kRetryS));
    const bool works = Protocol::is_work(*found.route);
    if (works && options.cors.empty() && head.header("sec-fetch-site") == "cross-site")
      return error(found, 403, "pages of other origins may not ask this server; --cors ORIGIN lets one in");
    if (works && at_work >= options.queue)
      return with_cors(head, retry_after(error(found, 429,
                                               "the server has " + std::to_string(at_work) +
                                                   " requests at work or waiting, and takes no more now"),
                                         kRetryS));
    return {};
  }

  [[nodiscard]] Response with_cors(const Request& head, Response response) const {
    for (auto& field : cors_headers(head.header("origin"), options.cors)) response.headers.push_back(std::move(field));
    return response;
  }

  Response refuse(const Request& head, int status, const std::string& why) override {
    return with_cors(head, error(find(head), status, why));
  }

  void handle(std::shared_ptr<Exchange> exchange) override {
    const Found found = find(exchange->request());
    const bool works = Protocol::is_work(*found.route);
    if (works) ++at_work;
    const std::string protocol = found.protocol->name;
    auto turn = std::make_shared<Turn>(
        exchange, cors_headers(exchange->request().header("origin"), options.cors),
        [this, found](bool left) { return unanswered(found, left); },
        [this, works, protocol](int status, double seconds) {
          if (works) --at_work;
          requests.count(protocol, status, seconds);
        });
    exchange.reset();
    Pool& threads = found.route->is_long ? *long_pool : *pool;
    threads.run([this, turn = std::move(turn), found] { handle_whole(turn, found); });
  }

  [[nodiscard]] Response unanswered(const Found& found, bool left) const {
    if (left) return error(found, kClientLeft, "the client ended its side of the connection before the answer");
    return stopping ? retry_after(error(found, 503, "the server stops"), kRetryS)
                    : error(found, 500, "the request failed within the server");
  }

  // A request whose client has left, or that has waited for too long at a stop, is dropped.
  void handle_whole(const std::shared_ptr<Turn>& turn, const Found& found) {
    if (gives_up || turn->gone()) return;
    turn->set_account(0, ledger.account(found.protocol->name, 0));
    if (const auto refusal = check_key(*turn, found)) return turn->answer(*refusal);
    if (Protocol::is_work(*found.route)) {
      if (const auto refusal = name_job(*turn, found)) return turn->answer(*refusal);
      turn->account()->add(one_request());
    }
    found.route->handle(*this, turn);
  }

  // A request that names itself may be watched.
  std::optional<Response> name_job(Turn& turn, const Found& found) {
    const std::string given(turn.request().header("lapilli-job"));
    if (given.empty()) return {};
    if (!JobEvents::is_name(given))
      return found.protocol->error(400, "Lapilli-Job: a name has 1 to 64 letters, digits, - and _", "");
    const JobEvents::Name name(turn.key(), given);
    auto job = events.begin(name);
    if (!job) return found.protocol->error(409, "Lapilli-Job: another request of this name is at work", "");
    turn.set_job(std::move(job), [this, name](int status) { events.end(name, status); });
    return {};
  }

  std::optional<Response> check_key(Turn& turn, const Found& found) {
    const Protocol& protocol = *found.protocol;
    if (!found.route->needs_key) return {};
    if (keys->empty())
      return too_many(protocol, options.limits, "an address",
                      callers.count(turn.request().address, options.limits.requests));
    const std::string given = protocol.key(turn.request());
    if (given.empty()) return protocol.error(protocol.missing_key_status, "this server asks for a key", "");
    const Key* key = keys->find(given);
    if (key == nullptr) return wrong_key(protocol);
    turn.set_limits(key->limits);
    turn.set_account(keys->number_of(*key), ledger.account(protocol.name, keys->number_of(*key)));
    if (key->limits.bytes > 0 && turn.request().body.size() > key->limits.bytes)
      return protocol.error(413,
                            "the body has " + std::to_string(turn.request().body.size()) + " bytes, and the key " +
                                "allows " + std::to_string(key->limits.bytes),
                            "");
    return too_many(protocol, key->limits, "the key", keys->count(*key));
  }

  static std::optional<Response> too_many(const Protocol& protocol, const Limits& limits, const std::string& who,
                                          uint32_t wait_s) {
    if (wait_s == 0) return {};
    const std::string most = std::to_string(limits.requests);
    return retry_after(protocol.error(429, who + " may make " + most + " requests a minute", ""), wait_s);
  }

  // ---- the desk ----

  void start(std::shared_ptr<Work> work, const std::shared_ptr<Exchange>& exchange) override {
    if (options.deadline_s > 0 && !work->deadline)
      work->deadline = Turn::Clock::now() + std::chrono::duration_cast<Turn::Clock::duration>(
                                                std::chrono::duration<double>(options.deadline_s));
    if (!work->account && exchange) work->account = account(*exchange);
    if (const auto* turn = dynamic_cast<const Turn*>(exchange.get()); turn != nullptr && turn->job())
      work->on_progress = [job = turn->job(), id = work.get()](const Event& event) {
        job->tell(id, {event.done, event.total, event.tokens});
      };
    if (work->account && !work->counted) work->account->add(usage_of(*work));
    if (exchange)
      exchange->on_gone([left = std::weak_ptr(work)] {
        if (const auto there = left.lock()) there->cancelled = true;
      });
    pump->start(std::move(work));
  }
  void run(std::function<void()> function) override { pool->run(std::move(function)); }
  void run_long(std::function<void()> function) override { long_pool->run(std::move(function)); }
  [[nodiscard]] const std::vector<ModelFacts>& models() const override { return shelf->facts(); }
  [[nodiscard]] const Limits& limits() const override { return options.limits; }
  [[nodiscard]] const Limits& limits(const Exchange& exchange) const override {
    const auto* turn = dynamic_cast<const Turn*>(&exchange);
    return turn != nullptr && turn->limits() != nullptr ? *turn->limits() : options.limits;
  }
  [[nodiscard]] std::shared_ptr<Account> account(const Exchange& exchange) override {
    const auto* turn = dynamic_cast<const Turn*>(&exchange);
    return turn != nullptr ? turn->account() : ledger.account("none", 0);
  }
  [[nodiscard]] std::shared_ptr<Account> account(const std::string& protocol) override {
    return ledger.account(protocol, 0);
  }
  [[nodiscard]] Usage usage(const Exchange& exchange) const override {
    const auto* turn = dynamic_cast<const Turn*>(&exchange);
    return ledger.of_key(turn != nullptr ? turn->key() : 0);
  }
  void watch(const std::string& name, const std::shared_ptr<Exchange>& exchange) override {
    const auto* turn = dynamic_cast<const Turn*>(exchange.get());
    events.watch({turn != nullptr ? turn->key() : 0, name}, exchange);
  }
  std::string keep_file(KeptFile file) override { return files.keep(std::move(file)); }
  [[nodiscard]] std::shared_ptr<const KeptFile> kept_file(const std::string& name) override { return files.find(name); }
  [[nodiscard]] DocumentJobs& documents() override { return document_jobs; }
  [[nodiscard]] bool asks_for_keys() const override { return !keys->empty(); }
  [[nodiscard]] bool is_alive() const override { return pump->quiet_s() < kAliveS; }

  [[nodiscard]] std::string metrics() const override {
    const auto number = [](uint64_t value) { return static_cast<double>(value); };
    const JobPump::Counts jobs = pump->counts();
    const HttpServer::Counts net = http.counts();
    const auto device = shelf->device().usage();
    std::string all = requests.text();
    all += metric("lapilli_connections", "gauge", "Open connections", number(net.open));
    all += metric("lapilli_requests_at_work", "gauge", "Requests at work or waiting", at_work);
    all += metric("lapilli_jobs_running", "gauge", "Jobs of models", number(jobs.running));
    all += metric("lapilli_jobs_waiting", "gauge", "Jobs whose model is being loaded", number(jobs.waiting));
    all += metric("lapilli_generated_tokens_total", "counter", "Tokens of the best sequences", number(jobs.tokens));
    all += metric("lapilli_models_loaded", "gauge", "Models on the device", number(shelf->loaded().size()));
    all += metric("lapilli_model_loads_total", "counter", "Loads of models", number(shelf->loads()));
    all += metric("lapilli_device_bytes", "gauge", "Device memory in use", device ? number(device->held_bytes) : 0);
    return all + ledger.text();
  }

  // Looking for the devices takes a while, and the first who asks waits for it.
  [[nodiscard]] DeviceState device() const override {
    std::call_once(device_read, [this] { device_facts = read_device_facts(options.device); });
    DeviceState state{device_facts,
                      options.device.select,
                      options.device.caps,
                      options.device.cache_directory,
                      {},
                      0,
                      0,
                      0,
                      options.device.memory_limit};
    for (const ModelShelf::Loaded& model : shelf->loaded()) state.loaded.push_back(model.name);
    const auto usage = shelf->device().usage();
    if (!usage) return state;
    state.held_bytes = usage->held_bytes;
    state.weight_bytes = usage->weight_bytes;
    state.peak_bytes = usage->peak_bytes;
    return state;
  }

  // ---- the end ----

  bool stop() {
    if (stopping.exchange(true)) return is_idle();
    events.close();
    std::thread late([this] {
      std::unique_lock lock(pump_mutex);
      if (closed.wait_for(lock, kGrace, [this] { return is_closed; })) return;
      gives_up = true;
      if (pump) pump->cancel_all();
    });
    http.stop(kCloseS);
    {
      const std::lock_guard lock(pump_mutex);
      is_closed = true;
    }
    closed.notify_all();
    late.join();
    gives_up = true;
    if (pump) pump->cancel_all();
    return is_idle();
  }
  [[nodiscard]] bool is_idle() const {
    const bool reads = pump && pump->is_reading();
    return !pool || (pool->busy() + long_pool->busy() == 0 && !reads && !shelf->is_loading());
  }

  // Work ends before the pool that takes its outcomes, and before the connections that they answer.
  ~Impl() override {
    stop();
    if (pump) pump->close();
    // Functions that still run may hand in work, which the pump refuses, and others, which are dropped.
    if (long_pool) long_pool->close();
    if (pool) pool->close();
    {
      const std::lock_guard lock(pump_mutex);
      pump.reset();
    }
    shelf.reset();
  }

  ServerOptions options;
  const std::vector<Protocol> protocols = all_protocols();
  bool loopback = true;
  std::unique_ptr<KeyRing> keys;
  Metrics requests;
  KeptFiles files{kKeptS, kKeptBytes};
  DocumentJobs document_jobs{kKeptS, kKeptBytes};
  std::atomic<uint32_t> at_work{0};
  std::atomic<bool> stopping{false}, gives_up{false};
  mutable std::once_flag device_read;
  mutable DeviceFacts device_facts;
  Ledger ledger;
  Callers callers;
  JobEvents events;
  Wyoming wyoming{*this};
  HttpServer http;
  std::unique_ptr<ModelShelf> shelf;
  std::unique_ptr<Pool> pool, long_pool;
  std::mutex pump_mutex;  // guards the pointer and the next two
  std::unique_ptr<JobPump> pump;
  std::condition_variable closed;
  bool is_closed = false;
};

Server::Server() : impl_(std::make_unique<Impl>()) {}
Server::~Server() = default;
Server::Trouble Server::open(const ServerOptions& options) { return impl_->open(options); }
const std::vector<ModelFacts>& Server::models() const { return impl_->models(); }
uint16_t Server::port() const { return impl_->http.port(); }
uint16_t Server::wyoming_port() const { return impl_->http.stream_port(); }
void Server::start() { impl_->http.start(); }
bool Server::stop() { return impl_->stop(); }

}  // namespace lapilli::server
