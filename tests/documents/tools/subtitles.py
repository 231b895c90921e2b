"""Subtitles written by pysubs2, pylrc and webvtt-py, translated into capitals, and read by them again: times, styles,
names and override blocks are the same, and so are the texts but for the letters' case. Random documents, too.

    subtitles.py FAKE_TRANSLATION
"""

import io
import random
import re
import sys

sys.dont_write_bytecode = True
from fake import expect_same, run, translated

try:
    import pylrc
    import pysubs2
    import webvtt
except ImportError as missing:
    print(missing)
    sys.exit(77)

FILES = 60
WORDS = ["the", "Red", "car", "is", "here,", "it's", "\"so\"", "naïve", "日本", "🙂", "a/b", "x:y", "(door)", "ok!", "50%", "100"]


def text(chance):
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, 8))) + " words."


def capitals(words):
    """Letters in upper case, but within override blocks and the codes of lines."""
    pieces = re.split(r"(\{[^}]*\}|\\[Nnh])", words)
    return "".join(piece if i % 2 else "".join(c.upper() if c.isascii() else c for c in piece)
                   for i, piece in enumerate(pieces))


def styled(chance):
    words = text(chance).split()
    at = chance.randint(0, len(words) - 1)
    marks = [("{\\i1}", "{\\i0}"), ("{\\c&H0000FF&}", "{\\r}"), ("{\\an8}", ""), ("", "\\N"), ("", ""), ("{\\b1}", "{\\b0}")]
    opening, closing = chance.choice(marks)
    if closing != "\\N":
        words[at] = opening + words[at] + closing
    elif at + 1 < len(words):
        return " ".join(words[:at + 1]) + "\\N" + " ".join(words[at + 1:])
    return " ".join(words)


def events(data, kind):
    read = pysubs2.SSAFile.from_string(data.decode("utf-8"), format_=kind)
    rows = [(e.start, e.end, e.style, e.name, e.type, e.marginl, e.effect, e.text) for e in read]
    return rows, read.info, {name: style.as_dict() for name, style in read.styles.items()}


def words_of_lines(rows):
    """A line break may go to another blank: it is a blank here."""
    return [(*row[:-1], row[-1].replace("\\N", " ")) for row in rows]


def check_ass(chance):
    for kind in ("ass", "ssa"):
        made = pysubs2.SSAFile()
        made.info["Title"] = "The red car"
        made.styles["Second, one".replace(",", "")] = pysubs2.SSAStyle(fontname="Some Font", italic=True)
        for i in range(chance.randint(1, 8)):
            event = pysubs2.SSAEvent(start=i * 9000, end=i * 9000 + 2000, text=styled(chance), name=chance.choice(["", "Ann"]),
                                     style=chance.choice(["Default", "Second one"]))
            made.append(event)
        made.append(pysubs2.SSAEvent(start=0, end=1, type="Comment", text="A comment stays"))
        made.append(pysubs2.SSAEvent(start=0, end=1, text="{\\k20}Syl{\\k30}lables stay"))
        made.append(pysubs2.SSAEvent(start=0, end=1, text="{\\p1}m 0 0 l 100 0{\\p0}"))
        data = made.to_string(kind).encode()
        out = translated("ass", data)
        before, after = events(data, kind), events(out, kind)
        stays = ("Comment", "\\k20", "\\p1")
        wanted = [row if any(s in row[4] + row[-1] for s in stays) else (*row[:-1], capitals(row[-1])) for row in before[0]]
        expect_same(data, out, words_of_lines(wanted), words_of_lines(after[0]))
        assert before[1:] == after[1:]


def check_sbv(chance):
    cues = []
    for i in range(chance.randint(1, 8)):
        cues.append(f"0:{i:02}:01.000,0:{i:02}:03.500\n{text(chance)}\n")
    data = "\n".join(cues).encode()
    out = translated("sbv", data)

    def read(content):
        return [(c.start, c.end, c.text) for c in webvtt.from_buffer(io.StringIO(content.decode()), format="sbv")]
    expect_same(data, out, [(start, end, capitals(words)) for start, end, words in read(data)], read(out))


def check_lrc(chance):
    made = pylrc.classes.Lyrics()
    made.artist, made.title = "A Singer", "A title"
    for i in range(chance.randint(1, 8)):
        made.append(pylrc.classes.LyricLine(f"[00:{i:02}.00]", text(chance)))
    data = made.toLRC().encode()
    out = translated("lrc", data)

    def read(content):
        lyrics = pylrc.parse(content.decode())
        return [(lyrics.artist, lyrics.title)] + [(line.time, line.text) for line in lyrics]
    before = read(data)
    expect_same(data, out, before[:1] + [(time, capitals(words)) for time, words in before[1:]], read(out))


def check_random(seed):
    for kind in ("sbv", "lrc"):
        translated(kind, run(kind, mode=str(seed)))
    data = run("ass", mode=str(seed))
    out = translated("ass", data)
    before, after = events(data, "ass"), events(out, "ass")
    expect_same(data, out, [row[:-1] for row in before[0]], [row[:-1] for row in after[0]])


for number in range(FILES):
    for checks in (check_ass, check_sbv, check_lrc):
        checks(random.Random(number))
    check_random(number)
print(FILES, "files of each kind of subtitles came back whole")
