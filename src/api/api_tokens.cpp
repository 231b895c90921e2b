// The C interface: texts as token ids, and back.
#include "api/handles.hpp"
#include "generate/chat/framed_text.hpp"
#include "generate/conventions.hpp"

using lapilli::ErrorCode;
using lapilli::fail;
using lapilli::Result;
using lapilli::Status;
using lapilli::api::guarded;

namespace {

// Stays valid even if the model's device is replaced meanwhile.
Result<std::shared_ptr<const lapilli::Tokenizer>> tokenizer_of(const lapilli_model* model, const char* function) {
  if (!model) return fail(ErrorCode::invalid_argument, "%s: model is null", function);
  const auto loaded = model->model();
  if (auto tokenizer = loaded->shared_tokenizer()) return tokenizer;
  const lapilli::Error& why = loaded->tokenizer_error();
  return fail(ErrorCode::unsupported, "%s: this model takes token ids only, for its tokenizer cannot be used: %s",
              function, why.message);
}

// The caller's input; must be of this kind.
Result<lapilli_input> read_one(const lapilli_input* from, int32_t kind, const char* function) {
  const char* wanted = kind == LAPILLI_INPUT_TEXT ? "a text" : "ids";
  if (!from) return fail(ErrorCode::invalid_argument, "%s: there is no input; it takes %s", function, wanted);
  lapilli_input to{};
  LAPILLI_CHECK(lapilli::api::read_struct(from, to, "lapilli_input"));
  if (to.kind != kind) {
    return fail(ErrorCode::invalid_argument, "%s: the input is of kind %d; it takes %s (%d)", function, to.kind, wanted,
                kind);
  }
  const bool lacks = kind == LAPILLI_INPUT_TEXT ? !to.text : !to.ids.ids && to.ids.count != 0;
  if (lacks) return fail(ErrorCode::invalid_argument, "%s: the input's pointer is null", function);
  return to;
}

Result<lapilli::TaskRequest> task_of(const lapilli_options* options) {
  lapilli::TranslateRequest request;
  LAPILLI_TRY(const auto given, lapilli::api::CallOptions::read(options));
  LAPILLI_CHECK(lapilli::api::read_options(given, request));
  return std::move(request.task);
}

Result<std::vector<int32_t>> encode_text(const lapilli_model* model, const lapilli_input* input,
                                         const lapilli_options* options, const char* function) {
  LAPILLI_TRY(const auto tokenizer, tokenizer_of(model, function));
  LAPILLI_TRY(const lapilli_input from, read_one(input, LAPILLI_INPUT_TEXT, function));
  LAPILLI_TRY(const lapilli::TaskRequest task, task_of(options));
  LAPILLI_TRY(const lapilli::Conventions conventions,
              lapilli::find_conventions(*model->model(), task, model->front->chat.get()));
  std::string text = conventions.prefix;
  from.text_bytes == LAPILLI_ZERO_TERMINATED ? text.append(from.text) : text.append(from.text, from.text_bytes);
  if (conventions.frame) {
    LAPILLI_TRY(lapilli::Encoding framed, lapilli::encode_framed(*tokenizer, *conventions.frame, text));
    return std::move(framed.ids);
  }
  return tokenizer->encode(text, lapilli::encode_options(conventions));
}

// True if `to` has room for `needed`; false if the caller only counts (null, no room); otherwise an error.
Result<bool> check_room(const void* to, size_t capacity, size_t needed, const char* function) {
  if (!to && capacity == 0) return false;
  if (!to) return fail(ErrorCode::invalid_argument, "%s: room for %u at a null pointer", function, capacity);
  if (capacity >= needed) return true;
  return fail(ErrorCode::invalid_argument, "%s: there is room for %u, and %u are needed", function, capacity, needed);
}

Result<std::string> prompt_of(const char* directory, const char* user, const lapilli::ChatRequest& chat) {
  LAPILLI_TRY(const auto found, lapilli::ChatTemplate::read(lapilli::Files(directory)));
  if (!found)
    return fail(
        ErrorCode::unsupported,
        "%s has no chat template (chat_template.jinja, or chat_template in tokenizer_config.json): it continues "
        "texts, and is no model for chats",
        directory);
  const std::string said = user ? user : "";
  return found->prompt(chat, user ? &said : nullptr);
}

}  // namespace

extern "C" {

lapilli_status lapilli_model_encode(const lapilli_model* model, const lapilli_input* text,
                                    const lapilli_options* options, int32_t* ids, size_t capacity, size_t* count) {
  if (count) *count = 0;
  return guarded([&]() -> Status {
    constexpr const char* kFunction = "lapilli_model_encode";
    if (!count) return fail(ErrorCode::invalid_argument, "%s: count is null", kFunction);
    LAPILLI_TRY(const auto made, encode_text(model, text, options, kFunction));
    *count = made.size();
    LAPILLI_TRY(const bool wanted, check_room(ids, capacity, made.size(), kFunction));
    if (wanted) std::copy(made.begin(), made.end(), ids);
    return {};
  });
}

lapilli_status lapilli_model_count_tokens(const lapilli_model* model, const lapilli_input* text,
                                          const lapilli_options* options, size_t* count) {
  if (count) *count = 0;
  return guarded([&]() -> Status {
    constexpr const char* kFunction = "lapilli_model_count_tokens";
    if (!count) return fail(ErrorCode::invalid_argument, "%s: count is null", kFunction);
    LAPILLI_TRY(const auto made, encode_text(model, text, options, kFunction));
    *count = made.size();
    return {};
  });
}

lapilli_status lapilli_model_decode(const lapilli_model* model, const lapilli_input* ids, int32_t keep_special,
                                    char* text, size_t capacity, size_t* bytes) {
  if (bytes) *bytes = 0;
  return guarded([&]() -> Status {
    constexpr const char* kFunction = "lapilli_model_decode";
    if (!bytes) return fail(ErrorCode::invalid_argument, "%s: bytes is null", kFunction);
    LAPILLI_TRY(const auto tokenizer, tokenizer_of(model, kFunction));
    LAPILLI_TRY(const lapilli_input from, read_one(ids, LAPILLI_INPUT_IDS, kFunction));
    LAPILLI_TRY(const std::string made, tokenizer->decode({from.ids.ids, from.ids.count}, keep_special == 0));
    *bytes = made.size();
    LAPILLI_TRY(const bool wanted, check_room(text, capacity, made.size() + 1, kFunction));
    if (wanted) std::memcpy(text, made.c_str(), made.size() + 1);
    return {};
  });
}

lapilli_status lapilli_chat_prompt(const char* directory, const char* user, const lapilli_chat_options* options,
                                   char* text, size_t capacity, size_t* bytes) {
  if (bytes) *bytes = 0;
  return guarded([&]() -> Status {
    constexpr const char* kFunction = "lapilli_chat_prompt";
    if (!bytes || !directory) return fail(ErrorCode::invalid_argument, "%s: a null pointer", kFunction);
    lapilli_chat_options given = lapilli_default_chat_options();
    LAPILLI_CHECK(lapilli::api::read_struct(options, given, "lapilli_chat_options"));
    LAPILLI_TRY(const std::string made, prompt_of(directory, user, lapilli::api::chat_request(given)));
    *bytes = made.size();
    LAPILLI_TRY(const bool wanted, check_room(text, capacity, made.size() + 1, kFunction));
    if (wanted) std::memcpy(text, made.c_str(), made.size() + 1);
    return {};
  });
}

}  // extern "C"
