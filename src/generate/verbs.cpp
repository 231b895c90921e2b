#include "generate/verbs.hpp"

namespace lapilli {

namespace {

Failure not_for(const model::Config& c, const char* what) {
  return fail(ErrorCode::unsupported, "%s models %s; what serves them: %s", c.family, what, verbs_for(c));
}

}  // namespace

std::string verbs_for(const model::Config& c) {
  if (c.decoder.layers == 0)
    return c.head.classes ? "lapilli classify" : "programs that want what the encoder makes of a source, no command";
  if (c.patches.channels) return "lapilli caption or lapilli read";
  if (c.features.width) return "lapilli transcribe";
  return "lapilli translate, summarize or generate";
}

Status check_reads_text(const model::Config& c) {
  if (c.features.width == 0) return {};
  return not_for(c, c.patches.channels ? "read pictures, not text" : "read sound, not text");
}

Status check_writes_text(const model::Config& c) {
  return c.decoder.layers ? Status() : not_for(c, "have no decoder and write no text");
}

Status check_hears(const model::Config& c) {
  if (c.patches.channels) return not_for(c, "read pictures and hear nothing");
  if (c.features.width == 0) return not_for(c, "read text and hear nothing");
  return check_writes_text(c);
}

Status check_reads_pictures(const model::Config& c) {
  return c.patches.channels ? Status()
                            : not_for(c, c.features.width ? "read sound, no pictures" : "read text, no pictures");
}

}  // namespace lapilli
