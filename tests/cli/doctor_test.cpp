// doctor: the page and the report. What it finds on devices that lie is in tests.cmake and tests/runtime.
#include "cli/program.hpp"

namespace lapilli::test {
namespace {

using nlohmann::json;

TEST(CliDoctor, WithoutADeviceItSaysSo) {
  Spawn spawn = lapilli({"doctor", "--quick"});
  spawn.environment.insert(spawn.environment.end(), kNoDriver.begin(), kNoDriver.end());
  const Outcome out = run(spawn);
  EXPECT_EQ(out.code, 4) << out.err;
  EXPECT_EQ(out.out, "");
}

TEST(CliDoctor, AReportThatCannotBeWrittenIsSaidBeforeAnything) {
  const TemporaryFolder folder;
  const Outcome out = run(lapilli({"doctor", "--report", folder.path().string()}));
  EXPECT_EQ(out.code, 6);
  EXPECT_TRUE(contains(out.err, "is a folder")) << out.err;
  EXPECT_FALSE(contains(out.err, "examining")) << out.err;
}

TEST(CliDeviceDoctor, APageAndAReportWithoutNames) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "doctor.json").string();
  Spawn spawn = lapilli({"doctor", "--quick", "--runs", "2", "--report", file});
  spawn.environment.insert(spawn.environment.end(), {"HOME=/home/mrs-nobody", "USER=mrs-nobody", "LOGNAME=mrs-nobody"});
  const Outcome out = run(spawn);
  EXPECT_EQ(out.code, 0) << out.out << out.err;
  for (const char* part :
       {"device", "memory", "kernels", "all as the reference", "model", "as recorded", "All is well."})
    EXPECT_TRUE(contains(out.out, part)) << part << "\n" << out.out;
  EXPECT_TRUE(contains(out.err, "examining every kernel")) << out.err;
  const json report = read_json(file);
  EXPECT_EQ(report["healthy"], true);
  EXPECT_GT(report["kernels"]["variants"], 30);
  EXPECT_EQ(report["kernels"]["runs"], 2);
  EXPECT_EQ(report["kernels"]["findings"], json::array());
  EXPECT_GE(report["memory"]["types"].size(), 1u);
  EXPECT_EQ(report["model"]["equal"], report["model"]["results"]);
  EXPECT_TRUE(report.contains("cache"));
  const std::string text = report.dump();
  for (const std::string& name : {std::string("mrs-nobody"), std::string(LAPILLI_SOURCE_DIR), folder.path().string()})
    EXPECT_FALSE(contains(text, name)) << name;
}

TEST(CliDeviceDoctor, AMaskIsNamedAndChangesWhatIsOff) {
  const Outcome out = run(lapilli({"doctor", "--quick", "--runs", "1", "--caps", "floor", "-q"}));
  EXPECT_EQ(out.code, 0) << out.out << out.err;
  EXPECT_TRUE(contains(out.out, "masks        floor")) << out.out;
  EXPECT_TRUE(contains(out.out, "timeline semaphores")) << out.out;
  EXPECT_EQ(out.err, "");
}

}  // namespace
}  // namespace lapilli::test
