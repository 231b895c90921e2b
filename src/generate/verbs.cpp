#include "generate/verbs.hpp"

namespace lapilli {

namespace {

Failure not_for(const model::Config& c, const char* what) {
  return fail(ErrorCode::unsupported, "%s models %s; what serves them: %s", c.family, what, verbs_for(c));
}

std::string verbs_of_encoder(const model::Config& c) {
  const bool pictures = c.kind().reads == model::Reads::pictures;
  if (pictures && c.head(model::HeadKind::classes)) return "lapilli classify";
  std::string all;
  for (const std::string& verb : verbs_of_text_encoder(c)) all += (all.empty() ? "lapilli " : " or lapilli ") + verb;
  if (!pictures && !all.empty()) return all;
  return "programs that want what the encoder makes of a source, no command";
}

}  // namespace

bool encodes_texts(const model::Config& c) { return c.kind().reads == model::Reads::ids && !c.kind().writes; }

const model::HeadConfig* scores_of_texts(const model::Config& c) {
  for (const model::HeadConfig& head : c.heads)
    if (!head.every_row && (head.kind == model::HeadKind::classes || head.kind == model::HeadKind::regression))
      return &head;
  return nullptr;
}

std::vector<std::string> verbs_of_text_encoder(const model::Config& c) {
  std::vector<std::string> verbs;
  const model::HeadConfig* scores = scores_of_texts(c);
  if (scores && scores->columns == 1) verbs.emplace_back("rerank");
  if (scores) verbs.emplace_back("classify");
  if (c.head(model::HeadKind::tags)) verbs.emplace_back("tag");
  if (c.head(model::HeadKind::spans)) verbs.emplace_back("answer");
  // Rows of models with segments see their own ids.
  if (c.head(model::HeadKind::tokens) && !c.encoder.segments) verbs.emplace_back("fill");
  if (c.head(model::HeadKind::sentences)) verbs.insert(verbs.end(), {"embed", "search"});
  return verbs;
}

std::string verbs_for(const model::Config& c) {
  if (!c.kind().writes) return verbs_of_encoder(c);
  switch (c.kind().reads) {
    case model::Reads::pictures: return "lapilli caption or lapilli read";
    case model::Reads::sound: return "lapilli transcribe";
    case model::Reads::nothing: return "lapilli generate";
    case model::Reads::ids: break;
  }
  return "lapilli translate, summarize or generate";
}

Status check_reads_text(const model::Config& c) {
  if (c.kind().reads_text()) return {};
  return not_for(c, c.kind().reads == model::Reads::pictures ? "read pictures, not text" : "read sound, not text");
}

Status check_writes_text(const model::Config& c) {
  if (c.kind().writes) return {};
  return not_for(c, c.encoder.causal || c.encoder.sees_ahead
                        ? "of directories like this one represent texts and write none"
                        : "have no decoder and write no text");
}

Status check_reads_sound(const model::Config& c) {
  if (c.kind().reads == model::Reads::sound) return check_writes_text(c);
  return not_for(
      c, c.kind().reads == model::Reads::pictures ? "read pictures and take no sound" : "read text and take no sound");
}

Status check_reads_pictures(const model::Config& c) {
  if (c.kind().reads == model::Reads::pictures) return {};
  return not_for(c, c.kind().reads == model::Reads::sound ? "read sound, no pictures" : "read text, no pictures");
}

}  // namespace lapilli
