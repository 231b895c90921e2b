#include "text/pipeline/post_processors.hpp"

#include <algorithm>
#include <utility>

namespace lapilli {
namespace {

void append_text(Encoding& out, const Encoding& text, int32_t type) {
  const size_t before = out.ids.size();
  out.append(text);
  std::fill(out.type_ids.begin() + static_cast<ptrdiff_t>(before), out.type_ids.end(), type);
}

class Template final : public PostProcessor {
 public:
  Template(TemplateOptions options, TrimmedBlanks trims) : options_(std::move(options)), trims_(trims) {}

  [[nodiscard]] Result<Encoding> process(const Encoding& first, const Encoding* second,
                                         bool add_special) const override {
    if (second != nullptr && options_.pair.empty())
      return fail(ErrorCode::invalid_argument, "this tokenizer takes one text at a time, no pairs");
    Encoding out;
    for (const TemplatePart& part : second == nullptr ? options_.single : options_.pair) {
      if (part.kind == TemplatePart::Kind::first) {
        append_text(out, first, part.type);
      } else if (part.kind == TemplatePart::Kind::second) {
        if (second != nullptr) append_text(out, *second, part.type);
      } else if (add_special) {
        for (const int32_t id : part.ids) out.push_special(id, part.type);
      }
    }
    return out;
  }
  [[nodiscard]] TrimmedBlanks trims() const override { return trims_; }

 private:
  TemplateOptions options_;
  TrimmedBlanks trims_;
};

// Adds nothing.
class Idle final : public PostProcessor {
 public:
  explicit Idle(TrimmedBlanks trims) : trims_(trims) {}
  [[nodiscard]] Result<Encoding> process(const Encoding& first, const Encoding* second, bool) const override {
    return join_texts(first, second);
  }
  [[nodiscard]] TrimmedBlanks trims() const override { return trims_; }
  [[nodiscard]] bool adds_tokens() const override { return false; }

 private:
  TrimmedBlanks trims_;
};

class PostProcessorSequence final : public PostProcessor {
 public:
  PostProcessorSequence(std::vector<PostProcessorPtr> parts, TrimmedBlanks trims)
      : parts_(std::move(parts)), trims_(trims) {}

  [[nodiscard]] Result<Encoding> process(const Encoding& first, const Encoding* second,
                                         bool add_special) const override {
    if (parts_.empty()) return join_texts(first, second);
    if (parts_.size() == 1) return parts_[0]->process(first, second, add_special);
    if (second != nullptr)
      return fail(ErrorCode::unsupported, "pairs go through at most one post-processor that adds tokens");
    Encoding out = first;
    for (const PostProcessorPtr& part : parts_) {
      LAPILLI_TRY(out, part->process(out, nullptr, add_special));
    }
    return out;
  }
  [[nodiscard]] TrimmedBlanks trims() const override { return trims_; }
  [[nodiscard]] bool adds_tokens() const override { return !parts_.empty(); }

 private:
  std::vector<PostProcessorPtr> parts_;  // only those that add tokens
  TrimmedBlanks trims_;
};

TemplatePart special(std::vector<int32_t> ids, int32_t type) {
  return {TemplatePart::Kind::special, std::move(ids), type};
}
TemplatePart first_text(int32_t type = 0) { return {TemplatePart::Kind::first, {}, type}; }
TemplatePart second_text(int32_t type) { return {TemplatePart::Kind::second, {}, type}; }

}  // namespace

Encoding join_texts(const Encoding& first, const Encoding* second) {
  Encoding out;
  append_text(out, first, 0);
  if (second != nullptr) append_text(out, *second, 1);
  return out;
}

PostProcessorPtr make_template(TemplateOptions options) {
  return std::make_unique<Template>(std::move(options), TrimmedBlanks::none);
}

PostProcessorPtr make_roberta_processing(int32_t cls, int32_t sep, TrimmedBlanks trims) {
  TemplateOptions options;
  options.single = {special({cls}, 0), first_text(), special({sep}, 0)};
  options.pair = {special({cls}, 0), first_text(), special({sep, sep}, 0), second_text(0), special({sep}, 0)};
  return std::make_unique<Template>(std::move(options), trims);
}

PostProcessorPtr make_bert_processing(int32_t cls, int32_t sep) {
  TemplateOptions options;
  options.single = {special({cls}, 0), first_text(), special({sep}, 0)};
  options.pair = {special({cls}, 0), first_text(), special({sep}, 0), second_text(1), special({sep}, 1)};
  return std::make_unique<Template>(std::move(options), TrimmedBlanks::none);
}

PostProcessorPtr make_byte_level_post_processor(TrimmedBlanks trims) { return std::make_unique<Idle>(trims); }

PostProcessorPtr make_post_processor_sequence(std::vector<PostProcessorPtr> parts) {
  TrimmedBlanks trims = TrimmedBlanks::none;
  for (const PostProcessorPtr& part : parts)
    if (trims == TrimmedBlanks::none) trims = part->trims();
  std::erase_if(parts, [](const auto& part) { return !part->adds_tokens(); });
  return std::make_unique<PostProcessorSequence>(std::move(parts), trims);
}

}  // namespace lapilli
