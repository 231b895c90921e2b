#include "generate/translate.hpp"

#include "generate/translation_task.hpp"

namespace lapilli {

// Multiples of 2^32 divided by the golden ratio are spread out: the first thousand are more than a million apart.
uint32_t draw_number(uint64_t input, uint64_t part) {
  constexpr uint32_t kGolden = 0x9e3779b1;
  return static_cast<uint32_t>(input ^ (input >> 32)) + static_cast<uint32_t>(part) * kGolden;
}

Result<TranslateOutput> translate(const std::shared_ptr<Model>& model, const TranslateRequest& request) {
  LAPILLI_TRY(auto job, TranslationTask::start(model, request));
  LAPILLI_CHECK(job->run(request.progress));
  return job->take();
}

}  // namespace lapilli
