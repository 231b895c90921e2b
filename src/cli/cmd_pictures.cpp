// lapilli caption, read, and classify of pictures: run pictures from files and folders through a model.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/path.hpp"
#include "cli/arguments/device_choice.hpp"
#include "cli/arguments/dtype.hpp"
#include "cli/arguments/model_names.hpp"
#include "cli/commands.hpp"
#include "cli/files/cache_folder.hpp"
#include "cli/files/file_list.hpp"
#include "cli/files/output_names.hpp"
#include "cli/files/piped_file.hpp"
#include "cli/files/target_file.hpp"
#include "cli/output.hpp"
#include "cli/run/attention_output.hpp"
#include "cli/run/drawing_file.hpp"
#include "cli/run/line_output.hpp"
#include "cli/run/picture_model.hpp"
#include "cli/shards/file_shards.hpp"
#include "cli/shards/shard_run.hpp"
#include "cli/system.hpp"
#include "shards/model_hash.hpp"

namespace lapilli::cli {

namespace {

constexpr uint32_t kMostPicturesAtOnce = 64;

struct PictureArguments {
  std::vector<std::string> inputs;
  PictureRequest request;
  std::string output;
  std::string attention, layer = "mean", head = "mean";
  bool json = false, stats = false, force = false, no_cache = false;
  ShardArguments shard;
  std::string list;  // a file that names pictures, or "-"; "": none
};

struct PictureCommand {
  const char *name, *description, *footer;
  const char* result;  // its key in JSON lines
  bool classes;
  Ability ability;
};

constexpr const char* kEndings[] = {".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff"};

bool is_picture_name(std::string_view name) {
  std::string ending(extension(name));
  for (char& c : ending) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return std::find(std::begin(kEndings), std::end(kEndings), ending) != std::end(kEndings);
}

std::string all_endings() {
  std::string all;
  for (const char* ending : kEndings) all += (all.empty() ? "" : " ") + std::string(ending);
  return all;
}

// Adds the pictures below a folder, by name, except hidden ones.
int add_folder(const std::string& folder, int depth, std::vector<std::string>& files) {
  constexpr int kDeepestFolder = 100;
  std::vector<FolderEntry> entries;
  if (!list_folder(folder, entries) || depth > kDeepestFolder)
    return complain(exit_input, folder + ": " + std::strerror(depth > kDeepestFolder ? ELOOP : errno));
  for (const FolderEntry& entry : entries) {
    const std::string path = path_in(folder, entry.name);
    if (entry.name.starts_with('.')) continue;
    if (entry.kind == FileKind::regular && is_picture_name(entry.name)) files.push_back(path);
    if (entry.kind != FileKind::directory) continue;
    if (const int code = add_folder(path, depth + 1, files)) return code;
  }
  return exit_ok;
}

int find_pictures(const std::vector<std::string>& inputs, std::vector<std::string>& files) {
  for (const std::string& input : inputs) {
    if (directory_exists(input)) {
      const size_t before = files.size();
      if (const int code = add_folder(input, 0, files)) return code;
      if (files.size() == before) return complain(exit_input, input + " holds no picture (" + all_endings() + ")");
    } else if (const int error = input == "-" ? 0 : check_input(input)) {
      return complain(exit_input, input + ": " + std::strerror(error));
    } else {
      files.push_back(input);
    }
  }
  return exit_ok;
}

class PictureRun {
 public:
  PictureRun(const PictureCommand& about, const PictureArguments& arguments, const Context& context)
      : about_(about), arguments_(arguments), context_(context) {}

  int run() {
    if (const int code = prepare()) return code;
    if (finished_) return *finished_;
    catch_interrupts();
    Journal from;
    int code = target_ ? begin(from) : exit_ok;
    for (size_t i = from.point.units; i < files_.size() && code == exit_ok && !interrupted(); i += kAtATime) {
      const size_t end = std::min(i + kAtATime, files_.size());
      code = run_some({files_.begin() + static_cast<ptrdiff_t>(i), files_.begin() + static_cast<ptrdiff_t>(end)});
      if (code == exit_ok && is_shard() && !interrupted()) code = keep(end);
    }
    return finish(code);
  }

