// Requests to a hub: they follow redirects, send the token to the hub alone, and retry temporary failures.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "hub/http.hpp"

namespace lapilli::hub {

struct Patience {
  int tries = 6;  // in a row without progress
  std::chrono::milliseconds first{1000};
  std::chrono::milliseconds longest{120000};  // also limits the wait that the hub asks for
};

// The hub, and the user's token for it.
struct Hub {
  std::string endpoint = "https://huggingface.co";
  std::string token;  // "": anonymous
};

// Reads the variables that other programs for the hub read, too: HF_ENDPOINT names a mirror; HF_TOKEN is the token, or
// it lies in the file HF_TOKEN_PATH, HF_HOME/token or ~/.cache/huggingface/token. HF_HUB_OFFLINE and LAPILLI_OFFLINE
// are errors.
Result<Hub> hub_of_environment();

class Requests {
 public:
  using Note = std::function<void(const std::string&)>;
  static Result<Requests> make(Hub hub, const Patience& patience, const HttpLimits& limits, Stopped stopped, Note note);

  // The outcome of one try. `wait`: the delay that the hub asked for.
  struct Try {
    enum class What { done, again, failed };
    What what = What::done;
    Error error;
    std::optional<std::chrono::milliseconds> wait;
    bool advanced = false;  // made progress, so patience starts anew
  };
  // Repeats until it is done, has failed, or patience ends.
  Status repeat(const std::function<Try()>& one);
  // Sends one request; `receive` gets the bodies of successful responses. `what` is named in messages.
  Try get(const std::string& url, uint64_t from, const Receive& receive, const std::string& what);

  [[nodiscard]] const Hub& hub() const { return hub_; }
  [[nodiscard]] bool stopped() const { return stopped_ && stopped_(); }

 private:
  Requests(Hub hub, const Patience& patience, Stopped stopped, Note note, HttpClient client);
  HttpAnswer follow(const std::string& url, uint64_t from, const Receive& receive);
  [[nodiscard]] std::string token_for(const std::string& origin) const;
  Try judge(const HttpAnswer& answer, const std::string& what);
  bool pause(std::chrono::milliseconds wait) const;

  Hub hub_;
  Patience patience_;
  Stopped stopped_;
  Note note_;
  HttpClient client_;
  bool reached_ = false;  // a hub that has answered before is worth waiting for
};

}  // namespace lapilli::hub
