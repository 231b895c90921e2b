#include "server/protocols/recorded_sound.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "recordings/recording.hpp"

namespace lapilli::server {

namespace {

constexpr const char* kName = "the recording";  // clients' names of files reach neither files nor messages

RecordedSound::Trouble trouble_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::out_of_memory: return {503, error.message};
    case ErrorCode::internal: return {500, error.message};
    default: return {400, error.message};
  }
}

// The bytes as a file without a name, since decoders read files.
Result<std::unique_ptr<recordings::Reader>> open_bytes(std::string_view bytes, uint32_t rate) {
  recordings::Stream file(std::tmpfile());
  const bool written = file && std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size() &&
                       std::fseek(file.get(), 0, SEEK_SET) == 0;
  if (!written) return fail(ErrorCode::out_of_memory, "there is no place on the disk to keep the recording");
  recordings::MediaRequest request;
  request.rate = rate;
  return recordings::open_recording_stream(std::move(file), kName, request);
}

}  // namespace

struct RecordedSound::Content {
  std::unique_ptr<recordings::Recording> recording;
  uint64_t count = 0;
  uint32_t rate = 0;

  Status decode(std::string_view bytes, const Limits& limits) {
    rate = limits.rate;
    const auto opener = [bytes, rate = rate] { return open_bytes(bytes, rate); };
    LAPILLI_TRY(recording, recordings::Recording::open(opener, kName, rate));
    const uint64_t most = std::min(limits.seconds(), UINT64_MAX / rate) * rate;
    bool too_long = false;
    const auto counted = recording->count([&] {
      too_long = recording->position() > most;
      return !too_long && (!limits.go_on || limits.go_on());
    });
    if (too_long || (counted && *counted > most))
      return fail(ErrorCode::invalid_argument, "the recording is longer than %u seconds, the limit of this server",
                  limits.seconds());
    if (!counted) return counted.error();
    count = *counted;
    if (count == 0) return fail(ErrorCode::invalid_data, "%s: there is no sound in it", kName);
    return {};
  }

  static lapilli_status read(void* user, uint64_t first, float* to, uint64_t room, uint64_t* got) {
    auto read = static_cast<Content*>(user)->recording->read(first, {to, static_cast<size_t>(room)});
    if (!read) return static_cast<lapilli_status>(read.error().code);
    *got = *read;
    return LAPILLI_OK;
  }
};

RecordedSound::RecordedSound() : content_(std::make_unique<Content>()) {}
RecordedSound::~RecordedSound() = default;

RecordedSound::Trouble RecordedSound::open(std::string_view bytes, const Limits& limits) {
  const Status decoded = content_->decode(bytes, limits);
  return decoded ? Trouble() : trouble_of(decoded.error());
}

double RecordedSound::seconds() const { return static_cast<double>(content_->count) / content_->rate; }
uint32_t RecordedSound::rate() const { return content_->rate; }

lapilli_sample_source RecordedSound::source() {
  lapilli_sample_source source = lapilli_default_sample_source();
  source.user = content_.get();
  source.count = content_->count;
  source.read = &Content::read;
  return source;
}

}  // namespace lapilli::server
