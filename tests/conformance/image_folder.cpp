// Kind "image": a picture file, read and prepared as the files of a model directory say.
#include <cmath>

#include "base/worst.hpp"
#include "conformance/folder.hpp"
#include "image/processor.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;

// The picture as the reference read it from the file: [height, width, 3], or [height, width] of a grey one.
Result<image::Picture> recorded_picture(const Record& record, const std::string& name) {
  const StoredTensor* t = record.has_tensors ? record.tensors.find(name) : nullptr;
  if (!t) return fail(ErrorCode::invalid_data, "tensor %s is missing", name.c_str());
  const size_t rank = t->shape.size();
  if ((rank != 2 && rank != 3) || (rank == 3 && t->shape[2] != 3))
    return fail(ErrorCode::unsupported, "tensor %s is neither [height, width] nor [height, width, 3]", name.c_str());
  LAPILLI_TRY(const auto values, read_integers(*t));
  image::Picture picture{static_cast<uint32_t>(t->shape[1]), static_cast<uint32_t>(t->shape[0]), {}};
  for (const int64_t value : values)
    picture.rgb.insert(picture.rgb.end(), rank == 2 ? 3 : 1, static_cast<uint8_t>(value));
  return picture;
}

void compare_pixels(const image::Pixels& ours, const Matrix& expected, double tolerance, Outcome& o) {
  const std::vector<uint64_t> shape{3, ours.size.height, ours.size.width};
  if (expected.shape != shape)
    return o.fail("the picture becomes " + std::to_string(ours.size.height) + " by " + std::to_string(ours.size.width));
  double worst = 0;
  for (size_t i = 0; i < ours.values.size(); ++i)
    worst = worse(worst, std::abs(double{ours.values[i]} - expected.values[i]));
  o.compare(worst, tolerance, "a value");
}

Result<Outcome> run_image(const std::string& directory, const Record& record, const Json& c) {
  LAPILLI_TRY(const auto processor, image::read_processor(directory + "/" + c.value("files", std::string("files"))));
  Outcome o;
  std::string pixels;
  if (c.contains("inputs")) pixels = c["inputs"].at("pixels").get<std::string>();
  image::Picture picture;
  if (c.contains("image")) {
    LAPILLI_TRY(picture, image::read_picture(directory + "/" + c["image"].get<std::string>()));
  }
  if (!pixels.empty()) {
    LAPILLI_TRY(const auto recorded, recorded_picture(record, pixels));
    const bool same =
        picture.width == recorded.width && picture.height == recorded.height && picture.rgb == recorded.rgb;
    if (c.contains("image") && !same) o.fail("the file is read as other pixels");
    picture = recorded;
  }
  LAPILLI_TRY(const auto ours, image::process(processor, picture));
  LAPILLI_TRY(const auto expected, read_matrix(record, c["output"].get<std::string>()));
  compare_pixels(ours, expected, c["atol_fp32"].get<double>(), o);
  return o;
}

}  // namespace

void run_image_folder(const std::string& directory, const RunOptions& options, Report& report) {
  const auto record = read_record(directory, "expected");
  if (!record) return report.add(directory, "record", Outcome::failed(record.error().message));
  for (const auto& c : record->json.at("cases")) {
    const std::string name = c.value("name", std::string("?"));
    if (name.find(options.filter) == std::string::npos) continue;
    const auto o = run_image(directory, *record, c);
    report.add(directory, name, o ? *o : from_error(o.error()));
  }
}

}  // namespace lapilli::conformance
