// lapilli fetch: a published model into the user's cache directory.
#include <cstdio>
#include <memory>
#include <optional>

#include "cli/arguments/model_names.hpp"
#include "cli/arguments/registries.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/progress/progress_bar.hpp"
#include "cli/system.hpp"
#include "fetched/cache.hpp"
#include "fetched/present.hpp"
#include "hub/fetch.hpp"

namespace lapilli::cli {

namespace {

struct FetchArguments {
  std::string model, revision;
};

int fail_with(int code, const std::string& message) {
  std::fprintf(stderr, "lapilli: %s\n", message.c_str());
  return code;
}

int fetch_exit_code(const Error& error) {
  switch (error.code) {
    case ErrorCode::cancelled: return 128 + interrupted();
    case ErrorCode::out_of_memory: return exit_output;  // the disk is full
    case ErrorCode::invalid_argument: return exit_usage;
    case ErrorCode::internal: return exit_internal;
    default: return exit_input;
  }
}

int fail_with(const Error& error) {
  const bool stopped = error.code == ErrorCode::cancelled;
  return fail_with(fetch_exit_code(error),
                   error.message + (stopped ? "; the same command goes on from what is there" : ""));
}

// For builds that cannot fetch.
int tell_other_way(const hub::ModelName& model) {
  return fail_with(exit_input,
                   "this build has no libcurl and fetches nothing; with git and git-lfs:\n  git lfs install\n"
                   "  git clone https://huggingface.co/" +
                       model.text() + "\n  lapilli translate --model ./" + model.name + " TEXT");
}

int tell_other_way(const RegistryModel& model) {
  return fail_with(exit_input, "this build has no libcurl and fetches nothing; " + model.registry.index +
                                   " lists where the files of " + model.registry.program + " are");
}

// The folder in which other programs for the hub have the complete model; "" if the program has its own copy, which a
// fetch updates.
std::string fetched_by_others(const hub::ModelName& model) {
  const hub::Places places = hub::places_of_environment();
  const bool own = !places.own.empty() && !hub::find_fetched(places.own, model).empty();
  return own ? "" : hub::find_present(places, model);
}

int tell_others(const hub::ModelName& model, const std::string& directory, const Context& context) {
  if (!context.quiet)
    std::fprintf(stderr,
                 "lapilli: %s is there already, in the cache of other programs, and is used as it lies there; nothing "
                 "is fetched (%s@COMMIT gets another revision)\n",
                 model.text().c_str(), model.text().c_str());
  return print(directory + "\n");
}

class Fetcher {
 public:
  explicit Fetcher(const Context& context) : quiet_(context.quiet), bar_(!quiet_ && is_terminal(2)) {}

  int run(const hub::ModelName& model) {
    catch_interrupts();
    auto hub = hub::hub_of_environment();
    if (!hub) return fail_with(hub.error());
    const auto models = hub::models_directory();
    if (!models) return fail_with(models.error());
    page_ = hub->endpoint + "/" + model.text();
    return tell(hub::fetch({std::move(*hub), *models, {}, {}}, model, watch(model.text())), model);
  }

  int run(const RegistryModel& model) {
    catch_interrupts();
    const auto hub = hub::hub_of_environment();
    if (!hub) return fail_with(hub.error());
    const auto models = hub::models_directory();
    if (!models) return fail_with(models.error());
    page_ = model.registry.index;
    const std::string what = model.registry.program + "'s " + model.pair.from + " to " + model.pair.to;
    auto fetched = fetch_from(model, *models, watch(what));
    if (!fetched) return tell(std::move(fetched).error(), {});
    return tell(std::move(fetched->fetched), *hub::parse_model_name(fetched->name));
  }

 private:
  int tell(const Result<hub::Fetched>& fetched, const hub::ModelName& model) {
    bar_.clear();
    if (!fetched) return fail_with(fetched.error());
    const std::string name = model.text() + (model.file.empty() ? "" : ":" + model.file);
    say(fetched->was_there ? name + " is there already" : "fetched; --model " + name + " is it now");
    return print(hub::path_in(fetched->directory, model.file) + "\n");
  }

  void say(const std::string& text) {
    bar_.clear();
    if (!quiet_) std::fprintf(stderr, "lapilli: %s\n", text.c_str());
  }

  hub::FetchWatch watch(const std::string& what) {
    hub::FetchWatch watch;
    watch.licence = [this, what](const std::string& commit, const std::string& licence) {
      say(what + " at " + commit.substr(0, 12) + ", licence: " + (licence.empty() ? "none is stated" : licence) + "; " +
          page_);
    };
    watch.begin = [this](size_t files, uint64_t bytes) {
      bytes_ = bytes;
      say(std::to_string(files) + " files, " + megabytes(bytes));
    };
    watch.progress = [this](uint64_t bytes) {
      if (bytes_ > 0) bar_.show(static_cast<double>(bytes) / static_cast<double>(bytes_), megabytes(bytes));
    };
    watch.note = [this](const std::string& note) { say(note); };
    watch.stopped = [] { return interrupted() != 0; };
    return watch;
  }

