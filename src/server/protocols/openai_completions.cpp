// POST /v1/completions: texts that a decoder continues, as `lapilli generate` does.
#include <utility>

#include "server/protocols/openai_text.hpp"
#include "server/protocols/token_ids.hpp"

namespace lapilli::server {

namespace {

void read_prompts(Asked& from, TextRequest& to) {
  const nlohmann::json* prompt = from.json("prompt");
  if (prompt && holds_token_ids(*prompt)) {
    bool list = false;
    return read_token_ids(*prompt, from, "prompt", to.ids, list);
  }
  auto texts = from.texts("prompt", from.limits.texts);
  if (!texts || texts->all.empty()) return from.refuse("prompt", "give a text, or a list of texts");
  to.texts = std::move(texts->all);
  check_characters(from, "prompt", to.texts);
}

void check_choices(Asked& from, const TextRequest& to) {
  const size_t all = to.prompts() * to.choices, most = from.limits.texts;
  if (all > most)
    from.refuse("n", std::to_string(all) + " choices of all prompts are above the limit of " + std::to_string(most));
}

}  // namespace

void openai_completions(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  constexpr int64_t kMostTop = 5;
  Asked from(desk, *exchange);
  TextRequest request;
  read_prompts(from, request);
  request.echo = from.flag("echo").value_or(false);
  if (request.echo && !request.ids.empty()) from.refuse("echo", "is not served for prompts of token ids");
  read_text_options(desk, from, request);
  check_choices(from, request);
  const auto top = from.whole("logprobs", 0, kMostTop);
  request.log_probabilities = top.has_value();
  read_log_probabilities(from, request, "logprobs", top.value_or(0));
  if (from.refusal()) return refuse_openai(*exchange, from.refusal());
  start_text(desk, exchange, std::move(request));
}

}  // namespace lapilli::server
