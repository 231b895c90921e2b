#include "generate/encoders/nearest.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "generate/encoders/score_pass.hpp"

namespace lapilli {

namespace {

constexpr uint64_t kBlockBytes = uint64_t{16} << 20;
constexpr uint32_t kMostQueries = 32;  // of a pass: a panel
// Blocks have whole multiples of this many rows, so that small ones share kernels with large ones.
constexpr uint64_t kRowStep = 64;

double dot_product(const float* a, const float* b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += double{a[i]} * b[i];
  return sum;
}

double distance_of(const float* a, const float* b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
  return std::sqrt(sum);
}

// The sum of squares, with a relative error below 1e-6. Sixteen sums of a few numbers each, which compilers vectorize.
double rough_square(const float* values, size_t count) {
  constexpr size_t kSums = 16, kPart = 4 * kSums;
  double total = 0;
  size_t i = 0;
  for (; i + kPart <= count; i += kPart) {
    std::array<float, kSums> sums{};
    for (size_t k = 0; k < kPart; k += kSums)
      for (size_t j = 0; j < kSums; ++j) sums[j] += values[i + k + j] * values[i + k + j];
    for (const float sum : sums) total += sum;
  }
  for (; i < count; ++i) total += double{values[i]} * values[i];
  return total;
}

bool comes_before(const Neighbour& a, const Neighbour& b) {
  return a.score != b.score ? a.score > b.score : a.index < b.index;
}

// The best so far for one query.
class Best {
 public:
  explicit Best(size_t top) : top_(top) {}
  // The score that a vector needs; any will do before there are enough.
  [[nodiscard]] double bar() const {
    return heap_.size() < top_ ? -std::numeric_limits<double>::infinity() : heap_.front().score;
  }
  void offer(const Neighbour& found) {
    if (heap_.size() == top_) {
      if (!comes_before(found, heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end(), comes_before);
      heap_.pop_back();
    }
    heap_.push_back(found);
    std::push_heap(heap_.begin(), heap_.end(), comes_before);
  }
  std::vector<Neighbour> take() {
    std::sort_heap(heap_.begin(), heap_.end(), comes_before);
    return std::move(heap_);
  }

 private:
  size_t top_;
  std::vector<Neighbour> heap_;  // the last in front
};

// One query, and the judgement of products with it.
class Query {
 public:
  Query(const NearestRequest& request, const float* values, size_t top)
      : request_(request),
        values_(values),
        length_(std::sqrt(dot_product(values, values, request.dimensions))),
        best_(top) {}

  // True if a vector of this length may be among the best by the device's product: a sum of 32-bit products in any
  // order is off by no more than `slack_` times both lengths, and by what each product loses when it is tiny.
  [[nodiscard]] bool may_enter(float product, double square, double length) const {
    const double bar = best_.bar();
    if (!std::isfinite(bar) || !std::isfinite(product) || !is_plain(square) || !plain_) return true;
    const double most = double{product} + slack_ * length * length_ + tiny_;
    switch (request_.similarity) {
      case Similarity::cosine: return most >= bar * length * length_;
      case Similarity::dot: return most >= bar;
      case Similarity::euclidean: break;
    }
    return (square + length_ * length_) * (1 - 2e-6) - 2 * most <= bar * bar;
  }

  Status offer(uint64_t index) {
    const double score = score_of(index);
    if (!std::isfinite(score)) return fail(ErrorCode::invalid_data, "vector %u has a number that is not finite", index);
    best_.offer({index, score});
    return {};
  }
  std::vector<Neighbour> take() { return best_.take(); }

 private:
  // Products of vectors whose squares lie outside may overflow in 32 bits, or vanish.
  static bool is_plain(double square) { return square > 1e-30 && square < 1e30; }

  [[nodiscard]] double score_of(uint64_t index) const {
    const size_t n = request_.dimensions;
    const float* vector = request_.vectors.data() + index * n;
    if (request_.similarity == Similarity::euclidean) return -distance_of(vector, values_, n);
    const double product = dot_product(vector, values_, n);
    if (request_.similarity == Similarity::dot) return product;
    const double lengths = std::sqrt(dot_product(vector, vector, n)) * length_;
    if (!std::isfinite(lengths)) return lengths;
    return lengths > 0 ? std::clamp(product / lengths, -1.0, 1.0) : 0;
  }

  const NearestRequest& request_;
  const float* values_;
  double length_;
  bool plain_ = is_plain(length_ * length_);
  double slack_ = std::ldexp(request_.dimensions + 16.0, -23);
  double tiny_ = request_.dimensions * 3e-38;
  Best best_;
};

class NearestRun {
 public:
  NearestRun(std::shared_ptr<vulkan::Device> device, const NearestRequest& request)
      : device_(std::move(device)), request_(request), count_(request.vectors.size() / request.dimensions) {
    const size_t queries = request.queries.size() / request.dimensions;
    for (size_t q = 0; q < queries; ++q)
      queries_.emplace_back(request, request.queries.data() + q * request.dimensions, std::min(request.top, count_));
    total_ = count_ * div_up<uint64_t>(queries, kMostQueries);
  }

  Result<std::vector<std::vector<Neighbour>>> run() {
    for (size_t q = 0; q < queries_.size() && count_ > 0; q += kMostQueries) {
      first_query_ = q;
      LAPILLI_CHECK(make_pass());
      LAPILLI_CHECK(scan());
    }
    std::vector<std::vector<Neighbour>> found;
    for (Query& query : queries_) found.push_back(query.take());
    return found;
  }

