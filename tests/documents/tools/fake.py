"""What the tools here share: documents by chance, translated into capitals by fake_translation, which is the first
argument; files to check may follow."""

import subprocess
import sys

PROGRAM = sys.argv[1]


def run(kind, data=b"", mode="upper", language=""):
    """`mode`: upper, same, or the number of a document by chance."""
    done = subprocess.run([PROGRAM, kind, mode, language], input=data, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{kind} {mode}: {done.stderr.decode('utf-8', 'replace')}")
    return done.stdout


def translated(kind, data, language=""):
    """The document in capitals; with the same words it has the same bytes."""
    if run(kind, data, "same") != data:
        sys.exit(f"{kind}: the same words give other bytes\n{data.decode('utf-8', 'replace')}")
    return run(kind, data, "upper", language)


def expect_same(data, made, wanted, found):
    """Shows both documents and the first difference if what is read of them differs."""
    if wanted == found:
        return
    print(data.decode("utf-8", "replace"), "\n=====\n", made.decode("utf-8", "replace"))
    for one, other in zip(wanted, found):
        if one != other:
            sys.exit(f"{one} became {other}")
    sys.exit(f"wanted {wanted}\nfound  {found}")


def documents(kind, count):
    """The given files, or documents by chance."""
    for path in sys.argv[2:]:
        with open(path, "rb") as file:
            yield file.read()
    for seed in range(count if len(sys.argv) < 3 else 0):
        yield run(kind, mode=str(seed))
