// evaluate [CORPUS_DIR]: translates a test set and holds BLEU, ids and scores against what the reference implementation
// reached. Exit codes: 0 all agrees, 1 something does not, 2 it could not run, 77 the corpus is not here (skipped).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "evaluation/bleu.hpp"
#include "evaluation/chrf.hpp"
#include "evaluation/corpus.hpp"
#include "evaluation/layers.hpp"
#include "evaluation/score.hpp"
#include "evaluation/unsure.hpp"
#include "formats/hf_config.hpp"
#include "generate/translate.hpp"
#include "ops/core/tuning.hpp"

namespace lapilli::evaluation {
namespace {

// The BLEU that weights in a format may cost, fp32 first.
double bleu_tolerance(WeightFormat format) {
  constexpr double kTolerances[] = {0.1, 0.3, 0.1, 0.3, 1.0};
  return kTolerances[static_cast<uint32_t>(format)];
}
constexpr double kLeastAgreement = 0.995;
constexpr double kScoreTolerance = 1e-3;
constexpr int kSkipped = 77;

struct Options {
  std::string corpus, output, model = LAPILLI_SOURCE_DIR "/models/en-fr";
  std::string dtype = "fp32", kv_dtype = "fp32";
  vulkan::DeviceOptions device;
  uint32_t beams = 4, batch = 0, steps = 0;
  uint64_t limit = 0, window = 0;
  bool layers = false;
  std::vector<double> unsure;
  std::string matrices;
};

std::string corpus_directory(const Options& options) {
  if (!options.corpus.empty()) return options.corpus;
  const char* named = std::getenv("LAPILLI_CORPUS");
  return named ? named : "";
}

std::string ids_text(const std::vector<int32_t>& ids) {
  std::string text;
  for (const int32_t id : ids) text += (text.empty() ? "" : " ") + std::to_string(id);
  return text;
}

// Wall clock and the processor time of all threads, a CPU driver's among them.
class Stopwatch {
 public:
  [[nodiscard]] double wall() const { return std::chrono::duration<double>(Clock::now() - wall_).count(); }
  [[nodiscard]] double cpu() const { return static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point wall_ = Clock::now();
  std::clock_t cpu_ = std::clock();
};

class Evaluation {
 public:
  explicit Evaluation(Options options) : options_(std::move(options)) {}

  // True if everything agrees.
  Result<bool> run() {
    const std::string search = options_.beams == 1 ? "greedy" : "beam" + std::to_string(options_.beams);
    LAPILLI_TRY(auto lines, read_corpus(corpus_directory(options_), search));
    const size_t all = lines.size();
    lines_ = sample(std::move(lines), options_.limit);
    LAPILLI_TRY(auto device, vulkan::Device::create(options_.device));
    LoadOptions load;
    LAPILLI_TRY(load.format, parse_format(options_.dtype));
    LAPILLI_TRY(load.kv_format, parse_kv_format(options_.kv_dtype));
    LAPILLI_TRY(model_, Model::load(std::move(device), options_.model, load));
    LAPILLI_CHECK(translate_lines());
    LAPILLI_CHECK(write_output());
    LAPILLI_CHECK(check_ids());
    LAPILLI_CHECK(check_bleu(search, lines_.size() == all));
    judge_unsure();
    std::printf("%s: %zu lines, %s, %zu problems\n", search.c_str(), lines_.size(), agreement_.c_str(), problems_);
    return problems_ == 0;
  }

 private:
  void problem(const std::string& what) {
    ++problems_;
    std::printf("PROBLEM: %s\n", what.c_str());
  }

  Status translate_lines() {
    const size_t window = options_.window != 0 ? options_.window : lines_.size();
    const Stopwatch watch;
    TranslateStats sum;
    for (size_t first = 0; first < lines_.size(); first += window)
      LAPILLI_CHECK(translate_window(first, std::min(window, lines_.size() - first), sum));
    const double wall = watch.wall(), cpu = watch.cpu();
    const auto tokens = static_cast<double>(sum.generated_tokens);
    const ModelInfo& info = model_->info();
    std::printf("device: %s; weights: %.1f MiB, %s (%u matrices in fp32); keys and values in %s\n",
                model_->device()->caps().device_name.c_str(), static_cast<double>(info.weight_bytes) / (1 << 20),
                name(info.format), info.fp32_matrices, name(info.kv_format));
    std::printf("%.1f s, %.1f CPU s; %.0f tokens, %.1f a second, %.1f a CPU second\n", wall, cpu, tokens, tokens / wall,
                tokens / cpu);
    std::printf("%u batches, %llu steps; encoding %.1f s, decoding %.1f s\n", sum.batches,
                static_cast<unsigned long long>(sum.decoder_steps), sum.encode_ms / 1000, sum.decode_ms / 1000);
    return {};
  }

