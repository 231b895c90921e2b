#include "server/work/translation.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "documents/document_text.hpp"
#include "documents/kept/kept_text.hpp"
#include "server/work/language_detector.hpp"
#include "server/work/language_ways.hpp"
#include "server/work/languages.hpp"

namespace lapilli::server {

namespace {

using documents::DocumentText;
using documents::TranslatedSegment;

// A line of a text, or a segment of a document.
struct Piece {
  size_t text = 0;     // which one it belongs to
  size_t segment = 0;  // its number within it
  std::string source;
  std::vector<std::string> targets;  // the translation and its alternatives
  std::vector<TranslatedSegment::Link> links;
};

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n\v\f") == std::string_view::npos; }

// Calls `add` with each line and what ends it.
template <class Add>
void each_line(std::string_view text, Add add) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const size_t next = std::min(end + 1, text.size());
    const size_t shown = end > 0 && end < text.size() && text[end - 1] == '\r' ? end - 1 : end;
    add(text.substr(0, shown), text.substr(shown, next - shown));
    text.remove_prefix(next);
  }
}

// One request on its way. The works that it starts keep it.
class Translation : public std::enable_shared_from_this<Translation> {
 public:
  Translation(Desk& desk, std::shared_ptr<Exchange> exchange, TranslationRequest request,
              std::function<void(Translated)> then)
      : desk_(desk), exchange_(std::move(exchange)), request_(std::move(request)), then_(std::move(then)) {}

  void run() {
    translated_.texts.resize(request_.texts.size());
    if (!read_texts() || !find_languages() || !check_alternatives()) return finish();
    for (size_t i = 0; i < pieces_.size(); ++i) {
      const std::string& from = translated_.texts[pieces_[i].text].from;
      groups_[from].push_back(i);
    }
    left_ = groups_.size() + 1;
    for (const auto& [from, numbers] : groups_) start(from, numbers);
    end_group();
  }

 private:
  bool refuse(const std::string& parameter, const std::string& why, int status = 400) {
    const std::lock_guard lock(mutex_);
    if (translated_.status == 200) translated_.error = why;
    if (translated_.status == 200) translated_.parameter = parameter;
    if (translated_.status == 200) translated_.status = status;
    return false;
  }

  bool read_texts() {
    documents_.resize(request_.texts.size());
    for (size_t i = 0; i < request_.texts.size(); ++i) {
      first_.push_back(pieces_.size());
      if (request_.kind.empty())
        read_lines(i);
      else if (!read_document(i))
        return false;
      if (pieces_.size() > kMostPieces)
        return refuse("q",
                      "the texts have more than the " + std::to_string(kMostPieces) +
                          " lines or segments that a request may have; send them in parts",
                      413);
    }
    first_.push_back(pieces_.size());
    return true;
  }

  void read_lines(size_t text) {
    size_t number = 0;
    each_line(request_.texts[text], [&](std::string_view line, std::string_view) {
      if (!is_blank(line) && pieces_.size() <= kMostPieces)
        pieces_.push_back({text, number, std::string(line), {}, {}});
      ++number;
    });
  }

  bool read_document(size_t text) {
    documents_[text] = std::make_unique<DocumentText>();
    documents::Options options;
    options.source_language = request_.from == "auto" ? "" : short_language(request_.from);
    options.target_language = short_language(request_.to);
    const std::string wrong = documents_[text]->parse(request_.kind, request_.texts[text], options);
    if (!wrong.empty()) return refuse("q", wrong);
    for (size_t i = 0; i < documents_[text]->size(); ++i)
      pieces_.push_back({text, i, documents_[text]->text(i), {}, {}});
    return true;
  }

  bool find_languages() {
    const bool detect = request_.from.empty() || request_.from == "auto";
    if (detect && !detects_languages())
      return refuse("source",
                    "this server cannot detect languages, for it was built without libcld2: name the source language");
    const auto among = known_languages(desk_.models());
    for (size_t i = 0; i < translated_.texts.size(); ++i) {
      translated_.texts[i].from = request_.from;
      if (detect) detect_text(i, among);
      if (!find_text_way(i)) return false;
    }
    return true;
  }

  void detect_text(size_t text, const std::vector<std::string>& among) {
    std::string all;
    for (size_t i = first_[text]; i < first_[text + 1] && all.size() < kDetectBytes; ++i)
      all += pieces_[i].source + "\n";
    const auto found = detect_language(all, among);
    TranslatedText& to = translated_.texts[text];
    to.from = found.empty() ? "" : found.front().language;
    to.confidence = found.empty() || is_blank(all) ? 0 : found.front().confidence;
  }

