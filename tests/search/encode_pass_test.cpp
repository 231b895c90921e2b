// Encode passes: what the host writes for them, and that a sentence's keys and values do not depend on its company.
#include "search/encode_pass.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "support/fixtures.hpp"
#include "support/network_rig.hpp"

namespace lapilli {
namespace {

using testing::ElementsAre;
using testing_support::random_sources;

std::vector<PassSource> sources_of(const std::vector<std::vector<int32_t>>& ids) {
  std::vector<PassSource> sources;
  for (uint32_t i = 0; i < ids.size(); ++i) sources.push_back({ids[i], i});
  return sources;
}

std::span<const uint32_t> entry(const EncodePass& pass, size_t i) {
  return std::span(pass.spans).subspan(i * state::SPAN_STRIDE, state::SPAN_STRIDE);
}

TEST(EncodePass, SourcesFollowOneAnother) {
  const std::vector<int32_t> a{1, 2, 3, 4, 5}, b{6}, c{7, 8, 9, 10};
  const std::vector<uint32_t> seen{3, 0, 3};
  const std::vector<PassSource> sources{{a, 9}, {b, 0, {}}, {c, 4, seen}};
  const EncodePass pass = pack_pass(sources, {true, 6});
  EXPECT_EQ(pass.rows, 10u);
  EXPECT_EQ(pass.tiles, 4u);
  EXPECT_THAT(pass.source_ids, ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  EXPECT_THAT(entry(pass, 0), ElementsAre(0, 0, 5, 9));
  EXPECT_THAT(entry(pass, 1), ElementsAre(5, 2, 1, 0));
  EXPECT_THAT(entry(pass, 2), ElementsAre(6, 3, 4, 4));
  EXPECT_THAT(entry(pass, 3), ElementsAre(10, 4, 0, 0));
  EXPECT_THAT(entry(pass, state::MAX_ROWS - 1), ElementsAre(10, 4, 0, 0));
  // A list a sentence: count, rows of the pass in order.
  EXPECT_THAT(pass.globals, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 6, 9, 0, 0, 0, 0));
  EXPECT_TRUE(pack_pass(sources, {}).globals.empty());
}

TEST(EncodePass, TypesFollowTheirIds) {
  const std::vector<int32_t> a{1, 2, 3}, b{4}, c{5, 6};
  const std::vector<uint32_t> pair{0, 1, 1}, other{2, 0};
  std::vector<PassSource> sources{{a, 0}, {b, 1}, {c, 2}};
  sources[0].types = pair;
  sources[2].types = other;
  PassOptions options;
  EXPECT_TRUE(pack_pass(sources, options).source_types.empty());
  options.types = true;
  EXPECT_THAT(pack_pass(sources, options).source_types, ElementsAre(0, 1, 1, 0, 2, 0));
}

// A model with windows but without global positions: an empty list each.
TEST(EncodePass, ListsOfNothing) {
  const std::vector<int32_t> a{1, 2, 3}, b{4};
  const std::vector<PassSource> sources{{a, 0}, {b, 1}};
  EXPECT_THAT(pack_pass(sources, {true, 0}).globals, ElementsAre(0, 0));
}

// Five sources of 33 ids were eight of 64 with padding.
TEST(EncodePass, HasNoPadding) {
  LAPILLI_ASSERT_VALUE(const auto loaded, testing_support::make_network("tiny"));
  const auto ids = random_sources({33, 33, 33, 33, 33}, 256, 1);
  const EncodePass pass = pack_pass(sources_of(ids), {});
  EXPECT_EQ(pass.rows, 165u);
  EXPECT_EQ(pass.tiles, 45u);
  WorkspaceKey key = plain_key(8, 1, 64, 16);
  key.encode_rows = 256;
  LAPILLI_ASSERT_VALUE(const auto plan, compile(encode_graph(loaded.network, key), Capabilities{}));
  const auto words = encode_grid_words(*plan, pass);
  const auto groups = [&](const PlannedDispatch& d) {
    const uint32_t* w = &words[static_cast<uint64_t>(d.grid) * state::GRID_STRIDE + state::GRID_ARGUMENTS];
    return uint64_t{w[0]} * w[1] * w[2];
  };
  std::array<uint32_t, 2> counted{};
  for (const PlannedDispatch& d : plan->dispatches) {
    ASSERT_GE(d.grid, 0) << plan->graph.node(d.node).label << " runs for all 256 rows";
    const GridSpec& spec = plan->grids[static_cast<size_t>(d.grid)];
    const uint64_t live = spec.follows == Follows::tiles ? 45 : 165;
    EXPECT_EQ(groups(d), spec.groups_per_tile * div_up<uint64_t>(live, spec.rows_per_tile));
    ++counted[static_cast<size_t>(spec.follows)];
  }
  EXPECT_EQ(counted[1], loaded.network.config.encoder.layers);
  EXPECT_GT(counted[0], 6 * counted[1]);
}

// A session with one encode plan, for passes one after another.
struct Encoder {
  std::shared_ptr<vulkan::Device> device;
  testing_support::LoadedNetwork loaded;
  WorkspaceKey key;
  std::shared_ptr<const Plan> plan;
  std::shared_ptr<const Weights> weights;
  std::unique_ptr<Session> session;
  std::unique_ptr<BoundPlan> bound;

