// The parts of OpenAI's protocol, one file each.
#pragma once

#include <memory>
#include <string>

#include "server/protocols/answers.hpp"
#include "server/protocols/protocol.hpp"

namespace lapilli::server {

Protocol openai();

// {"error": {message, type, param, code}}
Response openai_error(int status, const std::string& message, const std::string& parameter);
void refuse_openai(Exchange& exchange, const Refusal& refusal);

// Routes, as Route::handle.
void openai_embeddings(Desk& desk, const std::shared_ptr<Exchange>& exchange);
void openai_transcriptions(Desk& desk, const std::shared_ptr<Exchange>& exchange);
void openai_completions(Desk& desk, const std::shared_ptr<Exchange>& exchange);
void openai_chat(Desk& desk, const std::shared_ptr<Exchange>& exchange);
void openai_translations(Desk& desk, const std::shared_ptr<Exchange>& exchange);

}  // namespace lapilli::server
