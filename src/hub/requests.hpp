// Requests as a hub wants them: redirects are followed, the token goes to the hub alone, and what fails for a while is
// tried again.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "hub/http.hpp"

namespace lapilli::hub {

struct Patience {
  int tries = 6;  // in a row that bring nothing
  std::chrono::milliseconds first{1000};
  std::chrono::milliseconds longest{120000};  // also of what the hub asks for
};

// Which hub, and as whom.
struct Hub {
  std::string endpoint = "https://huggingface.co";
  std::string token;  // "": nobody in particular
};

// The variables that other programs for the hub read, too: HF_ENDPOINT names a mirror; HF_TOKEN is the token, or lies
// in the file HF_TOKEN_PATH, HF_HOME/token or ~/.cache/huggingface/token. HF_HUB_OFFLINE and LAPILLI_OFFLINE are
// errors.
Result<Hub> hub_of_environment();

class Requests {
 public:
  using Note = std::function<void(const std::string&)>;
  static Result<Requests> make(Hub hub, const Patience& patience, const HttpLimits& limits, Stopped stopped, Note note);

  // What became of one try. `wait`: what the hub asked for.
  struct Try {
    enum class What { done, again, failed };
    What what = What::done;
    Error error;
    std::optional<std::chrono::milliseconds> wait;
    bool advanced = false;  // it brought something, so patience begins anew
  };
  // Until it is done, has failed, or patience ends.
  Status repeat(const std::function<Try()>& one);
  // One request; `receive` gets the bodies of answers that are no errors. `what` is named in messages.
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
  bool reached_ = false;  // a hub that answered before is worth waiting for
};

}  // namespace lapilli::hub