  static std::string megabytes(uint64_t bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f MB", static_cast<double>(bytes) / 1e6);
    return text;
  }

  bool quiet_;
  ProgressBar bar_;
  std::string page_;  // that says more
  uint64_t bytes_ = 0;
};

// The address of a model's page, as browsers show it, holds its name.
std::string meant_by(const std::string& typed) {
  const size_t scheme = typed.find("://");
  if (scheme == std::string::npos) return known_model_meant(typed);
  const size_t owner = typed.find('/', scheme + 3);
  if (owner == std::string::npos) return "";
  const std::string path = typed.substr(owner + 1, typed.find_first_of("?#", owner) - owner - 1);
  const size_t end = path.find('/', path.find('/') + 1);
  const std::string name = path.substr(0, end);
  return path.find('/') != std::string::npos && hub::parse_model_name(name) ? name : "";
}

// The revision goes before a file's name.
std::string with_revision(const std::string& model, const std::string& revision) {
  if (revision.empty()) return model;
  const size_t colon = std::min(model.find(':'), model.size());
  return model.substr(0, colon) + "@" + revision + model.substr(colon);
}

int run_fetch(const FetchArguments& arguments, const Context& context) {
  if (const std::string bundled = bundled_directory(arguments.model); !bundled.empty()) return print(bundled + "\n");
  const std::string named = with_revision(arguments.model, arguments.revision);
  if (named.empty())
    return fail_with(exit_usage, "name the model: lapilli fetch OWNER/NAME; lapilli models lists some");
  const auto model = hub::parse_model_name(named);
  if (!model) {
    const std::string meant = meant_by(arguments.model);
    return fail_with(exit_usage, "\"" + named + "\" is not OWNER/NAME, OWNER/NAME@REVISION or OWNER/NAME:FILE" +
                                     (meant.empty() ? "; lapilli models lists some" : "; did you mean " + meant + "?"));
  }
  if (const auto other = of_registry(*model))
    return hub::can_fetch() ? Fetcher(context).run(*other) : tell_other_way(*other);
  if (const std::string there = fetched_by_others(*model); !there.empty()) return tell_others(*model, there, context);
  return hub::can_fetch() ? Fetcher(context).run(*model) : tell_other_way(*model);
}

constexpr const char* kFetchFooter =
    R"(Examples:
  lapilli fetch Helsinki-NLP/opus-mt-en-de
  lapilli translate --model Helsinki-NLP/opus-mt-en-de "Where is the station?"
  lapilli fetch ggerganov/whisper.cpp:ggml-base.bin
  lapilli fetch argos/en_de
  lapilli fetch firefox/en_de

The licence is shown, then the files that Lapilli reads are fetched and checked by the hashes that the hub states. A
second call continues an interrupted one. The directory is printed: ~/.cache/lapilli/models/OWNER/NAME/COMMIT, or below
XDG_CACHE_HOME/lapilli or LAPILLI_CACHE where these are set. lapilli models --remove OWNER/NAME removes it.

argos/FROM_TO and firefox/FROM_TO are models of Argos Translate and of Firefox, from their registries, which
lapilli models --registry argos lists; LAPILLI_REGISTRIES names another file of addresses.

A model that other programs have fetched into HF_HUB_CACHE (or HF_HOME/hub, ~/.cache/huggingface/hub) is used
there: nothing is fetched, and nothing written there.

HF_ENDPOINT names a mirror instead of https://huggingface.co; HF_TOKEN is your token where one is needed (or HF_TOKEN_PATH,
HF_HOME/token, ~/.cache/huggingface/token hold it), and goes to the hub alone; https_proxy and the like name a proxy. With
HF_HUB_OFFLINE or LAPILLI_OFFLINE nothing is fetched.

)";

}  // namespace

void add_fetch(CLI::App& app, Context& context) {
  auto a = std::make_shared<FetchArguments>();
  CLI::App* command = app.add_subcommand("fetch", "Get a published model, which --model OWNER/NAME then finds");
  command->add_option("model", a->model, "The model's name on the hub, OWNER/NAME[@REVISION][:FILE], or argos/FROM_TO")
      ->type_name("OWNER/NAME");
  command->add_option("--revision", a->revision, "A branch, a tag or a commit; without it, main");
  command->footer(kFetchFooter + std::string(kExitCodeHelp));
  command->callback([&context, a] { context.run = [&context, a] { return run_fetch(*a, context); }; });
}

}  // namespace lapilli::cli
