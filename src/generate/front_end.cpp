#include "generate/front_end.hpp"

#include "generate/published.hpp"
#include "generate/verbs.hpp"
#include "search/network_on_device.hpp"

namespace lapilli {

Result<SoundConfig> read_sound(const Model& model, const Files& files) {
  const ModelInfo& info = model.info();
  LAPILLI_CHECK(check_reads_sound(model.on_device().config()));
  LAPILLI_TRY(auto config, read_sound_config(files));
  // one number per row: samples
  LAPILLI_CHECK(check_sound_config(config, {info.feature_width == 1 ? 0 : info.feature_width, info.feature_rows}));
  return config;
}

namespace {

Status read_encoder(const model::Config& c, const Files& files, FrontEnd& front) {
  LAPILLI_TRY(const Files network, files_of_network(files));
  LAPILLI_TRY(const auto sentences, read_sentence_settings(files, network));
  if (const model::HeadConfig* head = scores_of_texts(c)) {
    LAPILLI_TRY(front.classes, read_class_settings(network, sentences, head->columns));
  }
  if (const model::HeadConfig* head = c.head(model::HeadKind::tags)) {
    LAPILLI_TRY(const auto settings, read_class_settings(network, sentences, head->columns));
    front.tags = settings.labels;
  }
  front.sentences = sentences;
  return {};
}

}  // namespace

FrontEnd read_front_end(const Model& model, const Files& files) {
  FrontEnd front;
  const model::Config& c = model.on_device().config();
  if (c.kind().reads == model::Reads::pictures) {
    auto settings = read_picture_settings(model, files);
    settings ? void(front.pictures = std::move(*settings)) : void(front.status = std::move(settings).error());
  } else if (c.kind().reads == model::Reads::sound) {
    auto sound = read_sound(model, files);
    sound ? void(front.sound = std::move(*sound)) : void(front.status = std::move(sound).error());
  } else if (encodes_texts(c)) {
    front.status = read_encoder(c, files, front);
  } else if (c.kind().reads == model::Reads::nothing) {
    auto chat = ChatTemplate::read(files);
    chat ? void(front.chat = std::move(*chat)) : void(front.status = std::move(chat).error());
  }
  return front;
}

}  // namespace lapilli
