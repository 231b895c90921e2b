// Tags, answers and words for masks: spans of texts, which run in windows where they are too long.
#include <algorithm>
#include <map>

#include "api/encodings.hpp"
#include "api/handles.hpp"
#include "generate/encoders/answers.hpp"
#include "generate/encoders/fills.hpp"
#include "generate/encoders/tags.hpp"
#include "text/unicode/utf8.hpp"

namespace lapilli::api {

namespace {

using Windows = std::vector<Encoding>;

EncodedText text_of(const Encoding& window) {
  EncodedText text;
  text.ids = window.ids;
  text.types.assign(window.type_ids.begin(), window.type_ids.end());
  return text;
}

std::vector<EncodedText> texts_of_windows(const Windows& windows) {
  std::vector<EncodedText> texts;
  for (const Encoding& window : windows) texts.push_back(text_of(window));
  return texts;
}

// Places in characters, of spans in any order.
class CharacterPlaces {
 public:
  explicit CharacterPlaces(std::string_view text) : text_(text) {}
  ByteRange of(ByteRange bytes) { return {at(bytes.begin), at(bytes.end)}; }

 private:
  uint64_t at(uint64_t byte) {
    if (byte < byte_) byte_ = characters_ = 0;
    for (; byte_ < std::min<uint64_t>(byte, text_.size()); ++byte_)
      characters_ += (static_cast<unsigned char>(text_[byte_]) & 0xc0) != 0x80;
    return characters_;
  }
  std::string_view text_;
  uint64_t byte_ = 0, characters_ = 0;
};

TextSpan span_at(std::string_view text, ByteRange bytes, CharacterPlaces& places) {
  TextSpan span;
  span.text = text.substr(bytes.begin, bytes.end - bytes.begin);
  span.bytes = bytes;
  span.characters = places.of(bytes);
  return span;
}

// Work whose texts run in windows, which are kept until the numbers are there.
class WindowedWork : public Encodings {
 protected:
  // Keeps the windows of input `i`; with options.cut_texts the first alone.
  Result<std::vector<EncodedText>> keep_windows(size_t i, Windows windows) {
    result(i).cut = options().cut_texts && windows.size() > 1;
    if (result(i).cut) windows.resize(1);
    uint32_t tokens = 0;
    for (const Encoding& window : windows) tokens += static_cast<uint32_t>(window.ids.size());
    result(i).tokens = tokens;
    auto texts = texts_of_windows(windows);
    windows_[i] = std::move(windows);
    return texts;
  }
  void forget(size_t i) override { windows_.erase(i); }
  [[nodiscard]] const Windows& windows_of(size_t i) const { return windows_.at(i); }
  // The caller's window and stride over the usual ones.
  [[nodiscard]] WindowOptions chosen(WindowOptions usual) const {
    const uint32_t most = encoder().most_ids(), given = options().window;
    const uint32_t window = most == 0 ? given : std::min(given, most);
    if (given) usual = {window, std::min(window / 4, 128u)};
    if (options().stride) usual.stride = options().stride;
    return usual;
  }

 private:
  std::map<size_t, Windows> windows_;
};

Status refuse_ids(const WorkRequest& from, const char* task) {
  for (const Input& input : from.inputs)
    if (input.kind == LAPILLI_INPUT_IDS)
      return fail(ErrorCode::unsupported, "the task \"%s\" takes texts, for its results are places in them, not ids",
                  task);
  return {};
}

Status refuse_pairs(const WorkRequest& from, const char* task) {
  for (const Input& input : from.inputs)
    if (input.pair) return fail(ErrorCode::invalid_argument, "the task \"%s\" takes one text, not a pair", task);
  return refuse_ids(from, task);
}

// ---- tags ----------------------------------------------------------------------------------------------------------

Result<TagAggregation> aggregation_of(const char* given) {
  const std::string_view name = given ? given : "simple";
  if (name == "none") return TagAggregation::none;
  if (name == "simple" || name.empty()) return TagAggregation::simple;
  if (name == "first") return TagAggregation::first;
  if (name == "average") return TagAggregation::average;
  if (name == "max") return TagAggregation::max;
  return fail(ErrorCode::invalid_argument,
              "lapilli_encoder_options.aggregation is \"%s\"; it is \"none\", \"simple\", \"first\", \"average\" or "
              "\"max\"",
              name);
}

Result<std::vector<std::string>> ignored_labels(const lapilli_encoder_options& from) {
  if (!from.ignored_labels) return std::vector<std::string>{"O"};
  std::vector<std::string> labels;
  for (size_t i = 0; i < from.ignored_label_count; ++i) {
    if (!from.ignored_labels[i])
      return fail(ErrorCode::invalid_argument, "lapilli_encoder_options.ignored_labels[%u] is null", i);
    labels.emplace_back(from.ignored_labels[i]);
  }
  return labels;
}

class Tags : public WindowedWork {
 public:
  static Result<std::unique_ptr<Work>> start(WorkRequest from) {
    auto work = std::make_unique<Tags>();
    LAPILLI_CHECK(refuse_pairs(from, "tag"));
    LAPILLI_TRY(work->aggregation_, aggregation_of(from.options.encoder.aggregation));
    LAPILLI_TRY(work->ignored_, ignored_labels(from.options.encoder));
    work->labels_ = from.front->tags;
    LAPILLI_CHECK(work->begin(std::move(from), kTag, model::HeadKind::tags));
    LAPILLI_CHECK(work->encoder().check_tokenizer());
    const uint32_t most = work->encoder().most_ids();
    work->window_ = work->chosen({most, std::min(most / 4, 128u)});
    return std::unique_ptr<Work>(std::move(work));
  }

