// The parts of DeepL's protocol, one file each, and DeepLX's, which shares a path with LibreTranslate.
#pragma once

#include <memory>
#include <string>

#include "server/protocols/json_body.hpp"
#include "server/protocols/protocol.hpp"
#include "server/work/translation.hpp"

namespace lapilli::server {

Protocol deepl();

// {"message": ...}
Response deepl_error(int status, const std::string& message, const std::string& parameter);
bool refused_by_deepl(Exchange& exchange, const Parameters& parameters);
void refuse_unserved_by_deepl(Parameters& parameters);
Response deepl_too_long(uint64_t characters, uint64_t most);
// "EN" and "PT-BR" for a code of a model.
std::string deepl_code(const std::string& code);

// Routes, as Route::handle.
void deepl_upload(Desk& desk, const std::shared_ptr<Exchange>& exchange);
void deepl_document(Desk& desk, const std::shared_ptr<Exchange>& exchange);

// DeepLX: https://github.com/OwO-Network/DeepLX. True if a body is one of its requests.
bool is_deeplx(const Parameters& parameters);
void deeplx_translate(Desk& desk, const std::shared_ptr<Exchange>& exchange);

}  // namespace lapilli::server
