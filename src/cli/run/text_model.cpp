#include "cli/run/text_model.hpp"

#include <algorithm>
#include <charconv>
#include <future>
#include <iterator>
#include <utility>

#include "base/path.hpp"
#include "cli/arguments/chat_arguments.hpp"
#include "cli/arguments/device_choice.hpp"
#include "cli/arguments/dtype.hpp"
#include "cli/arguments/foreign_options.hpp"
#include "cli/exit_codes.hpp"
#include "cli/files/blanks.hpp"
#include "cli/files/cache_folder.hpp"
#include "cli/run/lent_threads.hpp"
#include "cli/run/model_kinds.hpp"
#include "cli/run/unsure.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

// Parses ids between blanks; false if there is anything else.
bool parse_ids(const std::string& text, Ids& ids) {
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    while (at < end && (*at == ' ' || *at == '\t')) ++at;
    if (at == end) return true;
    int32_t id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc() || (next < end && *next != ' ' && *next != '\t')) return false;
    ids.push_back(id);
    at = next;
  }
}

bool refuse(LineResult& result, std::string why) {
  result.status = Status::invalid_argument;
  result.error = std::move(why);
  return false;
}

// An explicit fp32 for a packed model fails here, as the library would treat it as unset.
Result<void> other_dtype(const std::string& asked, const Model& model) {
  const int32_t held = model.info().value().dtype;
  if (asked != name_of(Dtype::fp32) || held == LAPILLI_DTYPE_FP32) return {};
  const std::string packed = name_of(static_cast<Dtype>(held));
  return Error(Status::invalid_argument, "the model is packed as " + packed +
                                             " and cannot be held as fp32; leave --dtype away, or take the model that "
                                             "it was packed from");
}

// An encoder may lack the head alone; its tensors are named then.
Error no_head(const lapilli_model_info& info, const char* does, const char* tensors) {
  if (info.writes_text) return other_kind(info, (std::string("do not ") + does).c_str());
  return Error(Status::unsupported, std::string("this ") + info.family + " model has no head to " + does +
                                        " (tensors called " + tensors + "); what serves it: " + info.commands);
}

// "lapilli tag" is among the model's commands.
Result<void> has_command(const lapilli_model_info& info, const std::string& name, const char* does,
                         const char* tensors) {
  const std::string all = std::string(info.commands) + " ";
  if (all.find("lapilli " + name + " ") != std::string::npos) return {};
  return no_head(info, does, tensors);
}

void leave_all(LineResults& results, Error error, int code) {
  for (LineResult& line : results.lines) line = {"", Status::cancelled, nullptr, 0, {}};
  results.fatal = std::move(error);
  results.fatal_code = code;
}

}  // namespace

