// `lapilli serve` as a program: its address, its end, its arguments.
#include <gtest/gtest.h>

#include <fstream>

#include "server/served.hpp"
#include "support/process.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::server::test {
namespace {

using Ended = lapilli::test::Outcome;
using lapilli::test::Process;

constexpr const char* kProgram = LAPILLI_BINARY_DIR "/lapilli";

std::vector<std::string> serve(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {kProgram, "serve"});
  return arguments;
}

Ended ran(std::vector<std::string> arguments) {
  Process process({serve(std::move(arguments)), {}});
  return process.finish();
}

TEST(ServeProgramDevice, SaysItsAddressAndEndsWithZero) {
  const TempDirectory folder;
  const std::string said = folder.path() + "/said";
  lapilli::test::Spawn spawn{serve({"--port", "0"}), {}};
  spawn.stdout_path = said;
  Process process(spawn);
  std::string line;
  for (int i = 0; i < 1200 && line.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    std::ifstream file(said);
    std::getline(file, line);
  }
  ASSERT_TRUE(line.starts_with("lapilli serves at http://127.0.0.1:")) << line;
  const auto port = static_cast<uint16_t>(std::stoi(line.substr(line.rfind(':') + 1)));
  RawClient client(port);
  client.send("GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.answer().status, 200);
  process.signal(SIGTERM);
  const Ended ended = process.finish();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_NE(ended.err.find("model en-fr: translate"), std::string::npos) << ended.err;
}

TEST(ServeProgram, WrongArgumentsAreSaid) {
  const TempDirectory folder;
  std::ofstream(folder.path() + "/keys") << "key speed=3\n";
  const struct {
    std::vector<std::string> arguments;
    int code;
    const char* says;
  } cases[] = {{{"--port", "70000"}, 2, "65535"},
               {{"--models", folder.path()}, 3, "nothing in it is a model"},
               {{"--model", folder.path() + "/nothing"}, 3, "nothing"},
               {{"--keys", folder.path() + "/none"}, 3, "none"},
               {{"--limit", "characters=5", "--limit", "speed=3"}, 2, "speed=3"},
               {{"--keys", folder.path() + "/keys"}, 2, "speed=3"},
               {{"-m", "a=" + kBundled, "-m", "a=" + kBundled}, 2, "two models are called a"}};
  for (const auto& one : cases) {
    const Ended outcome = ran(one.arguments);
    EXPECT_EQ(outcome.code, one.code) << outcome.err;
    EXPECT_NE(outcome.err.find(one.says), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace lapilli::server::test
