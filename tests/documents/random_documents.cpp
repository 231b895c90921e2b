#include "random_documents.hpp"

#include <algorithm>

#include "random_markup.hpp"

namespace lapilli::documents {

namespace {

const std::vector<std::string> kWords = {
    "the",           "red",        "house,",  "of",    "many",  "words.",
    "Paris",         "runs",       "quickly", "(see)", "it's",  "well-known",
    "\u00e9t\u00e9", "na\u00efve", "42",      "x86",   "stop!", "\u65e5\u672c\u8a9e"};
const std::vector<std::string> kTargetWords = {"le",
                                               "rouge",
                                               "maison,",
                                               "l'\u00e9t\u00e9",
                                               "vite.",
                                               "2 * 3",
                                               "*",
                                               "_x_",
                                               "a_b",
                                               "<b>",
                                               "</p>",
                                               "&amp;",
                                               "&",
                                               "#",
                                               "1.",
                                               "2)",
                                               "-",
                                               "+",
                                               "|",
                                               "`x`",
                                               "[a]",
                                               "(b)",
                                               "-->",
                                               "===",
                                               "---",
                                               ">",
                                               "~y~",
                                               "\\",
                                               "!",
                                               "[a](b)",
                                               "![c]",
                                               "<",
                                               "<!--",
                                               "{\\an8}",
                                               "\u65e5\u672c\u8a9e",
                                               "\u00a0",
                                               "mot",
                                               "mots",
                                               "bien",
                                               "tr\u00e8s",
                                               "**",
                                               "***",
                                               "www",
                                               "fin\u2026",
                                               "\u00ab",
                                               "\u00bb",
                                               ":"};

std::string words(Chance& chance, size_t most, const std::string& blank = " ") {
  std::string out = chance.of(kWords);
  for (size_t n = chance.below(most); n > 0; --n) out += blank + chance.of(kWords);
  return out;
}

// ---- HTML ----

std::string html_inline(Chance& chance, size_t depth) {
  static const std::vector<std::string> tags = {"b", "i", "em", "a", "span", "strong", "u"};
  std::string out;
  for (size_t n = 1 + chance.below(3); n > 0; --n) {
    const size_t what = chance.below(depth > 2 ? 4 : 8);
    const std::string& tag = chance.of(tags);
    if (what < 3)
      out += words(chance, 4, chance.one_in(5) ? "\n  " : " ");
    else if (what == 3)
      out += chance.of({"<img src=\"a.png\" alt='x > y'>", "<!-- c -->", "<code>f(x) &lt;</code>", "<br>", "a&nbsp;b",
                        "&eacute;t&eacute; &amp; &#8364;", "H<sub>2</sub>O", "<sup>3</sup>",
                        "<span translate=no>Acme</span>", "<kbd>Ctrl</kbd>", "https://a.example/b?c=d"});
    else
      out += "<" + tag + (chance.one_in(3) ? " class=\"k\"" : "") + ">" + html_inline(chance, depth + 1) + "</" + tag +
             ">";
    // A word that is half in a tag, or in code, has no counterpart that is.
    out += ' ';
  }
  return out;
}

std::string html_block(Chance& chance, size_t depth) {
  switch (chance.below(depth > 2 ? 4 : 8)) {
    case 0: return "<p>" + html_inline(chance, 0) + "</p>\n";
    case 1: return "<h2 id=x>" + html_inline(chance, 0) + "</h2>\r\n";
    case 2:
      return chance.of(
          {"<pre>a <b>b</b>\n c</pre>", "<script>if (a<b) { '<p>' }</script>", "<hr/>", "<style>p{}</style>"});
    case 3: return "<p>" + html_inline(chance, 0) + "<br/>" + html_inline(chance, 0) + "</p>";
    case 4: return "<div title=\"a &quot; b\">" + html_block(chance, depth + 1) + html_inline(chance, 0) + "</div>\n";
    case 5:
      return "<ul>\n  <li>" + html_inline(chance, 0) + "</li>\n  <li>" + html_block(chance, depth + 1) + "</li>\n</ul>";
    case 6: return "<table><tr><td>" + html_inline(chance, 0) + "</td><th>" + words(chance, 3) + "</th></tr></table>";
    default: return "<blockquote>" + html_block(chance, depth + 1) + "</blockquote>\n";
  }
}

std::string html_document(Chance& chance) {
  std::string out = "<!DOCTYPE html>\n<html><head><title>" + words(chance, 4) + " &amp; more</title></head>\n<body>";
  for (size_t n = 1 + chance.below(5); n > 0; --n) out += html_block(chance, 0);
  return out + "</body></html>\n";
}

// ---- Markdown ----

std::string markdown_inline(Chance& chance, size_t depth, const std::string& blank) {
  std::string out;
  for (size_t n = 1 + chance.below(4); n > 0; --n) {
    const std::string inner = depth > 2 ? words(chance, 3) : "";
    switch (chance.below(depth > 2 ? 4 : 9)) {
      case 0:
      case 1: out += words(chance, 5, blank); break;
      case 2: out += words(chance, 2); break;
      case 3:
        out += chance.of({"`code *x*`", "``a ` b``", "![](i.png)", "![alt *t*](i.png \"t\")", "<https://a.example>",
                          "&copy;", "\\*star\\*", "<span class=\"x\">", "<br>", "https://a.example/x_y",
                          "caf\u00e9 & th\u00e9", "\\# no"});
        break;
      case 4: out += "*" + words(chance, 3) + "*"; break;
      case 5: out += "**" + words(chance, 3) + "**"; break;
      case 6: out += "[" + markdown_inline(chance, 4, " ") + "](http://a.example/(b) 'c d')"; break;
      case 7: out += "**bold *both* " + words(chance, 2) + "**"; break;
      default: out += "~~" + words(chance, 2) + "~~ [ref][r]"; break;
    }
    out += " ";
  }
  return out + chance.of(kWords);
}

std::string markdown_block(Chance& chance) {
  switch (chance.below(10)) {
    case 0: return "# " + markdown_inline(chance, 0, " ") + "\n";
    case 1: return "> " + markdown_inline(chance, 0, "\n> ") + "\n>\n> " + words(chance, 3) + "\n";
    case 2:
      return "- " + markdown_inline(chance, 0, " ") + "\n- " + words(chance, 4) + "\n  1. " + words(chance, 4) + "\n";
    case 3: return "```c\nint *x = \"a\";\n```\n";
    case 4: return "    indented *code*\n";
    case 5: return "| a | " + words(chance, 3) + " |\n|---|:-:|\n| **" + words(chance, 2) + "** | x \\| y |\n";
    case 6: return words(chance, 3) + "  \n" + markdown_inline(chance, 0, " ") + "\n";
    case 7: return "<div>\n*raw* html\n</div>\n";
    case 8: return words(chance, 4) + "\n---\n\n***\n";
    default: return markdown_inline(chance, 0, "\n") + "\n";
  }
}

std::string markdown_document(Chance& chance) {
  std::string out = chance.one_in(4) ? "---\ntitle: The title\n---\n\n" : "";
  for (size_t n = 1 + chance.below(6); n > 0; --n) out += markdown_block(chance) + "\n";
  return out + "[r]: http://r.example \"R\"\n";
}

// ---- subtitles ----

std::string subtitle_text(Chance& chance, bool vtt, const std::string& end) {
  switch (chance.below(10)) {
    case 6:
      return chance.of({"\u266a ", "<i>\u266b ", "&gt;&gt; "}) + words(chance, 5) + end + words(chance, 3) + " \u266a";
    case 5: return words(chance, 5) + (vtt ? "<br>" : chance.of({"<br/>", "\\N"})) + words(chance, 5);
    case 0: return "- " + words(chance, 4) + end + "- " + words(chance, 4);
    case 1: return "<i>" + words(chance, 6) + "</i>";
    case 2: return words(chance, 3) + " <b>" + words(chance, 2) + "</b> " + words(chance, 3);
    case 3: return (vtt ? "<v Bob>" : "{\\an8}") + words(chance, 5) + end + words(chance, 5);
    case 4: return (vtt ? "<c.red>a &amp; b</c> " : "<font color=\"red\">a</font> ") + words(chance, 3);
    default: return words(chance, 7) + (chance.one_in(2) ? end + words(chance, 7) : "");
  }
}

std::string subtitles(Chance& chance, bool vtt) {
  const std::string end = chance.one_in(4) ? "\r\n" : "\n", dot = vtt ? "." : ",";
  std::string out = chance.one_in(5) ? "\xef\xbb\xbf" : "";
  if (vtt)
    out += "WEBVTT title" + end + end + "NOTE a comment here" + end + end + "STYLE" + end + "::cue {}" + end + end;
  const size_t count = 1 + chance.below(6);
  for (size_t i = 0; i < count; ++i) {
    if (!vtt || chance.one_in(2)) out += std::to_string(i + 1) + end;
    const auto time = [&](size_t tenths) {
      return "00:00:" + std::to_string(10 + tenths / 10) + dot + std::to_string(tenths % 10) + "00";
    };
    out += time(i * 20) + " --> " + time(i * 20 + 15) + (vtt && chance.one_in(2) ? " line:0 align:start" : "") + end;
    out += subtitle_text(chance, vtt, end) + end + end;
  }
  return out;
}

// ---- plain text ----

std::string text_document(Chance& chance) {
  std::string out;
  for (size_t n = 1 + chance.below(8); n > 0; --n) {
    out += chance.of({"", "  ", "\t", "- ", "  * ", "12. ", "\u2022 ", "a) ", "> "});
    out += words(chance, 6, chance.one_in(4) ? "\t" : " ");
    out += chance.of({"", " ", "\t", "   col"}) + chance.of({"\n", "\r\n", "\n\n", "\n"});
  }
  return out;
}

// ---- tables ----

std::string csv_cell_of(const std::string& text, char delimiter, Chance& chance) {
  const bool needs = text.find(delimiter) != std::string::npos || text.find_first_of("\"\r\n") != std::string::npos;
  if (!needs && !chance.one_in(3)) return text;
  std::string cell = "\"";
  for (const char c : text) cell.append(c == '"' ? 2 : 1, c);
  return cell + "\"";
}

std::string csv_text_of(Chance& chance) {
  switch (chance.below(6)) {
    case 0: return chance.of({"", "42", "home.title", "-", "3.5", "x_y", "=A1"});
    case 1: return words(chance, 4) + chance.of({"\n", "\r\n", "\n\n"}) + words(chance, 3);
    case 2: return "the \"" + words(chance, 2) + "\" {name} of";
    case 3: return " " + words(chance, 3) + " ";
    default: return words(chance, 6);
  }
}

std::string csv_document(Chance& chance) {
  const char delimiter = ",;\t|"[chance.below(4)];
  const std::string end = chance.one_in(3) ? "\r\n" : "\n";
  const size_t columns = 2 + chance.below(4), rows = 2 + chance.below(5);
  std::string out = chance.one_in(5) ? "\xef\xbb\xbf" : "";
  if (chance.one_in(4)) out += std::string("sep=") + delimiter + end;
  for (size_t i = 0; i < columns; ++i) out += (i > 0 ? std::string(1, delimiter) : "") + "c" + std::to_string(i);
  for (size_t row = 0; row < rows; ++row) {
    out += end;
    for (size_t i = 0; i < columns; ++i)
      out += (i > 0 ? std::string(1, delimiter) : "") + csv_cell_of(csv_text_of(chance), delimiter, chance);
  }
  return out + (chance.one_in(3) ? "" : end);
}

// ---- catalogues ----

// In lines, with placeholders and tags among the words.
std::string po_text(Chance& chance) {
  std::string text = words(chance, 8);
  if (chance.one_in(3))
    text += chance.of({" %s", " %d of", " {name}", " 100%% of", " %s of %d", " <b>the red</b> house"});
  if (chance.one_in(4)) text += " \\\"" + words(chance, 2) + "\\\" of";
  if (chance.one_in(4)) text += chance.of({"\\n", ".\\n\\n", ":\\t"}) + words(chance, 9);
  return text + (chance.one_in(5) ? "\\n" : "");
}

std::string po_string(const std::string& text, const std::string& end, Chance& chance) {
  const size_t cut = text.find(' ', text.size() / 2);
  if (chance.one_in(2) || cut == std::string::npos) return "\"" + text + "\"" + end;
  return "\"\"" + end + "\"" + text.substr(0, cut + 1) + "\"" + end + "\"" + text.substr(cut + 1) + "\"" + end;
}

std::string po_entry(Chance& chance, size_t number, const std::string& end) {
  std::string out = end;
  if (chance.one_in(3)) out += "# a comment" + end;
  if (chance.one_in(3)) out += "#: a.c:" + std::to_string(number) + end;
  const std::string text = po_text(chance), plural = po_text(chance);
  const bool percent = (text + plural).find('%') != std::string::npos;
  if (percent || chance.one_in(4)) out += chance.of({"#, c-format", "#, no-wrap, c-format"}) + end;
  // Where a number stands in one form it stands in the other.
  const bool plurals = !percent && chance.one_in(3);
  const bool line_ends = text.ends_with("\\n") == plural.ends_with("\\n");
  out += "msgctxt \"" + std::to_string(number) + "\"" + end + "msgid " + po_string(text, end, chance);
  if (plurals && line_ends)
    return out + "msgid_plural " + po_string(plural, end, chance) + "msgstr[0] \"\"" + end + "msgstr[1] \"\"" + end;
  return out + "msgstr " + (chance.one_in(5) ? po_string(text, end, chance) : "\"\"" + end);
}

std::string po_document(Chance& chance) {
  const std::string end = chance.one_in(4) ? "\r\n" : "\n";
  std::string out = "# Title" + end + "msgid \"\"" + end + "msgstr \"\"" + end + "\"Language: en\\n\"" + end +
                    "\"Content-Type: text/plain; charset=UTF-8\\n\"" + end +
                    "\"Plural-Forms: nplurals=2; plural=(n != 1);\\n\"" + end;
  for (size_t n = 1 + chance.below(6); n > 0; --n) out += po_entry(chance, n, end);
  if (chance.one_in(3)) out += end + "#~ msgid \"the old one\"" + end + "#~ msgstr \"x\"" + end;
  return out;
}

}  // namespace

std::string random_words(Chance& chance, size_t most, const std::string& blank) { return words(chance, most, blank); }

std::string random_document(Kind kind, Chance& chance) {
  switch (kind) {
    case Kind::html: return html_document(chance);
    case Kind::markdown: return markdown_document(chance);
    case Kind::srt: return subtitles(chance, false);
    case Kind::vtt: return subtitles(chance, true);
    case Kind::csv: return csv_document(chance);
    case Kind::po: return po_document(chance);
    case Kind::ass: return random_ass(chance);
    case Kind::sbv: return random_sbv(chance);
    case Kind::lrc: return random_lrc(chance);
    case Kind::tex: return random_tex(chance);
    case Kind::rst: return random_rst(chance);
    case Kind::asciidoc: return random_asciidoc(chance);
    default: break;
  }
  return text_document(chance);
}

Translation random_translation(const Segment& segment, bool plain, Chance& chance) {
  Translation t;
  const size_t count = 1 + segment.text.size() * (1 + chance.below(4)) / 12;
  // In plain text and subtitles a line that begins with a bullet or a dash is no markup but its words.
  std::vector<std::string> signs = kTargetWords;
  std::erase_if(signs, [&](const std::string& s) { return plain && s.size() == 1; });
  for (size_t i = 0; i < count; ++i) {
    t.text +=
        (i == 0 ? "" : " ") + (i > 0 && chance.one_in(3) ? chance.of(signs) : "mot" + std::to_string(chance.below(50)));
    if (!segment.marks.empty() && chance.one_in(4)) {
      const Mark& mark = segment.marks[chance.below(segment.marks.size())];
      if (mark.kept) t.text += " " + segment.text.substr(mark.begin, mark.end - mark.begin);
    }
  }
  if (chance.one_in(5)) return t;
  for (size_t n = chance.below(2 * count); n > 0; --n) {
    const auto word_in = [&](const std::string& text) {
      const size_t at = chance.below(text.size() + 2), end = text.find(' ', at);
      return std::pair(at, std::min(end, text.size()));
    };
    const auto [sb, se] = word_in(segment.text);
    const auto [tb, te] = word_in(t.text);
    t.links.push_back({sb, se, tb, te, static_cast<float>(chance.below(100)) / 100});
  }
  return t;
}

std::string damaged(std::string document, Chance& chance) {
  static const std::vector<std::string> pieces = {"<",   ">",    "</b>", "<p", "*",  "**",  "]",  "](",
                                                  "[",   "`",    "|",    "\n", "\r", "&",   "\"", "<!--",
                                                  "-->", "\n\n", "> ",   "- ", "\t", "<i>", "\\", "~~"};
  for (size_t n = 1 + chance.below(6); n > 0; --n) {
    const size_t at = chance.below(document.size() + 1), length = chance.below(8);
    if (chance.one_in(3))
      document.insert(at, chance.of(pieces));
    else if (chance.one_in(2))
      document.erase(at, length);
    else
      document.insert(at, document.substr(chance.below(document.size() + 1), length * 3));
  }
  return document;
}

}  // namespace lapilli::documents