std::string ids_text(const Ids& ids) {
  std::string text;
  for (int32_t id : ids) text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

// The model's inputs from lines that are not empty.
struct TextModel::Inputs {
  std::vector<size_t> owners;  // the line of each
  std::vector<std::string> texts;
  std::vector<std::pair<std::string, std::string>> pairs;
  std::vector<Ids> ids;

  // The length of each, in bytes or ids.
  [[nodiscard]] std::vector<size_t> lengths() const {
    std::vector<size_t> all;
    for (const std::string& text : texts) all.push_back(text.size());
    for (const auto& pair : pairs) all.push_back(pair.first.size() + pair.second.size());
    for (const Ids& one : ids) all.push_back(one.size());
    return all;
  }
  [[nodiscard]] Inputs these(const std::vector<size_t>& numbers) const {
    Inputs some;
    for (const size_t i : numbers) {
      if (!texts.empty()) some.texts.push_back(texts[i]);
      if (!pairs.empty()) some.pairs.push_back(pairs[i]);
      if (!ids.empty()) some.ids.push_back(ids[i]);
    }
    return some;
  }
};

Result<Results> TextModel::generate(const Model& model, const Inputs& inputs, const Options& options) const {
  if (arguments_.ids) return model.generate_ids(inputs.ids, options);
  if (about_.makes == Makes::answers) return model.answer(inputs.pairs, options);
  if (arguments_.scoring.pairs) return model.classify_pairs(inputs.pairs, options);
  return model.translate(inputs.texts, options);
}

// `of_first`: by the first model of a chain.
Result<std::vector<Portion>> TextModel::share(const Inputs& inputs, const Options& options, bool of_first) {
  const auto run = [&](const Member& member, const std::vector<size_t>& numbers, const Team::Report& report) {
    Options own = options;
    own.progress = report;
    const auto made = [&](const Inputs& some) {
      return of_first ? member.first->translate(some.texts, own) : generate(member.model, some, own);
    };
    if (team_.size() == 1) return made(inputs);
    own.input_numbers.clear();
    for (const size_t i : numbers) own.input_numbers.push_back(options.input_numbers[i]);
    return made(inputs.these(numbers));
  };
  auto parts = team_.share(inputs.lengths(), arguments_.batch, run, options.progress);
  if (!parts) return parts;
  for (const Portion& part : *parts) statistics_.add(part.results.stats());
  return parts;
}

Result<void> TextModel::check_attention(const lapilli_model_info& info) const {
  const AttentionArguments& asked = arguments_.attention;
  if (!asked.wanted() || info.source_vocabulary != 0) return {};
  return Error(Status::unsupported, std::string(asked.alignment ? "--alignment" : "--attention") + ": " + info.family +
                                        " models have no encoder to which a decoder attends, and their words are not "
                                        "aligned; leave it away, or take a model with an encoder");
}

Result<void> TextModel::check_results(const lapilli_model_info& info) const {
  if (about_.takes_bundled() && !info.writes_text) return other_kind(info, "write no text");
  if (about_.takes_bundled()) return check_attention(info);
  const bool vectors = about_.makes == Makes::vectors || about_.makes == Makes::search;
  if (vectors && info.dimensions == 0) return other_kind(info, "make no vectors of texts");
  if (vectors && arguments_.vectors.dimensions > info.dimensions)
    return Error(Status::invalid_argument, "--dimensions " + std::to_string(arguments_.vectors.dimensions) +
                                               ": the model's vectors have " + std::to_string(info.dimensions));
  if (vectors) return {};
  if (about_.makes == Makes::tags) return has_command(info, "tag", "tag words", "\"classifier\"");
  if (about_.makes == Makes::answers) return has_command(info, "answer", "find answers", "\"qa_outputs\"");
  if (about_.makes == Makes::fills)
    return has_command(info, "fill", "fill masks", "\"cls.predictions\" or \"lm_head\"");
  if (info.classes == 0) return no_head(info, "score texts", "\"classifier\"");
  if (about_.makes == Makes::classes || info.classes == 1) return {};
  return Error(Status::unsupported, "the model has " + std::to_string(info.classes) +
                                        " labels, and documents are ranked by the score of one; lapilli classify "
                                        "--pairs gives the scores of all");
}

// A template that refuses, or that cannot be run, is found before the weights are loaded.
Result<void> TextModel::read_chat(const std::string& directory) {
  if (const std::string wrong = cli::read_chat(arguments_.chat, options_.chat); !wrong.empty())
    return Error(Status::not_found, wrong);
  if (!arguments_.chat.use) return {};
  const bool messages_alone = arguments_.inputs == std::vector<std::string>{""};
  const auto user = messages_alone ? std::optional<std::string>() : std::optional<std::string>("Hello.");
  const auto prompt = chat_prompt(directory, user, options_.chat);
  if (!prompt) return Error(prompt.error().status(), named_as_typed(arguments_, prompt.error().message()));
  return {};
}

Result<void> TextModel::load_first(const ModelChoice& choice, const ModelOptions& limits, Member& member) const {
  if (!choice.is_chain()) return {};
  if (arguments_.attention.wanted())
    return Error(Status::unsupported,
                 "--attention and --alignment need one model from the text to its translation, and these languages are "
                 "served by a chain of two; leave them away, or name a model (--model)");
  auto first = Model::load(member.device, choice.first, limits);
  if (!first) return first.error();
  if (auto suits = check_results(first->info().value()); !suits) return suits;
  member.first.emplace(std::move(*first));
  return {};
}

Result<std::vector<std::string>> TextModel::selected_devices() {
  auto chosen = chosen_devices(arguments_.device, arguments_.caps);
  if (!chosen) return Error(chosen.error().status(), chosen.error().message() + foreign_device(arguments_.device));
  if (chosen->selects.size() < 2) return std::move(chosen->selects);
  const std::string_view name = about_.name;
  if (about_.makes == Makes::ranking || about_.makes == Makes::search || name == "chat")
    return Error(Status::invalid_argument, "lapilli " + std::string(name) + " runs on one device; name one (--device)");
  if (!arguments_.trace_file.empty())
    return Error(Status::invalid_argument, "--trace tells of one device; name one (--device)");
  devices_told_ = std::to_string(chosen->selects.size()) + " devices share the lines: " + chosen->told;
  return std::move(chosen->selects);
}

Result<Member> TextModel::load_member(const std::string& select, const ModelChoice& choice) const {
  DeviceOptions device;
  device.select = select;
  device.refuse_cpu = arguments_.require_gpu;
  device.caps = arguments_.caps;
  device.validation = arguments_.validation;
  device.cache_directory = cache_folder(arguments_.no_cache);
  device.trace_file = arguments_.trace_file;
  const lapilli_workers threads = lent_threads();
  device.workers = &threads;
  if (choice.is_chain()) device.memory_limit = arguments_.memory_limit << 20;
  ModelOptions limits;
  limits.memory_limit = arguments_.memory_limit << 20;
  limits.dtype = dtype_of(arguments_.dtype);
  limits.kv_dtype = dtype_of(arguments_.kv_dtype);
  limits.prefix_cache = !arguments_.no_prefix_cache;
  auto opened = Device::open(device);
  if (!opened) return Error(opened.error().status(), opened.error().message() + foreign_device(select));
  Member member;
  member.device = std::move(*opened);
  if (auto first = load_first(choice, limits, member); !first) return first.error();
  auto model = Model::load(member.device, choice.directory, limits);
  if (!model) return model.error();
  if (auto same = other_dtype(arguments_.dtype, *model); !same) return same.error();
  const lapilli_model_info info = model->info().value();
  if (info.input_kind == LAPILLI_INPUT_SAMPLES) return other_kind(info, "read sound, no text");
  if (info.input_kind == LAPILLI_INPUT_PIXELS) return other_kind(info, "read pictures, no text");
  if (auto suits = check_results(info); !suits) return suits.error();
  member.model = std::move(*model);
  return member;
}

// At the same time: a load waits for the disk and the device in turn.
Result<std::vector<Member>> TextModel::load_members(const std::vector<std::string>& selects,
                                                    const ModelChoice& choice) const {
  std::vector<std::future<Result<Member>>> loads;
  for (size_t i = 1; i < selects.size(); ++i)
    loads.push_back(std::async(std::launch::async, [&, select = selects[i]] { return load_member(select, choice); }));
  std::vector<Result<Member>> loaded;
  loaded.push_back(load_member(selects.front(), choice));
  for (auto& load : loads) loaded.push_back(load.get());
  std::vector<Member> members;
  for (Result<Member>& one : loaded) {
    if (!one) return one.error();
    members.push_back(std::move(*one));
  }
  return members;
}

Result<void> TextModel::load(const ModelChoice& choice, const std::string& options_text) {
  if (auto read = read_chat(choice.directory); !read) return read;
  const auto selects = selected_devices();
  if (!selects) return selects.error();
  auto members = load_members(*selects, choice);
  if (!members) return members.error();
  team_.set(std::move(*members));
  set_options(choice, options_text);
  unsure_below_ = find_unsure_below();
  return {};
}

// Sampled output is sometimes unlikely by design.
std::optional<double> TextModel::find_unsure_below() const {
  if (arguments_.no_unsure) return {};
  if (arguments_.unsure) return arguments_.unsure;
  return arguments_.sample ? std::nullopt : unsure_threshold(model().info().value().directory);
}

void TextModel::set_options(const ModelChoice& choice, const std::string& options_text) {
  if (arguments_.beam > 0) options_.num_beams = arguments_.beam;
  if (arguments_.max_length > 0) options_.max_length = arguments_.max_length;
  if (arguments_.chat.max_new_tokens > 0) options_.max_new_tokens = arguments_.chat.max_new_tokens;
  if (arguments_.nbest > 1) options_.num_return_sequences = arguments_.nbest;
  options_.batch = arguments_.batch;
  options_.deterministic = arguments_.deterministic;
  options_.json = options_json(arguments_, options_text);
  options_.task = arguments_.vectors.task.empty() ? about_.task : arguments_.vectors.task;
  if (about_.makes == Makes::classes) options_.encoder.top_classes = std::max(arguments_.scoring.top, 1u);
  set_scores_and_spans();
  options_.encoder.dimensions = arguments_.vectors.dimensions;
  options_.encoder.normalize = arguments_.vectors.normalize;
  options_.encoder.prompt_name = arguments_.vectors.prompt_name;
  options_.encoder.prompt = arguments_.vectors.prompt;
  options_.source_language = arguments_.from;
  options_.target_language = arguments_.to;
  if (arguments_.split || arguments_.no_split) options_.split_sentences = arguments_.split;
  if (!choice.is_chain()) return;
  first_options_ = options_;
  first_options_.target_language = options_.source_language = choice.between;
  first_options_.num_return_sequences.reset();
}

void TextModel::set_scores_and_spans() {
  const ScoreArguments& scores = arguments_.scoring;
  const SpanArguments& spans = arguments_.spans;
  EncoderOptions& to = options_.encoder;
  to.labels = scores.labels;
  to.hypothesis = scores.hypothesis;
  to.entailment = scores.entailment;
  to.multi_label = scores.multi_label;
  to.top_spans = spans.top;
  to.aggregation = spans.aggregation;
  if (spans.ignored) to.ignored_labels = labels_in(*spans.ignored);
  to.allow_empty = spans.allow_empty;
  to.part_words = spans.part_words;
  to.cut_texts = spans.cut_texts;
  to.max_answer_tokens = spans.max_answer_tokens;
  to.window = spans.window;
  to.stride = spans.stride;
}

bool TextModel::add_pair(const Line& line, LineResult& result, Inputs& inputs) {
  const size_t tab = line.text.find('\t');
  if (tab == std::string::npos) return refuse(result, "there is no tab that parts two texts (--pairs)");
  inputs.pairs.emplace_back(line.text.substr(0, tab), line.text.substr(tab + 1));
  return true;
}

bool TextModel::add_input(const Line& line, LineResult& result, Inputs& inputs) const {
  if (line.too_long) return refuse(result, "the line is longer than " + std::to_string(kMaxLineBytes) + " bytes");
  const bool answers_messages = !arguments_.chat.messages.empty() && line.text.empty();
  if (line.kept || (is_blank(line.text) && !about_.takes_blanks() && !answers_messages)) return false;
  if (arguments_.scoring.pairs) return add_pair(line, result, inputs);
  if (about_.makes == Makes::answers) {
    inputs.pairs.emplace_back(arguments_.spans.question.value_or(""), line.text);
    return true;
  }
  if (!arguments_.ids) {
    inputs.texts.push_back(line.text);
    return true;
  }
  Ids parsed;
  if (!parse_ids(line.text, parsed))
    return refuse(result, "not a list of token ids (whole numbers with blanks between)");
  inputs.ids.push_back(std::move(parsed));
  return true;
}

// Puts the results of a chain's first model in place of the texts. Those that fail are left out, and those of blanks,
// from which a model would make a text of its own.
std::optional<Error> TextModel::run_first(Inputs& inputs, Options& options, LineResults& results) {
  Options of_first = first_options_;
  of_first.input_numbers = options.input_numbers;
  of_first.deterministic = options.deterministic;
  const auto report = options.progress;
  of_first.progress = [report](uint64_t done, uint64_t all) { return report(done, 2 * all); };
  options.progress = [report](uint64_t done, uint64_t all) { return report(all + done, 2 * all); };
  const auto parts = share(inputs, of_first, true);
  if (!parts) return parts.error();
  std::vector<const Output*> made(inputs.owners.size());
  for (const Portion& part : *parts)
    for (size_t i = 0; i < part.inputs.size(); ++i) made[part.inputs[i]] = &part.results[i];
  Inputs left;
  options.input_numbers.clear();
  for (size_t i = 0; i < inputs.owners.size(); ++i) {
    LineResult& result = results.lines[inputs.owners[i]];
    if (!made[i]) {
      result.status = Status::cancelled;
    } else if (!made[i]->ok()) {
      result.status = made[i]->error->status();
      result.error = named_as_typed(arguments_, made[i]->error->message());
    } else if (is_blank(made[i]->text())) {
      result.texts = {""};
      result.nothing_between = true;
    } else {
      left.owners.push_back(inputs.owners[i]);
      left.texts.push_back(made[i]->text());
      options.input_numbers.push_back(of_first.input_numbers[i]);
    }
  }
  inputs = std::move(left);
  return {};
}

LineResults TextModel::run(const std::vector<Line>& lines, uint64_t lines_before, const Callbacks& callbacks) {
  LineResults results;
  results.lines.resize(lines.size());
  Inputs inputs;
  Options options = options_;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!add_input(lines[i], results.lines[i], inputs)) continue;
    inputs.owners.push_back(i);
    options.input_numbers.push_back(lines_before + lines[i].number - 1);
  }
  if (inputs.owners.empty()) return results;
  const uint64_t others = lines.size() - inputs.owners.size();
  options.progress = [&](uint64_t done, uint64_t all) {
    callbacks.progress(others + done, others + all);
    return interrupted() == 0;
  };
  if (arguments_.stream)
    options.stream = [&](size_t, std::string_view text, const Ids&) { return callbacks.stream(text); };
  const auto failed = [&](const Error& why) {
    const Error error(why.status(), named_as_typed(arguments_, why.message()));
    leave_all(results, error, exit_code(error.status()));
    return std::move(results);
  };
  if (is_chain()) {
    if (const auto why = run_first(inputs, options, results)) return failed(*why);
    if (inputs.owners.empty()) return results;
  }
  auto parts = share(inputs, options, false);
  if (!parts) return failed(parts.error());
  results.parts.assign(std::make_move_iterator(parts->begin()), std::make_move_iterator(parts->end()));
  if (arguments_.attention.wanted()) callbacks.before_files();
  take(lines, inputs, results);
  return results;
}

