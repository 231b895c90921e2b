// Shared by the tests of searches: a device through the counting table, models, requests, and results as comparable
// text.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <set>
#include <string>

#include "generate/generate.hpp"
#include "support/counting_vulkan.hpp"
#include "support/fixtures.hpp"
#include "support/network_rig.hpp"
#include "support/shared_device.hpp"

namespace lapilli::testing_support {

inline std::string marian() { return std::string(LAPILLI_TEST_DATA) + "/models/marian/model"; }

inline Result<std::shared_ptr<vulkan::Device>> counted_device(const std::string& mask = "", double timeout_s = 0) {
  vulkan::DeviceOptions options;
  options.mask = mask;
  options.wait_timeout_s = timeout_s;
  options.max_submit_us = 1'000'000'000;  // what is counted does not depend on how busy the machine is
  options.get_instance_proc_addr = counting::get_instance_proc_addr();
  return vulkan::Device::create(options);
}

// For tests that count nothing.
inline Result<std::shared_ptr<vulkan::Device>> shared_device_with(const std::string& mask) {
  vulkan::DeviceOptions options;
  options.mask = mask;
  return shared_device(options);
}

// Exactly `length` new tokens (if not 0) for sources of these lengths.
inline GenerateRequest request_of(const std::vector<uint32_t>& lengths, uint32_t beams, uint32_t length) {
  GenerateRequest r;
  r.sources = random_sources(lengths, 256, 11);
  r.options.num_beams = r.options.num_return_sequences = beams;
  r.deterministic = true;  // bits are compared, whatever runs beside it
  if (length) r.options.max_new_tokens = r.options.min_new_tokens = length;
  return r;
}

// Ids, beams and the bits of the scores.
inline std::string bits_of(const GenerateOutput& out) {
  std::string text;
  for (const auto& hypotheses : out.hypotheses) {
    for (const auto& h : hypotheses) {
      for (const int32_t id : h.ids) text += std::to_string(id) + " ";
      text += "| ";
      for (const int32_t b : h.beam_indices) text += std::to_string(b) + " ";
      text += format("| %08x\n", std::bit_cast<uint32_t>(h.score));
    }
  }
  return text;
}

inline Result<GenerateOutput> run_search(const std::shared_ptr<Model>& model, const GenerateRequest& request,
                                         const std::function<bool()>& go_on = {}) {
  LAPILLI_TRY(auto search, Search::start(model, request));
  LAPILLI_CHECK(search->run_to_end(go_on));
  return search->take();
}

// Sources of these lengths that end one after the other: the end token is the id that they say at the most different
// times.
inline Result<GenerateRequest> ending_apart(const std::shared_ptr<Model>& model, const std::vector<uint32_t>& lengths,
                                            uint32_t beams) {
  GenerateRequest r = request_of(lengths, beams, 0);
  r.options.num_return_sequences = 1;
  r.options.max_new_tokens = 40;
  r.options.no_repeat_ngram_size = 1;  // a random network would say the same all the time
  r.options.eos_token_id = std::vector<int32_t>{};
  LAPILLI_TRY(const auto free, run_search(model, r));
  size_t most = 0;
  for (int32_t id = 0; id < 256; ++id) {
    std::set<size_t> times;
    for (const auto& h : free.hypotheses) {
      const auto at = std::find(h[0].ids.begin() + 1, h[0].ids.end(), id);
      times.insert(static_cast<size_t>(at - h[0].ids.begin()));
    }
    if (times.size() <= most || *times.rbegin() < 30) continue;
    most = times.size();
    r.options.eos_token_id = std::vector<int32_t>{id};
  }
  return r;
}

}  // namespace lapilli::testing_support
