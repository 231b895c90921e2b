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

Result<void> check_index(const char* what, int index, uint32_t count) {
  if (index < static_cast<int>(count)) return {};
  return Error(Status::invalid_argument, std::string("attention ") + what + " " + std::to_string(index) +
                                             ": the decoder has " + what + "s 0 to " + std::to_string(count - 1));
}

}  // namespace

Result<void> PictureModel::load() {
  const auto since = Clock::now();
  if (auto done = open(); !done) return done;
  if (auto done = check(); !done) return done;
  figures_.load_ms = ms_since(since);
  return {};
}

Result<void> PictureModel::open() {
  DeviceOptions how;
  how.select = request_.select;
  how.refuse_cpu = request_.require_gpu;
  how.caps = request_.caps;
  how.cache_directory = request_.cache;
  auto device = Device::open(how);
  if (!device) return device.error();
  device_ = std::move(*device);
  ModelOptions limits;
  limits.memory_limit = uint64_t{request_.memory_mib} << 20;
  limits.dtype = dtype_of(request_.dtype);
  limits.kv_dtype = dtype_of(request_.kv_dtype);
  auto model = Model::load(device_, request_.model, limits);
  if (!model) return model.error();
  model_ = std::move(*model);
  return {};
}

// A run without pictures reports errors in the model and the options.
Result<void> PictureModel::check() const {
  if (auto done = check_kind(); !done) return done;
  if (const auto nothing = model_.describe({}, options()); !nothing) return as_typed(nothing.error());
  const lapilli_model_info info = this->info();
  if (!request_.classes && info.tokenizer_error) return Error(Status::unsupported, info.tokenizer_error);
  if (request_.attention.empty()) return {};
  if (auto done = check_index("layer", request_.attention_layer, info.decoder_layers); !done) return done;
  return check_index("head", request_.attention_head, info.decoder_heads);
}

Result<void> PictureModel::check_kind() const {
  const lapilli_model_info info = this->info();
  if (info.input_kind == LAPILLI_INPUT_SAMPLES) return other_kind(info, "read sound, no pictures");
  if (info.input_kind != LAPILLI_INPUT_PIXELS) return other_kind(info, "read text, no pictures");
  if (!request_.classes && !info.writes_text) return other_kind(info, "have no decoder and write no text");
  if (request_.classes && info.writes_text) return other_kind(info, "write text and know no classes");
  return {};
}

Options PictureModel::options() const {
  Options o;
  o.prompt = request_.prompt;
  if (request_.beams > 0) o.num_beams = static_cast<int32_t>(request_.beams);
  if (request_.max_length > 0) o.max_length = static_cast<int32_t>(request_.max_length);
  o.picture.classes = request_.top;
  if (request_.classes) o.batch = request_.batch;
  o.keep_attention = !request_.attention.empty();
  return o;
}

Error PictureModel::as_typed(const Error& error) const {
  return {error.status(), named_as_typed({{request_.beams > 0, "num_beams:", "--beam:"},
                                          {request_.max_length > 0, "max_length:", "--max-length:"}},
                                         {}, error.message())};
}

Result<void> PictureModel::run(const std::vector<std::string>& files, std::vector<PictureAnswer>& answers) {
  std::vector<lapilli_input> inputs;
  for (const std::string& file : files) inputs.push_back(picture_file(file));
  auto job = model_.start_inputs(inputs, options());
  if (!job) return as_typed(job.error());
  constexpr uint64_t kOften = 50'000;  // microseconds
  while (!job->wait(kOften).value())
    if (interrupted()) job->cancel();
  auto results = job->take();
  if (!results) return as_typed(results.error());
  if (results->cancelled()) return Error(Status::cancelled, "interrupted");
  figures_.read_ms += results->stats().read_ms;
  figures_.run_ms += results->stats().total_ms - results->stats().read_ms;
  for (const Output& output : *results) {
    answers.push_back({output, {}});
    if (!output.ok()) answers.back().output.error = as_typed(*output.error);
    if (output.ok()) ++figures_.pictures;
  }
  return request_.attention.empty() ? Result<void>() : draw(*results, answers);
}

AttentionDrawing PictureModel::drawing() const {
  AttentionDrawing d;
  d.format = request_.attention == "png" ? DrawingFormat::png : DrawingFormat::svg;
  d.layer = request_.attention_layer;
  d.head = request_.attention_head;
  return d;
}

Result<void> PictureModel::draw(const Results& results, std::vector<PictureAnswer>& answers) {
  const auto since = Clock::now();
  const Interruption interruption;
  AttentionDrawing how = drawing();
  how.cancel_token = interruption.token();
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i].output.ok()) continue;
    auto drawn = draw_attention(model_, results, i, how);
    if (!drawn) return drawn.error();
    answers[i].attention = std::move(*drawn);
  }
  figures_.run_ms += ms_since(since);
  return {};
}

}  // namespace lapilli::cli
