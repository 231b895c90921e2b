// Jobs and loading in steps in C++. With the bundled model.
#include <gtest/gtest.h>

#include <string>

#include "lapilli/lapilli.hpp"

namespace {

TEST(ApiDeviceJobCpp, LoadedPreparedAndPumped) {
  const auto device = lapilli::Device::open().value();
  auto loading = lapilli::Loading::start(device, LAPILLI_SOURCE_DIR "/models/en-fr").value();
  while (!loading.pump(1000)) EXPECT_LE(loading.progress().first, loading.progress().second);
  EXPECT_GT(loading.progress().second, 0u);
  auto model = loading.take().value();
  EXPECT_FALSE(loading.take().ok());

  auto preparation = model.prepare({2, 32, 32}).value();
  EXPECT_TRUE(preparation.wait());
  EXPECT_EQ(preparation.take().value().size(), 0u);

  auto job = model.start({"Where is the station?", "\xff"}).value();
  std::string text;
  int inputs = 0, messages = 0, ends = 0;
  uint64_t done = 0;
  const auto read = [&] {
    while (auto event = job.next_event()) {
      if (event->kind == LAPILLI_EVENT_TEXT) text += event->text;
      if (event->kind == LAPILLI_EVENT_PROGRESS) done = event->done;
      if (event->kind == LAPILLI_EVENT_INPUT) ++inputs;
      if (event->kind == LAPILLI_EVENT_INPUT) messages += event->message.empty() ? 0 : 1;
      if (event->kind == LAPILLI_EVENT_END) ++ends;
    }
  };
  while (!job.pump(1000)) read();
  read();
  const auto results = job.take().value();
  EXPECT_EQ(results[0].text(), "Où est la gare ?");
  EXPECT_EQ(text, results[0].text());
  EXPECT_FALSE(results[1].ok());
  EXPECT_EQ(inputs, 2);
  EXPECT_EQ(messages, 1);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(done, 2u);
}

TEST(ApiDeviceJobCpp, CancelledAndRefused) {
  const auto model = lapilli::Model::load(LAPILLI_SOURCE_DIR "/models/en-fr").value();
  auto job = model.start(std::vector<std::string>(4, "Where is the station?")).value();
  job.cancel();
  EXPECT_TRUE(job.wait());
  EXPECT_TRUE(job.take().value().cancelled());
  EXPECT_EQ(job.take().error().status(), LAPILLI_INVALID_ARGUMENT);
  EXPECT_EQ(job.resume(model)->status(), LAPILLI_INVALID_ARGUMENT) << "no device was lost";
  lapilli::Options options;
  options.stream = [](size_t, std::string_view, const lapilli::Ids&) { return true; };
  EXPECT_EQ(model.start_ids({{1, 0}}, options).error().status(), LAPILLI_INVALID_ARGUMENT);
}

}  // namespace
