// What the program's inspect, devices, models, plan, tune and bench need from inside the library, and no application
// does. Plain types only, so that a file may include this beside lapilli.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace lapilli {
namespace vulkan {
struct DeviceInfo;
}
namespace audio {
class SampleSource;
}

namespace tools {

// A text for stdout, or an error: `status` is a lapilli_status and `text` its message.
struct Outcome {
  int status = 0;
  std::string text;
};

// Every device that was seen, as a JSON array or as a table for people.
std::string devices_json(const std::vector<vulkan::DeviceInfo>& devices);
Outcome devices_table(const std::string& select, const std::string& caps);
// The name of the one that would be used, or why none would.
Outcome device_choice(const std::string& select, const std::string& caps);

// Family, shapes, parameters, stored type, memory and languages of a model directory. Reads config.json, the tokenizer
// and the headers of the weights; needs no device.
struct InspectRequest {
  std::string model;  // directory; empty: the bundled one
  bool json = false, tensors = false;
};
Outcome inspect(const InspectRequest& request);

// Writes a model into a directory of its own with its matrices packed, which loads as they would be packed while
// loading. Needs no device.
struct PackRequest {
  std::string model;   // directory
  std::string output;  // made; must not be there, or be empty
  std::string dtype;
};
Outcome pack(const PackRequest& request);

// What a plan is asked for. The device (or the mask alone, where there is none) decides variants and slices.
struct PlanRequest {
  std::string model;           // directory, or "shape:..."; empty: the bundled model
  std::string graph = "step";  // encode, init or step
  std::string select, caps;
  unsigned batch = 1, beams = 4, source = 32, target = 64;
  std::string dtype = "fp32", kv_dtype = "fp32";
  bool json = false;
};
Outcome plan(const PlanRequest& request);

// Times a model on random ids. Every figure is a median over `runs` after one warm-up run.
struct BenchRequest {
  std::string model;  // directory, or "shape:..."; empty: the bundled model
  std::string select, caps;
  std::vector<unsigned> batches{1, 8};
  std::vector<unsigned> beams{1, 4};
  unsigned source = 32, target = 32;  // ids per source, generated ids per source (exactly)
  unsigned runs = 5, steps_in_flight = 0;
  std::string dtype = "fp32", kv_dtype = "fp32";
  std::string trace_file;          // empty: none
  std::string cache;               // the folder with what `tune` found, which is used; "": none is
  bool json = false, tsv = false;  // tsv: one line per row for tables beside other programs
};
Outcome bench(const BenchRequest& request);
// Time, bytes and operations of each dispatch of the encode pass and of a decoder step in the middle of the target,
// beside what the device does at most. `steps_in_flight` and `tsv` mean nothing here.
Outcome bench_per_op(const BenchRequest& request);

// Finds the fastest ways to run the plans of a model on a device, and keeps them for whoever loads a model there with
// the same folder.
struct TuneRequest {
  std::string model;  // directory, or "shape:..."; empty: the bundled model
  std::string select, caps;
  std::vector<unsigned> batches{1, 8};
  std::vector<unsigned> beams{1, 4};
  unsigned source = 32, target = 64;
  std::string dtype = "fp32";
  double seconds = 120;        // no more
  bool deterministic = false;  // among ways of one order of sums, for deterministic jobs
  bool forget = false;         // what was found on the device is removed, and nothing is tuned
  bool json = false;
  std::string cache;  // the folder of what is kept between runs; "": nothing is
  // Told what is tuned next, and asked often with ""; false ends it, with what was found.
  std::function<bool(const std::string& what)> go_on;
};
Outcome tune(const TuneRequest& request);

// Is all well with a device? Its memory, every kernel against the reference, the bundled model's sentences, its rates.
struct DoctorRequest {
  std::string select, caps;
  bool quick = false;  // fewer kernels, runs and sentences, no rates
  unsigned runs = 0;   // of each kernel's case; 0: 100, quick 5
  std::string cache;   // the folder of what is kept between runs; "": nothing is
  // Told what is examined next, and asked often with ""; false ends it.
  std::function<bool(const std::string& what)> progress;
};
struct DoctorOutcome {
  int status = 0;      // a lapilli_status: it could not be examined, and `page` says why
  std::string page;    // for people
  std::string report;  // JSON; no names of users or folders are in it
  bool healthy = false;
};
DoctorOutcome doctor(const DoctorRequest& request);

// Recordings to text, with a model that hears.
struct TranscriberRequest {
  std::string model;  // directory
  std::string select, caps, dtype = "auto", kv_dtype = "fp32";
  std::string cache;  // the folder of what is kept between runs; "": nothing is
  bool ids = false;   // segments are wanted as ids: a model without a tokenizer will do
};
struct HeardWord {
  double begin = 0, end = 0;  // seconds
  std::string text;           // with the space in front
  std::vector<int32_t> ids;
  double confidence = 0;  // 0 to 1
};
struct HeardSegment {
  double begin = 0, end = 0;  // seconds
  std::string text;
  std::vector<int32_t> ids;
  std::vector<HeardWord> words;
  std::string picture;  // a file's content; empty where there is no word, and without HearRequest::pictures
};
// Samples that come once: as many as are there and `to` has room for. If there are none, waits for some, a while, if
// it may.
struct HeardPiece {
  size_t count = 0;
  bool ended = false;   // there are no more
  bool failed = false;  // the caller knows why: it ends as if it were cancelled
};
using NextSamples = std::function<HeardPiece(std::span<float> to, bool may_wait)>;

struct HearRequest {
  audio::SampleSource* sound = nullptr;  // at Transcriber::rate(); is read twice
  uint64_t samples = 0;
  NextSamples next;                    // instead of `sound`
  std::string language;                // a code or a name; empty: detected
  std::string task;                    // "transcribe" or "translate"
  unsigned beams = 0, new_tokens = 0;  // of a window; 0: as the model's files say
  unsigned batch = 0;                  // of `sound`: cut where it is quiet, so many pieces at a time; 0: not cut
  bool words = false;                  // HeardSegment::words
  std::string pictures;                // HeardSegment::picture, of what each word looked at: "svg", "png"; "": none
  bool fallback = false;               // a window that came out badly is tried again at higher temperatures
  // Each when it is certain. False ends it, and so does false of `progress` (seconds).
  std::function<bool(const HeardSegment&)> on_segment;
  // Before the first window nothing is done, and `sound` is read.
  std::function<bool(double done, double all)> progress;
  // Of `next`, if wanted: what may be said at the end of what has come so far. It replaces the one before, and is void
  // when on_segment brings something new.
  std::function<bool(const std::vector<HeardSegment>&)> on_draft;
  std::function<void(const std::string&)> on_note;  // what is to be known of it beside its text
};
// Of one thread.
class Transcriber {
 public:
  Transcriber();
  ~Transcriber();
  Outcome open(const TranscriberRequest& request);
  // After open().
  [[nodiscard]] unsigned rate() const;
  // The text is the language's token, if the model knows several.
  Outcome hear(const HearRequest& request);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Pictures through a model: in words (caption, read), or in classes (classify).
struct PictureRequest {
  std::string model;  // directory
  std::string select, caps, dtype = "fp32", kv_dtype = "fp32";
  std::string cache;                   // the folder of what is kept between runs; "": nothing is
  unsigned long memory_mib = 0;        // of the device at most; 0: what there is
  bool classes = false;                // the model must classify; otherwise it must write
  std::string prompt;                  // of models that write; see PictureOptions
  unsigned beams = 0, max_length = 0;  // 0: as the model says
  unsigned top = 5, batch = 8;
  std::string attention;                          // PictureAnswer::attention: "svg", "png"; "": none
  int attention_layer = -1, attention_head = -1;  // of the decoder; -1: their mean
};
struct PictureAnswer {
  int status = 0;  // a lapilli_status: of this picture alone
  std::string error, text;
  std::string attention;  // a file's content: what each word looked at
  struct Class {
    unsigned index = 0;
    std::string label;
    double probability = 0;
  };
  std::vector<Class> classes;
};
struct PictureFigures {
  std::string model, device;
  double load_ms = 0, read_ms = 0, run_ms = 0;  // read: files, and what is made of them on the host
  unsigned long long pictures = 0, weight_bytes = 0, device_bytes_peak = 0;
};
class PictureTool {
 public:
  virtual ~PictureTool() = default;
  // An answer for each file; those are the ones that were reached if it was ended. `go_on` is asked often, and false
  // ends it.
  virtual Outcome run(const std::vector<std::string>& files, const std::function<bool()>& go_on,
                      std::vector<PictureAnswer>& answers) = 0;
  [[nodiscard]] virtual PictureFigures figures() const = 0;
};
// Null with the reason in `outcome`: a model of another kind is told what serves it.
std::unique_ptr<PictureTool> open_pictures(const PictureRequest& request, Outcome& outcome);

// The list of known models, models.jsonl, which lies beside the bundled one; "" if it is not there.
std::string known_models_file();
// Whether two codes may mean the same language: "en" and "eng_Latn", but not "zh_CN" and "zh_TW".
bool same_language(const std::string& a, const std::string& b);

}  // namespace tools
}  // namespace lapilli
