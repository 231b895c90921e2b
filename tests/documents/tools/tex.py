"""LaTeX translated to upper case, read by pylatexenc: the same commands, environments and formulas, which may change
places within a paragraph, and the same words but for the letters' case. With pdflatex in the path, it compiles.

    tex.py FAKE_TRANSLATION [FILE...]
"""

import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from fake import documents, expect_same, translated

try:
    from pylatexenc import latexwalker
except ImportError as missing:
    print(missing)
    sys.exit(77)

DOCUMENTS = 200


def names(node):
    """Commands, environments, groups and formulas below a node."""
    if node is None or isinstance(node, (latexwalker.LatexCharsNode, latexwalker.LatexSpecialsNode)):
        return []
    if isinstance(node, latexwalker.LatexMathNode):
        return ["formula " + node.latex_verbatim()]
    if isinstance(node, latexwalker.LatexCommentNode):
        return ["comment " + node.comment]
    found, children = [], list(getattr(node, "nodelist", None) or [])
    if isinstance(node, latexwalker.LatexEnvironmentNode):
        found.append("environment " + node.environmentname)
    elif isinstance(node, latexwalker.LatexMacroNode):
        found += [] if is_character(node.macroname) else ["command " + node.macroname]
    if getattr(node, "nodeargd", None) is not None:
        children += [argument for argument in node.nodeargd.argnlist or [] if argument is not None]
    for child in children:
        found += names(child)
    return found


def is_character(name):
    """Commands that stand for a sign; a translation may write the sign itself."""
    return not name.isalpha() or name in ("ss", "ldots") or name.startswith("text") and name not in (
        "texttt", "textcolor", "textbf", "textit")


def outline(text):
    walker = latexwalker.LatexWalker(text, tolerant_parsing=False)
    nodes, _, _ = walker.get_latex_nodes()
    return sorted(name for node in nodes for name in names(node))


def check(text):
    made = translated("tex", text)
    expect_same(text, made, outline(text.decode()), outline(made.decode()))
    return made


def compile_pdf(text, name):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "a.tex"), "wb") as file:
            file.write(text)
        done = subprocess.run(["pdflatex", "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "a.tex"], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, (name, done.stdout.decode(errors="replace")[-2000:])


DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\newtheorem{thm}{Theorem}
\title{The red \emph{car}}
\begin{document}
\maketitle
\section[short]{The long title}\label{sec:a}
The \textbf{red} car\footnote{A note with $x^2$.} costs 50\,\% \& more; see~\ref{sec:a}.
\begin{thm} All cars are ``red'' -- or not. \end{thm}
\begin{itemize}\item One \item[two] Two, caf\'e \end{itemize}
\begin{tabular}{lr} Name & Number \\ \hline Red car & 42 \end{tabular}
\begin{equation} a < b \end{equation}
\begin{verbatim}
int *x; % stays
\end{verbatim}
\end{document}
"""


written = check(DOCUMENT.encode())
for document in documents("tex", DOCUMENTS):
    check(document)
if shutil.which("pdflatex"):
    compile_pdf(written, "the written document")
print("LaTeX came back whole")
