// The server's own routes: its health and its counts.
#include "server/protocols/json_body.hpp"
#include "server/protocols/protocol.hpp"

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

Response own_error(int status, const std::string& message, const std::string&) {
  return {status, json_line({{"error", message}})};
}

std::string own_key(const Request& request) {
  constexpr std::string_view kBearer = "Bearer ";
  const std::string_view header = request.header("authorization");
  return header.starts_with(kBearer) ? std::string(header.substr(kBearer.size())) : "";
}

}  // namespace

Protocol own() {
  Protocol protocol;
  protocol.name = "own";
  protocol.routes = {{"GET", "/health", &health, 0, false}, {"GET", "/metrics", &metrics, 0, true}};
  protocol.error = &own_error;
  protocol.key = &own_key;
  return protocol;
}

}  // namespace lapilli::server