  Status translate_window(size_t first, size_t count, TranslateStats& sum) {
    TranslateRequest request;
    for (size_t i = first; i < first + count; ++i) request.inputs.push_back({.text = lines_[i].source});
    request.options.num_beams = options_.beams;
    request.batch = options_.batch;
    request.steps_in_flight = options_.steps;
    LAPILLI_TRY(auto made, translate(model_, request));
    for (size_t i = 0; i < count; ++i) {
      if (auto& status = made.outputs[i].status; !status)
        return std::move(status).error().in("line " + std::to_string(lines_[first + i].number));
      ours_.push_back(std::move(made.outputs[i].sequences.front()));
      texts_.push_back(ours_.back().text);
    }
    sum.batches += made.stats.batches;
    sum.decoder_steps += made.stats.decoder_steps;
    sum.generated_tokens += made.stats.generated_tokens;
    sum.encode_ms += made.stats.encode_ms;
    sum.decode_ms += made.stats.decode_ms;
    return {};
  }

  Status write_output() {
    if (options_.output.empty()) return {};
    std::ofstream file(options_.output, std::ios::binary);
    for (const auto& text : texts_) file << text << '\n';
    file.close();
    if (!file) return fail(ErrorCode::not_found, "%s cannot be written", options_.output.c_str());
    return {};
  }

  // Rounded weights are another network, whose ids and scores are its own: only BLEU says what they are worth. So it is
  // with rounded keys and values.
  [[nodiscard]] bool is_exact() const {
    return model_->info().format == WeightFormat::fp32 && model_->info().kv_format == KvFormat::fp32;
  }

  Status check_ids() {
    size_t same = 0;
    for (size_t i = 0; i < lines_.size(); ++i) {
      if (ours_[i].ids != lines_[i].expected_ids) {
        if (is_exact()) LAPILLI_CHECK(compare_scores(lines_[i], ours_[i]));
        continue;
      }
      ++same;
      if (ours_[i].text != lines_[i].expected_text)
        problem(format("line %llu: same ids, but the text is \"%s\", not \"%s\"",
                       static_cast<unsigned long long>(lines_[i].number), ours_[i].text.c_str(),
                       lines_[i].expected_text.c_str()));
    }
    const double share = static_cast<double>(same) / static_cast<double>(lines_.size());
    agreement_ = format("%zu with the reference's ids (%.2f %%)", same, 100 * share);
    if (is_exact() && share < kLeastAgreement)
      problem(agreement_ + format(", at least %.1f %% are wanted", 100 * kLeastAgreement));
    return {};
  }

  // Where ids differ, the reference's must have been as likely as ours. Greedy search decides id by id: behind the
  // first that differs the two have nothing to do with each other any more, so they are compared up to there.
  Status compare_scores(const Line& line, const TextSequence& ours) {
    LAPILLI_TRY(const auto source, model_->tokenizer()->encode(line.source));
    const std::vector<std::vector<int32_t>> both = {ours.ids, line.expected_ids};
    LAPILLI_TRY(const auto scores, score(model_, source, both));
    const auto number = static_cast<unsigned long long>(line.number);
    std::printf("line %llu differs: %s  [%s]\n", number, line.source.c_str(), ids_text(source).c_str());
    std::printf("  ours      %.6f  %s  [%s]\n", scores[0].total, ours.text.c_str(), ids_text(ours.ids).c_str());
    std::printf("  reference %.6f  %s  [%s]\n", scores[1].total, line.expected_text.c_str(),
                ids_text(line.expected_ids).c_str());
    const double whole = scores[0].total - scores[1].total, decision = difference_where_they_part(scores, both);
    std::printf("  difference %.3g; of the first ids that differ %.3g\n", whole, decision);
    const double difference = options_.beams == 1 ? decision : whole;
    if (!(std::abs(difference) < kScoreTolerance))
      problem(format("line %llu: the scores differ by %.3g", number, difference));
    return {};
  }

  // The difference of the log-probabilities of the first ids that differ; infinite if one hypothesis begins with the
  // other, which then has an end token inside.
  static double difference_where_they_part(const std::vector<Score>& scores,
                                           const std::vector<std::vector<int32_t>>& ids) {
    for (size_t i = 0; i < std::min(ids[0].size(), ids[1].size()); ++i)
      if (ids[0][i] != ids[1][i]) return scores[0].log_probabilities[i] - scores[1].log_probabilities[i];
    return INFINITY;
  }

  Status check_bleu(const std::string& search, bool whole) {
    std::vector<std::vector<std::string>> references;
    std::vector<std::string> expected;
    for (const Line& line : lines_) {
      references.push_back(line.references);
      expected.push_back(line.expected_text);
    }
    const double ours = bleu(texts_, references), theirs = bleu(expected, references);
    std::printf("BLEU %.2f; the reference's translations of these lines reach %.2f\n", ours, theirs);
    const double tolerance = bleu_tolerance(model_->info().format);
    if (!(std::abs(ours - theirs) <= tolerance)) problem(format("BLEU is off by more than %.1f", tolerance));
    if (!whole) return {};
    const std::string path = options_.model + "/evaluation.json";
    LAPILLI_TRY(const auto json, read_json_file(path));
    const auto published = json.find("bleu_" + search);
    if (published == json.end() || !published->is_number())
      return fail(ErrorCode::invalid_data, "%s: no number bleu_%s", path.c_str(), search.c_str());
    const double value = published->get<double>();
    std::printf("evaluation.json says %.2f\n", value);
    if (!(std::abs(ours - value) <= tolerance))
      problem(format("BLEU is off evaluation.json by more than %.1f", tolerance));
    return {};
  }

