// An exchange within the server: it is counted, has a key's limits, and lets pages read its answer.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "server/http/exchange.hpp"
#include "server/work/desk.hpp"
#include "server/work/job_events.hpp"

namespace lapilli::server {

class Turn final : public Exchange {
 public:
  using Clock = std::chrono::steady_clock;
  // `over` gets the status and the seconds when the last one drops it; `unanswered` makes the answer if nobody has
  // given one, and is told whether the client has left.
  Turn(std::shared_ptr<Exchange> client, Fields headers, std::function<Response(bool)> unanswered,
       std::function<void(int, double)> over)
      : client_(std::move(client)),
        headers_(std::move(headers)),
        unanswered_(std::move(unanswered)),
        over_(std::move(over)) {}
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() override {
    if (status_ == 0) answer(unanswered_(gone()));
    client_.reset();
    if (job_) end_job_(status_);
    over_(status_, std::chrono::duration<double>(Clock::now() - since_).count());
  }

  [[nodiscard]] const Request& request() const override { return client_->request(); }
  void answer(Response response) override { client_->answer(seen(std::move(response))); }
  void begin(Response head) override { client_->begin(seen(std::move(head))); }
  void write(std::string piece) override { client_->write(std::move(piece)); }
  void end() override { client_->end(); }
  [[nodiscard]] uint64_t unsent() const override { return client_->unsent(); }
  [[nodiscard]] bool gone() const override { return client_->gone(); }
  void on_gone(std::function<void()> then) override { client_->on_gone(std::move(then)); }

  void set_limits(const Desk::Limits& limits) { limits_ = &limits; }
  // Null: those of the server.
  [[nodiscard]] const Desk::Limits* limits() const { return limits_; }
  void set_account(size_t key, std::shared_ptr<Account> account) {
    key_ = key;
    account_ = std::move(account);
  }
  // Watchers of this request are told; `end` gets its status.
  void set_job(std::shared_ptr<JobEvents::Job> job, std::function<void(int)> end) {
    job_ = std::move(job);
    end_job_ = std::move(end);
  }
  // Null: it has no name.
  [[nodiscard]] const std::shared_ptr<JobEvents::Job>& job() const { return job_; }
  [[nodiscard]] size_t key() const { return key_; }  // its number; 0: none is asked for
  [[nodiscard]] const std::shared_ptr<Account>& account() const { return account_; }

 private:
  // A client that has left gets no answer, whatever it would be.
  Response seen(Response response) {
    status_ = gone() ? kClientLeft : response.status;
    response.headers.insert(response.headers.end(), headers_.begin(), headers_.end());
    return response;
  }
  std::shared_ptr<Exchange> client_;
  const Fields headers_;  // of every answer
  const std::function<Response(bool)> unanswered_;
  const std::function<void(int, double)> over_;
  const Clock::time_point since_ = Clock::now();
  std::atomic<int> status_{0};  // 0: nobody has answered
  const Desk::Limits* limits_ = nullptr;
  size_t key_ = 0;
  std::shared_ptr<Account> account_;
  std::shared_ptr<JobEvents::Job> job_;
  std::function<void(int)> end_job_;
};

}  // namespace lapilli::server
