#include "server/work/live_translation.hpp"

#include <algorithm>
#include <utility>

#include "server/work/language_detector.hpp"
#include "server/work/language_ways.hpp"
#include "server/work/languages.hpp"
#include "server/work/translation.hpp"

namespace lapilli::server {

namespace {

// Each link costs a run of the model; beyond these sentences nobody hovers before the text has changed.
constexpr size_t kMostLinkedSentences = 40;

// A line that is translated. Places are bytes of the whole texts.
struct LiveLine {
  size_t number = 0;
  size_t source_begin = 0, source_end = 0;
  size_t target_begin = 0;
  std::vector<std::string> targets;
};

struct SentencePlace {
  size_t line = 0, part = 0;  // of the lines that are translated
};

class LiveTranslation : public std::enable_shared_from_this<LiveTranslation> {
 public:
  LiveTranslation(Desk& desk, std::shared_ptr<Exchange> exchange, LiveRequest request,
                  std::shared_ptr<LiveListener> listener)
      : desk_(desk),
        exchange_(std::move(exchange)),
        request_(std::move(request)),
        listener_(std::move(listener)),
        source_places_(request_.text) {}

  void run() {
    find_lines();
    if (!find_languages()) return;
    listener_->on_languages(languages_);
    if (way_.same || lines_.empty()) return end_untouched();
    step(0, sources());
  }

 private:
  void find_lines() {
    size_t begin = 0;
    for (size_t number = 0; begin < request_.text.size(); ++number) {
      const size_t end = std::min(request_.text.find('\n', begin), request_.text.size());
      const size_t shown = end > begin && request_.text[end - 1] == '\r' ? end - 1 : end;
      const std::string_view line(request_.text.data() + begin, shown - begin);
      if (line.find_first_not_of(" \t\r\v\f") != std::string_view::npos)
        lines_.push_back({number, begin, shown, 0, {}});
      begin = end + 1;
    }
  }

  [[nodiscard]] std::vector<std::string> sources() const {
    std::vector<std::string> all;
    for (const LiveLine& line : lines_)
      all.push_back(request_.text.substr(line.source_begin, line.source_end - line.source_begin));
    return all;
  }

  bool fail(int status, const std::string& why) {
    listener_->on_error(status, why);
    return false;
  }

  bool find_languages() {
    const bool detect = request_.from.empty() || request_.from == "auto";
    if (detect && !detects_languages())
      return fail(400, "this server cannot detect languages: it was built without libcld2; choose the language");
    std::string from = request_.from;
    if (detect) from = detect_source();
    way_ = find_way(desk_.models(), from, request_.to);
    languages_.from = short_language(from);
    languages_.to = short_language(request_.to);
    languages_.between = way_.between;
    languages_.same = way_.same;
    if (way_.same || !way_.steps.empty()) return true;
    return fail(400, "no model of this server translates from " + language_name(from) + " to " +
                         language_name(request_.to) + "; \"lapilli serve --model\" adds one");
  }

  std::string detect_source() {
    constexpr size_t kEnough = 4096;
    const auto found =
        detect_language(std::string_view(request_.text).substr(0, kEnough), known_languages(desk_.models()));
    languages_.confidence = found.empty() ? 0 : found.front().confidence;
    return found.empty() ? "" : found.front().language;
  }

  void end_untouched() {
    listener_->on_whole({request_.text, {}, {}});
    listener_->on_end();
  }

  // ---- the work ----

  void step(size_t number, std::vector<std::string> texts) {
    const LanguageStep& with = way_.steps[number];
    auto work = std::make_shared<Work>();
    work->model = with.model;
    set_texts(*work, std::move(texts));
    work->options.task = "translate";
    work->counted = true;
    work->options.source_language = with.from;
    work->options.target_language = with.to;
    const auto self = shared_from_this();
    if (number + 1 == way_.steps.size()) {
      if (request_.alternatives > 0) ask_for_alternatives(work->options, request_.alternatives);
      work->on_event = [self](const Event& event) { self->hear(event); };
    }
    work->done = [self, number](Outcome outcome) { self->end_step(number, std::move(outcome)); };
    desk_.start(std::move(work), exchange_);
  }

  void hear(const Event& event) {
    if (event.kind != EventKind::text || event.text.empty() || event.input >= lines_.size()) return;
    listener_->on_text(lines_[event.input].number, event.text);
  }

