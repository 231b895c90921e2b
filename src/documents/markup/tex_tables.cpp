#include "documents/markup/tex_tables.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace lapilli::documents {

namespace {

// Names with spaces around them.
bool among(std::string_view names, std::string_view name) {
  return !name.empty() && name.find(' ') == std::string_view::npos &&
         names.find(" " + std::string(name) + " ") != std::string_view::npos;
}

constexpr std::string_view kPairs =
    " emph textbf textit textsl textsc textrm textsf textmd textup textnormal underline uline uuline uwave sout "
    "enquote "
    "mbox text textsuperscript textsubscript alert structure textquote hl fbox ";
constexpr std::string_view kPairsOfTwo = " textcolor colorbox href ";
constexpr std::string_view kHeadings =
    " part chapter section subsection subsubsection paragraph subparagraph caption title subtitle frametitle "
    "framesubtitle makecell subcaption addchap addsec minisec ";
constexpr std::string_view kHeadingsOfTwo = " captionof parbox ";
constexpr std::string_view kHeadingsOfThree = " multicolumn multirow ";
constexpr std::string_view kFootnotes = " footnote footnotetext marginpar marginnote sidenote endnote thanks ";
constexpr std::string_view kReferences =
    " ref eqref pageref autoref cref Cref nameref vref fref subref autopageref cpageref labelcref ";
constexpr std::string_view kCitations =
    " cite citep citet citealp citealt citeauthor citeyear citeyearpar citetitle parencite textcite autocite footcite "
    "fullcite supercite nocite footnotemark index glossary label ";
constexpr std::string_view kKept =
    " texttt url path nolinkurl code ensuremath si SI num qty unit ang ce gls Gls glspl acs acl ac acp foreignlanguage "
    "textgreek lstinline mintinline ";
constexpr std::string_view kPoints =
    " noindent indent bf it em rm sf tt sc sl bfseries itshape ttfamily sffamily rmfamily scshape upshape mdseries "
    "slshape normalfont tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge centering "
    "raggedright "
    "raggedleft hfill quad qquad pause protect today leavevmode sloppy fussy boldmath unboldmath displaystyle "
    "selectfont xspace ignorespaces unskip relax null strut allowbreak nobreak break linebreak nolinebreak ";
constexpr std::string_view kPointsWithGroups =
    " hspace vspace color selectlanguage hypertarget phantom hphantom vphantom rule includegraphics input include "
    "only onslide uncover ";
constexpr std::string_view kEnds =
    " par newline bigskip medskip smallskip newpage clearpage cleardoublepage pagebreak nopagebreak maketitle "
    "tableofcontents listoffigures listoftables appendix frontmatter mainmatter backmatter hline toprule midrule "
    "bottomrule vfill endhead endfirsthead endfoot endlastfoot printbibliography printindex makeindex phantomsection "
    "titlepage columnbreak ";
constexpr std::string_view kEndsWithGroups =
    " bibliography bibliographystyle setlength addtolength setcounter addtocounter pagestyle thispagestyle usepackage "
    "newcommand renewcommand providecommand newenvironment renewenvironment newtheorem DeclareMathOperator "
    "graphicspath "
    "hypersetup cline cmidrule definecolor addcontentsline author date institute documentclass pagenumbering "
    "markboth markright lstset captionsetup theoremstyle numberwithin addbibresource newlength newcounter usetheme "
    "usecolortheme setbeamertemplate tikzset pgfplotsset ";

constexpr std::string_view kTextEnvironments =
    " document abstract center flushleft flushright quote quotation verse itemize enumerate description figure table "
    "tabular tabularx tabulary longtable minipage multicols columns column titlepage small large landscape appendices "
    "em itshape bfseries footnotesize scriptsize acknowledgments acknowledgements tablenotes threeparttable subfigure "
    "subtable wrapfigure wraptable sidewaystable "
    "sidewaysfigure spacing singlespace doublespace onehalfspace letter adjustwidth sloppypar theorem lemma "
    "proposition "
    "corollary definition proof example remark note claim conjecture exercise question answer summary compactitem "
    "compactenum trivlist displayquote keywords frame otherlanguage ";
constexpr std::string_view kTitleEnvironments = " block alertblock exampleblock ";
constexpr std::string_view kLeftEnvironments =
    " equation align alignat aligned gather gathered multline eqnarray displaymath math flalign subequations split "
    "cases "
    "matrix pmatrix bmatrix vmatrix array verbatim Verbatim BVerbatim lstlisting minted comment filecontents "
    "tikzpicture "
    "pgfpicture picture alltt luacode thebibliography tikzcd dmath empheq axis circuitikz tabbing ";

// Each use with the names that have it.
struct Row {
  std::string_view names;
  TexCommand command;
};
constexpr std::array kRows = {Row{kPairs, {TexUse::pair, 0}},
                              Row{kPairsOfTwo, {TexUse::pair, 1}},
                              Row{kHeadings, {TexUse::heading, 0}},
                              Row{kHeadingsOfTwo, {TexUse::heading, 1}},
                              Row{kHeadingsOfThree, {TexUse::heading, 2}},
                              Row{kFootnotes, {TexUse::footnote, 0}},
                              Row{kReferences, {TexUse::reference}},
                              Row{kCitations, {TexUse::citation}},
                              Row{kKept, {TexUse::kept}},
                              Row{kPoints, {TexUse::point, 0, false}},
                              Row{kPointsWithGroups, {TexUse::point}},
                              Row{kEnds, {TexUse::ends, 0, false}},
                              Row{kEndsWithGroups, {TexUse::ends}}};

using Symbol = std::pair<std::string_view, std::string_view>;
constexpr std::array kSymbols = {Symbol{"ss", "\u00df"},
                                 Symbol{"o", "\u00f8"},
                                 Symbol{"O", "\u00d8"},
                                 Symbol{"l", "\u0142"},
                                 Symbol{"L", "\u0141"},
                                 Symbol{"ae", "\u00e6"},
                                 Symbol{"AE", "\u00c6"},
                                 Symbol{"oe", "\u0153"},
                                 Symbol{"OE", "\u0152"},
                                 Symbol{"aa", "\u00e5"},
                                 Symbol{"AA", "\u00c5"},
                                 Symbol{"i", "\u0131"},
                                 Symbol{"ldots", "\u2026"},
                                 Symbol{"dots", "\u2026"},
                                 Symbol{"textellipsis", "\u2026"},
                                 Symbol{"textbackslash", "\\"},
                                 Symbol{"textasciitilde", "~"},
                                 Symbol{"textasciicircum", "^"},
                                 Symbol{"textunderscore", "_"},
                                 Symbol{"textless", "<"},
                                 Symbol{"textgreater", ">"},
                                 Symbol{"textbar", "|"},
                                 Symbol{"textquotedblleft", "\u201c"},
                                 Symbol{"textquotedblright", "\u201d"},
                                 Symbol{"textquoteleft", "\u2018"},
                                 Symbol{"textquoteright", "\u2019"},
                                 Symbol{"textendash", "\u2013"},
                                 Symbol{"textemdash", "\u2014"},
                                 Symbol{"textdegree", "\u00b0"},
                                 Symbol{"degree", "\u00b0"},
                                 Symbol{"euro", "\u20ac"},
                                 Symbol{"texteuro", "\u20ac"},
                                 Symbol{"pounds", "\u00a3"},
                                 Symbol{"textsterling", "\u00a3"},
                                 Symbol{"copyright", "\u00a9"},
                                 Symbol{"textcopyright", "\u00a9"},
                                 Symbol{"S", "\u00a7"},
                                 Symbol{"P", "\u00b6"},
                                 Symbol{"guillemotleft", "\u00ab"},
                                 Symbol{"guillemotright", "\u00bb"},
                                 Symbol{"og", "\u00ab"},
                                 Symbol{"fg", "\u00bb"},
                                 Symbol{"nobreakspace", "\u00a0"}};

// Letters with each accent, in pairs of a letter and its accented form.
struct Accent {
  std::string_view name, letters, forms;  // forms: one character for each letter, with spaces between
};
constexpr std::array kAccents = {
    Accent{"'", "aeiouyAEIOUYcnszlrCNSZLR", "á é í ó ú ý Á É Í Ó Ú Ý ć ń ś ź ĺ ŕ Ć Ń Ś Ź Ĺ Ŕ"},
    Accent{"`", "aeiouAEIOU", "à è ì ò ù À È Ì Ò Ù"},
    Accent{"^", "aeiouAEIOUcghjswy", "â ê î ô û Â Ê Î Ô Û ĉ ĝ ĥ ĵ ŝ ŵ ŷ"},
    Accent{"\"", "aeiouyAEIOUY", "ä ë ï ö ü ÿ Ä Ë Ï Ö Ü Ÿ"},
    Accent{"~", "anoiuANOIU", "ã ñ õ ĩ ũ Ã Ñ Õ Ĩ Ũ"},
    Accent{"=", "aeiouAEIOU", "ā ē ī ō ū Ā Ē Ī Ō Ū"},
    Accent{".", "cegzIZCEG", "ċ ė ġ ż İ Ż Ċ Ė Ġ"},
    Accent{"c", "cstCSTkKlLnNgG", "ç ş ţ Ç Ş Ţ ķ Ķ ļ Ļ ņ Ņ ģ Ģ"},
    Accent{"v", "cdenrstzCDENRSTZ", "č ď ě ň ř š ť ž Č Ď Ě Ň Ř Š Ť Ž"},
    Accent{"u", "agiuAGIU", "ă ğ ĭ ŭ Ă Ğ Ĭ Ŭ"},
    Accent{"H", "ouOU", "ő ű Ő Ű"},
    Accent{"k", "aeiuAEIU", "ą ę į ų Ą Ę Į Ų"},
    Accent{"r", "auAU", "å ů Å Ů"},
};

std::string_view nth_word(std::string_view words, size_t n) {
  for (; n > 0; --n) words.remove_prefix(words.find(' ') + 1);
  return words.substr(0, words.find(' '));
}

}  // namespace