  // Texts of one language share its way.
  bool find_text_way(size_t text) {
    TranslatedText& to = translated_.texts[text];
    if (!ways_.contains(to.from)) ways_[to.from] = find_way(desk_.models(), to.from, request_.to);
    const LanguageWay& way = ways_[to.from];
    to.between = way.between;
    if (way.same || !way.steps.empty()) return true;
    const auto known = known_languages(desk_.models());
    if (find_language(known, to.from).empty()) return refuse("source", to.from + " is not supported");
    if (find_language(known, request_.to).empty()) return refuse("target", request_.to + " is not supported");
    return refuse("target", language_name(request_.to) + " (" + request_.to +
                                ") is not available as a target language from " + language_name(to.from) + " (" +
                                to.from + ")");
  }

  bool check_alternatives() {
    const uint32_t most = exchange_ ? desk_.limits(*exchange_).alternatives : desk_.limits().alternatives;
    if (request_.alternatives <= most) return true;
    return refuse("alternatives", "alternatives: " + std::to_string(request_.alternatives) + " are more than the " +
                                      std::to_string(most) + " that this server gives");
  }

  void start(const std::string& from, const std::vector<size_t>& numbers) {
    const LanguageWay& way = ways_.at(from);
    std::vector<std::string> texts;
    for (const size_t i : numbers) texts.push_back(pieces_[i].source);
    if (way.same) {
      for (const size_t i : numbers) pieces_[i].targets = {pieces_[i].source};
      return end_group();
    }
    step(way, 0, numbers, std::move(texts));
  }

  void step(const LanguageWay& way, size_t number, const std::vector<size_t>& pieces, std::vector<std::string> texts) {
    const LanguageStep& with = way.steps[number];
    auto work = std::make_shared<Work>();
    work->model = with.model;
    set_texts(*work, std::move(texts));
    work->options.task = "translate";
    work->options.source_language = with.from;
    work->options.target_language = with.to;
    work->options.split_sentences = request_.split;
    work->account = request_.account;
    work->counted = true;
    if (request_.may_take_long) work->deadline = std::chrono::steady_clock::time_point::max();
    if (request_.on_progress) work->on_progress = progress_of(number, way.steps.size());
    const bool last = number + 1 == way.steps.size();
    if (last && request_.alternatives > 0) ask_for_alternatives(work->options, request_.alternatives);
    work->done = [self = shared_from_this(), &way, number, pieces](Outcome outcome) {
      self->end_step(way, number, pieces, std::move(outcome));
    };
    desk_.start(std::move(work), exchange_);
  }

  [[nodiscard]] std::function<void(const Event&)> progress_of(size_t number, size_t steps) const {
    return [tell = request_.on_progress, number, steps](const Event& event) {
      const double part = event.total > 0 ? static_cast<double>(event.done) / static_cast<double>(event.total) : 0;
      tell((static_cast<double>(number) + part) / static_cast<double>(steps));
    };
  }

  void end_step(const LanguageWay& way, size_t number, const std::vector<size_t>& pieces, Outcome outcome) {
    if (outcome.error) return refuse("", outcome.error->message(), outcome.status), end_group();
    const Results& results = *outcome.results;
    for (size_t i = 0; i < results.size(); ++i)
      if (results[i].error) return refuse("q", where(pieces_[pieces[i]]) + results[i].error->message()), end_group();
    if (number + 1 < way.steps.size()) {
      std::vector<std::string> texts;
      for (const Output& output : results) texts.push_back(output.text());
      return step(way, number + 1, pieces, std::move(texts));
    }
    for (size_t i = 0; i < results.size(); ++i)
      for (const Sequence& sequence : results[i].sequences) pieces_[pieces[i]].targets.push_back(sequence.text);
    if (number > 0) return end_group();
    align_from(0, pieces, std::make_shared<const Outcome>(std::move(outcome)));
  }

  // One segment at a time, so that others have their turns on the pool. A reader who has left needs no links.
  void align_from(size_t next, const std::vector<size_t>& pieces, const std::shared_ptr<const Outcome>& outcome) {
    while (next < pieces.size() && !needs_links(pieces_[pieces[next]])) ++next;
    if (next == pieces.size() || (exchange_ && exchange_->gone())) return end_group();
    align(pieces_[pieces[next]], *outcome, next);
    desk_.run([self = shared_from_this(), next, pieces, outcome] { self->align_from(next + 1, pieces, outcome); });
  }

  // A line needs them only if it lost words that stay.
  [[nodiscard]] bool needs_links(const Piece& piece) const {
    if (documents_[piece.text]) return documents_[piece.text]->needs_links(piece.segment);
    return !piece.targets.empty() && !kept_.is_whole(piece.source, piece.targets.front());
  }

  // Links tell where the markup of a segment goes. Without them it goes by proportion.
  static void align(Piece& piece, const Outcome& outcome, size_t input) {
    for (size_t part = 0; part < (*outcome.results)[input].sequences.front().parts.size(); ++part) {
      auto attention = Attention::run(*outcome.model, *outcome.results, input, 0, part);
      if (!attention) continue;
      const auto found = attention->align();
      if (!found) continue;
      for (const lapilli_word_link& l : *found)
        piece.links.push_back({l.source_begin, l.source_end, l.target_begin, l.target_end, l.weight});
    }
  }

