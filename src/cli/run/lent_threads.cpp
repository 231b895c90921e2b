#include "cli/run/lent_threads.hpp"

#include <algorithm>
#include <atomic>
#include <system_error>
#include <thread>
#include <vector>

namespace lapilli::cli {

namespace {

constexpr uint32_t kMostThreads = 8;

void run_on_threads(void*, uint32_t count, lapilli_task_function task, void* context) {
  std::atomic<uint32_t> next{0};
  const auto work = [&] {
    for (uint32_t i = next++; i < count; i = next++) task(context, i);
  };
  std::vector<std::thread> threads;
  const uint32_t most = std::min({count, kMostThreads, std::max(std::thread::hardware_concurrency(), 1u)});
  try {
    while (threads.size() + 1 < most) threads.emplace_back(work);
  } catch (const std::system_error&) {  // the threads that exist, and this one, do the work
  }
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

lapilli_workers lent_threads() {
  lapilli_workers workers = lapilli_default_workers();
  workers.run = &run_on_threads;
  return workers;
}

}  // namespace lapilli::cli
