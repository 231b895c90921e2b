// The game: opens what it needs, and runs its loop, once for each way in which translations reach the device.
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>
#include <utility>

#include "arguments.hpp"
#include "files.hpp"
#include "options.hpp"
#include "overlay.hpp"
#include "plot.hpp"
#include "swapchain.hpp"

namespace game {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t kLoadBudgetUs = 20000;
constexpr float kStillTime = 3.7f;  // the lighthouse looks our way

constexpr const char* kFonts[] = {"/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
                                  "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
                                  "/usr/share/fonts/TTF/DejaVuSans.ttf",
                                  "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
                                  "/System/Library/Fonts/Supplemental/Arial.ttf",
                                  "C:\\Windows\\Fonts\\arial.ttf"};

std::vector<uint8_t> find_font(const std::string& given) {
  if (!given.empty()) return read_file(given);
  for (const char* path : kFonts)
    if (file_is_there(path)) return read_file(path);
  throw std::runtime_error("no font was found (Debian: fonts-dejavu-core): say where one is with --font FILE.ttf");
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// The last part of a path: what a model is called.
std::string name_of_model(const std::string& directory) {
  const size_t end = directory.find_last_not_of("/\\");
  if (end == std::string::npos) return "en-fr";
  return directory.substr(0, end + 1).substr(directory.find_last_of("/\\", end) + 1);
}

// The part that all runs share.
class Game {
 public:
  explicit Game(const Options& options)
      : o_(options),
        window_(options.window ? open_window(options.size) : nullptr),
        gpu_(window_ ? window_->instance_extensions() : std::vector<const char*>()) {
    gpu_.make_device(window_ ? window_->make_surface(gpu_.instance) : VK_NULL_HANDLE, options.device);
    font_bytes_ = find_font(options.font);
    font_.emplace(font_bytes_, letter_height(options.size.height));
    renderer_.emplace(gpu_, options.size, *font_);
    if (window_) swapchain_.emplace(gpu_, *window_);
  }

  void play(Work work);
  void write_what_was_asked_for();
  bool translations_failed() const { return failed_; }

 private:
  bool measures() const { return !o_.times.empty() || !o_.plot.empty(); }
  float scene_time(uint64_t frame) const;
  void load(Dialogue& dialogue, Work work);
  void tell_what_is_over(Dialogue& dialogue);
  void act(Dialogue& dialogue, Story& story, uint64_t frame);
  void draw(Dialogue& dialogue, const Story* story, float time);
  Overlay overlay(const Dialogue& dialogue, const Story* story) const;
  void change_language(Dialogue& dialogue);
  void keep_picture(uint64_t frame);
  void end(Dialogue& dialogue, const Story& story);

  const Options& o_;
  std::unique_ptr<Window> window_;
  Gpu gpu_;
  std::vector<uint8_t> font_bytes_;
  std::optional<Font> font_;
  std::optional<Renderer> renderer_;
  std::optional<Swapchain> swapchain_;
  Clock::time_point start_ = Clock::now();
  size_t language_ = 0;  // of the models; their number: the original
  bool quit_ = false, failed_ = false;
  std::vector<Series> times_;
  std::string log_;
};

// ---- the loop

void Game::play(Work work) {
  Dialogue dialogue(gpu_, work);
  Story story(o_.hold);
  times_.push_back({name_of(work), {}});
  language_ = o_.models.size();
  if (work != Work::none) change_language(dialogue);
  load(dialogue, work);
  for (uint64_t frame = 0; frame < o_.frames && !quit_ && !story.over(); ++frame) {
    const Clock::time_point start = Clock::now();
    act(dialogue, story, frame);
    tell_what_is_over(dialogue);
    dialogue.update(o_.budget_us);
    story.update(dialogue);
    if (story.over()) break;
    draw(dialogue, &story, scene_time(frame));
    // Until the device is through with it: without that, the times would be of waits for earlier frames.
    if (measures()) gpu_.wait_idle();
    const std::chrono::duration<double, std::milli> took = Clock::now() - start;
    times_.back().frames.push_back({took.count(), dialogue.state() == Dialogue::State::working});
    if (!o_.out.empty() && !ends_with(o_.out, ".png")) keep_picture(frame);
  }
  end(dialogue, story);
}

// A window shows frames at its own pace; pictures have 60 a second.
float Game::scene_time(uint64_t frame) const {
  if (o_.still) return kStillTime;
  const std::chrono::duration<float> since_start = Clock::now() - start_;
  return window_ ? since_start.count() : static_cast<float>(frame) / 60;
}

// The loading screen: frames go on while another thread loads. Where nobody sees them the device is left to that,
// unless it is these frames' command buffers that do the work.
void Game::load(Dialogue& dialogue, Work work) {
  while (dialogue.state() == Dialogue::State::loading && !quit_) {
    if (window_) quit_ = window_->keys().quit;
    tell_what_is_over(dialogue);
    dialogue.update(o_.budget_us);
    if (window_ || work == Work::append)
      draw(dialogue, nullptr, 0);
    else
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// The sooner it is told, the sooner the next words are begun: frames are asked, not waited for.
void Game::tell_what_is_over(Dialogue& dialogue) {
  for (Frame& frame : renderer_->frames())
    if (frame.serial && renderer_->is_over(frame)) dialogue.completed(std::exchange(frame.serial, 0));
}

void Game::act(Dialogue& dialogue, Story& story, uint64_t frame) {
  Keys keys = window_ ? window_->keys() : Keys();
  keys.skip |= frame == o_.skip_at;
  keys.language |= frame == o_.language_at;
  if (keys.skip) story.skip(dialogue);
  if (keys.language) {
    change_language(dialogue);
    story.language_changed();
  }
  quit_ |= keys.quit;
}

// Around: the models in order, then the original.
void Game::change_language(Dialogue& dialogue) {
  language_ = (language_ + 1) % (o_.models.size() + 1);
  if (language_ < o_.models.size())
    dialogue.choose(o_.models[language_]);
  else
    dialogue.choose_original();
}

Overlay Game::overlay(const Dialogue& dialogue, const Story* story) const {
  Overlay overlay;
  const bool translated = dialogue.state() != Dialogue::State::original && dialogue.state() != Dialogue::State::failed;
  overlay.language = translated ? name_of_model(o_.models[language_]) : "original";
  if (window_) overlay.language += "   (L)";
  if (dialogue.state() == Dialogue::State::loading) overlay.loading = dialogue.progress();
  if (!story) return overlay;
  overlay.speaker = story->line().speaker;
  overlay.subtitle = story->subtitle(dialogue);
  return overlay;
}

void Game::draw(Dialogue& dialogue, const Story* story, float time) {
  const std::vector<Quad> quads = lay_out(overlay(dialogue, story), *font_, o_.size);
  Frame& frame = renderer_->wait_for_frame();
  dialogue.completed(std::exchange(frame.serial, 0));
  renderer_->begin_commands(frame);
  // The loading screen has nothing better to do with its time.
  frame.serial = dialogue.append(frame.commands, story ? o_.budget_us : kLoadBudgetUs);
  renderer_->draw(frame, {time, story ? 1.0f : 0.6f}, quads);
  const bool shown = swapchain_ && swapchain_->show(frame, renderer_->picture());
  renderer_->end_commands(frame);
  if (shown)
    swapchain_->submit(*renderer_, frame);
  else
    renderer_->submit(frame, {VK_STRUCTURE_TYPE_SUBMIT_INFO});
}

// Nothing of Lapilli's is with the device any more when the dialogue goes.
void Game::end(Dialogue& dialogue, const Story& story) {
  gpu_.wait_idle();
  tell_what_is_over(dialogue);
  for (const std::string& line : story.log()) log_ += line + '\n';
  if (dialogue.state() != Dialogue::State::failed) return;
  std::fprintf(stderr, "no translations: %s\n", dialogue.message().c_str());
  failed_ = true;
}

// ---- what is left behind

void Game::keep_picture(uint64_t frame) {
  if (frame == 0) make_folder(o_.out);
  char name[32];
  std::snprintf(name, sizeof name, "/frame-%05llu.png", static_cast<unsigned long long>(frame));
  const int wide = static_cast<int>(o_.size.width), high = static_cast<int>(o_.size.height);
  Image(wide, high, download(gpu_, renderer_->picture())).write_png(o_.out + name);
}

void Game::write_what_was_asked_for() {
  const int wide = static_cast<int>(o_.size.width), high = static_cast<int>(o_.size.height);
  if (ends_with(o_.out, ".png")) Image(wide, high, download(gpu_, renderer_->picture())).write_png(o_.out);
  const std::string csv = times_as_csv(times_);
  if (!o_.times.empty()) write_file(o_.times, csv.data(), csv.size());
  if (!o_.log.empty()) write_file(o_.log, log_.data(), log_.size());
  if (o_.plot.empty()) return;
  const Font small(font_bytes_, 15);
  plot_times(times_, "Milliseconds a frame. Shaded: a line is being translated. " + gpu_.name, small)
      .write_png(o_.plot);
}

int run(const std::vector<std::string>& arguments) {
  const Options options = parse_options(arguments);
  if (options.help) return std::fputs(kUsage, stdout), 0;
  lapilli_set_log(LAPILLI_LOG_WARNING, nullptr, nullptr);
  Game game(options);
  for (Work work : options.work) game.play(work);
  game.write_what_was_asked_for();
  return game.translations_failed() ? 1 : 0;
}

}  // namespace
}  // namespace game

int main(int argc, char** argv) {
  try {
    return game::run(game::utf8_arguments(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sample_game: %s\n", error.what());
    return 1;
  }
}