  static Result<std::unique_ptr<Encoder>> create(const std::string& shape, const std::string& mask) {
    auto e = std::make_unique<Encoder>();
    vulkan::DeviceOptions options;
    options.mask = mask;
    LAPILLI_TRY(e->device, vulkan::Device::create(options));
    LAPILLI_TRY(e->loaded, testing_support::make_network(shape));
    e->key = plain_key(4, 1, 56, 8);
    e->key.encode_rows = 64;
    LAPILLI_TRY(e->plan, compile(encode_graph(e->loaded.network, e->key), e->device->caps()));
    LAPILLI_TRY(const auto sources, weight_sources(e->loaded.network));
    LAPILLI_TRY(e->weights, Weights::load(e->device, sources));
    LAPILLI_TRY(e->session, Session::create(e->device));
    e->session->require(*e->plan);
    LAPILLI_CHECK(e->session->allocate());
    const MemoryMap memory = e->session->memory([w = e->weights](graph::Space, uint32_t id) { return w->find(id); });
    LAPILLI_TRY(auto bound, BoundPlan::bind(e->device, e->plan, memory));
    e->bound = std::make_unique<BoundPlan>(std::move(bound));
    return e;
  }

  // Nothing is in flight.
  Status write(const EncodePass& pass) {
    LAPILLI_CHECK(session->write(StateKind::source_ids, pass.source_ids));
    LAPILLI_CHECK(session->write(StateKind::spans, pass.spans));
    if (!pass.globals.empty()) LAPILLI_CHECK(session->write(StateKind::globals, pass.globals));
    return session->write(StateKind::encode_grids, encode_grid_words(*plan, pass));
  }

  // The last layer's keys and values at a slot after a pass, as bits.
  Result<std::vector<uint32_t>> encode(std::span<const PassSource> sources, const PassSource& of) {
    const auto& c = loaded.network.config;
    const auto pass = pack_pass(sources, {!c.encoder.windows.empty(), key.shape.source_positions});
    LAPILLI_CHECK(write(pass));
    LAPILLI_CHECK(bound->run());
    const KvShape kv = model::cross_kv_shape(c, key.shape.room());
    const BufferRef state = session->state(StateKind::cross_kv, c.decoder.layers - 1);
    std::vector<uint32_t> all(kv.numbers()), out;
    LAPILLI_CHECK(session->read(state, 0, std::as_writable_bytes(std::span(all))));
    for (uint32_t h = 0; h < kv.heads; ++h) {
      const auto from = all.begin() + static_cast<ptrdiff_t>(kv.number(h, of.slot, 0));
      out.insert(out.end(), from, from + static_cast<ptrdiff_t>(of.ids.size() * 2 * kv.head_dim));
    }
    return out;
  }
};

class DeviceEncodePass : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(DeviceEncodePass, ASentenceHasTheSameBitsAloneAndInCompany) {
  LAPILLI_ASSERT_VALUE(const auto encoder, Encoder::create(GetParam().first, GetParam().second));
  const auto ids = random_sources({33, 5, 1, 18}, encoder->loaded.network.config.source_vocabulary, 3);
  const std::vector<uint32_t> globals{0, 4};
  const PassSource long_one{ids[0], 2, globals}, five{ids[1], 1, globals}, one{ids[2], 0}, other{ids[3], 3};
  for (const PassSource& s : {long_one, five, one}) {
    LAPILLI_ASSERT_VALUE(const auto alone, encoder->encode(std::array{s}, s));
    bool any = false;
    for (const uint32_t w : alone) any = any || w != alone.front();
    EXPECT_TRUE(any);
    LAPILLI_ASSERT_VALUE(const auto first, encoder->encode(std::array{long_one, five, one, other}, s));
    LAPILLI_ASSERT_VALUE(const auto last, encoder->encode(std::array{one, other, five, long_one}, s));
    EXPECT_TRUE(alone == first) << s.ids.size() << " ids";
    EXPECT_TRUE(alone == last) << s.ids.size() << " ids";
  }
}

// Encoding leaves other slots as they are.
TEST_P(DeviceEncodePass, OtherPlacesAreLeftAlone) {
  LAPILLI_ASSERT_VALUE(const auto encoder, Encoder::create(GetParam().first, GetParam().second));
  const auto ids = random_sources({33, 5, 30}, encoder->loaded.network.config.source_vocabulary, 4);
  const PassSource kept{ids[0], 2}, another{ids[1], 1}, third{ids[2], 3};
  LAPILLI_ASSERT_VALUE(const auto before, encoder->encode(std::array{kept}, kept));
  LAPILLI_ASSERT_VALUE(const auto after, encoder->encode(std::array{third, another}, kept));
  EXPECT_TRUE(before == after);
}

INSTANTIATE_TEST_SUITE_P(Masks, DeviceEncodePass,
                         testing::Values(std::pair{"tiny", "full"}, std::pair{"tiny", "floor"},
                                         std::pair{"tiny", "floor,no-indirect"}, std::pair{"tiny", "gpu"},
                                         std::pair{"tiny", "small-bindings,small-work"}, std::pair{"data/led", "full"},
                                         std::pair{"data/led", "small-work"}, std::pair{"data/t5-v1_1", "full"}));

}  // namespace
}  // namespace lapilli