 private:
  Result<std::vector<EncodedText>> texts_of(size_t i) override {
    LAPILLI_TRY(auto windows, encoder().windows(input(i).text, {}, window_));
    return keep_windows(i, std::move(windows));
  }
  Status use(size_t i, HeadNumbers numbers) override {
    const Windows& windows = windows_of(i);
    std::vector<TagWindow> read;
    for (size_t w = 0; w < windows.size(); ++w) read.push_back({&windows[w], numbers[w]});
    const std::string_view text = input(i).text;
    LAPILLI_TRY(const auto entities,
                find_entities(text, read, window_.stride, labels_, *encoder().tokenizer(), {aggregation_, ignored_}));
    CharacterPlaces places(text);
    for (const Entity& entity : entities) {
      TextSpan& span = result(i).spans.emplace_back(span_at(text, entity.bytes, places));
      span.label = entity.label;
      span.score = entity.score;
    }
    return {};
  }

  TagAggregation aggregation_ = TagAggregation::simple;
  std::vector<std::string> labels_, ignored_;
  WindowOptions window_;
};

// ---- answers -------------------------------------------------------------------------------------------------------

class Answers : public WindowedWork {
 public:
  static Result<std::unique_ptr<Work>> start(WorkRequest from) {
    auto work = std::make_unique<Answers>();
    LAPILLI_CHECK(refuse_ids(from, "answer"));
    for (const Input& input : from.inputs)
      if (!input.pair)
        return fail(ErrorCode::invalid_argument,
                    "the task \"answer\" takes pairs of a question and a text (lapilli_pair)");
    LAPILLI_CHECK(work->begin(std::move(from), kAnswer, model::HeadKind::spans));
    LAPILLI_CHECK(work->encoder().check_tokenizer());
    work->window_ = work->chosen(usual_answer_windows(work->encoder().most_ids()));
    return std::unique_ptr<Work>(std::move(work));
  }

 private:
  Result<std::vector<EncodedText>> texts_of(size_t i) override {
    LAPILLI_TRY(auto windows, encoder().windows(*input(i).pair, input(i).text, window_));
    return keep_windows(i, std::move(windows));
  }
  Status use(size_t i, HeadNumbers numbers) override {
    const Windows& windows = windows_of(i);
    std::vector<AnswerWindow> read;
    for (size_t w = 0; w < windows.size(); ++w) read.push_back({&windows[w], numbers[w]});
    AnswerOptions how;
    how.top = options().top_spans ? options().top_spans : 1;
    how.most_tokens = options().max_answer_tokens;
    how.allow_empty = options().allow_empty != 0;
    how.align_to_words = options().part_words == 0;
    const std::string_view text = *input(i).pair;
    CharacterPlaces places(text);
    for (const auto& answer : best_answers(text, read, encoder().tokenizer()->special().cls, how)) {
      TextSpan& span = result(i).spans.emplace_back(span_at(text, answer.bytes, places));
      span.score = answer.score;
    }
    return {};
  }

  WindowOptions window_;
};

// ---- words for masks -----------------------------------------------------------------------------------------------

class Fills : public WindowedWork {
 public:
  static Result<std::unique_ptr<Work>> start(WorkRequest from) {
    auto work = std::make_unique<Fills>();
    LAPILLI_CHECK(refuse_pairs(from, "fill"));
    LAPILLI_CHECK(work->begin(std::move(from), kFill, model::HeadKind::tokens));
    LAPILLI_CHECK(work->encoder().check_tokenizer());
    return std::unique_ptr<Work>(std::move(work));
  }

 private:
  // A mask behind the model's length would be lost in silence.
  Result<std::vector<EncodedText>> texts_of(size_t i) override {
    LAPILLI_TRY(auto windows, encoder().windows(input(i).text, {}, {encoder().most_ids(), 0}));
    if (windows.size() > 1)
      return fail(ErrorCode::invalid_argument, "the text is longer than the %u tokens that the model reads: shorten it",
                  encoder().most_ids());
    LAPILLI_TRY(auto masks, find_masks(windows.front(), *encoder().tokenizer()));
    LAPILLI_TRY(auto texts, keep_windows(i, std::move(windows)));
    texts.front().head_rows = std::move(masks);
    return texts;
  }
  Status use(size_t i, HeadNumbers numbers) override {
    const Encoding& encoding = windows_of(i).front();
    LAPILLI_TRY(const auto masks, find_masks(encoding, *encoder().tokenizer()));
    const size_t columns = numbers.front().size() / masks.size();
    CharacterPlaces places(input(i).text);
    for (size_t m = 0; m < masks.size(); ++m)
      LAPILLI_CHECK(add_words(i, masks[m], std::span(numbers.front()).subspan(m * columns, columns), places));
    return {};
  }
  Status add_words(size_t i, uint32_t row, std::span<const float> logits, CharacterPlaces& places) {
    const Encoding& encoding = windows_of(i).front();
    const uint32_t top = options().top_spans ? options().top_spans : 5;
    LAPILLI_TRY(const auto fills, best_fills(encoding, row, logits, *encoder().tokenizer(), top));
    for (const Fill& fill : fills) {
      TextSpan& span = result(i).spans.emplace_back(span_at(input(i).text, encoding.offsets[row], places));
      span.text = fill.word;
      span.filled = fill.text;
      span.score = fill.score;
      span.token = fill.token;
    }
    return {};
  }
};

}  // namespace

Result<std::unique_ptr<Work>> start_fills(WorkRequest request) { return Fills::start(std::move(request)); }
Result<std::unique_ptr<Work>> start_tags(WorkRequest request) { return Tags::start(std::move(request)); }
Result<std::unique_ptr<Work>> start_answers(WorkRequest request) { return Answers::start(std::move(request)); }

}  // namespace lapilli::api