// A stream stands as it was printed, and an alignment counts the words that the model wrote.
bool TextModel::puts_words() const {
  const bool translates = std::string_view(about_.task) == "translate";
  return translates && !arguments_.ids && !arguments_.stream && !arguments_.attention.wanted() &&
         model().info().value().source_vocabulary != 0;
}

void TextModel::put_words(const std::string& source, LineResult& result) const {
  result.put = words_for_unknown(result.part->member->model, result.part->results, result.input, source);
  if (!result.put.empty()) result.texts = {with_words(result.output->text(), result.put)};
}

void TextModel::take(const std::vector<Line>& lines, const Inputs& inputs, LineResults& results) {
  for (const size_t owner : inputs.owners) results.lines[owner].status = Status::cancelled;
  for (const Portion& part : results.parts) {
    for (size_t i = 0; i < part.inputs.size(); ++i) {
      LineResult& result = results.lines[inputs.owners[part.inputs[i]]];
      result.status = Status::ok;
      result.output = &part.results[i];
      result.part = &part;
      result.input = i;
      if (result.output->ok()) {
        if (puts_words()) put_words(inputs.texts[part.inputs[i]], result);
        continue;
      }
      result.status = result.output->error->status();
      result.error = named_as_typed(arguments_, result.output->error->message());
    }
  }
  if (!arguments_.attention.wanted()) return;
  for (const size_t owner : inputs.owners)
    if (LineResult& result = results.lines[owner]; result.status == Status::ok)
      attend(lines[owner].text, results, result);
}