  void end_step(size_t number, Outcome outcome) {
    if (outcome.error) return void(fail(outcome.status, outcome.error->message()));
    for (const Output& output : *outcome.results)
      if (output.error) return void(fail(400, output.error->message()));
    if (number + 1 < way_.steps.size()) {
      std::vector<std::string> texts;
      for (const Output& output : *outcome.results) texts.push_back(output.text());
      return step(number + 1, std::move(texts));
    }
    outcome_ = std::move(outcome);
    for (size_t i = 0; i < lines_.size(); ++i)
      for (const Sequence& sequence : (*outcome_.results)[i].sequences) lines_[i].targets.push_back(sequence.text);
    tell_whole();
  }

  // ---- the whole text ----

  void tell_whole() {
    LiveWhole whole;
    whole.text = joined(0, true);
    for (uint32_t k = 1; k <= request_.alternatives; ++k) {
      std::string other = joined(k, false);
      const bool known =
          other == whole.text || std::ranges::find(whole.alternatives, other) != whole.alternatives.end();
      if (!known) whole.alternatives.push_back(std::move(other));
    }
    target_places_ = Utf16Places(whole.text);
    if (way_.steps.size() == 1) find_sentences(whole.sentences);
    listener_->on_whole(whole);
    link(0);
  }

  // Each line with its `rank`-th translation, or the last that it has; what is between lines stays.
  std::string joined(size_t rank, bool keep_places) {
    std::string all;
    size_t at = 0;
    for (LiveLine& line : lines_) {
      all.append(request_.text, at, line.source_begin - at);
      if (keep_places) line.target_begin = all.size();
      if (!line.targets.empty()) all += line.targets[std::min(rank, line.targets.size() - 1)];
      at = line.source_end;
    }
    return all.append(request_.text, at);
  }

  [[nodiscard]] LiveSpan span_of(const LiveLine& line, size_t source_begin, size_t source_end, size_t target_begin,
                                 size_t target_end, float weight) const {
    return {source_places_[line.source_begin + source_begin], source_places_[line.source_begin + source_end],
            target_places_[line.target_begin + target_begin], target_places_[line.target_begin + target_end], weight};
  }

  void find_sentences(std::vector<LiveSpan>& to) {
    for (size_t i = 0; i < lines_.size(); ++i) {
      const Output& output = (*outcome_.results)[i];
      if (output.sequences.empty()) continue;
      const auto& parts = output.sequences.front().parts;
      for (size_t p = 0; p < parts.size(); ++p) {
        to.push_back(span_of(lines_[i], parts[p].source_begin, parts[p].source_end, parts[p].target_begin,
                             parts[p].target_end, 0));
        if (!parts[p].ids.empty()) sentences_.push_back({i, p});
      }
    }
  }

  // ---- words that belong together ----

  // One sentence, then the pool's other work, then the next.
  void link(size_t number) {
    const bool more = request_.links && number < std::min(sentences_.size(), kMostLinkedSentences);
    if (!more || exchange_->gone()) return listener_->on_end();
    const auto links = links_of(sentences_[number]);
    if (!links.empty()) listener_->on_links(links);
    desk_.run([self = shared_from_this(), number] { self->link(number + 1); });
  }

  [[nodiscard]] std::vector<LiveSpan> links_of(const SentencePlace& sentence) const {
    std::vector<LiveSpan> all;
    auto attention = Attention::run(*outcome_.model, *outcome_.results, sentence.line, 0, sentence.part);
    if (!attention) return all;
    const auto found = attention->align();
    if (!found) return all;
    for (const lapilli_word_link& l : *found)
      all.push_back(
          span_of(lines_[sentence.line], l.source_begin, l.source_end, l.target_begin, l.target_end, l.weight));
    return all;
  }

  Desk& desk_;
  const std::shared_ptr<Exchange> exchange_;
  const LiveRequest request_;
  const std::shared_ptr<LiveListener> listener_;
  const Utf16Places source_places_;
  Utf16Places target_places_{""};
  std::vector<LiveLine> lines_;
  LanguageWay way_;
  LiveListener::Languages languages_;
  Outcome outcome_;
  std::vector<SentencePlace> sentences_;  // that a model made
};

}  // namespace

// A character takes two units if UTF-8 takes four bytes for it.
Utf16Places::Utf16Places(std::string_view text) {
  places_.reserve(text.size() + 1);
  uint32_t place = 0, next = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) != 0x80) {
      place = next;
      next += byte >= 0xf0 ? 2 : 1;
    }
    places_.push_back(place);
  }
  places_.push_back(next);
}

void translate_live(Desk& desk, const std::shared_ptr<Exchange>& exchange, LiveRequest request,
                    std::shared_ptr<LiveListener> listener) {
  Usage usage;
  usage.characters = count_characters(request.text);
  desk.account(*exchange)->add(usage);
  std::make_shared<LiveTranslation>(desk, exchange, std::move(request), std::move(listener))->run();
}

}  // namespace lapilli::server
