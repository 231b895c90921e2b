#include "skeleton.hpp"

#include <algorithm>
#include <regex>

#include "documents/html_tokens.hpp"
#include "random_markup.hpp"

#if defined(LAPILLI_HAVE_MD4C)
#include <md4c.h>
#endif

namespace lapilli::documents {

namespace {

bool is_inline(const std::string& name) {
  static const std::vector<std::string> names = {"b",   "i",   "em", "a",    "span", "strong", "u",
                                                 "del", "img", "!c", "code", "kbd",  "sub",    "sup"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string name_of(const std::string& tag) {
  if (tag.starts_with("<!--")) return "!c";
  const size_t begin = tag.starts_with("</") ? 2 : 1;
  return tag.substr(begin, tag.find_first_of(" />", begin) - begin);
}

// Verbatim parts as one token each, other markup as tags.
std::vector<std::string> html_tokens(std::string_view html) {
  static const std::regex token(
      "<!--[^]*?-->|<(pre|script|style|code|kbd|sub|sup)\\b[^]*?</\\1>|<span translate=no>[^<]*</span>|"
      "</?[a-zA-Z!](\"[^\"]*\"|'[^']*'|[^'\">])*>");
  std::vector<std::string> tokens;
  for (std::cregex_iterator at(html.data(), html.data() + html.size(), token), end; at != end; ++at)
    tokens.push_back(at->str());
  return tokens;
}

// Elements of lines of their own in order; those of words by what is around them, the line's element among that.
Skeleton html_skeleton(std::string_view html) {
  Skeleton s;
  std::vector<std::string> open{"document"};
  for (const std::string& tag : html_tokens(html)) {
    const std::string name = name_of(tag);
    const bool whole =
        tag.find("</", 1) != std::string::npos || name == "img" || name == "br" || name == "hr" || name[0] == '!';
    if (!is_inline(name)) s.order.push_back(tag);
    if (whole) {
      if (is_inline(name)) s.inside.push_back(std::to_string(s.order.size()) + open.back() + tag);
    } else if (!tag.starts_with("</")) {
      open.push_back(open.back() + tag);
      if (is_inline(name)) s.inside.push_back(std::to_string(s.order.size()) + open.back());
    } else if (open.size() < 2 || name_of(open.back().substr(open.back().rfind('<'))) != name) {
      s.error += tag + " closes what is not open; ";
    } else {
      open.pop_back();
    }
  }
  if (open.size() > 1) s.error += open.back() + " is open at the end";
  std::sort(s.inside.begin(), s.inside.end());
  return s;
}

#if defined(LAPILLI_HAVE_MD4C)
struct MarkdownWalk {
  Skeleton skeleton;
  std::vector<std::string> around{""};
  bool verbatim = false;

  void enter(const std::string& what) {
    around.push_back(around.back() + "/" + what);
    skeleton.inside.push_back(std::to_string(skeleton.order.size()) + around.back());
  }
};

std::string text_of(const MD_ATTRIBUTE& a) { return a.text ? std::string(a.text, a.size) : std::string(); }

int enter_span(MD_SPANTYPE type, void* detail, void* walk) {
  std::string what = "span" + std::to_string(type);
  if (type == MD_SPAN_A)
    what +=
        text_of(static_cast<MD_SPAN_A_DETAIL*>(detail)->href) + text_of(static_cast<MD_SPAN_A_DETAIL*>(detail)->title);
  if (type == MD_SPAN_IMG) what += text_of(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src);
  return static_cast<MarkdownWalk*>(walk)->enter(what), 0;
}

// md4c leaves some spans that it never entered.
int leave_span(MD_SPANTYPE, void*, void* walk) {
  auto& around = static_cast<MarkdownWalk*>(walk)->around;
  if (around.size() > 1) around.pop_back();
  return 0;
}

int block(MD_BLOCKTYPE type, void* walk, const char* what) {
  auto* w = static_cast<MarkdownWalk*>(walk);
  w->skeleton.order.push_back(what + std::to_string(type));
  w->verbatim = *what == 'e' && (type == MD_BLOCK_CODE || type == MD_BLOCK_HTML);
  return 0;
}

int markdown_text(MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* walk) {
  auto* w = static_cast<MarkdownWalk*>(walk);
  const std::string words(text, size);
  if (w->verbatim)
    w->skeleton.order.push_back(words);
  else if (type == MD_TEXT_CODE || type == MD_TEXT_HTML)
    w->skeleton.inside.push_back(w->around.back() + "=" + words);
  else if (type == MD_TEXT_BR)
    w->skeleton.order.push_back("break");
  return 0;
}

Skeleton markdown_skeleton(std::string_view text) {
  MarkdownWalk walk;
  const MD_PARSER parser = {0,
                            MD_DIALECT_GITHUB,
                            [](MD_BLOCKTYPE type, void*, void* w) { return block(type, w, "enter"); },
                            [](MD_BLOCKTYPE type, void*, void* w) { return block(type, w, "leave"); },
                            enter_span,
                            leave_span,
                            markdown_text,
                            nullptr,
                            nullptr};
  if (md_parse(text.data(), static_cast<MD_SIZE>(text.size()), &parser, &walk) != 0)
    walk.skeleton.error = "md_parse failed";
  std::sort(walk.skeleton.inside.begin(), walk.skeleton.inside.end());
  return walk.skeleton;
}
#else
Skeleton markdown_skeleton(std::string_view) { return {}; }
#endif

std::vector<std::string> lines_of_test(std::string_view text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

// Numbers, times and comments in order, and which tags each subtitle has. Line breaks within a subtitle may be fewer.
Skeleton subtitle_skeleton(std::string_view text, bool vtt) {
  static const std::regex angles("</?[a-z][^>]*>"), both("</?[a-z][^>]*>|\\{\\\\[^}]*\\}");
  const std::regex& tag = vtt ? angles : both;
  Skeleton s;
  bool in_text = false;
  std::vector<std::string> tags, open;
  for (const std::string& line : lines_of_test(text)) {
    const bool empty = line.empty() || line == "\r";
    if (empty) in_text = false;
    if (!in_text) s.order.push_back(line);
    if (line.find(" --> ") != std::string::npos)
      in_text = true;
    else if (in_text && line.starts_with("- "))
      s.order.push_back("-");
    if (!in_text) continue;
    for (std::sregex_iterator at(line.begin(), line.end(), tag), end; at != end; ++at) {
      s.inside.push_back(std::to_string(s.order.size()) + at->str());
    }
  }
  std::sort(s.inside.begin(), s.inside.end());
  return s;
}

// For each line the text before its words and after them, and its tabs.
Skeleton text_skeleton(std::string_view text) {
  static const std::regex line_parts("^([ \\t>]*(?:(?:[-*]|\u2022|\\d+\\.|a\\)) )?)[^]*?([ \\t\\r]*)$");
  Skeleton s;
  for (const std::string& line : lines_of_test(text)) {
    std::smatch parts;
    std::regex_match(line, parts, line_parts);
    s.order.push_back(parts[1].str() + "|" + std::to_string(std::count(line.begin(), line.end(), '\t')) + "|" +
                      parts[2].str());
  }
  return s;
}

// The line ends, and for each cell that it has words, or what it has instead.
Skeleton csv_skeleton(std::string_view text) {
  Skeleton s;
  const size_t names = text.find("c0");
  const char delimiter = text[names + 2];
  s.order.emplace_back(text.substr(0, names));
  std::string cell;
  bool quoted = false;
  const auto end_cell = [&](const std::string& end) {
    static const std::vector<std::string> others = {"", "42", "home.title", "-", "3.5", "x_y", "=A1", "\r"};
    const bool words = std::find(others.begin(), others.end(), cell) == others.end();
    s.order.push_back((words ? "words " + std::to_string(std::count(cell.begin(), cell.end(), '\n')) : cell) + end);
    cell.clear();
  };
  for (size_t i = names; i < text.size(); ++i) {
    if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && text[i] == delimiter)
      end_cell("|");
    else if (!quoted && text[i] == '\n')
      end_cell("end");
    else
      cell += text[i];
  }
  if (quoted) s.error = "a quote is open at the end";
  end_cell("");
  return s;
}

// All lines but the translations and the marks of new ones.
Skeleton po_skeleton(std::string_view text) {
  Skeleton s;
  bool in_translation = false;
  for (const std::string& line : lines_of_test(text)) {
    if (line.starts_with("#, fuzzy")) {
      if (line.size() > 10) s.order.push_back("#," + line.substr(9));
      continue;
    }
    if (!line.starts_with('"')) in_translation = line.starts_with("msgstr");
    if (!in_translation) s.order.push_back(line);
  }
  return s;
}

}  // namespace

Skeleton skeleton_of(Kind kind, std::string_view document) {
  switch (kind) {
    case Kind::html: return html_skeleton(document);
    case Kind::markdown: return markdown_skeleton(document);
    case Kind::srt:
    case Kind::vtt: return subtitle_skeleton(document, kind == Kind::vtt);
    case Kind::csv: return csv_skeleton(document);
    case Kind::po: return po_skeleton(document);
    case Kind::ass: return ass_skeleton(document);
    case Kind::sbv: return sbv_skeleton(document);
    case Kind::lrc: return lrc_skeleton(document);
    case Kind::tex: return tex_skeleton(document);
    case Kind::rst: return rst_skeleton(document);
    case Kind::asciidoc: return asciidoc_skeleton(document);
    default: break;
  }
  return text_skeleton(document);
}

std::vector<std::string> tags_of(std::string_view html) {
  std::vector<std::string> tags;
  HtmlTokens tokens(html, 0);
  for (HtmlToken token; tokens.next(token);) {
    if (token.type != HtmlToken::text && token.type != HtmlToken::raw) tags.emplace_back(token.range.of(html));
  }
  std::sort(tags.begin(), tags.end());
  return tags;
}

}  // namespace lapilli::documents
