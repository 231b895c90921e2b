// The words of a weight that loading has to zero, against the words that its pieces write, one by one.
#include "runtime/weights/padding.hpp"

#include <gtest/gtest.h>

namespace lapilli {
namespace {

WeightPart part(WeightPart::Kind kind, uint64_t rows, uint64_t k) {
  WeightPart p;
  p.kind = kind;
  p.rows = rows;
  p.k = k;
  return p;
}

std::vector<bool> written(const WeightSource& source) {
  std::vector<bool> words(source.words);
  std::fill_n(words.begin(), source.values.size(), true);
  for (const WeightPart& p : source.parts)
    for (uint64_t r = 0; r < p.rows; ++r) {
      const uint64_t column = p.first_column + r / p.group * p.group_stride + r % p.group;
      const bool scaled = p.kind == WeightPart::Kind::matrix && packed::has_scales(source.format);
      for (uint64_t c = 0; scaled && c < p.k; ++c) words[source.layout().scale_word(column, c)] = true;
      for (uint64_t c = 0; c < p.k; ++c)
        words[p.kind == WeightPart::Kind::plain  ? p.destination + r * p.k + c
              : p.kind == WeightPart::Kind::bias ? source.layout().bias_word(column)
                                                 : source.layout().word(column, c)] = true;
    }
  return words;
}

// Every word that nothing writes is in a range, and of the others those alone that share a panel with a missing column.
void expect_padding(const WeightSource& source) {
  const std::vector<bool> words = written(source);
  std::vector<bool> filled(source.words), lacking(source.words);
  uint64_t end = 0;
  for (const auto& [first, last] : padding_of(source)) {
    ASSERT_TRUE(first < last && last <= source.words && (first > end || first == 0)) << first << " to " << last;
    for (uint64_t w = first; w < last; ++w) filled[w] = true;
    end = last;
  }
  const uint64_t panel_words = source.n ? source.layout().panel_words() : 0;
  for (uint64_t begin = 0; source.n && begin < source.layout().bias_begin(); begin += panel_words)
    for (uint64_t w = begin; w < begin + packed::kPanel; ++w)
      if (!words[w]) std::fill_n(lacking.begin() + static_cast<ptrdiff_t>(begin), panel_words, true);
  for (uint64_t w = 0; w < source.words; ++w) ASSERT_EQ(filled[w], !words[w] || lacking[w]) << "word " << w;
}

WeightSource matrix(uint32_t n, uint32_t k) { return {"matrix", WeightLayout(n, k).words(), n, k, {}, {}}; }

TEST(Padding, OfMatrices) {
  for (const uint32_t n : {1, 31, 32, 33, 96, 129})
    for (const uint32_t k : {1, 4, 7, 64}) {
      WeightSource s = matrix(n, k);
      s.parts = {part(WeightPart::Kind::matrix, n, k)};
      expect_padding(s);
      s.parts.push_back(part(WeightPart::Kind::bias, n, 1));
      expect_padding(s);
      for (const WeightFormat format : {WeightFormat::bf16, WeightFormat::int8, WeightFormat::int4}) {
        s.format = format;
        s.words = s.layout().words();
        expect_padding(s);
      }
    }
}

TEST(Padding, OfMatricesOfSeveralParts) {
  // Keys and values by head; then a gate with three columns between it and its value.
  WeightSource kv = matrix(160, 12);
  for (const uint32_t first : {0u, 20u}) {
    kv.parts.push_back(part(WeightPart::Kind::matrix, 80, 12));
    kv.parts.back().first_column = first;
    kv.parts.back().group = 20;
    kv.parts.back().group_stride = 40;
  }
  expect_padding(kv);
  EXPECT_EQ(padding_of(kv),
            (std::vector<WordRange>{{WeightLayout(160, 12).bias_begin(), WeightLayout(160, 12).words()}}));
  WeightSource gate = matrix(64 + 61, 8);
  gate.parts = {part(WeightPart::Kind::matrix, 61, 8), part(WeightPart::Kind::matrix, 61, 8),
                part(WeightPart::Kind::bias, 61, 1), part(WeightPart::Kind::bias, 61, 1)};
  gate.parts[1].first_column = gate.parts[3].first_column = 64;
  expect_padding(gate);
}

TEST(Padding, OfVectorsAndValues) {
  WeightSource norm{"norm", 80, 0, 0, {}, {}};
  norm.parts = {part(WeightPart::Kind::plain, 38, 1), part(WeightPart::Kind::plain, 37, 1)};
  norm.parts[0].destination = 40;
  EXPECT_EQ(padding_of(norm), (std::vector<WordRange>{{37, 40}, {78, 80}}));
  expect_padding(norm);
  EXPECT_TRUE(padding_of({"values", 5, 0, 0, {}, {1, 2, 3, 4, 5}}).empty());
  EXPECT_EQ(padding_of({"values", 7, 0, 0, {}, {1, 2, 3, 4, 5}}), (std::vector<WordRange>{{5, 7}}));
}

}  // namespace
}  // namespace lapilli