std::vector<lapilli_word_link> TextModel::word_links(const LineResults& results, size_t line) const {
  const LineResult& result = results.lines[line];
  std::vector<lapilli_word_link> links;
  for (size_t part = 0; part < result.output->sequences.front().parts.size(); ++part) {
    auto attention = Attention::run(result.part->member->model, result.part->results, result.input, 0, part);
    if (!attention) continue;
    if (const auto found = attention->align(); found)
      links.insert(links.end(), found.value().begin(), found.value().end());
  }
  for (lapilli_word_link& link : links) {
    link.target_begin = place_with_words(link.target_begin, result.put);
    link.target_end = place_with_words(link.target_end, result.put);
  }
  return links;
}

// Runs the requested attention and alignment. An error of the line is its own; one that all lines would have is fatal,
// and this line and all later ones stay unfinished.
void TextModel::attend(const std::string& source, LineResults& results, LineResult& result) {
  if (results.fatal || interrupted()) {
    result.status = Status::cancelled;
    return;
  }
  auto attended =
      attention_.attend(result.part->member->model, result.part->results, result.input, source, arguments_.json);
  result.alignments = std::move(attended.alignments);
  if (!attended.error) return;
  result.status = attended.of_all ? Status::cancelled : attended.error->status();
  result.error = attended.error->message();
  if (!attended.of_all) return;
  results.fatal_code =
      attended.error->status() == Status::not_found ? exit_output : exit_code(attended.error->status());
  results.fatal = std::move(attended.error);
}

}  // namespace lapilli::cli
