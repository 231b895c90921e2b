// What the program's inspect, devices, models, plan, bench, tune, pack and doctor need from inside the library, and no
// application does. Plain types only, so that a file may include this beside lapilli.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace lapilli {
namespace vulkan {
struct DeviceInfo;
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
  std::string cache;  // the folder with what `tune` found on the device, which the plan is made with; "": none is
  bool json = false;
};
Outcome plan(const PlanRequest& request);

// Searches of a model on random ids.
struct SearchesRequest {
  std::string model;  // directory, or "shape:..."; empty: the bundled model
  std::string select, caps;
  std::vector<unsigned> batches{1, 8};
  std::vector<unsigned> beams{1, 4};
  unsigned source = 32, target = 32;  // ids per source, generated ids per source (exactly)
  std::string dtype = "fp32", kv_dtype = "fp32";
};

// Times them. Every figure is a median over `runs` after those that warm up.
struct BenchRequest : SearchesRequest {
  unsigned runs = 5, steps_in_flight = 0;
  std::string trace_file;          // empty: none
  std::string cache;               // the folder with what `tune` found, which is used; "": none is
  bool json = false, tsv = false;  // tsv: one line per row for tables beside other programs
  // Told at the end why trace_file cannot be written; the figures are right all the same.
  std::function<void(const std::string& why)> trace_failed;
};
Outcome bench(const BenchRequest& request);
// Time, bytes and operations of each dispatch of the encode pass and of a decoder step in the middle of the target,
// beside what the device does at most. `steps_in_flight` and `tsv` mean nothing here.
Outcome bench_per_op(const BenchRequest& request);

// Finds the fastest ways to run the plans of a model on a device, and keeps them for whoever loads a model there with
// the same folder.
struct TuneRequest : SearchesRequest {
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

// The list of known models, models.jsonl, which lies beside the bundled one; "" if it is not there.
std::string known_models_file();
// True if the program reads models whose config.json has this model_type.
bool is_known_family(const std::string& model_type);
// Whether two codes may mean the same language: "en" and "eng_Latn", but not "zh_CN" and "zh_TW".
bool same_language(const std::string& a, const std::string& b);
// Whether there is such a code, or name, of a language at all.
bool is_known_language(const std::string& code);

}  // namespace tools
}  // namespace lapilli
