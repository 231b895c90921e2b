#include "cli/run/statistics.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "cli/arguments/dtype.hpp"

namespace lapilli::cli {

namespace {

unsigned long long n(uint64_t value) { return value; }

void print_json(const lapilli_stats& s, const lapilli_model_info& model, double load_ms, double per_token,
                double per_step) {
  std::fprintf(stderr,
               "{\"load_ms\":%.3f,\"encode_ms\":%.3f,\"decode_ms\":%.3f,\"total_ms\":%.3f,\"ms_per_token\":%.4f,"
               "\"ms_per_step\":%.4f,\"batches\":%u,\"source_tokens\":%llu,\"generated_tokens\":%llu,"
               "\"decoder_steps\":%llu,\"submissions\":%llu,\"pipelines\":%llu,\"device_bytes_peak\":%llu,"
               "\"host_bytes_peak\":%llu,\"self_test_cases\":%llu,\"pipeline_cache_bytes\":%llu,"
               "\"tuned_nodes\":%llu,\"prompt_rows\":%llu,\"saved_prompt_rows\":%llu,"
               "\"dtype\":\"%s\",\"weight_bytes\":%llu,\"fp32_matrices\":%u,\"kv_dtype\":\"%s\"}\n",
               load_ms, s.encode_ms, s.decode_ms, s.total_ms, per_token, per_step, s.batches, n(s.source_tokens),
               n(s.generated_tokens), n(s.decoder_steps), n(s.submissions), n(s.pipelines), n(s.device_bytes_peak),
               n(s.host_bytes_peak), n(s.self_test_cases), n(s.pipeline_cache_bytes), n(s.tuned_nodes),
               n(s.prompt_rows), n(s.saved_prompt_rows), name_of(static_cast<Dtype>(model.dtype)),
               n(model.weight_bytes), model.fp32_matrices, name_of(static_cast<Dtype>(model.kv_dtype)));
}

void print_table(const lapilli_stats& s, const lapilli_model_info& model, double load_ms, double per_token,
                 double per_step) {
  constexpr double kMiB = 1 << 20;
  std::fprintf(stderr,
               "load       %10.1f ms\n"
               "encode     %10.1f ms for %llu source tokens in %u batches\n"
               "decode     %10.1f ms for %llu tokens in %llu steps and %llu submissions\n"
               "per token  %10.3f ms, per step %.3f ms\n"
               "other      %10.1f ms: plans, pipelines, tokenizer\n"
               "total      %10.1f ms without loading\n"
               "pipelines  %10llu made, with %llu bytes that were kept; %llu cases of the self-test\n",
               load_ms, s.encode_ms, n(s.source_tokens), s.batches, s.decode_ms, n(s.generated_tokens),
               n(s.decoder_steps), n(s.submissions), per_token, per_step, s.total_ms - s.encode_ms - s.decode_ms,
               s.total_ms, n(s.pipelines), n(s.pipeline_cache_bytes), n(s.self_test_cases));
  if (s.tuned_nodes)
    std::fprintf(stderr, "tuned      %10llu nodes of a step and an encode pass run as lapilli tune found\n",
                 n(s.tuned_nodes));
  if (s.prompt_rows + s.saved_prompt_rows)
    std::fprintf(stderr, "prompts    %10llu positions computed, %llu kept from prompts before\n", n(s.prompt_rows),
                 n(s.saved_prompt_rows));
  std::fprintf(stderr,
               "memory     %10.1f MiB of the device at most, %.1f MiB of the program\n"
               "weights    %10.1f MiB in %s",
               static_cast<double>(s.device_bytes_peak) / kMiB, static_cast<double>(s.host_bytes_peak) / kMiB,
               static_cast<double>(model.weight_bytes) / kMiB, name_of(static_cast<Dtype>(model.dtype)));
  if (model.dtype != LAPILLI_DTYPE_FP32 && model.fp32_matrices)
    std::fprintf(stderr, ", %u matrices kept in fp32", model.fp32_matrices);
  std::fprintf(stderr, "; keys and values in %s\n", name_of(static_cast<Dtype>(model.kv_dtype)));
}

}  // namespace

void Statistics::add(const lapilli_stats& stats) {
  lapilli_stats sum = stats;
  sum.batches += sum_.batches;
  sum.encode_ms += sum_.encode_ms;
  sum.decode_ms += sum_.decode_ms;
  sum.total_ms += sum_.total_ms;
  sum.source_tokens += sum_.source_tokens;
  sum.generated_tokens += sum_.generated_tokens;
  sum.decoder_steps += sum_.decoder_steps;
  sum.submissions += sum_.submissions;
  sum.prompt_rows += sum_.prompt_rows;
  sum.saved_prompt_rows += sum_.saved_prompt_rows;
  sum.tuned_nodes = std::max(sum.tuned_nodes, sum_.tuned_nodes);
  sum_ = sum;
}

void Statistics::print(const lapilli_model_info& model, bool json) const {
  const lapilli_stats& s = sum_;
  const double per_token = s.generated_tokens ? s.decode_ms / static_cast<double>(s.generated_tokens) : 0;
  const double per_step = s.decoder_steps ? s.decode_ms / static_cast<double>(s.decoder_steps) : 0;
  (json ? print_json : print_table)(s, model, s.load_ms == 0 ? model.load_ms : s.load_ms, per_token, per_step);
}

}  // namespace lapilli::cli
