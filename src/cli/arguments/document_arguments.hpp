// The arguments that speak of documents: columns of tables, units of catalogues, names that stay.
#pragma once

#include <string>

#include "cli/arguments/text_arguments.hpp"
#include "documents/options.hpp"

namespace lapilli::cli {

void add_document_arguments(CLI::App& command, TextArguments& arguments);

// Describes a contradiction among them; empty if there is none.
std::string contradiction_of_documents(const TextArguments& arguments);

// Reads the names of --keep, one a line. Gives 0, or the file's errno.
int read_kept_names(const std::string& file, std::vector<std::string>& names);

// `model`: the directory of the model that translates, which may tell languages that the arguments do not.
documents::Options document_options(const TextArguments& arguments, const std::string& model);

}  // namespace lapilli::cli
