// The arguments of chats, and their translation to the library's options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/arguments/text_arguments.hpp"
#include "lapilli/lapilli.hpp"

namespace lapilli::cli {

// For generate: chats, and what ends and cuts an output.
void add_chat_arguments(CLI::App& command, ChatArguments& a);
// For chat, where all is one: without --chat and --messages.
void add_answer_arguments(CLI::App& command, ChatArguments& a);

// Describes a contradiction; empty if there is none.
std::string contradiction_of_chat(const TextArguments& a);

// Reads the files that the arguments name. Gives what is wrong, or an empty text.
std::string read_chat(const ChatArguments& a, ChatOptions& to);

}  // namespace lapilli::cli
