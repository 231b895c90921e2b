// A server in the test's process, with small models, and requests to it.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "server/raw_client.hpp"
#include "server/server.hpp"

namespace lapilli::server::test {

using Json = nlohmann::json;

inline const std::string kBundled = LAPILLI_SOURCE_DIR "/models/en-fr";

// A sentence, and what the bundled model makes of it.
inline constexpr const char* kStation = "Where is the station?";
inline constexpr const char* kGare = "Où est la gare ?";

// The folder of pipelines that the runs of a test share; "" if the environment forbids one.
inline std::string test_cache() {
  const char* folder = std::getenv("LAPILLI_CACHE");
  return folder == nullptr ? "" : std::string(folder) + "/devices";
}

class Served {
 public:
  explicit Served(ServerOptions options) {
    options.device.cache_directory = test_cache();
    if (options.device.log == nullptr) options.device.log_level = LogLevel::error;
    const auto trouble = server_.open(options);
    trouble_ = trouble.message;
    if (trouble_.empty()) server_.start();
  }
  static ServerOptions with(std::vector<NamedModel> models) {
    ServerOptions options;
    options.models = std::move(models);
    return options;
  }

  [[nodiscard]] const std::string& trouble() const { return trouble_; }
  [[nodiscard]] uint16_t port() const { return server_.port(); }
  [[nodiscard]] uint16_t wyoming_port() const { return server_.wyoming_port(); }
  void stop() { server_.stop(); }

  Answer ask(const std::string& method, const std::string& target, const std::string& headers = "",
             const std::string& body = "", int patience_ms = kDevicePatienceMs) const {
    RawClient client(port());
    client.send(method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port()) + "\r\n" + headers +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.answer(false, patience_ms);
  }
  Answer get(const std::string& target, const std::string& headers = "") const { return ask("GET", target, headers); }
  Answer post(const std::string& target, const Json& body, const std::string& headers = "") const {
    return ask("POST", target, headers + "Content-Type: application/json\r\n", body.dump());
  }
  Answer post_form(const std::string& target, const std::string& body, const std::string& headers = "") const {
    return ask("POST", target, headers + "Content-Type: application/x-www-form-urlencoded\r\n", body);
  }

 private:
  Server server_;
  std::string trouble_;
};

inline Json json_of(const Answer& answer) { return Json::parse(answer.body, nullptr, false); }

// A body of multipart/form-data, with its Content-Type header line.
struct Multipart {
  std::string body;
  static constexpr const char* kHeader = "Content-Type: multipart/form-data; boundary=edge\r\n";
  Multipart& field(const std::string& name, const std::string& value) {
    body += "--edge\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    return *this;
  }
  Multipart& file(const std::string& name, const std::string& file_name, const std::string& bytes) {
    body += "--edge\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"" + file_name + "\"\r\n\r\n" +
            bytes + "\r\n";
    return *this;
  }
  [[nodiscard]] std::string whole() const { return body + "--edge--\r\n"; }
};

}  // namespace lapilli::server::test
