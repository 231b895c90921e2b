// Parts that OpenAI's completions and chats share: options, choices, and answers whole or as a stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lapilli/lapilli.hpp"
#include "server/protocols/openai.hpp"

namespace lapilli::server {

struct TextRequest {
  const ModelFacts* model = nullptr;
  Options options;
  std::vector<std::string> texts;  // prompts; of a chat one, "": its messages are in the options
  std::vector<Ids> ids;            // prompts instead of texts
  uint32_t choices = 1;            // for each prompt
  bool chat = false, stream = false, include_usage = false;
  bool echo = false;               // the prompt stands before each text
  bool log_probabilities = false;  // of the tokens that were written
  bool likeliest = false;          // with the likeliest token, which a greedy search has written
  [[nodiscard]] size_t prompts() const { return ids.empty() ? texts.size() : ids.size(); }
};

// The options that both have: lengths, sampling, stops, choices, streaming. Then the model.
void read_text_options(const Desk& desk, Asked& from, TextRequest& to);
// Logarithms of probabilities: `top`, of each token's alternatives, is served as far as a greedy search knows them.
void read_log_probabilities(Asked& from, TextRequest& to, const char* name, int64_t top);

// Runs it and answers.
void start_text(Desk& desk, const std::shared_ptr<Exchange>& exchange, TextRequest request);

}  // namespace lapilli::server