 private:
  static constexpr size_t kAtATime = 32;

  [[nodiscard]] bool is_shard() const { return arguments_.shard.wanted(); }

  // Leaves the pictures of the shard. Lines have names if all pictures together are several.
  int take_pictures() {
    named_ = files_.size() > 1;
    if (!is_shard()) return exit_ok;
    const std::string wrong = contradiction_of_shard(arguments_.shard, {arguments_.output, "", false, false});
    if (!wrong.empty()) return complain(exit_usage, wrong);
    if (const int code = shard_.choose(arguments_.shard, arguments_.output, arguments_.force)) return code;
    std::vector<bool> taken;
    if (const int code = take_files(shard_.shard(), files_, taken, planned_)) return code;
    files_ = taken_of(std::move(files_), taken);
    target_ = std::make_unique<TargetFile>(shard_.file(arguments_.json ? ".jsonl" : ".txt"));
    planned_.version = lapilli_version();
    planned_.output = last_part(target_->name());
    planned_.settings = shards::settled(picture_settings());
    return exit_ok;
  }

  [[nodiscard]] shards::Settings picture_settings() const {
    const PictureRequest& r = arguments_.request;
    return {{"command", about_.name},
            {"--prompt", r.prompt},
            {"--beam", std::to_string(r.beams)},
            {"--max-length", std::to_string(r.max_length)},
            {"--top", std::to_string(r.top)},
            {"--dtype", r.dtype},
            {"--kv-dtype", r.kv_dtype},
            {"--caps", r.caps},
            {"--json", arguments_.json ? "json" : ""}};
  }

  int begin_shard(const std::string& model) {
    planned_.model_hash = shards::hash_of_model(model);
    bool done = false;
    const int code = shard_.begin(planned_, context_.quiet, done);
    if (done) finished_ = code;
    if (done || code != exit_ok) return done ? int{exit_ok} : code;
    const std::string obstacle = shard_.obstacle(*target_, files_);
    return obstacle.empty() ? int{exit_ok} : complain(exit_usage, obstacle);
  }

  // A shard goes on behind the pictures that are done.
  int begin(Journal& from) {
    if (!is_shard()) return target_->begin();
    Identity identity = planned_.settings;
    identity.emplace_back("version of lapilli", planned_.version);
    identity.emplace_back("model", planned_.model_hash);
    for (const shards::InputRecord& input : planned_.inputs)
      identity.emplace_back("input " + input.name, input.piece.hash);
    if (const int code = target_->begin(identity, !arguments_.force, arguments_.force, from)) return code;
    return shard_.begin_rows(from.point.failed);
  }

  int keep(size_t done) {
    if (const int code = shard_.rejected().flush()) return code;
    const Point point{0, done, target_->bytes(), shard_.rejected().count(), 0};
    if (const int code = target_->keep(journal_record(point))) return code;
    return shard_.rejected().are_too_many() ? shard_.stop_at_rejected() : int{exit_ok};
  }

  // A picture may have several lines.
  int finish_shard() {
    shards::Record record = planned_;
    measure_output(target_->name(), record);
    record.rows_in = record.rows_out = record.inputs.size();
    if (model_) record.device = model_->info().device;
    return shard_.finish(std::move(record));
  }

