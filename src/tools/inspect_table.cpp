#include "tools/inspect_table.hpp"

#include <algorithm>

#include "base/counts.hpp"
#include "base/result.hpp"
#include "formats/quote.hpp"

namespace lapilli::tools {

namespace {

using Json = nlohmann::ordered_json;

// Says which of the three tables are shared.
std::string tied_text(const Json& tied) {
  const bool sides = tied["source_target"], output = tied["target_output"];
  if (sides && output) return "one table for source, target and output";
  if (output) return "one table for the source, one for target and output";
  return sides ? "one table for source and target, one for the output" : "a table for source, target and output each";
}

std::string size_of(const Json& bytes) { return size_text(bytes.get<uint64_t>()); }

// "6 layers, 8 heads, feed-forward 2048 (gelu); width 512, 64 a head; layer norm after sublayers; learned positions,
// 1,024 tokens at most".
std::string stack_text(const Json& stack) {
  const auto most = stack["max_positions"].get<uint64_t>();
  std::string text = format("%s, %s, feed-forward %u (%s%s)", counted(stack["layers"].get<uint64_t>(), "layer"),
                            counted(stack["heads"].get<uint64_t>(), "head"), stack["ffn"].get<unsigned>(),
                            stack["gated"].get<bool>() ? "gated " : "", stack["activation"].get<std::string>());
  text += format("; width %u, %u a head; %s norm %s sublayers", stack["d_model"].get<unsigned>(),
                 stack["head_dim"].get<unsigned>(), stack["norm"].get<std::string>(),
                 stack["norm_first"].get<bool>() ? "before" : "after");
  if (stack["recurrent_cells"].get<bool>()) text += "; recurrent cells in place of self attention";
  text += format("; %s positions, ", stack["positions"].get<std::string>());
  return text + (most ? counted(most, "token") + " at most" : "any number of tokens");
}

// A language's code, quoted unless it is plain: it comes from a file and must not steer a terminal.
std::string code_text(const std::string& code) {
  const bool plain = std::all_of(code.begin(), code.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return plain ? code : quote_name(code);
}

// The first few codes.
std::string some(const Json& codes) {
  constexpr size_t kMost = 12;
  std::string text;
  for (size_t i = 0; i < std::min(kMost, codes.size()); ++i)
    text += (i ? ", " : "") + code_text(codes[i].get<std::string>());
  return codes.size() <= kMost ? text : format("%s and %u more (--json lists them)", text, codes.size() - kMost);
}

std::string speech_languages_text(const Json& languages) {
  const Json &source = languages["source"], &target = languages["target"];
  if (source.empty()) return "the one that it was trained for";
  return "transcribes " + some(source) + (target.empty() ? "" : "; translates to " + some(target));
}

std::string languages_text(const Json& languages) {
  if (languages.is_null()) return "unknown without the tokenizer";
  const Json &source = languages["source"], &target = languages["target"];
  if (target.empty()) return "the files name none";
  if (source == target) return "between " + some(target);
  return (source.empty() ? "" : some(source) + " ") + "to " + some(target);
}

// "384 numbers: mean, length 1; at most 256 tokens; prompts: query, passage".
std::string vectors_text(const Json& vectors) {
  std::string text = counted(vectors["dimensions"].get<uint64_t>(), "number") + ": ", prompts;
  for (const Json& pooling : vectors["pooling"])
    text += (text.back() == ' ' ? "" : " beside ") + pooling.get<std::string>();
  for (const Json& step : vectors["steps"]) text += ", " + step.get<std::string>();
  const auto most = vectors["max_tokens"].get<uint64_t>();
  if (most) text += "; texts are cut at " + counted(most, "token");
  for (const auto& [name, prompt] : vectors["prompts"].items())
    prompts += (prompts.empty() ? "" : ", ") + code_text(name);
  return text + (prompts.empty() ? "" : "; prompts: " + prompts);
}

// "9: O, B-MISC, I-MISC, and so on".
std::string labels_text(const Json& labels) {
  constexpr size_t kNamed = 5;
  std::string text = grouped(labels.size()) + ":";
  for (size_t i = 0; i < std::min(labels.size(), kNamed); ++i)
    text += (i == 0 ? " " : ", ") + code_text(labels[i].get<std::string>());
  return text + (labels.size() > kNamed ? ", and so on" : "");
}

// "at most 512 tokens; longer ones run in windows".
std::string texts_text(const Json& texts) {
  const auto most = texts["max_tokens"].get<uint64_t>();
  if (most == 0) return "of any length";
  const std::string longer = texts["longer"];
  return "at most " + counted(most, "token") + "; longer ones " +
         (longer == "windows" ? "run in windows"
          : longer == "cut"   ? "are cut"
                              : "fail");
}

std::string tensors_text(const Json& json) {
  if (!json.contains("tensors")) return "";
  std::string text = "\ntensors\n";
  for (const Json& tensor : json["tensors"]) {
    text += format("  %-4s %-14s %s\n", tensor["type"].get<std::string>(), tensor["shape"].dump(),
                   quote_name(tensor["name"].get<std::string>()));
  }
  return text;
}

// A command that runs it, with languages if the model needs them.
std::string command_line(const Json& json) {
  if (json["tasks"].empty()) return "no command runs it; programs may";
  const auto task = json["tasks"].front().get<std::string>();
  std::string line = "lapilli " + task + " --model " + json["directory"].get<std::string>();
  const Json& languages = json["languages"];
  if (task == "translate" && !languages.is_null() && languages["target"].size() > 1) {
    if (languages["source"] == languages["target"]) line += " --from LANGUAGE";
    line += " --to LANGUAGE";
  }
  if (task == "answer") line += " --question \"WHO?\"";
  if (task == "rerank") line += " \"QUERY\"";
  if (task == "fill") return line + " \"TEXT WITH A MASK\"";
  if (json["input"] == "picture") return line + " PICTURE";
  if (json["input"] == "sound") return line + " RECORDING";
  return line + (json["tokenizer"] == "ok" ? " \"TEXT\"" : " --ids \"IDS\"");
}

// The encoder's input and the decoder's vocabulary.
std::string vocabulary_text(const Json& json) {
  const std::string target = grouped(json["target_vocabulary"].get<uint64_t>()) + " target";
  const std::string source = grouped(json["source_vocabulary"].get<uint64_t>());
  if (!json.contains("features")) return json["decoder"]["layers"] == 0 ? source : source + " source, " + target;
  const uint64_t rows = json["features"]["rows"].get<uint64_t>();
  return "features of " + counted(json["features"]["width"].get<uint64_t>(), "number") +
         (rows ? ", " + counted(rows, "row") + " of them" : "") + "; " + target;
}

// Limits of having only these files; "" if there are none.
std::string shortcoming(const Json& json) {
  if (json["tokenizer"] == "ok") return "";
  if (json["input"] == "text") return " It takes token ids alone, for its tokenizer cannot be used.";
  return json["decoder"]["layers"] == 0 ? "" : " It gives token ids alone (--ids), for its tokenizer cannot be used.";
}

std::string summary(const Json& json) {
  if (const std::string front = json.value("preprocessor", std::string("ok")); front != "ok")
    return "\nThe network runs here, but nothing makes its input: " + front + "\n";
  std::string tasks;
  for (const Json& task : json["tasks"]) tasks += (tasks.empty() ? "" : ", ") + task.get<std::string>();
  return format("\nThis model runs here: %s, %s.%s\n  %s\n", tasks,
                (size_of(json["device_weight_bytes"]) + " of device memory for weights"), shortcoming(json),
                command_line(json));
}

}  // namespace

std::string inspect_table(const Json& json) {
  std::string text;
  auto line = [&text](const char* what, const std::string& value) { text += format("%-12s %s\n", what, value); };
  const Json& checkpoint = json["checkpoint"];
  std::string types;
  for (const auto& [type, count] : checkpoint["stored_types"].items()) {
    types += format("%s%u x %s", types.empty() ? "" : ", ", count.get<unsigned>(), type);
  }
  line("directory", json["directory"].get<std::string>());
  line("family", json["family"].get<std::string>() + " (" + json["description"].get<std::string>() + ")");
  line("encoder", stack_text(json["encoder"]));
  if (json["decoder"]["layers"] != 0) line("decoder", stack_text(json["decoder"]));
  line("vocabulary", vocabulary_text(json));
  const bool encoder_alone = json["decoder"]["layers"] == 0;
  if (!json.contains("features") && !encoder_alone) line("embeddings", tied_text(json["tied"]));
  if (json.contains("vectors")) line("vectors", vectors_text(json["vectors"]));
  if (json.contains("labels")) line("labels", labels_text(json["labels"]));
  if (json.contains("texts")) line("texts", texts_text(json["texts"]));
  line("parameters", grouped(json["parameters"].get<uint64_t>()));
  if (json.contains("origin"))
    line("from", json["origin"]["program"].get<std::string>() + ", " + json["origin"]["version"].get<std::string>());
  for (const Json& unused : json.value("origin", Json::object()).value("unused", Json::array()))
    line("not used", unused.get<std::string>());
  if (json.contains("shortlist"))
    line("shortlist", json["shortlist"].get<bool>() ? "each source has one" : "none, which takes longer");
  line("checkpoint", checkpoint["format"].get<std::string>() + ", " + types + ", " + size_of(checkpoint["bytes"]));
  line("on device",
       size_of(json["device_weight_bytes"]) + " of weights (" + checkpoint.value("packed", std::string("fp32")) + ")");
  if (json.contains("preprocessor")) line("preprocessor", json["preprocessor"].get<std::string>());
  line("tokenizer", json["tokenizer"].get<std::string>());
  if (encoder_alone && json["input"] == "text") return text + tensors_text(json) + summary(json);
  line("generation", json["generation"].dump());
  line("languages",
       json["input"] == "sound" ? speech_languages_text(json["languages"]) : languages_text(json["languages"]));
  return text + tensors_text(json) + summary(json);
}

}  // namespace lapilli::tools
