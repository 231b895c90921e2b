// Internals that only the program's inspect, devices, models, plan, bench, tune, pack and doctor need, and no
// application. Plain types only, so that a file may include this beside lapilli.hpp.
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

// Text for stdout, or an error: `status` is a lapilli_status and `text` its message.
struct Outcome {
  int status = 0;
  std::string text;
};

// Lists every device found, as a JSON array or as a table for people.
std::string devices_json(const std::vector<vulkan::DeviceInfo>& devices);
Outcome devices_table(const std::string& select, const std::string& caps);
// The devices that `select` names, which may be several ("0,1", "all"), each by its index. `text` tells their names
// and why they were chosen, or is an error's message.
struct FoundDevices {
  int status = 0;
  std::string text;
  std::vector<std::string> selects;
};
FoundDevices find_devices(const std::string& select, const std::string& caps);
// Name of the device that would be used, or why none would.
Outcome device_choice(const std::string& select, const std::string& caps);

// Family, shapes, parameters, stored type, memory and languages of a model directory. Reads config.json, the tokenizer
// and the headers of the weights; needs no device.
struct InspectRequest {
  std::string model;  // directory; empty: the bundled one
  bool json = false, tensors = false;
};
Outcome inspect(const InspectRequest& request);

// Writes a model with its matrices packed into a new directory; it loads as if packed while loading. Needs no device.
struct PackRequest {
  std::string model;   // directory
  std::string output;  // created; must not exist or must be empty
  std::string dtype;   // "": that of the model's own matrices
};
Outcome pack(const PackRequest& request);

// Request for a plan. The device (or the mask alone, if there is no device) decides variants and slices.
struct PlanRequest {
  std::string model;           // directory, or "shape:..."; empty: the bundled model
  std::string graph = "step";  // admit, encode, given or step
  std::string select, caps;
  unsigned batch = 1, beams = 4, source = 32, target = 64;
  std::string dtype = "fp32", kv_dtype = "fp32";
  std::string cache;  // folder with the device's tuning results, to plan with; "": none
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

// Times them. Every figure is a median over `runs`, after warming up.
struct BenchRequest : SearchesRequest {
  unsigned runs = 5, steps_in_flight = 0;
  std::string trace_file;          // empty: none
  std::string cache;               // folder with tuning results to use; "": none
  bool json = false, tsv = false;  // tsv: one line per row for tables beside other programs
  // Called at the end with the reason if trace_file cannot be written; the figures are valid all the same.
  std::function<void(const std::string& why)> trace_failed;
};
Outcome bench(const BenchRequest& request);
// Time, bytes and operations of each dispatch of the encode pass and of a decoder step in the middle of the target,
// beside the device's limits. Ignores `steps_in_flight` and `tsv`.
Outcome bench_per_op(const BenchRequest& request);

// Finds the fastest variants for a model's plans on a device, and stores them for later loads with the same folder.
struct TuneRequest : SearchesRequest {
  double seconds = 120;        // limit
  bool deterministic = false;  // only among variants with the same order of sums, for deterministic jobs
  bool forget = false;         // removes the device's results and tunes nothing
  bool json = false;
  std::string cache;  // cache folder; "": none
  // Called with what is tuned next, and often with ""; false stops and keeps the results so far.
  std::function<bool(const std::string& what)> go_on;
};
Outcome tune(const TuneRequest& request);

// Examines a device: its memory, every kernel against the reference, the bundled model's sentences, its rates.
struct DoctorRequest {
  std::string select, caps;
  std::string model;   // examined in place of the bundled one; "": that one
  bool quick = false;  // fewer kernels, runs and sentences, no rates
  unsigned runs = 0;   // per kernel case; 0: 100, quick 5
  std::string cache;   // cache folder; "": none
  // Called with what is examined next, and often with ""; false stops.
  std::function<bool(const std::string& what)> progress;
};
struct DoctorOutcome {
  int status = 0;      // a lapilli_status: an error if it could not be examined; `page` then says why
  std::string page;    // for people
  std::string report;  // JSON, without names of users or folders
  bool healthy = false;
};
DoctorOutcome doctor(const DoctorRequest& request);

// Another program's model in a directory or a file: none, one that is read, or one that is refused, which loading it
// tells with the reasons.
enum class OtherProgram : uint8_t { none, read, refused };
OtherProgram other_program_in(const std::string& path);

// A model that another program has installed on this machine.
struct InstalledModel {
  std::string program;  // "Argos Translate"
  std::string path;     // of its directory or file, as --model takes it
  std::string from, to, version;
  std::string problem;  // why it cannot be used; "" if it can, as far as its metadata tell
  std::string name;     // "argos/en_de" of one that `lapilli fetch` got from a registry; "" of others
};
// By their languages; of those for one pair Argos' come before Firefox's, and the newest of each first.
std::vector<InstalledModel> installed_models();
// Why an installed model cannot run, by the headers of its weights and its tokenizer; "" if it can.
std::string installed_problem(const InstalledModel& model);
// False if a model's files name its languages, and these are not among them. Also true for what is no model.
bool may_translate(const std::string& model, const std::string& from, const std::string& to);

// The languages of a translation, as documents name them ("fr" for "fra_Latn" and "fr_XX"): those that were said, else
// the only ones that the model's files name. "": unknown.
struct LanguagePair {
  std::string from, to;
};
LanguagePair languages_of_run(const std::string& model, const std::string& from, const std::string& to);

// Path of the list of known models, models.jsonl, beside the bundled model; "" if it does not exist.
std::string known_models_file();
// Path of the list of registries, registries.json, in the same place.
std::string registries_file();
// True if the program can read models whose config.json has this model_type.
bool is_known_family(const std::string& model_type);
// True if two codes may mean the same language: "en" and "eng_Latn", but not "zh_CN" and "zh_TW".
bool same_language(const std::string& a, const std::string& b);
// True if this is the code or name of a language.
bool is_known_language(const std::string& code);

}  // namespace tools
}  // namespace lapilli