  // Reports everything that is wrong with the arguments before the model is loaded.
  int prepare() {
    std::vector<std::string> inputs = arguments_.inputs;
    if (!arguments_.list.empty())
      if (const int code = read_file_list(arguments_.list, inputs)) return code;
    if (inputs.empty()) return complain(exit_usage, "name the pictures: files, folders, or - for a pipe");
    if (const int code = find_pictures(inputs, files_)) return code;
    if (const int code = take_pictures()) return code;
    if (!is_shard() && !arguments_.output.empty() && arguments_.output != "-") {
      target_ = std::make_unique<TargetFile>(arguments_.output);
      if (const std::string missing = missing_folder(target_->name()); !missing.empty())
        return complain(exit_usage, missing);
      const std::string obstacle = target_->obstacle(arguments_.force, false, files_);
      if (!obstacle.empty()) return complain(exit_usage, obstacle);
    }
    PictureRequest request = arguments_.request;
    if (const int code = choose_attention(request)) return code;
    if (const int code = find_model_with(about_.ability, request.model)) return code;
    if (is_shard()) {
      const int code = begin_shard(request.model);
      if (code != exit_ok || finished_ || files_.empty()) return code;
    }
    request.classes = about_.classes;
    request.cache = cache_folder(arguments_.no_cache);
    model_ = std::make_unique<PictureModel>(std::move(request));
    if (const auto loaded = model_->load(); !loaded)
      return complain(exit_code(loaded.error().status()), loaded.error().message());
    if (context_.verbose) {
      const lapilli_model_info info = model_->info();
      std::fprintf(stderr, "lapilli: %s, on %s, loaded in %.0f ms\n", info.directory, info.device,
                   model_->figures().load_ms);
    }
    return exit_ok;
  }

  int choose_attention(PictureRequest& request) const {
    const std::string& file = arguments_.attention;
    for (const auto& [name, text, index] : {std::tuple("layer", &arguments_.layer, &request.attention_layer),
                                            std::tuple("head", &arguments_.head, &request.attention_head)})
      if (!parse_attention_index(*text, *index) || *text == "all")
        return complain(exit_usage, std::string("--attention-") + name + ": a number from 0, or mean");
    if (file.empty() && (arguments_.layer != "mean" || arguments_.head != "mean"))
      return complain(exit_usage,
                      "--attention-layer and --attention-head choose what is drawn: say where, with --attention");
    if (file.empty()) return exit_ok;
    if (const std::string wrong = obstacle_to_drawing(file); !wrong.empty()) return complain(exit_usage, wrong);
    request.attention = drawing_format(file);
    for (const std::string& picture : files_)
      if (same_file(picture, file)) return complain(exit_usage, file + " is an input; it cannot be the output");
    if (files_.size() == 1) return exit_ok;
    return complain(exit_usage, "--attention draws over one picture, and there are " + std::to_string(files_.size()));
  }

  // Replaces pipes by names under which their content can be opened.
  int open_pipes(const std::vector<std::string>& files, std::vector<std::string>& paths, std::deque<PipedFile>& pipes) {
    constexpr uint64_t kMost = uint64_t{1} << 28;  // bytes, of pictures' files
    for (const std::string& file : files) {
      paths.push_back(file);
      if (!is_pipe(file)) continue;
      if (const std::string wrong = pipes.emplace_back().take(file, kMost); !wrong.empty())
        return interrupted() ? int{exit_ok} : complain(exit_input, wrong);
      paths.back() = pipes.back().path();
    }
    return exit_ok;
  }

  int run_some(const std::vector<std::string>& files) {
    std::deque<PipedFile> pipes;
    std::vector<std::string> paths;
    if (const int code = open_pipes(files, paths, pipes); code != exit_ok || interrupted()) return code;
    std::vector<PictureAnswer> answers;
    const auto done = model_->run(paths, answers);
    for (size_t i = 0; i < answers.size(); ++i) {
      name_as_typed(paths[i], files[i], answers[i].output);
      if (const int code = tell(files[i], answers[i])) return code;
    }
    if (done || interrupted()) return exit_ok;
    return complain(exit_code(done.error().status()), done.error().message());
  }

  static void name_as_typed(const std::string& path, const std::string& typed, Output& output) {
    if (output.ok() || path == typed) return;
    std::string message = output.error->message();
    for (size_t at = 0; (at = message.find(path, at)) != std::string::npos; at += typed.size())
      message.replace(at, path.size(), typed);
    output.error = Error(output.error->status(), message);
  }

