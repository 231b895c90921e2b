// The server's own routes: its health, its counts, and the progress of requests.
#include "server/protocols/json_body.hpp"
#include "server/protocols/protocol.hpp"
#include "server/work/job_events.hpp"

namespace lapilli::server {

Protocol own();

namespace {

// LibreTranslate's form as well.
void health(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  const bool alive = desk.is_alive();
  exchange->answer({alive ? 200 : 503, json_line({{"status", alive ? "ok" : "the device does not answer"}})});
}

void metrics(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  exchange->answer({200, desk.metrics(), "text/plain; version=0.0.4; charset=utf-8"});
}

constexpr std::string_view kJobs = "/v1/jobs/", kEvents = "/events";

Response own_error(int status, const std::string& message, const std::string&) {
  return {status, json_line({{"error", message}})};
}

std::string own_key(const Request& request) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = request.header("authorization");
  return header.starts_with(kBearer) ? std::string(header.substr(kBearer.size())) : "";
}

// GET /v1/jobs/NAME/events
void job_events(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  std::string name = exchange->request().path.substr(kJobs.size());
  if (!name.ends_with(kEvents)) return exchange->answer(own_error(404, "ask for /v1/jobs/NAME/events", ""));
  name.erase(name.size() - kEvents.size());
  if (JobEvents::is_name(name)) return desk.watch(name, exchange);
  exchange->answer(own_error(400, "a name has 1 to 64 letters, digits, - and _", ""));
}

}  // namespace

Protocol own() {
  Protocol protocol;
  protocol.name = "own";
  protocol.routes = {{"GET", "/health", &health, 0, false},
                     {"GET", "/metrics", &metrics, 0, true},
                     {"GET", "/v1/jobs/*", &job_events, 0}};
  protocol.error = &own_error;
  protocol.key = &own_key;
  return protocol;
}

}  // namespace lapilli::server
