// A folder in the conformance format: expected.json, the tensors it names, and the directories it speaks of.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/report.hpp"
#include "formats/checkpoint.hpp"
#include "formats/hf_config.hpp"
#include "model/features.hpp"
#include "vulkan/device/device.hpp"

namespace lapilli {
class Model;
struct ForwardRequest;
struct ForwardTensor;
}  // namespace lapilli

namespace lapilli::conformance {

// One expected*.json with its tensors.
struct Record {
  nlohmann::json json;
  Checkpoint tensors;
  bool has_tensors = false;
};
Result<Record> read_record(const std::string& directory, const std::string& stem);

struct Matrix {
  std::vector<uint64_t> shape;
  std::vector<float> values;
};
Result<Matrix> read_matrix(const Record& record, const std::string& name);
// An integer tensor [rows, columns].
Result<std::vector<std::vector<int32_t>>> read_ids(const Record& record, const std::string& name);
// Rows of ids without the padding on either side; an error if a mask has ones apart from each other.
Result<std::vector<std::vector<int32_t>>> masked_rows(const Record& record, const nlohmann::json& inputs,
                                                      const char* ids, const char* mask);

// The padding before a row, by its mask.
size_t padding_before(const std::vector<int32_t>& mask);

// The inputs of a case that a model reads: as many sources, as rows of ids or as features.
struct CaseSources {
  std::vector<std::vector<int32_t>> ids;
  std::vector<std::shared_ptr<const model::Features>> features;
};
Result<CaseSources> read_sources(const Record& record, const nlohmann::json& inputs, const model::Config& config);

struct RunOptions {
  vulkan::DeviceOptions device;
  KvFormat kv_format = KvFormat::fp32;
  std::string filter;                            // part of a case's name
  size_t every = 1;                              // of a model's cases of each kind only each so-manieth
  mutable std::shared_ptr<vulkan::Device> made;  // by the_device(); goes before main ends, as layers want it
};

// Inputs of a forward case that say which ids are hidden from which, and which rows are predicted (XLNet); and the
// results of such rows, as the reference has them.
Status read_streams(const Record& record, const nlohmann::json& inputs, ForwardRequest& request);
void rows_by_source(const ForwardRequest& request, std::vector<ForwardTensor>& outputs);

// Cases that model_folder.cpp hands on; `directory` is the folder. May throw nlohmann's exceptions.
Result<Outcome> run_score(const std::shared_ptr<Model>& model, const Record& record, const nlohmann::json& c);
Result<Outcome> run_score_with_memory(const std::shared_ptr<Model>& model, const Record& record,
                                      const nlohmann::json& c);
Result<Outcome> run_text(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                         const nlohmann::json& c);

// "embed", "similarity"; `directory` is the model's.
Result<Outcome> run_embed(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                          const nlohmann::json& c);
Result<Outcome> run_similarity(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                               const nlohmann::json& c);

// "tag", "fill" and "question_answering".
Result<Outcome> run_tag(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                        const nlohmann::json& c);
Result<Outcome> run_fill(const std::shared_ptr<Model>& model, const std::string& directory, const nlohmann::json& c);
Result<Outcome> run_question_answering(const std::shared_ptr<Model>& model, const std::string& directory,
                                       const Record& record, const nlohmann::json& c);

// "classify", "zero_shot", "rerank", "rank"; and "refuse", of a model that may not load.
Result<Outcome> run_classify(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                             const nlohmann::json& c);
Result<Outcome> run_zero_shot(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                              const nlohmann::json& c);
Result<Outcome> run_rerank(const std::shared_ptr<Model>& model, const std::string& directory, const Record& record,
                           const nlohmann::json& c);
Result<Outcome> run_rank(const std::shared_ptr<Model>& model, const std::string& directory, const nlohmann::json& c);
Outcome run_refuse(const Result<std::shared_ptr<Model>>& model, const nlohmann::json& c);

// "asr", "asr_long", "asr_token_timestamps", "detect_language".
Result<Outcome> run_speech(const std::shared_ptr<Model>& model, const Record& record, const nlohmann::json& c);

// Kinds "features" and "audio_features"; `model` is the directory with the latter's settings.
Outcome run_sound_case(const std::string& directory, const std::string& model, const RunOptions& options,
                       const Record& record, const nlohmann::json& c);
// Unsupported for an error that says so, failed for all others.
Outcome from_error(const Error& e);
// Failed for a record that is damaged, too.
Outcome guarded_case(const std::function<Result<Outcome>()>& run);

// Where a case's files are: the folder of the record, and that of the model.
struct CaseFolders {
  std::string record, model;
};
// Runs the cases of a record with a model, or reports why that did not load.
void run_cases(const Result<std::shared_ptr<Model>>& model, const CaseFolders& folders, const Record& record,
               const RunOptions& options, Report& report);
// A folder with files of whisper.cpp, whose record is that of another folder.
void run_ggml_folder(const std::string& directory, const RunOptions& options, Report& report);

// Runs every case of every directory of the folder.
void run_model_folder(const std::string& directory, const RunOptions& options, Report& report);
void run_tokenizer_folder(const std::string& directory, const RunOptions& options, Report& report);
void run_search_folder(const std::string& directory, const RunOptions& options, Report& report);
void run_features_folder(const std::string& directory, const RunOptions& options, Report& report);
void run_image_folder(const std::string& directory, const RunOptions& options, Report& report);
// Folders of one model in several formats of numbers, each in a directory ("variants"): files of other programs.
void run_variants_folder(const std::string& directory, const RunOptions& options, Report& report);
// Folders with a model in Marian's own files.
void run_marian_folder(const std::string& directory, const RunOptions& options, Report& report);
// The same for Marian's .npz.
void run_npz_folder(const std::string& directory, const RunOptions& options, Report& report);
// A record of Firefox's own students, whose files lie in LAPILLI_REAL.
void run_real_students(const std::string& directory, const RunOptions& options, Report& report);
// A model of fairseq, OpenNMT-py or Tensor2Tensor, and what that program found.
void run_trained_folder(const std::string& directory, const RunOptions& options, Report& report);
// A folder with a package of Argos Translate ("argosmodel").
void run_package_folder(const std::string& directory, const RunOptions& options, Report& report);
void run_folder(const std::string& directory, const RunOptions& options, Report& report);

// The device, made on first use.
Result<std::shared_ptr<vulkan::Device>> the_device(const RunOptions& options);

}  // namespace lapilli::conformance