  int tell(const std::string& file, const PictureAnswer& answer) {
    const Output& output = answer.output;
    if (!output.ok()) {
      ++failed_;
      complain(exit_ok, output.error->message());
      if (is_shard())
        if (const int code = reject(file, output)) return code;
      if (!named_ && !arguments_.json) only_code_ = exit_code(output.error->status());
    }
    int code = exit_ok;
    if (arguments_.json)
      code = write(json_line(file, output));
    else if (output.ok())
      code = write(plain_lines(file, output));
    if (code != exit_ok || answer.attention.empty()) return code;
    return write_drawing(arguments_.attention, 1, answer.attention);
  }

  int reject(const std::string& file, const Output& output) {
    const auto status = static_cast<lapilli_status>(output.error->status());
    if (passes_with_time(status)) return stop_shard(status);
    return shard_.rejected().add({file, 1, output.error->message()});
  }

  int write(const std::string& text) { return target_ ? target_->write(text) : output_.write(text); }

  // With several pictures, each line begins with its file's name, in which blanks replace tabs and line ends.
  [[nodiscard]] std::string plain_lines(const std::string& file, const Output& output) const {
    const std::string name = named_ ? in_one_field(file) + "\t" : "";
    if (!about_.classes) return name + in_one_line(output.text()) + "\n";
    std::string lines;
    for (const Class& c : output.classes) {
      char probability[16];
      std::snprintf(probability, sizeof probability, "%.4f", c.probability);
      lines += name + probability + "\t" + in_one_line(name_of_class(c)) + "\n";
    }
    return lines;
  }

  static std::string name_of_class(const Class& c) {
    return c.label.empty() ? "class " + std::to_string(c.index) : c.label;
  }

  [[nodiscard]] std::string json_line(const std::string& file, const Output& output) const {
    std::string out = "{\"file\":" + json_string(file) + ",";
    if (!output.ok())
      return out + "\"error\":{\"code\":" + json_string(name_of(output.error->status())) +
             ",\"message\":" + json_string(output.error->message()) + "}}\n";
    out += json_string(about_.result) + ":";
    if (!about_.classes) return out + json_string(output.text()) + "}\n";
    std::string classes;
    for (const Class& c : output.classes) {
      char probability[32];
      std::snprintf(probability, sizeof probability, "%.6g", c.probability);
      classes += std::string(classes.empty() ? "" : ",") + "{\"class\":" + std::to_string(c.index) +
                 ",\"label\":" + json_string(c.label) + ",\"probability\":" + probability + "}";
    }
    return out + "[" + classes + "]}\n";
  }

  int finish(int code) {
    if (target_) {
      if (code == exit_ok && !interrupted())
        code = target_->finish();
      else
        target_->stop();
    }
    if (is_shard() && code == exit_ok && !interrupted()) {
      code = finish_shard();
      if (code == exit_ok) target_->forget_journal();
      if (code == exit_ok) shard_.leave();
    }
    if (arguments_.stats) print_stats();
    if (interrupted()) return 128 + interrupted();
    if (code != exit_ok) return code;
    if (is_shard()) return shard_.rejected().are_a_failure() ? exit_some_failed : exit_ok;
    if (only_code_ != exit_ok) return only_code_;
    return failed_ > 0 ? exit_some_failed : exit_ok;
  }

  void print_stats() const {
    const PictureFigures& f = model_->figures();
    const lapilli_model_info info = model_->info();
    const auto weights = static_cast<unsigned long long>(info.weight_bytes),
               peak = static_cast<unsigned long long>(model_->usage().peak_bytes);
    constexpr double kMiB = 1 << 20;
    if (arguments_.json) {
      std::fprintf(stderr,
                   "{\"pictures\":%llu,\"failed\":%llu,\"load_ms\":%.3f,\"read_ms\":%.3f,\"run_ms\":%.3f,"
                   "\"weight_bytes\":%llu,\"device_bytes_peak\":%llu,\"device\":%s}\n",
                   f.pictures, failed_, f.load_ms, f.read_ms, f.run_ms, weights, peak,
                   json_string(info.device).c_str());
      return;
    }
    std::fprintf(stderr,
                 "load       %10.1f ms\n"
                 "read       %10.1f ms for %llu pictures: files and what is made of them\n"
                 "run        %10.1f ms on %s\n"
                 "memory     %10.1f MiB of the device at most, %.1f MiB of weights\n",
                 f.load_ms, f.read_ms, f.pictures, f.run_ms, info.device, static_cast<double>(peak) / kMiB,
                 static_cast<double>(weights) / kMiB);
  }

