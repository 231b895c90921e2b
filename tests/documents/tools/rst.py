"""reStructuredText translated to upper case, read by docutils: the same tree, but for the words.

    rst.py FAKE_TRANSLATION
"""

import subprocess
import sys

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


def run(tool, *arguments, text=b""):
    return subprocess.run([tool, *arguments], input=text, stdout=subprocess.PIPE, check=True).stdout


def check(tool, text, name):
    before, after = tree(text.decode()), tree(run(tool, "rst", "upper", text=text).decode())
    assert run(tool, "rst", "same", text=text) == text, name
    if outline(before) != outline(after) or len(messages(after)) > len(messages(before)):
        print(name, "\n", text.decode(), "\n=====\n", run(tool, "rst", "upper", text=text).decode())
        for one, other in zip(outline(before), outline(after)):
            if one != other:
                sys.exit(f"{one} became {other}")
        sys.exit(f"{messages(before)} became {messages(after)}")


def main():
    tool = sys.argv[1]
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            check(tool, file.read(), path)
    for seed in range(DOCUMENTS if len(sys.argv) < 3 else 0):
        check(tool, run(tool, "rst", str(seed)), f"random document {seed}")


main()
