#include "cli/attention_output.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "cli/output.hpp"

namespace lapilli::cli {

namespace {

bool ends_with(const std::string& text, const std::string& end) {
  if (text.size() < end.size()) return false;
  for (size_t i = 0; i < end.size(); ++i) {
    const char c = text[text.size() - end.size() + i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c) != end[i]) return false;
  }
  return true;
}

// A number from 0, "mean" or "all".
bool parse_index(const std::string& text, int32_t& index) {
  if (text == "mean" || text == "all") {
    index = text == "mean" ? LAPILLI_ATTENTION_MEAN : LAPILLI_ATTENTION_ALL;
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size() && index >= 0;
}

Result<bool> write_file(const std::string& name, const void* bytes, size_t count, bool append) {
  errno = 0;
  std::FILE* file = std::fopen(name.c_str(), append ? "ab" : "wb");
  bool ok = file != nullptr && std::fwrite(bytes, 1, count, file) == count;
  if (file != nullptr && std::fclose(file) != 0) ok = false;
  if (ok) return true;
  return Error(LAPILLI_NOT_FOUND, name + ": cannot be written: " + std::strerror(errno));
}

std::string part(const std::string& text, uint64_t begin, uint64_t end) {
  return begin <= end && end <= text.size() ? text.substr(begin, end - begin) : std::string();
}

std::string link_text(const lapilli_word_link& link, const std::string& source, const std::string& target, bool json) {
  const auto n = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  const std::string words[] = {part(source, link.source_begin, link.source_end),
                               part(target, link.target_begin, link.target_end)};
  char numbers[160];
  if (!json) {
    std::snprintf(numbers, sizeof numbers, "\n\t%llu-%llu\t%llu-%llu\t%.2f\t", n(link.source_begin), n(link.source_end),
                  n(link.target_begin), n(link.target_end), static_cast<double>(link.weight));
    return numbers + words[0] + "\t" + words[1];
  }
  std::snprintf(numbers, sizeof numbers, "{\"source\":[%llu,%llu],\"target\":[%llu,%llu],\"weight\":%.4g,\"words\":[",
                n(link.source_begin), n(link.source_end), n(link.target_begin), n(link.target_end),
                static_cast<double>(link.weight));
  return numbers + json_string(words[0]) + "," + json_string(words[1]) + "]}";
}

}  // namespace

void add_attention_options(CLI::App& command, AttentionArguments& arguments) {
  command
      .add_option("--attention", arguments.file,
                  "Write what the model looked at: FILE.png is a picture, FILE.json holds the numbers")
      ->type_name("FILE");
  command.add_option("--attention-kind", arguments.kind, "cross (target by source), encoder or decoder")
      ->type_name("KIND")
      ->capture_default_str();
  command
      .add_option("--attention-layer", arguments.layer,
                  "A layer from 0, mean, or (as JSON) all; --alignment heeds it, too")
      ->type_name("N")
      ->capture_default_str();
  command.add_option("--attention-head", arguments.head, "A head from 0, mean, or (as JSON) all")
      ->type_name("N")
      ->capture_default_str();
  command.add_flag("--alignment", arguments.alignment, "Word pairs of source and translation, with their bytes");
}

std::string AttentionOutput::check(bool ids) {
  if (arguments_.kind == "cross") {
    choice_.kind = LAPILLI_ATTENTION_CROSS;
  } else if (arguments_.kind == "encoder") {
    choice_.kind = LAPILLI_ATTENTION_ENCODER;
  } else if (arguments_.kind == "decoder") {
    choice_.kind = LAPILLI_ATTENTION_DECODER;
  } else {
    return "--attention-kind: \"" + arguments_.kind + "\" is none of cross, encoder, decoder";
  }
  if (!parse_index(arguments_.layer, choice_.layer)) return "--attention-layer: a number from 0, mean or all";
  if (!parse_index(arguments_.head, choice_.head)) return "--attention-head: a number from 0, mean or all";
  if (arguments_.alignment && ids) return "--alignment needs texts, not --ids";
  if (arguments_.alignment && choice_.layer == LAPILLI_ATTENTION_ALL) {
    return "--alignment takes one layer or their mean (--attention-layer)";
  }
  if (arguments_.file.empty()) return "";
  picture_ = ends_with(arguments_.file, ".png");
  if (!picture_ && !ends_with(arguments_.file, ".json")) {
    return "--attention: " + arguments_.file + " ends with neither .png nor .json";
  }
  const bool all = choice_.layer == LAPILLI_ATTENTION_ALL || choice_.head == LAPILLI_ATTENTION_ALL;
  return picture_ && all ? "a picture shows one layer and head or their mean; all of them go to a .json file" : "";
}

std::string AttentionOutput::file_name() const {
  if (!picture_ || written_ == 0) return arguments_.file;
  const size_t stem = arguments_.file.size() - 4;
  return arguments_.file.substr(0, stem) + "-" + std::to_string(written_ + 1) + arguments_.file.substr(stem);
}

Result<bool> AttentionOutput::write(const Model& model, const Results& results, size_t input) {
  if (arguments_.file.empty()) return true;
  for (size_t piece = 0; piece < Attention::pieces(results, input); ++piece) {
    auto attention = Attention::run(model, results, input, 0, piece);
    if (!attention) return attention.error();
    Result<bool> done = true;
    if (picture_) {
      auto png = attention->png(choice_);
      if (!png) return png.error();
      done = write_file(file_name(), png->data(), png->size(), false);
    } else {
      auto json = attention->json(choice_);
      if (!json) return json.error();
      *json += '\n';
      done = write_file(file_name(), json->data(), json->size(), written_ > 0);
    }
    if (!done) return done;
    ++written_;
  }
  return true;
}

Result<std::string> AttentionOutput::alignment(const Model& model, const Results& results, size_t input,
                                               size_t sequence, const std::string& source, bool json) const {
  if (!arguments_.alignment) return std::string();
  std::string out;
  for (size_t piece = 0; piece < Attention::pieces(results, input, sequence); ++piece) {
    auto attention = Attention::run(model, results, input, sequence, piece);
    if (!attention) return attention.error();
    auto links = attention->align(choice_.layer);
    if (!links) return links.error();
    for (const lapilli_word_link& link : *links) {
      if (json && !out.empty()) out += ",";
      out += link_text(link, source, results[input].sequences[sequence].text, json);
    }
  }
  return json ? ",\"alignment\":[" + out + "]" : out;
}

}  // namespace lapilli::cli
