// The commands on text but rerank: their names, and their texts in --help.
#include <memory>

#include "base/path.hpp"
#include "cli/arguments/mistyped_names.hpp"
#include "cli/arguments/model_names.hpp"
#include "cli/arguments/text_arguments.hpp"
#include "cli/commands.hpp"
#include "cli/files/output_names.hpp"
#include "cli/system.hpp"

namespace lapilli::cli {

namespace {

constexpr const char* kTranslateFooter =
    R"(Every line of input gives one line of output, an empty line an empty one; documents (.md .html .srt .docx .po
.csv .json and the others of --format) come out as documents. A line that fails gives an empty line, and its number and reason on stderr. Lines of several sentences are
translated sentence by sentence; two short ones stay together, but for Marian and FSMT.
Without inputs, standard input is read: at a terminal each line is answered at once, from a pipe in batches. A text that
begins with - stands behind --. A line of nothing but blanks, of any kind, is an empty one.

Examples:
  lapilli translate "Where is the station?"
  lapilli translate --beam 1 letter.txt > lettre.txt
  lapilli translate --text letter.txt       the words "letter.txt", though a file has that name
  lapilli translate --model facebook/nllb-200-distilled-600M --from en --to fr "Hello."
  lapilli translate --model ./opus-mt-en-ROMANCE --to fr "Where is the station?"
  lapilli translate --stream "I saw him yesterday. He was tired."   prints words as they come
  lapilli translate --json --nbest 4 "Good morning."         four translations with scores
  echo "463 30 16 975 23 0" | lapilli translate --ids
  lapilli translate --alignment --attention map.png "The cat sleeps."
  lapilli translate --options '{"no_repeat_ngram_size": 0, "length_penalty": 0.8}' letter.txt
  lapilli translate --options @settings.json letter.txt      the same, from a file
  lapilli translate page.html > page.fr.html    a document; --format lines takes it line by line
  lapilli translate -o lettre.md letter.md      its name appears when it is complete
  lapilli translate --suffix .fr letters/ notes.txt   every file in the folder to NAME.fr.ENDING
  lapilli translate --suffix .fr --resume letters/ notes.txt    what an interruption left
  lapilli translate --format jsonl --field title < in.jsonl > out.jsonl

)";

constexpr const char* kSummarizeFooter =
    R"(A file, standard input or an argument is one text, and gives one line of output; with --lines every line does. Settings
and words before the input are those that the model's files name for summaries. A text that is longer than the model can
read is an error: nothing is cut off.

Examples:
  lapilli summarize --model ./bart-large-cnn article.txt
  lapilli summarize --model ./t5-small --beam 1 --stream article.txt
  lapilli summarize --model ./pegasus-xsum --lines --json articles.txt
  lapilli summarize --model ./bart-large-cnn -o summaries/ articles/

)";

constexpr const char* kGenerateFooter =
    R"(The model as it is: no words before the input, no language tokens, settings of its generation_config alone. A file,
standard input or an argument is one text, and gives one line of output; with --lines every line does. A model that is
a decoder alone (GPT-2, Llama, Qwen) continues the text, and the line is what follows it. With --chat the text is said to
the model, and the line is its answer; special tokens stand where the chat template of its directory puts them.

Examples:
  lapilli generate --model ./flan-t5-base "Is the sky green? Answer yes or no."
  lapilli generate --model Qwen/Qwen3-0.6B-Base --max-new-tokens 40 "The capital of France is"
  lapilli generate --model Qwen/Qwen3-0.6B --chat --stream "What is the capital of France?"
  lapilli generate --model ./SmolLM2-135M-Instruct --chat --system "Be brief." --stop "." "Hello!"
  lapilli generate -m Qwen/Qwen3-0.6B --chat --messages m.json --template-arg enable_thinking=false
  lapilli generate --model ./blenderbot-400M-distill --sample --seed 7 "Hello, how are you?"
  echo "463 30 16 975 23 0" | lapilli generate --ids

)";

constexpr const char* kFileRules =
    R"(Files (-o, --suffix): a file is written as NAME.part and gets its name when it is complete. What is there already is
