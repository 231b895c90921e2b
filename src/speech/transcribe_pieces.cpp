#include "speech/transcribe_pieces.hpp"

#include <algorithm>

#include "speech/prefix.hpp"
#include "speech/window.hpp"

namespace lapilli::speech {

namespace {

// A piece's frames, kept from the first time that they are asked for: a recording is read forwards.
class PieceFrames : public FrameSource {
 public:
  PieceFrames(std::shared_ptr<FrameSource> all, const Piece& piece, uint32_t width)
      : all_(std::move(all)), piece_(piece), width_(width) {}
  [[nodiscard]] Extent extent() const override { return {piece_.count, true}; }
  Result<bool> read(uint64_t first, std::span<float> rows) override {
    if (all_) {
      values_.resize(piece_.count * width_);
      LAPILLI_TRY(const bool done, all_->read(piece_.first, values_));
      if (!done) return false;
      all_.reset();
    }
    std::copy_n(values_.begin() + static_cast<ptrdiff_t>(first * width_), rows.size(), rows.begin());
    return true;
  }
  Status rest() override { return all_ ? all_->rest() : Status(); }

 private:
  std::shared_ptr<FrameSource> all_;  // until they are here
  Piece piece_;
  uint32_t width_;
  std::vector<float> values_;
};

// Of one recording: pieces, some at a time.
class Pieces {
 public:
  Pieces(const std::shared_ptr<Model>& model, const TranscribeRequest& request) : model_(model), request_(request) {
    out_.transcripts.resize(1);
  }

  Status find_language() {
    PrefixRequest wanted;
    wanted.task = request_.task;
    wanted.timestamps = request_.timestamps;
    if (!request_.languages.empty()) wanted.language = request_.languages.front();
    languages_ = request_.languages;
    LAPILLI_TRY(const auto prefix, make_prefix(model_->speech(), wanted));
    if (!prefix.detect_language) return {};
    LAPILLI_TRY(const auto ids, detect_languages(model_, request_.recordings));
    languages_ = {language_token(model_->speech(), ids.front())};
    return {};
  }

  Status hear(std::span<const Piece> pieces) {
    TranscribeRequest r = request_;
    r.languages = languages_;
    r.recordings.clear();
    for (const Piece& p : pieces) {
      const auto& all = request_.recordings.front().frames;
      r.recordings.push_back({std::make_shared<PieceFrames>(all, p, model_->info().feature_width), {}});
    }
    std::vector<std::vector<Segment>> heard(pieces.size());
    r.on_segment = [&](const Segment& s) -> Status {
      heard[s.recording].push_back(s);
      return {};
    };
    r.progress = [&](uint64_t done, uint64_t) { return go_on(pieces.front().first + done); };
    LAPILLI_TRY(auto out, transcribe(model_, r));
    for (size_t i = 0; i < pieces.size(); ++i) LAPILLI_CHECK(give(pieces[i], std::move(heard[i])));
    out_.transcripts.front().language = out.transcripts.front().language;
    for (Window& w : out.windows) {
      w.seek += pieces[w.recording].first;
      w.recording = 0;
      out_.windows.push_back(std::move(w));
    }
    return {};
  }

  [[nodiscard]] bool go_on(uint64_t done) const {
    return !request_.progress || request_.progress(done, request_.recordings.front().frames->extent().frames);
  }
  TranscribeOutput take() { return std::move(out_); }

 private:
  // At its place in the recording.
  Status give(const Piece& piece, std::vector<Segment> heard) {
    for (Segment& s : heard) {
      shift(s, static_cast<double>(piece.first) * kSecondsPerFrame);
      if (request_.on_segment) LAPILLI_CHECK(request_.on_segment(s));
      s.looks.reset();
      out_.transcripts.front().segments.push_back(std::move(s));
    }
    return {};
  }

  static void shift(Segment& s, double seconds) {
    s.recording = 0;
    s.begin += seconds;
    s.end += seconds;
    for (double& t : s.times) t += seconds;
    for (Word& w : s.words) {
      w.begin += seconds;
      w.end += seconds;
    }
  }

  const std::shared_ptr<Model>& model_;
  const TranscribeRequest& request_;
  std::vector<std::string> languages_;
  TranscribeOutput out_;
};

}  // namespace

Result<TranscribeOutput> transcribe_pieces(const std::shared_ptr<Model>& model, const TranscribeRequest& request,
                                           std::span<const Piece> pieces, uint32_t at_a_time) {
  LAPILLI_CHECK(check_transcribes(*model));
  if (request.recordings.size() != 1)
    return fail(ErrorCode::invalid_argument, "%zu recordings: one is heard in pieces", request.recordings.size());
  if (request.condition_on_previous || at_a_time == 0)
    return fail(ErrorCode::invalid_argument, "pieces do not go on from what was written before them");
  Pieces all(model, request);
  LAPILLI_CHECK(all.find_language());
  for (size_t i = 0; i < pieces.size(); i += at_a_time)
    LAPILLI_CHECK(all.hear(pieces.subspan(i, std::min<size_t>(at_a_time, pieces.size() - i))));
  return all.take();
}

}  // namespace lapilli::speech