  const PictureCommand& about_;
  const PictureArguments& arguments_;
  const Context& context_;
  std::vector<std::string> files_;
  std::unique_ptr<PictureModel> model_;
  std::unique_ptr<TargetFile> target_;
  StandardOutput output_;
  ShardRun shard_;
  shards::Record planned_;       // of the shard
  std::optional<int> finished_;  // the exit code of an earlier run that finished the shard
  bool named_ = false;           // lines begin with the file's name
  unsigned long long failed_ = 0;
  int only_code_ = exit_ok;  // the result of the only picture
};

constexpr const char* kRules =
    R"(Pictures are PNG, JPEG, GIF, BMP, WebP or TIFF files of at most 67 million pixels, whatever they are called; of several
in a file the first is read. A folder gives all its files with the endings .png .jpg .jpeg .gif .bmp .webp .tif .tiff, in
the order of their names. A pipe is read to its end. One picture gives its result alone; with several, each line begins
with the file's name and a tab. A picture that cannot be read is reported on stderr, and the others go on.

)";

constexpr const char* kCaptionFooter =
    R"(Examples:
  lapilli caption --model ./vit-gpt2-image-captioning photo.jpg
  lapilli caption --model ./vit-gpt2-image-captioning --json holidays/ > captions.jsonl
  lapilli caption --model ./vit-gpt2-image-captioning --attention looked.svg photo.jpg
  curl -s https://example.com/photo.jpg | lapilli caption --model ./vit-gpt2-image-captioning -

)";
constexpr const char* kReadFooter =
    R"(A model of handwriting or print reads one line of text in each picture; Donut reads a page, as fields with their names.

Examples:
  lapilli read --model ./trocr-base-handwritten line.png
  lapilli read --model ./trocr-base-printed --beam 1 -o lines.txt lines/
  lapilli read --model ./donut-base-finetuned-docvqa \
    --prompt '<s_docvqa><s_question>What is the total?</s_question><s_answer>' receipt.jpg

)";
constexpr PictureCommand kPictureCommands[] = {
    {"caption",
     "Say in words what pictures show",
     kCaptionFooter,
     "caption",
     false,
     {"sees no pictures", "says what they show", "nlpconnect/vit-gpt2-image-captioning"}},
    {"read",
     "Read the text in pictures",
     kReadFooter,
     "text",
     false,
     {"sees no pictures", "reads them", "microsoft/trocr-base-printed"}},
};

constexpr PictureCommand kClassifyPictures = {
    "classify", "", "", "classes", true, {"sees no pictures", "knows classes", "google/vit-base-patch16-224"}};

void add_attention(CLI::App& command, PictureArguments& a) {
  command
      .add_option("--attention", a.attention,
                  "Draw the attention of each word over the picture: FILE.svg, or FILE.png with simple labels; of one "
                  "picture")
      ->type_name("FILE");
  for (const auto& [name, text] : {std::pair("layer", &a.layer), std::pair("head", &a.head)})
    command
        .add_option(std::string("--attention-") + name, *text,
                    std::string("A ") + name + " of the decoder from 0, or the mean of all")
        ->type_name("N")
        ->capture_default_str();
}

