"""reStructuredText translated to upper case, read by docutils: the same tree, but for the words.

    rst.py FAKE_TRANSLATION
"""

import sys

sys.dont_write_bytecode = True
from fake import documents, expect_same, translated

try:
    import docutils.core
    import docutils.nodes
    import docutils.utils
except ImportError:
    sys.exit(77)

DOCUMENTS = 300


def tree(text, quiet=True):
    settings = {"report_level": 5, "halt_level": 5, "file_insertion_enabled": False, "_disable_config": True}
    return docutils.core.publish_doctree(text, settings_overrides=settings)


def outline(node, depth=0):
    """Elements with their depths; texts as words alone, in a set where they may change places."""
    if isinstance(node, docutils.nodes.Text):
        return []
    kept = isinstance(node, (docutils.nodes.literal_block, docutils.nodes.comment, docutils.nodes.literal))
    line = [(depth, type(node).__name__, node.astext() if kept else "", node.get("refuri", ""))]
    for child in node.children:
        if not kept and not isinstance(child, (docutils.nodes.system_message, docutils.nodes.problematic)):
            line += outline(child, depth + 1)
    return line


def messages(root):
    return sorted(str(m.get("type")) for m in root.findall(docutils.nodes.system_message) if m.get("level", 0) > 1)


def check(text):
    made = translated("rst", text)
    before, after = tree(text.decode()), tree(made.decode())
    expect_same(text, made, outline(before), outline(after))
    if len(messages(after)) > len(messages(before)):
        expect_same(text, made, messages(before), messages(after))


for document in documents("rst", DOCUMENTS):
    check(document)