TexCommand tex_command(std::string_view name) {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return among(r.names, name); });
  return row == kRows.end() ? TexCommand() : row->command;
}

TexEnvironment tex_environment(std::string_view name) {
  if (name.ends_with('*')) name.remove_suffix(1);
  if (among(kTextEnvironments, name)) return TexEnvironment::text;
  if (among(kTitleEnvironments, name)) return TexEnvironment::title;
  return among(kLeftEnvironments, name) ? TexEnvironment::left : TexEnvironment::unknown;
}

std::string_view tex_symbol(std::string_view name) {
  const auto at = std::find_if(kSymbols.begin(), kSymbols.end(), [&](const Symbol& s) { return s.first == name; });
  return at == kSymbols.end() ? std::string_view() : at->second;
}

bool is_tex_accent(std::string_view name) {
  return std::any_of(kAccents.begin(), kAccents.end(), [&](const Accent& a) { return a.name == name; });
}

std::string tex_accented(std::string_view accent, std::string_view letter) {
  if (letter == "\\i") letter = "i";
  const auto at = std::find_if(kAccents.begin(), kAccents.end(), [&](const Accent& a) { return a.name == accent; });
  if (at == kAccents.end() || letter.size() != 1) return "";
  const size_t n = at->letters.find(letter);
  return n == std::string_view::npos ? "" : std::string(nth_word(at->forms, n));
}

}  // namespace lapilli::documents
