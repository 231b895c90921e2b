// What `lapilli caption`, `read` and `classify` do: pictures of files through a model.
#include <map>

#include "api/locate.hpp"
#include "api/tools_guard.hpp"
#include "base/clock.hpp"
#include "base/store.hpp"
#include "generate/picture_job.hpp"
#include "generate/picture_looks.hpp"
#include "generate/verbs.hpp"
#include "ops/shader_table.hpp"
#include "runtime/self_test.hpp"
#include "search/network_on_device.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli::tools {

namespace {

void answer_with(const Error& error, PictureAnswer& answer) {
  answer.status = static_cast<int>(error.code);
  answer.error = error.message;
}

class Pictures : public PictureTool {
 public:
  Status open(const PictureRequest& r) {
    const auto since = Clock::now();
    options_.top = r.top;
    if (r.classes) options_.batch = r.batch;
    options_.prompt = r.prompt;
    if (r.beams) options_.generation.num_beams = r.beams;
    if (r.max_length) options_.generation.max_length = r.max_length;
    std::string directory = r.model;
    if (directory.empty()) {
      LAPILLI_TRY(directory, default_model_directory());
    }
    LAPILLI_TRY(auto model, load(r, directory));
    LAPILLI_CHECK(check_kind(model->on_device().config(), r.classes));
    LAPILLI_TRY(auto settings, read_picture_settings(*model, directory));
    if (!r.classes && !model->tokenizer()) return model->tokenizer_error();
    attention_ = r.attention;
    choice_ = {AttentionKind::cross, r.attention_layer, r.attention_head};
    if (!attention_.empty()) LAPILLI_CHECK(check_looks(*model, choice_));
    reader_ = std::make_shared<const PictureReader>(std::move(model), std::move(settings));
    figures_.model = directory;
    figures_.device = reader_->model()->device()->caps().device_name;
    figures_.weight_bytes = reader_->model()->info().weight_bytes;
    figures_.load_ms = ms_since(since);
    return {};
  }

  ~Pictures() override {
    if (reader_) keep_between_runs(*reader_->model()->device());
  }

  Outcome run(const std::vector<std::string>& files, const std::function<bool()>& go_on,
              std::vector<PictureAnswer>& answers) override {
    return guarded("pictures", [&]() -> Result<std::string> {
      const auto since = Clock::now();
      const double read_before = figures_.read_ms;
      LAPILLI_TRY(const auto job, PictureJob::start(reader_, request(files)));
      while (!job->pump()) {
        if (!go_on()) job->cancel();
        job->rest();
      }
      figures_.run_ms += ms_since(since) - (figures_.read_ms - read_before);
      LAPILLI_CHECK(Status(job->status()));
      if (job->done() < job->total()) return fail(ErrorCode::cancelled, "interrupted");
      auto results = job->take();
      for (PictureResult& result : results) take(result, answers.emplace_back());
      for (size_t i = 0; i < results.size() && !attention_.empty(); ++i)
        if (results[i].status) LAPILLI_CHECK(draw(i, results[i], go_on, answers[i]));
      return std::string();
    });
  }

  [[nodiscard]] PictureFigures figures() const override {
    PictureFigures f = figures_;
    f.device_bytes_peak = reader_->model()->device()->counters().device_bytes_peak;
    return f;
  }

 private:
  static Result<std::shared_ptr<Model>> load(const PictureRequest& r, const std::string& directory) {
    vulkan::DeviceOptions options;
    options.select = r.select;
    options.mask = r.caps;
    if (!r.cache.empty()) {
      options.keep.store = folder_store(r.cache);
      options.keep.shaders = shaders_checksum();
    }
    LAPILLI_TRY(auto device, vulkan::Device::create(options));
    LoadOptions load;
    load.memory_limit = uint64_t{r.memory_mib} << 20;
    LAPILLI_TRY(load.format, parse_format(r.dtype));
    LAPILLI_TRY(load.kv_format, parse_kv_format(r.kv_dtype));
    return Model::load(std::move(device), directory, load);
  }

  static Status check_kind(const model::Config& c, bool classes) {
    LAPILLI_CHECK(check_reads_pictures(c));
    if (!classes) return check_writes_text(c);
    if (c.decoder.layers == 0) return {};
    return fail(ErrorCode::unsupported, "%s models write text and know no classes; what serves them: %s",
                c.family.c_str(), verbs_for(c).c_str());
  }

  // What cannot be read says nothing of the others.
  PictureJobRequest request(const std::vector<std::string>& files) {
    PictureJobRequest r;
    r.pictures = files.size();
    r.options = options_;
    r.source = [this, &files](const PictureReader& reader, size_t i) {
      const auto since = Clock::now();
      auto source = source_of(reader, files[i], i);
      figures_.read_ms += ms_since(since);
      if (source) ++figures_.pictures;
      return source;
    };
    return r;
  }

  Result<std::shared_ptr<const model::Features>> source_of(const PictureReader& reader, const std::string& file,
                                                           size_t i) {
    LAPILLI_TRY(const auto picture, image::read_picture(file));
    auto prepared = reader.prepared(picture);
    if (!prepared) return std::move(prepared).error().in(file);
    if (!attention_.empty()) seen_[i] = {*prepared, {picture.height, picture.width}};
    return reader.source_of(*prepared);
  }

  static void take(const PictureResult& result, PictureAnswer& answer) {
    if (!result.status) answer_with(result.status.error(), answer);
    answer.text = result.text;
    for (const ScoredClass& c : result.classes) answer.classes.push_back({c.index, c.label, c.probability});
  }

  // What was looked at by each word of an answer.
  Status draw(size_t i, const PictureResult& result, const std::function<bool()>& go_on, PictureAnswer& answer) {
    const auto since = Clock::now();
    const SeenPicture& seen = seen_.at(i);
    LAPILLI_TRY(const auto source, reader_->source_of(seen.prepared));
    std::vector<int32_t> ids{result.start};
    ids.insert(ids.end(), result.ids.begin(), result.ids.end());
    LAPILLI_TRY(const auto looks, looks_of_ids(reader_->model(), source, ids, choice_, go_on));
    LAPILLI_TRY(auto sheet, look_sheet_of(*reader_, seen, result, looks));
    sheet.title = to_utf32(name_of(choice_));
    LAPILLI_TRY(answer.attention, image::look_sheet_file(sheet, image::parse_look_format(attention_)));
    figures_.run_ms += ms_since(since);
    return {};
  }

  std::shared_ptr<const PictureReader> reader_;
  PictureOptions options_;
  std::string attention_;  // as PictureRequest's
  AttentionChoice choice_;
  std::map<size_t, SeenPicture> seen_;  // by number of the file; for drawing alone
  PictureFigures figures_;
};

}  // namespace

std::unique_ptr<PictureTool> open_pictures(const PictureRequest& request, Outcome& outcome) {
  std::unique_ptr<Pictures> tool;
  outcome = guarded("pictures", [&]() -> Result<std::string> {
    tool = std::make_unique<Pictures>();
    LAPILLI_CHECK(tool->open(request));
    return std::string();
  });
  return outcome.status == 0 ? std::move(tool) : nullptr;
}

}  // namespace lapilli::tools
