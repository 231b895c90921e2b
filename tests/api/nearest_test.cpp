// lapilli_nearest against plain sums, with everything that may be wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "api/last_error.hpp"
#include "lapilli/lapilli.hpp"

namespace lapilli::test {
namespace {

using testing::HasSubstr;
using Values = std::vector<float>;

Values random_values(size_t count, uint32_t seed) {
  Values values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(static_cast<int32_t>(seed) >> 8) / 8388608.0f;
  }
  return values;
}

double plain_score(Similarity similarity, const float* a, const float* b, uint32_t n) {
  double product = 0, aa = 0, bb = 0, distance = 0;
  for (uint32_t i = 0; i < n; ++i) {
    product += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
    distance += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  }
  if (similarity == Similarity::dot) return product;
  if (similarity == Similarity::euclidean) return -std::sqrt(distance);
  return aa > 0 && bb > 0 ? product / (std::sqrt(aa) * std::sqrt(bb)) : 0;
}

struct Search {
  Values vectors, queries;
  uint32_t dimensions;
  [[nodiscard]] lapilli_vectors searched() const {
    return lapilli_vectors_of(vectors.data(), vectors.size() / dimensions, dimensions);
  }
  [[nodiscard]] lapilli_vectors asked() const {
    return lapilli_vectors_of(queries.data(), queries.size() / dimensions, dimensions);
  }
};

std::vector<Neighbour> plain_nearest(const Search& search, size_t query, const NearestOptions& options) {
  std::vector<Neighbour> all;
  const float* asked = search.queries.data() + query * search.dimensions;
  for (size_t i = 0; i < search.searched().count; ++i)
    all.push_back(
        {i, plain_score(options.similarity, search.vectors.data() + i * search.dimensions, asked, search.dimensions)});
  std::stable_sort(all.begin(), all.end(), [](auto& a, auto& b) { return a.score > b.score; });
  all.resize(std::min(all.size(), options.top));
  return all;
}

class ApiDeviceNearest : public testing::Test {
 protected:
  static void SetUpTestSuite() { device_ = Device::open().value(); }
  static void TearDownTestSuite() { device_ = {}; }
  static void expect_plain(const Device& device, const Search& search, const NearestOptions& options) {
    const auto found = device.nearest(search.searched(), search.asked(), options);
    ASSERT_TRUE(found) << found.error().message();
    ASSERT_EQ(found->size(), search.asked().count);
    for (size_t q = 0; q < found->size(); ++q) {
      const auto wanted = plain_nearest(search, q, options);
      ASSERT_EQ((*found)[q].size(), wanted.size());
      for (size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ((*found)[q][i].index, wanted[i].index) << "query " << q << ", place " << i;
        ASSERT_NEAR((*found)[q][i].score, wanted[i].score, 1e-12 * (1 + std::abs(wanted[i].score)));
      }
    }
  }
  static Device device_;
};
Device ApiDeviceNearest::device_;

TEST_F(ApiDeviceNearest, IsAPlainSearch) {
  for (const auto similarity : {Similarity::cosine, Similarity::dot, Similarity::euclidean}) {
    for (const uint32_t dimensions : {1u, 3u, 32u, 385u}) {
      NearestOptions options;
      options.similarity = similarity;
      for (const size_t count : {1u, 63u, 64u, 65u, 1000u}) {
        const Search search{random_values(count * dimensions, 1), random_values(3 * dimensions, 2), dimensions};
        expect_plain(device_, search, options);
      }
    }
  }
}

// Several blocks, whose last one is not full, and more queries than a pass has.
TEST_F(ApiDeviceNearest, ManyBlocksAndQueries) {
  NearestOptions options;
  options.top = 100;
  uint64_t done = 0, total = 0;
  options.progress = [&](uint64_t d, uint64_t t) {
    EXPECT_GE(d, done);
    done = d;
    total = t;
    return true;
  };
  const uint32_t dimensions = 1024;
  const Search search{random_values(size_t{10001} * dimensions, 3), random_values(size_t{40} * dimensions, 4),
                      dimensions};
  expect_plain(device_, search, options);
  EXPECT_EQ(total, 2 * 10001u);
  EXPECT_EQ(done, total);
}

// Differences that 32 bits cannot tell, and ties, which keep their order.
TEST_F(ApiDeviceNearest, NeighboursThatAreAlmostAlike) {
  const uint32_t dimensions = 48;
  Search search{{}, random_values(dimensions, 5), dimensions};
  const Values one = random_values(dimensions, 6);
  for (uint32_t i = 0; i < 2000; ++i) {
    Values near = one;
    if (i % 3 != 0) near[i % dimensions] = std::nextafter(near[i % dimensions], i % 2 ? 2.0f : -2.0f);
    search.vectors.insert(search.vectors.end(), near.begin(), near.end());
  }
  for (const auto similarity : {Similarity::cosine, Similarity::dot, Similarity::euclidean}) {
    NearestOptions options;
    options.similarity = similarity;
    options.top = 1500;
    const auto found = device_.nearest(search.searched(), search.asked(), options);
    ASSERT_TRUE(found) << found.error().message();
    const auto wanted = plain_nearest(search, 0, options);
    for (size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR((*found)[0][i].score, wanted[i].score, 1e-14 * (1 + std::abs(wanted[i].score))) << i;
    for (size_t i = 1; i < wanted.size(); ++i) {
      const Neighbour &before = (*found)[0][i - 1], &after = (*found)[0][i];
      ASSERT_TRUE(before.score > after.score || (before.score == after.score && before.index < after.index)) << i;
    }
  }
}

// Numbers whose squares overflow or vanish in 32 bits, and vectors without length.
TEST_F(ApiDeviceNearest, LargeSmallAndNothing) {
  const uint32_t dimensions = 8;
  Search search{random_values(size_t{200} * dimensions, 7), random_values(size_t{4} * dimensions, 8), dimensions};
  const float scales[] = {1e-38f, 1e-25f, 1e-18f, 1, 1e15f, 1e25f, 3e38f, 0};
  for (size_t i = 0; i < search.vectors.size(); ++i) search.vectors[i] *= scales[i / dimensions % 8];
  const float asked[] = {1, 1e-40f, 1e30f, 0};
  for (size_t i = 0; i < search.queries.size(); ++i) search.queries[i] *= asked[i / dimensions];
  for (const auto similarity : {Similarity::cosine, Similarity::dot, Similarity::euclidean}) {
    NearestOptions options;
    options.similarity = similarity;
    options.top = 60;
    expect_plain(device_, search, options);
  }
}

TEST_F(ApiDeviceNearest, TheLeastDeviceFindsTheSame) {
  DeviceOptions least;
  least.caps = "floor";
  const Device device = Device::open(least).value();
  const Search search{random_values(size_t{3000} * 20, 9), random_values(20 * 5, 10), 20};
  expect_plain(device, search, {});
}

TEST_F(ApiDeviceNearest, LittleMemoryMeansSmallBlocks) {
  DeviceOptions small;
  small.memory_limit = uint64_t{1} << 20;
  const Search search{random_values(size_t{9000} * 1024, 11), random_values(1024, 12), 1024};
  uint64_t calls = 0;
  NearestOptions options;
  options.progress = [&](uint64_t, uint64_t) { return ++calls > 0; };
  expect_plain(Device::open(small).value(), search, options);
  EXPECT_GT(calls, 9000u / 128);
  small.memory_limit = 4096;
  const auto none = Device::open(small).value().nearest(search.searched(), search.asked());
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().status(), Status::out_of_memory);
}

TEST_F(ApiDeviceNearest, ThreadsAtOnce) {
  const Search search{random_values(size_t{5000} * 64, 13), random_values(64, 14), 64};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([&] { expect_plain(device_, search, {}); });
  for (std::thread& thread : threads) thread.join();
}

TEST_F(ApiDeviceNearest, NoVectorsAndNoQueries) {
  const Search search{random_values(40, 1), random_values(4, 2), 4};
  const auto none = device_.nearest(lapilli_vectors_of(nullptr, 0, 4), search.asked());
  ASSERT_TRUE(none);
  ASSERT_EQ(none->size(), 1u);
  EXPECT_TRUE(none->front().empty());
  const auto unasked = device_.nearest(search.searched(), lapilli_vectors_of(nullptr, 0, 4));
  ASSERT_TRUE(unasked);
  EXPECT_TRUE(unasked->empty());
}

TEST_F(ApiDeviceNearest, EndsWhenItIsTold) {
  const Search search{random_values(size_t{5000} * 64, 13), random_values(64, 14), 64};
  NearestOptions options;
  options.progress = [](uint64_t, uint64_t) { return false; };
  const auto told = device_.nearest(search.searched(), search.asked(), options);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().status(), Status::cancelled);
  options.progress = nullptr;
  options.cancel_token.emplace();
  options.cancel_token->cancel();
  const auto cancelled = device_.nearest(search.searched(), search.asked(), options);
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().status(), Status::cancelled);
  expect_plain(device_, search, {});
}

