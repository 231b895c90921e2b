// POST /v1/pictures: pictures to captions, to the text in them, or to classes, as `lapilli caption`, `read` and
// `classify` give them. Of this server alone.
#include <cstdio>
#include <utility>

#include "server/protocols/answers.hpp"
#include "server/protocols/picture_size.hpp"
#include "server/protocols/protocol.hpp"

namespace lapilli::server {

Protocol pictures();

namespace {

constexpr uint64_t kMostPicturesBytes = uint64_t{512} << 20;
constexpr size_t kMostPictures = 256;

// A picture of the body as a file without a name, since the library reads files.
class PictureFile {
 public:
#if defined(_WIN32)
  // Windows cannot open a file by the number of its descriptor.
  bool keep(std::string_view) { return false; }
#else
  bool keep(std::string_view bytes) {
    file_.reset(std::tmpfile());
    if (!file_ || std::fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) return false;
    if (std::fflush(file_.get()) != 0) return false;
    path_ = "/dev/fd/" + std::to_string(fileno(file_.get()));
    return true;
  }
#endif
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::string path_;
};

using PictureFiles = std::vector<PictureFile>;

struct PicturesRequest {
  const ModelFacts* model = nullptr;
  std::string task, prompt;
  std::vector<std::string_view> files;  // within the body
  uint32_t top = 5;
};

Response pictures_error(int status, const std::string& message, const std::string&) {
  return {status, json_line({{"error", message}}), "application/json", {}};
}

void refuse_pictures(Exchange& exchange, const Refusal& why) {
  exchange.answer(pictures_error(why.status, why.message, why.parameter));
}

// Without a task, what the only model of pictures does first.
void choose_picture_model(const Desk& desk, Asked& from, PicturesRequest& to) {
  const std::string name = from.text("model").value_or("");
  for (const ModelFacts& model : desk.models()) {
    const bool fits = model.input == "picture" && !model.tasks.empty() && (name.empty() || model.name == name);
    if (to.task.empty() && fits) to.task = model.tasks.front();
  }
  const ModelChoice choice = choose_model(desk, name, to.task.empty() ? "caption" : to.task, "picture");
  if (!choice.model) from.refuse(choice.refusal);
  to.model = choice.model;
}

void check_pixels(Asked& from, const PicturesRequest& to) {
  const uint64_t most = from.limits.pixels;
  for (size_t i = 0; most > 0 && i < to.files.size(); ++i) {
    const auto pixels = pixels_of(to.files[i]);
    const std::string which = "picture " + std::to_string(i + 1);
    if (!pixels)
      from.refuse("file", which + " does not say how large it is, and larger ones than " + std::to_string(most) +
                              " pixels are refused");
    if (pixels && *pixels > most)
      from.refuse("file",
                  which + " has " + std::to_string(*pixels) + " pixels, above the limit of " + std::to_string(most),
                  413);
  }
}

PicturesRequest read_pictures(const Desk& desk, Asked& from) {
  static constexpr const char* kTasks[] = {"caption", "read", "classify"};
  constexpr int64_t kMostClasses = 1000;
  PicturesRequest to;
  const size_t most = from.limits.files > 0 ? from.limits.files : kMostPictures;
  to.files = from.parts("file", most);
  if (to.files.empty()) from.refuse("file", "is missing: send pictures as parts of multipart/form-data");
  if (to.files.size() > most) from.refuse("file", "there are more than " + std::to_string(most) + " pictures", 413);
  check_pixels(from, to);
  to.task = from.one_of("task", kTasks).value_or("");
  to.prompt = from.text("prompt").value_or("");
  to.top = static_cast<uint32_t>(from.whole("top", 1, kMostClasses).value_or(to.top));
  if (!from.refusal()) choose_picture_model(desk, from, to);
  return to;
}

// The library names a picture by its file, which has no name for the client.
std::string without_path(std::string message, const std::string& path) {
  const size_t at = path.empty() ? std::string::npos : message.find(path);
  return at == std::string::npos ? message : message.replace(at, path.size(), "the file");
}

Json picture_json(const Output& output, const std::string& path, bool classes) {
  if (!output.ok()) return {{"error", without_path(output.error->message(), path)}};
  if (!classes) return {{"text", output.text()}};
  Json all = Json::array();
  for (const Class& c : output.classes) all.push_back({{"label", c.label}, {"probability", c.probability}});
  return {{"classes", std::move(all)}};
}

// A picture that cannot be read does not stop the others.
Json pictures_json(const Results& results, const PicturesRequest& request, const PictureFiles& files) {
  Json all = Json::array();
  for (size_t i = 0; i < results.size(); ++i)
    all.push_back(picture_json(results[i], files[i].path(), request.task == "classify"));
  return {{"model", request.model->name}, {"task", request.task}, {"pictures", std::move(all)}};
}

std::shared_ptr<PictureFiles> keep_pictures(const std::vector<std::string_view>& files) {
  auto kept = std::make_shared<PictureFiles>(files.size());
  for (size_t i = 0; i < files.size(); ++i)
    if (!(*kept)[i].keep(files[i])) return nullptr;
  return kept;
}

void run_pictures(Desk& desk, const std::shared_ptr<Exchange>& exchange) {
  Asked from(desk, *exchange);
  const PicturesRequest request = read_pictures(desk, from);
  if (from.refusal()) return refuse_pictures(*exchange, from.refusal());
  const auto kept = keep_pictures(request.files);
  if (!kept) return refuse_pictures(*exchange, {503, "there is no place to keep the pictures", ""});
  auto work = std::make_shared<Work>();
  work->model = request.model->name;
  work->options.prompt = request.prompt;
  work->options.picture.classes = request.top;
  for (const PictureFile& file : *kept) work->inputs.push_back(picture_file(file.path()));
  work->kept = kept;
  work->done = [exchange, request, kept = kept.get()](const Outcome& outcome) {
    const bool none = outcome.results && outcome.results->size() == 1 && !(*outcome.results)[0].ok();
    Refusal why = none || !outcome.results ? failure_of(outcome, "file", false) : Refusal();
    why.message = without_path(why.message, kept->front().path());
    if (why) return refuse_pictures(*exchange, why);
    answer_json(*exchange, pictures_json(*outcome.results, request, *kept));
  };
  desk.start(std::move(work), exchange);
}

}  // namespace

Protocol pictures() {
  Protocol protocol;
  protocol.name = "pictures";
  protocol.routes = {{"POST", "/v1/pictures", &run_pictures, kMostPicturesBytes, true, true, true}};
  protocol.error = &pictures_error;
  protocol.key = &bearer_key;
  return protocol;
}

}  // namespace lapilli::server
