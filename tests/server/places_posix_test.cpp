// Long work beside short: recordings that are decoded, texts of megabytes, readers that wait.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "server/served.hpp"
#include "server/small_models.hpp"
#include "server/work/job_pump.hpp"
#include "support/temp_directory.hpp"

namespace lapilli::server::test {
namespace {

TEST(Places, AClosedPoolDropsWhatComes) {
  Pool pool(1);
  std::atomic<int> ran{0};
  const auto token = std::make_shared<int>();
  pool.run([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ++ran;
  });
  pool.run([&] { ++ran; });
  pool.close();
  EXPECT_EQ(ran, 2);
  pool.run([&, token] { ++ran; });
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(ran, 2);
}

// A recording whose reader waits until the test lets it go on.
class Gate {
 public:
  lapilli_sample_source source() {
    lapilli_sample_source source = lapilli_default_sample_source();
    source.user = this;
    source.count = 16000;
    source.read = &Gate::read;
    return source;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] int waiting() const { return waiting_; }

 private:
  static lapilli_status read(void* user, uint64_t, float* to, uint64_t room, uint64_t* got) {
    auto& gate = *static_cast<Gate*>(user);
    std::unique_lock lock(gate.mutex_);
    ++gate.waiting_;
    gate.changed_.wait(lock, [&] { return gate.open_; });
    --gate.waiting_;
    std::fill_n(to, room, 0.0f);
    *got = room;
    return LAPILLI_OK;
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  std::atomic<int> waiting_{0};
};

ModelFacts facts_of_model(const std::string& name, const std::string& directory) {
  std::string wrong;
  ModelFacts facts = read_facts(name, directory, wrong);
  EXPECT_EQ(wrong, "");
  return facts;
}

// The pump of a device with the bundled model and a small one for speech, without a server.
struct PumpRig {
  PumpRig()
      : shelf({facts_of_model("en-fr", kBundled), facts_of_model("ear", small_ear(folder.path()))}, opened(), {},
              [this] { wake(); }) {
    const std::lock_guard lock(mutex);
    pump = std::make_unique<JobPump>(shelf, pool);
  }
  static Device opened() {
    DeviceOptions options;
    const std::string cache = test_cache();
    options.cache_directory = cache;
    options.log_level = LogLevel::error;
    return Device::open(options).value();
  }
  void wake() {
    const std::lock_guard lock(mutex);
    if (pump) pump->wake();
  }
  std::shared_ptr<Work> work(const std::string& model, std::atomic<int>& done) {
    auto work = std::make_shared<Work>();
    work->model = model;
    work->done = [&done](const Outcome& outcome) {
      EXPECT_FALSE(outcome.error.has_value()) << outcome.error->message();
      ++done;
    };
    return work;
  }
  std::shared_ptr<Work> text(const std::string& text, std::atomic<int>& done) {
    auto made = work("en-fr", done);
    set_texts(*made, {text});
    made->options.task = "translate";
    return made;
  }

  TempDirectory folder;
  std::mutex mutex;
  ModelShelf shelf;
  Pool pool{2};
  std::unique_ptr<JobPump> pump;
};

TEST(ServeDevicePlaces, ReadersThatWaitStopNobody) {
  std::atomic<int> heard{0}, translated{0};
  Gate gates[2];
  lapilli_sample_source sources[] = {gates[0].source(), gates[1].source()};
  PumpRig rig;
  for (lapilli_sample_source& source : sources) {
    auto work = rig.work("ear", heard);
    work->inputs = {pulled_samples(source, 16000)};
    rig.pump->start(std::move(work));
  }
  EXPECT_TRUE(becomes_true([&] { return gates[0].waiting() + gates[1].waiting() == 2; }, kDevicePatienceMs));
  for (int i = 1; i <= 3; ++i) {
    rig.pump->start(rig.text(kStation, translated));
    EXPECT_TRUE(becomes_true([&] { return translated == i; }, kDevicePatienceMs));
  }
  EXPECT_EQ(heard, 0);
  EXPECT_LT(rig.pump->quiet_s(), 10);
  for (Gate& gate : gates) gate.open();
  EXPECT_TRUE(becomes_true([&] { return heard == 2; }, kDevicePatienceMs));
}

// A text without an end is refused or cut by its model, and tokenized by none of the threads that others need.
TEST(ServeDevicePlaces, TextsOfMegabytesAreReadElsewhere) {
  std::atomic<int> short_ones{0}, long_ones{0};
  PumpRig rig;
  rig.pump->start(rig.text(kStation, short_ones));
  ASSERT_TRUE(becomes_true([&] { return short_ones == 1; }, kDevicePatienceMs));
  std::string text;
  while (text.size() < (3u << 20)) text += "abcdefghijklmnopqrstuvwxyz" + std::to_string(text.size()) + " ";
  auto work = rig.text(text, long_ones);
  work->done = [&](const Outcome&) { ++long_ones; };
  rig.pump->start(work);
  EXPECT_TRUE(rig.pump->is_reading() || becomes_true([&] { return rig.pump->is_reading(); }));
  work->cancelled = true;
  EXPECT_TRUE(becomes_true([&] { return long_ones == 1; }, kDevicePatienceMs));
}

// A WAV file of silence: 8,000 samples a second of 8 bits.
std::string long_silence(uint32_t samples) {
  const auto number = [](uint32_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 255);
    return text;
  };
  return "RIFF" + number(36 + samples, 4) + "WAVEfmt " + number(16, 4) + number(1, 2) + number(1, 2) + number(8000, 4) +
         number(8000, 4) + number(1, 2) + number(8, 2) + "data" + number(samples, 4) + std::string(samples, '\x80');
}

TEST(ServeDevicePlaces, LongRecordingsDoNotStopTexts) {
  const TempDirectory folder;
  const Served served(Served::with({{"en-fr", kBundled}, {"ear", small_ear(folder.path())}}));
  ASSERT_EQ(served.trouble(), "");
  const Json station = {{"q", kStation}, {"source", "en"}, {"target", "fr"}};
  EXPECT_EQ(served.post("/translate", station).status, 200);  // the model is there
  const std::string form = Multipart().file("file", "x", long_silence(48 << 20)).whole();
  std::vector<RawClient> hours;
  for (int i = 0; i < 4; ++i) {
    hours.emplace_back(served.port());
    hours[static_cast<size_t>(i)].send("POST /v1/audio/transcriptions HTTP/1.1\r\nHost: localhost\r\n" +
                                       std::string(Multipart::kHeader) +
                                       "Content-Length: " + std::to_string(form.size()) + "\r\n\r\n" + form);
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(json_of(served.post("/translate", station))["translatedText"], kGare);
  for (RawClient& client : hours) EXPECT_FALSE(client.fill(0)) << client.rest();
  for (RawClient& client : hours) client.reset();
}

}  // namespace
}  // namespace lapilli::server::test