  [[nodiscard]] std::string where(const Piece& piece) const {
    return request_.texts.size() > 1 ? "text " + std::to_string(piece.text + 1) + ": " : "";
  }

  // The last one writes the texts; files where others of their kind are read.
  void end_group() {
    if (--left_ > 0) return;
    if (!request_.is_file) return end_texts();
    desk_.run_long([self = shared_from_this()] { self->end_texts(); });
  }
  void end_texts() {
    if (translated_.status == 200) write_texts();
    finish();
  }

  void write_texts() {
    for (size_t i = 0; i < translated_.texts.size(); ++i) {
      const std::span<const Piece> pieces(pieces_.data() + first_[i], first_[i + 1] - first_[i]);
      if (documents_[i])
        write_document(i, pieces);
      else
        write_lines(i, pieces);
    }
  }

  // Beside the translation stands its k-th alternative, with that of each line that has one.
  void write_lines(size_t text, std::span<const Piece> pieces) {
    TranslatedText& to = translated_.texts[text];
    for (size_t k = 0; k <= request_.alternatives; ++k) {
      const std::string made = joined(request_.texts[text], pieces, k);
      if (k == 0)
        to.text = made;
      else if (made != to.text && std::ranges::find(to.alternatives, made) == to.alternatives.end())
        to.alternatives.push_back(made);
    }
  }

  // The translation of a line, or one beside it, with the placeholders of its source.
  [[nodiscard]] std::string line_text(const Piece& piece, size_t rank) const {
    const size_t at = std::min(rank, piece.targets.size() - 1);
    return kept_.restored(piece.source, piece.targets[at],
                          [&] { return at == 0 ? piece.links : documents::KeptText::Links(); });
  }

  [[nodiscard]] std::string joined(std::string_view source, std::span<const Piece> pieces, size_t rank) const {
    std::string all;
    size_t number = 0, at = 0;
    each_line(source, [&](std::string_view line, std::string_view end) {
      const bool made = at < pieces.size() && pieces[at].segment == number++;
      if (!made) {
        all.append(line).append(end);
        return;
      }
      const Piece& piece = pieces[at++];
      if (!piece.targets.empty()) all += line_text(piece, rank);
      all += end;
    });
    return all;
  }

  void write_document(size_t text, std::span<const Piece> pieces) {
    std::vector<TranslatedSegment> segments;
    for (const Piece& piece : pieces)
      segments.push_back({piece.targets.empty(), piece.targets.empty() ? "" : piece.targets.front(), piece.links});
    const std::string wrong = documents_[text]->render(segments, translated_.texts[text].text);
    if (!wrong.empty()) refuse("", wrong, 500);
  }

  void finish() {
    for (TranslatedText& text : translated_.texts) text.from = short_language(text.from);
    then_(std::move(translated_));
  }

  static constexpr size_t kDetectBytes = 4096;  // of a text, for its language
  static constexpr size_t kMostPieces = size_t{1} << 17;

  Desk& desk_;
  const std::shared_ptr<Exchange> exchange_;
  const TranslationRequest request_;
  const std::function<void(Translated)> then_;
  std::vector<std::unique_ptr<DocumentText>> documents_;  // of each text; null: plain text
  const documents::KeptText kept_;                        // placeholders of plain text
  std::vector<Piece> pieces_;                             // in the order of the texts
  std::vector<size_t> first_;                             // piece of each text, and the end
  std::map<std::string, LanguageWay> ways_;               // by the language from which
  std::map<std::string, std::vector<size_t>> groups_;     // pieces by that language
  std::atomic<size_t> left_{0};                           // groups that have not ended
  std::mutex mutex_;                                      // guards the refusal
  Translated translated_;
};

}  // namespace

void translate(Desk& desk, const std::shared_ptr<Exchange>& exchange, TranslationRequest request,
               std::function<void(Translated)> then) {
  Usage usage;
  for (const std::string& text : request.texts) usage.characters += count_characters(text);
  if (!request.account && exchange) request.account = desk.account(*exchange);
  if (request.account) request.account->add(usage);
  std::make_shared<Translation>(desk, exchange, std::move(request), std::move(then))->run();
}

void ask_for_alternatives(Options& options, uint32_t alternatives) {
  constexpr int32_t kUsualBeams = 4;
  const auto sequences = static_cast<int32_t>(alternatives) + 1;
  options.num_return_sequences = sequences;
  options.num_beams = std::max(sequences, kUsualBeams);
}

uint64_t count_characters(std::string_view text) {
  return static_cast<uint64_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

}  // namespace lapilli::server
