// The program's cache between runs: real processes, one after the other, side by side, and killed in between.
#include <gmock/gmock.h>

#include <fstream>
#include <memory>
#include <set>
#include <thread>

#include "cli/program.hpp"

namespace lapilli::test {
namespace {

class CliDeviceCache : public testing::Test {
 protected:
  Spawn spawn(std::vector<std::string> arguments) const { return lapilli(std::move(arguments), caches_); }
  struct Result {
    std::string text, err;
    nlohmann::json stats;
  };
  static Result result_of(const Outcome& outcome) {
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const auto lines = lines_of(outcome.err);
    Result result{outcome.out, outcome.err, {}};
    if (!lines.empty()) result.stats = nlohmann::json::parse(lines.back(), nullptr, false);
    EXPECT_TRUE(result.stats.is_object()) << outcome.err;
    return result;
  }
  // With --json the statistics are, too.
  std::vector<std::string> arguments(std::vector<std::string> more = {}) const {
    std::vector<std::string> all = {"translate", "--json", "--stats", "--text", "Where is the station?"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  Result translate(std::vector<std::string> more = {}) const { return result_of(run(spawn(arguments(more)))); }
  static uint64_t number(const Result& result, const char* name) {
    return result.stats.is_object() ? result.stats.value(name, ~uint64_t{0}) : ~uint64_t{0};
  }
  static uint64_t cases(const Result& result) { return number(result, "self_test_cases"); }
  static uint64_t bytes(const Result& result) { return number(result, "pipeline_cache_bytes"); }
  std::vector<std::string> kept() const {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(caches_ + "/devices", none))
      names.push_back(entry.path().filename().string());
    return names;
  }
  bool has(const std::string& start) const {
    for (const std::string& name : kept())
      if (name.starts_with(start) && name.find('.') == name.npos) return true;
    return false;
  }

  TemporaryFolder folder_;
  std::string caches_ = (folder_.path() / "caches").string();
};

TEST_F(CliDeviceCache, ASecondProcessTestsNothing) {
  const Result first = translate();
  EXPECT_GT(cases(first), 0u);
  EXPECT_EQ(bytes(first), 0u);
  EXPECT_TRUE(has("pipelines-") && has("verdicts-") && !has("trial-"));
  const Result second = translate();
  EXPECT_EQ(cases(second), 0u);
  EXPECT_GT(bytes(second), 0u);
  EXPECT_LT(number(second, "pipelines"), number(first, "pipelines"));
  EXPECT_EQ(second.text, first.text);
  EXPECT_FALSE(has("trial-"));
}

TEST_F(CliDeviceCache, IsSwitchedOff) {
  const Result first = translate({"--no-cache"});
  EXPECT_GT(cases(first), 0u);
  EXPECT_FALSE(fs::exists(caches_));
  Spawn by_variable = spawn(arguments());
  by_variable.environment.push_back("LAPILLI_NO_CACHE=1");
  EXPECT_GT(cases(result_of(run(by_variable))), 0u);
  EXPECT_FALSE(fs::exists(caches_));
  translate();
  EXPECT_GT(cases(translate({"--no-cache"})), 0u);
}

TEST_F(CliDeviceCache, AMaskHasItsOwn) {
  translate();
  const Result masked = translate({"--caps", "no-subgroup"});
  EXPECT_GT(cases(masked), 0u);
  EXPECT_EQ(cases(translate({"--caps", "no-subgroup"})), 0u);
  EXPECT_EQ(cases(translate()), 0u);
}

TEST_F(CliDeviceCache, AKilledProcessDropsTheDriversData) {
  const Result first = translate();
  {
    // Opens the device and waits for a line.
    Process process(spawn({"translate", "--file", "-"}));
    for (int i = 0; i < 6000 && !has("trial-"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    process.signal(SIGKILL);
    EXPECT_EQ(process.finish().code, 256 + SIGKILL);
  }
  ASSERT_TRUE(has("trial-"));
  const Result next = translate();
  EXPECT_EQ(next.text, first.text);
  EXPECT_EQ(bytes(next), 0u);
  EXPECT_EQ(cases(next), 0u);
  EXPECT_TRUE(contains(next.err, "an earlier run ended while the driver used the stored pipelines")) << next.err;
  EXPECT_FALSE(has("trial-"));
  const Result after = translate();
  EXPECT_GT(bytes(after), 0u);
  EXPECT_EQ(after.text, first.text);
}

// One that lives is not taken for one that crashed.
TEST_F(CliDeviceCache, TwoProcessesAtOnce) {
  const Result first = translate();
  Process waiting(spawn({"translate", "--file", "-"}));
  for (int i = 0; i < 6000 && !has("trial-"); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_TRUE(has("trial-"));
  const Result beside = translate();
  EXPECT_EQ(beside.text, first.text);
  EXPECT_GT(bytes(beside), 0u);
  EXPECT_EQ(cases(beside), 0u);
  EXPECT_TRUE(has("trial-"));  // the first one's
  const Outcome outcome = waiting.finish("Where is the station?\n");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(contains(first.text, outcome.out.substr(0, outcome.out.find('\n')))) << outcome.out;
  EXPECT_FALSE(has("trial-"));
}

TEST_F(CliDeviceCache, ManyAtOnceFromNothing) {
  std::vector<std::unique_ptr<Process>> all;
  for (int i = 0; i < 3; ++i) all.push_back(std::make_unique<Process>(spawn(arguments())));
  std::set<std::string> texts;
  for (const auto& process : all) texts.insert(result_of(process->finish()).text);
  EXPECT_EQ(texts.size(), 1u);
  EXPECT_EQ(cases(translate()), 0u);
}

TEST_F(CliDeviceCache, WhereNothingCanBeKept) {
  caches_ = folder_.file("file", "") + "/below";
  const Result first = translate();
  EXPECT_GT(cases(first), 0u);
  EXPECT_TRUE(contains(first.err, "cannot be made")) << first.err;
  EXPECT_EQ(translate().text, first.text);
}

TEST_F(CliDeviceCache, DoctorFindsWhatIsDamaged) {
  const auto examine = [&] { return run(spawn({"doctor", "--quick", "--runs", "1", "-q"})); };
  translate();
  const Outcome right = examine();
  EXPECT_EQ(right.code, 0) << right.out;
  EXPECT_THAT(right.out, testing::HasSubstr("verdicts: of an earlier run, right"));
  for (const std::string& name : kept()) {
    if (!name.starts_with("verdicts-")) continue;
    std::fstream file(caches_ + "/devices/" + name, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(-1, std::ios::end);
    const int last = file.get();
    file.seekp(-1, std::ios::end);
    file.put(static_cast<char>(last ^ 1));
  }
  const Outcome damaged = examine();
  EXPECT_EQ(damaged.code, 1) << damaged.out;
  EXPECT_THAT(damaged.out, testing::HasSubstr("verdicts: DAMAGED"));
  EXPECT_THAT(damaged.out, testing::HasSubstr("the next run makes them anew"));
}

}  // namespace
}  // namespace lapilli::test
