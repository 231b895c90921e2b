// Kinds "tag", "fill" and "question_answering": what a head says of single ids.
#include <cmath>

#include "base/worst.hpp"
#include "conformance/folder.hpp"
#include "generate/encoders/answers.hpp"
#include "generate/encoders/fills.hpp"
#include "generate/encoders/tags.hpp"
#include "generate/encoders/text_encoder.hpp"
#include "generate/front_end.hpp"
#include "generate/verbs.hpp"
#include "search/network_on_device.hpp"
#include "text/unicode/unicode.hpp"

namespace lapilli::conformance {

namespace {

using Json = nlohmann::json;
using Windows = std::vector<Encoding>;
using Logits = std::vector<std::vector<float>>;  // of each window: of each id, of each column

Result<TextEncoder> text_encoder(const std::shared_ptr<Model>& model, const std::string& directory,
                                 model::HeadKind head) {
  if (!model->on_device().config().head(head)) return fail(ErrorCode::unsupported, "a model without such a head");
  const FrontEnd front = read_front_end(*model, directory);
  LAPILLI_CHECK(Status(front.status));
  if (!front.sentences) return fail(ErrorCode::unsupported, "a model that reads no texts");
  return TextEncoder::make(*model, *front.sentences, {"", ""});
}

Result<std::vector<float>> logits_of(const std::shared_ptr<Model>& model, const Encoding& window,
                                     model::HeadKind head) {
  ForwardRequest request;
  request.sources = {window.ids};
  request.only = head;
  if (model->on_device().config().encoder.row_types > 1)
    request.source_types = {{window.type_ids.begin(), window.type_ids.end()}};
  LAPILLI_TRY(const auto outputs, forward(model, request));
  if (outputs.size() == 1) return outputs.front().values;
  std::vector<float> both;  // of spans, which come as two columns
  for (size_t i = 0; outputs.size() == 2 && i < window.ids.size(); ++i)
    for (const auto& column : outputs) both.push_back(column.values.at(i));
  if (both.empty()) return fail(ErrorCode::internal, "the pass has other outputs");
  return both;
}

Result<Logits> logits_of_all(const std::shared_ptr<Model>& model, const Windows& windows, model::HeadKind head) {
  Logits all;
  for (const Encoding& window : windows) {
    LAPILLI_TRY(all.emplace_back(), logits_of(model, window, head));
  }
  return all;
}

// The records count characters.
class Characters {
 public:
  explicit Characters(std::string_view text) : of_byte_(text.size() + 1) {
    size_t count = 0;
    for (size_t at = 0; at < text.size(); ++count) {
      const size_t begin = at;
      next_character(text, at);
      std::fill(of_byte_.begin() + static_cast<ptrdiff_t>(begin), of_byte_.begin() + static_cast<ptrdiff_t>(at), count);
    }
    of_byte_.back() = count;
  }
  [[nodiscard]] Json range(ByteRange bytes) const { return {of_byte_.at(bytes.begin), of_byte_.at(bytes.end)}; }