an error unless --force is given. NAME.part.journal remembers how far it is: --resume goes on there, if inputs, model,
options and version are the same, and gives the same bytes; --skip-existing leaves out what is there. In folders, files
with known endings are taken (.txt .text .jsonl .ndjson, those of documents, with --column .tsv),
hidden ones, those of the same suffix and those of other kinds left out, which is said. )";

constexpr const char* kDocumentRule =
    R"(By these endings documents keep
their structure, JSON lines their members and TSV its columns)";
constexpr const char* kLineRule =
    R"(By these endings JSON lines keep
their members and TSV its columns; documents are read as plain text)";
constexpr const char* kKindRule =
    R"(; the text of what fails stays, and is reported. Pictures,
recordings, archives, tables, files of apps' texts and other kinds that are not read are refused, with what serves them.

)";

std::string file_rules(const TextCommand& about) {
  return std::string(kFileRules) + (about.languages ? kDocumentRule : kLineRule) + kKindRule;
}

constexpr const char* kEmbedFooter =
    R"(Every line of input is a text and gives a vector, an empty line as well. Directories of sentence-transformers run as
modules.json says: pooling, linear layers, length 1. A directory without modules.json gives the mean of its rows. A text
that is longer than the model reads is cut at its end, with a note. Standard output gets a line of JSON for each text;
files that end in .npy or .f32 get the numbers alone, and zeros for a text that failed.

Examples:
  lapilli embed --model sentence-transformers/all-MiniLM-L6-v2 "Where is the station?"
  lapilli embed --model ./bge-small-en-v1.5 -o vectors.npy lines.txt
  lapilli embed --model ./multilingual-e5-small --prompt-text "query: " --normalize "harbour"
  lapilli embed --model ./mxbai-embed-large-v1 --task query "harbour"
  lapilli embed --model ./all-MiniLM-L6-v2 --format jsonl --field title < in.jsonl > out.jsonl
  lapilli embed --model ./mxbai-embed-large-v1 --dimensions 256 --normalize -o small.npy lines.txt

)";

constexpr const char* kClassifyFooter =
    R"(A model of text takes texts as translate does: every line gives a line, "LABEL PROBABILITY", with --top several of them
with tabs between. Labels that hold together (problem_type) have probabilities of their own, and a regression gives its
number. With --labels a model of entailment judges classes that it was not trained for. A model of pictures takes files
(PNG, JPEG, GIF, BMP, WebP, TIFF), folders of them, or - for a pipe: each class has a line, the likeliest first, behind
the file's name if there are several. Labels are those of config.json.

Examples:
  lapilli classify --model ./distilbert-base-uncased-finetuned-sst-2-english "What a fine day."
  lapilli classify --model ./roberta-base-go_emotions --top 3 --json lines.txt
  lapilli classify --model ./nli-deberta --pairs pairs.tsv
  lapilli classify --model facebook/bart-large-mnli --labels "sports,politics" lines.txt
  lapilli classify --model ./vit-base-patch16-224 photo.jpg
  lapilli classify --model ./vit-base-patch16-224 --top 1 photos/

)";

constexpr const char* kTagFooter =
    R"(Every line of input is a text and gives a line: words or names with their tag and its probability, tabs between them.
JSON has their places in the text, in bytes and in characters. A text that is longer than the model reads runs in windows
that overlap, and each name is found once.

Examples:
  lapilli tag --model dslim/bert-base-NER "Anna Müller lives in Geneva."
  lapilli tag --model ./camembert-ner --json articles.txt
  lapilli tag --model ./bert-base-NER --aggregation first lines.txt
  lapilli tag --model ./bert-base-NER --format jsonl --field body < in.jsonl > out.jsonl

)";

constexpr const char* kAnswerFooter =
    R"(A file, standard input or an argument is one text, and gives one line: the answer that stands in it, with its
probability and its place in characters; with --top several, tabs between. With --lines every line is a text, with
--pairs a question and its text. A text that is longer than the model reads runs in windows that overlap; equal answers
add up, so that a score may exceed 1.

Examples:
  lapilli answer --model deepset/roberta-base-squad2 --question "Who wrote it?" article.txt
  lapilli answer --model ./roberta-base-squad2 --question "When?" --allow-empty --lines notes.txt
  lapilli answer --model ./bert-squad --question "Where?" --top 3 --json article.txt
  lapilli answer --model ./bert-squad --pairs questions.tsv

)";

