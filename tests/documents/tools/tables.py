"""Tables and catalogues made by Python's csv, polib and translate-toolkit, translated, and read by them again.

tables.py PROGRAM: exit code 77 where one of these packages is missing. msgfmt is asked where it is there.
"""
import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import polib
    from translate.storage import csvl10n, pypo, tmx  # noqa: F401
except ImportError as missing:
    print(missing)
    sys.exit(77)

PROGRAM = os.path.abspath(sys.argv[1])
SENTENCES = ["Good morning.", "He said \"no\", twice.", "The red car is new; the old one is not.", "Line one.\nLine two."]


def translate(*arguments):
    done = subprocess.run([PROGRAM, "translate", "--quiet", "--beam", "1", *arguments], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8")


def check_csv(folder):
    for dialect, delimiter in (("excel", ","), ("excel-tab", "\t"), ("excel", ";"), ("unix", ",")):
        name = os.path.join(folder, "table.csv")
        with open(name, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, dialect=dialect, delimiter=delimiter)
            writer.writerow(["id", "text", "note"])
            for i, sentence in enumerate(SENTENCES):
                writer.writerow([i, sentence, "stays, as it is"])
        before = list(csv.reader(io.StringIO(open(name, newline="", encoding="utf-8").read()), delimiter=delimiter))
        out = translate("--column", "text", name)
        after = list(csv.reader(io.StringIO(out, newline=""), delimiter=delimiter))
        assert [row[::2] for row in after] == [row[::2] for row in before], out
        assert all(a[1] != b[1] for a, b in zip(after[1:], before[1:])), out
        added = list(csv.reader(io.StringIO(translate("--column", "text", "--to-column", "fr", name), newline=""), delimiter=delimiter))
        assert [row[:3] for row in added] == before and all(len(row) == 4 and row[3] for row in added), added
        assert added[0][3] == "fr" and [r[3].split() for r in added[1:3]] == [r[1].split() for r in after[1:3]], added


def catalogue():
    po = polib.POFile()
    po.metadata = {"Language": "en", "Content-Type": "text/plain; charset=UTF-8", "Content-Transfer-Encoding": "8bit",
                   "MIME-Version": "1.0", "Plural-Forms": "nplurals=2; plural=(n != 1);"}
    for i, sentence in enumerate(SENTENCES):
        po.append(polib.POEntry(msgid=sentence, msgctxt=f"c{i}", comment="for translators", occurrences=[("a.c", str(i))]))
    po.append(polib.POEntry(msgid="%d file was removed.", msgid_plural="%d files were removed.",
                            msgstr_plural={0: "", 1: ""}, flags=["c-format"]))
    po.append(polib.POEntry(msgid="Yes.", msgstr="Oui !"))
    po.append(polib.POEntry(msgid="Old.", msgstr="Vieux.", obsolete=True))
    return po


def check_po(folder):
    name, made = os.path.join(folder, "a.po"), os.path.join(folder, "b.po")
    catalogue().save(name)
    with open(made, "w", encoding="utf-8", newline="") as file:
        file.write(translate(name))
    before, after = polib.pofile(name), polib.pofile(made)
    assert len(before) == len(after) and len(after.obsolete_entries()) == 1
    assert after.metadata["Language"] == "fr" and "n > 1" in after.metadata["Plural-Forms"], after.metadata
    for a, b in zip(before, after):
        assert (a.msgid, a.msgctxt, a.comment, a.occurrences, a.msgid_plural) == (b.msgid, b.msgctxt, b.comment, b.occurrences, b.msgid_plural)
        if a.msgid == "Yes.":
            assert b.msgstr == "Oui !" and not b.fuzzy
        elif not a.obsolete:
            forms = list(b.msgstr_plural.values()) if a.msgid_plural else [b.msgstr]
            assert all(forms) and b.fuzzy, b
            assert all(form.count("%d") == ("%d" in a.msgid) for form in forms), forms
    toolkit = pypo.pofile.parsefile(made)
    assert len([unit for unit in toolkit.units if unit.istranslated() or unit.isfuzzy()]) >= len(SENTENCES) + 2
    if shutil.which("msgfmt"):
        subprocess.run(["msgfmt", "-c", "--use-fuzzy", "-o", os.devnull, made], check=True)


def check_memory(folder):
    text, out = os.path.join(folder, "a.txt"), os.path.join(folder, "out.tmx")
    with open(text, "w", encoding="utf-8") as file:
        file.write("Good morning.\nHe has 3 cars & <b>.\n")
    first = translate("--tm-out", out, text)
    units = tmx.tmxfile.parsefile(out).units
    assert [unit.source for unit in units] == ["Good morning.", "He has 3 cars & <b>."], [unit.source for unit in units]
    assert [unit.target for unit in units] == first.splitlines(), first
    assert translate("--tm", out, text) == first
    made = tmx.tmxfile()
    made.addtranslation("Good morning.", "en", "Salut à tous.", "fr")
    made.addtranslation("Page 3 of 12", "en", "Page 3 sur 12", "fr")
    with open(os.path.join(folder, "in.tmx"), "wb") as file:
        file.write(bytes(made))
    known = translate("--tm", os.path.join(folder, "in.tmx"), "--from", "en", "--to", "fr", "Good morning.", "Page 7 of 90")
    assert known == "Salut à tous.\nPage 7 sur 90\n", known


with tempfile.TemporaryDirectory() as place:
    check_csv(place)
    check_po(place)
    check_memory(place)
print("tables, catalogues and memories came back whole")
