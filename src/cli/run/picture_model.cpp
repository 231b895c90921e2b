#include "cli/run/picture_model.hpp"

#include <chrono>
#include <utility>

#include "cli/arguments/dtype.hpp"
#include "cli/arguments/typed_names.hpp"
#include "cli/run/interruption.hpp"
#include "cli/run/model_kinds.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::optional<Error> check_index(const char* what, int index, uint32_t count) {
  if (index < static_cast<int>(count)) return std::nullopt;
  return Error(LAPILLI_INVALID_ARGUMENT, std::string("attention ") + what + " " + std::to_string(index) +
                                             ": the decoder has " + what + "s 0 to " + std::to_string(count - 1));
}

}  // namespace

std::optional<Error> PictureModel::load() {
  const auto since = Clock::now();
  if (auto error = open()) return error;
  if (auto error = check()) return error;
  figures_.load_ms = ms_since(since);
  return std::nullopt;
}

std::optional<Error> PictureModel::open() {
  DeviceOptions how;
  how.select = request_.select;
  how.caps = request_.caps;
  how.cache_directory = request_.cache;
  auto device = Device::open(how);
  if (!device) return device.error();
  device_.emplace(std::move(*device));
  ModelOptions limits;
  limits.memory_limit = uint64_t{request_.memory_mib} << 20;
  limits.dtype = dtype_of(request_.dtype);
  limits.kv_dtype = dtype_of(request_.kv_dtype);
  auto model = Model::load(*device_, request_.model, limits);
  if (!model) return model.error();
  model_.emplace(std::move(*model));
  return std::nullopt;
}

// A run without pictures reports errors in the model and the options.
std::optional<Error> PictureModel::check() const {
  if (auto error = check_kind()) return error;
  if (const auto nothing = model_->describe({}, options()); !nothing) return as_typed(nothing.error());
  const lapilli_model_info info = model_->info();
  if (!request_.classes && info.tokenizer_error) return Error(LAPILLI_UNSUPPORTED, info.tokenizer_error);
  if (request_.attention.empty()) return std::nullopt;
  if (auto error = check_index("layer", request_.attention_layer, info.decoder_layers)) return error;
  return check_index("head", request_.attention_head, info.decoder_heads);
}

std::optional<Error> PictureModel::check_kind() const {
  const lapilli_model_info info = model_->info();
  if (info.input_kind == LAPILLI_INPUT_SAMPLES) return other_kind(info, "read sound, no pictures");
  if (info.input_kind != LAPILLI_INPUT_PIXELS) return other_kind(info, "read text, no pictures");
  if (!request_.classes && !info.writes_text) return other_kind(info, "have no decoder and write no text");
  if (request_.classes && info.writes_text) return other_kind(info, "write text and know no classes");
  return std::nullopt;
}

Options PictureModel::options() const {
  Options o;
  o.prompt = request_.prompt;
  if (request_.beams > 0) o.num_beams = static_cast<int32_t>(request_.beams);
  if (request_.max_length > 0) o.max_length = static_cast<int32_t>(request_.max_length);
  o.classes = request_.top;
  if (request_.classes) o.batch = request_.batch;
  o.looks = !request_.attention.empty();
  return o;
}

Error PictureModel::as_typed(const Error& error) const {
  return {error.status(), named_as_typed({{request_.beams > 0, "num_beams:", "--beam:"},
                                          {request_.max_length > 0, "max_length:", "--max-length:"}},
                                         {}, error.message())};
}

std::optional<Error> PictureModel::run(const std::vector<std::string>& files, std::vector<PictureAnswer>& answers) {
  std::vector<lapilli_input> inputs;
  for (const std::string& file : files) inputs.push_back(picture_file(file));
  auto job = model_->start_inputs(inputs, options());
  if (!job) return as_typed(job.error());
  constexpr uint64_t kOften = 50'000;  // microseconds
  while (!job->wait(kOften))
    if (interrupted()) job->cancel();
  auto results = job->take();
  if (!results) return as_typed(results.error());
  if (results->cancelled()) return Error(LAPILLI_CANCELLED, "interrupted");
  figures_.read_ms += results->stats().read_ms;
  figures_.run_ms += results->stats().total_ms - results->stats().read_ms;
  for (const Output& output : *results) {
    answers.push_back({output, {}});
    if (!output.ok()) answers.back().output.error = as_typed(*output.error);
    if (output.ok()) ++figures_.pictures;
  }
  return request_.attention.empty() ? std::nullopt : draw(*results, answers);
}

Drawing PictureModel::drawing() const {
  Drawing d;
  d.format = request_.attention == "png" ? LAPILLI_DRAWING_PNG : LAPILLI_DRAWING_SVG;
  d.layer = request_.attention_layer;
  d.head = request_.attention_head;
  return d;
}

std::optional<Error> PictureModel::draw(const Results& results, std::vector<PictureAnswer>& answers) {
  const auto since = Clock::now();
  const Interruption interruption;
  Drawing how = drawing();
  how.cancel_token = interruption.token();
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].output.ok()) continue;
    auto drawn = draw_looks(*model_, results, i, how);
    if (!drawn) return drawn.error();
    answers[i].attention = std::move(*drawn);
  }
  figures_.run_ms += ms_since(since);
  return std::nullopt;
}

}  // namespace lapilli::cli
