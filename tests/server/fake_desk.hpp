// A desk without models behind it, and exchanges without clients: what protocols make of requests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "server/protocols/protocol.hpp"
#include "server/work/document_jobs.hpp"

namespace lapilli::server::test {

class FakeExchange final : public Exchange {
 public:
  explicit FakeExchange(Request request) : request_(std::move(request)) {}
  [[nodiscard]] const Request& request() const override { return request_; }
  void answer(Response response) override {
    ++answers;
    given = std::move(response);
  }
  void begin(Response head) override { given = std::move(head); }
  void write(std::string piece) override { given.body += piece; }
  void end() override { ++answers; }
  [[nodiscard]] bool gone() const override { return left; }
  void on_gone(std::function<void()>) override {}

  Response given{0, "", "", {}};
  int answers = 0;
  bool left = false;

 private:
  Request request_;
};

// Keeps the work that it gets.
class FakeDesk : public Desk {
 public:
  void add(const std::string& name, const std::string& input, std::vector<std::string> tasks,
           const std::string& family = "", uint32_t dimensions = 0) {
    ModelFacts facts;
    facts.name = name;
    facts.input = input;
    facts.tasks = std::move(tasks);
    facts.family = family;
    facts.dimensions = dimensions;
    add(std::move(facts));
  }
  void add(ModelFacts facts) { models_.push_back(std::move(facts)); }

  void start(std::shared_ptr<Work> work, const std::shared_ptr<Exchange>&) override {
    started.push_back(std::move(work));
  }
  void run(std::function<void()> function) override { function(); }
  void run_long(std::function<void()> function) override {
    ++long_runs;
    function();
  }
  [[nodiscard]] const std::vector<ModelFacts>& models() const override { return models_; }
  [[nodiscard]] const Limits& limits() const override { return allowed; }
  [[nodiscard]] std::shared_ptr<Account> account(const Exchange&) override { return account_; }
  [[nodiscard]] std::shared_ptr<Account> account(const std::string&) override { return account_; }
  [[nodiscard]] Usage usage(const Exchange&) const override { return account_->now(); }
  std::string keep_file(KeptFile) override { return ""; }
  [[nodiscard]] std::shared_ptr<const KeptFile> kept_file(const std::string&) override { return nullptr; }
  [[nodiscard]] DocumentJobs& documents() override { return documents_; }
  void watch(const std::string&, const std::shared_ptr<Exchange>&) override {}
  [[nodiscard]] bool asks_for_keys() const override { return false; }
  [[nodiscard]] bool is_alive() const override { return true; }
  [[nodiscard]] std::string metrics() const override { return ""; }

  std::vector<std::shared_ptr<Work>> started;
  Limits allowed;
  int long_runs = 0;

 private:
  std::vector<ModelFacts> models_;
  DocumentJobs documents_{1, 1};
  std::shared_ptr<Account> account_ = std::make_shared<Account>();
};

// Sends a request to the route of a protocol; the path has no query.
inline std::shared_ptr<FakeExchange> send(FakeDesk& desk, const Protocol& protocol, const std::string& path,
                                          Request request) {
  request.path = path;
  if (request.method.empty()) request.method = "POST";
  auto exchange = std::make_shared<FakeExchange>(std::move(request));
  for (const Route& route : protocol.routes) {
    const std::string_view shown = route.path;
    const bool fits = shown.ends_with('*') ? path.starts_with(shown.substr(0, shown.size() - 1)) : path == shown;
    if (!fits || exchange->request().method != route.method) continue;
    route.handle(desk, exchange);
    break;
  }
  return exchange;
}

inline Request json_request(const std::string& body) {
  Request request;
  request.method = "POST";
  request.headers = {{"content-type", "application/json"}};
  request.body = Body(body);
  return request;
}

inline Request form_request(const std::string& body, const std::string& type = "application/x-www-form-urlencoded") {
  Request request = json_request(body);
  request.headers = {{"content-type", type}};
  return request;
}

// A field of multipart/form-data with the boundary "edge"; a name of a file makes it a file.
inline std::string form_part(const std::string& name, const std::string& value, const std::string& file = "") {
  return "--edge\r\nContent-Disposition: form-data; name=\"" + name + "\"" +
         (file.empty() ? "" : "; filename=\"" + file + "\"") + "\r\n\r\n" + value + "\r\n";
}
inline Request multipart_request(const std::string& parts) {
  return form_request(parts + "--edge--\r\n", "multipart/form-data; boundary=edge");
}

}  // namespace lapilli::server::test