 private:
  std::vector<size_t> of_byte_;
};

// `record`: one text's or window's ids, and whatever else is recorded of them. The second text is behind texts 1.
void compare_encoding(const Encoding& ours, const Json& record, const Characters& text, const Characters& second,
                      Outcome& o) {
  if (record.at("input_ids") != Json(ours.ids)) return o.fail("other ids");
  if (record.contains("token_type_ids") && record["token_type_ids"] != Json(ours.type_ids)) o.fail("other token types");
  for (size_t i = 0; record.contains("offsets") && i < ours.ids.size(); ++i) {
    const Json range = ours.texts[i] < 0    ? Json{0, 0}
                       : ours.texts[i] == 1 ? second.range(ours.offsets[i])
                                            : text.range(ours.offsets[i]);
    if (range != record["offsets"].at(i)) o.fail("other offsets of id " + std::to_string(i));
  }
}

Status compare_logits(const Record& record, const Json& spec, const std::vector<float>& ours, size_t column,
                      size_t columns, Outcome& o) {
  LAPILLI_TRY(const auto expected, read_matrix(record, spec.at("tensor").get<std::string>()));
  if (expected.values.size() * columns != ours.size()) return fail(ErrorCode::invalid_data, "logits of another size");
  double worst = 0;
  for (size_t i = 0; i < expected.values.size(); ++i)
    worst = worse(worst, std::abs(double{ours[i * columns + column]} - expected.values[i]));
  o.compare(worst, spec.at("atol_fp32").get<double>(), "logits");
  return {};
}

// ---- tag -----------------------------------------------------------------------------------------------------------

Result<std::vector<std::string>> labels_of(const std::shared_ptr<Model>& model, const std::string& directory) {
  const uint32_t labels = model->on_device().config().head(model::HeadKind::tags)->columns;
  LAPILLI_TRY(const auto settings, read_class_settings(directory, {}, labels));
  return settings.labels;
}

// The reference loses the blanks between words of families with marks of words (U+2581) where it joins them.
std::string without_blanks(std::string word) {
  std::erase(word, ' ');
  return word;
}

void compare_entities(const std::vector<Entity>& ours, const Json& expected, const Characters& text, double tolerance,
                      Outcome& o) {
  if (ours.size() != expected.size()) return o.fail("another number of entities");
  for (size_t i = 0; i < ours.size(); ++i) {
    const Json& e = expected[i];
    o.compare(std::abs(ours[i].score - e.at("score").get<double>()), tolerance, "score");
    const bool same = e.at("label") == ours[i].label && without_blanks(e.at("word")) == without_blanks(ours[i].word) &&
                      text.range(ours[i].bytes) == Json{e.at("start"), e.at("end")} &&
                      e.value("index", ours[i].index) == ours[i].index;
    if (!same) o.fail("entity " + std::to_string(i) + " is " + ours[i].label + " " + ours[i].word);
  }
}

// ---- fill ----------------------------------------------------------------------------------------------------------

// A record's words have the marks of words that ours lack.
std::string unmarked(std::string word, const Tokenizer& tokenizer) {
  while (word.starts_with(" ")) word.erase(0, 1);
  const std::string mark(tokenizer.continuing_prefix());
  return !mark.empty() && word.size() > mark.size() && word.starts_with(mark) ? word.substr(mark.size()) : word;
}

// Words nearer to each other than the tolerance may change places.
void compare_fills(const std::vector<Fill>& ours, const Json& expected, const Tokenizer& tokenizer, double tolerance,
                   Outcome& o) {
  if (ours.size() != expected.size()) return o.fail("another number of words");
  for (size_t i = 0; i < ours.size(); ++i) {
    const double wanted = expected[i].at("score").get<double>();
    o.compare(std::abs(ours[i].score - wanted), tolerance, "score");
    const auto same = [&](const Json& e) {
      return e.at("token") == ours[i].token && std::abs(e.at("score").get<double>() - wanted) <= tolerance &&
             unmarked(e.at("token_str"), tokenizer) == ours[i].word && e.at("sequence") == ours[i].text;
    };
    if (std::none_of(expected.begin(), expected.end(), same)) o.fail("other word or text: " + ours[i].text);
  }
}

// ---- question_answering --------------------------------------------------------------------------------------------

WindowOptions window_options(const Json& args, uint32_t limit) {
  WindowOptions usual = usual_answer_windows(args.value("max_seq_len", limit));
  usual.most_ids = args.value("max_seq_len", usual.most_ids);
  usual.stride = args.value("doc_stride", usual.stride);
  return usual;
}

AnswerOptions answer_options(const Json& args) {
  AnswerOptions options;
  options.top = args.value("top_k", options.top);
  options.most_tokens = args.value("max_answer_len", options.most_tokens);
  options.allow_empty = args.value("handle_impossible_answer", options.allow_empty);
  options.align_to_words = args.value("align_to_words", options.align_to_words);
  return options;
}

void compare_answers(const std::vector<Answer>& ours, const Json& c, const Characters& text, Outcome& o) {
  const Json& expected = c.at("answers");
  if (ours.size() != expected.size()) return o.fail("another number of answers");
  for (size_t i = 0; i < ours.size(); ++i) {
    const Json& e = expected[i];
    o.compare(std::abs(ours[i].score - e.at("score").get<double>()), c.at("scores_atol_fp32").get<double>(), "score");
    if (e.at("answer") != ours[i].text || text.range(ours[i].bytes) != Json{e.at("start"), e.at("end")})
      o.fail("answer " + std::to_string(i) + " is " + ours[i].text);
  }
}

}  // namespace

Result<Outcome> run_tag(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                        const Json& c) {
  LAPILLI_TRY(const auto encoder, text_encoder(model, directory, model::HeadKind::tags));
  LAPILLI_TRY(const auto labels, labels_of(model, directory));
  const auto text = c.at("text").get<std::string>();
  const Characters characters(text);
  LAPILLI_TRY(const auto windows, encoder.windows(text, {}, {}));
  LAPILLI_TRY(const auto logits, logits_of_all(model, windows, model::HeadKind::tags));
  Outcome o;
  compare_encoding(windows.front(), c, characters, characters, o);
  LAPILLI_CHECK(compare_logits(record, c.at("outputs").at("logits"), logits.front(), 0, 1, o));
  const TagWindow window{windows.data(), logits.front()};
  constexpr std::pair<const char*, TagAggregation> kJoinings[] = {{"none", TagAggregation::none},
                                                                  {"simple", TagAggregation::simple},
                                                                  {"first", TagAggregation::first},
                                                                  {"average", TagAggregation::average},
                                                                  {"max", TagAggregation::max}};
  const std::vector<std::string> ignored = {"O"};
  for (const auto& [name, joining] : kJoinings) {
    LAPILLI_TRY(const auto entities,
                find_entities(text, {&window, 1}, 0, labels, *encoder.tokenizer(), {joining, ignored}));
    compare_entities(entities, c.at("entities").at(name), characters, c.at("scores_atol_fp32").get<double>(), o);
  }
  return o;
}

Result<Outcome> run_fill(const std::shared_ptr<Model>& model, const std::string& directory, const Json& c) {
  LAPILLI_TRY(const auto encoder, text_encoder(model, directory, model::HeadKind::tokens));
  const auto text = c.at("text").get<std::string>();
  LAPILLI_TRY(const auto windows, encoder.windows(text, {}, {}));
  const Encoding& ids = windows.front();
  LAPILLI_TRY(const auto logits, logits_of(model, ids, model::HeadKind::tokens));
  LAPILLI_TRY(const auto masks, find_masks(ids, *encoder.tokenizer()));
  Outcome o;
  compare_encoding(ids, c, Characters(text), Characters(""), o);
  const Json answers = masks.size() == 1 ? Json::array({c.at("answers")}) : c.at("answers");
  const size_t columns = logits.size() / ids.ids.size();
  for (size_t i = 0; i < masks.size(); ++i) {
    const auto row = std::span(logits).subspan(masks[i] * columns, columns);
    const auto top = static_cast<uint32_t>(answers.at(i).size());
    LAPILLI_TRY(const auto fills, best_fills(ids, masks[i], row, *encoder.tokenizer(), top));
    compare_fills(fills, answers[i], *encoder.tokenizer(), c.at("scores_atol_fp32").get<double>(), o);
  }
  return o;
}

Result<Outcome> run_question_answering(const std::shared_ptr<Model>& model, const std::string& directory,
                                       const Record& record, const Json& c) {
  LAPILLI_TRY(const auto encoder, text_encoder(model, directory, model::HeadKind::spans));
  const auto question = c.at("question").get<std::string>(), text = c.at("context").get<std::string>();
  const Json args = c.value("args", Json::object());
  LAPILLI_TRY(const auto windows, encoder.windows(text, question, window_options(args, encoder.most_ids())));
  LAPILLI_TRY(const auto logits, logits_of_all(model, windows, model::HeadKind::spans));
  const Json& expected = c.at("windows");
  if (windows.size() != expected.size()) return Outcome::failed("another number of windows");
  Outcome o;
  const Characters characters(text), of_question(question);
  std::vector<AnswerWindow> read;
  for (size_t i = 0; i < windows.size(); ++i) {
    compare_encoding(windows[i], expected[i], characters, of_question, o);
    LAPILLI_CHECK(compare_logits(record, expected[i].at("start_logits"), logits[i], 0, 2, o));
    LAPILLI_CHECK(compare_logits(record, expected[i].at("end_logits"), logits[i], 1, 2, o));
    read.push_back({&windows[i], logits[i]});
  }
  const int32_t cls = encoder.tokenizer()->special().cls;
  compare_answers(best_answers(text, read, cls, answer_options(args)), c, characters, o);
  return o;
}

}  // namespace lapilli::conformance