TEST_F(ApiDeviceNearest, WhatIsNotFiniteIsNamed) {
  Search search{random_values(400, 1), random_values(4, 2), 4};
  for (const float value : {static_cast<float>(NAN), static_cast<float>(INFINITY), -static_cast<float>(INFINITY)}) {
    search.vectors[4 * 7 + 2] = value;
    for (const auto similarity : {Similarity::cosine, Similarity::dot, Similarity::euclidean}) {
      NearestOptions options;
      options.similarity = similarity;
      options.top = 1;
      const auto found = device_.nearest(search.searched(), search.asked(), options);
      ASSERT_FALSE(found);
      EXPECT_EQ(found.error().status(), Status::invalid_data);
      EXPECT_THAT(found.error().message(), HasSubstr("vector 7"));
    }
  }
  search.vectors[4 * 7 + 2] = 0;
  search.queries[1] = NAN;
  const auto found = device_.nearest(search.searched(), search.asked());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().status(), Status::invalid_argument);
}

TEST_F(ApiDeviceNearest, RefusesWhatCannotBe) {
  const Search search{random_values(40, 1), random_values(4, 2), 4};
  const lapilli_vectors vectors = search.searched(), query = search.asked();
  size_t indices[10];
  double scores[10];
  const auto refused = [&](const lapilli_vectors* v, const lapilli_vectors* q, const lapilli_nearest_options* o) {
    return lapilli_nearest(device_.handle(), v, q, o, indices, scores) == LAPILLI_INVALID_ARGUMENT;
  };
  EXPECT_EQ(lapilli_nearest(nullptr, &vectors, &query, nullptr, indices, scores), LAPILLI_INVALID_ARGUMENT);
  EXPECT_THAT(lapilli_last_error(), HasSubstr("device is null"));
  EXPECT_EQ(lapilli_nearest(device_.handle(), &vectors, &query, nullptr, nullptr, scores), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(refused(nullptr, &query, nullptr));
  EXPECT_TRUE(refused(&vectors, nullptr, nullptr));
  lapilli_vectors wrong = vectors;
  wrong.struct_size = 0;
  EXPECT_TRUE(refused(&wrong, &query, nullptr));
  wrong = vectors;
  wrong.dimensions = 5;
  EXPECT_TRUE(refused(&wrong, &query, nullptr));
  EXPECT_THAT(lapilli_last_error(), HasSubstr("5 dimensions, and queries 4"));
  wrong = lapilli_vectors_of(search.vectors.data(), SIZE_MAX / 2, 4);
  EXPECT_TRUE(refused(&wrong, &query, nullptr));
  wrong = lapilli_vectors_of(nullptr, 3, 4);
  EXPECT_TRUE(refused(&wrong, &query, nullptr));
  for (const uint32_t dimensions : {0u, 65537u}) {
    wrong = lapilli_vectors_of(search.vectors.data(), 0, dimensions);
    EXPECT_TRUE(refused(&wrong, &wrong, nullptr)) << dimensions;
  }
  lapilli_nearest_options options = lapilli_default_nearest_options();
  options.top = 0;
  EXPECT_TRUE(refused(&vectors, &query, &options));
  options.top = 1;
  options.similarity = 3;
  EXPECT_TRUE(refused(&vectors, &query, &options));
  options.similarity = LAPILLI_DOT;
  EXPECT_EQ(lapilli_nearest(device_.handle(), &vectors, &query, &options, indices, nullptr), LAPILLI_OK);
}

}  // namespace
}  // namespace lapilli::test
