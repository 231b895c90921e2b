#include "story.hpp"

namespace game {
namespace {

using Scene = std::vector<Line>;

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {{"Mara", "The sea is calm tonight. Do you see the light over there?"},
       {"Old Finn", "Nobody has lived there for twenty years."},
       {"Mara", "I want to know who it is. Come with me!"}},
      {{"Old Finn", "Wait for me! I am too old to run."},
       {"Mara", "Look, there is a letter on the table. It is for you."}},
  };
  return all;
}

}  // namespace

bool Story::over() const { return scene_ >= scenes().size(); }

const Line& Story::line() const {
  static const Line kSilence = {"", ""};
  return over() ? kSilence : scenes()[scene_][line_];
}

void Story::update(Dialogue& dialogue) {
  using State = Dialogue::State;
  if (over() || dialogue.state() == State::loading) return;
  if (skipping_) {
    if (dialogue.state() != State::working) next_scene();
    return;
  }
  if (!asked_ && dialogue.state() != State::original && dialogue.ask(line().text)) asked_ = true;
  if (dialogue.state() == State::working) return;
  if (held_++ == 0) log_.push_back(subtitle(dialogue));
  if (held_ > hold_) next_line();
}

void Story::skip(Dialogue& dialogue) {
  if (over()) return;
  dialogue.cancel();
  skipping_ = true;
}

void Story::next_line() {
  asked_ = false;
  held_ = 0;
  if (++line_ < scenes()[scene_].size()) return;
  line_ = 0;
  ++scene_;
}

void Story::next_scene() {
  log_.emplace_back("(skipped)");
  skipping_ = asked_ = false;
  held_ = 0;
  line_ = 0;
  ++scene_;
}

std::string Story::subtitle(const Dialogue& dialogue) const {
  using State = Dialogue::State;
  if (over()) return {};
  if (asked_ && dialogue.state() != State::failed) return dialogue.words();
  return line().text;
}

}  // namespace game
