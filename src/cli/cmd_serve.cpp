// lapilli serve: the program's models behind HTTP, for clients of other programs.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/path.hpp"
#include "cli/arguments/device_choice.hpp"
#include "cli/arguments/dtype.hpp"
#include "cli/arguments/foreign_options.hpp"
#include "cli/arguments/model_names.hpp"
#include "cli/commands.hpp"
#include "cli/files/cache_folder.hpp"
#include "cli/output.hpp"
#include "cli/run/lent_threads.hpp"
#include "cli/system.hpp"
#include "server/keys.hpp"
#include "server/server.hpp"

namespace lapilli::cli {

namespace {

constexpr const char* kServeFooter =
    R"(One process, one limit of memory and one device serve all models and all protocols: LibreTranslate (/translate),
DeepL (/v2/translate), OpenAI (/v1/audio/transcriptions, ...), rerankers (/v1/rerank), text-embeddings-inference
(/embed), /health and /metrics; / is a page. Without --model it serves the bundled model, or LAPILLI_MODEL's.
A model is loaded at its first request; when memory is short, the one that was unused for longest leaves.

It answers this machine alone, unless --host names another address. A page of another origin is refused, unless --cors
lists it. Keys: --keys FILE, one a line, with limits behind it: requests=60 (a minute) characters=5000 texts=100
alternatives=4 seconds=600 (of sound) pixels=4000000 files=10 bytes=1000000. --limit NAME=N sets one for all.

Ctrl-C and SIGTERM end it within 20 seconds: what has come is answered, and the exit code is 0.

Examples:
  lapilli serve                                     the bundled model at http://127.0.0.1:5000
  lapilli serve --model de=./opus-mt-en-de --model ./opus-mt-de-en --port 8080
  lapilli serve --models ./models --memory-limit 4000 --idle 30
  lapilli serve --model openai/whisper-base --wyoming 10300   speech for Home Assistant
  curl -d q="Where is the station?" -d source=en -d target=fr http://127.0.0.1:5000/translate

)";

struct ServeArguments {
  server::ServerOptions options;
  std::vector<std::string> models, limits;
  std::string folder, keys, dtype, kv_dtype = "fp32";
  uint32_t port = 5000;
  std::optional<uint32_t> wyoming;
  uint64_t memory_mib = 0;
  bool no_cache = false;
};

std::string last_part(const std::string& path) {
  const size_t end = path.find_last_not_of("/\\");
  const size_t begin = path.find_last_of("/\\", end);
  return path.substr(begin == std::string::npos ? 0 : begin + 1,
                     end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

// "de" of "de=./opus-mt-en-de", the folder's name of a directory, and the whole of OWNER/NAME.
int add_model(std::string given, std::vector<server::NamedModel>& to) {
  server::NamedModel model;
  const size_t equals = given.find('=');
  if (equals != std::string::npos && equals > 0 && !directory_exists(given)) {
    model.name = given.substr(0, equals);
    given.erase(0, equals + 1);
  }
  const bool is_path = given.empty() || directory_exists(given) || file_exists(given);
  model.directory = given;
  if (const int code = find_model(model.directory); code != exit_ok) return code;
  if (model.name.empty()) model.name = is_path ? last_part(model.directory) : given;
  for (const server::NamedModel& other : to)
    if (other.name == model.name)
      return complain(exit_usage, "two models are called " + model.name + "; name one of them: --model NAME=" + given);
  to.push_back(std::move(model));
  return exit_ok;
}

// Models that cannot run are left aside, with a note.
int add_folder(const std::string& folder, std::vector<server::NamedModel>& to, const Context& context) {
  const size_t before = to.size();
  for (const std::string& name : names_in(folder)) {
    std::string wrong;
    (void)server::read_facts(name, folder + "/" + name, wrong);
    if (!wrong.empty() && !context.quiet) complain(exit_ok, "note: left aside: " + wrong);
    if (!wrong.empty()) continue;
    if (const int code = add_model(folder + "/" + name, to); code != exit_ok) return code;
  }
  if (to.size() > before) return exit_ok;
  return complain(exit_input, "--models " + folder + ": nothing in it is a model that runs");
}

int find_models(const ServeArguments& arguments, const Context& context, std::vector<server::NamedModel>& to) {
  for (const std::string& given : arguments.models)
    if (const int code = add_model(given, to); code != exit_ok) return code;
  if (!arguments.folder.empty())
    if (const int code = add_folder(arguments.folder, to, context); code != exit_ok) return code;
  return to.empty() ? add_model("", to) : exit_ok;
}

int read_keys(const std::string& file, std::string& keys) {
  if (file.empty()) return exit_ok;
  if (const int error = read_whole(file, keys)) return complain(exit_input, file + ": " + std::strerror(error));
  return exit_ok;
}

int read_limits(const std::vector<std::string>& given, server::Desk::Limits& limits) {
  for (const std::string& one : given)
    if (const std::string wrong = server::read_limit(one, limits); !wrong.empty())
      return complain(exit_usage, "--limit: " + wrong);
  return exit_ok;
}

std::string address_of(const server::HttpOptions& http, uint16_t port) {
  const bool six = http.host.find(':') != std::string::npos;
  return "http://" + (six ? "[" + http.host + "]" : http.host) + ":" + std::to_string(port);
}

bool is_loopback(const std::string& host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

// Models and notes go to stderr, the address alone to stdout, for scripts.
int tell_start(const server::Server& server, const server::ServerOptions& options, const Context& context) {
  const std::string address = address_of(options.http, server.port());
  if (!context.quiet) {
    for (const server::ModelFacts& model : server.models()) {
      std::string tasks;
      for (const std::string& task : model.tasks) tasks += (tasks.empty() ? "" : ", ") + task;
      complain(0, "model " + model.name + ": " + tasks);
    }
    if (!is_loopback(options.http.host) && options.keys.empty())
      complain(0, "note: whoever reaches " + options.http.host + " may use it: --keys FILE asks for a key");
  }
  if (options.wyoming) {
    const std::string wyoming = "tcp" + address_of(options.http, server.wyoming_port()).substr(4);
    if (const int code = print("lapilli serves Wyoming at " + wyoming + "\n"); code != exit_ok) return code;
  }
  return print("lapilli serves at " + address + "\n");
}

// A signal handler only sets a flag.
void wait_for_end() {
  constexpr std::chrono::milliseconds kOften(50);
  while (!interrupted()) std::this_thread::sleep_for(kOften);
}

int run_serve(const ServeArguments& arguments, const Context& context) {
  server::ServerOptions options = arguments.options;
  if (const int code = read_limits(arguments.limits, options.limits); code != exit_ok) return code;
  if (const int code = find_models(arguments, context, options.models); code != exit_ok) return code;
  if (const int code = read_keys(arguments.keys, options.keys); code != exit_ok) return code;
  const lapilli_workers threads = lent_threads();
  options.http.port = static_cast<uint16_t>(arguments.port);
  if (arguments.wyoming) options.wyoming = static_cast<uint16_t>(*arguments.wyoming);
  options.device.memory_limit = arguments.memory_mib << 20;
  options.device.cache_directory = cache_folder(arguments.no_cache);
  options.device.workers = &threads;
  options.model.dtype = dtype_of(arguments.dtype);
  options.model.kv_dtype = dtype_of(arguments.kv_dtype);
  catch_interrupts();
  server::Server server;
  if (const auto trouble = server.open(options); trouble.status != LAPILLI_OK)
    return complain(exit_code(trouble.status), trouble.message + foreign_device(options.device.select));
  server.start();
  if (const int code = tell_start(server, options, context); code != exit_ok) return code;
  wait_for_end();
  if (!server.stop()) {
    std::fflush(nullptr);
    std::_Exit(exit_ok);  // all answers are out, and what still runs has nobody to answer
  }
  return exit_ok;
}

void add_models_and_device(CLI::App& command, ServeArguments& a) {
  command
      .add_option("-m,--model", a.models,
                  "Model directory, NAME=DIRECTORY, or OWNER/NAME of a fetched model; several: once for each")
      ->type_name("[NAME=]DIR");
  command.add_option("--models", a.folder, "Serve every model in this folder")->type_name("DIR");
  add_dtype(command, a.dtype);
  add_kv_dtype(command, a.kv_dtype);
  command.add_option("--memory-limit", a.memory_mib, "Device memory that all models may take together, in MiB")
      ->transform(whole_number(1, kMostU32))
      ->type_name("N");
  command.add_option("--idle", a.options.idle_minutes, "Drop models that nobody has used for this many minutes")
      ->transform(whole_number(1, kMostU32))
      ->type_name("N");
  add_device_choice(command, a.options.device.select, a.options.device.refuse_cpu);
  command.add_option("--caps", a.options.device.caps, "Pretend that the device can do less")->type_name("MASK");
  command.add_flag("--no-cache", a.no_cache, "Keep nothing that makes the next start faster");
}

void add_limits(CLI::App& command, ServeArguments& a) {
  command.add_option("--keys", a.keys, "Ask for one of the keys in this file")->type_name("FILE");
  command.add_option("--cors", a.options.cors, "Let pages of this origin ask; several: once for each; *: all")
      ->type_name("ORIGIN");
  command.add_option("--queue", a.options.queue, "Requests at work or waiting; more are refused (429)")
      ->transform(whole_number(1, kMostU32))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--deadline", a.options.deadline_s, "Seconds that a request may take; 0: any")
      ->transform(whole_number(0, kMostU32))
      ->capture_default_str()
      ->type_name("N");
  command.add_option("--char-limit", a.options.limits.characters, "Characters in the texts of a request")
      ->transform(whole_number(1, kMostU32))
      ->type_name("N");
  command.add_option("--limit", a.limits, "A limit as in --keys' file, for all that name no other; several: once each")
      ->type_name("NAME=N");
  command.add_flag("--token-ids", a.options.limits.token_ids,
                   "Take embeddings' inputs as ids of the model's tokenizer");
}

}  // namespace

void add_serve(CLI::App& app, Context& context) {
  auto a = std::make_shared<ServeArguments>();
  CLI::App* command = app.add_subcommand("serve", "Serve the models over HTTP to clients of other programs");
  command->add_option("--host", a->options.http.host, "Address at which it listens; 0.0.0.0: all of this machine")
      ->capture_default_str()
      ->type_name("ADDRESS");
  command->add_option("--port", a->port, "Its port; 0: a free one")
      ->transform(whole_number(0, 65535))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--wyoming", a->wyoming, "Serve speech to Home Assistant at this port; 0: a free one")
      ->transform(whole_number(0, 65535))
      ->type_name("PORT");
  add_models_and_device(*command, *a);
  add_limits(*command, *a);
  command->footer(kServeFooter);
  command->callback([&context, a] { context.run = [a, &context] { return run_serve(*a, context); }; });
}

}  // namespace lapilli::cli