constexpr const char* kFillFooter =
    R"(Every line of input is a text with a mask, "[MASK]" or "<mask>" as the model calls it, and gives a line: the likeliest
words for it with their probabilities, tabs between, a bar between several masks. JSON has the filled texts.

Examples:
  lapilli fill --model google-bert/bert-base-uncased "Paris is the [MASK] of France."
  lapilli fill --model ./camembert-base --top 1 --json "Le fromage est <mask>."

)";

constexpr const char* kScoreFooter =
    R"(How likely a model that writes finds texts that it did not write. A file, standard input or an argument is one text,
and gives one line: the perplexity, the sum of the logarithms of the probabilities of its tokens, and their number, with
tabs between; with --lines every line is a text, with --pairs a source and its target. Each token is scored once, behind
those before it. The first token has no score unless the tokenizer puts a begin token in front. A text that is longer
than the model reads runs in windows that overlap. The total of several texts is on stderr.

Examples:
  lapilli score --model openai-community/gpt2 article.txt
  lapilli score --model ./Qwen3-0.6B-Base --lines --json --scores lines.txt
  lapilli score --model ./gpt2 --window 1024 --stride 512 book.txt
  lapilli score --model ./opus-mt-en-fr --pairs pairs.tsv

)";

constexpr TextCommand kCommands[] = {
    {"translate", "translate", "Translate text, files or standard input, line by line", kTranslateFooter, "translation",
     false, true},
    {"summarize", "summarize", "Summarize a text, files or standard input", kSummarizeFooter, "summary", true, false},
    {"generate", "generate", "Run a model on text as it is, without the conventions of a task", kGenerateFooter,
     "output", true, false},
    {"embed", "embed", "Make vectors of texts, for search and comparison", kEmbedFooter, "embedding", false, false,
     Makes::vectors},
    {"classify", "classify", "Tell which classes texts or pictures belong to", kClassifyFooter, "classes", false, false,
     Makes::classes},
    {"tag", "tag", "Find names and words with tags in texts", kTagFooter, "tags", false, false, Makes::tags},
    {"answer", "answer", "Find the answer to a question in texts", kAnswerFooter, "answers", true, false,
     Makes::answers},
    {"fill", "fill", "Find words for the masks of texts", kFillFooter, "masks", false, false, Makes::fills},
    {"score", "score", "Tell how likely a model finds given texts: perplexity", kScoreFooter, "score", true, false,
     Makes::scores},
};

// Models of pictures have a file that says how these are prepared.
int run_classify(const TextCommand& about, const TextArguments& arguments, const Context& context) {
  if (names_pictures(arguments.inputs) && !arguments.force_text) return classify_pictures(arguments, context);
  TextArguments found = arguments;
  if (found.model.empty()) found.model = environment("LAPILLI_MODEL");
  if (!found.model.empty())
    if (const int code = find_model(found.model)) return code;
  const bool pictures = !found.model.empty() && file_exists(path_in(found.model, "preprocessor_config.json"));
  return pictures ? classify_pictures(found, context) : run_texts(about, found, context);
}

int run_command(const TextCommand& about, const TextArguments& arguments, const Context& context) {
  return about.makes == Makes::classes ? run_classify(about, arguments, context) : run_texts(about, arguments, context);
}

}  // namespace

void add_text_commands(CLI::App& app, Context& context) {
  for (const TextCommand& about : kCommands) {
    auto a = std::make_shared<TextArguments>();
    CLI::App* command = app.add_subcommand(about.name, about.description);
    add_text_arguments(*command, about, *a);
    command->footer(about.footer + file_rules(about) + kFileNameRule + "\n" + kExitCodeHelp);
    command->callback([&context, &about, a] {
      a->inputs.insert(a->inputs.end(), context.behind_dashes.begin(), context.behind_dashes.end());
      if (!a->chat.messages.empty() && a->inputs.empty()) {  // the last message is answered
        a->inputs.emplace_back();
        a->force_text = true;
      }
      context.run = [&context, &about, a] { return run_command(about, *a, context); };
    });
  }
}

}  // namespace lapilli::cli
