// The readers behind the door, one for each program's format.
#pragma once

#include <optional>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/doors/door.hpp"

namespace lapilli::doors {

// A directory with model.bin, config.json and vocabularies, of CTranslate2's converters.
Result<std::optional<Opened>> open_ctranslate2(const Files& files);

// A directory whose model.bin is PyTorch's checkpoint; refuses those whose model.bin is no model at all.
Result<std::optional<Opened>> open_model_bin(const Files& files);

// A file of whisper.cpp, or a directory with one and without weights of ours.
Result<std::optional<Opened>> open_ggml(const FileName& file);
Result<std::optional<Opened>> open_ggml_directory(const Files& files);

// Marian's own binary file, beside its vocabularies: the students of Firefox and Bergamot; or a directory with one.
Result<std::optional<Opened>> open_marian(const FileName& file);
Result<std::optional<Opened>> open_marian_directory(const Files& files);
// A checkpoint of fairseq or OpenNMT-py ("*.pt"), or a directory with one.
Result<std::optional<Opened>> open_training_file(const FileName& file);
Result<std::optional<Opened>> open_training_directory(const Files& files);
// A directory with Tensor2Tensor's hparams.json and a checkpoint of TensorFlow.
Result<std::optional<Opened>> open_tensor2tensor(const Files& files);

// A package of Argos Translate: its zip file, or the folder that it was unpacked to.
Result<std::optional<Opened>> open_argos(const FileName& file);
Result<std::optional<Opened>> open_argos_directory(const Files& files);

// Marian's .npz with decoder.yml and vocabularies beside it; or a directory, or a zip file, with them.
Result<std::optional<Opened>> open_marian_archive(const FileName& file);
Result<std::optional<Opened>> open_marian_folder(const Files& files);

}  // namespace lapilli::doors
