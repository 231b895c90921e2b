#include "generate/conventions.hpp"

#include <algorithm>
#include <cctype>

#include "generate/verbs.hpp"
#include "search/network_on_device.hpp"
#include "text/kinds/languages.hpp"

namespace lapilli {

namespace {

// Languages by their names in T5's prefixes.
struct LanguageName {
  std::string_view code, name;
};
constexpr LanguageName kNames[] = {
    {"ar", "Arabic"},     {"bg", "Bulgarian"}, {"bn", "Bengali"},    {"ca", "Catalan"},    {"cs", "Czech"},
    {"da", "Danish"},     {"de", "German"},    {"el", "Greek"},      {"en", "English"},    {"es", "Spanish"},
    {"et", "Estonian"},   {"eu", "Basque"},    {"fa", "Persian"},    {"fi", "Finnish"},    {"fr", "French"},
    {"ga", "Irish"},      {"gl", "Galician"},  {"gu", "Gujarati"},   {"he", "Hebrew"},     {"hi", "Hindi"},
    {"hr", "Croatian"},   {"hu", "Hungarian"}, {"hy", "Armenian"},   {"id", "Indonesian"}, {"is", "Icelandic"},
    {"it", "Italian"},    {"ja", "Japanese"},  {"ka", "Georgian"},   {"kk", "Kazakh"},     {"ko", "Korean"},
    {"lt", "Lithuanian"}, {"lv", "Latvian"},   {"mk", "Macedonian"}, {"ms", "Malay"},      {"nl", "Dutch"},
    {"no", "Norwegian"},  {"pl", "Polish"},    {"pt", "Portuguese"}, {"ro", "Romanian"},   {"ru", "Russian"},
    {"sk", "Slovak"},     {"sl", "Slovenian"}, {"sq", "Albanian"},   {"sr", "Serbian"},    {"sv", "Swedish"},
    {"sw", "Swahili"},    {"ta", "Tamil"},     {"te", "Telugu"},     {"th", "Thai"},       {"tr", "Turkish"},
    {"uk", "Ukrainian"},  {"ur", "Urdu"},      {"vi", "Vietnamese"}, {"zh", "Chinese"}};

// Searches a table of these names' codes, so that "fra" and "fr-FR" are found, too.
Result<LanguageName> language_name(const std::string& code) {
  LanguageTable table;
  for (size_t i = 0; i < std::size(kNames); ++i) table.add(kNames[i].code, static_cast<int32_t>(i));
  LAPILLI_TRY(const auto* entry, table.require(code));
  return kNames[static_cast<size_t>(entry->id)];
}

// Families whose published models were trained with "translate English to French: ".
bool takes_named_tasks(const std::string& family) { return family == "t5" || family == "longt5"; }

const TaskParams* find_task(const Model& model, std::string_view name) {
  for (const TaskParams& t : model.tasks())
    if (t.name == name) return &t;
  return nullptr;
}

void take(const TaskParams& params, Conventions& c) {
  c.prefix = params.prefix;
  c.options = params.options;
}

bool has_language_token(const Tokenizer& t, int32_t id) {
  if (id < 0) return false;
  const auto codes = t.languages();
  return std::any_of(codes.begin(), codes.end(), [&](const std::string& code) { return t.language_id(code) == id; });
}

// SMaLL-100 (Mohammadshahi et al. 2022) is M2M100 with fewer decoder layers, and its files do not tell them apart: the
// target's token precedes the source, and the decoder writes none.
bool is_small100(const Model& model) {
  if (model.info().family != "m2m_100") return false;
  std::string name;
  for (const char c : model.info().directory)
    if (c != '-' && c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return (model.info().encoder_layers == 12 && model.info().decoder_layers == 3) || name.find("small100") != name.npos;
}

// mBART-50, M2M100, NLLB: the target's token is the first that the decoder writes. mBART: it is the decoder's start, as
// the model's own settings show.
Result<Conventions> by_language_tokens(const Model& model, const TaskRequest& r) {
  const Tokenizer& t = *model.tokenizer();
  const GenerationConfig& own = model.generation_config();
  const bool starts_with_it = own.decoder_start_token_id && has_language_token(t, *own.decoder_start_token_id);
  LanguageTable table;
  for (const std::string& code : t.languages()) table.add(code, t.language_id(code));
  Conventions c;
  if (!r.from.empty()) {
    LAPILLI_TRY(const auto* from, table.require(r.from));
    c.source_language = from->code;
  }
  if (is_small100(model) && !r.to.empty()) {
    LAPILLI_TRY(const auto* to, table.require(r.to));
    c.source_language = to->code;
    return c;
  }
  if (r.to.empty()) {
    const bool set = starts_with_it || (own.forced_bos_token_id && has_language_token(t, *own.forced_bos_token_id));
    if (set || r.task != TextTask::translate) return c;
    return fail(ErrorCode::invalid_argument,
                "%s translates between %u languages and its files do not say which one to translate to: name it (--to, "
                "target_language), for example %s",
                model.info().directory, t.languages().size(), t.languages().front());
  }
  LAPILLI_TRY(const auto* to, table.require(r.to));
  c.target_language = to->code;
  (starts_with_it ? c.options.decoder_start_token_id : c.options.forced_bos_token_id) = to->id;
  return c;
}

bool is_language(const std::string& code, const std::string& asked) {
  LanguageTable table;
  table.add(code, 0);
  return table.find(asked) != nullptr;
}

// Groups of languages in names of published Marian models (ISO 639-5, and older names), which may mean any of their
// members.
constexpr std::string_view kGroups[] = {
    "aav", "afa", "alv", "art", "bat", "bnt", "cau", "ccs", "cel", "celtic",  "cpf", "cpp",         "cus",
    "dra", "euq", "fiu", "gem", "gmq", "gmw", "grk", "iir", "inc", "ine",     "ira", "itc",         "kar",
    "mkh", "mul", "nah", "ngf", "nic", "poz", "pqe", "pqw", "roa", "romance", "sal", "scandinavia", "sem",
    "sit", "sla", "smi", "tai", "trk", "tut", "urj", "wen", "zhx", "zle",     "zls", "zlw"};

// True if the source that the files name may be the requested language, or if either is not given.
bool may_be(const std::string& named, const std::string& asked) {
  std::string lower;
  for (const char c : named) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return asked.empty() || named.empty() || is_language(named, asked) ||
         std::find(std::begin(kGroups), std::end(kGroups), lower) != std::end(kGroups);
}

// Form of the token before a text that names the target language: of Marian models with several targets, and of
// MADLAD-400 (Kudugunta et al. 2023), which has none for the source.
struct MarkForm {
  std::string_view before, behind;
};
constexpr MarkForm kMarianMark = {">>", "<<"}, kMadladMark = {"<2", ">"};

LanguageTable marked_targets(const Tokenizer& t, const MarkForm& form) {
  LanguageTable table;
  const size_t around = form.before.size() + form.behind.size();
  const auto size = static_cast<int32_t>(std::min<uint64_t>(t.vocabulary_size(), 1u << 30));
  for (int32_t id = 0; id < size; ++id) {
    const std::string_view token = t.token(id);
    if (token.size() >= around + 2 && token.starts_with(form.before) && token.ends_with(form.behind))
      table.add(token.substr(form.before.size(), token.size() - around), id);
  }
  return table;
}

bool is_one_language(const std::string& code) {
  return std::any_of(std::begin(kNames), std::end(kNames),
                     [&](const LanguageName& known) { return is_language(std::string(known.code), code); });
}

Result<Conventions> by_marks(const MarkForm& form, const LanguageTable& table, bool needed, const std::string& asked) {
  const auto mark = [&form](const std::string& code) {
    return std::string(form.before).append(code).append(form.behind);
  };
  Conventions c;
  if (!asked.empty()) {
    LAPILLI_TRY(const auto* to, table.require(asked));
    c.prefix = mark(to->code) + " ";
    return c;
  }
  for (const std::string& code : table.codes()) c.marks.push_back(mark(code));
  c.needs_mark = needed;
  return c;
}

// The error of models for a single pair of languages.
Failure not_this_language(const Model& model, const LanguagePair& pair, const char* which, const std::string& asked) {
  return fail(ErrorCode::invalid_argument,
              "%s translates from \"%s\" to \"%s\", not %s \"%s\": load a model of these languages (`lapilli models` "
              "lists some)",
              model.info().directory, pair.source, pair.target, which, asked);
}

// A target in the files counts if it is a single language, not a group ("roa"), and not among the marks.
Result<Conventions> by_marian_marks(const Model& model, const LanguageTable& table, const TaskRequest& r) {
  const LanguagePair pair = model.tokenizer()->language_pair();
  if (!may_be(pair.source, r.from))
    return fail(ErrorCode::invalid_argument,
                "%s translates from \"%s\", not from \"%s\": leave out the source language", model.info().directory,
                pair.source, r.from);
  const bool named = is_one_language(pair.target) && !table.find(pair.target);
  return by_marks(kMarianMark, table, table.codes().size() > 1 && !named, r.to);
}

// "translation_en_to_fr" of config.json, or T5's words.
Result<Conventions> by_words(const Model& model, const TaskRequest& r) {
  Conventions c;
  std::string names;
  const TaskParams* only = nullptr;
  size_t count = 0;
  for (const TaskParams& task : model.tasks()) {
    if (!task.name.starts_with("translation_")) continue;
    names += (names.empty() ? "" : ", ") + task.name.substr(12);
    only = &task;
    ++count;
  }
  if (r.from.empty() || r.to.empty()) {
    if (count == 1 && r.from.empty() && r.to.empty()) {
      take(*only, c);
      return c;
    }
    return fail(ErrorCode::invalid_argument,
                "%s translates between several languages: name both (--from and --to, source_language and "
                "target_language)%s%s",
                model.info().directory, names.empty() ? "" : "; its files mention ", names);
  }
  LAPILLI_TRY(const auto from, language_name(r.from));
  LAPILLI_TRY(const auto to, language_name(r.to));
  const std::string name = "translation_" + std::string(from.code) + "_to_" + std::string(to.code);
  if (const TaskParams* task = find_task(model, name)) {
    take(*task, c);
    return c;
  }
  c.prefix = "translate " + std::string(from.name) + " to " + std::string(to.name) + ": ";
  return c;
}

Result<Conventions> by_pair(const Model& model, const LanguagePair& pair, const TaskRequest& r) {
  if (!may_be(pair.source, r.from)) return not_this_language(model, pair, "from", r.from);
  if (!r.to.empty() && !is_language(pair.target, r.to)) return not_this_language(model, pair, "to", r.to);
  return Conventions{};
}

Result<Conventions> for_translation(const Model& model, const TaskRequest& r) {
  if (model.tokenizer() && takes_named_tasks(model.info().family))
    if (const auto marks = marked_targets(*model.tokenizer(), kMadladMark); marks.codes().size() > 1)
      return by_marks(kMadladMark, marks, true, r.to);
  const bool named = std::any_of(model.tasks().begin(), model.tasks().end(),
                                 [](const TaskParams& t) { return t.name.starts_with("translation_"); });
  if (named || takes_named_tasks(model.info().family)) {
    // Without any languages, the texts may contain their words already.
    Conventions own;
    own.texts_bring_words = true;
    if (r.from.empty() && r.to.empty() && !named) return own;
    return by_words(model, r);
  }
  if (model.tokenizer())
    if (const auto marks = marked_targets(*model.tokenizer(), kMarianMark); !marks.empty())
      return by_marian_marks(model, marks, r);
  if (r.from.empty() && r.to.empty()) return Conventions{};
  if (model.tokenizer()) {
    const LanguagePair pair = model.tokenizer()->language_pair();
    if (!pair.source.empty() && !pair.target.empty()) return by_pair(model, pair, r);
  }
  return fail(
      ErrorCode::invalid_argument,
      "%s (%s) has no languages to choose from: it translates between the two that it was trained for; leave out "
      "%s",
      model.info().directory, model.info().family,
      r.from.empty() ? "the target language"
      : r.to.empty() ? "the source language"
                     : "both languages");
}

Result<Conventions> for_summary(const Model& model) {
  if (only_translates(model.info().family))
    return fail(ErrorCode::invalid_argument,
                "%s (%s) is a model for translations and cannot summarize: load one for summaries (`lapilli models "
                "--task summarize` lists some); the task generate runs this one as it is",
                model.info().directory, model.info().family);
  Conventions c;
  if (const TaskParams* task = find_task(model, "summarization"))
    take(*task, c);
  else if (takes_named_tasks(model.info().family))
    c.prefix = "summarize: ";
  c.global_first = model.info().family == "led";
  return c;
}

// A decoder translates if it is one of the table of translators.
Result<Conventions> by_prompt(const Model& model, const TaskRequest& r, const ChatTemplate* chat) {
  const model::Config& config = model.on_device().config();
  const Translator* row = r.task == TextTask::translate ? find_translator(model.info().directory, chat) : nullptr;
  if (!row)
    return fail(ErrorCode::unsupported,
                "%s models continue a text, and no task has conventions for them; what serves them: %s%s",
                config.family, verbs_for(config),
                r.task == TextTask::translate
                    ? " (" + translator_names() + " translate, known by the name of their directory)"
                    : std::string());
  LAPILLI_TRY(auto prompt, translator_prompt(*row, chat, r.from, r.to));
  Conventions c;
  c.frame = std::move(prompt.frame);
  c.options = std::move(prompt.options);
  return c;
}

bool is_marian(const std::string& family) { return family == "marian" || family == "marian_nmt"; }

}  // namespace

bool only_translates(const std::string& family) {
  return is_marian(family) || family == "fsmt" || family == "m2m_100" || family == "transformer";
}

ModelLanguages languages_of(const Tokenizer& t) {
  const auto all = t.languages();
  if (!all.empty()) return {all, all};
  const LanguagePair pair = t.language_pair();
  ModelLanguages of;
  if (!pair.source.empty()) of.sources.push_back(pair.source);
  of.targets = marked_targets(t, kMarianMark).codes();
  if (of.targets.empty()) of.targets = marked_targets(t, kMadladMark).codes();
  if (of.targets.empty() && !pair.target.empty()) of.targets.push_back(pair.target);
  return of;
}

Result<TextTask> parse_task(std::string_view name) {
  if (name.empty() || name == "generate") return TextTask::none;
  if (name == "translate") return TextTask::translate;
  if (name == "summarize") return TextTask::summarize;
  return fail(ErrorCode::invalid_argument,
              "the task \"%.*s\" is not known; there are translate, summarize and generate",
              static_cast<int>(std::min<size_t>(name.size(), 64)), name.data());
}

EncodeOptions encode_options(const Conventions& conventions) {
  EncodeOptions options;
  options.source_language = conventions.source_language;
  options.target_language = conventions.target_language;
  return options;
}

Result<Conventions> find_conventions(const Model& model, const TaskRequest& r, const ChatTemplate* chat) {
  const model::Config& config = model.on_device().config();
  if (config.kind().reads == model::Reads::nothing && r.task != TextTask::none) return by_prompt(model, r, chat);
  const bool multilingual = model.tokenizer() && !model.tokenizer()->languages().empty();
  if (multilingual && (r.task == TextTask::translate || !r.from.empty() || !r.to.empty())) {
    LAPILLI_TRY(Conventions c, by_language_tokens(model, r));
    if (r.task == TextTask::summarize) {
      LAPILLI_TRY(const Conventions summary, for_summary(model));
      c.prefix = summary.prefix;
      c.options = merge(c.options, summary.options);
    }
    return c;
  }
  switch (r.task) {
    case TextTask::none:
      if (r.from.empty() && r.to.empty()) return Conventions{};
      return fail(ErrorCode::invalid_argument, "languages are given, but no task that has any: translate");
    case TextTask::translate: {
      LAPILLI_TRY(Conventions c, for_translation(model, r));
      // Models of one pair are trained on sentences.
      const bool of_pair = model.tokenizer() && !model.tokenizer()->language_pair().target.empty();
      c.one_sentence = of_pair || (only_translates(model.info().family) && model.info().family != "m2m_100");
      return c;
    }
    case TextTask::summarize:
      if (r.from.empty() && r.to.empty()) return for_summary(model);
      return fail(ErrorCode::invalid_argument, "%s has no languages to choose from for a summary",
                  model.info().directory);
  }
  return Conventions{};
}

}  // namespace lapilli
