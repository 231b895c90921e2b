#include "cli/run/attention_output.hpp"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/path.hpp"
#include "cli/files/target_file.hpp"
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

// A file that cannot be written completely is removed, and one that is appended to is restored.
Result<void> write_file(const std::string& name, const void* bytes, size_t count, bool append) {
  const uint64_t before = append ? file_size(name) : 0;
  errno = 0;
  std::FILE* file = open_stream(name, append ? "ab" : "wb");
  bool ok = file != nullptr && std::fwrite(bytes, 1, count, file) == count;
  int why = ok ? 0 : errno;
  if (file != nullptr && std::fclose(file) != 0 && ok) {
    ok = false;
    why = errno;
  }
  if (ok) return {};
  if (file != nullptr && file_exists(name)) append ? resize_file(name, before) : remove_file(name);
  return Error(Status::not_found, name + ": cannot be written: " + std::strerror(why));
}

// True if an error concerns more than one input. In a run of the model, a wrong argument is about its input.
bool concerns_all(Status status, bool of_run) {
  return status == Status::not_found || status == Status::no_device || status == Status::device_lost ||
         status == Status::timeout || (status == Status::invalid_argument && !of_run);
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

constexpr std::string_view kUnknown = "<unk>";

// Text of the source token with the most weight; with the space before it, if there is one.
std::string most_attended(const Attention& attention, const lapilli_attention_map& map, uint32_t row,
                          const std::string& source) {
  float most = 0;
  std::string word;
  for (uint32_t column = 0; column < map.columns; ++column) {
    float weight = 0;
    for (uint32_t head = 0; head < map.heads; ++head) {
      const uint64_t plane = uint64_t{map.layers - 1} * map.heads + head;
      weight += map.values[(plane * map.rows + row) * map.columns + column];
    }
    const auto token = attention.token(false, column);
    if (weight <= most || !token || token->special || token->end > source.size() || token->begin >= token->end)
      continue;
    most = weight;
    const bool spaced = token->begin > 0 && source[token->begin - 1] == ' ';
    word = source.substr(token->begin - spaced, token->end - token->begin + spaced);
  }
  return word;
}

// The step that writes a token is that of the row before.
void put_words(const Attention& attention, const std::string& source, const std::string& text,
               std::vector<PutWord>& words) {
  const auto map = attention.map();
  if (!map || map->layers == 0) return;
  for (uint32_t i = 1; i < map->rows; ++i) {
    const auto token = attention.token(true, i);
    if (!token || token->special || token->label != kUnknown) continue;
    std::string word = most_attended(attention, *map, i - 1, source);
    const bool apart = token->begin == 0 || text[token->begin - 1] == ' ';
    if (apart && word.starts_with(' ')) word.erase(0, 1);
    if (!word.empty()) words.push_back({token->begin, token->end, std::move(word)});
  }
}

}  // namespace

std::vector<PutWord> words_for_unknown(const Model& model, const Results& results, size_t input,
                                       const std::string& source) {
  std::vector<PutWord> words;
  const Output& output = results[input];
  if (output.sequences.empty() || source.find(kUnknown) != std::string::npos) return words;
  const Sequence& best = output.sequences.front();
  for (size_t i = 0; i < best.parts.size(); ++i) {
    const Part& part = best.parts[i];
    const size_t at = best.text.find(kUnknown, part.target_begin);
    if (part.finish == Finish::kept || at >= part.target_end) continue;
    if (const auto attention = Attention::run(model, results, input, 0, i))
      put_words(*attention, source, best.text, words);
  }
  return words;
}

std::string with_words(const std::string& text, const std::vector<PutWord>& words) {
  std::string made = text;
  for (size_t i = words.size(); i-- > 0;) made.replace(words[i].begin, words[i].end - words[i].begin, words[i].word);
  return made;
}

uint64_t place_with_words(uint64_t place, const std::vector<PutWord>& words) {
  uint64_t moved = place;
  for (const PutWord& w : words)
    if (place >= w.end) moved += w.word.size() - (w.end - w.begin);  // may wrap, and the sum is right
  return moved;
}

