// Implementation of `lapilli pack`.
#include "base/counts.hpp"
#include "generate/pack_model.hpp"
#include "tools/guard.hpp"
#include "tools/tools.hpp"

namespace lapilli::tools {

namespace {

std::string report(const PackRequest& request, const PackedModel& made) {
  std::string text = made.was_packed
                         ? format("%s: the matrices are in %s already and stay as they are, %s of weights\n",
                                  request.output, name(made.format), size_text(made.bytes_after))
                         : format("%s: %u matrices in %s, %s of weights where %s were\n", request.output, made.matrices,
                                  name(made.format), size_text(made.bytes_after), size_text(made.bytes_before));
  for (const auto& m : made.kept) text += format("%s stays as it is: fp16 does not hold its numbers\n", m.name);
  text += "copied:";
  for (const auto& name : made.copied) text += " " + name;
  return text + "\n";
}

// Nothing without a dtype.
Result<std::optional<WeightFormat>> format_of(const PackRequest& request) {
  if (request.dtype.empty()) return std::optional<WeightFormat>();
  LAPILLI_TRY(const auto format, parse_format(request.dtype));
  if (format) return format;
  return fail(ErrorCode::invalid_argument, "auto is chosen by a device; give bf16, fp16, int8 or int4 to pack in");
}

Result<std::string> packed(const PackRequest& request) {
  LAPILLI_TRY(const auto format, format_of(request));
  LAPILLI_TRY(const auto made, pack_model(request.model, request.output, format));
  return report(request, made);
}

}  // namespace

Outcome pack(const PackRequest& request) {
  return guarded("pack", [&] { return packed(request); });
}

}  // namespace lapilli::tools
