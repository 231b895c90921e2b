// The C interface: attention and alignment of results. Device tests use the bundled model.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>

#include "api/last_error.hpp"
#include "lapilli/lapilli.hpp"

namespace {

using lapilli::test::says;

TEST(ApiAttention, NullPointers) {
  size_t parts = 7, count = 7;
  auto* attention = reinterpret_cast<lapilli_attention*>(16);
  const char *json = "x", *svg = "x";
  const uint8_t* png = nullptr;
  lapilli_word_link link{};
  lapilli_attention_map map{};
  lapilli_attention_token token{};
  EXPECT_EQ(lapilli_result_parts(nullptr, 0, 0, &parts), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(parts, 0u);
  EXPECT_EQ(lapilli_attention_run(nullptr, nullptr, 0, 0, 0, &attention), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(attention, nullptr);  // out handles are null after an error
  EXPECT_EQ(lapilli_attention_run(nullptr, nullptr, 0, 0, 0, nullptr), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_attention_get_map(nullptr, 0, &map), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_attention_get_token(nullptr, 0, 0, &token), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_attention_json(nullptr, nullptr, &json), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(json, nullptr);
  EXPECT_EQ(lapilli_attention_svg(nullptr, nullptr, &svg), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(svg, nullptr);
  EXPECT_EQ(lapilli_attention_png(nullptr, nullptr, &png, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(count, 0u);
  count = 7;
  EXPECT_EQ(lapilli_attention_align(nullptr, LAPILLI_ATTENTION_MEAN, &count), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(lapilli_attention_get_link(nullptr, 0, &link), LAPILLI_INVALID_ARGUMENT);
  lapilli_attention_free(nullptr);
}

TEST(ApiDeviceAttention, OfAResult) {
  auto model = lapilli::Model::load(LAPILLI_SOURCE_DIR "/models/en-fr");
  ASSERT_TRUE(model.ok()) << model.error().message();
  lapilli::Options options;
  options.num_beams = options.num_return_sequences = 2;
  auto results = model->translate({"The cat sleeps.", "broken \xff text"}, options);
  ASSERT_TRUE(results.ok()) << results.error().message();
  size_t parts = 0;
  EXPECT_EQ(lapilli_result_parts(results->handle(), 0, 0, &parts), LAPILLI_OK);
  EXPECT_EQ(parts, 1u);
  EXPECT_EQ(lapilli_result_parts(results->handle(), 0, 2, &parts), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_result_parts(results->handle(), 1, 0, &parts), LAPILLI_INVALID_ARGUMENT);  // that input failed

  auto attention = lapilli::Attention::run(*model, *results, 0, 1);
  ASSERT_TRUE(attention.ok()) << attention.error().message();
  const auto& ids = (*results)[0].sequences[1].ids;
  auto map = attention->map();
  ASSERT_TRUE(map.ok());
  EXPECT_EQ(map->rows, ids.size() + 1);  // the start token
  double sum = 0;
  for (uint32_t c = 0; c < map->columns; ++c) sum += static_cast<double>(map->values[c]);
  EXPECT_NEAR(sum, 1, 1e-5);
  for (size_t i = 0; i < ids.size(); ++i) {
    auto token = attention->token(true, i + 1);
    ASSERT_TRUE(token.ok());
    EXPECT_EQ(token->id, ids[i]);
  }
  auto cat = attention->token(false, 1);
  ASSERT_TRUE(cat.ok());
  EXPECT_STREQ(cat->label, "cat");
  EXPECT_EQ(cat->begin, 4u);
  EXPECT_EQ(cat->end, 7u);
  EXPECT_FALSE(attention->token(false, 99).ok());
  EXPECT_FALSE(attention->map(static_cast<lapilli::AttentionKind>(3)).ok());

  auto links = attention->align();
  ASSERT_TRUE(links.ok()) << links.error().message();
  EXPECT_GE(links->size(), 3u);
  EXPECT_NE(attention->json({lapilli::AttentionKind::decoder, 0, LAPILLI_ATTENTION_ALL}).value().find("\"decoder\""),
            std::string::npos);
  EXPECT_GT(attention->png().value().size(), 1000u);
  EXPECT_NE(attention->svg().value().find(">chat</text>"), std::string::npos);
  EXPECT_FALSE(attention->svg({lapilli::AttentionKind::cross, 0, LAPILLI_ATTENTION_ALL}).ok());
  EXPECT_FALSE(attention->png({lapilli::AttentionKind::cross, LAPILLI_ATTENTION_ALL, 0}).ok());
  EXPECT_TRUE(says("JSON")) << lapilli_last_error();

  lapilli_attention_choice choice{};
  const char* json = nullptr;
  lapilli_attention* raw = nullptr;
  ASSERT_EQ(lapilli_attention_run(model->handle(), results->handle(), 0, 0, 0, &raw), LAPILLI_OK);
  const std::unique_ptr<lapilli_attention, void (*)(lapilli_attention*)> owned(raw, &lapilli_attention_free);
  EXPECT_EQ(lapilli_attention_json(raw, &choice, &json), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("begin with lapilli_default_attention_choice()")) << lapilli_last_error();
  lapilli_word_link link{};
  link.struct_size = sizeof link;
  EXPECT_EQ(lapilli_attention_get_link(raw, 0, &link), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("lapilli_attention_align finds them")) << lapilli_last_error();
  EXPECT_EQ(lapilli_attention_run(model->handle(), results->handle(), 0, 0, 1, &raw), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("part 1 of 1")) << lapilli_last_error();
  EXPECT_EQ(lapilli_attention_run(model->handle(), results->handle(), 5, 0, 0, &raw), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(lapilli_attention_run(model->handle(), results->handle(), 1, 0, 0, &raw), LAPILLI_INVALID_ARGUMENT);
  EXPECT_TRUE(says("UTF-8")) << lapilli_last_error();
}

// Words belong to themselves; the model saw nothing of it.
TEST(ApiDeviceAttention, OfWhatWasKept) {
  auto model = lapilli::Model::load(LAPILLI_SOURCE_DIR "/models/en-fr");
  ASSERT_TRUE(model.ok()) << model.error().message();
  const std::string text = "The cat sleeps.\n\n12:30 €\n\nWhat time is it?";
  auto results = model->translate({text});
  ASSERT_TRUE(results.ok()) << results.error().message();
  const auto& best = (*results)[0].sequences[0];
  ASSERT_EQ(best.parts.size(), 3u);
  ASSERT_EQ(best.parts[1].finish, lapilli::Finish::kept);
  auto attention = lapilli::Attention::run(*model, *results, 0, 0, 1);
  ASSERT_TRUE(attention.ok()) << attention.error().message();
  auto links = attention->align();
  ASSERT_TRUE(links.ok()) << links.error().message();
  ASSERT_EQ(links->size(), 4u);
  for (const auto& link : *links) {
    EXPECT_EQ(link.weight, 1);
    EXPECT_EQ(text.substr(link.source_begin, link.source_end - link.source_begin),
              best.text.substr(link.target_begin, link.target_end - link.target_begin));
  }
  EXPECT_EQ((*links)[0].source_begin, text.find("12"));
  const auto refused = [](const auto& result) {
    EXPECT_FALSE(result.ok());
    EXPECT_EQ(result.error().status(), lapilli::Status::invalid_argument);
    EXPECT_TRUE(says("was kept as it is")) << lapilli_last_error();
  };
  refused(attention->map());
  refused(attention->json());
  refused(attention->svg());
  refused(attention->png());
  EXPECT_FALSE(attention->token(false, 0).ok());
}

TEST(ApiDeviceAttention, OfIds) {
  auto model = lapilli::Model::load(LAPILLI_SOURCE_DIR "/models/en-fr");
  ASSERT_TRUE(model.ok()) << model.error().message();
  auto results = model->generate_ids({{463, 30, 16, 975, 23, 0}});
  ASSERT_TRUE(results.ok()) << results.error().message();
  auto attention = lapilli::Attention::run(*model, *results, 0);
  ASSERT_TRUE(attention.ok()) << attention.error().message();
  EXPECT_EQ(attention->token(false, 0)->special, 1);  // no text, so no bytes
  EXPECT_FALSE(attention->align().ok());
  EXPECT_GT(attention->png().value().size(), 1000u);
}

}  // namespace