bool parse_attention_index(const std::string& text, int32_t& index) {
  if (text == "mean" || text == "all") {
    index = text == "mean" ? LAPILLI_ATTENTION_MEAN : LAPILLI_ATTENTION_ALL;
    return true;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size() && index >= 0;
}

void add_attention_options(CLI::App& command, AttentionArguments& arguments) {
  command
      .add_option(
          "--attention", arguments.file,
          "Write the attention of the model: FILE.svg is a picture, FILE.png one with simple labels, FILE.json the "
          "numbers")
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
    choice_.kind = AttentionKind::cross;
  } else if (arguments_.kind == "encoder") {
    choice_.kind = AttentionKind::encoder;
  } else if (arguments_.kind == "decoder") {
    choice_.kind = AttentionKind::decoder;
  } else {
    return "--attention-kind: \"" + arguments_.kind + "\" is none of cross, encoder, decoder";
  }
  if (!parse_attention_index(arguments_.layer, choice_.layer)) return "--attention-layer: a number from 0, mean or all";
  if (!parse_attention_index(arguments_.head, choice_.head)) return "--attention-head: a number from 0, mean or all";
  if (arguments_.alignment && ids) return "--alignment needs texts, not --ids";
  if (arguments_.alignment && choice_.layer == LAPILLI_ATTENTION_ALL) {
    return "--alignment takes one layer or their mean (--attention-layer)";
  }
  if (!arguments_.wanted() && (arguments_.layer != "mean" || arguments_.head != "mean" || arguments_.kind != "cross"))
    return "--attention-kind, --attention-layer and --attention-head choose what --attention and --alignment show; say "
           "one "
           "of them, too";
  if (arguments_.file.empty()) return "";
  if (!choose_format()) return "--attention: " + arguments_.file + " ends with none of .svg, .png, .json";
  const bool all = choice_.layer == LAPILLI_ATTENTION_ALL || choice_.head == LAPILLI_ATTENTION_ALL;
  if (picture() && all) return "a picture shows one layer and head or their mean; all of them go to a .json file";
  if (directory_exists(arguments_.file)) return "--attention: " + arguments_.file + " is a folder";
  const std::string missing = missing_folder(arguments_.file);
  return missing.empty() ? "" : "--attention: " + missing;
}

bool AttentionOutput::choose_format() {
  const std::pair<const char*, Format> formats[] = {
      {".svg", Format::svg}, {".png", Format::png}, {".json", Format::json}};
  for (const auto& [end, format] : formats) {
    if (!ends_with(arguments_.file, end)) continue;
    format_ = format;
    return true;
  }
  return false;
}

std::string AttentionOutput::file_name() const {
  if (!picture() || written_ == 0) return arguments_.file;
  const size_t stem = arguments_.file.size() - 4;
  return arguments_.file.substr(0, stem) + "-" + std::to_string(written_ + 1) + arguments_.file.substr(stem);
}

Result<std::string> AttentionOutput::contents(const Attention& attention) const {
  if (format_ == Format::svg) return attention.svg(choice_);
  if (format_ == Format::png) {
    auto png = attention.png(choice_);
    if (!png) return png.error();
    return std::string(png->begin(), png->end());
  }
  auto json = attention.json(choice_);
  if (json) *json += '\n';
  return json;
}

Result<void> AttentionOutput::write(const Attention& attention) {
  auto bytes = contents(attention);
  if (!bytes) return bytes.error();
  auto done = write_file(file_name(), bytes->data(), bytes->size(), !picture() && written_ > 0);
  if (done) ++written_;
  return done;
}

AttentionOutput::Outcome AttentionOutput::attend(const Model& model, const Results& results, size_t input,
                                                 const std::string& source, bool json) {
  Outcome out;
  const auto& sequences = results[input].sequences;
  for (size_t sequence = 0; sequence < sequences.size(); ++sequence) {
    const bool to_file = sequence == 0 && !arguments_.file.empty();
    if (!to_file && !arguments_.alignment) break;
    std::string links;
    for (size_t part = 0; part < sequences[sequence].parts.size(); ++part) {
      auto attention = Attention::run(model, results, input, sequence, part);
      if (!attention) return {{}, attention.error(), concerns_all(attention.error().status(), true)};
      // A kept sentence has no attention, but its words are linked to themselves.
      if (to_file && sequences[sequence].parts[part].finish != Finish::kept) {
        if (auto written = write(*attention); !written)
          return {{}, written.error(), concerns_all(written.error().status(), false)};
      }
      if (!arguments_.alignment) continue;
      const auto found = attention->align(choice_.layer);
      if (!found) return {{}, found.error(), concerns_all(found.error().status(), false)};
      for (const lapilli_word_link& link : found.value()) {
        if (json && !links.empty()) links += ",";
        links += link_text(link, source, sequences[sequence].text, json);
      }
    }
    if (arguments_.alignment) out.alignments.push_back(json ? ",\"alignment\":[" + links + "]" : links);
  }
  return out;
}

}  // namespace lapilli::cli
