#include "cli/arguments/command_tables.hpp"

#include <algorithm>
#include <sstream>

namespace lapilli::cli {

namespace {

SwitchInfo describe(const CLI::Option& option) {
  SwitchInfo info;
  info.positional = option.get_positional();
  for (const std::string& name : option.get_snames()) info.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) info.names.push_back("--" + name);
  const bool takes_value = info.positional || option.get_items_expected_max() > 0;
  if (takes_value) info.value = option.get_type_name();
  if (info.names.empty()) info.names.push_back(info.value);
  info.description = option.get_description();
  return info;
}

CommandInfo describe(const CLI::App& app) {
  CommandInfo info{app.get_name(), app.get_description(), app.get_footer(), {}};
  for (const CLI::Option* option : app.get_options())
    if (!option->get_group().empty()) info.switches.push_back(describe(*option));
  return info;
}

// The groups of --help in their order, each with its switches. Others stand under "Options".
struct Group {
  const char* title;
  const char* switches;  // with a blank around each
};
constexpr Group kGroups[] = {
    {"Input",
     " --text --file --lines --raw --offset --duration --live --pairs --question --ids --from --to --language --split "
     "--no-split --in --queries --shard --files-from "},
    {"Output",
     " --output --suffix --resume --force --skip-existing --format --field --to-field --column --json --scores --txt "
     "--srt --vtt --tsv --max-line-width --max-line-count --stream --words --top --report --unsure --no-unsure "
     "--vectors "
     "--normalize --dimensions --probability --labels --hypothesis --entailment --multi-label --aggregation "
     "--allow-empty --max-answer-tokens --part-words --min-score "
     "--index --ignore-labels --stop --no-thoughts --max-rejected "},
    {"Documents", " --to-column --delimiter --no-header --all --no-fuzzy --keep --tm --tm-out "},
    {"Model",
     " --model --shape --dtype --kv-dtype --memory-limit --batch --prompt --prompt-text --task --source "
     "--target --window --stride --no-windows --query-prompt --document-prompt --instruction --chat --system "
     "--messages "
     "--template-arg "},
    {"Search",
     " --beam --max-length --max-new-tokens --nbest --sample --seed --temperature --top-k --top-p --min-p --typical-p "
     "--options --deterministic --fallback --vad --no-prefix-cache "},
    {"Attention", " --attention --attention-kind --attention-layer --attention-head --alignment "},
    {"Serving", " --host --port --wyoming --models --idle --keys --cors --queue --deadline --char-limit --token-ids "},
    {"Device", " --device --require-gpu --caps --no-cache --validation --stats --trace "}};
constexpr size_t kColumns = 100;

const char* group_of(const CLI::Option& option) {
  for (const std::string& name : option.get_lnames())
    for (const Group& group : kGroups)
      if (std::string(group.switches).find(" --" + name + " ") != std::string::npos) return group.title;
  return "Options";
}

// Fills lines with the words of a text. The first line has `used` columns already; the others are indented.
std::string filled(const std::string& text, size_t used, size_t indent) {
  std::istringstream words(text);
  std::string lines, word;
  size_t column = used;
  for (bool first = true; words >> word; first = false) {
    const bool fits = column + (first ? 0 : 1) + word.size() <= kColumns;
    if (!fits) lines += "\n" + std::string(indent, ' ');
    if (fits && !first) lines += ' ';
    column = (fits ? column + (first ? 0 : 1) : indent) + word.size();
    lines += word;
  }
  return lines;
}

// Fills the paragraphs of a text anew; indented lines stay.
std::string refilled(const std::string& text) {
  std::istringstream lines(text);
  std::string all, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) all += filled(paragraph, 0, 0) + "\n";
    paragraph.clear();
  };
  for (std::string line; std::getline(lines, line);) {
    const bool prose = !line.empty() && line[0] != ' ';
    if (prose) {
      paragraph += line + " ";
      if (line.back() == ':') end_paragraph();
      continue;
    }
    end_paragraph();
    all += line + "\n";
  }
  end_paragraph();
  return all;
}

class HelpFormatter final : public CLI::Formatter {
 public:
  // CLI11 itself would put the groups in the order in which options were added.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    std::string all = make_description(app) + make_usage(app, std::move(name)) + make_positionals(app);
    for (const Group& group : kGroups) all += group_text(*app, group.title);
    all += group_text(*app, "Options");
    return all + make_subcommands(app, mode) + "\n" + make_footer(app);
  }

  std::string make_option(const CLI::Option* option, bool positional) const override {
    std::string left = "  " + make_option_name(option, positional) + make_option_opts(option);
    const size_t indent = get_column_width();
    if (left.size() + 1 > indent) {
      left = filled(left, 0, 4);
      return "  " + left + "\n" + std::string(indent, ' ') + filled(option->get_description(), indent, indent) + "\n";
    }
    left.resize(indent, ' ');
    return left + filled(option->get_description(), indent, indent) + "\n";
  }

  std::string make_subcommand(const CLI::App* command) const override {
    const size_t indent = get_column_width();
    std::string left = "  " + command->get_name();
    left.resize(std::max(indent, left.size() + 1), ' ');
    return left + filled(command->get_description(), left.size(), indent) + "\n";
  }

  std::string make_description(const CLI::App* app) const override {
    return refilled(CLI::Formatter::make_description(app));
  }

  // The program's switches stand in front of the footer: CLI11's own lists above it cannot be extended.
  std::string make_footer(const CLI::App* app) const override {
    const std::string footer = refilled(CLI::Formatter::make_footer(app));
    if (app->get_parent() == nullptr) return footer;
    const auto shared = app->get_parent()->get_options([](const CLI::Option* option) {
      return !option->check_lname("help") && !option->check_lname("version") && !option->get_group().empty();
    });
    const std::string group = make_group("Options of every command", false, shared);
    return group.substr(std::min(group.find_first_not_of('\n'), group.size())) + "\n" + footer;
  }

 private:
  [[nodiscard]] std::string group_text(const CLI::App& app, const std::string& title) const {
    const auto options = app.get_options([&](const CLI::Option* option) {
      return option->nonpositional() && !option->get_group().empty() && group_of(*option) == title;
    });
    return options.empty() ? "" : make_group(title, false, options);
  }
};

}  // namespace

CommandTable command_table(const CLI::App& app) {
  CommandTable table{describe(app), {}};
  for (const CLI::App* command : app.get_subcommands({}))
    if (!command->get_group().empty()) table.commands.push_back(describe(*command));
  return table;
}

std::shared_ptr<CLI::Formatter> help_formatter() { return std::make_shared<HelpFormatter>(); }

}  // namespace lapilli::cli
