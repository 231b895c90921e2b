// The chat template of a model directory: messages become the text that the model was trained to go on from.
#pragma once

#include <ctime>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"

namespace lapilli {

// A chat as a caller gives it. JSON is text here, so that requests can be copied; empty: none.
struct ChatRequest {
  std::string system;     // a message before all others
  std::string messages;   // a list of messages before the text
  std::string tools;      // a list
  std::string arguments;  // an object: further variables of the template
};

// Immutable: may be used by several threads at once.
class ChatTemplate {
 public:
  // From chat_template.jinja and additional_chat_templates, else tokenizer_config.json, else chat_template.json; null:
  // the directory has none. Errors name the file and what the template has that is not run.
  static Result<std::shared_ptr<const ChatTemplate>> read(const Files& files);

  // The text before an answer to `user` (null: to the last message). An error in the template's own words where it
  // refuses; errors name the file.
  [[nodiscard]] Result<std::string> prompt(const ChatRequest& chat, const std::string* user) const;
  // The same for a list of messages, as JSON. `answer`: with what begins the answer.
  [[nodiscard]] Result<std::string> render(const nlohmann::ordered_json& messages, const ChatRequest& chat,
                                           bool answer = true) const;
  // The text that ends an answer ("<|im_end|>\n"); empty: unknown.
  [[nodiscard]] std::string turn_end() const;
  // True if a template has this text.
  [[nodiscard]] bool has(std::string_view text) const;

  ~ChatTemplate();
  ChatTemplate(const ChatTemplate&) = delete;
  ChatTemplate& operator=(const ChatTemplate&) = delete;

 private:
  struct Impl;
  explicit ChatTemplate(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// The messages of a chat with the text of `user` (null: without) behind them. Errors say what is wrong with the JSON.
Result<nlohmann::ordered_json> messages_of(const ChatRequest& chat, const std::string* user);

}  // namespace lapilli
