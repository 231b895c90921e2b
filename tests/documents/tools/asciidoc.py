"""AsciiDoc translated to upper case, read by asciidoctor: the same elements, but for the words.

    asciidoc.py FAKE_TRANSLATION
"""

import html.parser
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
from fake import documents, expect_same, translated

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


def outline(text):
    page = subprocess.run(["asciidoctor", "-s", "-a", "experimental", "-o", "-", "-"], input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout
    reader = Outline()
    reader.feed(page.decode())
    return sorted(reader.elements) + sorted(reader.kept)


if not shutil.which("asciidoctor"):
    sys.exit(77)
for document in documents("asciidoc", DOCUMENTS):
    made = translated("asciidoc", document)
    expect_same(document, made, outline(document), outline(made))
