// Jobs and loading in steps in C++. With the bundled model.
#include <gtest/gtest.h>

#include <string>

#include "lapilli/lapilli.hpp"

namespace {

TEST(ApiDeviceJobCpp, LoadedPreparedAndPumped) {
  const auto device = lapilli::Device::open().value();
  auto loading = lapilli::Loading::start(device, LAPILLI_SOURCE_DIR "/models/en-fr").value();
  while (!loading.pump(1000).value())
    EXPECT_LE(loading.progress().value().done_bytes, loading.progress().value().all_bytes);
  EXPECT_GT(loading.progress().value().all_bytes, 0u);
  auto model = loading.take().value();
  EXPECT_FALSE(loading.take().ok());

  auto preparation = model.prepare({2, 32, 32}).value();
  EXPECT_TRUE(preparation.wait().value());
  EXPECT_EQ(preparation.take().value().size(), 0u);

  auto job = model.start({"Where is the station?", "\xff"}).value();
  std::string text;
  int inputs = 0, messages = 0, ends = 0;
  uint64_t done = 0;
  const auto read = [&] {
    while (auto event = job.next_event().value()) {
      if (event->kind == lapilli::EventKind::text) text += event->text;
      if (event->kind == lapilli::EventKind::progress) done = event->done;
      if (event->kind == lapilli::EventKind::input) ++inputs;
      if (event->kind == lapilli::EventKind::input) messages += event->message.empty() ? 0 : 1;
      if (event->kind == lapilli::EventKind::end) ++ends;
    }
  };
  while (!job.pump(1000).value()) read();
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
  EXPECT_TRUE(job.wait().value());
  EXPECT_TRUE(job.take().value().cancelled());
  EXPECT_EQ(job.take().error().status(), lapilli::Status::invalid_argument);
  EXPECT_EQ(job.resume(model).error().status(), lapilli::Status::invalid_argument) << "no device was lost";
  lapilli::Options options;
  options.stream = [](size_t, std::string_view, const lapilli::Ids&) { return true; };
  EXPECT_EQ(model.start_ids({{1, 0}}, options).error().status(), lapilli::Status::invalid_argument);
}

}  // namespace