  void judge_unsure() const {
    if (options_.unsure.empty()) return;
    std::vector<Judged> judged;
    for (size_t i = 0; i < lines_.size(); ++i)
      judged.push_back({mean_of(ours_[i].token_scores), best_chrf(texts_[i], lines_[i].references)});
    for (const double below : options_.unsure) std::printf("%s\n", text_of(separate(judged, below), below).c_str());
  }

  static double mean_of(const std::vector<float>& scores) {
    double sum = 0;
    for (const float score : scores) sum += static_cast<double>(score);
    return scores.empty() ? 0 : sum / static_cast<double>(scores.size());
  }

  Options options_;
  std::vector<Line> lines_;
  std::shared_ptr<Model> model_;
  std::vector<TextSequence> ours_;
  std::vector<std::string> texts_;
  std::string agreement_;
  size_t problems_ = 0;
};

// Each matrix in the format alone, and all but it. Needs no corpus: the model's own recorded sentences do.
Result<bool> run_layers(const Options& options) {
  LossRequest request;
  request.model = options.model;
  request.matrices = options.matrices;
  LAPILLI_TRY(const auto format, parse_format(options.dtype));
  LAPILLI_TRY(const auto device, vulkan::Device::create(options.device));
  request.format = format.value_or(default_format(device->caps()));
  LAPILLI_TRY(request.sentences, recorded_sentences(options.model));
  if (options.limit > 0 && options.limit < request.sentences.size()) request.sentences.resize(options.limit);
  LAPILLI_TRY(const auto losses, measure_losses(device, request));
  std::printf("%s: mean KL of the logits from those in fp32, over %llu positions of %zu sentences\n",
              name(request.format), static_cast<unsigned long long>(losses.positions), request.sentences.size());
  std::printf("%-50s %10s %12s\n", "", "it alone", "all but it");
  for (const MatrixLoss& m : losses.matrices) std::printf("%-50s %10.2e %12.2e\n", m.name.c_str(), m.alone, m.without);
  std::printf("%-50s %10s %12.2e\n", "all", "", losses.all);
  const auto bad = bad_layers(losses, request.format);
  for (const auto& matrix : bad)
    std::printf("PROBLEM: %s alone costs more than %.0e\n", matrix.c_str(), most_alone(request.format, matrix));
  return bad.empty();
}

int report(const Result<bool>& agrees) {
  if (agrees) return *agrees ? 0 : 1;
  std::fprintf(stderr, "evaluate: %s\n", agrees.error().message.c_str());
  return 2;
}

int run(Options options) {
  if (options.layers) return report(run_layers(options));
  const std::string corpus = corpus_directory(options);
  if (corpus.empty()) {
    std::printf("SKIP: no corpus; name its directory as argument or in LAPILLI_CORPUS (tests/README.md)\n");
    return kSkipped;
  }
  return report(Evaluation(std::move(options)).run());
}

}  // namespace
}  // namespace lapilli::evaluation

int main(int argc, char** argv) {
  CLI::App app{"Translates a test set and compares BLEU, ids and scores with the reference implementation's."};
  lapilli::evaluation::Options options;
  app.add_option("CORPUS_DIR", options.corpus, "Directory with test.tsv and reference_* (else LAPILLI_CORPUS)");
  app.add_option("--model", options.model, "Model directory")->capture_default_str();
  app.add_option("--beam", options.beams, "Beams; there are references for 1 and 4")->capture_default_str();
  app.add_option("--dtype", options.dtype, "How the device holds the matrices: auto, fp32, bf16, fp16, int8, int4")
      ->capture_default_str();
  app.add_option("--kv-dtype", options.kv_dtype, "How it holds keys and values: fp32, fp16")->capture_default_str();
  app.add_option("--device", options.device.select, "Vulkan device: index, part of the name, or UUID");
  app.add_option("--caps", options.device.mask, "Capability mask: floor, small-bindings, gpu, ...");
  app.add_option("--limit", options.limit, "Only this many lines, spread evenly over the set");
  app.add_option("--batch", options.batch, "Sentences at a time (0: the library's choice)");
  app.add_option("--steps", options.steps, "Decoder steps a submission (0: the library's choice)");
  app.add_option("--window", options.window,
                 "Lines given to the library at a time, sorted by length together (0: all)");
  app.add_flag("--layers", options.layers,
               "Instead: what each matrix costs that is held in --dtype, in mean KL of teacher-forced logits");
  app.add_option("--matrices", options.matrices, "--layers: only those whose names hold this");
  app.add_option("--unsure", options.unsure,
                 "Also: how many wrong lines, and how many right ones, are those of which the model is less sure")
      ->delimiter(',');
  app.add_option("--output", options.output, "Write the translations here, one a line");
  CLI11_PARSE(app, argc, argv);
  return lapilli::evaluation::run(std::move(options));
}