void add_arguments(CLI::App& command, PictureArguments& a) {
  PictureRequest& r = a.request;
  command.add_option("pictures", a.inputs, "Files or folders; - is standard input")->type_name("FILE");
  command
      .add_option("-m,--model", r.model,
                  "Model directory as published, or OWNER/NAME of a fetched one; without it, LAPILLI_MODEL")
      ->type_name("MODEL");
  command
      .add_option("--prompt", r.prompt,
                  "Text that the answer goes on from; tokens may be spelled out, such as <s_cord-v2>, a task of "
                  "Donut's. Without it the model's own start")
      ->type_name("TEXT");
  command.add_option("-b,--beam", r.beams, "Beams; without it as the model says")
      ->transform(whole_number(1, kMostBeams))
      ->type_name("N");
  command.add_option("--max-length", r.max_length, "Ids of a text at most; without it as the model says")
      ->transform(whole_number(1, kMostLength))
      ->type_name("N");
  add_attention(command, a);
  add_dtype(command, r.dtype);
  add_kv_dtype(command, r.kv_dtype);
  command.add_option("-o,--output", a.output, "Write to FILE, which gets its name when it is complete")
      ->type_name("FILE");
  command.add_flag("--force", a.force, "Replace what is there");
  command.add_option("--files-from", a.list, kAllFilesFromHelp)->type_name("FILE")->check(not_empty());
  add_shard_arguments(command, a.shard);
  command.add_flag("--json", a.json, "One JSON object a line, with the file's name");
  command.add_flag("--stats", a.stats, "Times and memory on stderr");
  command.add_option("--memory-limit", r.memory_mib, "Device memory that may be taken, in MiB")
      ->transform(whole_number(1, kMostU32))
      ->type_name("MIB");
  add_device_choice(command, r.select, r.require_gpu);
  command.add_option("--caps", r.caps, "Pretend that the device can do less");
  command.add_flag("--no-cache", a.no_cache, "Keep nothing between runs");
}

// Options of texts that say nothing about pictures; "" if none was given.
std::string only_for_texts(const TextArguments& a) {
  if (a.scoring.pairs) return "--pairs";
  if (!a.files.suffix.empty()) return "--suffix";
  if (!a.files.format.empty()) return "--format";
  if (a.files.resume) return "--resume";
  if (a.files.skip_existing) return "--skip-existing";
  if (a.files.names_member()) return "--field";
  if (a.files.names_column()) return "--column";
  if (a.deterministic) return "--deterministic";
  if (!a.trace_file.empty()) return "--trace";
  if (a.validation) return "--validation";
  return a.force_text ? "--text" : "";
}

PictureArguments of_pictures(const TextArguments& a) {
  PictureArguments p;
  p.inputs = a.inputs;
  p.output = a.files.output;
  p.force = a.files.force;
  p.shard = a.files.shard;
  p.list = a.files.list;
  p.json = a.json;
  p.stats = a.stats;
  p.no_cache = a.no_cache;
  p.request.model = a.model;
  p.request.select = a.device;
  p.request.require_gpu = a.require_gpu;
  p.request.caps = a.caps;
  if (!a.dtype.empty()) p.request.dtype = a.dtype;
  p.request.memory_mib = a.memory_limit;
  if (a.scoring.top > 0) p.request.top = a.scoring.top;
  if (a.batch <= kMostPicturesAtOnce) p.request.batch = a.batch;
  return p;
}

}  // namespace

bool names_pictures(const std::vector<std::string>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const std::string& name) { return is_picture_name(name); });
}

int classify_pictures(const TextArguments& arguments, const Context& context) {
  if (const std::string option = only_for_texts(arguments); !option.empty())
    return complain(exit_usage, option + " is for models of text, and this one reads pictures");
  if (arguments.batch > kMostPicturesAtOnce && arguments.batch != kEncoderBatch)
    return complain(exit_usage, "--batch: at most " + std::to_string(kMostPicturesAtOnce) + " pictures at a time");
  if (arguments.inputs.empty() && arguments.files.list.empty())
    return complain(exit_usage, "name the pictures: files, folders, or - for a pipe");
  return PictureRun(kClassifyPictures, of_pictures(arguments), context).run();
}

void add_picture_commands(CLI::App& app, Context& context) {
  for (const PictureCommand& about : kPictureCommands) {
    auto a = std::make_shared<PictureArguments>();
    CLI::App* command = app.add_subcommand(about.name, about.description);
    add_arguments(*command, *a);
    command->footer(about.footer + std::string(kRules) + kExitCodeHelp);
    command->callback([&context, &about, a] {
      context.run = [&context, &about, a] { return PictureRun(about, *a, context).run(); };
    });
  }
}

}  // namespace lapilli::cli
