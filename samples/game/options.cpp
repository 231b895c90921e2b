#include "options.hpp"

#include <charconv>
#include <functional>
#include <map>

namespace game {

const char* const kUsage =
    "usage: sample_game [options]\n"
    "Two scenes by a lighthouse. Their subtitles are translated on the device that draws them.\n"
    "  --window               in a window: space or enter skips the scene, L changes the language, Esc ends\n"
    "  --model DIR            a model, as lapilli takes it; again: another language (default: the bundled one)\n"
    "  --work LIST            none, queue (default), append; with commas: one run for each\n"
    "  --budget US            of the device's time for translation, a frame (default 1000)\n"
    "  --size WIDTHxHEIGHT    of the picture (default 1280x720)\n"
    "  --device N             the Vulkan device (default: the first that can draw)\n"
    "  --font FILE            a TrueType font (default: DejaVu Sans or one like it)\n"
    "  --frames N             end after so many (default: with the story)\n"
    "  --hold N               frames that a complete subtitle stays (default 90)\n"
    "  --still                the scene does not move, so that pictures can be compared\n"
    "  --skip-at N            skip the scene at frame N, counted from 0\n"
    "  --language-at N        change the language at frame N\n"
    "  --out FILE.png|FOLDER  the last frame, or every frame\n"
    "  --times FILE.csv       how long each frame took\n"
    "  --plot FILE.png        the same as a picture\n"
    "  --log FILE             the subtitles, a line each\n";

namespace {

constexpr Work kAllWork[] = {Work::none, Work::queue, Work::append};

uint64_t number_of(const std::string& name, const std::string& text, uint64_t most) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value > most)
    throw std::runtime_error(name + ": '" + text + "' is no whole number up to " + std::to_string(most));
  return value;
}

VkExtent2D size_of(const std::string& name, const std::string& text) {
  const size_t cross = text.find('x');
  if (cross == std::string::npos) throw std::runtime_error(name + ": '" + text + "' is no size such as 1280x720");
  constexpr uint64_t kMost = 4096;  // what every device can draw
  const auto wide = static_cast<uint32_t>(number_of(name, text.substr(0, cross), kMost));
  const auto high = static_cast<uint32_t>(number_of(name, text.substr(cross + 1), kMost));
  if (wide < 64 || high < 64) throw std::runtime_error(name + ": at least 64x64");
  return {wide, high};
}

// Without a budget no line would ever be complete, without a frame there is no picture.
uint64_t at_least_one(const std::string& name, const std::string& text, uint64_t most) {
  const uint64_t value = number_of(name, text, most);
  if (value == 0) throw std::runtime_error(name + ": at least 1");
  return value;
}

std::vector<Work> work_of(const std::string& text) {
  std::vector<Work> list;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const size_t before = list.size();
    for (Work work : kAllWork)
      if (word == name_of(work)) list.push_back(work);
    if (list.size() == before) throw std::runtime_error("--work: '" + word + "' is not none, queue or append");
    begin = end + 1;
  }
  return list;
}

using Reader = std::function<void(const std::string& name, const std::string& value)>;

Reader text_to(std::string& to) {
  return [&to](const std::string&, const std::string& value) { to = value; };
}
Reader number_to(uint64_t& to) {
  return [&to](const std::string& name, const std::string& value) { to = number_of(name, value, UINT64_MAX - 1); };
}

std::map<std::string, Reader> readers(Options& o) {
  return {{"--font", text_to(o.font)},
          {"--out", text_to(o.out)},
          {"--times", text_to(o.times)},
          {"--plot", text_to(o.plot)},
          {"--log", text_to(o.log)},
          {"--frames", [&o](auto& n, auto& v) { o.frames = at_least_one(n, v, UINT64_MAX - 1); }},
          {"--budget", [&o](auto& n, auto& v) { o.budget_us = at_least_one(n, v, 1000000); }},
          {"--skip-at", number_to(o.skip_at)},
          {"--language-at", number_to(o.language_at)},
          {"--hold", [&o](auto& n, auto& v) { o.hold = static_cast<unsigned>(number_of(n, v, 1000000)); }},
          {"--device", [&o](auto& n, auto& v) { o.device = static_cast<int>(number_of(n, v, 1000)); }},
          {"--size", [&o](auto& n, auto& v) { o.size = size_of(n, v); }},
          {"--work", [&o](auto&, auto& v) { o.work = work_of(v); }},
          {"--model", [&o](auto&, auto& v) { o.models.push_back(v); }}};
}

}  // namespace

const char* name_of(Work work) {
  switch (work) {
    case Work::none: return "none";
    case Work::queue: return "queue";
    case Work::append: return "append";
  }
  return "";
}

Options parse_options(const std::vector<std::string>& arguments) {
  Options o;
  const std::map<std::string, bool*> flags = {
      {"--help", &o.help}, {"-h", &o.help}, {"--window", &o.window}, {"--still", &o.still}};
  const std::map<std::string, Reader> with_value = readers(o);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (const auto flag = flags.find(name); flag != flags.end()) {
      *flag->second = true;
      continue;
    }
    const auto reader = with_value.find(name);
    if (reader == with_value.end()) throw std::runtime_error("'" + name + "' is no option; --help lists them");
    if (++i == arguments.size()) throw std::runtime_error(name + " needs a value");
    reader->second(name, arguments[i]);
  }
  if (o.models.empty()) o.models.emplace_back();
  return o;
}

}  // namespace game
