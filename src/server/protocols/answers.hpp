// Parts that the protocols on models' work share: the choice of a model, and outcomes that are no answers.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/protocols/json_body.hpp"
#include "server/work/desk.hpp"

namespace lapilli::server {

// The parameters of a request, and the limits of the key that it came with. The desk and the exchange outlive it.
class Asked : public Parameters {
 public:
  // `body` false: the query alone.
  Asked(const Desk& desk, const Exchange& exchange, bool body = true)
      : Parameters(exchange.request(), body), limits(desk.limits(exchange)) {}
  const Desk::Limits& limits;
};

void answer_json(Exchange& exchange, const Json& json);

// The key of "Authorization: Bearer KEY"; "" if there is none.
std::string bearer_key(const Request& request);

// The model of a request, or why there is none.
struct ModelChoice {
  const ModelFacts* model = nullptr;
  Refusal refusal;
};
// Takes the model that is named, and the only one that does `task` if `name` is empty or among `others`: names that
// clients send for what somebody else serves. `input`: "text", "sound", "picture".
ModelChoice choose_model(const Desk& desk, const std::string& name, std::string_view task, std::string_view input,
                         std::span<const char* const> others = {});

// 413 if the texts, and what is asked of them all, have more characters than a request may, or one of them is far
// longer than any model reads: it would be tokenized on the pump's thread, where all work waits for it.
void check_characters(Asked& from, const std::string& name, const std::vector<std::string>& texts,
                      const std::string& query = "");

// Why the outcome is no answer: it failed as a whole, or the first input did. `parameter` is the member of the request
// with the inputs; `list` true: it names the input's place in it.
Refusal failure_of(const Outcome& outcome, const std::string& parameter, bool list);

// Why texts that were cut are refused, with the tokens of the first of them and the limit. `work` made the outcome.
Refusal too_long(const Outcome& outcome, const Work& work, const std::string& parameter, bool list, int status);

// A random name: "chatcmpl-" and 24 letters and digits.
std::string random_name(const std::string& prefix);
// Seconds since 1970.
int64_t unix_time();

// The bytes as RFC 4648 says, with padding.
std::string base64(std::string_view bytes);
// The fewest digits that give the same float: "0.1". `value` is finite.
std::string float_text(float value);
// "[0.12,-1.5]"
std::string float_list(const std::vector<float>& values);

}  // namespace lapilli::server