 private:
  struct Block {
    size_t begin = 0, end = 0;
    std::vector<double> squares;
    [[nodiscard]] bool busy() const { return end > begin; }
  };

  [[nodiscard]] ScoreShape shape_of(uint64_t rows) const {
    const size_t queries = std::min<size_t>(kMostQueries, queries_.size() - first_query_);
    return {static_cast<uint32_t>(rows), request_.dimensions, static_cast<uint32_t>(queries)};
  }

  // Smaller blocks where memory is short.
  Status make_pass() {
    const uint64_t row_bytes = round_up<uint64_t>(request_.dimensions, 4) * sizeof(float);
    const uint64_t most = std::max(kRowStep, round_down<uint64_t>(kBlockBytes / row_bytes, kRowStep));
    uint64_t rows = std::min(most, round_up<uint64_t>(count_, kRowStep));
    pass_.reset();
    while (true) {
      auto made =
          ScorePass::create(device_, shape_of(rows), request_.queries.subspan(first_query_ * request_.dimensions));
      if (made) return pass_ = std::move(*made), Status();
      if (made.error().code != ErrorCode::out_of_memory || rows == kRowStep) return std::move(made).error();
      rows = std::max(kRowStep, round_down<uint64_t>(rows / 2, kRowStep));
    }
  }

  Status scan() {
    for (size_t begin = 0, lane = 0; begin < count_; begin += pass_->shape().vectors, lane = 1 - lane) {
      LAPILLI_CHECK(finish(lane));
      LAPILLI_CHECK(go_on());
      put(lane, begin);
      LAPILLI_CHECK(pass_->begin(lane));
    }
    for (const size_t lane : in_order()) LAPILLI_CHECK(finish(lane));
    return go_on();
  }

  // The lane that began first is the first.
  [[nodiscard]] std::array<size_t, 2> in_order() const {
    return blocks_[0].begin <= blocks_[1].begin ? std::array<size_t, 2>{0, 1} : std::array<size_t, 2>{1, 0};
  }

  Status go_on() {
    while (!device_->wait_while_paused(vulkan::kPauseRound))
      if (request_.go_on && !request_.go_on(done_, total_)) return fail(ErrorCode::cancelled, "cancelled");
    if (!request_.go_on || request_.go_on(done_, total_)) return {};
    return fail(ErrorCode::cancelled, "cancelled");
  }

  // Measures the block's vectors while they are at hand.
  void put(size_t lane, size_t begin) {
    Block& block = blocks_[lane];
    block.begin = begin;
    block.end = std::min<size_t>(count_, begin + pass_->shape().vectors);
    const size_t n = request_.dimensions;
    block.squares.resize(block.end - begin);
    for (size_t i = 0; i < block.squares.size(); i += ScorePass::kTogether) {
      const size_t count = std::min(ScorePass::kTogether, block.squares.size() - i);
      const auto part = request_.vectors.subspan((begin + i) * n, count * n);
      for (size_t k = 0; k < count; ++k) block.squares[i + k] = rough_square(part.data() + k * n, n);
      pass_->put(lane, i, part);
    }
  }

  Status finish(size_t lane) {
    Block& block = blocks_[lane];
    if (!block.busy()) return {};
    LAPILLI_TRY(const auto scores, pass_->finish(lane));
    for (size_t r = 0; r < block.squares.size(); ++r)
      LAPILLI_CHECK(judge(block.begin + r, block.squares[r], scores.data() + r));
    done_ += block.squares.size();
    block.begin = block.end = 0;
    return {};
  }

  Status judge(uint64_t index, double square, const float* products) {
    const double length = std::sqrt(square);
    for (uint32_t q = 0; q < pass_->shape().queries; ++q) {
      Query& query = queries_[first_query_ + q];
      const float product = products[q * pass_->shape().score_stride()];
      if (query.may_enter(product, square, length)) LAPILLI_CHECK(query.offer(index));
    }
    return {};
  }

  std::shared_ptr<vulkan::Device> device_;
  const NearestRequest& request_;
  size_t count_;
  std::vector<Query> queries_;
  size_t first_query_ = 0;  // of the pass
  std::unique_ptr<ScorePass> pass_;
  std::array<Block, ScorePass::kLanes> blocks_;
  uint64_t done_ = 0, total_ = 0;
};

Status check_request(const NearestRequest& r) {
  constexpr uint32_t kMostDimensions = 65536;
  if (r.dimensions == 0 || r.dimensions > kMostDimensions)
    return fail(ErrorCode::invalid_argument, "vectors have %u dimensions; 1 to %u are possible", r.dimensions,
                kMostDimensions);
  if (r.top == 0) return fail(ErrorCode::invalid_argument, "top is 0");
  for (const float value : r.queries)
    if (!std::isfinite(value)) return fail(ErrorCode::invalid_argument, "a query has a number that is not finite");
  return {};
}

}  // namespace

Result<std::vector<std::vector<Neighbour>>> nearest(const std::shared_ptr<vulkan::Device>& device,
                                                    const NearestRequest& request) {
  LAPILLI_CHECK(check_request(request));
  return NearestRun(device, request).run();
}

}  // namespace lapilli
