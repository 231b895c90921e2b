#include "cli/arguments/foreign_options.hpp"

#include <algorithm>
#include <iterator>

namespace lapilli::cli {

namespace {

struct ForeignOption {
  std::string_view names;  // each between blanks, in lower case, with - for _
  std::string_view whose;
  std::string_view ours;       // each between blanks: the first one that the command has is suggested
  std::string_view otherwise;  // advice if it has none of them
};
constexpr std::string_view kNoThreads =
    "the device decides how many threads there are; lapilli help tune is about speed";
constexpr std::string_view kInOptions = "--options '{\"NAME\": VALUE}' sets it, as generation_config.json would";
constexpr ForeignOption kForeignOptions[] = {
    {" beam-size num-beams beams beam-width bs ", "CTranslate2's and transformers'", " --beam ", ""},
    {" best-of num-hypotheses n-best num-return-sequences ", "transformers' and CTranslate2's", " --nbest ",
     "one result is given of each input"},
    {" batch-size max-batch-size mini-batch max-batch per-device-eval-batch-size ", "transformers' and CTranslate2's",
     " --batch ", "batches are made as the device has room"},
    {" t threads n-threads num-threads cpu-threads inter-threads intra-threads processors p num-workers workers ",
     "whisper.cpp's, llama.cpp's and CTranslate2's", "", kNoThreads},
    {" l lang language src-lang source-lang source-language src sl ", "whisper.cpp's and transformers'",
     " --from --language ", "no language is named here"},
    {" tgt-lang target-lang target-language forced-bos-token tgt tl ", "transformers'", " --to ",
     "no language is named here"},
    {" task ", "Whisper's and transformers'", " --task ",
     "the command is the task: translate, summarize, generate; transcribe --to en translates speech"},
    {" tr translate ", "whisper.cpp's", " --to ", "lapilli transcribe --to en translates speech"},
    {" compute-type quantization quantize precision torch-dtype data-type fp16 half int8 load-in-8bit load-in-4bit ",
     "CTranslate2's and transformers'", " --dtype ", "the model is held as its files say"},
    {" output-format outfmt ", "Whisper's", " --srt --format ",
     "there is one format, and JSON with --json where the command has it"},
    {" osrt output-srt ", "whisper.cpp's", " --srt ", "lapilli transcribe --srt writes subtitles"},
    {" ovtt output-vtt ", "whisper.cpp's", " --vtt ", "lapilli transcribe --vtt writes subtitles"},
    {" ocsv output-csv ", "whisper.cpp's", " --tsv ", "lapilli transcribe --tsv writes a table"},
    {" oj ojf ojson output-json output-json-full ", "whisper.cpp's", " --json ", "lapilli help tells who writes JSON"},
    {" otxt output-txt ", "whisper.cpp's", "", "text is what is written without an option; -o FILE names the file"},
    {" output-dir output-file of output-path outfile ", "Whisper's", " --output ", "the output is standard output"},
    {" max-new-tokens max-tokens n-predict max-decoding-length max-target-length predict ",
     "transformers', llama.cpp's and CTranslate2's", " --max-new-tokens --max-length ", kInOptions},
    {" length-penalty repetition-penalty no-repeat-ngram-size early-stopping min-length min-new-tokens "
     "coverage-penalty "
     "diversity-penalty num-beam-groups patience ",
     "transformers' and CTranslate2's", " --options ", "the model's generation_config.json sets it"},
    {" do-sample sampling ", "transformers'", " --sample ", "nothing is drawn here"},
    {" sampling-topk topk top-k ", "CTranslate2's and transformers'", " --top-k --top ", "nothing is drawn here"},
    {" sampling-temperature ", "CTranslate2's", " --temperature ", "nothing is drawn here"},
    {" model-name-or-path model-dir model-path model-name model-id hf-repo hf ", "transformers' and llama.cpp's",
     " --model ", "the model is an argument"},
    {" tokenizer sp-model spm sentencepiece-model source-vocab target-vocab vocab vocabs vocabulary ",
     "transformers' and Marian's", "", "the tokenizer is that of the model's directory"},
    {" gpu gpus ngl n-gpu-layers gpu-layers device-index device-map main-gpu use-gpu cuda no-gpu ng cpu cpu-only ",
     "llama.cpp's, Marian's and CTranslate2's", " --device ", "the device is found; lapilli devices lists them"},
    {" f file input input-file i infile text-file audio ", "whisper.cpp's and Marian's", "",
     "inputs stand behind the command without an option"},
    {" prompt initial-prompt ", "Whisper's and llama.cpp's", " --prompt ", "there is nothing like it here"},
    {" word-timestamps ml max-len ", "Whisper's", " --words ", "lapilli transcribe --words tells when words are said"},
    {" vad vad-filter vad-model no-timestamps nt condition-on-previous-text ", "Whisper's", "",
     "there is nothing like it here"},
    {" cache-dir cache-directory ", "transformers'", "", "LAPILLI_CACHE names the folder"},
    {" local-files-only offline ", "transformers'", "", "nothing is fetched but by lapilli fetch"},
    {" candidate-labels ", "transformers'", " --labels ", "lapilli classify --labels takes labels"},
    {" hypothesis-template ", "transformers'", " --hypothesis ", "lapilli classify --hypothesis takes the sentence"},
    {" context ", "transformers'", "", "texts and files stand behind the command without an option"},
    {" aggregation-strategy ", "transformers'", " --aggregation ", "lapilli tag --aggregation takes it"},
    {" ignore-labels ", "transformers'", " --ignore-labels ", "lapilli tag --ignore-labels takes it"},
    {" handle-impossible-answer ", "transformers'", " --allow-empty ", "lapilli answer --allow-empty takes it"},
    {" max-answer-len ", "transformers'", " --max-answer-tokens ", "lapilli answer --max-answer-tokens takes it"},
    {" doc-stride ", "transformers'", " --stride ", "nothing runs in windows here"},
    {" normalize-embeddings ", "sentence-transformers'", " --normalize ", "lapilli embed --normalize takes it"},
    {" truncate-dim ", "sentence-transformers'", " --dimensions ", "lapilli embed --dimensions takes it"},
    {" prompt-name ", "sentence-transformers'", " --prompt ", "lapilli embed --prompt takes it"},
    {" pooling pooling-mode ", "sentence-transformers'", "", "the model's directory names its pooling"},
    {" trust-remote-code ", "transformers'", "", "no code of a model is ever run"},
    {" print-progress pp verbose-json no-prints np ", "whisper.cpp's", " --quiet ", "--quiet and --verbose are ours"},
};

// "--Beam_Size" as the tables spell it: "beam-size".
std::string plain_name(std::string_view typed) {
  std::string name(typed.substr(std::min(typed.find_first_not_of('-'), typed.size())));
  for (char& c : name) c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

bool is_listed(std::string_view names, const std::string& name) {
  return names.find(" " + name + " ") != std::string_view::npos;
}

const ForeignOption* find_foreign(const std::string& name) {
  const auto found = std::find_if(std::begin(kForeignOptions), std::end(kForeignOptions),
                                  [&](const ForeignOption& o) { return is_listed(o.names, name); });
  return name.empty() || found == std::end(kForeignOptions) ? nullptr : found;
}

// The first in the row's order, in which better substitutes come first.
std::string first_of(std::string_view wanted, const std::vector<std::string>& ours) {
  size_t at = wanted.size();
  std::string first;
  for (const std::string& name : ours) {
    const size_t found = wanted.find(" " + name + " ");
    if (found >= at) continue;
    at = found;
    first = name;
  }
  return first;
}

std::string instead_of(const ForeignOption& option, const std::vector<std::string>& ours) {
  const std::string own = first_of(option.ours, ours);
  return " (" + std::string(option.whose) + "); " +
         (own.empty() ? std::string(option.otherwise) : "here it is " + own + (own == "--options" ? " '{...}'" : ""));
}

// Options in one word behind a dash, which would be read as -o with a value.
constexpr std::string_view kGlued = " osrt ovtt ocsv oj ojf ojson otxt of ";

}  // namespace

std::string foreign_option(std::string_view typed, const std::vector<std::string>& ours) {
  const std::string name = plain_name(typed);
  const auto same = std::find(ours.begin(), ours.end(), "--" + name);
  if (same != ours.end() && typed != *same) return "; here it is " + *same;
  const ForeignOption* foreign = find_foreign(name);
  return foreign ? instead_of(*foreign, ours) : "";
}

std::string foreign_spelling(const std::vector<std::string>& arguments, const std::vector<std::string>& ours) {
  for (const std::string& argument : arguments) {
    if (argument.size() < 3 || argument[0] != '-' || argument[1] != 'o') continue;
    const std::string name = argument.substr(1);
    if (is_listed(kGlued, name)) return "there is no option " + argument + instead_of(*find_foreign(name), ours);
  }
  return "";
}

std::string foreign_device(std::string_view select) {
  std::string name = plain_name(select);
  name = name.substr(0, name.find(':'));
  if (name == "auto") return "\nwithout --device the best one is taken";
  if (name == "cpu")
    return "\na CPU driver is named like any device (--device llvmpipe); without --device one is taken where there is "
           "no "
           "GPU";
  if (is_listed(" gpu cuda mps metal rocm hip xpu vulkan opencl directml ", name))
    return "\nwithout --device the best GPU is taken; of several, one is named by its index or a part of its name";
  return "";
}

}  // namespace lapilli::cli
