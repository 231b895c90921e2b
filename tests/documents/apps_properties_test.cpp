// A thousand random files of each kind of app texts: all but the words comes out as it went in, and a reader of these
// tests finds each text at its key with its placeholders.
#include <gtest/gtest.h>

#include "random_apps.hpp"

namespace lapilli::documents {
namespace {

constexpr unsigned kAppFiles = 1000;

class AppFiles : public testing::TestWithParam<Kind> {
 protected:
  static Options options() {
    Options options;
    if (GetParam() == Kind::xcstrings) options.target_language = "fr";
    return options;
  }
};

TEST_P(AppFiles, TheSameWordsGiveTheSameBytes) {
  for (unsigned seed = 0; seed < kAppFiles; ++seed) {
    Chance chance(seed);
    const AppFile file = random_app_file(GetParam(), chance);
    const auto document = Document::parse(GetParam(), file.bytes, options());
    ASSERT_TRUE(document.ok()) << document.error().message << "\n" << file.bytes;
    std::vector<Translation> same;
    for (const Segment& s : document->segments()) same.push_back({s.text, {}});
    const auto out = document->render(same);
    ASSERT_TRUE(out.ok());
    if (GetParam() == Kind::xcstrings) {
      ASSERT_EQ(read_app_file(GetParam(), *out), file.entries) << "seed " << seed << "\n" << *out;
    } else {
      ASSERT_EQ(*out, file.bytes) << "seed " << seed;
    }
  }
}

TEST_P(AppFiles, OtherWordsLeaveKeysAndPlaceholders) {
  for (unsigned seed = 0; seed < kAppFiles; ++seed) {
    Chance chance(seed);
    const AppFile file = random_app_file(GetParam(), chance);
    const auto document = Document::parse(GetParam(), file.bytes, options());
    ASSERT_TRUE(document.ok()) << document.error().message << "\n" << file.bytes;
    std::vector<Translation> other;
    for (const Segment& s : document->segments()) other.push_back(app_translation(s, chance));
    const auto out = document->render(other);
    ASSERT_TRUE(out.ok());
    const auto entries = read_app_file(GetParam(), *out);
    ASSERT_EQ(entries.size(), file.entries.size()) << "seed " << seed << "\n"
                                                   << file.bytes << "\n=====\n"
                                                   << *out << "\n"
                                                   << (entries.empty() ? "" : entries[0].first + entries[0].second);
    for (size_t i = 0; i < entries.size(); ++i) {
      ASSERT_EQ(entries[i].first, file.entries[i].first) << entries[i].second << "\nseed " << seed << "\n" << *out;
      ASSERT_EQ(app_marks(entries[i].second), app_marks(file.entries[i].second)) << "seed " << seed << "\n"
                                                                                 << file.entries[i].second << "\n"
                                                                                 << entries[i].second << "\n"
                                                                                 << *out;
      EXPECT_NE(entries[i].second, file.entries[i].second);
    }
  }
}

TEST_P(AppFiles, DamagedFilesComeOutAsTheyWentInOrAreRefused) {
  size_t read = 0;
  for (unsigned seed = 0; seed < kAppFiles; ++seed) {
    Chance chance(seed);
    const std::string bytes = damaged(random_app_file(GetParam(), chance).bytes, chance);
    const auto document = Document::parse(GetParam(), bytes, options());
    if (!document) {
      ASSERT_TRUE(document.error().code == ErrorCode::invalid_data || document.error().code == ErrorCode::unsupported);
      continue;
    }
    ++read;
    std::vector<Translation> same, other, failed;
    for (const Segment& s : document->segments()) {
      same.push_back({s.text, {}});
      other.push_back(app_translation(s, chance));
      failed.push_back({"", {}, true});
    }
    const auto out = document->render(same);
    ASSERT_TRUE(out.ok() && document->render(other).ok() && document->render(failed).ok());
    if (GetParam() == Kind::xcstrings) continue;
    ASSERT_EQ(*out, bytes) << "seed " << seed;
  }
  EXPECT_GT(read, kAppFiles / 20);
}

INSTANTIATE_TEST_SUITE_P(EachKind, AppFiles,
                         testing::Values(Kind::json, Kind::yaml, Kind::properties, Kind::strings, Kind::stringsdict,
                                         Kind::xcstrings, Kind::android),
                         [](const auto& test) { return std::string(kind_name(test.param)); });

}  // namespace
}  // namespace lapilli::documents
