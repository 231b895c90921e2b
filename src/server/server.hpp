// The server: connections, protocols, models and jobs of one device put together.
//
//   Server server;
//   if (const std::string wrong = server.open(options); !wrong.empty()) ...
//   server.start();            // serves on threads of its own
//   ...
//   server.stop();             // answers what has come, then ends
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"
#include "server/http/http_server.hpp"
#include "server/work/desk.hpp"

namespace lapilli::server {

struct NamedModel {
  std::string name;       // as requests call it
  std::string directory;  // or OWNER/NAME of a fetched model; "": the bundled one
};

struct ServerOptions {
  HttpOptions http;
  std::vector<NamedModel> models;
  DeviceOptions device;     // with the limit of memory for all models
  ModelOptions model;       // of each model
  double idle_minutes = 0;  // after which unused models are dropped; 0: never
  double deadline_s = 600;  // of a request; 0: none
  uint32_t queue = 256;     // requests that may be at work or wait
  std::vector<std::string> cors;
  std::string keys;  // the content of a file of keys; "": none are asked for
  Desk::Limits limits;
  std::optional<uint16_t> wyoming;  // the port of Wyoming, 0: a free one; nothing: it is not served
};

class Server {
 public:
  Server();
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  struct Trouble {
    int32_t status = 0;  // a lapilli_status; 0: all is well
    std::string message;
  };
  // Reads the models' files, opens the device and binds the port.
  Trouble open(const ServerOptions& options);
  [[nodiscard]] const std::vector<ModelFacts>& models() const;
  [[nodiscard]] uint16_t port() const;
  [[nodiscard]] uint16_t wyoming_port() const;
  void start();
  // Waits for answers, at most some 18 seconds; requests that are not done by then are answered 503. False if something
  // is still at work that cannot be ended, and for which the destructor would wait: the load of a model, one large
  // file.
  bool stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lapilli::server
