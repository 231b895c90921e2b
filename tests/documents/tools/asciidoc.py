"""AsciiDoc translated to upper case, read by asciidoctor: the same elements, but for the words.

    asciidoc.py FAKE_TRANSLATION
"""

import html.parser
import shutil
import subprocess
import sys

DOCUMENTS = 40


class Outline(html.parser.HTMLParser):
    """Elements with their classes and addresses; in a line they may change places."""

    def __init__(self):
        super().__init__()
        self.elements, self.kept, self.verbatim = [], [], 0

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        address = given.get("href", "")
        if address.startswith("#") and not address.startswith("#_footnote"):
            address = "#"
        self.elements.append((tag, given.get("class", ""), "" if tag in ("h1", "h2", "h3") else address))
        self.verbatim += tag in ("pre", "code", "kbd")

    def handle_endtag(self, tag):
        self.verbatim -= tag in ("pre", "code", "kbd")

    def handle_data(self, data):
        if self.verbatim:
            self.kept.append(data)


def run(tool, *arguments, text=b""):
    return subprocess.run([tool, *arguments], input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout


def outline(text):
    reader = Outline()
    reader.feed(run("asciidoctor", "-s", "-a", "experimental", "-o", "-", "-", text=text).decode())
    return sorted(reader.elements), sorted(reader.kept)


def check(tool, text, name):
    other = run(tool, "asciidoc", "upper", text=text)
    assert run(tool, "asciidoc", "same", text=text) == text, name
    before, after = outline(text), outline(other)
    if before != after:
        print(name, "\n", text.decode(), "\n=====\n", other.decode())
        print([e for e in before[0] if e not in after[0]], [e for e in after[0] if e not in before[0]])
        sys.exit(f"{name}: other elements\n{before}\n{after}")


def main():
    if not shutil.which("asciidoctor"):
        sys.exit(77)
    tool = sys.argv[1]
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            check(tool, file.read(), path)
    for seed in range(DOCUMENTS if len(sys.argv) < 3 else 0):
        check(tool, run(tool, "asciidoc", str(seed)), f"random document {seed}")


main()
